"""Which metrics there are, in groups: names, help, labels and buckets as dashboards know them.

The table of releases says which groups a release has.

Upstream: pkg/scheduler/metrics/metrics.go, the metrics of the volume binder and of leader election.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

import attrs

Feed = Enum(
    "Feed",
    "ATTEMPT ATTEMPT_TIME END_TO_END ALGORITHM PREDICATES PRIORITIES PREEMPTION BINDING OPERATION PREEMPTIONS VICTIMS "
    "PENDING SCHEDULED_TRIES SCHEDULED_TIME POINT PLUGIN INCOMING CACHE TASKS REASON EVALUATION PERMIT VOLUME VOLUME_ERROR "
    "VOLUME_CACHE EQUIVALENCE_LOOKUP EQUIVALENCE_WRITE LEADER REQUEST REQUEST_TIME TEMPLATE_TIME WAIT TEMPLATE_WAIT "
    "REQUEST_SIZE ANSWER_SIZE BUILD GATE BACKGROUND RETRY BACKGROUND_TIME DROPPED_EVENT",
)
"""What is measured."""

COUNTER, GAUGE, HISTOGRAM, SUMMARY = "counter", "gauge", "histogram", "summary"
STABLE = "STABLE"


def powers(start: float, factor: float, count: int) -> tuple[float, ...]:
    """Bounds of buckets, each *factor* times the one before, computed as Go does, so that they are the same numbers.

    >>> powers(0.001, 2, 4)
    (0.001, 0.002, 0.004, 0.008)
    """
    found = [start]
    while len(found) < count:
        found.append(found[-1] * factor)
    return tuple(found)


def camel(name: str) -> str:
    """A label as its first releases write it.

    >>> camel("git_tree_state"), camel("major")
    ('gitTreeState', 'major')
    """
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)


SECONDS, MICROSECONDS = powers(0.001, 2, 15), powers(1000, 2, 15)


@attrs.frozen
class Metric:
    """One metric."""

    name: str
    kind: str
    help: str
    feed: Feed
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
    stability: str = attrs.field(default="ALPHA", kw_only=True)
    scale: float = attrs.field(default=1.0, kw_only=True)
    """Times are in seconds; this many of its own unit are one."""
    starts: tuple[tuple[str, ...], ...] = attrs.field(default=(), kw_only=True)
    """Values of the labels that are shown from the start, with 0."""


def _counter(name: str, help: str, feed: Feed, *labels: str, starts: tuple[str, ...] = ()) -> Metric:
    return Metric(f"scheduler_{name}", COUNTER, help, feed, labels, starts=tuple((value,) for value in starts))


def _gauge(name: str, help: str, feed: Feed, *labels: str, starts: tuple[str, ...] = ()) -> Metric:
    return attrs.evolve(_counter(name, help, feed, *labels, starts=starts), kind=GAUGE)


def _histogram(name: str, help: str, feed: Feed, *labels: str, buckets: tuple[float, ...] = SECONDS) -> Metric:
    return Metric(f"scheduler_{name}", HISTOGRAM, help, feed, labels, buckets)


def _summary(name: str, help: str) -> tuple[Metric, ...]:
    return (Metric(f"scheduler_{name}", SUMMARY, help, Feed.OPERATION, ("operation",)),)


def _stable(*metrics: Metric) -> tuple[Metric, ...]:
    return tuple(attrs.evolve(metric, stability=STABLE) for metric in metrics)


_PARTS = (
    ("e2e_scheduling", "E2e scheduling latency{} (scheduling algorithm + binding)", Feed.END_TO_END),
    ("scheduling_algorithm", "Scheduling algorithm latency{}", Feed.ALGORITHM),
    ("scheduling_algorithm_predicate_evaluation", "Scheduling algorithm predicate evaluation duration{}", Feed.PREDICATES),
    ("scheduling_algorithm_priority_evaluation", "Scheduling algorithm priority evaluation duration{}", Feed.PRIORITIES),
    ("scheduling_algorithm_preemption_evaluation", "Scheduling algorithm preemption evaluation duration{}", Feed.PREEMPTION),
    ("binding", "Binding latency{}", Feed.BINDING),
)


def _seconds() -> tuple[Metric, ...]:
    """The parts of an attempt in seconds. Upstream: the name of an evaluation has no ``duration`` in it."""
    ends = ["_seconds" if name.endswith("evaluation") else "_duration_seconds" for name, _, _ in _PARTS]
    return tuple(_histogram(name + end, help.format(" in seconds"), feed) for (name, help, feed), end in zip(_PARTS, ends, strict=True))


def _micros(note: str = "", unit: str = "") -> tuple[Metric, ...]:
    """The parts of an attempt in microseconds; *note* comes before the help, *unit* is in it."""
    ends = ["" if name.endswith("evaluation") else "_latency_microseconds" for name, _, _ in _PARTS]
    found = [_histogram(name + end, note + help.format(unit), feed) for (name, help, feed), end in zip(_PARTS, ends, strict=True)]
    return tuple(attrs.evolve(metric, buckets=MICROSECONDS, scale=1e6) for metric in found)


_SPLIT = "Scheduling latency in seconds split by sub-parts of the scheduling operation"
_ATTEMPTS = (
    "Number of attempts to schedule pods, by the result. 'unschedulable' means a pod could not be scheduled, while 'error' means an "
    "internal scheduler problem."
)
_PENDING = (
    "Number of pending pods, by the queue type. 'active' means number of pods in activeQ; 'backoff' means number of pods in backoffQ; "
    "'unschedulable' means number of pods in unschedulable"
)
_GATED = (
    "Pods that the scheduler attempted to schedule and failed; 'gated' is the number of unschedulable pods that the scheduler never "
    "attempted to schedule because they are gated."
)
_LEADER = (
    "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master. 'name' is the string "
    "used to identify the lease. Please make sure to group by name."
)
_REASONS = (
    "The number of unschedulable pods broken down by plugin name. A pod will increment the gauge for all plugins that caused it to not "
    "schedule and so this metric have meaning only when broken down by plugin."
)
_SINCE_ENTRY = (
    "E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue and might involve multiple scheduling "
    "attempts."
)
_ALL_ATTEMPTS = "E2e latency for a pod being scheduled which may include multiple scheduling attempts."
_LOOKUPS = "Total number of equivalence cache lookups, by whether or not a cache entry was found"
_EVALUATIONS = "Number of attempts to schedule pods by each plugin and the extension point (available only in PreFilter and Filter.)."
_CACHE_SIZE = "Number of nodes, pods, and assumed (bound) pods in the scheduler cache."
_CACHED = ("assumed_pods", "nodes", "pods")
_QUEUES = ("active", "backoff", "unschedulable")
_TRIED = powers(0.01, 2, 20)
_VOLUME_COUNTERS = (
    _counter("volume_binder_cache_requests_total", "Total number for request volume binding cache", Feed.VOLUME_CACHE, "operation"),
    _counter("volume_scheduling_stage_error_total", "Volume scheduling stage error count", Feed.VOLUME_ERROR, "operation"),
)

GROUPS: Mapping[str, tuple[Metric, ...]] = {
    "summary by operation, first name": _summary("scheduling_latency_seconds", _SPLIT),
    "summary by operation": _summary("scheduling_duration_seconds", _SPLIT),
    "summary by operation, deprecated": _summary("scheduling_latency_seconds", f"(Deprecated) {_SPLIT}"),
    "seconds": _seconds(),
    "microseconds": _micros(),
    "microseconds, deprecated": _micros("(Deprecated) ", " in microseconds"),
    "preemption": (
        _gauge("pod_preemption_victims", "Number of selected preemption victims", Feed.VICTIMS),
        _counter("total_preemption_attempts", "Total preemption attempts in the cluster till now", Feed.PREEMPTIONS),
    ),
    "preemption, framework": _stable(
        _histogram("preemption_victims", "Number of selected preemption victims", Feed.VICTIMS, buckets=powers(1, 2, 7)),
        _counter("preemption_attempts_total", "Total preemption attempts in the cluster till now", Feed.PREEMPTIONS),
    ),
    "equivalence cache": (
        _counter("equiv_cache_lookups_total", _LOOKUPS, Feed.EQUIVALENCE_LOOKUP, "result"),
        _counter("equiv_cache_writes", "Total number of equivalence cache writes, by result", Feed.EQUIVALENCE_WRITE, "result"),
    ),
    "attempts": (
        _counter("schedule_attempts_total", _ATTEMPTS, Feed.ATTEMPT, "result", starts=("scheduled", "unschedulable", "error")),
    ),
    "attempts by profile": (
        *_stable(
            _counter("schedule_attempts_total", _ATTEMPTS, Feed.ATTEMPT, "result", "profile"),
            _histogram(
                "scheduling_attempt_duration_seconds", "Scheduling attempt latency in seconds (scheduling algorithm + binding)",
                Feed.ATTEMPT_TIME, "result", "profile",
            ),
        ),
        _histogram("scheduling_algorithm_duration_seconds", "Scheduling algorithm latency in seconds", Feed.ALGORITHM),
    ),
    "pending": (_gauge("pending_pods", f"{_PENDING}Q.", Feed.PENDING, "queue", starts=_QUEUES),),
    "pending, framework": _stable(
        _gauge("pending_pods", f"{_PENDING}{_GATED}", Feed.PENDING, "queue", starts=(*_QUEUES, "gated"))
    ),
    "volumes": (
        *_VOLUME_COUNTERS,
        # Upstream: the buckets are those of microseconds, what they count is seconds.
        _histogram("volume_scheduling_duration_seconds", "Volume scheduling stage latency", Feed.VOLUME, "operation", buckets=MICROSECONDS),
    ),
    "volumes, framework": _VOLUME_COUNTERS,
    "leader": (Metric("leader_election_master_status", GAUGE, _LEADER, Feed.LEADER, ("name",)),),
    "events": (
        Metric(
            "kubeclassic_events_dropped_total", COUNTER, "Number of events that were not recorded, as too many waited to be sent.",
            Feed.DROPPED_EVENT,
        ),
    ),
    "duration with all attempts": _stable(
        _histogram("pod_scheduling_duration_seconds", _ALL_ATTEMPTS, Feed.SCHEDULED_TIME, "attempts", buckets=_TRIED)
    ),
    "duration since the first attempt": (
        attrs.evolve(
            _histogram("pod_scheduling_sli_duration_seconds", _SINCE_ENTRY, Feed.SCHEDULED_TIME, "attempts", buckets=_TRIED),
            stability="BETA",
        ),
    ),
    "cache size, first name": (_gauge("scheduler_cache_size", _CACHE_SIZE, Feed.CACHE, "type", starts=_CACHED),),
    "cache size": (_gauge("cache_size", _CACHE_SIZE, Feed.CACHE, "type", starts=_CACHED),),
    "framework": (
        *_stable(
            _histogram(
                "pod_scheduling_attempts", "Number of attempts to successfully schedule a pod.", Feed.SCHEDULED_TRIES,
                buckets=powers(1, 2, 5),
            ),
            _histogram(
                "framework_extension_point_duration_seconds", "Latency for running all plugins of a specific extension point.", Feed.POINT,
                "extension_point", "status", "profile", buckets=powers(0.0001, 2, 12),
            ),
            _counter(
                "queue_incoming_pods_total", "Number of pods added to scheduling queues by event and queue type.", Feed.INCOMING,
                "queue", "event",
            ),
        ),
        _histogram(
            "plugin_execution_duration_seconds", "Duration for running a plugin at a specific extension point.", Feed.PLUGIN,
            "plugin", "extension_point", "status", buckets=powers(0.00001, 1.5, 20),
        ),
        _gauge("goroutines", "Number of running goroutines split by the work they do such as binding.", Feed.TASKS, "operation"),
        _histogram("permit_wait_duration_seconds", "Duration of waiting on permit.", Feed.PERMIT, "result"),
        _gauge("unschedulable_pods", _REASONS, Feed.REASON, "plugin", "profile"),
        _counter("plugin_evaluation_total", _EVALUATIONS, Feed.EVALUATION, "plugin", "extension_point", "profile"),
    ),
}  # fmt: skip
"""Name of a group -> its metrics."""
