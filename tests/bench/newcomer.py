"""A newcomer's way, timed: ``python tests/bench/newcomer.py [REPOSITORY]`` clones it, and does what README and docs/start.md say.

It goes up to the first answer about a pod of one's own, and prints a line of JSON: seconds, commands and words.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TRY_IT = "python3 -m venv .venv && .venv/bin/pip install --quiet . && .venv/bin/kubeclassic simulate examples/cluster"
OWN = "kubeclassic simulate examples/cluster --pods pod.yaml -n default"
COMMANDS = (TRY_IT, OWN)
"""What is typed after ``git clone``, in order."""
_FILE = re.compile(r'^```yaml title="pod\.yaml"\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def way() -> tuple[int, list[str]]:
    """How many words there are to read up to the answer, code included, and the commands of :data:`COMMANDS` that stand there."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## Test it\n")[0]
    text = readme + _start()
    return len(re.findall(r"\S*\w\S*", text)), [command for command in COMMANDS if command in text]


def _start() -> str:
    """The page of first steps up to the command that answers about the reader's own pod."""
    before, command, _ = (ROOT / "docs" / "start.md").read_text(encoding="utf-8").partition(OWN)
    return before + command


def main() -> None:
    """Take the way, and print what it cost."""
    source = sys.argv[1] if len(sys.argv) > 1 else str(ROOT)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "kubeclassic"
        subprocess.run(["git", "clone", "--quiet", source, str(clone)], check=True)
        _run(TRY_IT, clone)
        found = _FILE.search(_start())
        assert found is not None
        (clone / "pod.yaml").write_text(found[1], encoding="utf-8")
        _run(f".venv/bin/{OWN}", clone)
        seconds = time.monotonic() - begun
    words, commands = way()
    sys.stdout.write(json.dumps({"seconds": round(seconds, 1), "commands": 1 + len(commands), "words": words}) + "\n")


def _run(command: str, folder: Path) -> None:
    """Run *command*; 1 is an answer too: the example has a pod that fits nowhere."""
    done = subprocess.run(command, shell=True, cwd=folder, stdout=subprocess.DEVNULL, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{command}: status {done.returncode}")


if __name__ == "__main__":
    main()
