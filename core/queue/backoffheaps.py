"""The backoff queue of releases in which pods that failed by an error have a heap of their own.

Upstream: pkg/scheduler/backend/queue/backoff_queue.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import attrs

from .heap import Heap
from .parked import QueuedPod

Less = Callable[[QueuedPod, QueuedPod], bool]


@attrs.define(eq=False, repr=False)
class BackoffHeaps:
    """Pods that plugins rejected, in the order of *less*, and pods that failed by an error, in the order of *by_end*."""

    less: Less
    by_end: Less
    rejected: Heap[QueuedPod] = attrs.field(init=False)
    errors: Heap[QueuedPod] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.rejected, self.errors = Heap(self.less), Heap(self.by_end)

    def __len__(self) -> int:
        return len(self.rejected) + len(self.errors)

    def __iter__(self) -> Iterator[QueuedPod]:
        yield from self.rejected
        yield from self.errors

    def get(self, key: str) -> QueuedPod | None:
        return self.rejected.get(key) or self.errors.get(key)

    def put(self, key: str, item: QueuedPod) -> None:
        """Add a pod, or replace its entry; the plugins that rejected it say where it belongs."""
        here, there = (self.rejected, self.errors) if item.plugins else (self.errors, self.rejected)
        there.remove(key)
        here.put(key, item)

    def remove(self, key: str) -> QueuedPod | None:
        return self.rejected.remove(key) or self.errors.remove(key)

    def peek(self) -> QueuedPod | None:
        """The pod whose backoff ends first."""
        one, other = self.rejected.peek(), self.errors.peek()
        return other if one is None or (other is not None and self.by_end(other, one)) else one

    def pop(self) -> QueuedPod:
        """Take out the pod of :meth:`peek`."""
        return self.rejected.pop() if self.rejected and self.peek() is self.rejected.peek() else self.errors.pop()

    def in_order(self) -> list[QueuedPod]:
        return self.rejected.in_order() + self.errors.in_order()
