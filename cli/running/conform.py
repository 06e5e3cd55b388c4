"""What ``kubeclassic conform`` does: it runs cases, in several processes if asked to, and shows where they differ."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import attrs
import click

from ...simulation.conform import Family, FamilyReport, Manner, answer_case, check_family, find_families, read_cases
from ..console.output import writing
from ..console.progress import following
from ..declaring.memory import engine_options
from ..report.documents import document
from ..report.tables import TextTable


@attrs.frozen(kw_only=True)
class Asked:
    """The options, as they were given."""

    paths: tuple[Path, ...]
    family: tuple[str, ...]
    without: tuple[str, ...]
    show: int
    emit: bool
    output: str | None
    jobs: int
    quick: bool
    memory: int | None
    no_memory: bool
    form: str


def run(asked: Asked) -> None:
    """Run the cases and end with status 1 where any differs, or write our answers."""
    families = [family for family in find_families(asked.paths) if not asked.family or family.name in asked.family]
    if not families:
        raise click.UsageError(f"no family {', '.join(asked.family)} in {', '.join(map(str, asked.paths))}")
    manner = Manner(engine=engine_options(asked.memory, asked.no_memory), details=not asked.quick)
    if asked.emit:
        _emit(families, asked.output, manner)
        return
    reports = list(_run(asked, families, manner))
    total = _total(reports)
    if asked.form == "json":
        click.echo(json.dumps(document("Conformance", total)))
    else:
        _print(reports, total, asked.show)
    sys.exit(0 if total["cases"] == total["identical"] + total["leftOut"] else 1)


def _emit(families: list[Family], output: str | None, manner: Manner) -> None:
    with writing(output) as stream:
        for family in following(families, len(families), "answering", "families", shown=not stream.isatty()):
            for case in read_cases(family.cases):
                stream.write(json.dumps(answer_case(case, manner)) + "\n")


def _run(asked: Asked, families: list[Family], manner: Manner) -> Iterator[FamilyReport]:
    check = partial(check_family, without=asked.without, manner=manner)
    if asked.jobs == 1:
        yield from following(map(check, families), len(families), "conforming", "families")
        return
    with ProcessPoolExecutor(asked.jobs, initializer=_end_quietly) as pool:
        try:
            yield from following(pool.map(check, families), len(families), "conforming", "families")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)  # first: a pool that finds its workers gone complains of what is cancelled
            for process in active_children():
                process.terminate()
            raise


def _end_quietly() -> None:
    """Let a worker leave Ctrl-C to the main process, which then ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)


def _total(reports: list[FamilyReport]) -> dict[str, Any]:
    return {
        "cases": sum(r.cases for r in reports),
        "identical": sum(r.identical for r in reports),
        "leftOut": sum(r.left_out for r in reports),
        "families": [r.record() for r in reports],
    }


def _print(reports: list[FamilyReport], total: dict[str, Any], show: int) -> None:
    rows = []
    for r in reports:
        first = next((f"{name}: {lines[0]}" for name, lines in r.different.items()), "")
        rows.append([r.release, r.family, r.cases, r.cycles or r.steps, r.identical, r.left_out, first])
    entries = "steps" if not any(r.cycles for r in reports) else "cycles or steps" if any(r.steps for r in reports) else "cycles"
    TextTable(["release", "family", "cases", entries, "identical", "left out", "first difference"], rows).write(sys.stdout)
    click.echo(f"{total['cases']} cases: {total['identical']} identical, {total['leftOut']} left out, "
               f"{total['cases'] - total['identical'] - total['leftOut']} different")  # fmt: skip
    different = [(name, lines) for r in reports for name, lines in r.different.items()]
    for name, lines in different[:show]:
        click.echo(f"\n{name}")
        for line in lines:
            click.echo(f"  {line}")
