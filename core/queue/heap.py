"""A binary heap by key, whose order among equals is Go's: where upstream queues pods in a heap, the order of equals shows.

Upstream: pkg/scheduler/util/heap.go (1.12, 1.13: in scheduling_queue.go) over Go's container/heap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

import attrs

T = TypeVar("T")


@attrs.define(eq=False, repr=False)
class Heap(Generic[T]):
    """Items by key; the head is one that *less* puts before all others. Equal items do not leave in the order in which they came."""

    less: Callable[[T, T], bool]
    _items: list[T] = attrs.field(factory=list)
    _keys: list[str] = attrs.field(factory=list)
    _index: dict[str, int] = attrs.field(factory=dict)

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[T]:
        """The items as they lie in the heap, head first."""
        return iter(self._items)

    def get(self, key: str) -> T | None:
        """The item called *key*, or None."""
        index = self._index.get(key)
        return None if index is None else self._items[index]

    def peek(self) -> T | None:
        """The head, left where it is."""
        return self._items[0] if self._items else None

    def in_order(self) -> list[T]:
        """The items in the order in which :meth:`pop` would return them."""
        copy = Heap(self.less, list(self._items), list(self._keys), dict(self._index))
        return [copy.pop() for _ in range(len(copy))]

    def put(self, key: str, item: T) -> None:
        """Add an item, or replace the one called *key* and sift it from where it lies."""
        index = self._index.get(key)
        if index is None:
            self._index[key] = len(self._items)
            self._items.append(item)
            self._keys.append(key)
            self._up(len(self._items) - 1)
            return
        self._items[index] = item
        if not self._down(index, len(self._items)):
            self._up(index)

    def pop(self) -> T:
        """Take out the head. Raises IndexError where there is none."""
        last = len(self._items) - 1
        self._swap(0, last)
        self._down(0, last)
        return self._drop_last()

    def remove(self, key: str) -> T | None:
        """Take out the item called *key*; None where there is none."""
        index = self._index.get(key)
        if index is None:
            return None
        last = len(self._items) - 1
        if index != last:
            self._swap(index, last)
            if not self._down(index, last):
                self._up(index)
        return self._drop_last()

    def _drop_last(self) -> T:
        del self._index[self._keys.pop()]
        return self._items.pop()

    def _up(self, child: int) -> None:
        while child > 0:
            parent = (child - 1) // 2
            if not self.less(self._items[child], self._items[parent]):
                return
            self._swap(parent, child)
            child = parent

    def _down(self, start: int, end: int) -> bool:
        parent = start
        while (child := 2 * parent + 1) < end:
            # Upstream: of two equal children the left one moves up.
            if child + 1 < end and self.less(self._items[child + 1], self._items[child]):
                child += 1
            if not self.less(self._items[child], self._items[parent]):
                break
            self._swap(parent, child)
            parent = child
        return parent > start

    def _swap(self, one: int, other: int) -> None:
        items, keys = self._items, self._keys
        items[one], items[other] = items[other], items[one]
        keys[one], keys[other] = keys[other], keys[one]
        self._index[keys[one]], self._index[keys[other]] = one, other
