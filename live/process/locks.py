"""Locks: an Endpoints, a ConfigMap or a Lease that names the leader, or two of them for the time of a move from one to another.

Two writers cannot both succeed: each sends the object's resourceVersion back, and the API server refuses the second one with 409.

Upstream: client-go, tools/leaderelection/resourcelock.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import attrs

from ...api.wire.goform import go_form, go_json
from ...exceptions import KubeclassicError
from ..client.replies import ApiStatus, metadata_of, read_object, read_status
from ..client.transport import Request, Response, Transport
from ..eventlog.reference import Reference
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


class Lock(Protocol):
    """An object that names the leader. All methods raise :class:`LockError` or ``TransportError``."""

    @property
    def place(self) -> str:
        """``namespace/name``."""
        ...

    async def read(self) -> LeaseRecord:
        """What the lock says now; :class:`LockGoneError` if it does not exist."""
        ...

    async def create(self, record: LeaseRecord) -> None:
        """Make the lock."""
        ...

    async def update(self, record: LeaseRecord) -> None:
        """Write *record*, if the lock has not changed since it was read."""
        ...

    def references(self) -> list[Reference]:
        """The objects that events about the leader are about."""
        ...


@attrs.frozen
class LockKind:
    """A kind of object that can be a lock."""

    kind: str
    api_version: str
    plural: str
    read: Callable[[Mapping[str, Any]], LeaseRecord]
    write: Callable[[Mapping[str, Any], LeaseRecord], dict[str, Any]]

    def folder(self, namespace: str) -> str:
        """The path of all objects of the kind in *namespace*."""
        root = "/apis" if "/" in self.api_version else "/api"
        return f"{root}/{self.api_version}/namespaces/{namespace}/{self.plural}"


KINDS: Mapping[str, LockKind] = {
    "endpoints": LockKind("Endpoints", "v1", "endpoints", read_annotation, write_annotation),
    "configmaps": LockKind("ConfigMap", "v1", "configmaps", read_annotation, write_annotation),
    "leases": LockKind("Lease", "coordination.k8s.io/v1", "leases", read_lease, write_lease),
}


@attrs.define
class ObjectLock:
    """A lock that is one object."""

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
        """What the lock says now."""
        self._found = await self._send("GET", self._path)
        try:
            return self.kind.read(self._found)
        except ValueError as error:
            raise LockError(f"{self.kind.plural} {self.place}: {error}") from None

    async def create(self, record: LeaseRecord) -> None:
        """Make the lock."""
        written = self.kind.write({"metadata": {"name": self.name, "namespace": self.namespace}}, record)
        self._found = await self._send("POST", self.kind.folder(self.namespace), written)

    async def update(self, record: LeaseRecord) -> None:
        """Write *record*, if the lock has not changed since it was read."""
        self._found = await self._send("PUT", self._path, self.kind.write(self._found, record))

    def references(self) -> list[Reference]:
        """The object."""
        meta = metadata_of(self._found)
        return [
            Reference(
                kind=self.kind.kind,
                namespace=self.namespace,
                name=self.name,
                uid=str(meta.get("uid", "")),
                api_version=self.kind.api_version,
                resource_version=str(meta.get("resourceVersion", "")),
            )
        ]

    @property
    def _path(self) -> str:
        return f"{self.kind.folder(self.namespace)}/{self.name}"

    async def _send(self, method: str, path: str, written: Mapping[str, Any] | None = None) -> dict[str, Any]:
        body = b"" if written is None else self._body(written)
        headers = {"Accept": _JSON["Accept"]} if written is None else _JSON
        query = f"timeout={go_duration(self.timeout)}"
        response = await self.transport.send(Request(method, path, query, body, headers, timeout=self.timeout))
        return self._read_answer(method, response)

    def _body(self, written: Mapping[str, Any]) -> bytes:
        rest = {key: value for key, value in written.items() if key not in ("kind", "apiVersion", "metadata")}
        try:
            metadata = go_form("ObjectMeta", written["metadata"], self.version)
        except (AttributeError, KeyError, TypeError, ValueError):  # what the server answered has fields of other types
            raise LockError(f"{self.kind.plural} {self.place}: metadata: got another form than ObjectMeta") from None
        return go_json({"kind": self.kind.kind, "apiVersion": self.kind.api_version, "metadata": metadata, **rest}) + b"\n"

    def _read_answer(self, method: str, response: Response) -> dict[str, Any]:
        found = read_object(response.body)
        if response.status < 300 and found is not None:
            return found
        status = read_status(found) or ApiStatus()
        text = f"{method} {self.kind.plural} {self.place}: {status.message or f'status {response.status}'}"
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


def make_lock(kind: str, transport: Transport, namespace: str, name: str, *, identity: str, version: str, timeout: float) -> Lock:
    """The lock that ``--leader-elect-resource-lock`` calls *kind*."""
    if kind in KINDS:
        return ObjectLock(transport, KINDS[kind], namespace, name, version, timeout)
    first = KINDS[kind.removesuffix("leases")]
    one, two = (ObjectLock(transport, each, namespace, name, version, timeout) for each in (first, KINDS["leases"]))
    return DoubleLock(one, two, identity)


def go_duration(seconds: float) -> str:
    """A duration as Go writes it.

    >>> go_duration(4), go_duration(90), go_duration(7200), go_duration(2.5), go_duration(0.25), go_duration(0)
    ('4s', '1m30s', '2h0m0s', '2.5s', '250ms', '0s')
    """
    if 0 < seconds < 1:
        return f"{seconds * 1000:.10g}ms"
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(int(minutes), 60)
    shown = f"{rest:.10g}s"
    if hours:
        return f"{hours}h{minutes}m{shown}"
    return f"{minutes}m{shown}" if minutes else shown
