"""A snapshot of a live cluster: all that a decision of any release reads, one consistent list for each kind,
as a ``List``.

A kind that was not read must not count as empty: without the right to list budgets every node could be
drained.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from ..api.load import metadata_of
from ..exceptions import KubeclassicError, UnknownNameError, did_you_mean
from .client.api import (
    DEVICE_KINDS,
    NOT_THERE,
    VERSIONS,
    Api,
    ApiError,
    Manifest,
    ObjectList,
    Request,
    Transport,
    read_object,
    resource,
)
from .client.http import Access, HttpTransport

ROLE = "ClusterRole kubeclassic-looker of examples/deploy/looker.yaml"
Listed = Mapping[str, Sequence[Manifest]]
"""Kind -> its objects."""


class MissingRightError(KubeclassicError):
    """The API server does not let kinds be listed on which the answer depends."""


def _values(value: Any, *path: str) -> Iterator[Any]:
    """The values at *path* of an object; lists on the way stand for each of their items. Other shapes have
    nothing there."""
    if isinstance(value, list):
        for item in value:
            yield from _values(item, *path)
    elif not path:
        yield value
    elif isinstance(value, dict) and path[0] in value:
        yield from _values(value[path[0]], *path[1:])


def _needed_kinds(listed: Listed) -> Iterator[tuple[tuple[str, ...], str]]:
    """The kinds on which decisions depend, given what was listed, and why; this completes *needed, as
    ...*."""

    def specs(*path: str) -> list[Any]:
        return [value for pod in listed.get("Pod", ()) for value in _values(pod, "spec", *path)]

    yield ("Node", "Pod"), "every answer counts nodes and the pods on them"
    if any(specs("volumes", volume) for volume in ("persistentVolumeClaim", "ephemeral")):
        yield (
            ("PersistentVolumeClaim", "PersistentVolume", "StorageClass", "CSINode"),
            "pods have claims for volumes",
        )
        modes = [
            mode
            for storage_class in listed.get("StorageClass", ())
            for mode in _values(storage_class, "volumeBindingMode")
        ]
        if "WaitForFirstConsumer" in modes:
            yield ("CSIDriver", "CSIStorageCapacity"), "volumes are made where their pods go"
    if any(specs("resourceClaims")):
        yield DEVICE_KINDS, "pods have claims for devices"
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    preferred = "preferredDuringSchedulingIgnoredDuringExecution"
    paths = [
        ("affinity", term, *path, "namespaceSelector")
        for term in ("podAffinity", "podAntiAffinity")
        for path in ((required,), (preferred, "podAffinityTerm"))
    ]
    if any(selector is not None for path in paths for selector in specs(*path)):
        yield ("Namespace",), "pods select namespaces by their labels"
    if len({priority for priority in specs("priority") if isinstance(priority, int)} | {0}) > 1:
        yield ("PodDisruptionBudget",), "pods of different priorities may preempt one another"


def check_rights(
    listed: Listed, refused: Mapping[str, str], needed: Collection[str], allowed: Collection[str]
) -> None:
    """Refuse a cluster in which a needed kind may not be listed. *refused*: kind -> the API server's reason.

    *needed*: kinds that the command needs whatever the cluster has; *allowed*: kinds that may be missing.
    Raises :class:`MissingRightError`.
    """
    reasons = {kind: reason for kinds, reason in _needed_kinds(listed) for kind in kinds}
    missing = [kind for kind in refused if (kind in reasons or kind in needed) and kind not in allowed]
    if not missing:
        return
    names = []  # as rights name them, such as poddisruptionbudgets.policy
    for kind in missing:
        target = resource(kind, VERSIONS[kind][0])
        group, slash, _ = target.group_version.rpartition("/")
        names.append(f"{target.plural}.{group}" if slash else target.plural)
    reason = reasons.get(missing[0], "this command counts them")
    answer = refused[missing[0]]
    error = MissingRightError(
        f"cluster: no right to list {', '.join(names)}: {reason}. The server said: {answer}"
    )
    error.add_note(f"{ROLE} gives it.")
    error.add_note(f"{' '.join(f'--allow-missing {kind}' for kind in missing)}: go on as if there were none.")
    raise error


def check_kinds(kinds: Iterable[str]) -> None:
    """Raise :class:`~kubeclassic.exceptions.UnknownNameError` for what is no kind of a snapshot."""
    for kind in kinds:
        if kind not in VERSIONS:
            raise UnknownNameError(
                f"--allow-missing: expected one of {', '.join(VERSIONS)}, got {kind}{did_you_mean(kind, VERSIONS)}"
            )


UNFINISHED = "status.phase!=Failed,status.phase!=Succeeded"
"""The pods that take part in decisions."""
_FORBIDDEN = 403


@attrs.frozen
class ClusterSnapshot:
    """Objects with their kinds, in the order of :data:`~.client.api.VERSIONS` and, within a kind, of the
    server."""

    items: tuple[Manifest, ...]
    versions: Mapping[str, str]
    """Kind -> the resourceVersion of its list."""
    notes: tuple[str, ...] = ()
    """The kinds that may not be read, one line for each."""
    server_version: str = ""
    """The version of the API server, as ``v1.28.7``, where no node says one; empty where one does, or the
    server does not."""

    def document(self) -> Manifest:
        """The snapshot as a List, which notes the resourceVersion of each kind in its metadata."""
        metadata = {"resourceVersion": "", "resourceVersions": dict(self.versions)}
        return {"apiVersion": "v1", "kind": "List", "metadata": metadata, "items": list(self.items)}


class UnreadableClusterError(KubeclassicError):
    """The API server refused to be read."""


async def snapshot_of(access: Access, needs: Collection[str], allowed: Collection[str]) -> ClusterSnapshot:
    """The cluster of an API server as it is now. Raises :class:`~kubeclassic.exceptions.KubeclassicError`.

    *needs*: kinds that have to be read whatever the cluster has; *allowed*: kinds that may be missing.
    """
    async with HttpTransport(access) as transport:
        try:
            return await take_snapshot(transport, needs, allowed)
        except ApiError as error:
            text = " ".join(str(error).split("\n"))
            raise UnreadableClusterError(f"{access.server}: got status {error.status}: {text}") from None


async def take_snapshot(
    transport: Transport, needs: Collection[str] = (), allowed: Collection[str] = ()
) -> ClusterSnapshot:
    """The cluster as it is now. Kinds that may not be listed, and on which nothing that was listed depends,
    are left out, with a note.

    Raises :class:`MissingRightError` for other kinds that may not be listed, :class:`~.client.api.ApiError`,
    :class:`~.client.api.TransportError` and what the transport raises.
    """
    api = Api(transport)
    results = dict(
        zip(VERSIONS, await asyncio.gather(*(_list_kind(api, kind) for kind in VERSIONS)), strict=True)
    )
    refused = {kind: part for kind, part in results.items() if isinstance(part, str) and part}
    lists = {kind: part for kind, part in results.items() if not isinstance(part, str)}
    items = {kind: part.items for kind, part in lists.items()}
    check_rights(items, refused, needs, allowed)
    kubelets = [
        version
        for node in items.get("Node", ())
        for version in _values(node, "status", "nodeInfo", "kubeletVersion")
    ]
    is_said = any(version and isinstance(version, str) for version in kubelets)
    return ClusterSnapshot(
        server_version="" if is_said else await server_version(transport),
        items=tuple(item for listed in items.values() for item in listed),
        versions={kind: part.resource_version for kind, part in lists.items() if part.resource_version},
        notes=tuple(
            f"{kind}: may not be listed, so it is as if there were none: {text}"
            for kind, text in refused.items()
        ),
    )


async def server_version(transport: Transport) -> str:
    """The version of the API server; empty where it does not say one."""
    document = read_object(
        (await transport.send(Request("GET", "/version", headers={"accept": "application/json"}))).body
    )
    version = None if document is None else document.get("gitVersion")
    return version if isinstance(version, str) else ""


async def _list_kind(api: Api, kind: str) -> ObjectList | str:
    """All objects of a kind, in the newest version of the API that has it; else what the server said, where
    it may not be listed."""
    refusal = ""
    for group_version in VERSIONS[kind]:
        try:
            listing = await api.list(
                resource(kind, group_version), field_selector=UNFINISHED if kind == "Pod" else ""
            )
        except ApiError as error:
            if error.status == NOT_THERE and kind in ("Node", "Pod"):
                plural = resource(kind, group_version).plural
                raise ApiError(NOT_THERE, "", f"no {plural}: is this the address of an API server?") from None
            if error.status not in (_FORBIDDEN, NOT_THERE):
                raise
            # An API server may also say Forbidden for what it does not have.
            refusal = refusal or (str(error) if error.status == _FORBIDDEN else "")
            continue
        items = []
        for item in listing.items:
            # With kind and version, which lists leave out, and without the book-keeping of writers. A list
            # has one kind, whatever an item says of itself.
            metadata = {name: value for name, value in metadata_of(item).items() if name != "managedFields"}
            named = {"apiVersion": group_version, "kind": kind}
            items.append({**named, **item, **named, "metadata": metadata})
        return attrs.evolve(listing, items=items)
    return " ".join(refusal.split())
