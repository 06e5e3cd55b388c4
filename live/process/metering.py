"""Counts and measurements of a live scheduler, as the metrics of its release.

There are two sets: one for releases with profiles, and one for 1.12 to 1.16, which measures the same
otherwise. Metrics of single plugins and predicates stay 0, as these check all nodes at once.
"""

from __future__ import annotations

import platform
import time
from collections import Counter as Tally
from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import urlsplit

import attrs
import prometheus_client
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    Summary,
    generate_latest,
)

from ...api.objects import Pod
from ...core.decision import ERROR, SUCCESS, UNSCHEDULABLE, Decision, Phase, Preemption
from ...core.queue.backoff import SECOND, QueuedPod
from ...framework.releases import ALL_PATCH_LEVELS
from ..client.api import MeasuredRequest
from ..client.http import user_agent

Feed = Literal[
    "attempt",
    "attempt time",
    "end to end",
    "algorithm",
    "predicates",
    "priorities",
    "preemption",
    "binding",
    "operation",
    "preemptions",
    "victims",
    "pending",
    "scheduled tries",
    "scheduled time",
    "point",
    "incoming",
    "cache",
    "tasks",
    "reason",
    "permit",
    "volume",
    "volume error",
    "leader",
    "request",
    "request time",
    "build",
    "gate",
    "background",
    "background time",
    "dropped event",
]
"""The quantities that are measured."""


@attrs.frozen
class Metric:
    """One metric. Of a counter the name has no ``_total``."""

    name: str
    kind: str
    feed: str
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
    starts: tuple[str, ...] = ()
    """Values of the one label that are shown from the start, with 0."""


def metrics_of(table: str) -> tuple[Metric, ...]:
    """The metrics of a table: name, kind, feed, labels, buckets or starts; below it the help. Three buckets
    are a start, a factor and a count."""
    metrics = []
    lines = [line.strip() for line in table.strip().splitlines()]
    for line, text in zip(lines[::2], lines[1::2], strict=True):
        name, kind, feed, labels, more = map(str.strip, line.split("|"))
        words = more.split()
        buckets = tuple(map(float, words)) if more[:1].isdigit() else ()
        if len(buckets) == 3:
            start, factor, count = buckets
            buckets = tuple(start * factor**at for at in range(int(count)))
        metrics.append(
            Metric(name, kind, feed, text, tuple(labels.split()), buckets, () if buckets else tuple(words))
        )
    return tuple(metrics)


SHARED = metrics_of("""
leader_election_master_status | Gauge | leader | name |
    Whether this replica leads, by the name of the lease.
kubeclassic_events_dropped | Counter | dropped event | |
    Events that were not recorded, as too many waited to be sent.
rest_client_requests | Counter | request | code host method |
    Requests to the API server.
rest_client_request_duration_seconds | Histogram | request time | verb host | 0.005 0.025 0.1 0.25 0.5 1 2 4 8 15 30 60
    How long an answer took.
kubernetes_build_info | Gauge | build | major minor git_version platform |
    Which release decides.
kubernetes_feature_enabled | Gauge | gate | name stage |
    Whether a feature gate is on.
scheduler_volume_scheduling_stage_error | Counter | volume error | operation |
    Volumes that were not bound.
""")
"""Metrics of every release."""
NEWER = metrics_of("""
scheduler_schedule_attempts | Counter | attempt | result profile |
    Attempts to schedule pods, by their result.
scheduler_scheduling_attempt_duration_seconds | Histogram | attempt time | result profile | 0.001 2 15
    How long an attempt took, with its binding.
scheduler_scheduling_algorithm_duration_seconds | Histogram | algorithm | | 0.001 2 15
    How long a decision took.
scheduler_preemption_victims | Histogram | victims | | 1 2 7
    Pods that had to leave for one.
scheduler_preemption_attempts | Counter | preemptions | |
    Attempts to make room for a pod.
scheduler_pending_pods | Gauge | pending | queue | active backoff unschedulable gated
    Pods that wait, by queue.
scheduler_pod_scheduling_sli_duration_seconds | Histogram | scheduled time | attempts | 0.01 2 20
    From the queue to the binding, by attempts.
scheduler_pod_scheduling_attempts | Histogram | scheduled tries | | 1 2 5
    Attempts until a pod was bound.
scheduler_cache_size | Gauge | cache | type | assumed_pods nodes pods
    Nodes, pods and assumed pods that are known.
scheduler_framework_extension_point_duration_seconds | Histogram | point | extension_point status profile | 0.0001 2 12
    How long an extension point took.
scheduler_queue_incoming_pods | Counter | incoming | queue event |
    Pods that came into a queue, by event.
scheduler_goroutines | Gauge | tasks | operation |
    Tasks that run beside the cycles.
scheduler_permit_wait_duration_seconds | Histogram | permit | result | 0.001 2 15
    How long pods waited for Permit.
scheduler_unschedulable_pods | Gauge | reason | plugin profile |
    Waiting pods that a plugin rejected.
scheduler_preemption_goroutines_execution | Counter | background | result |
    Preemptions that ended beside the cycles.
scheduler_preemption_goroutines_duration_seconds | Histogram | background time | result | 0.01 2 20
    How long such a preemption took.
""")
"""The metrics of 1.34, for every release with profiles."""
CLASSIC = metrics_of("""
scheduler_e2e_scheduling_duration_seconds | Histogram | end to end | | 0.001 2 15
    How long an attempt took, with its binding.
scheduler_scheduling_algorithm_duration_seconds | Histogram | algorithm | | 0.001 2 15
    How long a decision took.
scheduler_scheduling_algorithm_predicate_evaluation_seconds | Histogram | predicates | | 0.001 2 15
    How long predicates took.
scheduler_scheduling_algorithm_priority_evaluation_seconds | Histogram | priorities | | 0.001 2 15
    How long priorities took.
scheduler_scheduling_algorithm_preemption_evaluation_seconds | Histogram | preemption | | 0.001 2 15
    How long preemption took.
scheduler_binding_duration_seconds | Histogram | binding | | 0.001 2 15
    How long a binding took.
scheduler_scheduling_duration_seconds | Summary | operation | operation |
    How long each part of an attempt took.
scheduler_scheduling_latency_seconds | Summary | operation | operation |
    The same by the name of 1.12 and 1.13.
scheduler_schedule_attempts | Counter | attempt | result | scheduled unschedulable error
    Attempts to schedule pods, by their result.
scheduler_pod_preemption_victims | Gauge | victims | |
    Pods that had to leave for the last one.
scheduler_total_preemption_attempts | Counter | preemptions | |
    Attempts to make room for a pod.
scheduler_pending_pods | Gauge | pending | queue | active backoff unschedulable
    Pods that wait, by queue.
scheduler_volume_scheduling_duration_seconds | Histogram | volume | operation | 0.001 2 15
    How long volumes took.
""")
"""The metrics of 1.12 to 1.16."""


_OPERATIONS: Mapping[str, Feed] = {
    "predicate_evaluation": "predicates",
    "priority_evaluation": "priorities",
    "preemption_evaluation": "preemption",
    "binding": "binding",
}
_EVALUATIONS = {Phase.FILTER: "predicate_evaluation", Phase.SCORE: "priority_evaluation"}
_MOST_ATTEMPTS = 15


class SchedulerMetrics:
    """All metrics of one scheduler, in a registry of its own. Times are in seconds; the parts of a cycle,
    which have no waits in them, are measured here."""

    def __init__(self, *, has_profiles: bool, with_process: bool = False) -> None:
        """The metrics of a release, all 0; *with_process*: those of this process too, where the system has
        them."""
        self._profile = ""
        """The schedulerName of the pod that is being tried."""
        self._since = 0.0
        """The time when the last part ended."""
        self._parts: dict[Phase, str] = {}
        """The parts of the cycle so far, with their statuses."""
        self.has_profiles = has_profiles
        self.scheduler: Any = None
        """The live scheduler, whose state is read when the metrics are written."""
        self.registry: CollectorRegistry = CollectorRegistry()
        self._rejecting: set[tuple[str, str]] = set()
        """The plugins, with profiles, that had rejected pods at an earlier time."""
        self._fed: dict[str, list[tuple[Metric, Counter | Gauge | Histogram | Summary]]] = {}
        for metric in (*SHARED, *(NEWER if has_profiles else CLASSIC)):
            more = {"buckets": metric.buckets} if metric.buckets else {}
            kind = getattr(prometheus_client, metric.kind)
            collector = kind(metric.name, metric.help, metric.labels, registry=self.registry, **more)
            for value in metric.starts:
                collector.labels(value)
            self._fed.setdefault(metric.feed, []).append((metric, collector))
        if with_process:
            ProcessCollector(registry=self.registry)

    def text(self) -> bytes:
        """The answer of ``/metrics``."""
        if self.scheduler is not None:
            self._read(self.scheduler)
        return generate_latest(self.registry)

    def feed(self, feed: Feed, value: float, **labels: str) -> None:
        """Count or measure *value*; each metric takes those of *labels* that it has."""
        for metric, instrument in self._fed.get(feed, ()):
            if metric.labels:
                child = instrument.labels(*(labels[name] for name in metric.labels))
            else:
                child = instrument
            if isinstance(child, Gauge):
                child.set(value)
            elif isinstance(child, Counter):
                child.inc(value)
            else:
                child.observe(value)

    # --- requests -------------------------------------------------------------------------------------------

    def request(self, call: MeasuredRequest, server: str) -> None:
        """Count a request to the API server at *server*, and measure it unless it is a watch."""
        method = call.request.method
        host = urlsplit(server).netloc
        self.feed("request", 1, method=method, code=str(call.status) if call.status else "<error>", host=host)
        if not call.is_stream:
            self.feed("request time", call.seconds, verb=method, host=host)

    def _read(self, scheduler: Any) -> None:
        """Set the numbers to the present state of *scheduler*."""
        engine = scheduler.state.engine
        queue = scheduler.state.queue
        pending = queue.pending
        gated = 0
        if pending.unschedulable:
            gated = sum(queue.is_gated(pod) for pod in queue.contents().unschedulable)
        self.feed("pending", pending.active, queue="active")
        self.feed("pending", pending.backoff, queue="backoff")
        self.feed("pending", pending.unschedulable - gated, queue="unschedulable")
        if self.has_profiles:  # releases without profiles have no gated pods
            self.feed("pending", gated, queue="gated")
        self.feed("tasks", scheduler.under_way, operation="binding")
        for kind, count in zip(("nodes", "pods", "assumed_pods"), engine.cache.counts, strict=True):
            self.feed("cache", count, type=kind)
        self.feed("build", 1, **build_values(engine.release.version))
        for name, gate in engine.release.gates.items():
            self.feed("gate", int(engine.gates.get(name, gate.default)), name=name, stage=gate.stage)
        # How many pods of the queue each plugin rejected in their last attempts.
        rejected: Tally[tuple[str, str]] = Tally()
        for item in queue.entries():
            rejected.update((plugin, item.pod.scheduler_name) for plugin in item.plugins)
        self._rejecting |= set(rejected)
        for plugin, profile in self._rejecting:
            self.feed("reason", rejected[plugin, profile], plugin=plugin, profile=profile)

    # --- a cycle --------------------------------------------------------------------------------------------

    def began(self, item: QueuedPod) -> None:
        """A cycle begins."""
        self._profile = item.pod.scheduler_name
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
            # One check answers for all nodes, so its time counts once.
            for each in (Phase.PRE_FILTER, Phase.FILTER, Phase.PRE_SCORE, Phase.SCORE):
                self._measured(each, SUCCESS, seconds if each is Phase.FILTER else 0.0)
        elif not (is_refused and part is Phase.FILTER):
            self._measured(part, status, seconds)

    def _measured(self, part: Phase, status: str, seconds: float) -> None:
        # Upstream: that no node fits is no failure of Filter.
        shown = SUCCESS if (part, status) == (Phase.FILTER, UNSCHEDULABLE) else status
        self.feed("point", seconds, extension_point=part.value, status=shown, profile=self._profile)
        if status == SUCCESS and part in _EVALUATIONS:
            self._operation(_EVALUATIONS[part], seconds)

    def _operation(self, name: str, seconds: float) -> None:
        self.feed(_OPERATIONS[name], seconds)
        self.feed("operation", seconds, operation=name)

    def _attempt(self, result: str, seconds: float, profile: str) -> None:
        self.feed("attempt", 1, result=result, profile=profile)
        self.feed("attempt time", seconds, result=result, profile=profile)

    def decided(self, item: QueuedPod, decision: Decision, seconds: float) -> None:
        """A cycle ended after *seconds*."""
        # The decision says which part ended the cycle, if no part said so itself.
        plan = decision.preemption
        parts = self._parts
        took = time.perf_counter() - self._since
        if decision.is_fit_error:
            makes_room = plan is not None and plan.node is not None
            self._measured(Phase.POST_FILTER, SUCCESS if makes_room else UNSCHEDULABLE, took)
            if plan is not None:
                self._operation("preemption_evaluation", took)
        elif decision.host is None and parts.get(Phase.PRE_FILTER) == SUCCESS:
            self._measured(Phase.SCORE if Phase.FILTER in parts else Phase.FILTER, ERROR, took)
        elif decision.host is not None and Phase.FILTER in parts and Phase.SCORE not in parts:
            # Upstream: with one feasible node no priorities run; their time counts in the metric of their
            # own, not among the operations.
            self.feed("priorities", took)
        measures_failures = self.scheduler is not None and self.scheduler.state.release.live.measures_failures
        if decision.host is not None or measures_failures:
            self.feed("algorithm", seconds)
        if decision.host is None:
            self._attempt("unschedulable" if decision.is_fit_error else "error", seconds, self._profile)
        if plan is not None:
            self.feed("preemptions", 1)
            self.made_plan(plan)
        self._since = time.perf_counter()

    def made_plan(self, plan: Preemption) -> None:
        """The victims for a pod were found, perhaps after its cycle, as extenders were asked."""
        if plan.node is not None:
            self.feed("victims", len(plan.victims))

    # --- its binding ----------------------------------------------------------------------------------------

    def bound(self, item: QueuedPod, now: float, began: float, asked_at: float) -> None:
        """A pod was bound *now*; its attempt *began*, and its request was sent *asked_at*."""
        self._attempt("scheduled", now - began, item.pod.spec.scheduler_name)
        self._operation("binding", now - asked_at)
        self.feed("end to end", now - began)
        if item.entered is not None:
            attempts = str(item.attempts) if item.attempts < _MOST_ATTEMPTS else f"{_MOST_ATTEMPTS}+"
            self.feed("scheduled tries", item.attempts)
            self.feed("scheduled time", now - item.entered / SECOND, attempts=attempts)

    def not_bound(self, pod: Pod, seconds: float, *, is_rejected: bool) -> None:
        """A pod with a node was not bound: a plugin rejected it, or there was an error. That was *seconds*
        after its attempt began."""
        self._attempt("unschedulable" if is_rejected else "error", seconds, pod.spec.scheduler_name)


def build_values(version: str) -> dict[str, str]:
    """Label of the metric ``kubernetes_build_info`` -> its value, for the release *version*.

    >>> found = build_values("1.15")
    >>> found["major"], found["minor"], found["git_version"].startswith("v1.15.")
    ('1', '15', True)
    """
    major, _, minor = version.partition(".")
    return {
        "major": major,
        "minor": minor,
        "git_version": f"v{ALL_PATCH_LEVELS[version]}+{user_agent().replace('/', '.')}",
        "platform": f"{platform.system().lower()}/{platform.machine()}",
    }
