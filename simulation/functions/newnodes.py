"""``kubeclassic.add_nodes``: how many new nodes are needed?"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import attrs

from ...api.controlplane.defaults import with_defaults
from ...api.load import Loaded, load, load_documents
from ...api.objects import KubeObject
from ...api.reading.documents import Document
from ...api.reading.notices import NoticeGroup
from ...api.record import plain
from ...exceptions import ManifestError, wrong_type
from ..capacity.question import asked
from ..newnodes.answer import NewNodesAnswer, number_of
from ..newnodes.fewest import fewest_nodes
from ..newnodes.kinds import LIKE, NewNodeError, read_cost
from .capacity import GivenTemplates, checked_exclude, checked_number, checked_ratio, loaded_templates
from .given import GivenCluster, GivenScheduler, Part, check_order, parts_of, scenario_of, spec_of, warnings_of
from .results import Result, Table


@attrs.frozen(eq=False, repr=False)
class NewNodesResult(Result):
    """Which nodes to add, and what was proven."""

    answer: NewNodesAnswer
    warnings: tuple[NoticeGroup, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether each pod finds a node with the new ones: what the command's exit status says."""
        return self.answer.is_yes

    @property
    def added(self) -> dict[str, int]:
        """Kind -> how many of it to add; kinds that are not needed are left out. Empty if no number is enough."""
        return {row.node: row.count for row in self.answer.added()}

    @property
    def cost(self) -> Decimal | None:
        """What they cost in all; each node 1 if no costs were given. None if no number is enough."""
        return self.answer.cost if self.ok else None

    @property
    def is_proven(self) -> bool:
        """Whether every mix that costs less was simulated, or has too little of something."""
        return self.ok and self.answer.found.is_proven

    @property
    def with_one_fewer(self) -> str | None:
        """What happens with one node less of each kind that is added; None if nothing is added."""
        return self.answer.with_one_fewer

    @property
    def without_node(self) -> dict[str, str]:
        """Pods that find no node -> why."""
        return dict(self.answer.without_place)

    def record(self) -> dict[str, Any]:
        return self._plain(self.answer.document)

    def tables(self) -> Mapping[str, Table]:
        nodes = [
            {"name": node.name, "node": node.node, "pods": node.pods} | {f"{name} requested": used for name, used in node.requested.items()}
            for node in self.answer.nodes()
        ]
        added = Table(("node", "count", "cost", "costOfOne"), plain(self.answer.added()))
        return {"added": added, "nodes": Table.of(nodes, ("name", "node", "pods"))}

    def facts(self) -> Mapping[str, object]:
        told = " and ".join(f"{count} {name}" for name, count in self.added.items()) or "nothing"
        cost = None if self.cost is None else number_of(self.cost)
        return {"release": self.answer.release, "added": told, "cost": cost, "placed": self.ok, "proven": self.is_proven or None}

    def verdict(self) -> str:
        if not self.ok:
            return "No number of these nodes is enough."
        return f"With {self.facts()['added']} added, each pod finds a node." if self.added else "Each pod finds a node without a new one."


def add_nodes(
    cluster: GivenCluster, nodes: Part | Iterable[Part], scheduler: GivenScheduler = None, *, pod: GivenTemplates | None = None,
    pods: int | None = None, costs: Mapping[str, int | float | str | Decimal] | None = None, ratio: Sequence[int] | None = None,
    most_nodes: int | None = None, most_trials: int | None = None, exclude_nodes: str | Sequence[str] = (), pending_first: bool = False,
    order: str = "input", preemption: bool = False, defaults: bool = True, edits: str | Iterable[str] = (),
) -> NewNodesResult:  # fmt: skip
    """Find the fewest new nodes, or the cheapest mix of several kinds, with which all pods that wait in *cluster* find a node.

    :param nodes: a Node as a file, a manifest or an object, or ``"like:NODE"`` for copies of a node of the cluster; or several.
    :param pod: not the pods that wait, but copies of this one want a node: a Pod, a PodTemplate or a workload, or several.
    :param pods: how many copies.
    :param costs: kind -> what one node costs, by the name of the Node; by default each node costs 1.
    :param ratio: how many copies of each of several come in turn.
    :param most_nodes: more are not added; by default as many as there are pods.
    :param most_trials: how many cheaper mixes may be simulated for the proof.
    :param exclude_nodes: names of nodes, or a label selector: these nodes and the pods on them are not there.
    :param pending_first: place the pods that wait before the copies; they must find a node too.
    :param scheduler: its options, such as ``Classic(policy="policy.json")``, or a release.
    :param preemption: let pods evict others of lower priority.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError` for bad input.

    >>> node = {"kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "4", "pods": "10"}}}
    >>> web = {"kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [{"resources": {"requests": {"cpu": "1500m"}}}]}}
    >>> found = add_nodes(node, "like:a", pod=web, pods=7, scheduler="1.14")
    >>> found
    <NewNodesResult: release 1.14, added 3 a, cost 3, placed True, proven True>
    >>> found.with_one_fewer
    '2 a: 1 of 7 pods finds no node, first default/web-6: 0/3 nodes are available: 3 Insufficient cpu.'
    """
    spec = spec_of(scheduler, cluster, preemption=preemption)
    scenario = scenario_of(cluster, scheduler_names=spec.scheduler_names, defaults=defaults, edits=edits, priorities=spec.keeps_priorities)
    if pod is None and (pods is not None or ratio is not None or pending_first):
        raise NewNodeError("pods needs pod: else new nodes are for the pods that wait")
    question = asked(
        scenario, loaded_templates(pod, defaults) if pod is not None else [], spec, ratio=checked_ratio(ratio),
        limit=checked_number("pods", pods), exclude=checked_exclude(exclude_nodes), pending_first=pending_first,
        order=check_order(order), defaults=defaults,
    )  # fmt: skip
    prices = {name: read_cost(name, value) for name, value in (costs or {}).items()}
    given = list(_given(nodes, defaults))
    answer = fewest_nodes(question, scenario, spec, given, prices, most_nodes=most_nodes, most_trials=most_trials)
    engine = spec.engine(scenario.config_maps)
    return NewNodesResult(answer, warnings_of(scenario, scheduler, engine, pods=question.pods))


def _given(nodes: Part | Iterable[Part], defaults: bool) -> Iterator[str | tuple[str, Loaded]]:
    for number, part in enumerate(parts_of("nodes", nodes), 1):
        if isinstance(part, str) and part.startswith(LIKE):
            yield part
        elif isinstance(part, str | os.PathLike):
            if not os.path.exists(part):
                raise ManifestError(f'nodes: got "{os.fspath(part)}", which is no file, wanted a file with one Node, or like:NODE')
            yield os.fspath(part), load(part, defaults=defaults)
        elif isinstance(part, KubeObject):
            yield f"node {number}", Loaded((with_defaults(part) if defaults else part,))
        elif isinstance(part, Mapping):
            yield f"node {number}", load_documents([Document(part, f"node {number}")], defaults=defaults)
        else:
            raise wrong_type("nodes", part, "a Node or like:NODE")
