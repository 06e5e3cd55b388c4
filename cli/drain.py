"""``kubeclassic drain``: which nodes can go."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from functools import reduce
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

import attrs
import click

from .console.output import STANDARD
from .declaring.commands import CommonOption, command
from .declaring.options import ClusterChoice, cluster_options, scheduler_options
from .declaring.outputs import Output, output_options
from .declaring.paramtypes import FILE, Whole
from .declaring.paths import takes_cluster

if TYPE_CHECKING:
    from .declaring.setup import Setup

F = TypeVar("F", bound=Callable[..., Any])
OF_KUBECTL = {"--dry-run": False, "--grace-period": True, "--timeout": True, "--skip-wait-for-delete-timeout": True, "--chunk-size": True}
"""Flags of kubectl drain that mean nothing where nothing is drained, and whether each takes a value."""
FORMS = ("table", "wide", "name", "json", "yaml", "csv", "html")

CHOICE = (
    click.option("--node", "names", multiple=True, metavar="NAME", help="A node, where a file has the same name."),
    click.option("--auto", cls=CommonOption, is_flag=True, help="Look for as many nodes as possible that can go together."),
    click.option("--keep", type=Whole(0), default=0, metavar="N", help="With --auto: at least N of the nodes that it may choose stay."),
    click.option("--zone", metavar="ZONE", help="Only nodes of this zone; without --auto: all of them."),
    click.option(
        "--node-selector", "--selector", "-l", cls=CommonOption, metavar="SELECTOR",
        help="Only nodes with these labels: pool=general,!gpu; without --auto: all.",
    ),
    click.option(
        "--gone", cls=CommonOption, is_flag=True,
        help="The nodes are gone at once, as when a zone fails: which pods find another node, which wait, and what to add.",
    ),
    click.option("--pending-first", is_flag=True, help="Place the pods that wait before the first eviction; else they are left out."),
)
FLAGS = (
    click.option(
        "--ignore-daemonsets", cls=CommonOption, is_flag=True,
        help="Pass over pods of DaemonSets; else they keep their node from going.",
    ),
    click.option(
        "--delete-emptydir-data", "--delete-local-data", is_flag=True, help="Evict pods with an emptyDir, whose data is lost, too."
    ),
    click.option("--force", cls=CommonOption, is_flag=True, help="Delete pods without a controller; they are not made again."),
    click.option("--recreate-bare", is_flag=True, help="Take it that somebody makes pods without a controller again, as for traces."),
    click.option("--disable-eviction", is_flag=True, help="Delete pods without asking disruption budgets."),
    click.option("--pod-selector", metavar="SELECTOR", help="Evict only pods with these labels; the others stay."),
)


def _with(options: tuple[Callable[[F], F], ...]) -> Callable[[F], F]:
    return lambda function: reduce(lambda made, option: option(made), reversed(options), function)


@command(short_help="Which nodes can go, with all their pods elsewhere?", ignored=OF_KUBECTL)
@takes_cluster("PodDisruptionBudget")
@click.argument("paths", nargs=-1, type=FILE, metavar="PATHS... [NODES]...")
@_with(CHOICE)
@_with(FLAGS)
@scheduler_options
@cluster_options
@output_options(
    FORMS, "wide: evictions in order too; name: the nodes that can go; csv: one line a node; html: a page.",
    verbose="Say what runs, on standard error.", what="the records", headers=False,
)  # fmt: skip
def drain(paths: tuple[Path, ...], setup: Setup, cluster: ClusterChoice, output: Output, **values: Any) -> None:
    """Say whether NODES can go: every pod on them is evicted, and placed elsewhere as its controller makes it again.

    An argument is a path if there is a file or folder of that name, else a node. Nodes are named, or chosen by --zone and -l, or looked for
    by --auto. All of them are cordoned, then emptied one after the other. What kubectl drain refuses is refused, by the same flags: pods of
    DaemonSets, with an emptyDir, without a controller.

    Evictions go in rounds. In each, all pods leave that disruption budgets allow; what is made in their place is scheduled and gets ready,
    and then the budgets allow more. A node that cannot go stays in service, and the others are tried again without it: those that can go
    can go together. Pods that wait in the cluster are left out, unless --pending-first places them before the first eviction.

    --auto empties the least used nodes first, undoes what fails, and proves at the end that all that it found can go at once. It also says
    how many could go at most, by what the pods request and the nodes have. Nodes of the control plane stay.

    With --gone they are not drained but gone, without a node for anybody to ask: budgets do not count, nor do kubectl's flags. Pods of
    DaemonSets and static pods end with their node; what is made in place of the others is scheduled, with new claims where those come from
    a template. Exit status 1: some wait.

    Exit status 0: all NODES can go, or --auto found some; 1: not all can, or none; 2: bad input.

    \b
    kubeclassic drain cluster/ worker-7 worker-8 --ignore-daemonsets
    kubeclassic drain cluster/ --zone north-1c --ignore-daemonsets -o wide
    kubeclassic drain cluster/ --gone --zone north-1c
    kubeclassic drain cluster/ worker-7 worker-8 --ignore-daemonsets --report drain.html
    kubeclassic drain cluster/ --auto --keep 3 --ignore-daemonsets --delete-emptydir-data -o json
    kubeclassic drain cluster/ --auto --ignore-daemonsets -o name | xargs -r kubectl drain --ignore-daemonsets
    """
    sys.exit(_run(paths, setup, cluster, output, **values))


def _run(
    given: tuple[Path, ...], setup: Setup, cluster: ClusterChoice, output: Output, names: Sequence[str], pod_selector: str | None,
    **values: Any,
) -> int:  # fmt: skip
    from ..questions.drain import ask, summary_lines
    from ..simulation.drain.plan import DrainQuestion, matcher
    from ..simulation.drain.rules import DrainFlags
    from .answering import about_input, answer
    from .console.output import note, note_lines
    from .notices import tell_unread
    from .opening import Console, opened, waiting_left_out
    from .report.page.about import discreet
    from .report.tables import width_of, wrapped

    paths, nodes = _paths_and_nodes(given)
    is_on = {field.name: values.pop(field.name) for field in attrs.fields(DrainFlags) if field.name in values}
    flags = DrainFlags(pod_selector=matcher("--pod-selector", pod_selector), **is_on)
    question = DrainQuestion(nodes=(*nodes, *names), mark="--", **values)
    read = opened(paths, cluster, setup)
    console = Console(output.verbose) if question.pending_first else Console(output.verbose, waiting_left_out)
    found = ask(read, question, flags, console, occupancy=output.makes_page)

    def write_names(stream: IO[str]) -> None:
        stream.writelines(f"{node}\n" for node in found.can)

    about = about_input(read, [*paths, *cluster.pods])
    status = answer(found, output, lambda: about, unread=False, forms={"name": write_names})
    said = [*summary_lines(found.plan.answer), *filter(None, [found.about_reasons])]
    note_lines(wrapped(said, width_of(sys.stderr), "  "))
    if found.plan.answer.add_nodes:
        # A page leaves out the folders of paths; a command that is run here wants them.
        whole = {discreet(word): word for word in (*map(str, paths), *sys.argv[1:])}
        asking = about.asking("capacity", *found.plan.answer.add_nodes)
        note(f"which nodes to add: {shlex.join(whole.get(word, word) for word in asking)}")
    tell_unread(read.scenario.warnings)
    return status


def _paths_and_nodes(given: tuple[Path, ...]) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """What is there, and what must be the name of a node."""
    paths = tuple(path for path in given if str(path) == STANDARD or path.exists())
    if not paths:
        missing = f"{given[0]}: got neither a path that is there nor, without any, a cluster with a node of that name. " if given else ""
        raise click.UsageError(f"{missing}Missing argument 'PATHS...', or --kubeconfig FILE, or --context NAME.")
    return paths, tuple(str(path) for path in given if path not in paths)
