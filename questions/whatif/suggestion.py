"""A change that might help, how much each kind disturbs, and what is told of a change that helps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import attrs

from ...api.reading.notices import ResultDocument
from ...api.record import UNSET, Count, Names, Record, UnsetType
from ...api.words import count_of, listed
from ...framework.schedulerspec import SchedulerSpec
from ...simulation.explain.values import (
    CloseUp,
    FailedDemand,
    Ignored,
    Lead,
    Missing,
    PlacedOn,
    RequestedResource,
    WaitingNodes,
    Workload,
    WorkloadPods,
    WorkloadWaiting,
)

ChangeKind = Literal[
    "schedulingGates", "request", "toleration", "preference", "nodeSelector", "nodeAffinity", "spread", "podAffinity", "podAntiAffinity",
    "hostPort",
    "uncordon", "taint", "label", "allocatable", "device", "move", "otherAntiAffinity", "priority", "delete", "addNode", "weight",
    "preemption", "gate", "rule",
]  # fmt: skip
DISTURBS: Mapping[ChangeKind, int] = {
    "schedulingGates": 10, "request": 11, "toleration": 12, "preference": 13, "nodeSelector": 14, "nodeAffinity": 15, "spread": 16,
    "podAffinity": 17, "podAntiAffinity": 18, "hostPort": 19,
    "uncordon": 20, "taint": 21, "label": 22, "allocatable": 23, "device": 24,
    "move": 30, "otherAntiAffinity": 31, "priority": 32, "delete": 33,
    "addNode": 40,
    "weight": 50, "preemption": 51, "gate": 52, "rule": 53,
}  # fmt: skip
"""Kind of change -> how much it disturbs. The tens: the pod alone, a node, other pods, one more node, the scheduler."""
COSTLY = 6
"""The group of the suggestions that cost other pods their node, or do not last."""


@attrs.frozen
class Change:
    """Edits of the cluster that might help, or another scheduler."""

    kind: ChangeKind
    words: str
    edits: tuple[str, ...] = ()
    """As ``--set`` takes them."""
    size: float = attrs.field(default=0.0, kw_only=True)
    """Orders the changes of a kind: the smaller one first."""
    spec: SchedulerSpec | None = attrs.field(default=None, kw_only=True)
    """The other scheduler."""
    setting: tuple[str, ...] = attrs.field(default=(), kw_only=True)
    """What is otherwise there, in words."""
    evicts: bool = attrs.field(default=False, kw_only=True)
    """It is enough that room is made: pods may have to leave."""
    corrects: bool = attrs.field(default=False, kw_only=True)
    """It puts right what nothing in the cluster is called, and comes before all others."""

    @property
    def patch(self) -> tuple[str, ...]:
        """All of it, as ``--set`` takes it or in words."""
        return (*self.setting, *self.edits)

    @property
    def disturbs(self) -> int:
        """How much it disturbs; see :data:`DISTURBS`."""
        return min(DISTURBS.values()) if self.corrects else DISTURBS[self.kind]


class Effect(Record):
    """What a change does to all pods in the end, once each has had its turn."""

    pods: Count
    """Pods that have a turn."""
    placed: Count
    """How many of them have a node after the change."""
    placed_before: Count
    """How many have one without it."""
    without_node: Names
    """Other pods that find a node without the change, and none after it."""
    evicted: Names
    """Other pods that are evicted after the change, and not without it."""
    spared: Names = ()
    """Pods of other controllers that have a node in the end after the change, and none without it."""

    @property
    def words(self) -> str:
        """In a sentence.

        >>> Effect(5, 3, 4, ("shop/b", "shop/c"), ("shop/a",), ("shop/d",)).words
        'no node for shop/b and shop/c, shop/a evicted, 1 other spared; 3 of 5 pods placed, 4 before'
        """
        harmed = [f"no node for {listed(self.without_node)}"] if self.without_node else []
        harmed += [f"{listed(self.evicted)} evicted"] if self.evicted else []
        harmed += [f"{count_of(len(self.spared), 'other')} spared"] if harmed and self.spared else []
        counts = f"{self.placed:,} of {count_of(self.pods, 'pod')} placed, {self.placed_before:,} before"
        return "; ".join(filter(None, [", ".join(harmed), counts]))


class Suggestion(Record, kw_only=True):
    """A change after which the pod has a host."""

    change: str
    """What changes, in words."""
    patch: Names
    """The same for --set; in words where the scheduler changes."""
    host: str
    """The node that the pod gets after it."""
    kind: ChangeKind
    disturbs: int
    """How much it disturbs. The tens: 1 the pod alone, 2 a node, 3 other pods, 4 one more node, 5 the scheduler."""
    victims: Names = ()
    """The pods that have to leave."""
    verified: bool = True
    """The scheduler decided for host after the change."""
    evicted_by: str | None = None
    """The pod that preempts it later; null: it stays."""
    taken_by: str | UnsetType = UNSET
    """The earlier pod that would take the room if the change were made before anything runs; empty: not one pod alone."""
    placed: Count | UnsetType = UNSET
    """Of a workload: how many of its pods have a node after the change, once all have had their turn."""
    effect: Effect | UnsetType = UNSET
    """What it does to the other pods; absent where none has a turn."""

    @property
    def is_edit(self) -> bool:
        """Whether ``--set`` takes its patch."""
        return DISTURBS[self.kind] < DISTURBS["weight"]

    @property
    def leaving(self) -> Names:
        """The victims, where no effect says what becomes of all pods."""
        return () if self.effect else self.victims

    @property
    def is_costly(self) -> bool:
        """Whether it costs more of the others their node than it spares, or does not last."""
        effect = self.effect
        harms = len(effect.without_node + effect.evicted) > len(effect.spared) if effect else bool(self.victims)
        return harms or self.kind == "delete" or self.evicted_by is not None or self.taken_by is not UNSET

    @property
    def group(self) -> int:
        """The tens of how much it disturbs; costly ones come after all others."""
        return COSTLY if self.is_costly else self.disturbs // 10


@attrs.frozen
class Helpful:
    """A change that was tried and helps."""

    suggestion: Suggestion
    change: Change
    is_enough: bool = True
    """Whether all pods of the workload have a node after it."""

    @classmethod
    def of(cls, change: Change, host: str, victims: tuple[str, ...] = ()) -> Helpful:
        """That *change* makes *host* the pod's node."""
        suggestion = Suggestion(
            change=change.words, patch=change.patch, host=host, kind=change.kind, disturbs=change.disturbs, victims=victims
        )
        return cls(suggestion, change)

    @property
    def rank(self) -> tuple[int, bool, int, float]:
        """Orders suggestions: by their groups, then those that are enough for all pods of a workload, then by how much and by size."""
        return self.suggestion.group, not self.is_enough, self.suggestion.disturbs, self.change.size


# --- the whole answer -------------------------------------------------------------------------------------------------


class Keeps(Record):
    """What keeps a pod from a node."""

    fits: bool
    reasons: Names
    """Why the node does not fit."""
    short: tuple[RequestedResource, ...]
    total: int | None
    """The node's weighted sum, or the one that it would have."""
    against: str | None
    """The node that the pod gets."""
    leads: tuple[Lead, ...]
    """How the wanted node's scores differ from those of that one."""

    @classmethod
    def of(cls, close: CloseUp) -> Keeps:
        """What *close* says of it."""
        short = tuple(room for room in close.room if room.missing and not close.fits)
        return cls(close.fits, close.reasons, short, close.total, close.against, close.leads)


class WhatIfDocument(ResultDocument, kw_only=True):
    """The smallest changes after which a pod gets a node, least disturbing first; two together where no single one helps.

    Resources are in millicores, bytes or pieces.
    """

    KIND: ClassVar[str] = "WhatIf"
    pod: str
    """namespace/name"""
    host: str | None
    """The node that the pod gets without any change."""
    error: str | None
    """The scheduler's message for a pod without a node."""
    release: str
    """The release that decides."""
    placed_on: PlacedOn
    ignored: Ignored
    workload: Workload
    workload_pods: WorkloadPods
    workload_waiting: WorkloadWaiting = UNSET
    waiting_nodes: WaitingNodes = UNSET
    want: str | None
    """The node that the pod should get; null: any."""
    fits: bool
    """The pod gets a node, or the wanted one, without any change."""
    keeps: Keeps | None
    """What keeps the pod from the wanted node."""
    missing: Missing
    causes: tuple[FailedDemand, ...]
    """Requirements of the pod that nodes do not meet, and taints; most nodes first."""
    tried: Count
    """How many decisions were tried."""
    suggestions: tuple[Suggestion, ...]
