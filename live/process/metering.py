"""Counts and measures what a live scheduler does, as the metrics of 1.34, for every release.

What is not measured here stays 0: single plugins and predicates, which judge all nodes at once.
"""

from __future__ import annotations

import platform
import time
from collections import Counter as Tally
from typing import Any
from urllib.parse import urlsplit

import prometheus_client
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

from ...api.objects import DEFAULT_SCHEDULER, Pod
from ...core.decision.decision import Decision
from ...core.decision.flow import ERROR, SUCCESS, UNSCHEDULABLE, Phase
from ...core.decision.preemptionplan import Preemption
from ...core.queue.backoff import SECOND
from ...core.queue.parked import QueuedPod
from ...framework.releases import ALL_PATCH_LEVELS
from ..client.api import MeasuredRequest
from ..client.http import user_agent

TABLE = """
leader_election_master_status | Gauge | name |
    Whether this replica leads, by the name of the lease.
kubeclassic_events_dropped | Counter |  |
    Events that were not recorded, as too many waited to be sent.
rest_client_requests | Counter | code host method |
    Requests to the API server.
rest_client_request_duration_seconds | Histogram | verb host | 0.005 0.025 0.1 0.25 0.5 1 2 4 8 15 30 60
    How long an answer took.
kubernetes_build_info | Gauge | major minor git_version platform |
    Which release decides.
kubernetes_feature_enabled | Gauge | name stage |
    Whether a feature gate is on.
scheduler_volume_scheduling_stage_error | Counter | operation |
    Volumes that were not bound.
scheduler_schedule_attempts | Counter | result profile |
    Attempts to schedule pods, by their result.
scheduler_scheduling_attempt_duration_seconds | Histogram | result profile | 0.001 2 15
    How long an attempt took, with its binding.
scheduler_scheduling_algorithm_duration_seconds | Histogram |  | 0.001 2 15
    How long a decision took.
scheduler_preemption_victims | Histogram |  | 1 2 7
    Pods that had to leave for one.
scheduler_preemption_attempts | Counter |  |
    Attempts to make room for a pod.
scheduler_pending_pods | Gauge | queue | active backoff unschedulable gated
    Pods that wait, by queue.
scheduler_pod_scheduling_sli_duration_seconds | Histogram | attempts | 0.01 2 20
    From the queue to the binding, by attempts.
scheduler_pod_scheduling_attempts | Histogram |  | 1 2 5
    Attempts until a pod was bound.
scheduler_cache_size | Gauge | type | assumed_pods nodes pods
    Nodes, pods and assumed pods that are known.
scheduler_framework_extension_point_duration_seconds | Histogram | extension_point status profile | 0.0001 2 12
    How long an extension point took.
scheduler_queue_incoming_pods | Counter | queue event |
    Pods that came into a queue, by event.
scheduler_goroutines | Gauge | operation |
    Tasks that run beside the cycles.
scheduler_permit_wait_duration_seconds | Histogram | result | 0.001 2 15
    How long pods waited for Permit.
scheduler_unschedulable_pods | Gauge | plugin profile |
    Waiting pods that a plugin rejected.
scheduler_preemption_goroutines_execution | Counter | result |
    Preemptions that ended beside the cycles.
scheduler_preemption_goroutines_duration_seconds | Histogram | result | 0.01 2 20
    How long such a preemption took.
"""
"""A metric in two lines: name (of a counter without ``_total``), kind, labels, and buckets or the values of
the one label that are shown from the start; below it the help. Three buckets are a start, a factor and a
count."""
_MOST_ATTEMPTS = 15


class SchedulerMetrics:
    """All metrics of one scheduler, in a registry of its own. Times are in seconds; the parts of a cycle,
    which have no waits in them, are measured here."""

    def __init__(self, *, with_process: bool = False) -> None:
        """All metrics, each 0; *with_process*: those of this process too, where the system has them."""
        self._profile = ""
        """The schedulerName of the pod that is being tried."""
        self._since = 0.0
        """When the last part ended."""
        self._parts: dict[Phase, str] = {}
        """The parts of the cycle so far, with their statuses."""
        self.scheduler: Any = None
        """The live scheduler, of which more is read when the metrics are written."""
        self.registry = CollectorRegistry()
        self._rejecting: set[tuple[str, str]] = set()
        """The plugins, with profiles, that had rejected pods at an earlier time."""
        self.instruments: dict[str, Counter | Gauge | Histogram] = {}
        lines = TABLE.strip().splitlines()
        for line, text in zip(lines[::2], lines[1::2], strict=True):
            name, kind, labels, more = map(str.strip, line.split("|"))
            words = more.split()
            options: dict[str, Any] = {}
            if kind == "Histogram":
                buckets = tuple(map(float, words))
                if len(buckets) == 3:
                    start, factor, count = buckets
                    buckets = tuple(start * factor**at for at in range(int(count)))
                options["buckets"] = buckets
                words = []
            made = getattr(prometheus_client, kind)(
                name, text.strip(), labels.split(), registry=self.registry, **options
            )
            for value in words:
                made.labels(value)
            self.instruments[name] = made
        if with_process:
            ProcessCollector(registry=self.registry)

    def text(self) -> bytes:
        """The answer of ``/metrics``."""
        if self.scheduler is not None:
            self._read(self.scheduler)
        return generate_latest(self.registry)

    def feed(self, name: str, value: float, /, **labels: str) -> None:
        """Count or measure *value* by the metric *name* and its *labels*."""
        instrument = self.instruments[name]
        child = instrument.labels(**labels) if labels else instrument
        if isinstance(child, Gauge):
            child.set(value)
        elif isinstance(child, Counter):
            child.inc(value)
        else:
            child.observe(value)

    # --- requests -------------------------------------------------------------------------------------------

    def request(self, found: MeasuredRequest, server: str) -> None:
        """The API server at the URL *server* was asked. Watches are counted, and not measured."""
        method = found.request.method
        host = urlsplit(server).netloc
        self.feed(
            "rest_client_requests",
            1,
            method=method,
            code=str(found.status) if found.status else "<error>",
            host=host,
        )
        if not found.is_stream:
            self.feed("rest_client_request_duration_seconds", found.seconds, verb=method, host=host)

    def _read(self, scheduler: Any) -> None:
        """Set the numbers to what is so now."""
        engine = scheduler.state.engine
        queue = scheduler.state.queue
        found = queue.pending
        gated = 0
        if found.unschedulable:
            gated = sum(queue.is_gated(pod) for pod in queue.contents().unschedulable)
        self.feed("scheduler_pending_pods", found.active, queue="active")
        self.feed("scheduler_pending_pods", found.backoff, queue="backoff")
        self.feed("scheduler_pending_pods", found.unschedulable - gated, queue="unschedulable")
        self.feed("scheduler_pending_pods", gated, queue="gated")
        self.feed("scheduler_goroutines", scheduler.under_way, operation="binding")
        for kind, count in zip(("nodes", "pods", "assumed_pods"), engine.cache.counts, strict=True):
            self.feed("scheduler_cache_size", count, type=kind)
        self.feed("kubernetes_build_info", 1, **build_values(engine.release.version))
        for name, gate in engine.release.gates.items():
            self.feed(
                "kubernetes_feature_enabled",
                int(engine.gates.get(name, gate.default)),
                name=name,
                stage=gate.stage,
            )
        # How many pods of the queue each plugin rejected in their last attempts.
        rejected: Tally[tuple[str, str]] = Tally()
        for item in queue.entries():
            rejected.update(
                (plugin, item.pod.spec.scheduler_name or DEFAULT_SCHEDULER) for plugin in item.plugins
            )
        self._rejecting |= set(rejected)
        for plugin, profile in self._rejecting:
            self.feed(
                "scheduler_unschedulable_pods", rejected[plugin, profile], plugin=plugin, profile=profile
            )

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
        self.feed(
            "scheduler_framework_extension_point_duration_seconds",
            seconds,
            extension_point=part.value,
            status=status,
            profile=self._profile,
        )

    def _attempt(self, result: str, seconds: float, profile: str) -> None:
        self.feed("scheduler_schedule_attempts", 1, result=result, profile=profile)
        self.feed("scheduler_scheduling_attempt_duration_seconds", seconds, result=result, profile=profile)

    def decided(self, item: QueuedPod, decision: Decision, seconds: float) -> None:
        """A cycle ended after *seconds*."""
        # The decision says which part ended the cycle, if no part said so itself.
        parts = self._parts
        took = time.perf_counter() - self._since
        if decision.is_fit_error:
            makes_room = decision.preemption is not None and decision.preemption.node is not None
            self._measured(Phase.POST_FILTER, SUCCESS if makes_room else UNSCHEDULABLE, took)
        elif decision.host is None and parts.get(Phase.PRE_FILTER) == SUCCESS:
            self._measured(Phase.SCORE if Phase.FILTER in parts else Phase.FILTER, ERROR, took)
        if decision.host is not None:
            self.feed("scheduler_scheduling_algorithm_duration_seconds", seconds)
        else:
            self._attempt("unschedulable" if decision.is_fit_error else "error", seconds, self._profile)
        if decision.preemption is not None:
            self.feed("scheduler_preemption_attempts", 1)
            self.made_plan(decision.preemption)
        self._since = time.perf_counter()

    def made_plan(self, plan: Preemption) -> None:
        """The victims for a pod were found, perhaps after its cycle, as extenders were asked."""
        if plan.node is not None:
            self.feed("scheduler_preemption_victims", len(plan.victims))

    # --- its binding ----------------------------------------------------------------------------------------

    def bound(self, item: QueuedPod, now: float, began: float) -> None:
        """A pod was bound *now*; its attempt *began* at that time."""
        self._attempt("scheduled", now - began, item.pod.spec.scheduler_name)
        if item.entered is not None:
            attempts = str(item.attempts) if item.attempts < _MOST_ATTEMPTS else f"{_MOST_ATTEMPTS}+"
            self.feed("scheduler_pod_scheduling_attempts", item.attempts)
            self.feed(
                "scheduler_pod_scheduling_sli_duration_seconds",
                now - item.entered / SECOND,
                attempts=attempts,
            )

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
