"""The queue by priority of 1.12 to 1.16: any event may let any pod fit.

Upstream: PriorityQueue in pkg/scheduler/internal/queue/scheduling_queue.go (1.12:
pkg/scheduler/core/scheduling_queue.go).
"""

from __future__ import annotations

import heapq
from collections import deque
from math import inf

import attrs

from ...api.meaning import SelectorError, compile_selector, seconds_since_1970
from ...api.objects import Pod, PodAffinityTerm
from ..cluster.nominations import Nominations
from ..release import QueueCells
from .backoff import SECOND, Backoff, Clock, Contents, Pending, QueuedPod, by_priority_and_time, nanoseconds
from .base import QueueBase, SchedulingQueue, scheduled_condition

LONGEST_WAIT = 60 * SECOND
"""A wait that was not asked for in this time is forgotten."""


@attrs.define(eq=False, kw_only=True, repr=False)
class Fifo(SchedulingQueue):
    """No pod is parked, no event moves pods, nominations do not count, nor does the number of a cycle.

    A failed pod goes to the end at once; in a :class:`WaitingFifo` it waits first.
    """

    _order: deque[str] = attrs.Factory(deque)
    _queued: dict[str, Pod] = attrs.Factory(dict)

    @property
    def pending(self) -> Pending:
        return Pending(len(self._queued), 0, 0)

    def pods(self) -> list[Pod]:
        return [self._queued[key] for key in dict.fromkeys(self._order) if key in self._queued]

    def entries(self) -> list[QueuedPod]:
        return [QueuedPod(pod) for pod in self.pods()]

    def contents(self) -> Contents:
        return Contents(Fifo.pods(self), [], [])

    def add(self, pod: Pod) -> None:
        self.tick()
        # Upstream: a key that was deleted keeps its place, and a pod that comes back by that name takes it.
        if pod.key not in self._queued:
            self._order.append(pod.key)
        self._queued[pod.key] = pod

    def add_if_not_present(self, pod: Pod) -> None:
        self.tick()
        if pod.key not in self._queued:
            self.add(pod)

    def add_unschedulable(self, item: QueuedPod, cycle: int) -> None:
        self.add_if_not_present(item.pod)

    def pop(self) -> QueuedPod | None:
        self.tick()
        while self._order:
            pod = self._queued.pop(self._order.popleft(), None)
            if pod is not None:
                return QueuedPod(pod)
        return None

    @property
    def can_pop(self) -> bool:
        return bool(self._queued)

    def update(self, old: Pod, new: Pod) -> None:
        self.add(new)

    def delete(self, pod: Pod) -> None:
        self.tick()
        self._queued.pop(pod.key, None)

    def move_all(self) -> None:
        self.tick()

    def assigned_pod_added(self, pod: Pod) -> None:
        self.tick()

    def next_due(self) -> int | None:
        return None


@attrs.define(eq=False, repr=False)
class Wait:
    """The wait of one pod."""

    next: int = SECOND
    """How long the next one is."""
    asked: int = 0
    is_running: bool = False


@attrs.define(eq=False, kw_only=True, repr=False)
class WaitingFifo(Fifo):
    """A FIFO with the scheduler's error function in front: a failed pod waits and then goes to the end."""

    doubles: bool
    """Whether a pod's wait grows with each failure."""
    _known: dict[str, Pod] = attrs.Factory(dict)
    """The pods without a node as the API has them, which is asked when a wait ends."""
    _waits: dict[str, Wait] = attrs.Factory(dict)
    _running: list[tuple[int, int, str, Wait]] = attrs.Factory(list)
    """A heap of (end, number, key of the pod, its wait)."""
    _started: int = 0

    @property
    def pending(self) -> Pending:
        return Pending(len(self._queued), len(self._running), 0)

    def pods(self) -> list[Pod]:
        waiting = dict.fromkeys(key for _, _, key, _ in sorted(self._running, key=lambda run: run[:2]))
        return Fifo.pods(self) + [
            self._known[key] for key in waiting if key in self._known and key not in self._queued
        ]

    def add(self, pod: Pod) -> None:
        Fifo.add(self, pod)
        self._known[pod.key] = pod

    def delete(self, pod: Pod) -> None:
        Fifo.delete(self, pod)
        self._known.pop(pod.key, None)

    def add_unschedulable(self, item: QueuedPod, cycle: int) -> None:
        self.tick()
        key = item.pod.key
        self._known[key] = item.pod
        self._forget()
        wait = self._waits.setdefault(key, Wait())
        wait.asked = self.clock.now
        # Upstream: a pod that fails again while it waits, as after an update, does not wait a second time.
        if wait.is_running:
            return
        wait.is_running = True
        self._started += 1
        heapq.heappush(self._running, (self.clock.now + wait.next, self._started, key, wait))
        wait.next = min(wait.next * 2, LONGEST_WAIT)

    def _forget(self) -> None:
        if not self.doubles:
            # Upstream: 1.14 does not note when a wait was asked for, and so takes every wait for an old one.
            self._waits.clear()
            return
        for key in [key for key, wait in self._waits.items() if self.clock.now - wait.asked > LONGEST_WAIT]:
            del self._waits[key]

    def tick(self) -> None:
        while self._running and self._running[0][0] <= self.clock.now:
            _, _, key, wait = heapq.heappop(self._running)
            wait.is_running = False
            pod = self._known.get(key)
            if pod is not None and key not in self._queued:
                self._order.append(key)
                self._queued[key] = pod

    def next_due(self) -> int | None:
        return self._running[0][0] if self._running else None


@attrs.define(eq=False, kw_only=True, repr=False)
class PriorityQueue(QueueBase):
    """See :class:`~kubeclassic.core.queue.base.SchedulingQueue`, which says what the methods do."""

    _backoff: Backoff = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        forget_after = self.cells.backoff_forget_after
        self._backoff = Backoff(inf if forget_after is None else nanoseconds(forget_after))

    def _time_of(self, pod: Pod) -> float:
        return pod_timestamp(pod) - self.clock.origin if self.cells.pod_timestamps else self.clock.now

    def _ends(self, item: QueuedPod) -> float:
        # Upstream: a pod that backs off moves at once if its failures were forgotten.
        until = self._backoff.until(item.pod.key)
        return -inf if until is None else until

    def _replaced(self, item: QueuedPod, pod: Pod) -> QueuedPod:
        return QueuedPod(pod, self._time_of(pod) if self.cells.pod_timestamps else item.timestamp)

    def _count_failure(self, key: str) -> None:
        self._backoff.fail(key, self.clock.now)

    def _forget_failures(self, key: str) -> None:
        self._backoff.clear(key)

    def move_all(self) -> None:
        self.tick()
        self._move(self._parked.all(), self.clock.now)

    def assigned_pod_added(self, pod: Pod) -> None:
        self.tick()
        self._move(self._parked.that_want(lambda item: wants(item, pod)), self.clock.now)


def by_priority(one: QueuedPod, other: QueuedPod) -> bool:
    """Whether *one* is tried before *other*: by priority alone."""
    return one.pod.priority > other.pod.priority


def pod_timestamp(pod: Pod) -> float:
    """The time of the condition PodScheduled, or of the creation if *pod* has none; nanoseconds since 1970,
    ``-inf`` if absent."""
    condition = scheduled_condition(pod)
    if condition is None:
        found = seconds_since_1970(pod.metadata.creation_timestamp)
    else:
        probed = seconds_since_1970(condition.last_probe_time)
        found = probed if probed > -inf else seconds_since_1970(condition.last_transition_time)
    return nanoseconds(found) if found > -inf else found


def wants(item: QueuedPod, other: Pod) -> bool:
    """Whether any required affinity term matches *other*, whatever its node; an invalid selector matches no
    pod."""
    return any(_matches(term, item.pod, other) for term in item.terms)


def _matches(term: PodAffinityTerm, owner: Pod, other: Pod) -> bool:
    if other.namespace not in (term.namespaces or (owner.namespace,)):
        return False
    try:
        return compile_selector(term.label_selector)(other.labels)
    except SelectorError:
        return False


def make_queue(
    cells: QueueCells, nominations: Nominations, clock: Clock, *, fifo: bool, waits: bool = True
) -> SchedulingQueue:
    """The queue of a release, which keeps *nominations* and goes by *clock*; with *fifo* it knows no
    priorities.

    *waits*: a FIFO includes the wait of failed pods, which upstream's error function adds; else they enter it
    at once.
    """
    if fifo:
        return WaitingFifo(clock=clock, doubles=cells.fifo_wait_doubles) if waits else Fifo(clock=clock)
    less = by_priority_and_time if cells.by_timestamp else by_priority
    return PriorityQueue(cells=cells, nominations=nominations, clock=clock, less=less)
