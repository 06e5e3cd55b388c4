"""The parts of a queue: its entries, the parking of pods that fit nowhere, and the back-off of failed pods.

Upstream: pkg/scheduler/internal/queue/pod_backoff.go (before 1.15: pkg/scheduler/util/backoff_utils.go);
backend/queue/backoff_queue.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush
from math import inf
from typing import Generic, NamedTuple, TypeVar

from attrs import Factory, define, field

from ...api.objects import Pod, PodAffinityTerm

# --- Entries, and the place where pods that fit nowhere are parked ------------------------------------------
# Upstream: PodInfo and UnschedulablePodsMap in pkg/scheduler/internal/queue/scheduling_queue.go (1.27:
# QueuedPodInfo in pkg/scheduler/framework/types.go, UnschedulablePods).


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


@define(eq=False, repr=False)
class QueuedPod:
    """A pod in the queue, or one popped and being tried. Times are nanoseconds of the queue's clock."""

    pod: Pod
    timestamp: float = -inf
    """Its time, for sorting and flushes: when it entered the queue, or a time in the object; ``-inf``: it has
    none."""
    attempts: int = 0
    """The number of times that it was popped."""
    plugins: frozenset[str] = frozenset()
    """The plugins that rejected it in its last attempt; if there are none, any event moves it."""
    is_gated: bool = False
    """Whether a plugin keeps it out of the active queue."""
    terms: tuple[PodAffinityTerm, ...] = field(
        default=Factory(lambda self: affinity_terms(self.pod), takes_self=True)
    )
    """The terms of its required pod affinity."""
    entered: int | None = None
    """The time at which it first became active, where the queue notes it."""
    rejections: int = 0
    """The number of its attempts that plugins rejected, where the queue counts them."""
    errors: int = 0
    """The number of errors since the last such rejection, where the queue counts them."""
    holder: str = ""
    """The plugin that keeps it out of the active queue, where the queue notes it."""

    def read_again(self, pod: Pod) -> QueuedPod:
        """The entry for the same attempt, with the object *pod* read again."""
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
            # Upstream: affinity is taken as immutable, and read again only for another UID.
            self.terms = affinity_terms(pod)
        self.pod = pod

    def wait(self, initial: int, maximum: int, times: int | None = None) -> int:
        """The backoff: *initial* after the first time, doubled by each further one of *times*, up to
        *maximum*.

        *times* None: the number of attempts.
        """
        backoff = initial
        for _ in range(1, self.attempts if times is None else times):
            if backoff > maximum - backoff:
                return maximum
            backoff += backoff
        return backoff


def by_priority_and_time(one: QueuedPod, other: QueuedPod) -> bool:
    """Whether *one* is tried before *other*: by priority, then by time."""
    return (-one.pod.priority, one.timestamp) < (-other.pod.priority, other.timestamp)


@define(eq=False, repr=False)
class UnschedulablePods:
    """Key -> pod that was found unschedulable or is gated.

    Upstream: a map without order; here lists are in ascending order of the key.
    """

    _all: dict[str, QueuedPod] = Factory(dict)
    _wanting: dict[str, QueuedPod] = Factory(dict)
    """The pods with required pod affinity."""
    _noted: dict[str, tuple[float, bool]] = Factory(dict)
    """Key -> the pod's time and whether it is gated, as noted in the heaps."""
    _times: list[tuple[float, str]] = Factory(list)
    """A heap of (time, key), with stale entries."""
    _held_times: list[tuple[float, str]] = Factory(list)
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
        """The pods whose time is before *time*; pods without a time are left out."""
        return _by_key(item for item in self._all.values() if -inf < item.timestamp < time)

    def oldest(self, *, held: bool = False) -> float | None:
        """The earliest time of the gated pods, with *held*, or of all others; None if none has a time."""
        times = self._held_times if held else self._times
        while times:
            timestamp, key = times[0]
            if timestamp > -inf and self._noted.get(key) == (timestamp, held):
                return timestamp
            heappop(times)
        return None


def _by_key(items: Iterable[QueuedPod]) -> list[QueuedPod]:
    return sorted(items, key=lambda item: item.pod.key)


# --- Back-off -----------------------------------------------------------------------------------------------


T = TypeVar("T")


@define(eq=False, repr=False)
class Heap(Generic[T]):
    """Items by key, with a head that *less* puts before all others. Equal items do not leave in the order in
    which they came."""

    less: Callable[[T, T], bool]
    _items: list[T] = Factory(list)
    _keys: list[str] = Factory(list)
    _index: dict[str, int] = Factory(dict)

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
        """Add an item, or replace the one called *key* and sift it from its place."""
        items = self._items
        index = self._index.get(key)
        if index is None:
            self._index[key] = len(items)
            items.append(item)
            self._keys.append(key)
            self._up(len(items) - 1)
            return
        items[index] = item
        if not self._down(index, len(items)):
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
        items = self._items
        parent = start
        while (child := 2 * parent + 1) < end:
            # Upstream: of two equal children the left one moves up.
            if child + 1 < end and self.less(items[child + 1], items[child]):
                child += 1
            if not self.less(items[child], items[parent]):
                break
            self._swap(parent, child)
            parent = child
        return parent > start

    def _swap(self, one: int, other: int) -> None:
        items = self._items
        keys = self._keys
        items[one], items[other] = items[other], items[one]
        keys[one], keys[other] = keys[other], keys[one]
        self._index[keys[one]], self._index[keys[other]] = one, other


SECOND = 10**9
"""A second in nanoseconds. Clocks count in these, as Go's do: sums of seconds in floating point would miss
the instant at which a back-off ends."""


def nanoseconds(seconds: float) -> int:
    """*seconds* in whole nanoseconds.

    >>> nanoseconds(0.1) + nanoseconds(0.2) == nanoseconds(0.3)
    True
    """
    whole = int(seconds)
    return whole * SECOND + round((seconds - whole) * SECOND)


@define(eq=False, repr=False)
class Clock:
    """The time in nanoseconds. Move it forward only: ``clock.now = 12 * SECOND``."""

    now: int = 0
    origin: int = 0
    """The clock's 0 in nanoseconds since 1970; objects have times in dates."""

    @property
    def seconds(self) -> float:
        return self.now / SECOND


@define(eq=False, repr=False)
class Timer:
    """A timer that ticks at *start* and every *period* nanoseconds after it; ticks up to *spent* are over.

    Upstream: wait.Until, with functions that take no time.
    """

    start: int
    period: int
    spent: int = field(default=Factory(lambda self: self.start, takes_self=True))
    """The time up to which ticks are over; the first tick is over when the timer is made."""

    def next(self, earliest: float, *, after: bool = False) -> float:
        """The first tick that is not over and not before *earliest*; with *after*, that is later.

        >>> Timer(start=0, period=30).next(60), Timer(start=0, period=30).next(60, after=True)
        (60, 90)
        """
        if earliest <= self.spent:
            return self._later(self.spent)
        is_tick = (earliest - self.start) % self.period == 0
        return earliest if is_tick and not after else self._later(earliest)

    def _later(self, time: float) -> float:
        return time - (time - self.start) % self.period + self.period


class BackoffEntry(NamedTuple):
    """A pod's last failure that counted, and its wait from then on, in nanoseconds."""

    failed: int
    wait: int


@define(eq=False, repr=False)
class Backoff:
    """The back-off of pods by key: waits of 1, 2, 4, 8, then always 10 seconds. Times are nanoseconds of the
    caller's clock."""

    forget_after: float
    """The time after a pod's last counted failure from which it starts anew; it may be infinite."""
    initial: int = SECOND
    maximum: int = 10 * SECOND
    _steps: dict[str, BackoffEntry] = Factory(dict)
    """Key -> entry, in ascending order of failure."""

    def until(self, key: str) -> int | None:
        """The end of the back-off of *key*; None for an unknown pod."""
        step = self._steps.get(key)
        return None if step is None else step.failed + step.wait

    def is_waiting(self, key: str, now: int) -> bool:
        """Whether the wait of *key* has not ended yet."""
        until = self.until(key)
        return until is not None and until > now

    def fail(self, key: str, now: int) -> None:
        """Begin the next wait of a pod that failed, unless one is going on."""
        self._forget(now)
        until = self.until(key)
        if until is not None and until >= now:
            return
        before = self._steps.pop(key, None)
        self._steps[key] = BackoffEntry(
            now, self.initial if before is None else min(before.wait * 2, self.maximum)
        )

    def clear(self, key: str) -> None:
        """Forget *key*."""
        self._steps.pop(key, None)

    def _forget(self, now: int) -> None:
        # Upstream: old entries go only when some pod fails, even those of pods that still wait in the backoff
        # queue.
        while self._steps:
            key = next(iter(self._steps))
            if self._steps[key].failed + self.forget_after >= now:
                return
            del self._steps[key]


Less = Callable[[QueuedPod, QueuedPod], bool]


@define(eq=False, repr=False)
class BackoffHeaps:
    """Two heaps: pods that plugins rejected, in the order of *less*, and pods with errors, in the order of
    *by_end*."""

    less: Less
    by_end: Less
    rejected: Heap[QueuedPod] = field(init=False)
    errors: Heap[QueuedPod] = field(init=False)

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
        """Add a pod, or replace its entry; its heap depends on whether plugins rejected it."""
        own_heap, other_heap = (self.rejected, self.errors) if item.plugins else (self.errors, self.rejected)
        other_heap.remove(key)
        own_heap.put(key, item)

    def remove(self, key: str) -> QueuedPod | None:
        return self.rejected.remove(key) or self.errors.remove(key)

    def peek(self) -> QueuedPod | None:
        """The pod whose backoff ends first."""
        rejected = self.rejected.peek()
        error = self.errors.peek()
        return error if rejected is None or (error is not None and self.by_end(error, rejected)) else rejected

    def pop(self) -> QueuedPod:
        """Take out the pod of :meth:`peek`."""
        if self.rejected and self.peek() is self.rejected.peek():
            return self.rejected.pop()
        return self.errors.pop()

    def in_order(self) -> list[QueuedPod]:
        return self.rejected.in_order() + self.errors.in_order()
