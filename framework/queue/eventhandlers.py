"""What each event of the cluster does to a scheduler of the framework: which objects it learns of, and which pods it tries again.

Upstream: addAllEventHandlers in pkg/scheduler/eventhandlers.go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import attrs

from ...api.objects import KubeObject, Node, Pod, StorageClass
from ...core.cluster.nominations import Nominations
from ...core.engine import Engine
from ...core.queue.clock import Clock
from ...core.router import ADD, UPDATE, EventRouter
from ..config.configuration import DEFAULT_SCHEDULER, KubeSchedulerConfiguration
from ..cycle.diagnosis import EXTENDER
from .admission import Admission
from .events import ALL_EVENTS, ASSIGNED_POD_DELETE, NODE_ADD, NODE_CHANGES, Action, ClusterEvent, object_event
from .queue import FrameworkQueue, registrations

ACTIONS = {ADD: Action.ADD, UPDATE: Action.UPDATE}


@attrs.define(eq=False, repr=False)
class FrameworkEvents(EventRouter):
    """Delivers events to an engine of the framework and its queue; pods of any of its profiles are queued."""

    if TYPE_CHECKING:
        queue: FrameworkQueue

    def _maybe_move(self, verb: str, item: KubeObject) -> None:
        action = ACTIONS.get(verb, Action.DELETE)
        # Upstream: there are handlers only for what some plugin registered.
        if self._handled(item.kind) & action and not _is_passed_over(item, action):
            self.queue.move_all(object_event(item.kind, action))

    def _handled(self, kind: str) -> Action:
        found = Action(0)
        if kind in ("CSINode", "CSIDriver", "CSIStorageCapacity", "PersistentVolume", "PersistentVolumeClaim", "StorageClass"):
            for _, event in self.queue.registrations:
                if event.resource == kind:
                    found |= event.action
        return found

    def _put_node(self, node: Node) -> None:
        old = self.engine.cache.node(node.name)
        self.feed.put(node)
        event = NODE_ADD if old is None else node_change(old, node)
        if event is not None:
            self.queue.move_all(event, Admission.of(self.engine, node.name))

    def delete(self, item: KubeObject) -> None:
        if isinstance(item, Node):
            # Upstream: a node that goes lets nobody be tried again.
            self.feed.delete(item)
        else:
            super().delete(item)

    def _is_queued(self, pod: Pod | None) -> bool:
        return pod is not None and not pod.spec.node_name and (pod.spec.scheduler_name or DEFAULT_SCHEDULER) in self.engine.flow.profiles

    def _tell_cache(self, old: Pod | None, new: Pod | None) -> None:
        if new is None and old is not None:
            self.feed.delete(old)
            self.queue.move_all(ASSIGNED_POD_DELETE)
        else:
            super()._tell_cache(old, new)

    def _tell_queue(self, old: Pod | None, new: Pod | None) -> None:
        if new is not None or old is None:
            super()._tell_queue(old, new)
            return
        was_waiting = self.engine.flow.binding.removed(old)
        if was_waiting or self.engine.cache.is_assumed(old):
            # The volumes that it was to get are given back with its reservation.
            self.queue.delete(old)
        else:
            super()._tell_queue(old, new)
        if was_waiting:
            self.queue.move_all(ASSIGNED_POD_DELETE)

    def pod_given_up(self, pod: Pod, *, but_itself: bool) -> None:
        # Upstream: handleBindingCycleError in pkg/scheduler/schedule_one.go, as if a pod on a node had gone.
        self.queue.move_all(ASSIGNED_POD_DELETE, (lambda other: other.uid != pod.uid) if but_itself else None)

    def _is_echo(self, pod: Pod) -> bool:
        return self.engine.cache.is_assumed(pod)


def _is_passed_over(item: KubeObject, action: Action) -> bool:
    """For a class that goes, or that comes and does not wait for its first consumer."""
    if not isinstance(item, StorageClass) or action is Action.UPDATE:
        return False
    return action is Action.DELETE or item.volume_binding_mode != "WaitForFirstConsumer"


def queue_for(
    engine: Engine, config: KubeSchedulerConfiguration, clock: Clock, nominations: Nominations,
    held_by: Callable[[Pod], str | None],
) -> FrameworkQueue:  # fmt: skip
    """The queue of *engine*, which keeps *nominations* and uses *clock*; *held_by*: the PreEnqueue plugin that holds a pod back."""
    profiles = list(engine.flow.profiles.values())
    plugins = {name: plugin for profile in profiles for name, plugin in profile.plugins().items()}
    waits = registrations(plugins, ALL_EVENTS)
    if engine.extenders:
        waits += [(EXTENDER, event) for event in ALL_EVENTS]
    return FrameworkQueue(
        cells=engine.algorithm.release.queue, nominations=nominations, clock=clock, less=profiles[0].points.less[0].less,
        held_by=held_by, registrations=waits, namespaces=engine.listings.namespaces,
        initial_backoff=float(config.initial_backoff), max_backoff=float(config.max_backoff),
    )  # fmt: skip


def node_change(old: Node, new: Node) -> ClusterEvent | None:
    """What happened to a node that may let a pod fit: the first that applies, None where nothing did.

    Upstream: nodeSchedulingPropertiesChange
    """
    # Upstream: quantities are compared as they are kept, so 1 is another amount than 1000m.
    amounts = [{name: amount.form for name, amount in node.status.allocatable.items()} for node in (old, new)]
    statuses = [{condition.type: condition.status for condition in node.status.conditions} for node in (old, new)]
    changes = (
        old.spec.unschedulable and not new.spec.unschedulable,
        amounts[0] != amounts[1],
        old.labels != new.labels,
        old.spec.taints != new.spec.taints,
        statuses[0] != statuses[1],
    )
    return next((event for event, applies in zip(NODE_CHANGES, changes, strict=True) if applies), None)
