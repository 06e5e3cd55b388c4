"""``kubeclassic conform``: run conformance cases and compare every field with what the original decided."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..api.record import as_document
from ..choices import WITHOUT
from .declaring.commands import command
from .declaring.paramtypes import FileName, Whole, engine_options, memory_options

if TYPE_CHECKING:
    from ..simulation.conform import Family, Manner


def _names(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in value.split(",") if name.strip()) if value else ()


def _without(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, ...]:
    names = _names(context, parameter, value)
    for name in names:
        if name not in WITHOUT:
            raise click.BadParameter(f"got {name!r}, wanted a list of {', '.join(WITHOUT)}")
    return names


@command(short_help="Prove it: run cases that the original scheduler answered.", reads_folders=False)
@click.argument("paths", nargs=-1, required=True, type=FileName(allow_dash=False))
@click.option("--family", callback=_names, metavar="A,B", help="Only these families (the file's name before its first dot).")
@click.option("--without", callback=_without, metavar="A,B", help=f"Leave out the cases that need these: {', '.join(WITHOUT)}.")
@click.option("--emit", is_flag=True, help="Write our answers as JSON Lines instead of comparing; no answers are needed.")
@click.option("--jobs", type=Whole(1), default=1, show_default=True, help="Families to run at once.")
@click.option("--quick", is_flag=True, help="Decide without details, as bench does; compare hosts, errors and victims only.")
@memory_options
@click.option("-o", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.option("--output", metavar="FILE", help="Where --emit writes to, instead of standard output.")
@click.option("--show", type=Whole(0), default=0, metavar="N", help="Print the first N differing cases, field by field.")
def conform(
    paths: tuple[Path, ...], family: tuple[str, ...], without: tuple[str, ...], emit: bool, jobs: int, quick: bool, memory: int | None,
    no_memory: bool, form: str, output: str | None, show: int,
) -> None:  # fmt: skip
    """Run the conformance cases in PATHS and compare each answer with the original's.

    A case is a scheduling problem. Next to a file X.cases.jsonl[.gz] is X.answers.jsonl[.gz] with what the original Go scheduler
    decided: feasible nodes, every failure reason, every score, the host, the victims. A case can also be a script of the scheduling
    queue; the answer is what each part of the queue holds after every step. Exit status 0: all identical, 1: any difference, 2: bad
    input.

    \b
    kubeclassic conform cases/1.16 --family taints,preemption --show 1
    """
    import attrs

    from ..questions.conform import ask, chosen_families
    from ..simulation.conform import Manner
    from .answering import answer
    from .declaring.outputs import Output
    from .opening import Console

    families = chosen_families(paths, family or None)
    manner = Manner(engine=engine_options(memory, no_memory), details=not quick)
    if emit:
        _emit(families, output, manner)
        return
    found = attrs.evolve(ask(families, without, manner, jobs, Console()), show=show)
    in_a_line = {"json": lambda stream: stream.write(json.dumps(as_document(found.document)) + "\n")}
    sys.exit(answer(found, Output(form=form), forms=in_a_line))


def _emit(families: Sequence[Family], output: str | None, manner: Manner) -> None:
    """Write our answers."""
    from ..simulation.conform import emitted, read_cases
    from .console.output import writing
    from .console.progress import following

    with writing(output) as stream:
        for family in following(families, len(families), "answering", "families", shown=not stream.isatty()):
            for case in read_cases(family.cases):
                stream.write(json.dumps(emitted(case, manner)) + "\n")
