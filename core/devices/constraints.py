"""Constraints of a claim: what must hold for its devices together.

Upstream: matchAttributeConstraint and distinctAttributeConstraint in structured/internal/experimental.
"""

from __future__ import annotations

import attrs

from ...api.objects import DeviceAttribute, DeviceConstraint
from .makes import Make


@attrs.define(eq=False, repr=False)
class Together:
    """A constraint while devices come and go."""

    constraint: DeviceConstraint
    _value: DeviceAttribute | None = None
    """The value of those devices that are there."""
    _count: int = 0

    def add(self, request: str, alternative: str, make: Make) -> bool:
        """Count a device for *request*, or for one of its alternatives, if it may come; gives whether it may."""
        if not self._concerns(request, alternative):
            return True
        value = make.attribute(self.constraint.match_attribute or self.constraint.distinct_attribute or "")
        if value is None:
            return False
        if not self._count:
            self._value = value
        # Upstream: a distinct attribute is compared by where values are stored, so that no two devices have the same.
        elif self.constraint.match_attribute is not None and (not value.type or value != self._value):
            return False
        self._count += 1
        return True

    def remove(self, request: str, alternative: str) -> None:
        """Undo an :meth:`add` that counted a device."""
        if self._concerns(request, alternative):
            self._count -= 1

    def _concerns(self, request: str, alternative: str) -> bool:
        named = self.constraint.requests
        return not named or request in named or (bool(alternative) and f"{request}/{alternative}" in named)
