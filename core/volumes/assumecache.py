"""The volumes or claims that the scheduler knows, with changes that it assumes before the API has them.

Upstream: pkg/controller/volume/scheduling/scheduler_assume_cache.go (before 1.15 in
pkg/controller/volume/persistentvolume).
"""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections.abc import Callable
from operator import attrgetter
from typing import Generic, TypeVar

import attrs

from ...api.objects import KubeObject

Kind = TypeVar("Kind", bound=KubeObject)


class VolumeError(Exception):
    """A question about volumes that has no answer; the text is upstream's own."""


@attrs.define(eq=False, repr=False)
class AssumeCache(Generic[Kind]):
    """The objects of one kind by key, each as the API has it and as it is assumed to be; *version* grows with
    every change.

    ``group``: the part of an object by which :meth:`within` finds it.
    """

    kind: str
    """The kind as upstream's errors write it, such as ``v1.PersistentVolume``."""
    group: Callable[[Kind], str] = attrgetter("namespace")
    version: int = 0
    _latest: dict[str, Kind] = attrs.Factory(dict)
    _stored: dict[str, Kind] = attrs.Factory(dict)
    _groups: dict[str, list[str]] = attrs.Factory(dict)

    def get(self, key: str) -> Kind:
        """The object as it is assumed to be; raises :class:`VolumeError` where there is none."""
        found = self._latest.get(key)
        if found is None:
            raise VolumeError(f'could not find {self.kind} "{key}"')
        return found

    def within(self, group: str) -> list[Kind]:
        """The objects of *group* as they are assumed to be, in ascending order of key."""
        return [self._latest[key] for key in self._groups.get(group, ())]

    def put(self, item: Kind) -> None:
        """Store an object of the API if it is newer than the known one; this ends an assumption."""
        known = self._latest.get(item.key)
        if known is not None:
            try:
                version = self._number(item)
                stored = self._number(known)
            except VolumeError:
                return
            # Upstream: an event that is not newer than the assumed object is dropped, even if it has the same
            # version.
            if version is not None and stored is not None and version <= stored:
                return
            self._ungroup(known)
        self._latest[item.key] = self._stored[item.key] = item
        insort(self._groups.setdefault(self.group(item), []), item.key)
        self.version += 1

    def drop(self, key: str) -> None:
        """Forget an object, if it is known."""
        known = self._latest.pop(key, None)
        if known is not None:
            self._ungroup(known)
            del self._stored[key]
            self.version += 1

    def assume(self, item: Kind) -> None:
        """Replace an object until the API sends a newer one; raises :class:`VolumeError` where it is unknown
        or newer already."""
        known = self.get(item.key)
        version = self._number(item)
        stored = self._number(known)
        if version is not None and stored is not None and version < stored:
            raise VolumeError(f'{self.kind} "{item.key}" is out of sync')
        self._latest[item.key] = item
        self.version += 1

    def restore(self, key: str) -> None:
        """Take back what was assumed of an object, if it is still known."""
        if key in self._stored:
            self._latest[key] = self._stored[key]
            self.version += 1

    def _ungroup(self, item: Kind) -> None:
        keys = self._groups[self.group(item)]
        del keys[bisect_left(keys, item.key)]

    def _number(self, item: Kind) -> int | None:
        """The resourceVersion; None where a manifest has none: it counts as newer than all others."""
        text = item.metadata.resource_version
        if not text:
            return None
        if re.fullmatch(r"[+-]?[0-9]+", text) is None:
            cause = f'strconv.ParseInt: parsing "{text}": invalid syntax'
            raise VolumeError(f'error parsing ResourceVersion "{text}" for {self.kind} "{item.key}": {cause}')
        return int(text)
