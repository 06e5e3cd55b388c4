"""The pods per second of kubeclassic beside kube-scheduler's; with ``--write`` the table is put into
``docs/speed/performance.md``.

Each case is timed by several processes, which take turns, so that a busy minute of the machine spoils no
single row; each has ``--repeat`` runs. Each checks the hosts of cases of 1.16.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import attrs
import click

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.cases import CaseSize

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "speed" / "performance.md"
SHARED = Path(os.environ.get("KUBECLASSIC_SHARED", HERE.parents[2] / "shared")).resolve()
BEGIN = "<!-- table: made by tests/bench/original.py -->"
END = "<!-- end of the table of tests/bench/original.py -->"
HEAD = """| case | release | with preparation, median | loop alone, best | the original, median | ratio |
|---|---|---:|---:|---:|---:|"""
MADE = CaseSize(nodes=5000, pods=1000, templates=1000)
"""A case of 1,000 pods that all have different requests."""


@attrs.frozen
class Beside:
    """A case, and kube-scheduler's pods per second of wall time on it: the median of three runs on two quiet
    cores, with 16 workers."""

    case: str
    """The name of the case; empty: that of MADE."""
    release: str
    original: float

    @property
    def name(self):
        """The name in the table."""
        return self.case or "basic-5000, 1,000 different requests"

    def measure(self, repeat):
        """The line that loop.py prints."""
        with tempfile.TemporaryDirectory() as folder:
            path = (
                SHARED / "bench" / f"{self.case}.jsonl.gz" if self.case else made(Path(folder), self.release)
            )
            hosts = str(path).replace(".jsonl", ".hosts.json")
            check = ["--check", hosts] if self.case and self.release == "1.16" else []
            words = [
                sys.executable,
                str(HERE / "loop.py"),
                str(path),
                *check,
                "--release",
                self.release,
                "--repeat",
                str(repeat),
            ]
            run = subprocess.run(words, capture_output=True, text=True, check=False)
        if run.returncode:
            raise click.ClickException(f"{self.name}: {run.stderr.strip()[-500:]}")
        return json.loads(run.stdout)


def made(folder, release):
    """A file with the case of MADE."""
    case = MADE.case(release)
    path = folder / "made.json"
    path.write_text(json.dumps({**case, **{key: list(case[key]) for key in ("objects", "pending")}}))
    return path


CASES = (
    Beside("basic-1000", "1.16", 403),
    Beside("basic-adaptive-5000", "1.16", 335),
    Beside("basic-5000", "1.16", 79),
    Beside("affinity-5000", "1.16", 24),
    Beside("antiaffinity-5000", "1.16", 54),
    Beside("spread-5000", "1.16", 44),
    Beside("mixed-5000", "1.16", 36),
    Beside("", "1.16", 82),
    Beside("basic-5000", "1.34", 115),
    Beside("affinity-5000", "1.34", 75),
    Beside("spread-5000", "1.34", 78),
    Beside("mixed-5000", "1.34", 80),
)


def table(found, repeat):
    """The figures as Markdown."""
    lines = [HEAD]
    for row, measured in found.items():
        pods = measured[0]["pods"]
        whole, loop = (
            pods / median(line[key] for line in measured) for key in ("cpu_seconds", "loop_seconds")
        )
        figures = (whole, loop, row.original, whole / row.original)
        lines.append(f"| {row.name} | {row.release} | {' | '.join(f'{figure:,.0f}' for figure in figures)} |")
    calibrations = [line["calibration"] for measured in found.values() for line in measured]
    runs = repeat * len(next(iter(found.values())))
    between = f"{median(calibrations):.3f} (median; {min(calibrations):.3f} to {max(calibrations):.3f})"
    return "\n".join([*lines, "", f"Pods a second; {runs} runs a case of ours; `calibration` {between}."])


def main():
    """Measure, print the table, and write it where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--processes", type=int, default=3, help="processes a case, in turns")
    parser.add_argument("--repeat", type=int, default=5, help="runs a process")
    parser.add_argument("--write", action="store_true", help="put the table into docs/speed/performance.md")
    asked = parser.parse_args()
    found = {row: [] for row in CASES}
    for _ in range(asked.processes):
        for row, measured in found.items():
            measured.append(row.measure(asked.repeat))
            click.echo(f"{row.name}, {row.release}: {measured[-1]['cpu_seconds']} s", err=True)
    text = table(found, asked.repeat)
    click.echo(text)
    if asked.write:
        before, _, rest = PAGE.read_text().partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
