"""What ``kubeclassic conform`` does: it runs cases, in several processes if asked to, and shows where they differ."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path

import attrs
import click

from ...api.record import as_document
from ...questions.conform import ConformResult, checked, chosen_families
from ...simulation.conform import Family, Manner, answer_case, read_cases
from ..console.output import writing
from ..console.progress import following
from ..declaring.memory import engine_options
from ..report.tables import TextTable


@attrs.frozen(kw_only=True)
class ConformOptions:
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


def run(asked: ConformOptions) -> None:
    """Run the cases and end with status 1 where any differs, or write our answers."""
    families = chosen_families(asked.paths, asked.family or None)
    manner = Manner(engine=engine_options(asked.memory, asked.no_memory), details=not asked.quick)
    if asked.emit:
        _emit(families, asked.output, manner)
        return
    found = checked(families, asked.without, manner, asked.jobs, partial(following, what="conforming", unit="families"))
    if asked.form == "json":
        click.echo(json.dumps(as_document(found.document)))
    else:
        _print(found, asked.show)
    sys.exit(0 if found.ok else 1)


def _emit(families: list[Family], output: str | None, manner: Manner) -> None:
    with writing(output) as stream:
        for family in following(families, len(families), "answering", "families", shown=not stream.isatty()):
            for case in read_cases(family.cases):
                stream.write(json.dumps(answer_case(case, manner)) + "\n")


def _print(found: ConformResult, show: int) -> None:
    rows, total = [], found.document
    for report, r in zip(found.reports, total.families, strict=True):
        first = next((f"{name}: {lines[0]}" for name, lines in report.different.items()), "")
        rows.append([r.release, r.family, r.cases, r.cycles or r.steps, r.identical, r.left_out, first])
    has_cycles, has_steps = any(r.cycles for r in total.families), any(r.steps for r in total.families)
    entries = "steps" if not has_cycles else "cycles or steps" if has_steps else "cycles"
    TextTable(["release", "family", "cases", entries, "identical", "left out", "first difference"], rows).write(sys.stdout)
    different = f"{total.cases - total.identical - total.left_out} different"
    click.echo(f"{total.cases} cases: {total.identical} identical, {total.left_out} left out, {different}")
    for name, lines in list(found.different.items())[:show]:
        click.echo(f"\n{name}")
        for line in lines:
            click.echo(f"  {line}")
