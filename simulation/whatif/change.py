"""A change that might help, and a suggestion: a change that was tried and does help."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from ...api.objects import KubeObject, Node, Pod
from ...framework.recipe import Recipe

DISTURBS: Mapping[str, int] = {
    "schedulingGates": 10, "request": 11, "toleration": 12, "preference": 13, "nodeSelector": 14, "nodeAffinity": 15, "spread": 16,
    "podAffinity": 17, "podAntiAffinity": 18, "hostPort": 19,
    "uncordon": 20, "taint": 21, "label": 22, "allocatable": 23, "device": 24,
    "move": 30, "otherAntiAffinity": 31, "priority": 32, "delete": 33,
    "addNode": 40,
    "weight": 50, "preemption": 51, "gate": 52, "rule": 53,
}  # fmt: skip
"""Kind of change -> how much it disturbs. The tens: the pod alone, a node, other pods, one more node, the scheduler."""


@attrs.frozen(kw_only=True)
class Change:
    """One change of the cluster or of the pod. What is None or empty stays as it is."""

    kind: str
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

    @property
    def disturbs(self) -> int:
        """How much it disturbs; see :data:`DISTURBS`."""
        return DISTURBS[self.kind]


@attrs.frozen(kw_only=True)
class Suggestion:
    """A change that was tried, and after which the pod has a host."""

    kind: str
    change: str
    """What changes, in words."""
    patch: tuple[str, ...]
    host: str
    """The node that the pod gets after it."""
    disturbs: int
    size: float = 0.0
    victims: tuple[str, ...] = ()
    """The pods that have to leave."""
    verified: bool = True
    """Whether the scheduler was asked after the change, and answered with *host*."""
    evicted_by: str | None = None
    """The pod that takes its place later, when the others have had their turn; None if it stays, or if no pod comes later."""
    made: Change | None = attrs.field(default=None, repr=False)
    """The change itself."""
    recipe: Recipe | None = attrs.field(default=None, repr=False)
    """The scheduler's recipe, if that is what changes."""

    @classmethod
    def of(cls, change: Change, host: str, victims: tuple[str, ...] = ()) -> Suggestion:
        """The suggestion of *change*, which makes *host* the pod's node."""
        return cls(
            kind=change.kind, change=change.words, patch=change.patch, host=host, disturbs=change.disturbs, size=change.size,
            victims=victims, made=change,
        )  # fmt: skip

    @property
    def rank(self) -> tuple[int, bool, int, float]:
        """Orders suggestions: by the tens of how much they disturb, then those after which the pod stays, then by how much and by size."""
        return self.disturbs // 10, self.evicted_by is not None, self.disturbs, self.size

    def record(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "change": self.change,
            "patch": list(self.patch),
            "host": self.host,
            "kind": self.kind,
            "disturbs": self.disturbs,
            "victims": list(self.victims),
            "verified": self.verified,
            "evictedBy": self.evicted_by,
        }
