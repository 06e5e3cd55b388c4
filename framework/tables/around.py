"""What the releases 1.25 down to 1.17 are around a decision: the queue, the clients of the API server, what is written to it.

Each value is told as changes of that of a later release.

Upstream: pkg/scheduler/internal/queue, pkg/scheduler/scheduler.go; client-go (tools/cache/reflector.go, rest/request.go).
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import attrs

from ...algorithmprovider import cells
from ...core.release import ClientCells
from ..queue.releasetable import QUEUEING
from . import newer


def _listing(later: ClientCells, *without: str, **changed: str) -> MappingProxyType[str, str]:
    """The kinds that a release lists: those of the *later* one *without* some, and with other versions of the *changed* ones."""
    found = {**later.resources, **changed}
    return MappingProxyType({kind: version for kind, version in found.items() if kind not in without})


# --- clients --------------------------------------------------------------------------------------------------------

_CLIENT_1_23 = attrs.evolve(
    newer.V1_27.client,
    resources=_listing(newer.V1_27.client, CSIStorageCapacity="storage.k8s.io/v1beta1"),
)
_CLIENT_1_21 = attrs.evolve(_CLIENT_1_23, resources=_listing(_CLIENT_1_23, "Namespace"), rewatches_limited=False, resends_watches=False)
_CLIENT_1_20 = attrs.evolve(
    _CLIENT_1_21, resources=_listing(_CLIENT_1_21, "CSIDriver", "CSIStorageCapacity", PodDisruptionBudget="policy/v1beta1")
)
_CLIENT_1_19 = attrs.evolve(_CLIENT_1_20, pod_selector=cells.FIRST_CLIENT.pod_selector, pods_send_duration=False)
_CLIENT_1_18 = attrs.evolve(_CLIENT_1_19, attempts=cells.FIRST_CLIENT.attempts)
_CLIENT_1_17 = attrs.evolve(_CLIENT_1_18, pauses=cells.FIRST_CLIENT.pauses, relists_from_last=False, resends_reads=False)

# --- the queue ------------------------------------------------------------------------------------------------------

_QUEUE_1_23 = attrs.evolve(newer.V1_27.queue, parked_at_most=60.0)
_QUEUE_1_21 = attrs.evolve(_QUEUE_1_23, finalizers_count=True)
_QUEUE_1_20 = attrs.evolve(
    _QUEUE_1_21,
    update_ends_backoff=True,
    refusals=(
        "pod: {} is already present in unschedulable queue",
        "pod: {} is already present in the active queue",
        "pod {} is already present in the backoff queue",
    ),
)
_QUEUE_1_18 = attrs.evolve(_QUEUE_1_20, skips_condition_updates=False)
_QUEUE_1_17 = attrs.evolve(
    _QUEUE_1_20,
    backoff_forget_after=20.0,
    refusals=(
        "pod is already present in unschedulableQ",
        "pod is already present in the activeQ",
        "pod is already present in the backoffQ",
    ),
)

_NOMINATIONS_1_23 = attrs.evolve(newer.V1_27.nominations, empty_name_counts=False, placed_are_nominated=True)
_NOMINATIONS_1_21 = attrs.evolve(_NOMINATIONS_1_23, asks_lister=False)
"""1.20 asks the lister, as 1.22 does; 1.19 and older do not."""

# --- what is written ------------------------------------------------------------------------------------------------

_LIVE_1_25 = attrs.evolve(newer.V1_27.live, preempted_text="Preempted by {pod} on node {node}")
_LIVE_1_24 = attrs.evolve(_LIVE_1_25, assumed_pods_expire=900.0)
_LIVE_1_22 = attrs.evolve(_LIVE_1_24, assumed_pods_expire=120.0)
_LIVE_1_19 = attrs.evolve(_LIVE_1_22, assumed_pods_expire=30.0)

_CHANGED: dict[str, dict[str, Any]] = {
    "1.25": {"live": _LIVE_1_25},
    "1.24": {"live": _LIVE_1_24},
    "1.23": {"queue": _QUEUE_1_23, "queueing": QUEUEING["1.23"], "client": _CLIENT_1_23, "nominations": _NOMINATIONS_1_23},
    "1.22": {"queueing": QUEUEING["1.22"], "live": _LIVE_1_22},
    "1.21": {"queue": _QUEUE_1_21, "queueing": QUEUEING["1.21"], "client": _CLIENT_1_21, "nominations": _NOMINATIONS_1_21},
    "1.20": {"queue": _QUEUE_1_20, "queueing": QUEUEING["1.20"], "client": _CLIENT_1_20, "nominations": _NOMINATIONS_1_23},
    "1.19": {"client": _CLIENT_1_19, "live": _LIVE_1_19, "nominations": _NOMINATIONS_1_21},
    "1.18": {"queue": _QUEUE_1_18, "client": _CLIENT_1_18},
    "1.17": {"queue": _QUEUE_1_17, "client": _CLIENT_1_17},
}


def of(version: str) -> dict[str, Any]:
    """The fields of a release that are otherwise than in the release after it."""
    return _CHANGED[version]
