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

    NEEDS = (("keep", "auto"),)
    EXCLUDES = (("gone", "auto"), ("gone", "pod_selector"))

    nodes: Sequence[str] = option(
        (), "A node, where a file has the same name.", flags=("--node",), converter=texts("nodes", "the name of a node"),
        metavar="NAME",
        python="The names of the nodes, one or several; by default those that *zone* and *node_selector* choose.",
    )  # fmt: skip
    scheduler: GivenScheduler = given_scheduler()
    auto: bool = option(False, "Look for as many nodes as possible that can go together.", common=True)
    keep: int = option(
        0, "With --auto: at least N of the nodes that it may choose stay.", least=0, shows=False,
    )  # fmt: skip
    zone: str | None = option(None, "Only nodes of this zone; without --auto: all of them.", metavar="ZONE")
    node_selector: str | None = option(
        None, "Only nodes with these labels: pool=general,!gpu; without --auto: all.",
        flags=("--node-selector", "--selector", "-l"), common=True, metavar="SELECTOR",
    )  # fmt: skip
    gone: bool = option(
        False, "The nodes are gone at once, as when a zone fails: which pods find another node, which wait, and what to add.",
        common=True,
    )  # fmt: skip
    pending_first: bool = option(
        False, "Place the pods that wait before the first eviction; else they are left out.",
    )  # fmt: skip
    ignore_daemonsets: bool = option(
        False, "Pass over pods of DaemonSets; else they keep their node from going.", common=True,
    )  # fmt: skip
    delete_emptydir_data: bool = option(
        False, "Evict pods with an emptyDir, whose data is lost, too.",
        flags=("--delete-emptydir-data", "--delete-local-data"),
    )  # fmt: skip
    force: bool = option(False, "Delete pods without a controller; they are not made again.", common=True)
    recreate_bare: bool = option(
        False, "Take it that somebody makes pods without a controller again, as for traces.",
    )  # fmt: skip
    disable_eviction: bool = option(False, "Delete pods without asking disruption budgets.")
    pod_selector: str | None = option(
        None, "Evict only pods with these labels; the others stay.", metavar="SELECTOR",
    )  # fmt: skip


QUESTION = Question(
    options=DrainOptions, ask="drain:drain", prints=True, reads=["PodDisruptionBudget"], own_first=True, besides="nodes",
    what="the records", headers=False,
    ignored={
        "--dry-run": False, "--grace-period": True, "--timeout": True, "--skip-wait-for-delete-timeout": True, "--chunk-size": True,
    },
    forms=("table", "wide", "name", "json", "yaml", "csv", "html"), verbose="Say what runs, on standard error.",
    told_forms="wide: evictions in order too; name: the nodes that can go; csv: one line a node; html: a page.",
)  # fmt: skip
