"""The console examples of the documentation: commands after ``$``, and their output.

A block that begins with three backticks and ``console`` has lines ``$ kubeclassic ...``, each followed by its
output on both streams. A line of three dots stands for any number of lines. ``> FILE`` at the end of a
command writes standard output there. The commands of a page run one after the other in one folder that has
the examples.
"""

import re
import shlex
import sys
from pathlib import Path

import attrs

from tests.support.program import inside

WIDTH = "120"
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ELLIPSIS = "..."


@attrs.frozen
class Example:
    """A command and its output on the page."""

    command: str
    printed: str

    def run(self):
        """The exit status, and the output on both streams, standard output first."""
        words = shlex.split(self.command)
        target = words[-1] if len(words) > 2 and words[-2] == ">" else None
        done = inside(*(words[1:-2] if target else words[1:]), cwd=Path())
        if target is not None:
            Path(target).write_text(done.stdout)
            return done.returncode, done.stderr
        return done.returncode, done.stdout + done.stderr

    def fits(self, text):
        """Whether *text* matches the output on the page."""
        parts = (
            r"(?:.*\n)*?" if line == ELLIPSIS else re.escape(f"{line}\n")
            for line in self.printed.splitlines()
        )
        lines = "".join(f"{line.rstrip()}\n" for line in text.rstrip("\n").splitlines())
        return re.fullmatch("".join(parts), lines) is not None


def examples_of(page):
    """The examples of a page, in order."""
    for block in _BLOCK.findall(page):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, printed = part.partition("\n")
            while command.endswith("\\"):
                more, _, printed = printed.partition("\n")
                command = command[:-1] + more.strip()
            yield Example(command, printed.rstrip("\n"))


def main():
    """Print today's output of the pages' examples: ``python -m tests.support.consoleblocks docs/PAGE.md``."""
    for path in sys.argv[1:]:
        for example in examples_of(Path(path).read_text()):
            status, text = example.run()
            sys.stdout.write(f"$ {example.command}\n{text}(status {status})\n\n")


if __name__ == "__main__":
    main()
