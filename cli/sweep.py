"""``kubeclassic sweep``: many configurations, one table."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from .declaring.commands import command
from .declaring.options import cores, process_options
from .declaring.outputs import takes_report
from .declaring.paramtypes import FILE, FileName

FORMS = ("table", "csv", "json", "html")


@command(short_help="Which configuration is best? Many, in one table.", reads_folders=False)
@click.argument("file", type=FILE)
@click.option("--search", is_flag=True, help="Search for the weights that the file names, in place of running the grid once.")
@process_options(cores, "one a core")
@click.option("--rules", multiple=True, metavar="FILE.py:NAME", help="Your own rules, as for simulate: a Catalogue, or plugins.")
@click.option("-o", "form", type=click.Choice(FORMS), default="table", show_default=True, help="How to write the records; html: a page.")
@click.option(
    "--output", type=FileName(allow_dash=False), metavar="FOLDER",
    help="Write results.csv, results.parquet and sweep.json there, and each finished run at once; what is there is not run again.",
)  # fmt: skip
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
    kubeclassic sweep sweep.yaml --output results/ --dask tcp://10.0.0.1:8786
    """
    sys.exit(_run(file, **asked))


def _run(file: Path, form: str, report: str | None, rules: Sequence[str], **options: Any) -> int:
    from ..api.record import as_document
    from ..questions.sweep import sweep as run_sweep
    from .answering import about, answer
    from .console.output import note, warn
    from .console.progress import working
    from .declaring.outputs import Output
    from .report.listing import write_rows
    from .report.questions.sweeppage import sweep_html

    with working("sweeping", unit="runs") as work:
        found = run_sweep(file, **options, **_rules(rules), on_progress=work.at)

    def page() -> str:
        releases = [row["release"] for row in found.rows if row.get("release")]
        warnings, unread = [*found.notes, *map(str, found.warnings)], [group.text for group in found.warnings if group.is_unread]
        return sweep_html(found, about(None, [file], releases=releases, rules=rules, warnings=warnings, unread=unread))

    forms = {"json": lambda stream: write_rows(as_document(found.document), stream)}
    status = answer(found, Output(form=form, report=report), page, unread=False, forms=forms)
    for line in found.notes:
        warn(line)
    note(found.summary)
    for group in found.warnings:
        note(f"{group.text}." if group.is_unread else f"warning: {group}")
    return status


def _rules(places: Iterable[str]) -> dict[str, Any]:
    """The catalogue and the plugins at *places*."""
    from ..algorithmprovider.catalogue import CATALOGUE
    from ..framework.userrules import catalogue_of, plugins_of

    older = [place for place in places if _is_catalogue(place)]
    newer = [place for place in places if place not in older]
    return {"catalogue": catalogue_of(older) if older else CATALOGUE, "plugins": plugins_of(newer)}


def _is_catalogue(place: str) -> bool:
    from ..exceptions import UnknownNameError
    from ..framework.userrules import catalogue_of

    try:
        catalogue_of([place])
    except UnknownNameError:
        return False
    return True
