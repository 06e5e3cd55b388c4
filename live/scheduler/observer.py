"""Who is told of what becomes of pods, to count and measure it."""

from __future__ import annotations

from ...api.objects import Pod
from ...core.decision.decision import Decision
from ...core.decision.preemptionplan import Preemption
from ...core.queue.parked import QueuedPod


class CycleObserver:
    """Told of what a live scheduler does; this one does nothing with it. Times are in seconds."""

    def began(self, item: QueuedPod) -> None:
        """A cycle begins."""

    def decided(self, item: QueuedPod, decision: Decision, seconds: float) -> None:
        """A cycle ended after *seconds*."""

    def made_plan(self, plan: Preemption) -> None:
        """Who has to leave for a pod was found out after its cycle, as extenders were asked."""

    def bound(self, item: QueuedPod, seconds: float, request_seconds: float) -> None:
        """A pod was bound, *seconds* after its attempt began; the request took *request_seconds*."""

    def not_bound(self, pod: Pod, seconds: float, *, is_rejected: bool) -> None:
        """A pod with a node was not bound: a plugin rejected it, or there was an error. That was *seconds* after its attempt began."""

    def point(self, pod: Pod, name: str, status: str, seconds: float) -> None:
        """A part of a binding ended, ``PreBind`` or ``Bind``, with its status, such as ``Success``."""

    def permitted(self, result: str, seconds: float) -> None:
        """A pod's wait for Permit plugins ended: ``Success`` or ``Unschedulable``."""

    def volumes(self, seconds: float, *, is_failed: bool) -> None:
        """The volumes of a pod were bound, or could not be."""
