"""``kubeclassic sweep``: many configurations, one table."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from .declaring.commands import command
from .declaring.options import cores, process_options
from .declaring.outputs import Output, output_options
from .declaring.paramtypes import FILE

FORMS = ("table", "csv", "json", "yaml", "html")


@command(short_help="Which configuration is best? Many, in one table.", reads_folders=False)
@click.argument("file", type=FILE)
@process_options(None, "one a core")
@click.option("--rules", multiple=True, metavar="FILE.py:NAME", help="Your own rules, as for simulate: a Catalogue, or plugins.")
@output_options(FORMS, "How to write the table; html: a page.", what="the table", verbose=None)
def sweep(file: Path, jobs: int | None, dask: str | None, rules: tuple[str, ...], output: Output) -> None:
    """Run each combination of what FILE lists, and write one table: a row a run.

    \b
    cluster: examples/cluster                     # or trace: examples/day.yaml; paths are relative to FILE
    grid:                                         # each with each
      release: ["1.14", "1.16"]
      weights.LeastRequestedPriority: [0, 1, 5]
      order: [input, shuffled]
      seed: [0, 1, 2]
    objectives: [placed, cpu used, fragmentation]

    docs/guides/sweep.md has all keys, and how to search for weights with Optuna. A run that fails is a row with its error. The table is
    the same whatever runs it.

    Exit status 0: every run is finished, 1: some failed, 2: bad input, 130: interrupted.

    \b
    kubeclassic sweep sweep.yaml
    kubeclassic sweep sweep.yaml -o csv --output runs.csv --jobs 8
    kubeclassic sweep sweep.yaml --report sweep.html
    kubeclassic sweep sweep.yaml --dask tcp://10.0.0.1:8786
    """
    from ..questions.sweep import sweep as run_sweep
    from ..simulation.executors import executor_of
    from .answering import about, answer
    from .console.output import note
    from .console.progress import working
    from .report.questions.sweeppage import sweep_html

    with working("sweeping", unit="runs") as work, executor_of(jobs or cores(), dask) as executor:
        found = run_sweep(file, executor=executor, **_rules(rules), on_progress=work.at)

    def page() -> str:
        releases = [row["release"] for row in found.rows if row.get("release")]
        unread = [group.text for group in found.warnings if group.is_unread]
        return sweep_html(found, about(None, [file], releases=releases, rules=rules, warnings=[*map(str, found.warnings)], unread=unread))

    status = answer(found, output, page, unread=False)
    note(found.summary)
    for group in found.warnings:
        note(f"{group.text}." if group.is_unread else f"warning: {group}")
    sys.exit(status)


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
