"""The binding cycle: the steps from a decision to a bound pod, and how they are undone.

Upstream: assume and bind in pkg/scheduler/scheduler.go, and schedulingCycle, bindingCycle and handleBindingCycleError in
pkg/scheduler/schedule_one.go.
"""

from __future__ import annotations

from typing import Protocol

import attrs

from ..api.objects import Pod

UNSCHEDULABLE = "Unschedulable"


@attrs.frozen
class Failure:
    """Why a step failed. ``reason``: that of the pod's condition PodScheduled."""

    text: str
    reason: str

    @property
    def is_rejection(self) -> bool:
        """Whether the pod was rejected; otherwise something went wrong."""
        return self.reason == UNSCHEDULABLE


class BindingCycle(Protocol):
    """The steps of one scheduler; *pod* is the object without a node. A step that fails undoes the earlier steps itself."""

    ends_nominations: bool
    """A pod whose binding fails loses its nomination."""

    def reserve(self, pod: Pod, host: str) -> Failure | None:
        """The end of the scheduling cycle: the pod is assumed on *host*."""
        ...

    def waits_for_claims(self, pod: Pod) -> bool:
        """Whether the binding waits until the pod's claims have their volumes."""
        ...

    def begin(self, pod: Pod, host: str) -> Failure | None:
        """The steps before the wait for volumes."""
        ...

    def bind(self, pod: Pod, host: str) -> Failure | None:
        """The steps after it, and the binding itself."""
        ...

    def give_back(self, pod: Pod, host: str) -> None:
        """Undo :meth:`reserve`, because the pod will not be bound."""
        ...

    def failure(self, text: str) -> Failure:
        """The failure for an error *text*, such as one of the API."""
        ...
