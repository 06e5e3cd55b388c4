"""The options of ``capacity``, and of new nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs

from ...exceptions import wrong_type
from ..options import ClusterOptions, OptionsError, Question, given_scheduler, option, texts

if TYPE_CHECKING:
    from ...simulation.input import GivenScheduler, Part

    GivenTemplates: TypeAlias = Part | Iterable[Part]
    """A pod, a PodTemplate or a workload, or several: each a file, a manifest or, for a pod, an object."""


def _ratio(value: Any) -> Any:
    if value is not None and not (
        isinstance(value, Sequence)
        and all(isinstance(part, int) and not isinstance(part, bool) for part in value)
    ):
        raise wrong_type("ratio", value, "whole numbers such as (3, 1)")
    return value


@attrs.frozen(repr=False)
class CapacityOptions(ClusterOptions):
    """The options of a count: the pods to copy, and how copies are placed."""

    pod: GivenTemplates = option(
        (),
        "The Pod, PodTemplate or workload to place copies of, or a pod of the cluster. Several take turns.",
        flags=("--pod", "--podspec"),
        takes="files",
        common=True,
        metavar="FILE|like:POD",
    )
    scheduler: GivenScheduler = given_scheduler()
    ratio: Sequence[int] | None = option(
        None,
        "How many copies of each --pod per turn.  [default: one of each]",
        takes="ratio",
        converter=_ratio,
        metavar="N:N...",
    )
    pods: int | None = option(None, "Ask whether N copies fit. Exit status 1 if not.", least=1, common=True)
    max_limit: int | None = option(None, "Stop after N copies.  [default: 500,000]", least=0)
    exclude_nodes: Sequence[str] = option(
        (),
        "Exclude these nodes and their pods: a,b or pool=gpu,zone!=z1.",
        converter=texts("exclude_nodes", "names or a selector"),
        metavar="NAMES|SELECTOR",
    )
    pending_first: bool = option(False, "Place pending pods before the copies. By default they are left out.")
    preemption: bool = option(
        False, "Let copies evict pods of lower priority. By default they only use free room."
    )

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if not self.has("pod") and not (isinstance(self, NewNodesOptions) and self.has("nodes")):
            raise OptionsError(
                f"{self.called('pod')}: expected a file with a Pod, a PodTemplate or a workload, got none"
            )

    def changes(self) -> Mapping[str, Any]:
        return {"preemption": self.preemption}


@attrs.frozen(repr=False)
class NewNodesOptions(CapacityOptions):
    """Count how many more copies of a pod fit in the cluster, and say what stops the next one.

    PATHS are manifests or dumps, as for `simulate`. Copies are placed one by one, as kube-scheduler would,
    until the next one fits nowhere. Nothing is evicted without --preemption, and pending pods are left out
    without --pending-first. Copies are admitted as by the API server: LimitRanges set requests and limits,
    ResourceQuotas stop copies. With several --pod, the first copy that does not fit stops the count.

    `room for copies by it alone` is how many copies would fit if no other resource mattered.

    With --add-node: how many new nodes are needed to place all pending pods, or N copies with --pod and
    --pods N; one node fewer is simulated too. With several kinds: the cheapest mix found. Exit status 1: no
    number is enough.

    Exit status 0: some fit, or all of --pods; 1: none, or fewer; 2: bad input.

    \b
    kubeclassic capacity cluster.json --pod small-pod.yaml
    kubeclassic capacity cluster/ --pod web.yaml --pod db.yaml --ratio 3:1 -o wide
    kubeclassic capacity cluster/ --pod deployment.yaml --pods 20 --exclude-nodes pool=gpu -o json
    kubeclassic capacity cluster/ --pod like:shop/web-0 --report capacity.html
    kubeclassic capacity cluster/ --add-node big.yaml --add-node like:node-7 --cost big=3,node-7=1
    """

    NEEDS = (("costs", "nodes"), ("most_nodes", "nodes"), ("gone", "nodes"), ("gone", "exclude_nodes"))
    EXCLUDES = (("max_limit", "nodes"), ("gone", "pod"))

    nodes: Part | Iterable[Part] = option(
        (),
        "Say how many new nodes are needed: like the Node in FILE, or copies of a node. Several: the cheapest mix found.",
        flags=("--add-node",),
        takes="files",
        common=True,
        metavar="FILE|like:NODE",
    )
    costs: Mapping[str, int | float | str | Decimal] | Sequence[str] = option(
        (),
        "The price of a new node, by name.  [default: 1 each]",
        flags=("--cost",),
        types=(Mapping, tuple),
        wanted="costs by the names of kinds, such as {'big': 3}",
        common=True,
        metavar="NAME=NUMBER",
    )
    most_nodes: int | None = option(None, "Add at most N nodes.  [default: one per pod]", least=1)
    gone: bool = option(
        False, "With --exclude-nodes: place the pods that replace those on these nodes, not pending pods."
    )

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        for name in ("pods", "ratio", "pending_first") if self.has("nodes") and not self.has("pod") else ():
            if self.has(name):
                raise OptionsError(
                    f"{self.called(name)} needs {self.called('pod')}: without it, new nodes are for pending pods"
                )
        if self.has("nodes") and self.has("pod") and self.pods is None:
            raise OptionsError(
                f"{self.called('pods')}: expected the number of copies that new nodes are for, got none"
            )


QUESTION = Question(
    options=NewNodesOptions,
    ask="newnodes:capacity_or_nodes",
    reads=["ResourceQuota", "LimitRange"],
    help_of_forms="The format; csv: a line per node; html: a page.",
    widens=True,
    verbose="Like -o wide: what a copy requests, and every node. Also log what runs to standard error.",
)
