"""What a lock says: who holds it, since when, and for how long.

Upstream: client-go, tools/leaderelection/resourcelock.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import attrs

from ...api.wire.goform import go_json

ANNOTATION = "control-plane.alpha.kubernetes.io/leader"


@attrs.frozen
class LeaseRecord:
    """One state of a lock. Its times are those of the holder's clock, so they are not compared with other clocks."""

    holder: str = ""
    """Empty: it is not held."""
    seconds: int = 0
    """How long the lease lasts without being renewed."""
    acquired: datetime | None = None
    renewed: datetime | None = None
    transitions: int = 0
    """How often the leader changed."""


def moment(text: object) -> datetime | None:
    """The time that *text* says in RFC 3339; None for anything else."""
    try:
        found = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def in_seconds(time: datetime | None) -> str | None:
    """A time as metav1.Time: in whole seconds, the rest cut off."""
    return None if time is None else time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def in_micros(time: datetime | None) -> str | None:
    """A time as metav1.MicroTime."""
    return None if time is None else time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _integer(value: object) -> int:
    return value if isinstance(value, int) else 0


# --- an annotation --------------------------------------------------------------------------------------------------


def read_annotation(found: Mapping[str, Any]) -> LeaseRecord:
    """The record in the annotation of an Endpoints or ConfigMap; without one, the lock is free.

    Raises ValueError if it is not JSON.
    """
    text = (found.get("metadata", {}).get("annotations") or {}).get(ANNOTATION)
    data = {} if text is None else json.loads(text)
    if not isinstance(data, dict):
        raise ValueError(f"annotation {ANNOTATION}: got {text}, wanted an object")
    return _read(data, "leaderTransitions")


def write_annotation(found: Mapping[str, Any], record: LeaseRecord) -> dict[str, Any]:
    """The Endpoints or ConfigMap *found* with *record* as its annotation."""
    data = _written(record, in_seconds, "leaderTransitions")
    metadata = found.get("metadata") or {}
    annotations = {**(metadata.get("annotations") or {}), ANNOTATION: go_json(data).decode()}
    return {**found, "metadata": {**metadata, "annotations": annotations}}


# --- a Lease --------------------------------------------------------------------------------------------------------


def read_lease(found: Mapping[str, Any]) -> LeaseRecord:
    """The record in the spec of a Lease."""
    return _read(found.get("spec") or {}, "leaseTransitions")


def write_lease(found: Mapping[str, Any], record: LeaseRecord) -> dict[str, Any]:
    """The Lease *found* with *record* as its spec."""
    return {**found, "spec": _written(record, in_micros, "leaseTransitions")}


# --- what both have -------------------------------------------------------------------------------------------------


def _read(data: Mapping[str, Any], transitions: str) -> LeaseRecord:
    """The record that *data* holds, with how often the leader changed under the key *transitions*."""
    return LeaseRecord(
        str(data.get("holderIdentity") or ""), _integer(data.get("leaseDurationSeconds")),
        moment(data.get("acquireTime")), moment(data.get("renewTime")), _integer(data.get(transitions)),
    )  # fmt: skip


def _written(record: LeaseRecord, time: Callable[[datetime | None], str | None], transitions: str) -> dict[str, Any]:
    return {
        "holderIdentity": record.holder, "leaseDurationSeconds": record.seconds, "acquireTime": time(record.acquired),
        "renewTime": time(record.renewed), transitions: record.transitions,
    }  # fmt: skip
