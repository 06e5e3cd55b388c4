"""The objects of one kind, as one of the scheduler's listers gives them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Generic, TypeVar

import attrs

from ...api.objects import KubeObject

Kind = TypeVar("Kind", bound=KubeObject)


@attrs.define(eq=False, repr=False)
class Tick:
    """A revision that several listings share: it moves with a change of any of them."""

    count: int = 0


@attrs.define(eq=False, repr=False)
class Listing(Generic[Kind]):
    """The objects of one kind by key (``namespace/name``, or ``name``). Every change moves *version* and *tick*.

    ``group``: the attribute of an object by which :meth:`within` finds it.
    """

    version: int = 0
    tick: Tick = attrs.field(factory=Tick)
    group: str = "namespace"
    _objects: dict[str, Kind] = attrs.field(factory=dict)
    _sorted: list[Kind] | None = None
    _groups: dict[str, list[Kind]] | None = None

    def __len__(self) -> int:
        return len(self._objects)

    def __iter__(self) -> Iterator[Kind]:
        """All objects in ascending order of their keys."""
        if self._sorted is None:
            self._sorted = [self._objects[key] for key in sorted(self._objects)]
        return iter(self._sorted)

    def get(self, key: str) -> Kind | None:
        """The object called *key*, or None."""
        return self._objects.get(key)

    def within(self, group: str) -> list[Kind]:
        """The objects of *group*, which is a namespace for most kinds, in ascending order of their keys. Not to be changed."""
        if self._groups is None:
            self._groups = {}
            for item in self:
                self._groups.setdefault(getattr(item, self.group), []).append(item)
        return self._groups.get(group, [])

    def groups(self) -> Collection[str]:
        """The groups that have objects."""
        self.within("")
        return () if self._groups is None else self._groups.keys()

    def put(self, item: Kind) -> None:
        """Add or replace an object."""
        self._objects[item.key] = item
        self._touch()

    def drop(self, key: str) -> None:
        """Remove an object, if it exists."""
        if self._objects.pop(key, None) is not None:
            self._touch()

    def _touch(self) -> None:
        self.version += 1
        self.tick.count += 1
        self._sorted = None
        self._groups = None
