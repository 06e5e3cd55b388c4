"""Counts and measures what a live scheduler does, as the metrics of its release.

There are those of the newest release, and those of 1.12 to 1.16, which measure the same otherwise.
What is not measured here stays 0: single plugins and predicates, which judge all nodes at once.
"""

from __future__ import annotations

import time
from enum import Enum

import attrs

from ...api.objects import Pod
from ...api.objects.pods import DEFAULT_SCHEDULER
from ...core.decision.decision import Decision
from ...core.decision.flow import ERROR, SUCCESS, UNSCHEDULABLE, Phase
from ...core.decision.preemptionplan import Preemption
from ...core.queue.backoff import SECOND
from ...core.queue.parked import QueuedPod

Feed = Enum(
    "Feed",
    "ATTEMPT ATTEMPT_TIME END_TO_END ALGORITHM PREDICATES PRIORITIES PREEMPTION BINDING OPERATION PREEMPTIONS VICTIMS "
    "PENDING SCHEDULED_TRIES SCHEDULED_TIME POINT INCOMING CACHE TASKS REASON PERMIT VOLUME VOLUME_ERROR "
    "LEADER REQUEST REQUEST_TIME BUILD GATE BACKGROUND BACKGROUND_TIME DROPPED_EVENT",
)
"""What is measured."""
COUNTER = "Counter"
GAUGE = "Gauge"
HISTOGRAM = "Histogram"
SUMMARY = "Summary"


@attrs.frozen
class Metric:
    """One metric. Of a counter the name has no ``_total``."""

    name: str
    kind: str
    feed: Feed
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
    starts: tuple[str, ...] = ()
    """Values of the one label that are shown from the start, with 0."""


def powers(start: float, factor: float, count: int) -> tuple[float, ...]:
    """Bounds of buckets, each *factor* times the one before.

    >>> powers(0.001, 2, 4)
    (0.001, 0.002, 0.004, 0.008)
    """
    found = [start]
    while len(found) < count:
        found.append(found[-1] * factor)
    return tuple(found)


SECONDS = powers(0.001, 2, 15)
TRIED = powers(0.01, 2, 20)
_LONG = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)
_ASKED = ("verb", "host")
_QUEUES = ("active", "backoff", "unschedulable")
_CACHED = ("assumed_pods", "nodes", "pods")
BUILD_LABELS = ("major", "minor", "git_version", "platform")

SHARED = (
    Metric(
        "leader_election_master_status",
        GAUGE,
        Feed.LEADER,
        "Whether this replica leads, by the name of the lease.",
        ("name",),
    ),
    Metric(
        "kubeclassic_events_dropped",
        COUNTER,
        Feed.DROPPED_EVENT,
        "Events that were not recorded, as too many waited to be sent.",
    ),
    Metric(
        "rest_client_requests",
        COUNTER,
        Feed.REQUEST,
        "Requests to the API server.",
        ("code", "host", "method"),
    ),
    Metric(
        "rest_client_request_duration_seconds",
        HISTOGRAM,
        Feed.REQUEST_TIME,
        "How long an answer took.",
        _ASKED,
        _LONG,
    ),
    Metric("kubernetes_build_info", GAUGE, Feed.BUILD, "Which release decides.", BUILD_LABELS),
    Metric(
        "kubernetes_feature_enabled", GAUGE, Feed.GATE, "Whether a feature gate is on.", ("name", "stage")
    ),
    Metric(
        "scheduler_volume_scheduling_stage_error",
        COUNTER,
        Feed.VOLUME_ERROR,
        "Volumes that were not bound.",
        ("operation",),
    ),
)
"""Metrics of every release."""

NEWER = (
    Metric(
        "scheduler_schedule_attempts",
        COUNTER,
        Feed.ATTEMPT,
        "Attempts to schedule pods, by their result.",
        ("result", "profile"),
    ),
    Metric(
        "scheduler_scheduling_attempt_duration_seconds",
        HISTOGRAM,
        Feed.ATTEMPT_TIME,
        "How long an attempt took, with its binding.",
        ("result", "profile"),
        SECONDS,
    ),
    Metric(
        "scheduler_scheduling_algorithm_duration_seconds",
        HISTOGRAM,
        Feed.ALGORITHM,
        "How long a decision took.",
        (),
        SECONDS,
    ),
    Metric(
        "scheduler_preemption_victims",
        HISTOGRAM,
        Feed.VICTIMS,
        "Pods that had to leave for one.",
        (),
        powers(1, 2, 7),
    ),
    Metric("scheduler_preemption_attempts", COUNTER, Feed.PREEMPTIONS, "Attempts to make room for a pod."),
    Metric(
        "scheduler_pending_pods",
        GAUGE,
        Feed.PENDING,
        "Pods that wait, by queue.",
        ("queue",),
        (),
        (*_QUEUES, "gated"),
    ),
    Metric(
        "scheduler_pod_scheduling_sli_duration_seconds",
        HISTOGRAM,
        Feed.SCHEDULED_TIME,
        "From the queue to the binding, by attempts.",
        ("attempts",),
        TRIED,
    ),
    Metric(
        "scheduler_pod_scheduling_attempts",
        HISTOGRAM,
        Feed.SCHEDULED_TRIES,
        "Attempts until a pod was bound.",
        (),
        powers(1, 2, 5),
    ),
    Metric(
        "scheduler_cache_size",
        GAUGE,
        Feed.CACHE,
        "Nodes, pods and assumed pods that are known.",
        ("type",),
        (),
        _CACHED,
    ),
    Metric(
        "scheduler_framework_extension_point_duration_seconds",
        HISTOGRAM,
        Feed.POINT,
        "How long an extension point took.",
        ("extension_point", "status", "profile"),
        powers(0.0001, 2, 12),
    ),
    Metric(
        "scheduler_queue_incoming_pods",
        COUNTER,
        Feed.INCOMING,
        "Pods that came into a queue, by event.",
        ("queue", "event"),
    ),
    Metric("scheduler_goroutines", GAUGE, Feed.TASKS, "Tasks that run beside the cycles.", ("operation",)),
    Metric(
        "scheduler_permit_wait_duration_seconds",
        HISTOGRAM,
        Feed.PERMIT,
        "How long pods waited for Permit.",
        ("result",),
        SECONDS,
    ),
    Metric(
        "scheduler_unschedulable_pods",
        GAUGE,
        Feed.REASON,
        "Waiting pods that a plugin rejected.",
        ("plugin", "profile"),
    ),
    Metric(
        "scheduler_preemption_goroutines_execution",
        COUNTER,
        Feed.BACKGROUND,
        "Preemptions that ended beside the cycles.",
        ("result",),
    ),
    Metric(
        "scheduler_preemption_goroutines_duration_seconds",
        HISTOGRAM,
        Feed.BACKGROUND_TIME,
        "How long such a preemption took.",
        ("result",),
        powers(0.01, 2, 20),
    ),
)
"""Those of 1.34, for every release with profiles."""

_PARTS = (
    ("e2e_scheduling_duration", Feed.END_TO_END, "How long an attempt took, with its binding"),
    ("scheduling_algorithm_duration", Feed.ALGORITHM, "How long a decision took"),
    ("scheduling_algorithm_predicate_evaluation", Feed.PREDICATES, "How long predicates took"),
    ("scheduling_algorithm_priority_evaluation", Feed.PRIORITIES, "How long priorities took"),
    ("scheduling_algorithm_preemption_evaluation", Feed.PREEMPTION, "How long preemption took"),
    ("binding_duration", Feed.BINDING, "How long a binding took"),
)
CLASSIC = (
    *(
        Metric(f"scheduler_{name}_seconds", HISTOGRAM, feed, f"{help}.", (), SECONDS)
        for name, feed, help in _PARTS
    ),
    Metric(
        "scheduler_scheduling_duration_seconds",
        SUMMARY,
        Feed.OPERATION,
        "How long each part of an attempt took.",
        ("operation",),
    ),
    Metric(
        "scheduler_scheduling_latency_seconds",
        SUMMARY,
        Feed.OPERATION,
        "The same by the name of 1.12 and 1.13.",
        ("operation",),
    ),
    Metric(
        "scheduler_schedule_attempts",
        COUNTER,
        Feed.ATTEMPT,
        "Attempts to schedule pods, by their result.",
        ("result",),
        (),
        ("scheduled", "unschedulable", "error"),
    ),
    Metric(
        "scheduler_pod_preemption_victims", GAUGE, Feed.VICTIMS, "Pods that had to leave for the last one."
    ),
    Metric(
        "scheduler_total_preemption_attempts", COUNTER, Feed.PREEMPTIONS, "Attempts to make room for a pod."
    ),
    Metric(
        "scheduler_pending_pods", GAUGE, Feed.PENDING, "Pods that wait, by queue.", ("queue",), (), _QUEUES
    ),
    Metric(
        "scheduler_volume_scheduling_duration_seconds",
        HISTOGRAM,
        Feed.VOLUME,
        "How long volumes took.",
        ("operation",),
        SECONDS,
    ),
)
"""Those of 1.12 to 1.16."""


_OPERATIONS = {
    "predicate_evaluation": Feed.PREDICATES,
    "priority_evaluation": Feed.PRIORITIES,
    "preemption_evaluation": Feed.PREEMPTION,
    "binding": Feed.BINDING,
}
_EVALUATIONS = {Phase.FILTER: "predicate_evaluation", Phase.SCORE: "priority_evaluation"}
_MOST_ATTEMPTS = 15


@attrs.define(eq=False)
class Metering:
    """Told of what a live scheduler does. Times are in seconds; the parts of a cycle, which have no waits in
    them, are measured here."""

    _profile: str = ""
    """The schedulerName of the pod that is being tried."""
    _since: float = 0.0
    """When the last part ended."""
    _parts: dict[Phase, str] = attrs.Factory(dict)
    """The parts of the cycle so far, with their statuses."""

    def feed(self, feed: Feed, value: float, **labels: str) -> None:
        """Count or measure *value* by *labels*; here nothing is."""

    # --- a cycle --------------------------------------------------------------------------------------------

    def began(self, item: QueuedPod) -> None:
        """A cycle begins."""
        self._profile = item.pod.spec.scheduler_name or DEFAULT_SCHEDULER
        self._parts.clear()
        self._since = time.perf_counter()

    def phase_ended(self, part: Phase, status: str) -> None:
        """A part of the cycle ended."""
        now = time.perf_counter()
        seconds = now - self._since
        self._since = now
        is_refused = self._parts.get(Phase.PRE_FILTER, SUCCESS) != SUCCESS
        self._parts[part] = status
        if part is Phase.SCOREBOARD:
            # One look answers for all nodes, so its time counts once.
            self._measured(Phase.FILTER, SUCCESS, seconds)
            self._measured(Phase.SCORE, SUCCESS, 0.0)
        elif not (is_refused and part is Phase.FILTER):
            self._measured(part, status, seconds)

    def _measured(self, part: Phase, status: str, seconds: float) -> None:
        self.feed(Feed.POINT, seconds, extension_point=part.value, status=status, profile=self._profile)
        if status == SUCCESS and part in _EVALUATIONS:
            self._operation(_EVALUATIONS[part], seconds)

    def _operation(self, name: str, seconds: float) -> None:
        self.feed(_OPERATIONS[name], seconds)
        self.feed(Feed.OPERATION, seconds, operation=name)

    def _attempt(self, result: str, seconds: float, profile: str) -> None:
        self.feed(Feed.ATTEMPT, 1, result=result, profile=profile)
        self.feed(Feed.ATTEMPT_TIME, seconds, result=result, profile=profile)

    def decided(self, item: QueuedPod, decision: Decision, seconds: float) -> None:
        """A cycle ended after *seconds*."""
        # The decision says which part ended the cycle, if no part said so itself.
        parts = self._parts
        took = time.perf_counter() - self._since
        if decision.is_fit_error:
            makes_room = decision.preemption is not None and decision.preemption.node is not None
            self._measured(Phase.POST_FILTER, SUCCESS if makes_room else UNSCHEDULABLE, took)
            if decision.preemption is not None:
                self._operation("preemption_evaluation", took)
        elif decision.host is None and Phase.PRE_FILTER in parts and parts[Phase.PRE_FILTER] == SUCCESS:
            self._measured(Phase.SCORE if Phase.FILTER in parts else Phase.FILTER, ERROR, took)
        elif decision.host is not None and Phase.FILTER in parts and Phase.SCORE not in parts:
            # Upstream: with one feasible node priorities are not asked, and counted by the metric of their
            # own, not among the operations.
            self.feed(Feed.PRIORITIES, took)
        if decision.host is not None:
            self.feed(Feed.ALGORITHM, seconds)
        else:
            self._attempt("unschedulable" if decision.is_fit_error else "error", seconds, self._profile)
        if decision.preemption is not None:
            self.feed(Feed.PREEMPTIONS, 1)
            self.made_plan(decision.preemption)
        self._since = time.perf_counter()

    def made_plan(self, plan: Preemption) -> None:
        """Who has to leave for a pod was found out, perhaps after its cycle, as extenders were asked."""
        if plan.node is not None:
            self.feed(Feed.VICTIMS, len(plan.victims))

    # --- its binding ----------------------------------------------------------------------------------------

    def bound(self, item: QueuedPod, now: float, began: float, asked: float) -> None:
        """A pod was bound *now*; its attempt *began*, and the request was *asked*, at these times."""
        self._attempt("scheduled", now - began, item.pod.spec.scheduler_name)
        self._operation("binding", now - asked)
        self.feed(Feed.END_TO_END, now - began)
        if item.entered is not None:
            attempts = str(item.attempts) if item.attempts < _MOST_ATTEMPTS else f"{_MOST_ATTEMPTS}+"
            self.feed(Feed.SCHEDULED_TRIES, item.attempts)
            self.feed(Feed.SCHEDULED_TIME, now - item.entered / SECOND, attempts=attempts)

    def not_bound(self, pod: Pod, seconds: float, *, is_rejected: bool) -> None:
        """A pod with a node was not bound: a plugin rejected it, or there was an error. That was *seconds*
        after its attempt began."""
        self._attempt("unschedulable" if is_rejected else "error", seconds, pod.spec.scheduler_name)
