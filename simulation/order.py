"""In which order waiting pods are tried: as they came, by priority, or as the release's own queue hands them out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

from ..api.objects import Pod
from ..core.rule import Algorithm

T = TypeVar("T")

ORDERS = ("input", "priority", "queue")
"""``input``: as they came; ``priority``: the higher one first, equal ones as they came; ``queue``: as the scheduler pops them."""


def in_order(pods: Sequence[Pod], order: str, algorithm: Algorithm) -> list[Pod]:
    """*pods* in one of :data:`ORDERS`; all are taken to have come before the first is tried."""
    if order == "priority":
        return sorted(pods, key=lambda pod: -pod.priority)
    return _popped(pods, algorithm) if order == "queue" else list(pods)


def _popped(pods: Sequence[Pod], algorithm: Algorithm) -> list[Pod]:
    cells = algorithm.release.queue
    if cells.fifo_without_priority and not algorithm.enabled("PodPriority"):
        return list(pods)
    if cells.by_timestamp:
        return sorted(pods, key=lambda pod: -pod.priority)
    # Upstream: with nothing to tell equal priorities apart, they come out as a binary heap happens to hold them.
    heap = Heap(lambda one, other: one.priority > other.priority, pods)
    return [heap.pop() for _ in pods]


class Heap(Generic[T]):
    """A binary heap step by step as Go's ``container/heap`` has it, so that equal items come out in the same order.

    >>> heap = Heap(lambda one, other: False, "1234")
    >>> [heap.pop() for _ in range(4)]
    ['1', '4', '3', '2']
    """

    def __init__(self, before: Callable[[T, T], bool], items: Iterable[T] = ()) -> None:
        self._before = before
        self._items: list[T] = []
        for item in items:
            self.push(item)

    def __len__(self) -> int:
        return len(self._items)

    def push(self, item: T) -> None:
        """Put *item* at the end and let it rise while it goes before its parent."""
        items, at = self._items, len(self._items)
        items.append(item)
        while at and self._before(items[at], items[parent := (at - 1) // 2]):
            items[at], items[parent] = items[parent], items[at]
            at = parent

    def pop(self) -> T:
        """Take the root; the last item takes its place and sinks."""
        items = self._items
        items[0], items[-1] = items[-1], items[0]
        found = items.pop()
        self._sink()
        return found

    def _sink(self) -> None:
        items, at = self._items, 0
        while (child := 2 * at + 1) < len(items):
            if child + 1 < len(items) and self._before(items[child + 1], items[child]):
                child += 1
            if not self._before(items[child], items[at]):
                return
            items[at], items[child], at = items[child], items[at], child
