"""Which metrics there are, in groups: names, help, labels and buckets as dashboards know them.

The table of releases says which groups a release has.

Upstream: pkg/scheduler/metrics/metrics.go, the metrics of the volume binder and of leader election.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto

import attrs


class Feed(Enum):
    """What is measured."""

    ATTEMPT = auto()
    ATTEMPT_TIME = auto()
    END_TO_END = auto()
    ALGORITHM = auto()
    PREDICATES = auto()
    PRIORITIES = auto()
    PREEMPTION = auto()
    BINDING = auto()
    OPERATION = auto()
    PREEMPTIONS = auto()
    VICTIMS = auto()
    PENDING = auto()
    SCHEDULED_TRIES = auto()
    SCHEDULED_TIME = auto()
    POINT = auto()
    PLUGIN = auto()
    INCOMING = auto()
    CACHE = auto()
    TASKS = auto()
    REASON = auto()
    EVALUATION = auto()
    PERMIT = auto()
    VOLUME = auto()
    VOLUME_ERROR = auto()
    VOLUME_CACHE = auto()
    EQUIVALENCE_LOOKUP = auto()
    EQUIVALENCE_WRITE = auto()
    LEADER = auto()
    REQUEST = auto()
    REQUEST_TIME = auto()
    TEMPLATE_TIME = auto()
    WAIT = auto()
    TEMPLATE_WAIT = auto()
    REQUEST_SIZE = auto()
    ANSWER_SIZE = auto()
    BUILD = auto()
    GATE = auto()
    BACKGROUND = auto()
    RETRY = auto()
    BACKGROUND_TIME = auto()
    DROPPED_EVENT = auto()


COUNTER, GAUGE, HISTOGRAM, SUMMARY = "counter", "gauge", "histogram", "summary"


def powers(start: float, factor: float, count: int) -> tuple[float, ...]:
    """Bounds of buckets, each *factor* times the one before, computed as Go does, so that they are the same numbers.

    >>> powers(0.001, 2, 4)
    (0.001, 0.002, 0.004, 0.008)
    """
    found = [start]
    while len(found) < count:
        found.append(found[-1] * factor)
    return tuple(found)


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


def _seconds(name: str, help: str, feed: Feed) -> Metric:
    return Metric(f"scheduler_{name}", HISTOGRAM, help, feed, (), SECONDS)


def _micros(name: str, help: str, feed: Feed) -> Metric:
    return Metric(f"scheduler_{name}", HISTOGRAM, help, feed, (), MICROSECONDS, scale=1e6)


_SPLIT = "Scheduling latency in seconds split by sub-parts of the scheduling operation"
_TIMES = (
    ("e2e_scheduling_latency_microseconds", "e2e_scheduling_duration_seconds", "E2e scheduling latency{} (scheduling algorithm + binding)"),
    ("scheduling_algorithm_latency_microseconds", "scheduling_algorithm_duration_seconds", "Scheduling algorithm latency{}"),
    (
        "scheduling_algorithm_predicate_evaluation",
        "scheduling_algorithm_predicate_evaluation_seconds",
        "Scheduling algorithm predicate evaluation duration{}",
    ),
    (
        "scheduling_algorithm_priority_evaluation",
        "scheduling_algorithm_priority_evaluation_seconds",
        "Scheduling algorithm priority evaluation duration{}",
    ),
    (
        "scheduling_algorithm_preemption_evaluation",
        "scheduling_algorithm_preemption_evaluation_seconds",
        "Scheduling algorithm preemption evaluation duration{}",
    ),
    ("binding_latency_microseconds", "binding_duration_seconds", "Binding latency{}"),
)
_FEEDS = (Feed.END_TO_END, Feed.ALGORITHM, Feed.PREDICATES, Feed.PRIORITIES, Feed.PREEMPTION, Feed.BINDING)
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
_RESULTS, _QUEUES = ("scheduled", "unschedulable", "error"), ("active", "backoff", "unschedulable")
STABLE = "STABLE"


def _singly(values: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    return tuple((value,) for value in values)


def _scheduler(name: str, kind: str, help: str, feed: Feed, labels: tuple[str, ...] = (), buckets: tuple[float, ...] = ()) -> Metric:
    return Metric(f"scheduler_{name}", kind, help, feed, labels, buckets)


def _stable(*metrics: Metric) -> tuple[Metric, ...]:
    return tuple(attrs.evolve(metric, stability=STABLE) for metric in metrics)


def _cache_size(name: str) -> Metric:
    return Metric(
        name, GAUGE, "Number of nodes, pods, and assumed (bound) pods in the scheduler cache.", Feed.CACHE, ("type",),
        starts=_singly(("assumed_pods", "nodes", "pods")),
    )  # fmt: skip


_BY_OPERATION = ("operation",)
_VOLUME_COUNTERS = (
    _scheduler(
        "volume_binder_cache_requests_total",
        COUNTER,
        "Total number for request volume binding cache",
        Feed.VOLUME_CACHE,
        _BY_OPERATION,
    ),
    _scheduler("volume_scheduling_stage_error_total", COUNTER, "Volume scheduling stage error count", Feed.VOLUME_ERROR, _BY_OPERATION),
)

GROUPS: Mapping[str, tuple[Metric, ...]] = {
    "summary by operation, first name": (_scheduler("scheduling_latency_seconds", SUMMARY, _SPLIT, Feed.OPERATION, _BY_OPERATION),),
    "summary by operation": (_scheduler("scheduling_duration_seconds", SUMMARY, _SPLIT, Feed.OPERATION, _BY_OPERATION),),
    "summary by operation, deprecated": (
        _scheduler("scheduling_latency_seconds", SUMMARY, f"(Deprecated) {_SPLIT}", Feed.OPERATION, _BY_OPERATION),
    ),
    "seconds": tuple(_seconds(name, help.format(" in seconds"), feed) for (_, name, help), feed in zip(_TIMES, _FEEDS, strict=True)),
    "microseconds": tuple(_micros(name, help.format(""), feed) for (name, _, help), feed in zip(_TIMES, _FEEDS, strict=True)),
    "microseconds, deprecated": tuple(
        _micros(name, f"(Deprecated) {help.format(' in microseconds')}", feed) for (name, _, help), feed in zip(_TIMES, _FEEDS, strict=True)
    ),
    "preemption": (
        _scheduler("pod_preemption_victims", GAUGE, "Number of selected preemption victims", Feed.VICTIMS),
        _scheduler("total_preemption_attempts", COUNTER, "Total preemption attempts in the cluster till now", Feed.PREEMPTIONS),
    ),
    "preemption, framework": _stable(
        _scheduler("preemption_victims", HISTOGRAM, "Number of selected preemption victims", Feed.VICTIMS, (), powers(1, 2, 7)),
        _scheduler("preemption_attempts_total", COUNTER, "Total preemption attempts in the cluster till now", Feed.PREEMPTIONS),
    ),
    "equivalence cache": (
        _scheduler(
            "equiv_cache_lookups_total",
            COUNTER,
            "Total number of equivalence cache lookups, by whether or not a cache entry was found",
            Feed.EQUIVALENCE_LOOKUP,
            ("result",),
        ),
        _scheduler(
            "equiv_cache_writes",
            COUNTER,
            "Total number of equivalence cache writes, by result",
            Feed.EQUIVALENCE_WRITE,
            ("result",),
        ),
    ),
    "attempts": (Metric("scheduler_schedule_attempts_total", COUNTER, _ATTEMPTS, Feed.ATTEMPT, ("result",), starts=_singly(_RESULTS)),),
    "attempts by profile": (
        *_stable(
            _scheduler("schedule_attempts_total", COUNTER, _ATTEMPTS, Feed.ATTEMPT, ("result", "profile")),
            _scheduler(
                "scheduling_attempt_duration_seconds",
                HISTOGRAM,
                "Scheduling attempt latency in seconds (scheduling algorithm + binding)",
                Feed.ATTEMPT_TIME,
                ("result", "profile"),
                SECONDS,
            ),
        ),
        _scheduler(
            "scheduling_algorithm_duration_seconds",
            HISTOGRAM,
            "Scheduling algorithm latency in seconds",
            Feed.ALGORITHM,
            (),
            SECONDS,
        ),
    ),
    "pending": (Metric("scheduler_pending_pods", GAUGE, f"{_PENDING}Q.", Feed.PENDING, ("queue",), starts=_singly(_QUEUES)),),
    "pending, framework": (
        Metric(
            "scheduler_pending_pods",
            GAUGE,
            f"{_PENDING}{_GATED}",
            Feed.PENDING,
            ("queue",),
            stability=STABLE,
            starts=_singly((*_QUEUES, "gated")),
        ),
    ),
    "volumes": (
        *_VOLUME_COUNTERS,
        # Upstream: the buckets are those of microseconds, what they count is seconds.
        _scheduler(
            "volume_scheduling_duration_seconds",
            HISTOGRAM,
            "Volume scheduling stage latency",
            Feed.VOLUME,
            _BY_OPERATION,
            MICROSECONDS,
        ),
    ),
    "volumes, framework": _VOLUME_COUNTERS,
    "leader": (Metric("leader_election_master_status", GAUGE, _LEADER, Feed.LEADER, ("name",)),),
    "events": (
        Metric(
            "kubeclassic_events_dropped_total",
            COUNTER,
            "Number of events that were not recorded, as too many waited to be sent.",
            Feed.DROPPED_EVENT,
        ),
    ),
    "duration with all attempts": _stable(
        _scheduler(
            "pod_scheduling_duration_seconds",
            HISTOGRAM,
            "E2e latency for a pod being scheduled which may include multiple scheduling attempts.",
            Feed.SCHEDULED_TIME,
            ("attempts",),
            powers(0.01, 2, 20),
        ),
    ),
    "duration since the first attempt": (
        Metric(
            "scheduler_pod_scheduling_sli_duration_seconds",
            HISTOGRAM,
            "E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue and might involve multiple "
            "scheduling attempts.",
            Feed.SCHEDULED_TIME,
            ("attempts",),
            powers(0.01, 2, 20),
            stability="BETA",
        ),
    ),
    "cache size, first name": (_cache_size("scheduler_scheduler_cache_size"),),
    "cache size": (_cache_size("scheduler_cache_size"),),
    "framework": (
        *_stable(
            _scheduler(
                "pod_scheduling_attempts",
                HISTOGRAM,
                "Number of attempts to successfully schedule a pod.",
                Feed.SCHEDULED_TRIES,
                (),
                powers(1, 2, 5),
            ),
            _scheduler(
                "framework_extension_point_duration_seconds",
                HISTOGRAM,
                "Latency for running all plugins of a specific extension point.",
                Feed.POINT,
                ("extension_point", "status", "profile"),
                powers(0.0001, 2, 12),
            ),
            _scheduler(
                "queue_incoming_pods_total",
                COUNTER,
                "Number of pods added to scheduling queues by event and queue type.",
                Feed.INCOMING,
                ("queue", "event"),
            ),
        ),
        _scheduler(
            "plugin_execution_duration_seconds",
            HISTOGRAM,
            "Duration for running a plugin at a specific extension point.",
            Feed.PLUGIN,
            ("plugin", "extension_point", "status"),
            powers(0.00001, 1.5, 20),
        ),
        _scheduler(
            "goroutines",
            GAUGE,
            "Number of running goroutines split by the work they do such as binding.",
            Feed.TASKS,
            _BY_OPERATION,
        ),
        _scheduler("permit_wait_duration_seconds", HISTOGRAM, "Duration of waiting on permit.", Feed.PERMIT, ("result",), SECONDS),
        _scheduler("unschedulable_pods", GAUGE, _REASONS, Feed.REASON, ("plugin", "profile")),
        _scheduler(
            "plugin_evaluation_total",
            COUNTER,
            "Number of attempts to schedule pods by each plugin and the extension point (available only in PreFilter and Filter.).",
            Feed.EVALUATION,
            ("plugin", "extension_point", "profile"),
        ),
    ),
}
"""Name of a group -> its metrics."""
