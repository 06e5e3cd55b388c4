"""What ``kubeclassic bench compare`` does: it reads two files of bench's lines and shows their ratios."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from ....api.record import as_document
from ....simulation.bench.comparison import compared
from ...console.output import warn
from ...report.bench import comparison_table


def run_compare(a: Path, b: Path, form: str) -> None:
    """Print the ratios of the cases that both files have, and warn of what makes them doubtful."""
    found = compared(a, b)
    if form == "json":
        click.echo(json.dumps(as_document(found.document())))
    else:
        comparison_table(found).write(sys.stdout)
    for line in found.warnings():
        warn(line)
