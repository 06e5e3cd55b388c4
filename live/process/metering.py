"""Counts and measures what a live scheduler does, as the metrics of its release.

What is not measured here stays 0: the parts of a cycle (filter, score, single plugins), which judge all nodes at once.
"""

from __future__ import annotations

import attrs

from ...api.objects import Pod
from ...core.decision.decision import Decision
from ...core.decision.plan import Preemption
from ...core.queue.parked import QueuedPod
from ..scheduler.metrics import SchedulerMetrics
from ..scheduler.onlooker import Onlooker
from ..scheduler.scheduler import LiveScheduler


@attrs.define(eq=False)
class Metering(Onlooker):
    """Feeds *metrics*."""

    metrics: SchedulerMetrics

    def decided(self, item: QueuedPod, decision: Decision, seconds: float) -> None:
        if decision.host is not None:
            self.metrics.algorithm(seconds)
        else:
            self.metrics.attempt("unschedulable" if decision.is_fit_error else "error", seconds, item.pod.spec.scheduler_name)
        if decision.preemption is not None:
            self.metrics.preemption_attempt()
            self.made_plan(decision.preemption)

    def made_plan(self, plan: Preemption) -> None:
        if plan.node is not None:
            self.metrics.victims(len(plan.victims))

    def bound(self, item: QueuedPod, seconds: float, request_seconds: float) -> None:
        self.metrics.attempt("scheduled", seconds, item.pod.spec.scheduler_name)
        self.metrics.operation("binding", request_seconds)
        self.metrics.end_to_end(seconds)

    def not_bound(self, pod: Pod, seconds: float, *, is_rejected: bool) -> None:
        self.metrics.attempt("unschedulable" if is_rejected else "error", seconds, pod.spec.scheduler_name)

    def permitted(self, result: str, seconds: float) -> None:
        self.metrics.permit_wait(result, seconds)

    def volumes(self, seconds: float, *, is_failed: bool) -> None:
        self.metrics.volumes("bind", seconds, is_failed=is_failed)


@attrs.define(eq=False)
class Gauges:
    """What is asked for when somebody reads the metrics."""

    metrics: SchedulerMetrics
    scheduler: LiveScheduler

    def read(self) -> None:
        """Set the numbers to what is so now."""
        state = self.scheduler.state
        pending, cache, gated = state.queue.pending, state.engine.cache, 0
        if pending.unschedulable:
            gated = sum(state.queue.is_gated(pod) for pod in state.queue.contents().unschedulable)
        parked = pending.unschedulable - gated
        self.metrics.pending(active=pending.active, backoff=pending.backoff, unschedulable=parked, gated=gated)
        self.metrics.tasks("binding", self.scheduler.bindings.under_way)
        nodes, pods, assumed = cache.counts
        self.metrics.cache(nodes=nodes, pods=pods, assumed=assumed)
