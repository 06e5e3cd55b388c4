"""What one cycle of the framework decided, and the arrays behind it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from ..core.decision.decision import Decision, Details
from .diagnosis import Diagnosis
from .status import Status


@attrs.define(eq=False)
class FrameworkDetails(Details):
    """The arrays behind a decision of the framework."""

    diagnosis: Diagnosis | None = None

    @property
    def failed(self) -> dict[str, list[str]]:
        return {} if self.diagnosis is None else self.diagnosis.failed()


@attrs.define(eq=False)
class FrameworkDecision(Decision):
    """A decision, and which plugins it is to be put down to where the pod fits nowhere."""

    plugins: frozenset[str] = frozenset()
    """The plugins that turned nodes, or the pod, down."""
    is_gated: bool = False
    """The pod was not tried at all, as a PreEnqueue plugin holds it back."""

    @property
    def diagnosis(self) -> Diagnosis | None:
        """What stands against the nodes; None where details were not kept."""
        return self.details.diagnosis if isinstance(self.details, FrameworkDetails) else None

    @property
    def statuses(self) -> Mapping[str, Status]:
        """Node -> the status that turned it down; empty where details were not kept."""
        return {} if self.diagnosis is None else self.diagnosis.statuses()

    def record(self, *, details: bool = False) -> dict[str, Any]:
        """As of every decision, with ``plugins``; *details* adds ``statuses`` (node -> plugin and code) and ``postFilter``, its message."""
        found = super().record(details=details) | {"plugins": sorted(self.plugins)}
        if details:
            told = {node: {"plugin": status.plugin or None, "code": status.code.value} for node, status in self.statuses.items()}
            found |= {"statuses": told, "postFilter": (self.diagnosis.post_filter if self.diagnosis is not None else "") or None}
        return found
