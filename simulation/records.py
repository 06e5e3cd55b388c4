"""A simulation as data: what became of each pod, who was evicted, the cycles, and the document that ``-o json`` prints."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, ClassVar

import attrs

from ..api.reading.notices import InputWarning, ResultDocument
from ..api.record import UNSET, Count, PodKey, Record, UnsetType, field, says
from ..core.decision.record import CycleRecord
from .nodesbyuse import NodeRecord, NodesByUse, nodes_by_use
from .simulate import Eviction, Outcome, OutcomeWord, Simulation
from .summary import Summary, Usage, summarise, usages

_AVAILABLE = " nodes are available: "
_COUNTED = re.compile(r"(?:^|, )(\d+) (.+?)(?=, \d+ |$)")


class PodRecord(Record):
    """What became of a pod in the end."""

    pod: PodKey
    namespace: str
    name: str
    outcome: Annotated[
        OutcomeWord,
        says(
            "placed: it has a node in the end; evicted: it found a node and lost it; gated: held back and not tried; waiting: it has a"
            " node, but Permit plugins have not allowed it yet."
        ),
    ]
    host: Annotated[str | None, says("The node that it has in the end.")]
    error: Annotated[str | None, says("Why it has none, or waits: upstream's last message, or who evicted it.")]
    tries: Annotated[Count, says("Scheduling cycles: 2 where the pod made room and was tried once more.")]
    nominated: Annotated[str | None, says("The node for which a pod without one is nominated in the end.")]
    victims: Annotated[tuple[PodKey, ...], says("The pods that had to leave for it.")]
    evicted_by: Annotated[PodKey | None, says("The pod that took its place.")]
    evicted_from: Annotated[str | None, says("The node that it lost.")]
    replacement: Annotated[PodKey | None, says("--reschedule-evicted: the pod that its owner made in its place.")]
    replaces: Annotated[PodKey | None, says("--reschedule-evicted: the evicted pod in whose place its owner made this one.")]
    priority: int
    requests: Annotated[
        Mapping[str, Count],
        says(
            "Resource -> millicores of cpu, bytes of memory, ephemeral-storage and hugepages, else pieces; resources of which it requests"
            " none are absent."
        ),
    ]

    @classmethod
    def of(cls, simulation: Simulation, outcome: Outcome) -> PodRecord:
        """The record of a pod of *simulation*."""
        pod, eviction, engine = outcome.pod, outcome.eviction, simulation.engine
        nominated = engine.nominations.node_of(pod) if outcome.host is None and eviction is None else ""
        by, lost, replacement = (None, None, None) if eviction is None else (eviction.by, eviction.node, eviction.replacement)
        return cls(
            pod.key, pod.namespace, pod.name, outcome.word, outcome.host, outcome.error, outcome.tries, nominated or None, outcome.victims,
            by, lost, replacement, outcome.replaces, pod.priority,
            {name: number for name, number in engine.template_of(pod).requests.items() if number},
        )  # fmt: skip


class EvictionRecord(Record):
    """A pod that had to leave."""

    pod: PodKey
    by: Annotated[PodKey, says("The pod for which it had to leave.")]
    node: Annotated[str, says("The node.")] = field(name="from")
    priority: int
    owner: Annotated[str | None, says("KIND/NAME of its controller; null for a bare pod, which does not come back.")]
    replacement: Annotated[PodKey | None, says("--reschedule-evicted: the pod that the owner made in its place.")]

    @classmethod
    def of(cls, eviction: Eviction) -> EvictionRecord:
        """Who had to leave, for whom, and from where."""
        owner = eviction.pod.metadata.controller
        named = f"{owner.kind}/{owner.name}" if owner else None
        return cls(eviction.pod.key, eviction.by, eviction.node, eviction.pod.priority, named, eviction.replacement)


class UnplacedPods(Record):
    """Pods that find no node."""

    reason: str
    pods: tuple[PodKey, ...]


class SimulationDocument(ResultDocument, kw_only=True):
    """Also of -o yaml. -n and -l choose among pods, evicted and cycles (with --nodes, -l among nodes); the summary is of all."""

    KIND: ClassVar[str] = "Simulation"
    release: Annotated[str, says("The release that scheduled.")]
    pods: Annotated[Sequence[PodRecord], says("One entry a pod that was tried, with its final outcome.")]
    evicted: Annotated[Sequence[EvictionRecord], says("The pods that had to leave, in order.")]
    nodes: Annotated[Sequence[NodeRecord] | UnsetType, says("--nodes: each node before and after.")] = UNSET
    cycles: Annotated[Sequence[CycleRecord], says("One entry a cycle, in order: a pod that makes room has two.")] = ()
    reasons: Annotated[
        tuple[UnplacedPods, ...], says("Of all pods: those that find no node, by the reason that most nodes have against them.")
    ]
    nodes_by_use_before: NodesByUse
    resources_before: Annotated[tuple[Usage, ...], says("As resources of the summary, before the first cycle.")]
    nodes_by_use: NodesByUse
    summary: Summary


@attrs.define(eq=False)
class WholeSimulation:
    """A simulation as a document; *simulation* must be new, so that it is known how full its nodes are before the first cycle."""

    simulation: Simulation
    _before: tuple[dict[str, list[int]], tuple[Usage, ...]] = ({}, ())

    def begin(self) -> None:
        """Note how full the nodes are; to be called before the first cycle."""
        engine = self.simulation.engine
        self._before = nodes_by_use(engine), tuple(usages(engine.fresh_table()))

    def document(
        self, *, pods: Sequence[PodRecord] | None = None, evicted: Sequence[EvictionRecord] | None = None,
        nodes: Sequence[NodeRecord] | UnsetType = UNSET, cycles: Sequence[CycleRecord] = (), warnings: tuple[InputWarning, ...] = (),
    ) -> SimulationDocument:  # fmt: skip
        """What came of it; *pods* and *evicted*: those that are shown, by default all."""
        simulation, engine, before = self.simulation, self.simulation.engine, self._before
        outcomes = simulation.outcomes.values()
        return SimulationDocument(
            warnings=warnings, release=engine.release.version,
            pods=[PodRecord.of(simulation, outcome) for outcome in outcomes] if pods is None else pods,
            evicted=list(map(EvictionRecord.of, simulation.evictions)) if evicted is None else evicted, nodes=nodes, cycles=cycles,
            reasons=unplaced(outcomes), nodes_by_use_before=before[0], resources_before=before[1], nodes_by_use=nodes_by_use(engine),
            summary=summarise(simulation),
        )  # fmt: skip


# --- why pods have no node ------------------------------------------------------------------------------------------


def reasons_in(error: str) -> dict[str, int]:
    """Reason -> how many nodes have it, from upstream's message; the one of most nodes first. What is said of no node counts 0.

    >>> reasons_in("0/4 nodes are available: 1 node(s) were unschedulable, 3 Insufficient cpu.")
    {'Insufficient cpu': 3, 'node(s) were unschedulable': 1}
    >>> reasons_in('persistentvolumeclaim "data" not found')
    {'persistentvolumeclaim "data" not found': 0}
    """
    found, _, _ = error.partition(_AVAILABLE)[2].partition(". preemption: ")
    counted = [(reason, int(nodes)) for nodes, reason in _COUNTED.findall(found.rstrip(". "))]
    if not counted:
        return {found.rstrip(". ") or error.rstrip(". "): 0}
    return dict(sorted(counted, key=lambda pair: -pair[1]))


def unplaced(outcomes: Iterable[Outcome]) -> tuple[UnplacedPods, ...]:
    """The pods that find no node by the reason that most nodes have against them, the reason of most pods first."""
    found: dict[str, list[str]] = {}
    for outcome in outcomes:
        if outcome.word == "unschedulable":
            found.setdefault(next(iter(reasons_in(outcome.error or ""))), []).append(outcome.pod.key)
    return tuple(UnplacedPods(reason, tuple(pods)) for reason, pods in sorted(found.items(), key=lambda pair: -len(pair[1])))
