"""The options of ``explain``, and of what would help."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import attrs

from ...exceptions import wrong_type
from ..options import ClusterOptions, MorePods, Question, given_scheduler, option

if TYPE_CHECKING:
    from ...api.objects import Pod
    from ...simulation.input import GivenCluster, GivenScheduler


@attrs.frozen(repr=False)
class ExplainOptions(ClusterOptions, MorePods):
    """The options of ``explain``: a pod, and the way it is explained."""

    pod: str | Pod | Mapping[str, Any] = option(
        takes="argument",
        types=(object,),
        help="``namespace/name``, a name, a workload such as ``deploy/web``, or a pod or manifest that is not in the cluster. A pod that "
        "has a node is scheduled as if it had none.",
    )
    scheduler: GivenScheduler = given_scheduler()
    namespace: str | None = option(
        None, "The namespace of POD.", flags=("-n", "--namespace"), common=True, metavar="NAME"
    )
    node: str | None = option(
        None,
        "Everything about this node: each rule in order with its result, free room, scores.",
        metavar="NAME",
    )
    every: bool = option(
        False, "Show all nodes, not only the best and nearest; or all changes that help.", flags=("--all",)
    )
    alone: bool = option(False, "Do not schedule other pending pods first.")

    def waiting(self) -> GivenCluster:
        """The pending pods besides those of the cluster, with the subject itself unless it is given by
        name."""
        if isinstance(self.pod, str):
            return self.pods
        from ...api.objects import Pod
        from ...simulation.input import parts_of

        if not isinstance(self.pod, Pod | Mapping):
            raise wrong_type("pod", self.pod, "a name, a Pod or its manifest")
        if not isinstance(self.pod, Mapping):
            return (*parts_of("pods", self.pods), self.pod)
        return (*parts_of("pods", self.pods), {**self.pod, "metadata": self._metadata})

    @property
    def name(self) -> str:
        """The name of the pod, which is given by name, as an object or as a manifest."""
        if isinstance(self.pod, Mapping):
            metadata = self._metadata
            return f"{metadata.get('namespace') or 'default'}/{metadata.get('name')}"
        return self.pod if isinstance(self.pod, str) else self.pod.key

    @property
    def _metadata(self) -> Mapping[str, Any]:
        """The metadata of a manifest; one with a generateName alone has a name, as from an API server."""
        metadata = cast(Mapping[str, Any], self.pod).get("metadata")
        if not isinstance(metadata, Mapping):
            return metadata or {}
        prefix = metadata.get("generateName")
        is_named = metadata.get("name") or not prefix or not isinstance(prefix, str)
        return metadata if is_named else {**metadata, "name": f"{prefix}new"}


@attrs.frozen(repr=False)
class WhatIfOptions(ExplainOptions):
    """Say why POD goes where it goes, or nowhere.

    If it finds no node: why nodes reject it, the nearest nodes first, and whether preemption would help. If
    it finds one: the scores of the nodes that fit, the rule that decided, and why the others do not fit.

    POD is namespace/name, or name, or a workload: deploy/web, sts/db, ds/agent, job/report, rs/... For a
    workload all its pods take their turn, and the first without a node is explained; if all find one, one of
    them is. Pods that `kubeclassic simulate` tries earlier are scheduled first, so both agree. A pod that has
    a node is scheduled as if it were new: why is it on that node, could it be elsewhere?

    With --what-if: what would help, least disturbing changes first. Pass the edits to --set as they are
    printed.

    Exit status 0: it finds a node and keeps it, if only by evicting others, or all pods of the workload do
    (with --node: it fits there; with --what-if: or something helps), 1: it does not, 2: bad input.

    \b
    kubeclassic explain cluster/ shop/web-0
    kubeclassic explain cluster/ deploy/web -n shop --node worker-7
    kubeclassic explain cluster/ shop/web-0 --report web.html
    kubeclassic explain cluster/ shop/web-0 --what-if --report help.html
    kubeclassic explain cluster/ shop/web-0 --want worker-7
    """

    EXCLUDES = (
        ("every", "node", "one node is shown in full"),
        ("want", "node", "--want NODE asks about it"),
        ("what_if", "node", "--want NODE asks about it"),
    )

    what_if: bool = option(
        False, "Find the smallest changes that help; each is tested.", common=True, python=None
    )
    want: str | None = option(
        None,
        "Like --what-if, for this node: what keeps the pod from it, and what would bring it there.",
        common=True,
        metavar="NODE",
        wanted="the name of a node",
        python="The node that the pod should get; without it any node will do.",
    )


QUESTION = Question(
    options=WhatIfOptions,
    ask="whatif:explained_or_helped",
    outputs=["--node", "--all"],
    what="the record",
    headers=False,
    verbose="Log what runs to standard error.",
    help_of_forms="wide: how each score is made up; csv: a line per node; html: a page.",
)
