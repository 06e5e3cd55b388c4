"""In what releases differ around the scheduler: leader election, events, endpoints, metrics and flags."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import attrs

PLUGINS, PROFILE_PERCENTAGE = "Plugins with defaults", "PercentageOfNodesToScore of a profile"
OPTIONAL_FIELDS = (
    *("AlgorithmSource", "DisablePreemption", "BindTimeoutSeconds", "Parallelism", "HealthzBindAddress", "MetricsBindAddress"),
    *("DelayCacheUntilActive", PLUGINS, PROFILE_PERCENTAGE),
)
"""What only some releases have of a configuration with profiles, as ``/configz`` shows it."""


@attrs.frozen(kw_only=True)
class LeaderCells:
    """How replicas elect a leader."""

    locks: tuple[str, ...]
    """The values of ``--leader-elect-resource-lock``."""
    default_lock: str
    removed_locks: Mapping[str, str] = attrs.field(factory=dict)
    """Values that were locks once -> what is said now."""
    request_timeout: Callable[[float], float]
    """(renew deadline) -> how long a request for the lock may take, in seconds."""
    free_without_holder: bool
    """A lock that names no holder is free at once; else its lease has to run out."""
    lease_of_record: bool
    """A lease runs as long as the record says; else as long as one's own setting."""
    releases: bool
    """A leader that is stopped gives the lock back, and says that it stopped leading."""


@attrs.frozen(kw_only=True)
class EventCells:
    """In which form events of pods are sent."""

    group: str
    """The API group and version of events with series, such as ``events.k8s.io/v1``; empty: core/v1 with counts."""
    first_count: int = 2
    """The count of a series when it begins."""
    has_state: bool = False
    """A series is sent with an empty ``state``."""
    names_source: bool = False
    """The reporting controller is named once more, as ``deprecatedSource``."""
    tells_types_apart: bool = True
    """Events that differ in nothing but their type are two series."""
    creates_again: bool = True
    """A series whose event is gone is sent again if another one creates the event at the same time."""
    names_reporter: bool
    """Core events name the reporting component."""


@attrs.frozen(kw_only=True)
class ServingCells:
    """What a scheduler answers over HTTP."""

    port: int
    """Of plain HTTP, unless ``--port`` says otherwise; 0: the release has none."""
    secure_port: int
    """Of HTTPS, unless ``--secure-port`` says otherwise; 0: the release has none."""
    caching_header: bool
    """Answers say ``Cache-Control: no-cache, private``."""


@attrs.frozen(kw_only=True)
class LiveRelease:
    """All that differs around the scheduler in one release."""

    version: str
    leader: LeaderCells
    events: EventCells
    serving: ServingCells
    metrics: tuple[str, ...]
    """Names of the groups of metrics; see :mod:`..process.metrictables` and :mod:`..process.middlemetrics`."""
    client_metrics: tuple[str, ...]
    """The same of metrics about the client, the build and the gates."""
    stability: bool
    """The help of a metric begins with its stability, such as ``[ALPHA]``."""
    flags: tuple[str, ...]
    """The flags of kube-scheduler in this release that mean something here; see :mod:`.flagtable`."""
    config_versions: tuple[str, ...]
    """The apiVersions of a KubeSchedulerConfiguration."""
    config_flags: bool
    """Flags for leader election count beside ``--config``; else the file alone does, but for ``--master``."""
    config_profiles: bool
    """The configuration has profiles; else the name of one scheduler."""
    config_fields: tuple[str, ...] = ()
    """Those of :data:`OPTIONAL_FIELDS` that the configuration of the release has."""


def whole(deadline: float) -> float:
    """The time-out of a request for the lock: the renew deadline."""
    return deadline


def half(deadline: float) -> float:
    """The time-out of a request for the lock: half of the renew deadline, but a second at least."""
    return max(1.0, deadline / 2)
