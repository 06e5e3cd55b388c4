"""The scheduling queue: which pod is tried next, and when a failed pod is tried again.

:class:`QueueBase` is the queue by priority as far as all releases share it: an active heap, a heap of pods
that back off, and the parked pods. Releases differ in cells and in the few methods that it leaves open. In
that of 1.12 to 1.16 any event may let any pod fit. Upstream: SchedulingQueue and PriorityQueue in
pkg/scheduler/internal/queue/scheduling_queue.go (1.12: pkg/scheduler/core/scheduling_queue.go).
"""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable
from math import inf

from attrs import Factory, define, field
from msgspec.structs import replace

from ...api.meaning import seconds_since_1970, selects
from ...api.objects import Condition, Pod, PodStatus
from ...exceptions import CacheError
from ..cluster.nominations import Nominations
from ..release import QueueCells
from .backoff import (
    SECOND,
    Backoff,
    BackoffHeaps,
    Clock,
    Contents,
    Heap,
    Pending,
    QueuedPod,
    Timer,
    UnschedulablePods,
    by_priority_and_time,
    nanoseconds,
)


@define(eq=False, kw_only=True, repr=False)
class SchedulingQueue(ABC):
    """The pods that wait for a node. Everything happens at the time of the queue's clock, after the flushes
    that are due.

    By default, a method that is not abstract does nothing, or as little as it can.
    """

    clock: Clock
    cycle: int = 0
    """The number of pods popped, where the queue counts them: the number of the cycle that the last pop
    began."""
    on_incoming: Callable[[str, str], None] | None = None
    """Called when a pod moves, with its new part of the queue (``active``, ``backoff``, ``unschedulable``)
    and the event."""

    @property
    @abstractmethod
    def pending(self) -> Pending:
        """The numbers of pods that are active, back off, and are parked as unschedulable."""

    @abstractmethod
    def pods(self) -> list[Pod]:
        """All pods in the queue: active ones in the order of the heap, those that back off, then parked
        ones."""

    @abstractmethod
    def entries(self) -> list[QueuedPod]:
        """The entries of the pods of :meth:`pods`, in the same order."""

    @abstractmethod
    def contents(self) -> Contents:
        """The pods in each part, in the order in which they would be taken out."""

    def is_gated(self, pod: Pod) -> bool:
        """Whether a plugin keeps *pod* out of the active queue."""
        return False

    @abstractmethod
    def add(self, pod: Pod) -> None:
        """Queue a new pod."""

    @abstractmethod
    def add_if_not_present(self, pod: Pod) -> None:
        """As :meth:`add`, but a pod that is in the queue stays as it is."""

    @abstractmethod
    def add_unschedulable(self, item: QueuedPod, cycle: int) -> None:
        """Queue a popped pod again, which failed in *cycle* (``queue.cycle`` as the attempt failed).

        *item* is the entry that :meth:`pop` gave, with the object as the API has it now
        (:meth:`QueuedPod.read_again`): its nomination counts, and in 1.12 and 1.13 its condition
        PodScheduled. Raises :class:`~kubeclassic.exceptions.CacheError` if the pod is in the queue already.
        """

    @abstractmethod
    def pop(self) -> QueuedPod | None:
        """Pop the pod to try next and begin a cycle; None where no pod is active."""

    @property
    @abstractmethod
    def can_pop(self) -> bool:
        """Whether :meth:`pop` would find a pod."""

    def done(self, pod: Pod) -> None:
        """Note that a popped pod is not tried any more: it is about to be bound, or was ignored."""

    @abstractmethod
    def update(self, old: Pod, new: Pod) -> None:
        """Take a change of a pod without a node; one that is not in the queue enters it."""

    @abstractmethod
    def delete(self, pod: Pod) -> None:
        """Remove a pod that was deleted or got a node; no error where it is not in the queue."""

    def nominate(self, pod: Pod, node_name: str) -> None:
        """Nominate a pod to a node, where victims have to leave first."""

    def withdraw(self, pod: Pod) -> None:
        """Remove the nomination of a pod."""

    @abstractmethod
    def move_all(self) -> None:
        """Take a change that may let any pod fit: no pod stays parked, and one that is being tried will not
        be parked."""

    @abstractmethod
    def assigned_pod_added(self, pod: Pod) -> None:
        """Take a new pod on a node: parked pods with a required affinity to it may fit."""

    def assigned_pod_updated(self, pod: Pod) -> None:
        """As :meth:`assigned_pod_added`, for a pod that changed."""
        self.assigned_pod_added(pod)

    def activate(self, pods: Iterable[Pod]) -> None:
        """Try parked pods and pods that back off next, where the queue can."""

    def hold_back(self, pod: Pod, held: bool) -> None:
        """Keep *pod* from becoming active while its victims are being deleted in the background; *held* False
        ends that."""

    def tick(self) -> None:
        """Run the flushes that are due."""

    @abstractmethod
    def next_due(self) -> int | None:
        """The time in nanoseconds of the next flush that could change anything; None where none could now."""


BACKOFF_FLUSH = SECOND
"""Nanoseconds between two flushes of the backoff queue."""
UNSCHEDULABLE_FLUSH = 30 * SECOND
"""Nanoseconds between two flushes of the parked pods."""
ACTIVE = "active"
BACKOFF = "backoff"
PARKED = "unschedulable"
"""The parts of the queue, as metrics name them."""
TIMEOUT = "UnschedulableTimeout"
"""The event that moves pods parked for too long."""


@define(eq=False, kw_only=True, repr=False)
class QueueBase(SchedulingQueue):
    """See :class:`SchedulingQueue`, which says what the public methods do."""

    cells: QueueCells
    nominations: Nominations
    less: Callable[[QueuedPod, QueuedPod], bool]
    """Whether the first of two active pods is tried before the second."""
    _move_cycle: int = -1
    """The cycle of the last move."""
    _active: Heap[QueuedPod] = field(init=False)
    _waiting: Heap[QueuedPod] | BackoffHeaps = field(init=False)
    """Pods that back off."""
    _parked: UnschedulablePods = Factory(UnschedulablePods)
    _backoff_timer: Timer = field(init=False)
    _parked_timer: Timer = field(init=False)
    _parked_at_most: float = inf

    def __attrs_post_init__(self) -> None:
        self._active = Heap(self.less)
        self._waiting = Heap(self._ends_before)
        self._backoff_timer = Timer(self.clock.now, BACKOFF_FLUSH)
        self._parked_timer = Timer(self.clock.now, UNSCHEDULABLE_FLUSH)
        if self.cells.parked_at_most is not None:
            self._parked_at_most = nanoseconds(self.cells.parked_at_most)

    # --- what releases do differently -----------------------------------------------------------------------

    @abstractmethod
    def _time_of(self, pod: Pod) -> float:
        """The time of a pod that enters the queue now."""

    @abstractmethod
    def _backoff_end(self, item: QueuedPod) -> float:
        """The end of a pod's back-off; ``-inf``: it has none."""

    @abstractmethod
    def _with_pod(self, item: QueuedPod, pod: Pod) -> QueuedPod:
        """The entry of a pod after its object was updated."""

    def _activate(self, item: QueuedPod) -> bool:
        """Make a pod active; False if it is gated, which parks it."""
        self._active.put(item.pod.key, item)
        return True

    def _next(self) -> QueuedPod | None:
        """Pop the pod to try next."""
        return self._active.pop() if self._active else None

    @property
    def can_pop(self) -> bool:
        return bool(self._active)

    @abstractmethod
    def _count_failure(self, key: str) -> None:
        """Count a failed attempt of a pod."""

    @abstractmethod
    def _forget_failures(self, key: str) -> None:
        """Forget the failures of a pod: the next one counts as its first."""

    # --- looking --------------------------------------------------------------------------------------------

    @property
    def pending(self) -> Pending:
        return Pending(len(self._active), len(self._waiting), len(self._parked))

    def pods(self) -> list[Pod]:
        return [item.pod for item in self.entries()]

    def contents(self) -> Contents:
        parts = self._active.in_order(), self._waiting.in_order(), self._parked.all()
        return Contents(*([item.pod for item in items] for items in parts))

    def entries(self) -> list[QueuedPod]:
        return [*self._active, *self._waiting, *self._parked.all()]

    def is_gated(self, pod: Pod) -> bool:
        item = self._parked.get(pod.key)
        return item is not None and item.is_gated

    # --- pods -----------------------------------------------------------------------------------------------

    def add(self, pod: Pod) -> None:
        self.tick()
        item = QueuedPod(pod, self._time_of(pod))
        if not self._activate(item):
            return
        if self._parked.drop(pod.key) is not None:
            self.nominations.remove(pod)
        self._waiting.remove(pod.key)
        self._note(ACTIVE, "PodAdd")
        self.nominations.add(pod, holder=item)

    def add_if_not_present(self, pod: Pod) -> None:
        self.tick()
        if self._place_of(pod.key) is None:
            self._enter(pod)

    def _enter(self, pod: Pod) -> None:
        item = QueuedPod(pod, self._time_of(pod))
        if self._activate(item):
            self.nominations.add(pod, holder=item)

    def add_unschedulable(self, item: QueuedPod, cycle: int) -> None:
        self.tick()
        pod = item.pod
        self._refuse_duplicate(pod.key)
        item.timestamp = self._time_of(pod)
        if self.cells.has_backoff:
            self._count_failure(pod.key)
        # Upstream: every pop clears the flag of 1.12, so only moves since the last pop count.
        was_moved = self._move_cycle >= (self.cycle if self.cells.move_marker == "flag" else cycle)
        if not was_moved and (is_unschedulable(pod) or not self.cells.parks_by_condition):
            self._parked.put(item)
            self._note(PARKED, "ScheduleAttemptFailure")
        else:
            (self._waiting if self.cells.has_backoff else self._active).put(pod.key, item)
            self._note(BACKOFF, "ScheduleAttemptFailure")
        self.nominations.add(pod, holder=item)

    def _refuse_duplicate(self, key: str) -> None:
        place = self._place_of(key)
        if place is not None:
            raise CacheError(self.cells.refusals[place].format(key))

    def _place_of(self, key: str) -> int | None:
        """The place of a pod: parked (0), active (1), backing off (2); None if it is not in the queue."""
        entries = (self._parked.get(key), self._active.get(key), self._waiting.get(key))
        return next((place for place, item in enumerate(entries) if item is not None), None)

    def pop(self) -> QueuedPod | None:
        self.tick()
        item = self._next()
        if item is None:
            return None
        item.attempts += 1
        item.plugins = frozenset()
        self.cycle += 1
        if self.cells.pop_removes_nomination:
            self.nominations.remove(item.pod)
        return item

    def update(self, old: Pod, new: Pod) -> None:
        self.tick()
        key = new.key
        if (item := self._active.get(key)) is not None:
            self._active.put(key, self._renewed(item, old, new))
        elif (item := self._waiting.get(key)) is not None:
            item = self._renewed(item, old, new)
            if self.cells.update_ends_backoff:
                # Upstream: an update of the status alone, too.
                self._waiting.remove(key)
                self._active.put(key, item)
            else:
                self._waiting.put(key, item)
        elif (item := self._parked.get(key)) is not None:
            self._update_parked(self._renewed(item, old, new), old)
        else:
            self._enter(new)

    def _renewed(self, item: QueuedPod, old: Pod, new: Pod) -> QueuedPod:
        item = self._with_pod(item, new)
        self.nominations.update(old, new, item)
        return item

    def _update_parked(self, item: QueuedPod, old: Pod) -> None:
        self._parked.put(item)
        new = item.pod
        count = self.cells.finalizers_count
        # It may fit now if more has changed than versions, status and, unless they count, finalizers.
        is_same = old.metadata is new.metadata and old.spec is new.spec
        if not is_same and _stripped(old, count) != _stripped(new, count):
            if not self.cells.update_ends_backoff:
                self._leave_parking(item, self.clock.now)
                return
            self._forget_failures(item.pod.key)
            if self._activate(item):
                self._parked.drop(item.pod.key)

    def delete(self, pod: Pod) -> None:
        self.tick()
        self.nominations.remove(pod)
        # Upstream: the failures of an active pod stay, and count for the next pod of its name.
        if self._active.remove(pod.key) is None:
            self._forget_failures(pod.key)
            self._waiting.remove(pod.key)
            self._parked.drop(pod.key)

    def nominate(self, pod: Pod, node_name: str) -> None:
        self.nominations.add(pod, node_name)

    def withdraw(self, pod: Pod) -> None:
        self.nominations.remove(pod)

    # --- moves ----------------------------------------------------------------------------------------------

    def _move(self, items: Iterable[QueuedPod], now: int, event: str = TIMEOUT) -> None:
        for item in items:
            place = self._leave_parking(item, now)
            if place is not None:
                self._note(place, event)
        # Upstream: a pod that is being tried will not be parked, even if this moved no pod.
        self._move_cycle = self.cycle

    def _leave_parking(self, item: QueuedPod, now: int) -> str | None:
        """The part of the queue to which the pod moves; None: it stays."""
        key = item.pod.key
        if self._backs_off(item, now):
            self._waiting.put(key, item)
            self._parked.drop(key)
            return BACKOFF
        if not self._activate(item):
            return None
        self._parked.drop(key)
        return ACTIVE

    def _backs_off(self, item: QueuedPod, now: int) -> bool:
        return not item.is_gated and self._backoff_end(item) > now

    def _note(self, place: str, event: str) -> None:
        if self.on_incoming is not None:
            self.on_incoming(place, event)

    # --- time -----------------------------------------------------------------------------------------------

    def tick(self) -> None:
        parked_timer = self._parked_timer
        now = self.clock.now
        if self._backoff_timer.spent == now == parked_timer.spent:
            return  # all flushes due up to now are done
        while (due := self.next_due()) is not None and due <= now:
            # Upstream: two flushes at the same time run in any order; here the backoff queue is first.
            if self._backoff_due() == due:
                self._flush_waiting(due)
                self._backoff_timer.spent = due
            else:
                self._flush_parked(due)
                parked_timer.spent = due
        gated = self._parked.oldest(held=True)
        if gated is not None and parked_timer.next(gated + self._parked_at_most, after=True) <= now:
            self._flush_gated()
        self._backoff_timer.spent = parked_timer.spent = now

    def _flush_gated(self) -> None:
        """Note a flush that found only gated pods."""
        # Upstream: every flush moves a gated pod to its own place, which counts as a move.
        self._move_cycle = self.cycle

    def next_due(self) -> int | None:
        due = self._backoff_due()
        oldest = self._parked.oldest() if self._parked_at_most < inf else None
        if oldest is not None:
            due = min(due, self._parked_timer.next(oldest + self._parked_at_most, after=True))
        return None if due == inf else int(due)

    def _backoff_due(self) -> float:
        head = self._waiting.peek()
        return inf if head is None else self._backoff_timer.next(self._backoff_end(head))

    def _flush_waiting(self, now: int) -> None:
        while (head := self._waiting.peek()) is not None and self._backoff_end(head) <= now:
            if self._activate(self._waiting.pop()):
                self._note(ACTIVE, "BackoffComplete")

    def _flush_parked(self, now: int) -> None:
        items = self._parked.older_than(now - self._parked_at_most)
        if items:
            self._move(items, now)

    def _ends_before(self, one: QueuedPod, other: QueuedPod) -> bool:
        return self._backoff_end(one) < self._backoff_end(other)


def scheduled_condition(pod: Pod) -> Condition | None:
    """The condition PodScheduled of *pod*; None if it has none."""
    return next((condition for condition in pod.status.conditions if condition.type == "PodScheduled"), None)


def is_unschedulable(pod: Pod) -> bool:
    """Whether the condition PodScheduled of *pod* is False with reason Unschedulable."""
    condition = scheduled_condition(pod)
    return condition is not None and (condition.status, condition.reason) == ("False", "Unschedulable")


def _stripped(pod: Pod, finalizers_count: bool) -> Pod:
    finalizers = pod.metadata.finalizers if finalizers_count else ()
    metadata = replace(pod.metadata, resource_version="", generation=0, finalizers=finalizers)
    return replace(pod, metadata=metadata, status=PodStatus())


# --- 1.12 to 1.16 -------------------------------------------------------------------------------------------

LONGEST_WAIT = 60 * SECOND
"""The time after which an unused wait is forgotten."""


@define(eq=False, kw_only=True, repr=False)
class Fifo(SchedulingQueue):
    """A first-in, first-out queue: no pod is parked, no event moves pods, and nominations and cycle numbers
    do not count.

    A failed pod goes to the end at once; in a :class:`WaitingFifo` it waits first.
    """

    _order: deque[str] = Factory(deque)
    _queued: dict[str, Pod] = Factory(dict)

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
        # Upstream: a deleted key keeps its place, which a new pod of that name takes.
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


@define(eq=False, repr=False)
class Wait:
    """The wait of one pod."""

    next: int = SECOND
    """The length of the next wait."""
    asked: int = 0
    is_running: bool = False


@define(eq=False, kw_only=True, repr=False)
class WaitingFifo(Fifo):
    """A FIFO with the scheduler's error function in front: a failed pod waits and then goes to the end."""

    doubles: bool
    """Whether a pod's wait grows with each failure."""
    _known: dict[str, Pod] = Factory(dict)
    """The pods without a node as in the API, which is asked when a wait ends."""
    _waits: dict[str, Wait] = Factory(dict)
    _running: list[tuple[int, int, str, Wait]] = Factory(list)
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
            # Upstream: 1.14 does not note when a wait was used, and so takes every wait for an old one.
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


@define(eq=False, kw_only=True, repr=False)
class PriorityQueue(QueueBase):
    """See :class:`~kubeclassic.core.queue.priority.SchedulingQueue`, which says what the methods do."""

    _backoff: Backoff = field(init=False)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        forget_after = self.cells.backoff_forget_after
        self._backoff = Backoff(inf if forget_after is None else nanoseconds(forget_after))

    def _time_of(self, pod: Pod) -> float:
        return pod_timestamp(pod) - self.clock.origin if self.cells.pod_timestamps else self.clock.now

    def _backoff_end(self, item: QueuedPod) -> float:
        # Upstream: a pod that backs off moves at once if its failures were forgotten.
        until = self._backoff.until(item.pod.key)
        return -inf if until is None else until

    def _with_pod(self, item: QueuedPod, pod: Pod) -> QueuedPod:
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
        seconds = seconds_since_1970(pod.metadata.creation_timestamp)
    else:
        probed = seconds_since_1970(condition.last_probe_time)
        seconds = probed if probed > -inf else seconds_since_1970(condition.last_transition_time)
    return nanoseconds(seconds) if seconds > -inf else seconds


def wants(item: QueuedPod, other: Pod) -> bool:
    """Whether any required affinity term matches *other*, whatever its node; an invalid selector matches no
    pod."""
    return any(
        other.namespace in (term.namespaces or (item.pod.namespace,))
        and selects(term.label_selector, other.labels)
        for term in item.terms
    )


def make_queue(
    cells: QueueCells, nominations: Nominations, clock: Clock, *, fifo: bool, waits: bool = True
) -> SchedulingQueue:
    """The queue of a release, with *nominations* and *clock*; with *fifo* it ignores priorities.

    *waits*: a FIFO includes the wait of failed pods, which upstream's error function adds; else they enter it
    at once.
    """
    if fifo:
        return WaitingFifo(clock=clock, doubles=cells.fifo_wait_doubles) if waits else Fifo(clock=clock)
    less = by_priority_and_time if cells.by_timestamp else by_priority
    return PriorityQueue(cells=cells, nominations=nominations, clock=clock, less=less)
