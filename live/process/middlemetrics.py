"""The metrics that only some releases show, or show otherwise than 1.27, and those of the client, the build and the gates, in groups as in
:mod:`.metrictables`.

A metric is hidden from the minor release on that comes after the one that deprecated it. So it is in the group of that one release alone.

Upstream: pkg/scheduler/metrics/metrics.go, the metrics of the volume binder, component-base/metrics (prometheus/restclient,
prometheus/feature, version.go), before that pkg/client/metrics/prometheus and pkg/version/prometheus.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from .metrictables import COUNTER, GAUGE, GROUPS, HISTOGRAM, SECONDS, STABLE, Feed, Metric, camel, powers

_URL, _HOST = ("verb", "url"), ("verb", "host")
_SHORT = powers(0.001, 2, 10)
_LONG = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)
_SIZES = (64.0, 256.0, 512.0, 1024.0, 4096.0, 16384.0, 65536.0, 262144.0, 1048576.0, 4194304.0, 16777216.0)
_BY_URL, _BY_HOST = "Broken down by verb and URL.", "Broken down by verb, and host."
_BUILD = (
    "A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree state, build date, Go version, and "
    "compiler from which Kubernetes was built, and platform on which it is running."
)
BUILD_LABELS = ("major", "minor", "git_version", "git_commit", "git_tree_state", "build_date", "go_version", "compiler", "platform")
_FEATURES = "This metric records the data about the stage and enablement of a k8s feature."


def _client(name: str, help: str, feed: Feed, labels: tuple[str, ...], buckets: tuple[float, ...]) -> Metric:
    return Metric(f"rest_client_{name}", HISTOGRAM, help, feed, labels, buckets)


def _without_stability(*metrics: Metric) -> tuple[Metric, ...]:
    return tuple(attrs.evolve(metric, stability="") for metric in metrics)


_RESULTS = Metric(
    "rest_client_requests_total",
    COUNTER,
    "Number of HTTP requests, partitioned by status code, method, and host.",
    Feed.REQUEST,
    ("code", "host", "method"),
)
_FIRST_LATENCY = _client("request_latency_seconds", f"Request latency in seconds. {_BY_URL}", Feed.REQUEST_TIME, _URL, _SHORT)
_BY_PREFIX = _client("request_duration_seconds", _FIRST_LATENCY.help, Feed.REQUEST_TIME, _URL, _SHORT)
_BY_TEMPLATE = attrs.evolve(_BY_PREFIX, feed=Feed.TEMPLATE_TIME)
_WAITS = "Client side rate limiter latency in seconds."

CLIENT_GROUPS: Mapping[str, tuple[Metric, ...]] = {
    "client, first name": _without_stability(_RESULTS, _FIRST_LATENCY),
    "client, both names": _without_stability(
        _RESULTS, _BY_PREFIX, attrs.evolve(_FIRST_LATENCY, help=f"(Deprecated) {_FIRST_LATENCY.help}")
    ),
    "client, by prefix": (_RESULTS, _BY_PREFIX),
    "client, by URL": (_RESULTS, _BY_TEMPLATE),
    "client, by URL, with waits": (
        *(_RESULTS, _BY_TEMPLATE),
        _client("rate_limiter_duration_seconds", f"{_WAITS} {_BY_URL}", Feed.TEMPLATE_WAIT, _URL, _SHORT),
    ),
    "client": (
        _RESULTS,
        _client("request_duration_seconds", f"Request latency in seconds. {_BY_HOST}", Feed.REQUEST_TIME, _HOST, _LONG),
        _client("rate_limiter_duration_seconds", f"{_WAITS} {_BY_HOST}", Feed.WAIT, _HOST, _LONG),
        _client("request_size_bytes", "Request size in bytes. Broken down by verb and host.", Feed.REQUEST_SIZE, _HOST, _SIZES),
        _client("response_size_bytes", "Response size in bytes. Broken down by verb and host.", Feed.ANSWER_SIZE, _HOST, _SIZES),
    ),
    "client, with retries": (
        Metric(
            "rest_client_request_retries_total",
            COUNTER,
            "Number of request retries, partitioned by status code, verb, and host.",
            Feed.RETRY,
            ("code", "verb", "host"),
        ),
    ),
    "build, first labels": (Metric("kubernetes_build_info", GAUGE, _BUILD, Feed.BUILD, tuple(map(camel, BUILD_LABELS))),),
    "build": (Metric("kubernetes_build_info", GAUGE, _BUILD, Feed.BUILD, BUILD_LABELS),),
    "features, alpha": (Metric("kubernetes_feature_enabled", GAUGE, _FEATURES, Feed.GATE, ("name", "stage")),),
    "features": (Metric("kubernetes_feature_enabled", GAUGE, _FEATURES, Feed.GATE, ("name", "stage"), stability="BETA"),),
}
"""Name of a group -> its metrics."""


_ALL, _SINCE = GROUPS["duration with all attempts"][0], GROUPS["duration since the first attempt"][0]
_POINTS = "(available only in PreFilter, Filter, PreScore, and Score)."

NEWER_GROUPS: Mapping[str, tuple[Metric, ...]] = {
    "duration with all attempts, deprecated": (attrs.evolve(_ALL, help=f"(Deprecated since 1.29.0) {_ALL.help}"),),
    # Upstream: the text has this gap in it.
    "duration since the first attempt, first help": (attrs.evolve(_SINCE, help=_SINCE.help.replace("queue and", "queue an d")),),
    "framework, four points": tuple(
        attrs.evolve(metric, help=f"{metric.help.partition('(')[0]}{_POINTS}") if metric.feed is Feed.EVALUATION else metric
        for metric in GROUPS["framework"]
    ),
    "preemption in the background": (
        Metric(
            "scheduler_preemption_goroutines_duration_seconds", HISTOGRAM, "Duration in seconds for running goroutines for the preemption.",
            Feed.BACKGROUND_TIME, ("result",), powers(0.01, 2, 20),
        ),
        Metric(
            "scheduler_preemption_goroutines_execution_total", COUNTER, "Number of preemption goroutines executed.", Feed.BACKGROUND,
            ("result",),
        ),
    ),
}  # fmt: skip
"""Name of a group -> its metrics."""


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
