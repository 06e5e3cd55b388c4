"""Does the node ask to avoid pods of this controller?"""

from __future__ import annotations

import json
from datetime import datetime
from functools import lru_cache
from typing import Annotated, Any

import msgspec
import numpy as np

from .rule import MAX_PRIORITY, Batch, Cycle, Reads, Scores, Template, priority

Controller = tuple[str, str]
"""Kind and UID."""
RECEIVED_KINDS = ("ReplicationController", "ReplicaSet")


def _controller(pod: Template) -> Controller | None:
    """The controller of *pod* that nodes may ask to avoid; None where it is of another kind or absent."""
    owner = pod.pod.controller
    return (owner.kind, owner.uid) if owner is not None and owner.kind in RECEIVED_KINDS else None


@priority("NodePreferAvoidPodsPriority", reads=Reads.NODE, key=_controller)
def node_prefer_avoid_pods(pod: Template, nodes: Batch, cycle: Cycle) -> Scores:
    """Prefer, by far, nodes whose annotation preferAvoidPods does not name *pod*'s replication controller or
    replica set.

    Upstream: pkg/scheduler/algorithm/priorities/node_prefer_avoid_pods.go
    CalculateNodePreferAvoidPodsPriorityMap.
    """
    controller = _controller(pod)
    if controller is None:
        return np.full(nodes.n, MAX_PRIORITY, np.int64)
    return nodes.avoid.where(
        lambda annotation: 0 if controller in avoided_controllers(annotation or "") else MAX_PRIORITY,
        np.int64,
    )


# --- the annotation -----------------------------------------------------------------------------------------

_TIME = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)\Z"
# The fields, by their names in lower case. A null is valid for every field, and unknown fields may have any
# type.
Flag = bool | None
Text = str | None


class Owner(msgspec.Struct):
    """The owner of pods that the node asks to avoid."""

    apiversion: Text = None
    kind: Text = None
    name: Text = None
    uid: Text = None
    controller: Flag = None
    blockownerdeletion: Flag = None


class Signature(msgspec.Struct):
    """The pods that an entry asks to avoid."""

    podcontroller: Owner | None = None


class AvoidEntry(msgspec.Struct):
    """One entry of the annotation."""

    podsignature: Signature | None = None
    evictiontime: Annotated[str, msgspec.Meta(pattern=_TIME)] | None = None
    reason: Text = None
    message: Text = None

    def __post_init__(self) -> None:
        if self.evictiontime is not None:
            datetime.fromisoformat(self.evictiontime)


class AvoidPods(msgspec.Struct):
    """The whole annotation."""

    preferavoidpods: list[AvoidEntry | None] | None = None


@lru_cache(maxsize=1 << 12)
def avoided_controllers(annotation: str) -> frozenset[Controller]:
    """The controllers that an annotation preferAvoidPods names; none where it cannot be decoded.

    Upstream: pkg/apis/core/v1/helper/helpers.go GetAvoidPodsFromNodeAnnotations.
    """
    try:
        decoded = json.loads(
            annotation, object_pairs_hook=_with_folded_names, parse_int=float, parse_constant=_refuse_constant
        )
        # Upstream: one field of a wrong type makes the whole annotation invalid.
        avoid_pods = msgspec.convert(decoded, AvoidPods | None) or AvoidPods()
    except (ValueError, RecursionError):
        return frozenset()
    signatures = [entry.podsignature for entry in avoid_pods.preferavoidpods or () if entry is not None]
    # An entry without podController names no owner here; the original crashes.
    owners = [signature.podcontroller for signature in signatures if signature is not None]
    return frozenset((owner.kind or "", owner.uid or "") for owner in owners if owner is not None)


def _with_folded_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The fields by key in lower case. Upstream: case does not count, the long s included; of several the
    last counts."""
    return {key.lower().replace("\u017f", "s"): value for key, value in pairs}


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
