"""A change that might help, and a suggestion: a change that was tried and does help."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import attrs

from ...api.objects import KubeObject, Node, Pod
from ...api.record import Names, Record, says
from ...framework.schedulerspec import SchedulerSpec

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


@attrs.frozen(kw_only=True)
class WhatIfChange:
    """One change of the cluster or of the pod. What is None or empty stays as it is."""

    kind: ChangeKind
    words: str
    """What changes, in words."""
    patch: tuple[str, ...]
    """The same as ``--set`` takes it, or in words where no edit says it."""
    pod: Pod | None = None
    """The pod that is asked about, as it would be."""
    nodes: tuple[Node, ...] = ()
    """Nodes, as they would be, and new ones."""
    pods: tuple[Pod, ...] = ()
    """Other pods on nodes, as they would be, and new ones."""
    objects: tuple[KubeObject, ...] = ()
    """New objects of other kinds."""
    gone: tuple[Pod, ...] = ()
    """Pods that are deleted."""
    size: float = 0.0
    """Orders the changes of a kind: the smaller one first."""
    evicts: bool = False
    """It is enough that room is made: pods may have to leave."""
    corrects: bool = False
    """It puts right what nothing in the cluster is called, and comes before all others."""

    @property
    def disturbs(self) -> int:
        """How much it disturbs; see :data:`DISTURBS`."""
        return min(DISTURBS.values()) if self.corrects else DISTURBS[self.kind]


class Suggestion(Record, kw_only=True):
    """A change after which the pod has a host."""

    change: Annotated[str, says("What changes, in words.")]
    patch: Annotated[Names, says("The same as --set takes it, or in words where no edit says it.")]
    host: Annotated[str, says("The node that the pod gets after it.")]
    kind: ChangeKind
    disturbs: Annotated[
        int, says("How much it disturbs. The tens: 1 the pod alone, 2 a node, 3 other pods, 4 one more node, 5 the scheduler.")
    ]
    victims: Annotated[Names, says("The pods that have to leave.")] = ()
    verified: Annotated[bool, says("The scheduler was asked after the change, and answered with host.")] = True
    evicted_by: Annotated[str | None, says("The pod that takes its place later; null: it stays.")] = None


@attrs.frozen
class Helpful:
    """A change that was tried and helps, and what it takes to try it again."""

    suggestion: Suggestion
    change: WhatIfChange
    spec: SchedulerSpec | None = None
    """The scheduler's spec, if that is what changes."""

    @classmethod
    def of(cls, change: WhatIfChange, host: str, victims: tuple[str, ...] = ()) -> Helpful:
        """That *change* makes *host* the pod's node."""
        suggestion = Suggestion(
            change=change.words, patch=change.patch, host=host, kind=change.kind, disturbs=change.disturbs, victims=victims
        )
        return cls(suggestion, change)

    @property
    def rank(self) -> tuple[int, bool, int, float]:
        """Orders suggestions: by the tens of how much they disturb, then those after which the pod stays, then by how much and by size."""
        found = self.suggestion
        return found.disturbs // 10, found.evicted_by is not None, found.disturbs, self.change.size
