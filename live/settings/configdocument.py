"""The part of a KubeSchedulerConfiguration that is not about scheduling: the client, the lock, addresses.

Upstream: pkg/scheduler/apis/config and k8s.io/component-base/config, with their defaults.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import attrs

from ...algorithmprovider.files import KIND, configuration_document
from ...api.meaning.durations import duration
from ...api.reading.mismatch import Mismatch
from ...api.reading.typed import ReadBy, read
from ...exceptions import PolicyError


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Mismatch(value, "a number")
    return float(value)


Seconds: TypeAlias = Annotated[float, ReadBy(duration)]


@attrs.frozen(kw_only=True)
class LeaderElection:
    """The key ``leaderElection``. Empty texts and zeros stand for the defaults; times are in seconds."""

    leader_elect: bool = True
    lease_duration: Seconds = 0.0
    renew_deadline: Seconds = 0.0
    retry_period: Seconds = 0.0
    resource_lock: str = ""
    lock_object_name: str = ""
    lock_object_namespace: str = ""
    resource_name: str = ""
    resource_namespace: str = ""


@attrs.frozen(kw_only=True)
class ClientConnection:
    """The key ``clientConnection``."""

    kubeconfig: str = ""
    content_type: str = ""
    accept_content_types: str = ""
    qps: Annotated[float, ReadBy(_number)] = 0
    burst: int = 0


@attrs.frozen(kw_only=True)
class Surroundings:
    """What a configuration says about all that is not scheduling."""

    kind: str = ""
    api_version: str = ""
    scheduler_name: str = ""
    leader_election: LeaderElection = LeaderElection()
    client_connection: ClientConnection = ClientConnection()
    healthz_bind_address: str | None = None
    metrics_bind_address: str | None = None


def load_surroundings(file: str) -> Surroundings:
    """What the configuration in *file* says. Whether the release reads its apiVersion is for the reader of the scheduler's part.

    Raises :class:`~kubeclassic.exceptions.PolicyError` or ``ManifestError``, which say where and what.
    """
    document = configuration_document(file)
    where = document.where
    try:
        found = read(Surroundings, document.data)
    except Mismatch as mismatch:
        raise PolicyError(f"{where}: {mismatch}") from None
    if found.kind != KIND:
        raise PolicyError(f'{where}: kind: expected {KIND}, got "{found.kind}"')
    return found
