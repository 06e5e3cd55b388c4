"""The options of ``explain``, and of what would help."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from ...exceptions import wrong_type
from ..options import ClusterOptions, MorePods, Question, given_scheduler, option

if TYPE_CHECKING:
    from ...api.objects import Pod
    from ...simulation.input import GivenCluster, GivenScheduler


@attrs.frozen(repr=False)
class ExplainOptions(ClusterOptions, MorePods):
    """Which pod, and how it is looked at."""

    pod: str | Pod | Mapping[str, Any] = option(
        takes="argument", types=(object,),
        help="``namespace/name``, a name, a workload such as ``deploy/web``, or a pod or manifest that is not in the cluster. A pod that "
        "has a node is decided as if it had none.",
    )  # fmt: skip
    scheduler: GivenScheduler = given_scheduler()
    namespace: str | None = option(
        None, "The namespace of POD.", flags=("-n", "--namespace"), common=True, metavar="NAME",
    )  # fmt: skip
    node: str | None = option(
        None, "All about this node: each rule in order with its verdict, room, scores.", metavar="NAME",
    )  # fmt: skip
    every: bool = option(
        False, "Show every node, not only the best and the nearest ones; or every change that helps.", flags=("--all",),
    )  # fmt: skip
    alone: bool = option(False, "Explain on the cluster as it is, without scheduling the pods before it.")

    def waiting(self) -> GivenCluster:
        """The pods that wait besides those of the cluster: the one that is asked about too, unless it is given by name."""
        if isinstance(self.pod, str):
            return self.pods
        from ...api.objects import Pod
        from ...simulation.input import parts_of

        if not isinstance(self.pod, Pod | Mapping):
            raise wrong_type("pod", self.pod, "a name, a Pod or its manifest")
        return (*parts_of("pods", self.pods), self.pod)

    @property
    def name(self) -> str:
        """The name of the pod, which is given by name, as an object or as a manifest."""
        if isinstance(self.pod, Mapping):
            metadata = self.pod.get("metadata") or {}
            return f"{metadata.get('namespace') or 'default'}/{metadata.get('name')}"
        return self.pod if isinstance(self.pod, str) else self.pod.key


@attrs.frozen(repr=False)
class WhatIfOptions(ExplainOptions):
    """Say why POD goes where it goes, or nowhere.

    If it finds no node: the reasons against the nodes in PATHS, the nearest to fitting first, and whether evicting pods would help.
    If it finds one: how the nodes that fit score, which rule decided, and why the others do not fit.

    POD is namespace/name, or name. It may be a workload too: deploy/web, sts/db, ds/agent, job/report, rs/..., by kubectl's short
    names. Then all its pods have their turn, and the first that finds no node is explained; if all find one, one pod stands for all.
    The pods that `kubeclassic simulate` tries before it are scheduled first, so that both say the same.
    A pod that has a node is decided as if it had none, and as if it were not there: why is it on that node, could it be elsewhere?

    With --what-if: what would help, the changes that disturb least first. Edits are for --set, which takes them as they are printed.

    Exit status 0: it finds a node, if only by evicting others, or all pods of the workload do (with --node: it fits there; with
    --what-if: or something helps), 1: it does not, 2: bad input.

    \b
    kubeclassic explain cluster/ shop/web-0
    kubeclassic explain cluster/ deploy/web -n shop --node worker-7
    kubeclassic explain cluster/ shop/web-0 --report web.html
    kubeclassic explain cluster/ shop/web-0 --what-if --report help.html
    kubeclassic explain cluster/ shop/web-0 --want worker-7
    """

    EXCLUDES = (("want", "node", "--want NODE asks about it"), ("what_if", "node", "--want NODE asks about it"))

    what_if: bool = option(
        False, "Tell the smallest changes after which the pod fits. Each is tried.", common=True, python=None,
    )  # fmt: skip
    want: str | None = option(
        None, "As --what-if, for this node: what keeps the pod from it, and what would bring it there.", common=True,
        metavar="NODE", wanted="the name of a node", python="The node that the pod should get; without it any node will do.",
    )  # fmt: skip


QUESTION = Question(
    options=WhatIfOptions, ask="whatif:explained_or_helped", outputs=["--node", "--all"], what="the record", headers=False,
    verbose="Say what runs, on standard error.",
    told_forms="wide: how each score comes about; csv: one line a node; html: a page.",
)  # fmt: skip
