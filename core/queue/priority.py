"""The queue by priority: an active heap, a heap of pods that back off, and a place for those that fit nowhere for now.

Upstream: PriorityQueue in pkg/scheduler/internal/queue/scheduling_queue.go (1.12: pkg/scheduler/core/scheduling_queue.go).
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

import attrs

from ...api.objects import ObjectMeta, Pod, PodStatus
from ...exceptions import CacheError
from ..cluster.nominations import Nominations
from ..release import QueueCells
from .backoff import Backoff
from .clock import Clock, Timer
from .heap import Heap
from .parked import Parked, Pending, Queued

BACKOFF_FLUSH = 1.0
"""Seconds between two looks at the backoff queue."""
UNSCHEDULABLE_FLUSH = 30.0
"""Seconds between two looks at the pods that are parked."""
MAX_PARKED = 60.0
"""A pod that was not tried for longer than these seconds is moved by such a look."""


@attrs.define(eq=False)
class PriorityQueue:
    """See :class:`~kubeclassic.core.queue.protocol.SchedulingQueue`, which says what the methods do."""

    cells: QueueCells
    nominations: Nominations
    clock: Clock
    cycle: int = 0
    _move_cycle: int = -1
    """The cycle in which pods were last asked to move."""
    _active: Heap[Queued] = attrs.field(init=False)
    _waiting: Heap[Queued] = attrs.field(init=False)
    """Pods that back off."""
    _parked: Parked = attrs.field(factory=Parked)
    _backoff: Backoff = attrs.field(init=False)
    _backoff_timer: Timer = attrs.field(init=False)
    _parked_timer: Timer = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._active = Heap(self._is_before_by_time if self.cells.by_timestamp else _is_before)
        self._waiting = Heap(self._ends_before)
        self._backoff = Backoff(self.cells.backoff_forget_after)
        self._backoff_timer = Timer(self.clock.now, BACKOFF_FLUSH)
        self._parked_timer = Timer(self.clock.now, UNSCHEDULABLE_FLUSH)

    @property
    def pending(self) -> Pending:
        return Pending(len(self._active), len(self._waiting), len(self._parked))

    def pods(self) -> list[Pod]:
        return [item.pod for item in (*self._active, *self._waiting, *self._parked.all())]

    # --- pods -------------------------------------------------------------------------------------------------------

    def add(self, pod: Pod) -> None:
        self.tick()
        self._active.put(pod.key, Queued(pod, self.clock.now))
        if self._parked.drop(pod.key) is not None:
            self.nominations.remove(pod)
        self._waiting.remove(pod.key)
        self.nominations.add(pod)

    def add_unschedulable(self, pod: Pod, cycle: int) -> None:
        self.tick()
        self._refuse_known(pod)
        item = Queued(pod, self.clock.now)
        if self.cells.has_backoff:
            self._backoff.fail(pod.key, self.clock.now)
        # Upstream: the flag of 1.12 and 1.13 is cleared by every pop, so that only moves since the last one count.
        was_moved = self._move_cycle >= (self.cycle if self.cells.move_marker == "flag" else cycle)
        if not was_moved and (is_unschedulable(pod) or not self.cells.parks_by_condition):
            self._parked.put(item)
        else:
            (self._waiting if self.cells.has_backoff else self._active).put(pod.key, item)
        self.nominations.add(pod)

    def _refuse_known(self, pod: Pod) -> None:
        places = (self._parked, "unschedulableQ"), (self._active, "activeQ"), (self._waiting, "backoffQ")
        for place, name in places:
            if place.get(pod.key) is not None:
                raise CacheError(f"pod is already present in {name}" if place is self._parked else f"pod is already present in the {name}")

    def pop(self) -> Pod | None:
        self.tick()
        if not self._active:
            return None
        pod = self._active.pop().pod
        if self.cells.pop_removes_nomination:
            self.nominations.remove(pod)
        self.cycle += 1
        return pod

    def update(self, old: Pod, new: Pod) -> None:
        self.tick()
        if (item := self._active.get(old.key)) is not None:
            self.nominations.update(old, new)
            self._active.put(new.key, item.updated(new))
        elif (item := self._waiting.remove(old.key)) is not None:
            # Upstream: any update ends the wait, one of the status too.
            self.nominations.update(old, new)
            self._active.put(new.key, item.updated(new))
        elif (item := self._parked.get(new.key)) is not None:
            self.nominations.update(old, new)
            self._update_parked(old, item.updated(new))
        else:
            self._active.put(new.key, Queued(new, self.clock.now))
            self.nominations.add(new)

    def _update_parked(self, old: Pod, item: Queued) -> None:
        if not is_updated(old, item.pod):
            self._parked.put(item)
            return
        key = item.pod.key
        self._backoff.clear(key)
        self._parked.drop(key)
        self._active.put(key, item)

    def delete(self, pod: Pod) -> None:
        self.tick()
        self.nominations.remove(pod)
        if self._active.remove(pod.key) is None:
            self._backoff.clear(pod.key)
            self._waiting.remove(pod.key)
            self._parked.drop(pod.key)

    # --- moves ------------------------------------------------------------------------------------------------------

    def move_all(self) -> None:
        self.tick()
        self._move(self._parked.all(), self.clock.now)

    def assigned_pod_added(self, pod: Pod) -> None:
        self.tick()
        # Upstream: a pod that is being tried will not be parked now, even where no pod that is parked wants this one.
        self._move(self._parked.that_want(pod), self.clock.now)

    def assigned_pod_updated(self, pod: Pod) -> None:
        self.assigned_pod_added(pod)

    def _move(self, items: Iterable[Queued], now: float) -> None:
        for item in items:
            key = item.pod.key
            (self._waiting if self._backoff.is_waiting(key, now) else self._active).put(key, item)
            self._parked.drop(key)
        self._move_cycle = self.cycle

    # --- time -------------------------------------------------------------------------------------------------------

    def is_gated(self, pod: Pod) -> bool:
        return False

    def tick(self) -> None:
        now = self.clock.now
        while (due := self.next_due()) is not None and due <= now:
            self._flush(due)
        self._backoff_timer.spent = self._parked_timer.spent = now

    def next_due(self) -> float | None:
        due = min(self._backoff_due(), self._parked_due())
        return None if due == inf else due

    def _backoff_due(self) -> float:
        head = self._waiting.peek()
        return inf if head is None else self._backoff_timer.next(self._ends(head))

    def _parked_due(self) -> float:
        oldest = self._parked.oldest() if self.cells.flushes_unschedulable else None
        return inf if oldest is None else self._parked_timer.next(oldest.since + MAX_PARKED, after=True)

    def _flush(self, now: float) -> None:
        # Upstream: two flushes at one time run in either order; here the one of the backoff queue is first.
        if self._backoff_due() == now:
            self._flush_waiting(now)
            self._backoff_timer.spent = now
        else:
            self._flush_parked(now)
            self._parked_timer.spent = now

    def _flush_waiting(self, now: float) -> None:
        while (head := self._waiting.peek()) is not None and self._ends(head) <= now:
            self._waiting.pop()
            self._active.put(head.pod.key, head)

    def _flush_parked(self, now: float) -> None:
        items = self._parked.older_than(now - MAX_PARKED)
        if items:
            self._move(items, now)

    # --- order ------------------------------------------------------------------------------------------------------

    def _ends(self, item: Queued) -> float:
        """When the wait of a pod that backs off ends. Upstream: at once where its backoff is forgotten meanwhile."""
        until = self._backoff.until(item.pod.key)
        return -inf if until is None else until

    def _ends_before(self, one: Queued, other: Queued) -> bool:
        return self._ends(one) < self._ends(other)

    @staticmethod
    def _is_before_by_time(one: Queued, other: Queued) -> bool:
        return (-one.pod.priority, one.since) < (-other.pod.priority, other.since)


def _is_before(one: Queued, other: Queued) -> bool:
    return one.pod.priority > other.pod.priority


def is_unschedulable(pod: Pod) -> bool:
    """Whether *pod* bears the mark of a failed attempt: condition PodScheduled False, reason Unschedulable."""
    found = next((condition for condition in pod.status.conditions if condition.type == "PodScheduled"), None)
    return found is not None and (found.status, found.reason) == ("False", "Unschedulable")


def is_updated(old: Pod, new: Pod) -> bool:
    """Whether an update may let *new* fit where *old* did not: anything but resource version, generation and status changed."""
    return _stripped(old) != _stripped(new)


def _stripped(pod: Pod) -> Pod:
    metadata: ObjectMeta = attrs.evolve(pod.metadata, resource_version="", generation=0)
    return attrs.evolve(pod, metadata=metadata, status=PodStatus())
