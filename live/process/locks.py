"""Locks: an Endpoints, a ConfigMap or a Lease that names the leader, since when and for how long; or two of them for the time of a move.

Two writers cannot both succeed: each sends the object's resourceVersion back, and the API server refuses the second one with 409.

Upstream: client-go, tools/leaderelection/resourcelock.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, TypeAlias

import attrs
import msgspec

from ...api.meaning.durations import duration_text
from ...api.wire.goform import go_form, go_json
from ...exceptions import KubeclassicError
from ..client.replies import ApiStatus, metadata_of, read_object, read_status
from ..client.resources import Resource, resource
from ..client.transport import Request, Response, Transport
from ..eventlog.sending import Reference, in_micros, in_seconds

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


UNKNOWN_LEADER = "leaderelection.k8s.io/unknown"
"""Upstream: the holder where two locks do not name the same one."""
_JSON = {"Accept": "application/json, */*", "Content-Type": "application/json"}


class LockError(KubeclassicError):
    """The API server refused a request for the lock, or its answer cannot be read."""


class LockGoneError(LockError):
    """The lock does not exist."""


class LockTakenError(LockError):
    """Another one made the lock first."""


@attrs.frozen
class LockKind:
    """A kind of object that can be a lock."""

    resource: Resource
    read: Callable[[Mapping[str, Any]], LeaseRecord]
    write: Callable[[Mapping[str, Any], LeaseRecord], dict[str, Any]]


KINDS: Mapping[str, LockKind] = {
    "endpoints": LockKind(resource("Endpoints"), read_annotation, write_annotation),
    "configmaps": LockKind(resource("ConfigMap"), read_annotation, write_annotation),
    "leases": LockKind(resource("Lease", "coordination.k8s.io/v1"), read_lease, write_lease),
}


@attrs.define
class ObjectLock:
    """A lock that is one object. Its methods raise :class:`LockError` or ``TransportError``."""

    transport: Transport
    kind: LockKind
    namespace: str
    name: str
    version: str
    """The release, such as ``1.15``: objects are written in its form."""
    timeout: float
    """Seconds that a request may take."""
    _found: dict[str, Any] = attrs.field(factory=dict)

    @property
    def place(self) -> str:
        """``namespace/name``."""
        return f"{self.namespace}/{self.name}"

    async def read(self) -> LeaseRecord:
        """What the lock says now; :class:`LockGoneError` if it does not exist."""
        self._found = await self._send("GET", self.name)
        try:
            return self.kind.read(self._found)
        except ValueError as error:
            raise LockError(f"{self.kind.resource.plural} {self.place}: {error}") from None

    async def create(self, record: LeaseRecord) -> None:
        """Make the lock."""
        written = self.kind.write({"metadata": {"name": self.name, "namespace": self.namespace}}, record)
        self._found = await self._send("POST", "", written)

    async def update(self, record: LeaseRecord) -> None:
        """Write *record*, if the lock has not changed since it was read."""
        self._found = await self._send("PUT", self.name, self.kind.write(self._found, record))

    def references(self) -> list[Reference]:
        """The object that events about the leader are about."""
        meta = metadata_of(self._found)
        return [
            Reference(
                kind=self.kind.resource.kind,
                namespace=self.namespace,
                name=self.name,
                uid=str(meta.get("uid", "")),
                api_version=self.kind.resource.group_version,
                resource_version=str(meta.get("resourceVersion", "")),
            )
        ]

    async def _send(self, method: str, name: str, written: Mapping[str, Any] | None = None) -> dict[str, Any]:
        body = b"" if written is None else self._body(written)
        headers = {"Accept": _JSON["Accept"]} if written is None else _JSON
        path, query = self.kind.resource.path(self.namespace, name), f"timeout={duration_text(self.timeout)}"
        response = await self.transport.send(Request(method, path, query, body, headers, timeout=self.timeout))
        return self._read_answer(method, response)

    def _body(self, written: Mapping[str, Any]) -> bytes:
        named = {"kind": self.kind.resource.kind, "apiVersion": self.kind.resource.group_version}
        rest = {key: value for key, value in written.items() if key not in ("kind", "apiVersion", "metadata")}
        try:
            metadata = go_form("ObjectMeta", written["metadata"], self.version)
        except (AttributeError, KeyError, TypeError, ValueError):  # what the server answered has fields of other types
            raise LockError(f"{self.kind.resource.plural} {self.place}: metadata: got another form than ObjectMeta") from None
        return go_json({**named, "metadata": metadata, **rest}) + b"\n"

    def _read_answer(self, method: str, response: Response) -> dict[str, Any]:
        found = read_object(response.body)
        if response.status < 300 and found is not None:
            return found
        status = read_status(found) or ApiStatus()
        text = f"{method} {self.kind.resource.plural} {self.place}: {status.message or f'status {response.status}'}"
        if response.status == 404:
            raise LockGoneError(text)
        is_taken = method == "POST" and response.status == 409
        raise LockTakenError(text) if is_taken else LockError(text)


@attrs.define
class DoubleLock:
    """Two locks that name the same leader, so that replicas that know one of them each agree.

    Upstream: resourcelock/multilock.go.
    """

    first: ObjectLock
    second: ObjectLock
    identity: str

    @property
    def place(self) -> str:
        """``namespace/name``."""
        return self.first.place

    async def read(self) -> LeaseRecord:
        """What the first lock says; its holder is unknown where the second one names another."""
        first = await self.first.read()
        try:
            second = await self.second.read()
        except LockGoneError as error:
            if first.holder != self.identity:
                return first
            raise error
        return first if first.holder == second.holder else attrs.evolve(first, holder=UNKNOWN_LEADER)

    async def create(self, record: LeaseRecord) -> None:
        """Make both; the first may exist."""
        with contextlib.suppress(LockTakenError):
            await self.first.create(record)
        await self.second.create(record)

    async def update(self, record: LeaseRecord) -> None:
        """Write both; make the second if it is not there."""
        await self.first.update(record)
        try:
            await self.second.read()
        except LockGoneError:
            await self.second.create(record)
            return
        await self.second.update(record)

    def references(self) -> list[Reference]:
        """Both objects."""
        return [*self.first.references(), *self.second.references()]


Lock: TypeAlias = ObjectLock | DoubleLock


def make_lock(kind: str, transport: Transport, namespace: str, name: str, *, identity: str, version: str, timeout: float) -> Lock:
    """The lock that ``--leader-elect-resource-lock`` calls *kind*."""
    if kind in KINDS:
        return ObjectLock(transport, KINDS[kind], namespace, name, version, timeout)
    first = KINDS[kind.removesuffix("leases")]
    one, two = (ObjectLock(transport, each, namespace, name, version, timeout) for each in (first, KINDS["leases"]))
    return DoubleLock(one, two, identity)
