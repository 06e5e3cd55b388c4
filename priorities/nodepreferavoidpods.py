"""Does the node ask to avoid pods of this controller?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from typing import Any

import numpy as np

from ..core.arrays.batch import Batch
from ..core.arrays.types import Scores
from ..core.cycle import Cycle
from ..core.pods.template import Template
from ..core.rule import Reads
from .rule import MAX_PRIORITY, priority

Controller = tuple[str, str]
"""Kind and UID."""
RECEIVED_KINDS = ("ReplicationController", "ReplicaSet")


def _controller(pod: Template) -> Controller | None:
    """The controller of *pod* that nodes may ask to avoid; None where it is of another kind or absent."""
    owner = pod.pod.metadata.controller
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

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
_OWNER = {
    "apiversion": str,
    "kind": str,
    "name": str,
    "uid": str,
    "controller": bool,
    "blockownerdeletion": bool,
}
_ENTRY = {"podsignature": {"podcontroller": _OWNER}, "evictiontime": _TIME, "reason": str, "message": str}
_AVOID_PODS = {"preferavoidpods": [_ENTRY]}
"""The type of each field, by its name in lower case; other fields may have any type."""


@lru_cache(maxsize=1 << 12)
def avoided_controllers(annotation: str) -> frozenset[Controller]:
    """The controllers that an annotation preferAvoidPods names; none where it cannot be decoded.

    Upstream: pkg/apis/core/v1/helper/helpers.go GetAvoidPodsFromNodeAnnotations.
    """
    try:
        decoded = json.loads(annotation, object_pairs_hook=_folded, parse_int=float, parse_constant=_refused)
    except (ValueError, RecursionError):
        return frozenset()
    # Upstream: one field of a wrong type makes the whole annotation invalid.
    return frozenset(_named(decoded)) if _fits(decoded, _AVOID_PODS) else frozenset()


def _folded(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Upstream: keys are compared without regard to case, the long s included; of several the last counts."""
    return {key.lower().replace("\u017f", "s"): value for key, value in pairs}


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _fits(value: Any, wanted: Any) -> bool:
    """Whether a decoded value has the type *wanted*; null has every type."""
    if value is None:
        return True
    match wanted:
        case dict():
            return isinstance(value, dict) and all(
                _fits(value[key], kind) for key, kind in wanted.items() if key in value
            )
        case [kind]:
            return isinstance(value, list) and all(_fits(item, kind) for item in value)
        case re.Pattern():
            return isinstance(value, str) and wanted.fullmatch(value) is not None and _is_a_date(value)
    return isinstance(value, wanted)


def _is_a_date(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _named(avoid_pods: dict[str, Any] | None) -> Iterator[Controller]:
    for entry in _field(avoid_pods, "preferavoidpods") or ():
        # An entry without podController names no owner here; the original crashes.
        if (owner := _field(_field(entry, "podsignature"), "podcontroller")) is not None:
            yield _field(owner, "kind") or "", _field(owner, "uid") or ""


def _field(value: dict[str, Any] | None, key: str) -> Any:
    return None if value is None else value.get(key)
