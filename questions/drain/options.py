"""The options of ``drain``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs

from ..options import ClusterOptions, MorePods, Question, given_scheduler, option, texts

if TYPE_CHECKING:
    from ...simulation.input import GivenScheduler


@attrs.frozen(repr=False)
class DrainOptions(ClusterOptions, MorePods):
    """Say whether NODES can go: every pod on them is evicted, and its replacement is placed elsewhere.

    An argument is a path if a file or folder has that name, else a node. Or select nodes with --zone and -l,
    or let --auto find them. All are cordoned, then emptied one after the other. As kubectl drain does, it
    refuses pods of DaemonSets, with an emptyDir, or without a controller, unless the flags allow them.

    Evictions go in rounds: each evicts the pods that disruption budgets allow, places their replacements, and
    counts them as ready. A node that cannot go stays in service, and the others are tried again without it,
    so the nodes that can go can go together. Pending pods are left out without --pending-first.

    --auto starts with the least used nodes, undoes what fails, and verifies at the end that all of them can
    go at once. Control plane nodes stay.

    With --gone the nodes fail instead: budgets and kubectl's flags do not count. Pods of DaemonSets and
    static pods end with their node; replacements of the others are placed, with new claims where those come
    from a template. Exit status 1: some wait.

    Exit status 0: all NODES can go, or --auto found some; 1: not all can, or none; 2: bad input.

    \b
    kubeclassic drain cluster/ worker-7 worker-8 --ignore-daemonsets
    kubeclassic drain cluster/ --zone north-1c --ignore-daemonsets -o wide
    kubeclassic drain cluster/ --gone --zone north-1c
    kubeclassic drain cluster/ worker-7 worker-8 --ignore-daemonsets --report drain.html
    kubeclassic drain cluster/ --auto --keep 3 --ignore-daemonsets --delete-emptydir-data -o json
    kubeclassic drain cluster/ --auto --ignore-daemonsets -o name | xargs -r kubectl drain --ignore-daemonsets
    """

    NEEDS = (("keep", "auto"),)
    EXCLUDES = (("gone", "auto"), ("gone", "pod_selector"))

    nodes: Sequence[str] = option(
        (),
        "A node whose name is also that of a file.",
        flags=("--node",),
        converter=texts("nodes", "the name of a node"),
        metavar="NAME",
        python="The names of the nodes, one or several; by default those that *zone* and *node_selector* choose.",
    )
    scheduler: GivenScheduler = given_scheduler()
    auto: bool = option(False, "Find as many nodes as possible that can go together.", common=True)
    keep: int = option(0, "With --auto: keep at least N of the selected nodes.", least=0, shows=False)
    zone: str | None = option(None, "All nodes of this zone; with --auto: choose among them.", metavar="ZONE")
    node_selector: str | None = option(
        None,
        "All nodes with these labels, such as pool=general,!gpu; with --auto: choose among them.",
        flags=("--node-selector", "--selector", "-l"),
        common=True,
        metavar="SELECTOR",
    )
    gone: bool = option(
        False,
        "The nodes fail at once: which pods find another node, which wait, and what to add.",
        common=True,
    )
    pending_first: bool = option(
        False, "Place pending pods before the first eviction. By default they are left out."
    )
    ignore_daemonsets: bool = option(
        False, "Leave pods of DaemonSets on the node; by default they block it.", common=True
    )
    delete_emptydir_data: bool = option(
        False,
        "Also evict pods with an emptyDir; their data is lost.",
        flags=("--delete-emptydir-data", "--delete-local-data"),
    )
    force: bool = option(False, "Also evict pods without a controller; they are lost.", common=True)
    recreate_bare: bool = option(
        False, "Assume that pods without a controller are created again, as for traces."
    )
    disable_eviction: bool = option(False, "Ignore disruption budgets.")
    pod_selector: str | None = option(None, "Evict only pods with these labels.", metavar="SELECTOR")


QUESTION = Question(
    options=DrainOptions,
    ask="drain:drain",
    prints=True,
    reads=["PodDisruptionBudget"],
    own_first=True,
    besides="nodes",
    what="the records",
    headers=False,
    ignored="--dry-run --grace-period= --timeout= --skip-wait-for-delete-timeout= --chunk-size=",
    forms="table,wide,name,json,yaml,csv,html",
    verbose="Log what runs to standard error.",
    help_of_forms="wide: with evictions in order; name: nodes that can go; csv: a line per node; html: a page.",
)
