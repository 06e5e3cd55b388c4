"""``kubeclassic sweep``: many configurations, one table."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from .declaring.commands import command
from .declaring.outputs import takes_report
from .declaring.paramtypes import FILE, FileName, Whole

FORMS = ("table", "csv", "json", "html")


@command(short_help="Which configuration is best? Many, in one table.", reads_folders=False, outputs=["--plot"])
@click.argument("file", type=FILE)
@click.option("--search", is_flag=True, help="Search for the weights that the file names, in place of running the grid once.")
@click.option("--jobs", "-j", type=Whole(1), metavar="N", help="Run in that many processes.  [default: one a core]")
@click.option("--dask", metavar="ADDRESS", help="Run on the Dask scheduler at this address, such as tcp://10.0.0.1:8786.")
@click.option("--rules", multiple=True, metavar="FILE.py:NAME", help="Your own rules, as for simulate: a Catalogue, or plugins.")
@click.option("-o", "form", type=click.Choice(FORMS), default="table", show_default=True, help="How to write the records; html: a page.")
@click.option(
    "--output", type=FileName(allow_dash=False), metavar="FOLDER",
    help="Write results.csv, results.parquet and sweep.json there, and each finished run at once; what is there is not run again.",
)  # fmt: skip
@click.option("--plot", type=FileName(allow_dash=False), metavar="FILE", help="Draw the runs into this file: .svg, .png or .pdf.")
@takes_report
def sweep(file: Path, **asked: Any) -> None:
    """Run each combination of what FILE lists, and write one table: a row a run.

    \b
    cluster: examples/cluster                     # or trace: examples/day.yaml; paths are relative to FILE
    grid:                                         # each with each
      release: ["1.14", "1.16"]
      weights.LeastRequestedPriority: [0, 1, 5]
      order: [input, shuffled]
      seed: [0, 1, 2]
    objectives: [placed, cpu used, fragmentation]
    search:                                       # for --search
      weights: {LeastRequestedPriority: 0..10, BalancedResourceAllocation: 0..10}
      maximise: [placed]
      trials: 40

    docs/guides/sweep.md has all keys. A run that fails is a row with its error. Where several seeds run, a second table has means and 95 %
    intervals. --search shows the trials that no other one beats, and last trial 0, which is the configuration without other weights. The
    table is the same whatever runs it. With --output a sweep that was stopped goes on from where it was when it is run again.

    Exit status 0: every run is finished, 1: some failed, 2: bad input, 130: interrupted.

    \b
    kubeclassic sweep sweep.yaml
    kubeclassic sweep sweep.yaml --output results/ --jobs 8
    kubeclassic sweep sweep.yaml --report sweep.html
    kubeclassic sweep sweep.yaml --search -o json
    kubeclassic sweep sweep.yaml --plot runs.svg
    kubeclassic sweep sweep.yaml --output results/ --dask tcp://10.0.0.1:8786
    """
    from .running.sweep import SweepOptions, run

    sys.exit(run(file, SweepOptions(**asked)))
