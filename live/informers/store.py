"""The objects of one kind as an API server has them, and the handlers of their changes.

Upstream: DeltaFIFO and sharedIndexInformer of k8s.io/client-go/tools/cache.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

import attrs

from ...api.objects import KubeObject
from ...api.reading.decode import decode_kind
from ...exceptions import ManifestError
from ..client.replies import Manifest, metadata_of

DECODED_AT_ONCE = 200
"""Objects that are decoded before others get their turn."""


class Handler(Protocol):
    """Is told what happens to objects; an event router is one, and so is what follows a cluster."""

    def put(self, item: KubeObject) -> None:
        """An object was added or changed."""

    def delete(self, item: KubeObject) -> None:
        """An object was deleted; *item* is its last known state."""


@attrs.define(eq=False)
class Store:
    """The objects of *kind* by key, decoded. One that cannot be decoded, or has no name, is reported once, and
    its last good state stays."""

    kind: str
    handler: Handler
    report: Callable[[str], None]
    """Is told of objects that cannot be decoded, one line each."""
    _objects: dict[str, KubeObject] = attrs.field(factory=dict)
    _unreadable: set[str] = attrs.field(factory=set)
    """Keys of objects that were reported."""

    def __len__(self) -> int:
        return len(self._objects)

    def __iter__(self) -> Iterator[KubeObject]:
        return iter(self._objects.values())

    def get(self, key: str) -> KubeObject | None:
        """The object by its key, ``namespace/name`` or ``name``."""
        return self._objects.get(key)

    async def replace(self, manifests: Iterable[Manifest]) -> None:
        """Take a list as all that there is: its objects are put, also those that did not change; the others are deleted, after them.

        Upstream: an informer reports every object of a second list.
        """
        listed: set[str] = set()
        decoded: list[KubeObject] = []
        for number, manifest in enumerate(manifests, 1):
            listed.add(_key(manifest))
            if (found := self._decoded(manifest)) is not None:
                decoded.append(found)
            if number % DECODED_AT_ONCE == 0:
                await asyncio.sleep(0)
        for item in decoded:
            self._put(item)
        for key in [key for key in self._objects if key not in listed]:
            self._delete(key)
        self._unreadable &= listed

    def put(self, manifest: Manifest) -> None:
        """An object was added or changed."""
        if (found := self._decoded(manifest)) is not None:
            self._put(found)

    def delete(self, manifest: Manifest) -> None:
        """An object was deleted; *manifest* is its last state."""
        key = _key(manifest)
        self._unreadable.discard(key)
        last = self._decoded(manifest) if key in self._objects else None
        if last is not None:
            self._objects[key] = last
        self._delete(key)

    def _put(self, item: KubeObject) -> None:
        self._objects[item.key if item.namespaced else item.name] = item
        self.handler.put(item)

    def _delete(self, key: str) -> None:
        item = self._objects.pop(key, None)
        if item is not None:
            self.handler.delete(item)

    def _decoded(self, manifest: Manifest) -> KubeObject | None:
        key = _key(manifest)
        try:
            found = decode_kind(self.kind, manifest, strict=False, keeps_manifest=True)
            if found is not None and not found.name:
                raise ManifestError(f"{self.kind}: got one without a name")
        except ManifestError as error:
            if key not in self._unreadable:
                self._unreadable.add(key)
                self.report(f"{error}; it is ignored")
            return None
        self._unreadable.discard(key)
        return found


def _key(manifest: Manifest) -> str:
    """``namespace/name``, or ``name`` without a namespace."""
    metadata: dict[str, Any] = metadata_of(manifest)
    namespace, name = metadata.get("namespace"), metadata.get("name")
    return f"{namespace}/{name}" if namespace else str(name)
