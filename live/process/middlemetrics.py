"""The metrics of the releases 1.17 to 1.26 that 1.27 shows otherwise or no longer, in groups as in :mod:`.metrictables`.

A metric is hidden from the minor release on that comes after the one that deprecated it. So it is in the group of that one release alone.

Upstream: pkg/scheduler/metrics/metrics.go, and the metrics of the volume binder.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from .clientmetrics import CLIENT_GROUPS
from .metrictables import GAUGE, GROUPS, HISTOGRAM, SECONDS, STABLE, Feed, Metric
from .newermetrics import NEWER_GROUPS

_ALPHA = "ALPHA"
_FIVES = tuple(float(bound) for bound in range(5, 55, 5))
_E2E = "E2e scheduling latency in seconds (scheduling algorithm + binding)"
_TASKS = "Number of running goroutines split by the work they do such as binding."


def _deprecated(metrics: Iterable[Metric], since: str) -> tuple[Metric, ...]:
    """*metrics* in the release that deprecated them."""
    return tuple(attrs.evolve(metric, help=f"(Deprecated since {since}) {metric.help}") for metric in metrics)


def _alpha(metrics: Iterable[Metric]) -> tuple[Metric, ...]:
    return tuple(attrs.evolve(metric, stability=_ALPHA) for metric in metrics)


def _noted(metrics: Iterable[Metric]) -> tuple[Metric, ...]:
    """*metrics* whose help itself says, too, that they are deprecated."""
    return tuple(attrs.evolve(metric, help=f"{metric.help} (Deprecated since 1.19.0)") for metric in metrics)


def _named(group: str, *names: str) -> tuple[Metric, ...]:
    """The metrics of *group* that are called so, without the scheduler's prefix."""
    return tuple(metric for metric in GROUPS[group] if metric.name.removeprefix("scheduler_") in names)


def _without(metrics: Iterable[Metric], *names: str) -> tuple[Metric, ...]:
    return tuple(metric for metric in metrics if metric.name.removeprefix("scheduler_") not in names)


def _unlabelled(metrics: Iterable[Metric], label: str) -> tuple[Metric, ...]:
    return tuple(attrs.evolve(metric, labels=tuple(name for name in metric.labels if name != label)) for metric in metrics)


def _end_to_end(help: str) -> tuple[Metric, ...]:
    labels = ("result", "profile")
    return (Metric("scheduler_e2e_scheduling_duration_seconds", HISTOGRAM, help, Feed.ATTEMPT_TIME, labels, SECONDS),)


def _tasks(help: str) -> Metric:
    return Metric("scheduler_scheduler_goroutines", GAUGE, help, Feed.TASKS, ("work",))


def _of_fives(metrics: Iterable[Metric]) -> tuple[Metric, ...]:
    return tuple(attrs.evolve(metric, buckets=_FIVES) if metric.feed is Feed.VICTIMS else metric for metric in metrics)


_PENDING = GROUPS["pending"][0]
_WITHOUT_TASKS = _without(GROUPS["framework"], "goroutines", "plugin_evaluation_total")
_WITHOUT_REASONS = (*_without(_WITHOUT_TASKS, "unschedulable_pods"), _tasks(_TASKS))
_SUMMARY = GROUPS["summary by operation"]
_EVALUATIONS = ("scheduling_algorithm_predicate_evaluation_seconds", "scheduling_algorithm_priority_evaluation_seconds")
_LAST_TIMES = _named("seconds", "scheduling_algorithm_preemption_evaluation_seconds", "binding_duration_seconds")
_PLAIN_TIME = Metric(
    "scheduler_pod_scheduling_duration_seconds",
    HISTOGRAM,
    GROUPS["duration with all attempts"][0].help,
    Feed.SCHEDULED_TIME,
    (),
    SECONDS,
)

MIDDLE_GROUPS: Mapping[str, tuple[Metric, ...]] = {
    # --- 1.26 down to 1.23 ---
    "framework, two counts of tasks": (
        *_without(GROUPS["framework"], "plugin_evaluation_total"),
        *_deprecated([_tasks(f'{_TASKS} This metric is replaced by the "goroutines" metric.')], "1.26.0"),
    ),
    "framework, with reasons": (*_WITHOUT_TASKS, _tasks(_TASKS)),
    "framework, without reasons": _WITHOUT_REASONS,
    "preemption, by fives": _of_fives(GROUPS["preemption, framework"]),
    "pending, stable": (attrs.evolve(_PENDING, stability=STABLE),),
    "pending, new name of the part": (
        attrs.evolve(_PENDING, help=_PENDING.help.replace("unschedulableQ", "unschedulablePods"), stability=STABLE),
    ),
    "end to end, deprecated": _deprecated(
        _end_to_end(f"{_E2E}. This metric is replaced by scheduling_attempt_duration_seconds."), "1.23.0"
    ),
    # --- 1.22 down to 1.19 ---
    "framework, alpha": _alpha(_WITHOUT_REASONS),
    "preemption, alpha, first name": tuple(
        attrs.evolve(metric, name=metric.name.replace("_preemption_victims", "_pod_preemption_victims"))
        for metric in _alpha(_of_fives(GROUPS["preemption, framework"]))
    ),
    "preemption, alpha": _alpha(_of_fives(GROUPS["preemption, framework"])),
    "duration with all attempts, alpha": _alpha(GROUPS["duration with all attempts"]),
    "duration with all attempts, first buckets": tuple(
        attrs.evolve(metric, buckets=SECONDS) for metric in _alpha(GROUPS["duration with all attempts"])
    ),
    "attempts by profile, end to end": (
        *_alpha(_without(GROUPS["attempts by profile"], "scheduling_attempt_duration_seconds")),
        *_end_to_end(_E2E),
    ),
    "last parts, deprecated": _deprecated(_LAST_TIMES, "1.20.0"),
    "parts, deprecated": (
        *_deprecated(_noted((*_SUMMARY, *_named("seconds", *_EVALUATIONS))), "1.19.0"),
        *_LAST_TIMES,
    ),
    "volumes, deprecated": (
        *GROUPS["volumes, framework"],
        *_deprecated(_noted(_named("volumes", "volume_scheduling_duration_seconds")), "1.19.0"),
    ),
    # --- 1.18 and 1.17 ---
    "framework, one profile": _unlabelled(_alpha(_WITHOUT_REASONS), "profile"),
    "duration without attempts": (_PLAIN_TIME,),
    "preemption, first names": tuple(
        attrs.evolve(metric, kind=HISTOGRAM, buckets=_FIVES) if metric.feed is Feed.VICTIMS else metric for metric in GROUPS["preemption"]
    ),
    "framework, first help": tuple(
        attrs.evolve(metric, help="Duration of waiting in RunPermitPlugins.") if metric.feed is Feed.PERMIT else metric
        for metric in _unlabelled(_alpha(_WITHOUT_REASONS), "profile")
    ),
}
"""Name of a group -> its metrics."""
ALL_GROUPS: Mapping[str, tuple[Metric, ...]] = {**GROUPS, **MIDDLE_GROUPS, **NEWER_GROUPS, **CLIENT_GROUPS}
"""The groups of all releases."""
