"""What the scheduling queue knows of a pod, and the place where it parks those that fit nowhere for now.

Upstream: PodInfo and UnschedulablePodsMap in pkg/scheduler/internal/queue/scheduling_queue.go (1.27: QueuedPodInfo in
pkg/scheduler/framework/types.go, UnschedulablePods).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from math import inf
from typing import NamedTuple

import attrs

from ...api.objects import Pod, PodAffinityTerm


class Pending(NamedTuple):
    """How many pods wait where."""

    active: int
    backoff: int
    unschedulable: int

    @property
    def total(self) -> int:
        return sum(self)


class Contents(NamedTuple):
    """The pods in each part of a queue: the first two in the order in which they would leave, the last one by key."""

    active: list[Pod]
    backoff: list[Pod]
    unschedulable: list[Pod]


def affinity_terms(pod: Pod) -> tuple[PodAffinityTerm, ...]:
    """The required pod affinity terms of *pod*."""
    affinity = pod.spec.affinity
    return () if affinity is None or affinity.pod_affinity is None else affinity.pod_affinity.required


@attrs.define(eq=False)
class QueuedPod:
    """A pod in the queue, or taken out of it to be tried. Times are seconds of the queue's clock."""

    pod: Pod
    timestamp: float = -inf
    """What it is ordered and moved by: when it entered the queue, or a time that the object says; ``-inf``: it has none."""
    attempts: int = 0
    """How often it was taken out."""
    plugins: frozenset[str] = frozenset()
    """The plugins that turned it down in its last attempt; none: anything may let it fit."""
    is_gated: bool = False
    """A plugin holds it back from being tried at all."""
    terms: tuple[PodAffinityTerm, ...] = attrs.field(default=attrs.Factory(lambda self: affinity_terms(self.pod), takes_self=True))
    """Its required pod affinity."""

    def read_again(self, pod: Pod) -> QueuedPod:
        """The same attempt with the object as it is known now."""
        return QueuedPod(pod, self.timestamp, self.attempts, self.plugins, self.is_gated)

    def become(self, pod: Pod) -> None:
        """The object changed."""
        if pod.uid != self.pod.uid:
            # Upstream: affinity counts as immutable, so it is read again for another UID only.
            self.terms = affinity_terms(pod)
        self.pod = pod

    def wait(self, initial: float, maximum: float) -> float:
        """Seconds from its last failure to the next attempt: twice as many with each attempt."""
        seconds = initial
        for _ in range(1, self.attempts):
            if seconds > maximum - seconds:
                return maximum
            seconds += seconds
        return seconds


@attrs.define(eq=False)
class Parked:
    """The pods that were found unschedulable, and those that are held back, by key.

    Upstream: the order is that of a map; here they are handed out in ascending order of their keys.
    """

    _all: dict[str, QueuedPod] = attrs.field(factory=dict)
    _wanting: dict[str, QueuedPod] = attrs.field(factory=dict)
    """Those with required pod affinity."""
    _noted: dict[str, tuple[float, bool]] = attrs.field(factory=dict)
    """Each pod's time and whether it is held back, as they stand in the heaps."""
    _times: list[tuple[float, str]] = attrs.field(factory=list)
    """A heap of (time, key); it may hold entries that are stale."""
    _held_times: list[tuple[float, str]] = attrs.field(factory=list)
    """The same for those that are held back."""

    def __len__(self) -> int:
        return len(self._all)

    def get(self, key: str) -> QueuedPod | None:
        return self._all.get(key)

    def put(self, item: QueuedPod) -> None:
        """Park a pod, or replace the one of the same key."""
        key = item.pod.key
        self._all[key] = item
        if item.terms:
            self._wanting[key] = item
        else:
            self._wanting.pop(key, None)
        note = item.timestamp, item.is_gated
        if self._noted.get(key) != note:
            self._noted[key] = note
            heappush(self._held_times if item.is_gated else self._times, (item.timestamp, key))

    def drop(self, key: str) -> QueuedPod | None:
        """Take out a pod; None where it is not here."""
        self._wanting.pop(key, None)
        self._noted.pop(key, None)
        return self._all.pop(key, None)

    def all(self) -> list[QueuedPod]:
        return _by_key(self._all.values())

    def that_want(self, wants: Callable[[QueuedPod], bool]) -> list[QueuedPod]:
        """The pods with required pod affinity for which *wants* holds."""
        return _by_key(item for item in self._wanting.values() if wants(item))

    def older_than(self, time: float) -> list[QueuedPod]:
        """The pods whose time is before *time*; one without a time is not among them."""
        return _by_key(item for item in self._all.values() if -inf < item.timestamp < time)

    def oldest(self, *, held: bool = False) -> float | None:
        """The earliest time of those that are, or are not, held back; None where none has a time."""
        times = self._held_times if held else self._times
        while times:
            timestamp, key = times[0]
            if timestamp > -inf and self._noted.get(key) == (timestamp, held):
                return timestamp
            heappop(times)
        return None


def _by_key(items: Iterable[QueuedPod]) -> list[QueuedPod]:
    return sorted(items, key=lambda item: item.pod.key)
