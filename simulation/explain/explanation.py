"""An explanation as a whole: the decision, every node's part in it, and what follows from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

import attrs

from ...api.reading.notices import InputWarning, ResultDocument
from ...api.record import UNSET, Count, Names, Record, UnsetType, says
from ...core.decision.decision import Decision
from ...core.decision.preemptionplan import PreemptionRecord
from .faileddemands import FailedDemand
from .values import CloseUp, EvictionOutcome, HostChoice, NodeReport, ReasonGroup, in_groups

PlacedOn = Annotated[str | None, says("The pod's present node; the decision ignores it.")]
Ignored = Annotated[str | None, says("Why the pod is not scheduled at all; null if it is.")]
Workload = Annotated[str | None, says("The workload that was named, of which the pod is one, as Deployment shop/web.")]
Missing = Annotated[Names, says("Objects that the pod needs and the input lacks: claims, volumes, classes; each in a sentence.")]
WorkloadPods = Annotated[Names, says("All pods of that workload; if some are pending, without finished ones.")]
WorkloadWaiting = Annotated[
    Names | UnsetType, says("Of a workload: its pods without a node after each had its turn; `pod` is the first of them.")
]
WaitingNodes = Annotated[Names | UnsetType, says("The nodes that these pods are for, if a DaemonSet made them.")]


class RuleConcerned(Record):
    """A predicate or filter plugin."""

    rule: str
    concerned: bool
    """False where the rule does not apply to the pod."""


class NodeCounts(Record):
    """How many nodes there are, and what became of them."""

    nodes: Count
    visited: Count
    """Nodes the search evaluated; fit and turnedDown are among these."""
    fit: Count
    turned_down: Count


class ExplanationDocument(ResultDocument, kw_only=True):
    """Why a pod goes where it goes, or nowhere. Resources are in millicores, bytes or pieces."""

    KIND: ClassVar[str] = "Explanation"
    pod: str
    """namespace/name"""
    host: str | None
    """The node that the pod gets."""
    error: str | None
    """The scheduler's message for a pod without a node."""
    preemption: PreemptionRecord | None
    plugins: Names | UnsetType = UNSET
    """From 1.17 on: the plugins that rejected the pod or a node."""
    release: str
    """The release that decides."""
    gated: bool
    """The pod is not tried, because of scheduling gates or a plugin."""
    placed_on: PlacedOn
    ignored: Ignored
    workload: Workload
    workload_pods: WorkloadPods
    workload_waiting: WorkloadWaiting = UNSET
    waiting_nodes: WaitingNodes = UNSET
    scored: bool
    """False if the only node that fits is taken without scoring."""
    rules: tuple[RuleConcerned, ...]
    """The predicates or filter plugins in running order; empty if no node was asked."""
    counts: NodeCounts
    choice: HostChoice | None
    """How the host was chosen among several that fit."""
    reasons: tuple[ReasonGroup, ...]
    """By reason; first what alone keeps the pod from nodes."""
    missing: Missing
    causes: tuple[FailedDemand, ...]
    """Requirements of the pod that nodes do not meet, and taints; most nodes first."""
    eviction: EvictionOutcome | None
    """What evicting pods would do."""
    close_up: CloseUp | None
    """With --node: all about that node."""
    nodes: tuple[NodeReport, ...]
    """Nodes that fit, best first, then the others, nearest first; with --node only that one."""


@attrs.frozen
class PodQuestion:
    """What was asked about the pod besides where it goes."""

    placed_on: str | None = None
    """The node that the pod is on; the decision is made as if it had no node, with the pod itself taken off."""
    ignored: str | None = None
    """Why the pod is not scheduled at all; None if it is."""
    workload: str | None = None
    """The workload that was named instead of a pod, as ``Deployment shop/web``."""
    workload_pods: tuple[str, ...] = ()
    """All pods of that workload."""
    workload_waiting: tuple[str, ...] | UnsetType = UNSET
    """Those of them that find no node when all have had their turn; not set if all find one."""
    waiting_nodes: tuple[str, ...] | UnsetType = UNSET
    """The nodes that these are for, if a DaemonSet made them."""

    @property
    def not_scheduled(self) -> str:
        """Why the pod is not scheduled at all, as a sentence."""
        told = f"Not scheduled: {self.ignored}"
        return told if told.endswith("?") else f"{told}."


@attrs.frozen
class Explanation:
    """A decision, and every node's part in it: those that fit by total, then the others, the nearest to fitting first."""

    decision: Decision
    nodes: tuple[NodeReport, ...]
    was_scored: bool
    """False if only one node fitted, which was taken without scoring; its scores are shown anyway."""
    release: str = ""
    missing: tuple[str, ...] = ()
    """Objects that the pod needs and the input lacks, where it finds no node; each in a sentence."""
    causes: tuple[FailedDemand, ...] = ()
    """Requirements of the pod that nodes do not meet, and taints; most nodes first."""
    choice: HostChoice | None = None
    """None where no two nodes were compared."""
    eviction: EvictionOutcome | None = None
    """What evicting other pods would do; None for a pod that finds a node."""
    close_up: CloseUp | None = None
    """All about the one node that was asked for."""
    question: PodQuestion = PodQuestion()
    rules: Mapping[str, bool] = attrs.field(factory=dict)
    """The filtering rules in running order -> whether the pod wants anything that the rule looks at; empty if no node was asked."""
    asks_all: bool = False
    """Whether a node that a rule has turned down is asked by the others too."""

    @property
    def by_plugins(self) -> bool:
        """Whether plugins decided, as they do in the framework."""
        return self.decision.plugins is not None

    @property
    def scored(self) -> list[NodeReport]:
        """The nodes with a total, best first."""
        return [node for node in self.nodes if node.total is not None]

    @property
    def fitting(self) -> list[NodeReport]:
        """The nodes that fit, those that the search did not reach among them."""
        return [node for node in self.nodes if node.fits]

    @property
    def turned_down(self) -> list[NodeReport]:
        """The nodes that do not fit, the nearest to fitting first."""
        return [node for node in self.nodes if not node.fits]

    @property
    def groups(self) -> tuple[ReasonGroup, ...]:
        """Why nodes were turned down: reason by reason."""
        return in_groups(self.nodes)

    @property
    def elsewhere(self) -> list[str]:
        """The nodes other than that of a placed pod which could take it too, best first."""
        return [node.name for node in self.fitting if node.name != self.question.placed_on]

    def report_of(self, name: str) -> NodeReport | None:
        """The report of the node called *name*."""
        return next((node for node in self.nodes if node.name == name), None)

    @property
    def room(self) -> str | None:
        """The node on which the pod makes room by evicting others; None if it does not."""
        return None if self.eviction is None else self.eviction.node

    @property
    def is_yes(self) -> bool:
        """Whether the pod gets a node, as all pods of its workload do; with a close-up, whether that node fits."""
        if self.close_up is not None:
            return self.close_up.fits
        return (self.decision.host or self.room) is not None and not self.question.workload_waiting

    @property
    def counts(self) -> NodeCounts:
        """How many nodes there are, were visited, fit, and were turned down."""
        visited = [node for node in self.nodes if node.visited]
        fit = sum(node.fits for node in visited)
        return NodeCounts(len(self.nodes), len(visited), fit, len(visited) - fit)

    def document(self, warnings: tuple[InputWarning, ...] = ()) -> ExplanationDocument:
        """All of it; with a close-up, the nodes are that one alone."""
        decision, close, plan = self.decision, self.close_up, self.decision.preemption
        return ExplanationDocument(
            warnings=warnings, pod=decision.pod.key, host=decision.host, error=decision.error,
            preemption=None if plan is None else plan.record(),
            plugins=UNSET if decision.plugins is None else tuple(sorted(decision.plugins)),
            release=self.release, gated=decision.is_gated, **attrs.asdict(self.question), scored=self.was_scored,
            rules=tuple(RuleConcerned(*rule) for rule in self.rules.items()), counts=self.counts, choice=self.choice, reasons=self.groups,
            missing=self.missing, causes=self.causes, eviction=self.eviction, close_up=close,
            nodes=tuple(node for node in self.nodes if close is None or node.name == close.node),
        )  # fmt: skip
