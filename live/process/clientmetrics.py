"""The metrics of the client of the API server, of the build and of feature gates, in groups as in :mod:`.metrictables`.

Upstream: component-base/metrics (prometheus/restclient, prometheus/feature, version.go), before that pkg/client/metrics/prometheus and
pkg/version/prometheus.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from .metrictables import COUNTER, GAUGE, HISTOGRAM, Feed, Metric, camel, powers

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
