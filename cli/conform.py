"""``kubeclassic conform``: run conformance cases and compare every field with what the original decided."""

from __future__ import annotations

from typing import Any

import click

from ..choices import WITHOUT
from .declaring.commands import command
from .declaring.memory import memory_options
from .declaring.paramtypes import FileName, Whole


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
def conform(**options: Any) -> None:
    """Run the conformance cases in PATHS and compare each answer with the original's.

    A case is a scheduling problem. Next to a file X.cases.jsonl[.gz] is X.answers.jsonl[.gz] with what the original Go scheduler
    decided: feasible nodes, every failure reason, every score, the host, the victims. A case can also be a script of the scheduling
    queue; the answer is what each part of the queue holds after every step. Exit status 0: all identical, 1: any difference, 2: bad
    input.

    \b
    kubeclassic conform cases/1.16 --family taints,preemption --show 1
    """
    from .running.conform import ConformOptions, run

    run(ConformOptions(**options))
