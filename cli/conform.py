"""``kubeclassic conform``: run conformance cases and compare every field with what the original decided."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import click

from ..simulation.conform import WITHOUT, Family, FamilyReport, Manner, answer_case, check_family, find_families, read_cases
from .memory import engine_options, memory_options
from .output import writing
from .report.documents import document
from .report.text import print_table


def _names(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in value.split(",") if name.strip()) if value else ()


def _without(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, ...]:
    names = _names(context, parameter, value)
    for name in names:
        if name not in WITHOUT:
            raise click.BadParameter(f"got {name!r}, wanted a list of {', '.join(WITHOUT)}")
    return names


@click.command(short_help="Prove it: run cases that the original scheduler answered.")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--family", callback=_names, metavar="A,B", help="Only these families (the file's name before its first dot).")
@click.option("--without", callback=_without, metavar="A,B", help=f"Leave out the cases that need these: {', '.join(WITHOUT)}.")
@click.option("--show", type=click.IntRange(0), default=0, metavar="N", help="Print the first N differing cases, field by field.")
@click.option("--emit", is_flag=True, help="Write our answers as JSON Lines instead of comparing; no answers are needed.")
@click.option("--output", help="Where --emit writes to, instead of standard output.")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Families to run at once.")
@click.option("--quick", is_flag=True, help="Decide without details, as bench does; compare hosts, errors and victims only.")
@memory_options
@click.option("-o", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def conform(
    paths: tuple[Path, ...], family: tuple[str, ...], without: tuple[str, ...], show: int, emit: bool, output: str | None, jobs: int,
    quick: bool, memory: int | None, no_memory: bool, form: str,
) -> None:  # fmt: skip
    """Run the conformance cases in PATHS and compare each answer with the original's.

    A case is a scheduling problem. Next to a file X.cases.jsonl[.gz] is X.answers.jsonl[.gz] with what the original Go scheduler
    decided: feasible nodes, every failure reason, every score, the host, the victims. A case can also be a script of the scheduling
    queue; the answer is what each part of the queue holds after every step. Exit status 0: all identical, 1: any difference, 2: bad
    input.

    \b
    kubeclassic conform cases/1.16 --family taints,preemption --show 1
    """
    families = [f for f in find_families(paths) if not family or f.name in family]
    if not families:
        raise click.UsageError(f"no family {', '.join(family)} in {', '.join(map(str, paths))}")
    manner = Manner(engine=engine_options(memory, no_memory), details=not quick)
    if emit:
        _emit(families, output, manner)
        return
    reports = list(_run(families, without, jobs, manner))
    total = _total(reports)
    if form == "json":
        click.echo(json.dumps(document("Conformance", total)))
    else:
        _print(reports, total, show)
    sys.exit(0 if total["cases"] == total["identical"] + total["leftOut"] else 1)


def _emit(families: list[Family], output: str | None, manner: Manner) -> None:
    with writing(output) as stream:
        for family in families:
            for case in read_cases(family.cases):
                stream.write(json.dumps(answer_case(case, manner)) + "\n")


def _run(families: list[Family], without: tuple[str, ...], jobs: int, manner: Manner) -> Iterator[FamilyReport]:
    check = partial(check_family, without=without, manner=manner)
    if jobs == 1:
        yield from map(check, families)
    else:
        with ProcessPoolExecutor(jobs) as pool:
            yield from pool.map(check, families)


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
    print_table(["release", "family", "cases", entries, "identical", "left out", "first difference"], rows)
    click.echo(f"{total['cases']} cases: {total['identical']} identical, {total['leftOut']} left out, "
               f"{total['cases'] - total['identical'] - total['leftOut']} different")  # fmt: skip
    different = [(name, lines) for r in reports for name, lines in r.different.items()]
    for name, lines in different[:show]:
        click.echo(f"\n{name}")
        for line in lines:
            click.echo(f"  {line}")
