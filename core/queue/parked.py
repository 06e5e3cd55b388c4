"""The entry of a pod in the scheduling queue, and the place where pods that fit nowhere are parked.

Upstream: PodInfo and UnschedulablePodsMap in pkg/scheduler/internal/queue/scheduling_queue.go (1.27:
QueuedPodInfo in pkg/scheduler/framework/types.go, UnschedulablePods).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from math import inf
from typing import NamedTuple

import attrs

from ...api.objects import Pod, PodAffinityTerm


class Pending(NamedTuple):
    """The numbers of waiting pods by place."""

    active: int
    backoff: int
    unschedulable: int

    @property
    def total(self) -> int:
        return sum(self)


class Contents(NamedTuple):
    """The pods in each part of a queue: active and backoff in the order in which they would be taken out,
    unschedulable by key."""

    active: list[Pod]
    backoff: list[Pod]
    unschedulable: list[Pod]


def affinity_terms(pod: Pod) -> tuple[PodAffinityTerm, ...]:
    """The required pod affinity terms of *pod*."""
    affinity = pod.spec.affinity
    return () if affinity is None or affinity.pod_affinity is None else affinity.pod_affinity.required


@attrs.define(eq=False, repr=False)
class QueuedPod:
    """A pod in the queue, or one that was popped and is being tried. Times are nanoseconds of the queue's
    clock."""

    pod: Pod
    timestamp: float = -inf
    """Its time, for sorting and flushes: when it entered the queue, or a time in the object; ``-inf``: it has
    none."""
    attempts: int = 0
    """How often it was popped."""
    plugins: frozenset[str] = frozenset()
    """The plugins that rejected it in its last attempt; if there are none any event moves it."""
    is_gated: bool = False
    """A plugin keeps it out of the active queue."""
    terms: tuple[PodAffinityTerm, ...] = attrs.field(
        default=attrs.Factory(lambda self: affinity_terms(self.pod), takes_self=True)
    )
    """Its required pod affinity."""
    entered: int | None = None
    """When it first became active, where the queue notes it."""
    rejections: int = 0
    """How many of its attempts plugins rejected, ..."""
    errors: int = 0
    """... and how many errors it had since, where the queue counts them."""
    holder: str = ""
    """The plugin that keeps it out of the active queue, where the queue notes it."""

    def read_again(self, pod: Pod) -> QueuedPod:
        """The same attempt with the object that was read again."""
        return QueuedPod(
            pod,
            self.timestamp,
            self.attempts,
            self.plugins,
            self.is_gated,
            entered=self.entered,
            rejections=self.rejections,
            errors=self.errors,
        )

    def become(self, pod: Pod) -> None:
        """Replace the object."""
        if pod.uid != self.pod.uid:
            # Upstream: affinity counts as immutable and is read again for another UID only.
            self.terms = affinity_terms(pod)
        self.pod = pod

    def wait(self, initial: int, maximum: int, times: int | None = None) -> int:
        """The backoff: *initial* after the first of that many *times*, doubled by each further one, up to
        *maximum*.

        None: the attempts count.
        """
        found = initial
        for _ in range(1, self.attempts if times is None else times):
            if found > maximum - found:
                return maximum
            found += found
        return found


def by_priority_and_time(one: QueuedPod, other: QueuedPod) -> bool:
    """Whether *one* is tried before *other*: by priority, then by time."""
    return (-one.pod.priority, one.timestamp) < (-other.pod.priority, other.timestamp)


@attrs.define(eq=False, repr=False)
class Parked:
    """Key -> pod that was found unschedulable or is gated.

    Upstream: a map without order; here lists are in ascending order of the key.
    """

    _all: dict[str, QueuedPod] = attrs.Factory(dict)
    _wanting: dict[str, QueuedPod] = attrs.Factory(dict)
    """Those with required pod affinity."""
    _noted: dict[str, tuple[float, bool]] = attrs.Factory(dict)
    """Key -> the pod's time and whether it is gated, as noted in the heaps."""
    _times: list[tuple[float, str]] = attrs.Factory(list)
    """A heap of (time, key), with stale entries."""
    _held_times: list[tuple[float, str]] = attrs.Factory(list)
    """The same for gated pods."""

    def __len__(self) -> int:
        return len(self._all)

    def get(self, key: str) -> QueuedPod | None:
        return self._all.get(key)

    def put(self, item: QueuedPod) -> None:
        """Park a pod, or replace the entry of the same key."""
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
        """Remove a pod; None if it is not parked."""
        self._wanting.pop(key, None)
        self._noted.pop(key, None)
        return self._all.pop(key, None)

    def all(self) -> list[QueuedPod]:
        return _by_key(self._all.values())

    def that_want(self, wants: Callable[[QueuedPod], bool]) -> list[QueuedPod]:
        """The pods with required pod affinity for which *wants* is true."""
        return _by_key(item for item in self._wanting.values() if wants(item))

    def older_than(self, time: float) -> list[QueuedPod]:
        """The pods whose time is before *time*, without those that have no time."""
        return _by_key(item for item in self._all.values() if -inf < item.timestamp < time)

    def oldest(self, *, held: bool = False) -> float | None:
        """The earliest time of the pods that are gated, with *held*, or that are not; None if none has a
        time."""
        times = self._held_times if held else self._times
        while times:
            timestamp, key = times[0]
            if timestamp > -inf and self._noted.get(key) == (timestamp, held):
                return timestamp
            heappop(times)
        return None


def _by_key(items: Iterable[QueuedPod]) -> list[QueuedPod]:
    return sorted(items, key=lambda item: item.pod.key)
