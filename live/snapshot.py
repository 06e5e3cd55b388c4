"""A snapshot of a live cluster: all that a decision of any release reads, one consistent list for each kind, as a ``List``."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping

import attrs

from ..exceptions import KubeclassicError
from .client.api import Api, ApiError, ListOptions, Manifest, metadata_of, read_object
from .client.credentials import Access
from .client.http import HttpTransport
from .client.resources import VERSIONS, resource
from .client.transport import Request, Transport
from .rights import check_rights

UNFINISHED = "status.phase!=Failed,status.phase!=Succeeded"
"""The pods that take part in decisions."""
_FORBIDDEN, _NOT_THERE = 403, 404


@attrs.frozen
class ClusterSnapshot:
    """Objects with their kinds, in the order of :data:`~.client.resources.VERSIONS` and, within a kind, of the server."""

    items: tuple[Manifest, ...]
    versions: Mapping[str, str]
    """Kind -> the resourceVersion of its list."""
    notes: tuple[str, ...] = ()
    """What may not be read, one line for each kind."""
    server_version: str = ""
    """The version of the API server, as ``v1.28.7``, where no node says one; empty where one does, or the server does not."""

    def document(self) -> Manifest:
        """The snapshot as a List, which notes the resourceVersion of each kind in its metadata."""
        metadata = {"resourceVersion": "", "resourceVersions": dict(self.versions)}
        return {"apiVersion": "v1", "kind": "List", "metadata": metadata, "items": list(self.items)}


class UnreadableClusterError(KubeclassicError):
    """The API server refused to be read."""


async def snapshot_of(access: Access, needs: Collection[str] = (), allowed: Collection[str] = ()) -> ClusterSnapshot:
    """The cluster of an API server as it is now. Raises :class:`~kubeclassic.exceptions.KubeclassicError`.

    *needs*: kinds that have to be read whatever the cluster has; *allowed*: kinds that may be missing.
    """
    async with HttpTransport(access) as transport:
        try:
            return await take_snapshot(transport, needs, allowed)
        except ApiError as error:
            text = " ".join(str(error).split("\n"))
            raise UnreadableClusterError(f"{access.server}: got status {error.status}: {text}") from None


async def take_snapshot(transport: Transport, needs: Collection[str] = (), allowed: Collection[str] = ()) -> ClusterSnapshot:
    """The cluster as it is now. Kinds that may not be listed, and on which nothing that was listed depends, are left out, with a note.

    Raises :class:`~.rights.MissingRightError` for other kinds that may not be listed, :class:`~.client.replies.ApiError`,
    :class:`~.client.transport.TransportError` and what the transport raises.
    """
    api = Api(transport)
    found = await asyncio.gather(*(_listed(api, kind) for kind in VERSIONS))
    parts = dict(zip(VERSIONS, found, strict=True))
    refused = {kind: part.refusal for kind, part in parts.items() if part.refusal}
    check_rights({kind: part.items for kind, part in parts.items()}, refused, needs, allowed)
    return ClusterSnapshot(
        server_version="" if any(_kubelet_version(node) for node in parts["Node"].items) else await server_version(api.transport),
        items=tuple(item for part in parts.values() for item in part.items),
        versions={kind: part.version for kind, part in parts.items() if part.version},
        notes=tuple(f"{kind}: may not be listed, so it is as if there were none: {text}" for kind, text in refused.items()),
    )


def _kubelet_version(node: Manifest) -> str:
    status = node.get("status")
    info = status.get("nodeInfo") if isinstance(status, dict) else None
    found = info.get("kubeletVersion") if isinstance(info, dict) else None
    return found if isinstance(found, str) else ""


async def server_version(transport: Transport) -> str:
    """The version of the API server; empty where it does not say one."""
    found = read_object((await transport.send(Request("GET", "/version", headers={"accept": "application/json"}))).body)
    version = None if found is None else found.get("gitVersion")
    return version if isinstance(version, str) else ""


@attrs.frozen
class _Part:
    items: tuple[Manifest, ...] = ()
    version: str = ""
    refusal: str = ""
    """What the server said, where the kind may not be listed."""


async def _listed(api: Api, kind: str) -> _Part:
    """All objects of a kind, in the newest version of the API that has it."""
    refusal = ""
    for group_version in VERSIONS[kind]:
        options = ListOptions(field_selector=UNFINISHED if kind == "Pod" else "")
        try:
            found = await api.list(resource(kind, group_version), options)
        except ApiError as error:
            if error.status not in (_FORBIDDEN, _NOT_THERE):
                raise
            # An API server may also say Forbidden for what it does not have.
            refusal = refusal or (str(error) if error.status == _FORBIDDEN else "")
            continue
        return _Part(tuple(_named(item, kind, group_version) for item in found.items), found.resource_version)
    return _Part(refusal=" ".join(refusal.split()))


def _named(item: Manifest, kind: str, group_version: str) -> Manifest:
    """*item* with kind and version, which lists leave out, and without the book-keeping of writers.

    A list has one kind, whatever an item says of itself.
    """
    metadata = {name: value for name, value in metadata_of(item).items() if name != "managedFields"}
    named = {"apiVersion": group_version, "kind": kind}
    return {**named, **item, **named, "metadata": metadata}
