"""The scheduling queue of the framework: a rejected pod waits for an event that may let it fit.

Upstream: PriorityQueue in pkg/scheduler/internal/queue/scheduling_queue.go (1.32:
pkg/scheduler/backend/queue).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import inf

import attrs

from ...api.meaning import SelectorError, compile_selector
from ...api.objects import DEFAULT_SCHEDULER, KubeObject, Namespace, Pod
from ...core.cluster.listings import Listing
from ...core.cluster.nominations import Nominations
from ...core.engine import Engine
from ...core.pods import Templates
from ...core.queue.backoff import SECOND, Backoff, BackoffHeaps, Clock, QueuedPod, Timer
from ...core.queue.priority import ACTIVE, BACKOFF, BACKOFF_FLUSH, PARKED, QueueBase
from ...core.queue.priority import wants as wants_by_name
from ...core.release import QueueingCells
from ..config.configuration import KubeSchedulerConfiguration
from .events import (
    ASSIGNED_POD_ADD,
    ASSIGNED_POD_UPDATE,
    FORCE_ACTIVATE,
    UNSCHEDULABLE_TIMEOUT,
    Action,
    ClusterEvent,
    full_label,
    pod_changes,
)
from .registrations import Registrations

Happening = tuple[ClusterEvent, KubeObject | None, KubeObject | None]
"""An event, and the object before and after it."""


@attrs.define(eq=False, repr=False)
class InFlightPods:
    """The pods that are being tried, by UID, and all events since the first of them was popped."""

    _starts: dict[str, int] = attrs.Factory(dict)
    """UID -> the number of events before the pod was popped; in ascending order."""
    _events: list[Happening] = attrs.Factory(list)
    _dropped: int = 0
    """The number of events that are no longer kept, because every pod was popped after them."""

    def __contains__(self, uid: str) -> bool:
        return uid in self._starts

    def begin(self, uid: str) -> None:
        """Note that a pod is popped."""
        self._starts.pop(uid, None)
        self._starts[uid] = self._dropped + len(self._events)

    def note(self, happening: Happening) -> None:
        """Note an event; it is kept only while a pod is being tried."""
        if self._starts:
            self._events.append(happening)

    def since(self, uid: str) -> list[Happening] | None:
        """The events since a pod was popped; None if it is not being tried."""
        start = self._starts.get(uid)
        return None if start is None else self._events[start - self._dropped :]

    def end(self, uid: str) -> None:
        """Note that a pod is not tried any more."""
        if self._starts.pop(uid, None) is not None:
            oldest_start = next(iter(self._starts.values()), self._dropped + len(self._events))
            del self._events[: oldest_start - self._dropped]
            self._dropped = oldest_start


FAILURE = "ScheduleAttemptFailure"
PREEMPTION = "DefaultPreemption"
GATES = "SchedulingGates"
SPREAD = "PodTopologySpread"
WINDOW = BACKOFF_FLUSH
"""The length of a backoff window, for queues that pop pods while they back off. Backoffs end at whole
multiples of it, and are flushed together."""
FULL_NAMES = {"PodAdd": "UnschedulablePodAdd", "PodUpdate": "UnschedulablePodUpdate"}


@attrs.define(eq=False, kw_only=True, repr=False)
class FrameworkQueue(QueueBase):
    """The queue by QueueSort plugin and events; :class:`~kubeclassic.core.queue.priority.SchedulingQueue`
    documents the shared methods.

    ``less`` is the QueueSort plugin's.
    """

    held_by: Callable[[Pod], str | None]
    """The PreEnqueue plugin that holds a pod back; None if it may be tried."""
    registrations: Registrations
    templates: Templates
    queueing: QueueingCells = attrs.Factory(QueueingCells)
    gives_hints: bool = False
    """Whether gate SchedulerQueueingHints is on."""
    pops_early: bool = False
    """Whether gate SchedulerPopFromBackoffQ is on: a pod that backs off is tried if no pod is active."""
    namespaces: Listing[Namespace] = attrs.Factory(Listing)
    initial_backoff: int = SECOND
    max_backoff: int = 10 * SECOND
    _preempting: set[str] = attrs.field(init=False, factory=set)
    """The UIDs of pods whose victims are being deleted in the background."""
    _flights: InFlightPods = attrs.field(init=False, factory=InFlightPods)
    _failures: Backoff | None = attrs.field(init=False, default=None)
    """The backoff of each pod, where the release keeps it apart from the entry; else None."""

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if self.cells.backoff_forget_after is not None:
            self._failures = Backoff(2 * self.max_backoff, self.initial_backoff, self.max_backoff)
        if self.queueing.backs_off_to_the_end:
            self._waiting = BackoffHeaps(self._waits_before, self._ends_before)
        if self.pops_early:
            self._backoff_timer = Timer(
                self.clock.now - (self.clock.origin + self.clock.now) % WINDOW, WINDOW, self.clock.now
            )

    # --- backoff --------------------------------------------------------------------------------------------

    def _time_of(self, pod: Pod) -> float:
        return self.clock.now

    def _backoff_end(self, item: QueuedPod) -> float:
        if self._failures is not None:
            until = self._failures.until(item.pod.key)
            return -inf if until is None else until
        times = item.attempts
        if self.queueing.counts_rejections:
            times = 0 if self.max_backoff == 0 else item.errors or item.rejections
        if times == 0 and self.queueing.gated_back_off:
            return -inf
        return self._aligned(item.timestamp + item.wait(self.initial_backoff, self.max_backoff, times))

    def _aligned(self, time: float) -> float:
        """The beginning of the window of *time*, if backoffs end with windows; else *time*."""
        return time - (self.clock.origin + time) % WINDOW if self.pops_early else time

    def _backs_off(self, item: QueuedPod, now: int) -> bool:
        if item.is_gated and not self.queueing.gated_back_off:
            return False
        ends = self._backoff_end(item)
        return ends >= self._aligned(now) if self.queueing.backs_off_to_the_end else ends > now

    def _waits_before(self, item: QueuedPod, other: QueuedPod) -> bool:
        end = self._backoff_end(item)
        other_end = self._backoff_end(other)
        return end < other_end or (end == other_end and self.pops_early and self.less(item, other))

    def _backoff_due(self) -> float:
        head = self._waiting.peek()
        if head is None:
            return inf
        return self._backoff_timer.next(self._backoff_end(head), after=self.queueing.backs_off_to_the_end)

    def _flush_waiting(self, now: int) -> None:
        heaps = (
            (self._waiting.rejected, self._waiting.errors)
            if isinstance(self._waiting, BackoffHeaps)
            else (self._waiting,)
        )
        for heap in heaps:
            while (head := heap.peek()) is not None and not self._backs_off(head, now):
                item = heap.pop()
                # Where pods are popped early, their plugins were asked as they came into the backoff queue.
                if self._activate(item, asks=not self.pops_early):
                    self._note(ACTIVE, "BackoffComplete")

    # --- in and out -----------------------------------------------------------------------------------------

    def _with_pod(self, item: QueuedPod, pod: Pod) -> QueuedPod:
        # Upstream: in place, so a nomination that shares the entry changes too.
        item.become(pod)
        return item

    def _count_failure(self, key: str) -> None:
        # Where there is no record of failures the entry counts its attempts.
        if self._failures is not None:
            self._failures.fail(key, self.clock.now)

    def _forget_failures(self, key: str) -> None:
        if self._failures is not None:
            self._failures.clear(key)

    def _activate(self, item: QueuedPod, *, asks: bool = True) -> bool:
        if asks and self._is_held(item):
            # Upstream: if the key is in another part too, it stays there.
            self._parked.put(item)
            return False
        if item.entered is None:
            item.entered = self.clock.now
        return super()._activate(item)

    def _is_held(self, item: QueuedPod) -> bool:
        """Ask the PreEnqueue plugins. A plugin that holds the pod back counts as having rejected it."""
        holder = self.held_by(item.pod) or (PREEMPTION if item.pod.uid in self._preempting else None)
        item.is_gated = holder is not None
        item.holder = holder or ""
        if holder is not None:
            item.plugins |= {holder}
        return item.is_gated

    def hold_back(self, pod: Pod, held: bool) -> None:
        (self._preempting.add if held else self._preempting.discard)(pod.uid)

    def _back_off(self, item: QueuedPod) -> bool:
        """Put a pod into the backoff queue; False if it is gated, which parks it."""
        if self.pops_early and self._is_held(item):
            self._parked.put(item)
            return False
        self._waiting.put(item.pod.key, item)
        return True

    def _leave_parking(self, item: QueuedPod, now: int) -> str | None:
        backs_off = self._backs_off(item, now)
        if not (self._back_off(item) if backs_off else self._activate(item)):
            return None
        self._parked.drop(item.pod.key)
        return BACKOFF if backs_off else ACTIVE

    def _next(self) -> QueuedPod | None:
        item = super()._next()
        if item is None and self.can_pop and isinstance(self._waiting, BackoffHeaps):
            item = self._waiting.rejected.pop()
            self._note(ACTIVE, "PopFromBackoffQ")
        if item is not None:
            item.is_gated = False
            item.holder = ""
            if self.gives_hints:
                self._flights.begin(item.pod.uid)
        return item

    @property
    def can_pop(self) -> bool:
        early = self.pops_early and isinstance(self._waiting, BackoffHeaps) and bool(self._waiting.rejected)
        return early or bool(self._active)

    def done(self, pod: Pod) -> None:
        self._flights.end(pod.uid)

    def add_unschedulable(self, item: QueuedPod, cycle: int) -> None:
        self.tick()
        try:
            self._refuse_duplicate(item.pod.key)
            item.rejections += bool(item.plugins)
            item.errors = 0 if item.plugins else item.errors + 1
            item.timestamp = self.clock.now
            self._count_failure(item.pod.key)
            if not item.plugins and self.queueing.errors_back_off:
                is_moved = True
            elif self.gives_hints:
                happened = self._flights.since(item.pod.uid)
                is_moved = happened is None or any(
                    self._is_helped(item, *happening) for happening in happened
                )
            else:
                is_moved = self._move_cycle >= cycle
            if not is_moved:
                self._parked.put(item)
                self._note(PARKED, FAILURE)
            elif self.gives_hints:
                self._note(self._leave_parking(item, self.clock.now) or PARKED, FAILURE)
            else:
                self._note(BACKOFF if self._back_off(item) else PARKED, FAILURE)
        finally:
            self.done(item.pod)
        self.nominations.add(item.pod, holder=item)

    def activate(self, pods: Iterable[Pod]) -> None:
        """Activate parked pods and pods that back off. A pod that is not in the queue, or is gated, stays as
        it is."""
        self.tick()
        for pod in pods:
            item = self._parked.get(pod.key) or self._waiting.get(pod.key)
            asks = self._parked.get(pod.key) is not None or not (
                self.pops_early and self.queueing.gates_asked_once
            )
            if item is not None and self._active.get(pod.key) is None and self._activate(item, asks=asks):
                self._parked.drop(pod.key)
                self._waiting.remove(pod.key)
                self._note(ACTIVE, FORCE_ACTIVATE.label)
                if not self.queueing.keeps_nominations:
                    self.nominations.add(item.pod, holder=item)
            elif self.queueing.activates_tried_pods:
                if pod.uid in self._flights:
                    self._flights.note((FORCE_ACTIVATE, None, pod))
                self._move_cycle = self.cycle

    # --- updates --------------------------------------------------------------------------------------------

    def update(self, old: Pod, new: Pod) -> None:
        self.tick()
        if self._asks_hints_of_pods and new.uid in self._flights:
            for event in self.changes(old, new):
                self._flights.note((event, old, new))
            return
        super().update(old, new)

    def _update_parked(self, item: QueuedPod, old: Pod) -> None:
        new = item.pod
        if not self._asks_hints_of_pods:
            super()._update_parked(item, old)
            if self.queueing.updates_renominate and self._active.get(new.key) is item:
                self.nominations.add(new, holder=item)
        else:
            self._parked.put(item)
            for event in self.changes(old, new):
                place = None
                if self._is_helped(item, event, old, new):
                    place = self._leave_parking(item, self.clock.now)
                else:
                    # Upstream: even where an earlier event made it back off, so that it is then in both
                    # places.
                    self._parked.put(item)
                if place == ACTIVE or (place is not None and self.pops_early):
                    return

    @property
    def _asks_hints_of_pods(self) -> bool:
        return self.gives_hints and self.queueing.hints_for_pods

    def changes(self, old: Pod, new: Pod) -> list[ClusterEvent]:
        """The events of a pod's update."""
        return pod_changes(old, new, self.queueing, self.templates)

    # --- moves ----------------------------------------------------------------------------------------------

    def move_all(
        self,
        event: ClusterEvent = UNSCHEDULABLE_TIMEOUT,
        passes: Callable[[Pod], bool] | None = None,
        old: KubeObject | None = None,
        new: KubeObject | None = None,
    ) -> None:
        """Move the parked pods that *passes* accepts and the event may help; it changed *old* to *new*."""
        self.tick()
        self._move_for(
            event, (item for item in self._parked.all() if passes is None or passes(item.pod)), old, new
        )

    def assigned_pod_added(self, pod: Pod) -> None:
        self.tick()
        self._move_for(
            ASSIGNED_POD_ADD,
            self._parked.all() if self._asks_hints_of_pods else self._affine_pods(pod),
            None,
            pod,
        )

    def assigned_pod_updated(self, pod: Pod, old: Pod | None = None) -> None:
        self.tick()
        events = (
            self.changes(old, pod) if old is not None and self.queueing.pod_changes else [ASSIGNED_POD_UPDATE]
        )
        for event in events:
            asks_all = self._asks_hints_of_pods or event.action is Action.UPDATE_POD_SCALE_DOWN
            if asks_all and self.queueing.any_update_wakes_all:
                event = ASSIGNED_POD_UPDATE
            self._move_for(event, self._parked.all() if asks_all else self._affine_pods(pod), old, pod)

    def _affine_pods(self, pod: Pod) -> list[QueuedPod]:
        by_name = self.queueing.any_event_moves
        namespaces = (
            self.namespaces if self.templates.gates.get("PodAffinityNamespaceSelector", True) else None
        )
        affine = self._parked.that_want(
            lambda item: wants_by_name(item, pod) if by_name else wants(item, pod, namespaces)
        )
        if not self.queueing.spread_is_woken:
            return affine
        affine_keys = {item.pod.key for item in affine}
        spread = [
            item
            for item in self._parked.all()
            if SPREAD in item.plugins
            and item.pod.namespace == pod.namespace
            and item.pod.key not in affine_keys
        ]
        return sorted([*affine, *spread], key=lambda item: item.pod.key)

    def _move_for(
        self, event: ClusterEvent, items: Iterable[QueuedPod], old: KubeObject | None, new: KubeObject | None
    ) -> None:
        if self.queueing.drops_unwanted and not self.registrations.is_wanted(event):
            return
        moved = [
            item
            for item in items
            if not self._is_passed_over(item, event) and self._is_helped(item, event, old, new)
        ]
        self._move(moved, self.clock.now, event.label if not self.queueing.full_labels else full_label(event))
        if self.gives_hints:
            self._flights.note((event, old, new))

    def _is_passed_over(self, item: QueuedPod, event: ClusterEvent) -> bool:
        if not item.is_gated:
            return False
        if self.queueing.holder_decides:
            return not self.registrations.waits_for(_profile_of(item), item.holder, event)
        # Upstream: only an update of the pod itself can end its scheduling gates.
        return self.queueing.skips_gated and GATES in item.plugins

    def _is_helped(
        self, item: QueuedPod, event: ClusterEvent, old: KubeObject | None, new: KubeObject | None
    ) -> bool:
        if not item.plugins or self.queueing.any_event_moves:
            return True
        if event.is_wildcard:
            return not isinstance(new, Pod) or new.uid == item.pod.uid
        return self.registrations.helps(_profile_of(item), item.pod, item.plugins, event, old, new)

    def _flush_parked(self, now: int) -> None:
        items = self._parked.older_than(now - self._parked_at_most)
        if items:
            self._move(
                (item for item in items if not self._is_passed_over(item, UNSCHEDULABLE_TIMEOUT)),
                now,
                UNSCHEDULABLE_TIMEOUT.label,
            )
            self._flush_gated()

    def _flush_gated(self) -> None:
        super()._flush_gated()
        if self.gives_hints:
            self._flights.note((UNSCHEDULABLE_TIMEOUT, None, None))

    def _note(self, place: str, event: str) -> None:
        super()._note(place, FULL_NAMES.get(event, event) if self.queueing.full_labels else event)


def _profile_of(item: QueuedPod) -> str:
    return item.pod.spec.scheduler_name or DEFAULT_SCHEDULER


def wants(item: QueuedPod, other: Pod, namespaces: Listing[Namespace] | None) -> bool:
    """Whether any required affinity term matches *other*, whatever its node; none does if one selector is
    invalid. *namespaces*: those that selectors choose from; None: selectors add none."""
    matches = False
    try:
        for term in item.terms:
            by_name = compile_selector(term.label_selector)
            by_labels = compile_selector(term.namespace_selector)
            if not term.namespaces and term.namespace_selector is None:
                in_namespace = other.namespace == item.pod.namespace
            else:
                space = None if namespaces is None else namespaces.get(other.namespace)
                in_namespace = other.namespace in term.namespaces or (
                    namespaces is not None and by_labels({} if space is None else space.labels)
                )
            matches |= in_namespace and by_name(other.labels)
    except SelectorError:
        return False
    return matches


def queue_for(
    engine: Engine,
    config: KubeSchedulerConfiguration,
    clock: Clock,
    nominations: Nominations,
    held_by: Callable[[Pod], str | None],
) -> FrameworkQueue:
    """The queue of *engine*, which keeps *nominations* and uses *clock*; *held_by*: the PreEnqueue plugin
    that holds a pod back."""
    release = engine.release
    enabled = engine.enabled
    gives_hints = enabled("SchedulerQueueingHints")
    profiles = engine.profiles
    return FrameworkQueue(
        cells=release.queue,
        nominations=nominations,
        clock=clock,
        less=next(iter(profiles.values())).points["queueSort"][0].less,
        held_by=held_by,
        registrations=Registrations(
            profiles,
            release.queueing,
            gives_hints,
            bool(engine.extenders) and release.queueing.names_extenders,
        ),
        templates=engine.templates,
        queueing=release.queueing,
        gives_hints=gives_hints,
        pops_early=enabled("SchedulerPopFromBackoffQ"),
        namespaces=engine.listings.namespaces,
        initial_backoff=config.initial_backoff * SECOND,
        max_backoff=config.max_backoff * SECOND,
    )
