"""From a decision to a bound pod as time passes: what a scheduler does at which step, and what undoes it.

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
        """Whether the pod was turned down, rather than something went wrong."""
        return self.reason == UNSCHEDULABLE


class BindingCycle(Protocol):
    """The steps of one scheduler; *pod* is the object without a node. A step that fails has undone what was done before."""

    ends_nominations: bool
    """A pod whose binding fails is nominated to no node any more."""

    def reserve(self, pod: Pod, host: str) -> Failure | None:
        """The end of the scheduling cycle: the pod is taken to be on *host*."""
        ...

    def waits_for_claims(self, pod: Pod) -> bool:
        """Whether the pod is bound only once its claims have their volumes."""
        ...

    def begin(self, pod: Pod, host: str) -> Failure | None:
        """What comes before the wait for volumes."""
        ...

    def bind(self, pod: Pod, host: str) -> Failure | None:
        """What comes after it, and the binding itself."""
        ...

    def give_back(self, pod: Pod, host: str) -> None:
        """What :meth:`reserve` did is undone, as no binding comes."""
        ...

    def failure(self, text: str) -> Failure:
        """That something went wrong on the way."""
        ...
