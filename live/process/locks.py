"""The Lease that names the leader, since when and for how long.

Two writers cannot both succeed: each sends the object's resourceVersion back, and the API server refuses the second one with 409.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import attrs
import msgspec

from ..client.api import Api, Retries
from ..client.replies import ApiError, Int32, metadata_of
from ..client.resources import resource
from ..client.transport import Transport
from ..scheduler.events import Reference

LEASES, ONCE = resource("Lease", "coordination.k8s.io/v1"), Retries(attempts=1)


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


class _Spec(msgspec.Struct, rename="camel"):
    """The spec of a Lease."""

    holder_identity: str | None = None
    lease_duration_seconds: Int32 | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: Int32 | None = None


def moment(text: object) -> datetime | None:
    """The time that *text* says in RFC 3339; None for anything else."""
    try:
        found = datetime.fromisoformat(str(text))
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def in_micros(time: datetime | None) -> str | None:
    """A time as the API writes it, in microseconds."""
    return None if time is None else time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def read_lease(found: Mapping[str, Any]) -> LeaseRecord:
    """The record in the spec of a Lease. Raises ValueError if it has another form."""
    spec = msgspec.convert(found.get("spec") or {}, _Spec)
    return LeaseRecord(
        spec.holder_identity or "", spec.lease_duration_seconds or 0, moment(spec.acquire_time), moment(spec.renew_time),
        spec.lease_transitions or 0,
    )  # fmt: skip


def write_lease(found: Mapping[str, Any], record: LeaseRecord) -> dict[str, Any]:
    """The Lease *found* with *record* in its spec."""
    spec = {
        "holderIdentity": record.holder, "leaseDurationSeconds": record.seconds, "acquireTime": in_micros(record.acquired),
        "renewTime": in_micros(record.renewed), "leaseTransitions": record.transitions,
    }  # fmt: skip
    named = {"kind": LEASES.kind, "apiVersion": LEASES.group_version}
    return {**found, **named, "spec": {**(found.get("spec") or {}), **spec}}


@attrs.define
class LeaseLock:
    """A lock that is one Lease. Its methods raise ``ApiError`` or ``TransportError``."""

    transport: Transport
    namespace: str
    name: str
    timeout: float
    """Seconds that a request may take."""
    _found: dict[str, Any] = attrs.field(factory=dict)

    @property
    def place(self) -> str:
        """``namespace/name``."""
        return f"{self.namespace}/{self.name}"

    async def read(self) -> LeaseRecord:
        """What the lock says now."""
        await self._ask("GET", self.name)
        try:
            return read_lease(self._found)
        except ValueError as error:
            raise ApiError(200, "", f"{LEASES.plural} {self.place}: {error}") from None

    async def create(self, record: LeaseRecord) -> None:
        """Make the lock."""
        await self._ask("POST", "", write_lease({"metadata": {"name": self.name, "namespace": self.namespace}}, record))

    async def update(self, record: LeaseRecord) -> None:
        """Write *record*, if the lock has not changed since it was read."""
        await self._ask("PUT", self.name, write_lease(self._found, record))

    def reference(self) -> Reference:
        """The object that events about the leader are about."""
        meta = metadata_of(self._found)
        return Reference(
            kind=LEASES.kind, namespace=self.namespace, name=self.name, uid=str(meta.get("uid", "")), api_version=LEASES.group_version,
            resource_version=str(meta.get("resourceVersion", "")),
        )  # fmt: skip

    async def _ask(self, method: str, name: str, written: Mapping[str, Any] | None = None) -> None:
        self._found = await Api(self.transport, ONCE).ask(method, LEASES, self.namespace, name, body=written, timeout=self.timeout)
