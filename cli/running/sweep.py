"""What ``kubeclassic sweep`` does."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import attrs

from ...algorithmprovider.catalogue import CATALOGUE
from ...api.record import as_document
from ...exceptions import UnknownNameError
from ...framework.userrules import catalogue_of, plugins_of
from ...questions.sweep import SweepResult
from ...questions.sweep import sweep as run_sweep
from ...simulation.sweep.table import as_csv
from ..answering import about, write_page, write_report
from ..console.output import note, warn
from ..console.progress import working
from ..declaring.outputs import HTML
from ..report.documents import write_rows
from ..report.plots.plotfiles import check_place
from ..report.plots.runs import draw_runs
from ..report.sweep.sweeppage import sweep_html
from ..report.sweep.sweeptext import summary_line, sweep_tables
from ..report.tables import write_tables


@attrs.frozen(kw_only=True)
class SweepOptions:
    """What the command line asks for."""

    search: bool = False
    jobs: int | None = None
    dask: str | None = None
    rules: tuple[str, ...] = ()
    form: str = "table"
    output: Path | None = None
    plot: Path | None = None
    report: str | None = None


def run(file: Path, asked: SweepOptions) -> int:
    """Run the sweep in *file*, and write its table; the exit status."""
    if asked.plot is not None:
        check_place(asked.plot)
    with working("sweeping", unit="runs") as work:
        found = run_sweep(
            file, output=asked.output, jobs=asked.jobs or _cores(), dask=asked.dask, search=asked.search, **_rules(asked.rules),
            on_progress=work.at,
        )  # fmt: skip
    if asked.plot is not None:
        draw_runs(found, asked.plot)

    def page() -> str:
        releases = [row["release"] for row in found.rows if row.get("release")]
        warnings, unread = [*found.notes, *map(str, found.warnings)], [group.text for group in found.warnings if group.is_unread]
        return sweep_html(found.record(), about(None, [file], releases=releases, rules=asked.rules, warnings=warnings, unread=unread))

    _write(found, asked.form, page)
    write_report(asked.report, page)
    for line in found.notes:
        warn(line)
    note(summary_line(found))
    for group in found.warnings:
        note(f"{group.text}." if group.is_unread else f"warning: {group}")
    return 0 if found.ok else 1


def _cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _rules(places: Iterable[str]) -> dict[str, Any]:
    """The catalogue and the plugins at *places*."""
    older: list[str] = []
    newer: list[str] = []
    for place in places:
        (older if _is_catalogue(place) else newer).append(place)
    return {"catalogue": catalogue_of(older) if older else CATALOGUE, "plugins": plugins_of(newer)}


def _is_catalogue(place: str) -> bool:
    try:
        catalogue_of([place])
    except UnknownNameError:
        return False
    return True


def _write(found: SweepResult, form: str, page: Callable[[], str]) -> None:
    if form == HTML:
        write_page(page(), sys.stdout)
    elif form == "json":
        write_rows(as_document(found.document), sys.stdout)
    elif form == "csv":
        sys.stdout.write(as_csv(found.columns, found.rows))
    else:
        write_tables(sweep_tables(found), sys.stdout)
    sys.stdout.flush()
