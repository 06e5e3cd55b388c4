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
    """A pod, a PodTemplate or a workload, or several: each a file, a manifest or, of pods, an object."""


def _ratio(given: Any) -> Any:
    if given is not None and not (
        isinstance(given, Sequence) and all(isinstance(part, int) and not isinstance(part, bool) for part in given)
    ):
        raise wrong_type("ratio", given, "whole numbers such as (3, 1)")
    return given


@attrs.frozen(repr=False)
class CapacityOptions(ClusterOptions):
    """Of which pods copies are placed, and how."""

    pod: GivenTemplates = option(
        (), "A Pod, a PodTemplate or a workload, of which copies are placed. Several take turns.",
        flags=("--pod", "--podspec"), takes="files", common=True,
    )  # fmt: skip
    scheduler: GivenScheduler = given_scheduler()
    ratio: Sequence[int] | None = option(
        None, "How many copies of each --pod come in turn.  [default: one of each]", takes="ratio", converter=_ratio,
        metavar="N:N...",
    )  # fmt: skip
    pods: int | None = option(
        None, "Ask whether N copies fit; stop there. Exit status 1 if fewer do.", least=1, common=True,
    )  # fmt: skip
    max_limit: int | None = option(
        None, "Stop after N copies.  [default: 0, no limit]", least=0,
    )  # fmt: skip
    exclude_nodes: Sequence[str] = option(
        (), "Leave these nodes out, and the pods on them: a,b or pool=gpu,zone!=z1.",
        converter=texts("exclude_nodes", "names or a selector"), metavar="NAMES|SELECTOR",
    )  # fmt: skip
    pending_first: bool = option(False, "Place the pods that wait before all copies. Else they are left out.")
    preemption: bool = option(
        False, "Let copies evict pods of lower priority. Else they take free room only.",
    )  # fmt: skip

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if not self.has("pod") and not (isinstance(self, NewNodesOptions) and self.has("nodes")):
            raise OptionsError(f"{self.called('pod')}: expected a file with a Pod, a PodTemplate or a workload, got none")

    def changes(self) -> Mapping[str, Any]:
        return {"preemption": self.preemption}


@attrs.frozen(repr=False)
class NewNodesOptions(CapacityOptions):
    """Count how many more copies of a pod fit into the cluster in PATHS, and say what stops the next one.

    PATHS are manifests or dumps of a cluster, as for `simulate`. Copies are placed one by one, as kube-scheduler would place them, until
    the next one fits nowhere. Nothing is evicted, unless with --preemption. Pods that wait in the cluster are left out, unless with
    --pending-first. Copies are admitted as the API server would do it: LimitRanges of their namespace give requests and limits, and
    ResourceQuotas stop them (dump them too: add quota,limits to the kinds that `simulate --help` lists). With several --pod the first
    copy that finds no place stops all, so that the ratio holds.

    `room for copies by it alone` is how many copies would fit if no other resource counted, on nodes that take such pods.

    With --add-node it says how many new nodes are needed so that all pods that wait find a node, or with --pod and --pods N copies do, and
    simulates it with one node less. Several kinds: the mix that costs least. Exit status 1: no number of them is enough.

    Exit status 0: some fit, or all that --pods wants; 1: none, or fewer; 2: bad input.

    \b
    kubeclassic capacity cluster.json --pod small-pod.yaml
    kubeclassic capacity cluster/ --pod web.yaml --pod db.yaml --ratio 3:1 -o wide
    kubeclassic capacity cluster/ --pod deployment.yaml --pods 20 --exclude-nodes pool=gpu -o json
    kubeclassic capacity cluster/ --pod web.yaml --report capacity.html
    kubeclassic capacity cluster/ --add-node big.yaml --add-node like:node-7 --cost big=3,node-7=1
    """

    NEEDS = (("costs", "nodes"), ("most_nodes", "nodes"), ("gone", "nodes"), ("gone", "exclude_nodes"))
    EXCLUDES = (("max_limit", "nodes"), ("gone", "pod"))

    nodes: Part | Iterable[Part] = option(
        (),
        "Say how many new nodes are needed: of the Node in FILE, or copies of a node. Several: a mix of them that costs little.",
        flags=("--add-node",), takes="files", common=True, metavar="FILE|like:NODE",
    )  # fmt: skip
    costs: Mapping[str, int | float | str | Decimal] | Sequence[str] = option(
        (), "What a new node costs, by the name of its kind.  [default: 1 each]", flags=("--cost",), types=(Mapping, tuple),
        wanted="costs by the names of kinds, such as {'big': 3}", common=True, metavar="NAME=NUMBER",
    )  # fmt: skip
    most_nodes: int | None = option(
        None, "Add N nodes at most.  [default: as many as there are pods]", least=1,
    )  # fmt: skip
    gone: bool = option(
        False,
        "With --exclude-nodes: not the pods that wait want a node, but those that are made in place of the pods on these nodes.",
    )  # fmt: skip

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        for name in ("pods", "ratio", "pending_first") if self.has("nodes") and not self.has("pod") else ():
            if self.has(name):
                raise OptionsError(f"{self.called(name)} needs {self.called('pod')}: else new nodes are for the pods that wait")
        if self.has("nodes") and self.has("pod") and self.pods is None:
            raise OptionsError(f"{self.called('pods')}: expected the number of copies that new nodes are for, got none")


QUESTION = Question(
    options=NewNodesOptions, ask="newnodes:capacity_or_nodes", reads=["ResourceQuota", "LimitRange"],
    told_forms="How to write it; csv: a line a node; html: a page.",
    widens=True, verbose="As -o wide: what a copy requests, and every node; and what runs, on standard error.",
)  # fmt: skip
