"""``kubeclassic drain``: which nodes can go."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .declaring.commands import command
from .declaring.options import ClusterChoice, cluster_options, scheduler_options
from .declaring.outputs import takes_report
from .declaring.paramtypes import FILE, Whole
from .declaring.paths import takes_cluster

if TYPE_CHECKING:
    from .engines.setup import Setup

F = TypeVar("F", bound=Callable[..., Any])

CHOICE = (
    click.option("--node", "names", multiple=True, metavar="NAME", help="A node, where a file has the same name."),
    click.option("--auto", is_flag=True, help="Look for as many nodes as possible that can go together."),
    click.option("--keep", type=Whole(0), default=0, metavar="N", help="With --auto: at least N of the nodes that it may choose stay."),
    click.option("--zone", metavar="ZONE", help="Only nodes of this zone; without --auto: all of them."),
    click.option("--node-selector", "-l", metavar="SELECTOR", help="Only nodes with these labels: pool=general,!gpu; without --auto: all."),
)
FLAGS = (
    click.option("--ignore-daemonsets", is_flag=True, help="Pass over pods of DaemonSets; else they keep their node from going."),
    click.option(
        "--delete-emptydir-data", "--delete-local-data", is_flag=True, help="Evict pods with an emptyDir, whose data is lost, too."
    ),
    click.option("--force", is_flag=True, help="Delete pods without a controller; they are not made again."),
    click.option("--recreate-bare", is_flag=True, help="Take it that somebody makes pods without a controller again, as for traces."),
    click.option("--disable-eviction", is_flag=True, help="Delete pods without asking disruption budgets."),
    click.option("--pod-selector", metavar="SELECTOR", help="Evict only pods with these labels; the others stay."),
)


def _with(options: tuple[Callable[[F], F], ...]) -> Callable[[F], F]:
    return lambda function: reduce(lambda made, option: option(made), reversed(options), function)


@command(short_help="Which nodes can go, with all their pods elsewhere?")
@takes_cluster
@click.argument("paths", nargs=-1, type=FILE, metavar="PATHS... [NODES]...")
@_with(CHOICE)
@_with(FLAGS)
@scheduler_options
@cluster_options
@click.option(
    "-o",
    "form",
    type=click.Choice(["table", "wide", "json", "yaml", "csv", "html"]),
    default="table",
    show_default=True,
    help="wide: evictions in order too; csv: one line a node; html: a page.",
)
@click.option("--output", metavar="FILE", help="Write the records there, whole or not at all, instead of to standard output.")
@takes_report
@click.option("--verbose", "-v", is_flag=True, help="Say what runs, on standard error.")
def drain(paths: tuple[Path, ...], setup: Setup, cluster: ClusterChoice, **values: Any) -> None:
    """Say whether NODES can go: every pod on them is evicted, and placed elsewhere as its controller makes it again.

    An argument is a path if there is a file or folder of that name, else a node. Nodes are named, or chosen by --zone and -l, or looked for
    by --auto. All of them are cordoned, then emptied one after the other. What kubectl drain refuses is refused, by the same flags: pods of
    DaemonSets, with an emptyDir, without a controller.

    Evictions go in rounds. In each, all pods leave that disruption budgets allow; what is made in their place is scheduled and gets ready,
    and then the budgets allow more. A node that cannot go stays in service, and the others are tried again without it: those that can go
    can go together. Pods that wait are scheduled before the first eviction.

    --auto empties the least used nodes first, undoes what fails, and proves at the end that all that it found can go at once. It also says
    how many could go at most, by what the pods request and the nodes have. Nodes of the control plane stay.

    Exit status 0: all NODES can go, or --auto found some; 1: not all can, or none; 2: bad input.

    \b
    kubeclassic drain cluster/ worker-7 worker-8 --ignore-daemonsets
    kubeclassic drain cluster/ --zone north-1c --ignore-daemonsets -o wide
    kubeclassic drain cluster/ worker-7 worker-8 --ignore-daemonsets --report drain.html
    kubeclassic drain cluster/ --auto --keep 3 --ignore-daemonsets --delete-emptydir-data -o json
    """
    from .running.questions.drain import DrainOutput, run

    output = DrainOutput(**{name: values.pop(name) for name in ("form", "output", "report", "verbose")})
    sys.exit(run(paths, setup, cluster, output, **values))
