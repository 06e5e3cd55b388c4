"""The releases around the scheduler: in what they differ there, as changes over the one before."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import attrs

from . import flagtable
from .cells import PLUGINS, PROFILE_PERCENTAGE, EventCells, LeaderCells, LiveRelease, ServingCells, half, whole

_GROUP = "kubescheduler.config.k8s.io"
_CACHE_NAMES = {"cache size, first name": "cache size"}

V1_12 = LiveRelease(
    version="1.12",
    leader=LeaderCells(
        locks=("endpoints", "configmaps"),
        default_lock="endpoints",
        request_timeout=whole,
        free_without_holder=False,
        lease_of_record=False,
        releases=False,
    ),
    events=EventCells(group="", names_reporter=False),
    serving=ServingCells(port=10251, secure_port=0, caching_header=False),
    metrics=("summary by operation, first name", "microseconds", "preemption", "equivalence cache"),
    client_metrics=("client, first name", "build, first labels"),
    stability=False,
    flags=(*flagtable.EVERY, *flagtable.KLOG, *flagtable.CLASSIC, *flagtable.LOCK_OBJECT, *flagtable.INSECURE, "failure-domains"),
    config_versions=(f"{_GROUP}/v1alpha1", "componentconfig/v1alpha1"),
    config_flags=False,
    config_profiles=False,
)
V1_13 = attrs.evolve(
    V1_12,
    version="1.13",
    serving=attrs.evolve(V1_12.serving, secure_port=10259),
    metrics=("summary by operation, first name", "microseconds", "preemption", "equivalence cache", "attempts", "volumes"),
    flags=(*V1_12.flags, *flagtable.SECURE),
    config_versions=(f"{_GROUP}/v1alpha1",),
)
V1_14 = attrs.evolve(
    V1_13,
    version="1.14",
    leader=attrs.evolve(V1_13.leader, locks=("endpoints", "configmaps", "leases"), free_without_holder=True),
    metrics=(
        "summary by operation",
        "summary by operation, deprecated",
        "seconds",
        "microseconds, deprecated",
        "preemption",
        "attempts",
        "volumes",
        "leader",
    ),
    client_metrics=("client, both names", "build, first labels"),
)
V1_15 = attrs.evolve(
    V1_14,
    version="1.15",
    metrics=(*V1_14.metrics, "pending"),
    flags=tuple(flag for flag in V1_14.flags if flag != "failure-domains"),
)
V1_16 = attrs.evolve(
    V1_15,
    version="1.16",
    events=EventCells(
        group="events.k8s.io/v1beta1",
        first_count=1,
        has_state=True,
        names_source=True,
        tells_types_apart=False,
        creates_again=False,
        names_reporter=False,
    ),
    stability=True,
)
_BOTH_LOCKS = ("endpointsleases", "configmapsleases")
_ADDRESSES = ("HealthzBindAddress", "MetricsBindAddress")
_FIRST_NAMES = ("preemption, first names", "attempts", "pending", "volumes", "leader", "cache size, first name")

V1_17 = attrs.evolve(
    V1_16,
    version="1.17",
    leader=attrs.evolve(V1_16.leader, locks=(*V1_16.leader.locks, *_BOTH_LOCKS), default_lock="endpointsleases"),
    serving=attrs.evolve(V1_16.serving, caching_header=True),
    metrics=("summary by operation", "seconds", "framework, first help", "duration without attempts", *_FIRST_NAMES),
    client_metrics=("client, by prefix", "build, first labels"),
    flags=(*V1_16.flags, *flagtable.RESOURCE_NAME, "show-hidden-metrics-for-version"),
)
V1_18 = attrs.evolve(
    V1_17,
    version="1.18",
    metrics=("summary by operation", "seconds", "framework, one profile", "duration without attempts", *_FIRST_NAMES),
    config_versions=(f"{_GROUP}/v1alpha2", f"{_GROUP}/v1alpha1"),
    config_profiles=True,
    config_fields=("AlgorithmSource", "DisablePreemption", "BindTimeoutSeconds", *_ADDRESSES),
)
V1_19 = attrs.evolve(
    V1_18,
    version="1.19",
    events=EventCells(group="events.k8s.io/v1", first_count=1, tells_types_apart=False, creates_again=False, names_reporter=False),
    metrics=(
        *("parts, deprecated", "framework, alpha", "duration with all attempts, first buckets", "attempts by profile, end to end"),
        *("preemption, alpha, first name", "pending", "volumes, deprecated", "leader", "cache size, first name"),
    ),
    client_metrics=("client, by prefix", "build"),
    flags=(*V1_18.flags, "logging-format", "permit-port-sharing"),
    config_versions=(f"{_GROUP}/v1beta1",),
    config_fields=("AlgorithmSource", *_ADDRESSES),
)
V1_20 = attrs.evolve(
    V1_19,
    version="1.20",
    leader=attrs.evolve(V1_19.leader, default_lock="leases"),
    metrics=(
        *("last parts, deprecated", "framework, alpha", "duration with all attempts, alpha", "attempts by profile, end to end"),
        *("preemption, alpha", "pending", "volumes, framework", "leader", "cache size, first name"),
    ),
    client_metrics=("client, by URL", "build"),
    flags=(*V1_19.flags, "experimental-logging-sanitization"),
    config_fields=("Parallelism", "AlgorithmSource", *_ADDRESSES),
)
V1_21 = attrs.evolve(
    V1_20,
    version="1.21",
    leader=attrs.evolve(V1_20.leader, request_timeout=half),
    metrics=tuple(group for group in V1_20.metrics if group != "last parts, deprecated"),
    flags=(*V1_20.flags, "permit-address-sharing", *flagtable.CHOSEN_METRICS),
)
V1_22 = attrs.evolve(
    V1_21,
    version="1.22",
    leader=attrs.evolve(V1_21.leader, releases=True),
    client_metrics=("client, by URL, with waits", "build"),
    flags=tuple(flag for flag in V1_21.flags if flag not in flagtable.ALGORITHM),
    config_versions=(f"{_GROUP}/v1beta2", f"{_GROUP}/v1beta1"),
    config_flags=True,
    config_fields=("Parallelism", *_ADDRESSES, PLUGINS),
)
V1_23 = attrs.evolve(
    V1_22,
    version="1.23",
    serving=attrs.evolve(V1_22.serving, port=0),
    metrics=(
        *("framework, without reasons", "duration with all attempts", "end to end, deprecated", "attempts by profile"),
        *("preemption, by fives", "pending, stable", "volumes, framework", "leader", "cache size, first name"),
    ),
    flags=(*(flag for flag in V1_22.flags if flag not in flagtable.CLASSIC), *flagtable.JSON_STREAMS),
    config_versions=(f"{_GROUP}/v1beta3", f"{_GROUP}/v1beta2"),
)
V1_24 = attrs.evolve(
    V1_23,
    version="1.24",
    leader=attrs.evolve(
        V1_23.leader,
        locks=("leases", *_BOTH_LOCKS),
        removed_locks={
            "endpoints": "endpoints lock is removed, migrate to endpointsleases",
            "configmaps": "configmaps lock is removed, migrate to configmapsleases",
        },
    ),
    metrics=(
        *("framework, with reasons", "duration with all attempts", "attempts by profile"),
        *("preemption, by fives", "pending, new name of the part", "volumes, framework", "leader", "cache size, first name"),
    ),
    client_metrics=("client", "build"),
    flags=(
        *(flag for flag in V1_23.flags if flag not in (*flagtable.INSECURE, "experimental-logging-sanitization")),
        "pod-max-in-unschedulable-pods-duration",
    ),
)
V1_25 = attrs.evolve(V1_24, version="1.25", config_versions=(f"{_GROUP}/v1", *V1_24.config_versions))
V1_26 = attrs.evolve(
    V1_25,
    version="1.26",
    metrics=(
        *("duration with all attempts", "framework, two counts of tasks", "attempts by profile", "preemption, framework"),
        *("pending, framework", "volumes, framework", "leader", "cache size, first name"),
    ),
    client_metrics=("client", "build", "features, alpha"),
    flags=tuple(flag for flag in V1_25.flags if flag not in flagtable.KLOG),
    config_fields=(*V1_25.config_fields, PROFILE_PERCENTAGE),
)
V1_27 = attrs.evolve(
    V1_26,
    version="1.27",
    leader=attrs.evolve(V1_26.leader, lease_of_record=True),
    events=EventCells(group="events.k8s.io/v1", names_reporter=True),
    client_metrics=(*V1_26.client_metrics, "client, with retries"),
    metrics=tuple("framework" if group == "framework, two counts of tasks" else group for group in V1_26.metrics),
)
V1_28 = attrs.evolve(
    V1_27,
    version="1.28",
    leader=attrs.evolve(
        V1_27.leader,
        locks=("leases",),
        removed_locks={
            "endpoints": "endpoints lock is removed, migrate to leases",
            "configmaps": "configmaps lock is removed, migrate to leases",
            "endpointsleases": "endpointsleases lock is removed, migrate to leases",
            "configmapsleases": "configmapsleases lock is removed, migrated to leases",
        },
    ),
    client_metrics=("client", "client, with retries", "build", "features"),
    config_versions=(f"{_GROUP}/v1", f"{_GROUP}/v1beta3"),
    config_fields=(*V1_27.config_fields, "DelayCacheUntilActive"),
)
V1_29 = attrs.evolve(
    V1_28,
    version="1.29",
    metrics=(
        *(group for group in V1_28.metrics if group != "duration with all attempts"),
        *("duration with all attempts, deprecated", "duration since the first attempt, first help"),
    ),
    flags=tuple(flag for flag in V1_28.flags if flag not in flagtable.LOCK_OBJECT),
    config_versions=(f"{_GROUP}/v1",),
)
_V1_30_METRICS = {"framework": "framework, four points", "duration with all attempts, deprecated": None}
V1_30 = attrs.evolve(
    V1_29,
    version="1.30",
    metrics=tuple(name for group in V1_29.metrics if (name := _V1_30_METRICS.get(group, group)) is not None),
    config_fields=tuple(field for field in V1_29.config_fields if field not in _ADDRESSES),
)
V1_31 = attrs.evolve(
    V1_30,
    version="1.31",
    metrics=tuple("duration since the first attempt" if group.endswith("attempt, first help") else group for group in V1_30.metrics),
    flags=(*V1_30.flags, *flagtable.TEXT_STREAMS, "emulated-version"),
)
V1_32 = attrs.evolve(V1_31, version="1.32", metrics=(*V1_31.metrics, "preemption in the background"))
V1_33 = attrs.evolve(V1_32, version="1.33")
V1_34 = attrs.evolve(V1_33, version="1.34", metrics=tuple(_CACHE_NAMES.get(group, group) for group in V1_33.metrics))

LIVE_RELEASES: Mapping[str, LiveRelease] = MappingProxyType(
    {
        release.version: release
        for release in (
            *(V1_12, V1_13, V1_14, V1_15, V1_16, V1_17, V1_18, V1_19, V1_20, V1_21, V1_22, V1_23),
            *(V1_24, V1_25, V1_26, V1_27, V1_28, V1_29, V1_30, V1_31, V1_32, V1_33, V1_34),
        )
    }
)
"""Version -> release, oldest first: as many as there are schedulers."""
