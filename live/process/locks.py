"""Locks: an Endpoints, a ConfigMap or a Lease that names the leader, or two of them for the time of a move from one to another.

Two writers cannot both succeed: each sends the object's resourceVersion back, and the API server refuses the second one with 409.

Upstream: client-go, tools/leaderelection/resourcelock.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import attrs

from ...api.meaning.durations import duration_text
from ...api.wire.goform import go_form, go_json
from ...exceptions import KubeclassicError
from ..client.replies import ApiStatus, metadata_of, read_object, read_status
from ..client.resources import Resource, resource
from ..client.transport import Request, Response, Transport
from ..eventlog.sending import Reference
from .leaserecord import LeaseRecord, read_annotation, read_lease, write_annotation, write_lease

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
