"""The pods that fit nowhere for now, and those that are held back.

Upstream: UnschedulablePods in pkg/scheduler/internal/queue/scheduling_queue.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush

import attrs

from ...api.objects import Namespace, Pod
from ...core.cluster.listings import Listing
from ...core.queue.parked import affinity_terms
from .queued import QueuedPod, wants


@attrs.define(eq=False)
class ParkedPods:
    """Pods by key. Upstream: their order is that of a map; here it is that in which they came."""

    _all: dict[str, QueuedPod] = attrs.field(factory=dict)
    _wanting: dict[str, QueuedPod] = attrs.field(factory=dict)
    """Those with required pod affinity."""
    _times: list[tuple[float, str]] = attrs.field(factory=list)
    """A heap of when each pod was last tried or came; it may hold pods that are not here any more."""
    _held_times: list[tuple[float, str]] = attrs.field(factory=list)
    """The same for those that are held back."""

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[QueuedPod]:
        return iter(self._all.values())

    def get(self, key: str) -> QueuedPod | None:
        return self._all.get(key)

    def put(self, item: QueuedPod) -> None:
        """Park a pod, or replace the one of the same key."""
        key = item.pod.key
        self._all[key] = item
        heappush(self._held_times if item.is_gated else self._times, (item.timestamp, key))
        if affinity_terms(item.pod):
            self._wanting[key] = item
        else:
            self._wanting.pop(key, None)

    def drop(self, key: str) -> None:
        """A pod is here no longer."""
        self._all.pop(key, None)
        self._wanting.pop(key, None)

    def that_want(self, other: Pod, namespaces: Listing[Namespace]) -> list[QueuedPod]:
        """The pods with a required affinity to *other*."""
        return [item for item in self._wanting.values() if wants(item.pod, other, namespaces)]

    def oldest(self, *, held: bool = False) -> float | None:
        """When the pod was last tried, or came, for which that is longest ago, among those that are, or are not, held back."""
        times = self._held_times if held else self._times
        while times:
            timestamp, key = times[0]
            item = self._all.get(key)
            if item is not None and item.timestamp == timestamp and item.is_gated == held:
                return timestamp
            heappop(times)
        return None
