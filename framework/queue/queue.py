"""The scheduling queue: pods that are tried next, that back off, and that wait for an event which may let them fit.

Upstream: PriorityQueue in pkg/scheduler/internal/queue/scheduling_queue.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf

import attrs

from ...api.objects import Namespace, Pod
from ...core.cluster.listings import Listing
from ...core.cluster.nominations import Nominations
from ...core.queue.clock import Clock, Timer
from ...core.queue.heap import Heap
from ...core.queue.parked import Pending
from ...core.queue.priority import BACKOFF_FLUSH, UNSCHEDULABLE_FLUSH, is_updated
from ...exceptions import CacheError
from .events import ASSIGNED_POD_ADD, ASSIGNED_POD_UPDATE, UNSCHEDULABLE_TIMEOUT, ClusterEvent
from .parked import ParkedPods
from .queued import QueuedPod

MAX_PARKED = 300.0
"""A pod that was not tried for longer than these seconds is moved, whatever turned it down."""
Registrations = Sequence[tuple[str, ClusterEvent]]
"""(plugin, what may let pods fit that it turned down)."""


@attrs.define(eq=False, kw_only=True)
class FrameworkQueue:
    """See :class:`~kubeclassic.core.queue.protocol.SchedulingQueue`, which says what the shared methods do."""

    nominations: Nominations
    clock: Clock
    less: Callable[[QueuedPod, QueuedPod], bool]
    """The QueueSort plugin's."""
    held_by: Callable[[Pod], str | None]
    """The PreEnqueue plugin that holds a pod back; None where it may be tried."""
    registrations: Registrations
    blame: Callable[[Pod], frozenset[str]] = lambda pod: frozenset()
    """The plugins that turned a pod down in its last attempt."""
    namespaces: Listing[Namespace] = attrs.field(factory=Listing)
    initial_backoff: float = 1.0
    max_backoff: float = 10.0
    cycle: int = 0
    _move_cycle: int = -1
    _active: Heap[QueuedPod] = attrs.field(init=False)
    _waiting: Heap[QueuedPod] = attrs.field(init=False)
    _parked: ParkedPods = attrs.field(factory=ParkedPods)
    _tried: dict[str, QueuedPod] = attrs.field(factory=dict)
    """Pods that were taken out and may come back."""
    _helped: dict[ClusterEvent, frozenset[str]] = attrs.field(factory=dict)
    """Event -> the plugins that wait for such a one."""
    _backoff_timer: Timer = attrs.field(init=False)
    _parked_timer: Timer = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._active = Heap(self.less)
        self._waiting = Heap(self._ends_before)
        self._backoff_timer = Timer(self.clock.now, BACKOFF_FLUSH)
        self._parked_timer = Timer(self.clock.now, UNSCHEDULABLE_FLUSH)

    @property
    def pending(self) -> Pending:
        """How many pods are active, back off, and are parked."""
        return Pending(len(self._active), len(self._waiting), len(self._parked))

    def pods(self) -> list[Pod]:
        """All pods: the active ones in the order of the heap, those that back off, then those that are parked."""
        return [item.pod for item in (*self._active, *self._waiting, *_by_key(self._parked))]

    def is_gated(self, pod: Pod) -> bool:
        """Whether *pod* is held back by a PreEnqueue plugin."""
        item = self._parked.get(pod.key)
        return item is not None and item.is_gated

    # --- pods -------------------------------------------------------------------------------------------------------

    def add(self, pod: Pod) -> None:
        self.tick()
        if self._activate(QueuedPod(pod, self.clock.now)):
            self._parked.drop(pod.key)
            self._waiting.remove(pod.key)
            self.nominations.add(pod)

    def _activate(self, item: QueuedPod) -> bool:
        """Let a pod be tried, unless a plugin holds it back: then it is parked."""
        holder = self.held_by(item.pod)
        item.is_gated = holder is not None
        if holder is not None:
            item.plugins |= {holder}
            self._parked.put(item)
            return False
        self._active.put(item.pod.key, item)
        return True

    def activate(self, pod: Pod) -> None:
        """Let a pod be tried that backs off or is parked, as plugins may ask."""
        self.tick()
        item = self._parked.get(pod.key) or self._waiting.get(pod.key)
        if item is not None and self._active.get(pod.key) is None and self._activate(item):
            self._parked.drop(pod.key)
            self._waiting.remove(pod.key)
            self.nominations.add(item.pod)

    def add_unschedulable(self, pod: Pod, cycle: int) -> None:
        self.tick()
        self._refuse_known(pod)
        item = self._tried.pop(pod.key, None) or QueuedPod(pod, self.clock.now, attempts=1)
        item.pod, item.timestamp, item.plugins = pod, self.clock.now, self.blame(pod)
        if self._move_cycle >= cycle:
            self._waiting.put(pod.key, item)
        else:
            self._parked.put(item)
        self.nominations.add(pod)

    def _refuse_known(self, pod: Pod) -> None:
        for place, name in ((self._parked, "unschedulable"), (self._active, "active"), (self._waiting, "backoff")):
            if place.get(pod.key) is not None:
                raise CacheError(f"Pod {pod.key} is already present in {'' if place is self._parked else 'the '}{name} queue")

    def pop(self) -> Pod | None:
        self.tick()
        if not self._active:
            return None
        item = self._active.pop()
        item.attempts += 1
        item.plugins = frozenset()
        self.cycle += 1
        self._tried[item.pod.key] = item
        return item.pod

    def update(self, old: Pod, new: Pod) -> None:
        self.tick()
        for heap in (self._active, self._waiting):
            if (item := heap.get(old.key)) is not None:
                self.nominations.update(old, new)
                item.pod = new
                heap.put(new.key, item)
                return
        if (item := self._parked.get(new.key)) is not None:
            self.nominations.update(old, new)
            item.pod = new
            if is_updated(old, new):
                self._leave_parking(item)
        elif self._activate(QueuedPod(new, self.clock.now)):
            self.nominations.add(new)

    def _leave_parking(self, item: QueuedPod) -> None:
        key = item.pod.key
        if self._is_waiting(item):
            self._waiting.put(key, item)
            self._parked.drop(key)
        elif self._activate(item):
            self._parked.drop(key)

    def delete(self, pod: Pod) -> None:
        self.tick()
        self.nominations.remove(pod)
        self._tried.pop(pod.key, None)
        if self._active.remove(pod.key) is None:
            self._waiting.remove(pod.key)
            self._parked.drop(pod.key)

    # --- moves ------------------------------------------------------------------------------------------------------

    def move_all(self, event: ClusterEvent = UNSCHEDULABLE_TIMEOUT, passes: Callable[[Pod], bool] | None = None) -> None:
        """Something happened: those that *passes* accepts are tried again, if what turned them down waits for such an event."""
        self.tick()
        self._move(self._parked, event, passes)

    def assigned_pod_added(self, pod: Pod) -> None:
        self.tick()
        self._move(self._parked.that_want(pod, self.namespaces), ASSIGNED_POD_ADD)

    def assigned_pod_updated(self, pod: Pod) -> None:
        self.tick()
        self._move(self._parked.that_want(pod, self.namespaces), ASSIGNED_POD_UPDATE)

    def _move(self, items: Iterable[QueuedPod], event: ClusterEvent, passes: Callable[[Pod], bool] | None = None) -> None:
        chosen = (item for item in items if not item.plugins or self._may_help(item.plugins, event))
        for item in _by_key(item for item in chosen if passes is None or passes(item.pod)):
            self._leave_parking(item)
        # Upstream: a pod that is being tried will not be parked now, even where nothing was moved.
        self._move_cycle = self.cycle

    def _may_help(self, plugins: frozenset[str], event: ClusterEvent) -> bool:
        if event.is_wildcard:
            return True
        if event not in self._helped:
            self._helped[event] = frozenset(name for name, registered in self.registrations if registered.matches(event))
        return not plugins.isdisjoint(self._helped[event])

    # --- time -------------------------------------------------------------------------------------------------------

    def tick(self) -> None:
        now = self.clock.now
        while (due := self.next_due()) is not None and due <= now:
            self._flush(due)
        held = self._parked.oldest(held=True)
        if held is not None and self._parked_timer.next(held + MAX_PARKED, after=True) <= now:
            # Upstream: a pod that is held back is moved over and over again, where it is, and counts as a move.
            self._move_cycle = self.cycle
        self._backoff_timer.spent = self._parked_timer.spent = now

    def next_due(self) -> float | None:
        due = min(self._backoff_due(), self._parked_due())
        return None if due == inf else due

    def _backoff_due(self) -> float:
        head = self._waiting.peek()
        return inf if head is None else self._backoff_timer.next(self._ends(head))

    def _parked_due(self) -> float:
        oldest = self._parked.oldest()
        return inf if oldest is None else self._parked_timer.next(oldest + MAX_PARKED, after=True)

    def _flush(self, due: float) -> None:
        if self._backoff_due() == due:
            self._flush_waiting(due)
            self._backoff_timer.spent = due
        else:
            self._move([item for item in self._parked if due - item.timestamp > MAX_PARKED], UNSCHEDULABLE_TIMEOUT)
            self._parked_timer.spent = due

    def _flush_waiting(self, now: float) -> None:
        while (head := self._waiting.peek()) is not None and self._ends(head) <= now:
            self._activate(self._waiting.pop())

    def _ends(self, item: QueuedPod) -> float:
        """When the wait of a pod ends."""
        return item.timestamp + item.wait(self.initial_backoff, self.max_backoff)

    def _ends_before(self, one: QueuedPod, other: QueuedPod) -> bool:
        return self._ends(one) < self._ends(other)

    def _is_waiting(self, item: QueuedPod) -> bool:
        return not item.is_gated and self._ends(item) > self.clock.now


def _by_key(items: Iterable[QueuedPod]) -> list[QueuedPod]:
    # Upstream: the order is that of a map.
    return sorted(items, key=lambda item: item.pod.key)


def registrations(plugins: Mapping[str, object], defaults: Sequence[ClusterEvent]) -> list[tuple[str, ClusterEvent]]:
    """What each plugin waits for; one that does not say so waits for *defaults*."""
    found: list[tuple[str, ClusterEvent]] = []
    for name, plugin in plugins.items():
        ask = getattr(plugin, "events_to_register", None)
        found += [(name, event) for event in (defaults if ask is None else ask())]
    return found
