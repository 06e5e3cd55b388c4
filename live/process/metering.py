"""Counts and measures what a live scheduler does, as the metrics of its release.

What is not measured here stays 0: single plugins and predicates, which judge all nodes at once.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

import attrs

from ...api.objects import Pod
from ...api.objects.pods import DEFAULT_SCHEDULER
from ...core.decision.decision import Decision
from ...core.decision.flow import ERROR, SUCCESS, UNSCHEDULABLE, Phase
from ...core.decision.preemptionplan import Preemption
from ...core.queue.parked import QueuedPod
from ..scheduler.metrics import SchedulerMetrics
from ..scheduler.scheduler import LiveScheduler
from ..scheduler.state import CycleObserver, LiveState
from .build import build_values


@attrs.define(eq=False)
class Metering(CycleObserver):
    """Feeds *metrics*. *clock* measures the parts of a cycle: those that have no waits in them."""

    metrics: SchedulerMetrics
    clock: Callable[[], float] = time.perf_counter
    _profile: str = ""
    """The schedulerName of the pod that is being tried."""
    _since: float = 0.0
    """When the last part ended."""
    _parts: dict[Phase, str] = attrs.field(factory=dict)
    """The parts of the cycle so far, with their statuses."""
    state: LiveState | None = attrs.field(default=None, init=False)

    def watch(self, state: LiveState) -> None:
        """Be told of the parts of each cycle, and of pods that come into the queue."""
        self.state = state
        state.engine.on_phase = self.phase_ended
        state.queue.on_incoming = self.metrics.incoming

    # --- a cycle ----------------------------------------------------------------------------------------------------

    def began(self, item: QueuedPod) -> None:
        self._profile = item.pod.spec.scheduler_name or DEFAULT_SCHEDULER
        self._parts.clear()
        self._since = self.clock()

    def phase_ended(self, part: Phase, status: str) -> None:
        """A part of the cycle ended."""
        now = self.clock()
        seconds, self._since = now - self._since, now
        is_refused = self._parts.get(Phase.PRE_FILTER, SUCCESS) != SUCCESS
        self._parts[part] = status
        if part is Phase.SCOREBOARD:
            # One look answers for all nodes, so its time counts once.
            self._measured(Phase.FILTER, SUCCESS, seconds)
            self._measured(Phase.SCORE, SUCCESS, 0.0)
        elif not (is_refused and part is Phase.FILTER):
            self._measured(part, status, seconds)

    def _measured(self, part: Phase, status: str, seconds: float) -> None:
        self.metrics.extension_point(part.value, status, self._profile, seconds)
        if status == SUCCESS and part is Phase.FILTER:
            self.metrics.operation("predicate_evaluation", seconds)
        elif status == SUCCESS and part is Phase.SCORE:
            self.metrics.operation("priority_evaluation", seconds)

    def decided(self, item: QueuedPod, decision: Decision, seconds: float) -> None:
        self._last_part_ended(decision)
        if decision.host is not None:
            self.metrics.algorithm(seconds)
        else:
            self.metrics.attempt("unschedulable" if decision.is_fit_error else "error", seconds, self._profile)
        if decision.preemption is not None:
            self.metrics.preemption_attempt()
            self.made_plan(decision.preemption)
        self._since = self.clock()

    def _last_part_ended(self, decision: Decision) -> None:
        """The decision says which part ended the cycle, if no part said so itself."""
        parts, took = self._parts, self.clock() - self._since
        if decision.is_fit_error:
            makes_room = decision.preemption is not None and decision.preemption.node is not None
            self.metrics.extension_point(Phase.POST_FILTER.value, SUCCESS if makes_room else UNSCHEDULABLE, self._profile, took)
            if decision.preemption is not None:
                self.metrics.operation("preemption_evaluation", took)
        elif decision.host is None and Phase.PRE_FILTER in parts and parts[Phase.PRE_FILTER] == SUCCESS:
            self._measured(Phase.SCORE if Phase.FILTER in parts else Phase.FILTER, ERROR, took)
        elif decision.host is not None and Phase.FILTER in parts and Phase.SCORE not in parts:
            self.metrics.single_feasible(took)

    def made_plan(self, plan: Preemption) -> None:
        if plan.node is not None:
            self.metrics.victims(len(plan.victims))

    def preempted_beside(self, seconds: float, *, is_failed: bool) -> None:
        self.metrics.background_preemption(seconds, is_failed=is_failed)

    # --- its binding ------------------------------------------------------------------------------------------------

    def bound(self, item: QueuedPod, seconds: float, request_seconds: float) -> None:
        self.metrics.attempt("scheduled", seconds, item.pod.spec.scheduler_name)
        self.metrics.operation("binding", request_seconds)
        self.metrics.end_to_end(seconds)
        if self.state is not None and item.entered is not None:
            self.metrics.scheduled(item.attempts, self.state.times.now() - item.entered)

    def not_bound(self, pod: Pod, seconds: float, *, is_rejected: bool) -> None:
        self.metrics.attempt("unschedulable" if is_rejected else "error", seconds, pod.spec.scheduler_name)

    def point(self, pod: Pod, name: str, status: str, seconds: float) -> None:
        self.metrics.extension_point(name, status, pod.spec.scheduler_name or DEFAULT_SCHEDULER, seconds)

    def permitted(self, result: str, seconds: float) -> None:
        self.metrics.permit_wait(result, seconds)

    def volumes(self, seconds: float, *, is_failed: bool) -> None:
        self.metrics.volumes("bind", seconds, is_failed=is_failed)


@attrs.define(eq=False)
class Gauges:
    """What is asked for when somebody reads the metrics."""

    metrics: SchedulerMetrics
    scheduler: LiveScheduler
    _rejecting: set[tuple[str, str]] = attrs.field(factory=set)
    """The plugins, with profiles, that had rejected pods at an earlier time."""

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
        self._set_constants()
        self._set_rejections()

    def _set_constants(self) -> None:
        """What runs, and with which gates."""
        engine = self.scheduler.state.engine
        self.metrics.build(**build_values(engine.release.version))
        for name, gate in engine.release.gates.items():
            self.metrics.gate(name, gate.stage, engine.gates.get(name, gate.default))

    def _set_rejections(self) -> None:
        """How many pods of the queue each plugin rejected in their last attempts."""
        found: Counter[tuple[str, str]] = Counter()
        for item in self.scheduler.state.queue.entries():
            found.update((plugin, item.pod.spec.scheduler_name or DEFAULT_SCHEDULER) for plugin in item.plugins)
        for plugin, profile in self._rejecting | set(found):
            self.metrics.unschedulable(plugin, profile, found[plugin, profile])
        self._rejecting |= set(found)
