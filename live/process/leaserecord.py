"""What a lock says: who holds it, since when, and for how long.

Upstream: client-go, tools/leaderelection/resourcelock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

import attrs
import msgspec

from ...api.wire.goform import go_json
from ..client.replies import metadata_of

_Int32 = Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)]
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
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def in_seconds(time: datetime | None) -> str | None:
    """A time as metav1.Time: in whole seconds, the rest cut off."""
    return None if time is None else time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def in_micros(time: datetime | None) -> str | None:
    """A time as metav1.MicroTime."""
    return None if time is None else time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


# --- an annotation --------------------------------------------------------------------------------------------------


def read_annotation(found: Mapping[str, Any]) -> LeaseRecord:
    """The record in the annotation of an Endpoints or ConfigMap; without one, the lock is free.

    Raises ValueError if it has another form.
    """
    text = msgspec.convert(metadata_of(found).get("annotations") or {}, dict[str, str]).get(ANNOTATION)
    if text is None:
        return LeaseRecord()
    try:
        return _record(msgspec.json.decode(text, type=_Written))
    except RecursionError:
        raise ValueError(f"annotation {ANNOTATION}: got JSON that is nested too deeply") from None


def write_annotation(found: Mapping[str, Any], record: LeaseRecord) -> dict[str, Any]:
    """The Endpoints or ConfigMap *found* with *record* as its annotation."""
    data = _written(record, in_seconds, "leaderTransitions")
    metadata = metadata_of(found)
    annotations = {**(metadata.get("annotations") or {}), ANNOTATION: go_json(data).decode()}
    return {**found, "metadata": {**metadata, "annotations": annotations}}


# --- a Lease --------------------------------------------------------------------------------------------------------


def read_lease(found: Mapping[str, Any]) -> LeaseRecord:
    """The record in the spec of a Lease. Raises ValueError if it has another form."""
    return _record(msgspec.convert(found.get("spec") or {}, _Written))


def write_lease(found: Mapping[str, Any], record: LeaseRecord) -> dict[str, Any]:
    """The Lease *found* with *record* as its spec."""
    return {**found, "metadata": metadata_of(found), "spec": _written(record, in_micros, "leaseTransitions")}


# --- what both have -------------------------------------------------------------------------------------------------


class _Written(msgspec.Struct, rename="camel"):
    """A record as it is written: in an annotation with the transitions of a leader, in a Lease with those of a lease."""

    holder_identity: str | None = None
    lease_duration_seconds: _Int32 | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    leader_transitions: _Int32 | None = None
    lease_transitions: _Int32 | None = None


def _record(found: _Written) -> LeaseRecord:
    return LeaseRecord(
        found.holder_identity or "", found.lease_duration_seconds or 0, moment(found.acquire_time), moment(found.renew_time),
        found.leader_transitions or found.lease_transitions or 0,
    )  # fmt: skip


def _written(record: LeaseRecord, time: Callable[[datetime | None], str | None], transitions: str) -> dict[str, Any]:
    return {
        "holderIdentity": record.holder, "leaseDurationSeconds": record.seconds, "acquireTime": time(record.acquired),
        "renewTime": time(record.renewed), transitions: record.transitions,
    }  # fmt: skip
