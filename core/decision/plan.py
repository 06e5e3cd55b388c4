"""What preemption plans: which pods leave which node, and which nominations end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from ...api.objects import Pod


@attrs.define(eq=False)
class Victims:
    """The pods that would have to leave a node, those protected by a disruption budget first, and how many those are."""

    pods: list[Pod]
    violations: int


@attrs.define(eq=False)
class Preemption:
    """What preemption found. ``node`` is None where it found nothing or would not help."""

    node: str | None = None
    victims: list[Pod] = attrs.field(factory=list)
    clear_nominations: list[Pod] = attrs.field(factory=list)
    """Pods whose nomination is to be taken back."""
    _candidates: Callable[[], dict[str, Victims]] = attrs.field(default=dict)
    error: str | None = None
    drops_own: bool = False
    """The pod's own nomination ends; the record does not tell."""

    @property
    def candidates(self) -> dict[str, Victims]:
        """Node -> who would have to leave it, in ascending order of name; spelled out when first asked for."""
        found = self._candidates()
        self._candidates = lambda: found
        return found

    def record(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "node": self.node,
            "victims": [pod.key for pod in self.victims],
            "clearNominations": [pod.key for pod in self.clear_nominations],
            "candidates": {n: {"victims": [p.key for p in v.pods], "pdbViolations": v.violations} for n, v in self.candidates.items()},
        }
