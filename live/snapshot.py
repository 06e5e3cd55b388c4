"""A snapshot of a live cluster: all that a decision of any release reads, one consistent list for each kind, as a ``List``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from ..exceptions import KubeclassicError, UnknownNameError, did_you_mean
from .client.api import Api, ApiError, ListOptions, Manifest, metadata_of, read_object
from .client.credentials import Access
from .client.http import HttpTransport
from .client.resources import DEVICE_KINDS, VERSIONS, resource
from .client.transport import Request, Transport

ROLE = "ClusterRole kubeclassic-looker of examples/deploy/looker.yaml"
Listed = Mapping[str, Sequence[Manifest]]
"""Kind -> its objects."""


class MissingRightError(KubeclassicError):
    """The API server does not let kinds be listed on which the answer depends."""


@attrs.frozen
class Need:
    """Kinds that decide, where something that was listed refers to them."""

    kinds: tuple[str, ...]
    why: str
    """Completes *needed, as ...*."""
    is_there: Callable[[Listed], bool]


def _values(found: Any, *path: str) -> Iterator[Any]:
    """What is at *path* of an object; lists on the way stand for each of their items. Other shapes have nothing there."""
    if isinstance(found, list):
        for item in found:
            yield from _values(item, *path)
    elif not path:
        yield found
    elif isinstance(found, dict) and path[0] in found:
        yield from _values(found[path[0]], *path[1:])


def _specs(listed: Listed, *path: str) -> list[Any]:
    """What all pods have at *path* of their spec."""
    return [value for pod in listed.get("Pod", ()) for value in _values(pod, "spec", *path)]


def _have_claims(listed: Listed) -> bool:
    return any(_specs(listed, "volumes", volume) for volume in ("persistentVolumeClaim", "ephemeral"))


def _may_wait_for_capacity(listed: Listed) -> bool:
    modes = [mode for found in listed.get("StorageClass", ()) for mode in _values(found, "volumeBindingMode")]
    return _have_claims(listed) and "WaitForFirstConsumer" in modes


def _select_namespaces(listed: Listed) -> bool:
    terms = ("podAffinity", "podAntiAffinity")
    required, preferred = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
    paths = [("affinity", term, *path) for term in terms for path in ((required,), (preferred, "podAffinityTerm"))]
    return any(selector is not None for path in paths for selector in _specs(listed, *path, "namespaceSelector"))


def _have_priorities(listed: Listed) -> bool:
    return len({priority for priority in _specs(listed, "priority") if isinstance(priority, int)} | {0}) > 1


NEEDS = (
    Need(("Node", "Pod"), "every answer counts nodes and the pods on them", lambda listed: True),
    Need(("PersistentVolumeClaim", "PersistentVolume", "StorageClass", "CSINode"), "pods have claims for volumes", _have_claims),
    Need(("CSIDriver", "CSIStorageCapacity"), "volumes are made where their pods go", _may_wait_for_capacity),
    Need(DEVICE_KINDS, "pods have claims for devices", lambda listed: any(_specs(listed, "resourceClaims"))),
    Need(("Namespace",), "pods select namespaces by their labels", _select_namespaces),
    Need(("PodDisruptionBudget",), "pods of different priorities may preempt one another", _have_priorities),
)


def check_rights(listed: Listed, refused: Mapping[str, str], wanted: Collection[str], allowed: Collection[str]) -> None:
    """Refuse a cluster of which a needed kind may not be listed. *refused*: kind -> what the API server said.

    *wanted*: kinds that the command needs whatever the cluster has; *allowed*: kinds that may be missing.
    Raises :class:`MissingRightError`.
    """
    reasons = {kind: need.why for need in NEEDS if need.is_there(listed) for kind in need.kinds}
    missing = [kind for kind in refused if (kind in reasons or kind in wanted) and kind not in allowed]
    if not missing:
        return
    kind = missing[0]
    why = reasons.get(kind, "this command counts them")
    error = MissingRightError(f"cluster: no right to list {_in_words(missing)}: {why}. The server said: {refused[kind]}")
    error.add_note(f"{ROLE} gives it.")
    error.add_note(f"{' '.join(f'--allow-missing {kind}' for kind in missing)}: go on as if there were none.")
    raise error


def _in_words(kinds: Iterable[str]) -> str:
    """The kinds as rights name them, such as ``poddisruptionbudgets.policy``."""
    names = []
    for kind in kinds:
        found = resource(kind, VERSIONS[kind][0])
        group, slash, _ = found.group_version.rpartition("/")
        names.append(f"{found.plural}.{group}" if slash else found.plural)
    return ", ".join(names)


def check_kinds(kinds: Iterable[str]) -> None:
    """Raise :class:`~kubeclassic.exceptions.UnknownNameError` for what is no kind of a snapshot."""
    for kind in kinds:
        if kind not in VERSIONS:
            raise UnknownNameError(f"--allow-missing: expected one of {', '.join(VERSIONS)}, got {kind}{did_you_mean(kind, VERSIONS)}")


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

    Raises :class:`MissingRightError` for other kinds that may not be listed, :class:`~.client.api.ApiError`,
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
