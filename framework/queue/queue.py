"""The scheduling queue of the framework: a pod that plugins rejected waits for an event that may let it fit.

Upstream: PriorityQueue in pkg/scheduler/internal/queue/scheduling_queue.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import attrs

from ...api.meaning.labels import SelectorError, compile_selector
from ...api.objects import Namespace, Pod, PodAffinityTerm
from ...core.cluster.listings import Listing
from ...core.queue.base import ACTIVE, QueueBase
from ...core.queue.parked import QueuedPod
from .events import ASSIGNED_POD_ADD, ASSIGNED_POD_UPDATE, UNSCHEDULABLE_TIMEOUT, ClusterEvent

Registrations = Sequence[tuple[str, ClusterEvent]]
"""(plugin, an event that may let the pods fit that it rejected)."""


@attrs.define(eq=False, kw_only=True, repr=False)
class FrameworkQueue(QueueBase):
    """See :class:`~kubeclassic.core.queue.protocol.SchedulingQueue`, which says what the shared methods do.

    ``less`` is the QueueSort plugin's.
    """

    held_by: Callable[[Pod], str | None]
    """The PreEnqueue plugin that holds a pod back; None if it may be tried."""
    registrations: Registrations
    namespaces: Listing[Namespace] = attrs.field(factory=Listing)
    initial_backoff: float = 1.0
    max_backoff: float = 10.0
    _helped: dict[ClusterEvent, frozenset[str]] = attrs.field(init=False, factory=dict)
    """Event -> the plugins that wait for it."""

    def _time_of(self, pod: Pod) -> float:
        return self.clock.now

    def _ends(self, item: QueuedPod) -> float:
        return item.timestamp + item.wait(self.initial_backoff, self.max_backoff)

    def _replaced(self, item: QueuedPod, pod: Pod) -> QueuedPod:
        # Upstream: in place, so a nomination that shares the entry changes too.
        item.become(pod)
        return item

    def _count_failure(self, key: str) -> None:
        """Nothing: the entry counts its attempts."""

    def _forget_failures(self, key: str) -> None:
        """Nothing: a new entry starts with none."""

    def _activate(self, item: QueuedPod) -> bool:
        holder = self.held_by(item.pod)
        item.is_gated = holder is not None
        if holder is None:
            if item.entered is None:
                item.entered = self.clock.now
            return super()._activate(item)
        # Upstream: if the key is in another part too, it stays there.
        item.plugins |= {holder}
        self._parked.put(item)
        return False

    def activate(self, pods: Iterable[Pod]) -> None:
        """Let parked pods and those that back off be tried next. A pod that is not in the queue, or held back, stays as it is."""
        self.tick()
        for key in (pod.key for pod in pods):
            item = self._parked.get(key) or self._waiting.get(key)
            if item is not None and self._active.get(key) is None and self._activate(item):
                self._parked.drop(key)
                self._waiting.remove(key)
                self._note(ACTIVE, "ForceActivate")
                self.nominations.add(item.pod, holder=item)

    def move_all(self, event: ClusterEvent = UNSCHEDULABLE_TIMEOUT, passes: Callable[[Pod], bool] | None = None) -> None:
        """An event: it moves the parked pods that *passes* accepts and whose plugins wait for such an event."""
        self.tick()
        self._move_for(event, (item for item in self._parked.all() if passes is None or passes(item.pod)))

    def assigned_pod_added(self, pod: Pod) -> None:
        self.tick()
        self._move_for(ASSIGNED_POD_ADD, self._that_want(pod))

    def assigned_pod_updated(self, pod: Pod) -> None:
        self.tick()
        self._move_for(ASSIGNED_POD_UPDATE, self._that_want(pod))

    def _that_want(self, pod: Pod) -> list[QueuedPod]:
        return self._parked.that_want(lambda item: wants(item, pod, self.namespaces))

    def _move_for(self, event: ClusterEvent, items: Iterable[QueuedPod]) -> None:
        self._move([item for item in items if not item.plugins or self._may_help(item.plugins, event)], self.clock.now, event.label)

    def _may_help(self, plugins: frozenset[str], event: ClusterEvent) -> bool:
        if event.is_wildcard:
            return True
        if event not in self._helped:
            self._helped[event] = frozenset(name for name, registered in self.registrations if registered.matches(event))
        return not plugins.isdisjoint(self._helped[event])


def wants(item: QueuedPod, other: Pod, namespaces: Listing[Namespace]) -> bool:
    """Whether any required affinity term matches *other*, whatever its node; with one invalid selector no term does."""
    try:
        found = [_matches(term, item.pod, other, namespaces) for term in item.terms]
    except SelectorError:
        return False
    return any(found)


def _matches(term: PodAffinityTerm, owner: Pod, other: Pod, namespaces: Listing[Namespace]) -> bool:
    by_name, by_labels = compile_selector(term.label_selector), compile_selector(term.namespace_selector)
    if not term.namespaces and term.namespace_selector is None:
        return other.namespace == owner.namespace and by_name(other.labels)
    found = namespaces.get(other.namespace)
    reached = other.namespace in term.namespaces or by_labels({} if found is None else found.labels)
    return reached and by_name(other.labels)


def registrations(plugins: Mapping[str, object], defaults: Sequence[ClusterEvent]) -> list[tuple[str, ClusterEvent]]:
    """What each plugin waits for; one that does not say so waits for *defaults*."""
    found: list[tuple[str, ClusterEvent]] = []
    for name, plugin in plugins.items():
        ask = getattr(plugin, "events_to_register", None)
        found += [(name, event) for event in (defaults if ask is None else ask())]
    return found
