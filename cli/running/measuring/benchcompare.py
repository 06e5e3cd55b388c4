"""What ``kubeclassic bench compare`` does: it reads two files of bench's lines and shows their ratios."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from ....api.record import plain
from ....simulation.bench.comparison import BenchComparison, compared
from ...console.output import warn
from ...report.bench import comparison_table
from ...report.documents import document


def run_compare(a: Path, b: Path, form: str) -> None:
    """Print the ratios of the cases that both files have, and warn of what makes them doubtful."""
    found = compared(a, b)
    if form == "json":
        click.echo(json.dumps(document(BenchComparison.KIND, plain(found.document()))))
    else:
        comparison_table(found).write(sys.stdout)
    for line in found.warnings():
        warn(line)
