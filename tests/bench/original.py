"""Measures our pods a second beside the original's, and puts the table into ``docs/speed/performance.md`` with ``--write``.

Each case is timed by several processes, which take turns, so that a busy minute of the machine spoils no single row; each has ``--repeat``
runs. The hosts of cases of 1.16 are checked in each of them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import attrs
import click

Json = dict[str, Any]
HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "speed" / "performance.md"
SHARED = Path(os.environ.get("KUBECLASSIC_SHARED", HERE.parents[2] / "shared")).resolve()
BEGIN, END = "<!-- table: made by tests/bench/original.py -->", "<!-- end of the table of tests/bench/original.py -->"
HEAD = """| case | release | with preparation, best | median | loop alone, best | median | the original, median | ratio |
|---|---|---:|---:|---:|---:|---:|---:|"""
MADE = ("--kind", "basic", "--nodes", "5000", "--pods", "1000", "--templates", "1000")
"""A case of 1,000 pods that all request something else."""


@attrs.frozen
class Beside:
    """A case, and the original's pods a second of wall time on it: the median of three runs on two quiet cores, with 16 workers."""

    case: str
    """Empty: the one that is MADE."""
    release: str
    original: float

    @property
    def name(self) -> str:
        """What the table calls it."""
        return self.case or "basic-5000, 1,000 different requests"

    def measure(self, repeat: int) -> Json:
        """The line that bench prints."""
        path = SHARED / "bench" / f"{self.case}.jsonl.gz"
        asked = [str(path)] if self.case else list(MADE)
        if self.case and self.release == "1.16":
            asked += ["--check", str(path).replace(".jsonl", ".hosts.json")]
        words = [sys.executable, "-m", "kubeclassic", "bench", *asked, "--release", self.release, "--repeat", str(repeat)]
        run = subprocess.run(words, capture_output=True, text=True, check=False)
        if run.returncode:
            raise click.ClickException(f"{self.name}: {run.stderr.strip()[-500:]}")
        found: Json = json.loads(run.stdout)
        return found


CASES = (
    Beside("basic-1000", "1.16", 403), Beside("basic-adaptive-5000", "1.16", 335), Beside("basic-5000", "1.16", 79),
    Beside("affinity-5000", "1.16", 24), Beside("antiaffinity-5000", "1.16", 54), Beside("spread-5000", "1.16", 44),
    Beside("mixed-5000", "1.16", 36), Beside("", "1.16", 82), Beside("basic-5000", "1.34", 115), Beside("affinity-5000", "1.34", 75),
    Beside("spread-5000", "1.34", 78), Beside("mixed-5000", "1.34", 80),
)  # fmt: skip


def table(found: Mapping[Beside, Sequence[Json]], repeat: int) -> str:
    """The figures as Markdown."""
    lines = [HEAD]
    for row, measured in found.items():
        best = max(line["pods_per_s"] for line in measured)
        middle = median(rate for line in measured for rate in line["runs"])
        loop = max(line["loop_pods_per_s"] for line in measured)
        loop_middle = median(line["loop_median_pods_per_s"] for line in measured)
        figures = (best, middle, loop, loop_middle, row.original, middle / row.original)
        lines.append(f"| {row.name} | {row.release} | {' | '.join(f'{figure:,.0f}' for figure in figures)} |")
    calibrations = [line["calibration"] for measured in found.values() for line in measured]
    runs = repeat * len(next(iter(found.values())))
    between = f"{median(calibrations):.3f} (median; {min(calibrations):.3f} to {max(calibrations):.3f})"
    return "\n".join([*lines, "", f"Pods a second; {runs} runs a case of ours; `calibration` {between}."])


def main() -> None:
    """Measure, print the table, and write it where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=3, help="processes a case, in turns")
    parser.add_argument("--repeat", type=int, default=5, help="runs a process")
    parser.add_argument("--write", action="store_true", help="put the table into docs/speed/performance.md")
    asked = parser.parse_args()
    found: dict[Beside, list[Json]] = {row: [] for row in CASES}
    for _ in range(asked.processes):
        for row, measured in found.items():
            measured.append(row.measure(asked.repeat))
            click.echo(f"{row.name}, {row.release}: {measured[-1]['pods_per_s']:,.0f} pods/s", err=True)
    text = table(found, asked.repeat)
    click.echo(text)
    if asked.write:
        put(text, BEGIN, END)


def put(text: str, begin: str, end: str) -> None:
    """Write *text* between the lines *begin* and *end* of the page."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(begin)
    PAGE.write_text(f"{before}{begin}\n{text}\n{end}{rest.partition(end)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
