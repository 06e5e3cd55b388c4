"""What each event of the cluster does to a scheduler of the framework: which objects it learns of, and which pods it tries again.

Upstream: addAllEventHandlers in pkg/scheduler/eventhandlers.go.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import attrs

from ...api.objects import KubeObject, Node, Pod, StorageClass
from ...core.cluster.nominations import Nominations
from ...core.queue.clock import Clock
from ...core.router import ADD, UPDATE, EventRouter
from ..config.configuration import DEFAULT_SCHEDULER
from ..diagnosis import EXTENDER
from ..engine import FrameworkEngine
from .admission import Admission
from .events import ALL_EVENTS, ASSIGNED_POD_DELETE, NODE_ADD, Action, ClusterEvent
from .queue import FrameworkQueue, registrations

ACTIONS = {ADD: Action.ADD, UPDATE: Action.UPDATE}


@attrs.define(eq=False)
class FrameworkEvents(EventRouter):
    """Delivers events to an engine of the framework and its queue; pods of any of its profiles are queued."""

    if TYPE_CHECKING:
        engine: FrameworkEngine
        queue: FrameworkQueue

    def _maybe_move(self, verb: str, item: KubeObject) -> None:
        action = ACTIONS.get(verb, Action.DELETE)
        # Upstream: there are handlers only for what some plugin registered.
        if self._handled(item.kind) & action and not _is_passed_over(item, action):
            self.queue.move_all(ClusterEvent(item.kind, action))

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
        return pod is not None and not pod.spec.node_name and (pod.spec.scheduler_name or DEFAULT_SCHEDULER) in self.engine.profiles

    def _tell_cache(self, old: Pod | None, new: Pod | None) -> None:
        if new is None and old is not None:
            self.feed.delete(old)
            self.queue.move_all(ASSIGNED_POD_DELETE)
        else:
            super()._tell_cache(old, new)

    def _is_echo(self, pod: Pod) -> bool:
        return self.engine.cache.is_assumed(pod)


def _is_passed_over(item: KubeObject, action: Action) -> bool:
    """For a class that goes, or that comes and does not wait for its first consumer."""
    if not isinstance(item, StorageClass) or action is Action.UPDATE:
        return False
    return action is Action.DELETE or item.volume_binding_mode != "WaitForFirstConsumer"


def queue_for(engine: FrameworkEngine, clock: Clock, nominations: Nominations | None = None) -> FrameworkQueue:
    """The queue of *engine*, which keeps *nominations* (None: the engine's) and goes by *clock*."""
    plugins = {name: plugin for profile in engine.profiles.values() for name, plugin in profile.plugins().items()}
    waits = registrations(plugins, ALL_EVENTS)
    if engine.extenders:
        waits += [(EXTENDER, event) for event in ALL_EVENTS]
    sorter = next(iter(engine.profiles.values())).at("queueSort")[0]
    return FrameworkQueue(
        nominations=engine.nominations if nominations is None else nominations, clock=clock,
        less=sorter.less, held_by=partial(_held_by, engine), registrations=waits,  # type: ignore[attr-defined]  # it sorts queues
        blame=engine.blame, namespaces=engine.listings.namespaces,
        initial_backoff=float(engine.config.initial_backoff), max_backoff=float(engine.config.max_backoff),
    )  # fmt: skip


def forgotten(queue: FrameworkQueue, excluded: Pod | None = None) -> None:
    """A pod that had a node reserved is given up: all but *excluded* are tried again as if a pod on a node had gone.

    Upstream: handleBindingCycleError in pkg/scheduler/schedule_one.go.
    """
    queue.move_all(ASSIGNED_POD_DELETE, None if excluded is None else lambda pod: pod.uid != excluded.uid)


def _held_by(engine: FrameworkEngine, pod: Pod) -> str | None:
    """The PreEnqueue plugin that holds *pod* back."""
    profile = engine.profile_of(pod)
    status = None if profile is None else engine.pre_enqueue(pod, profile)
    return None if status is None else status.plugin


def node_change(old: Node, new: Node) -> ClusterEvent | None:
    """What happened to a node that may let a pod fit: the first that applies, None where nothing did.

    Upstream: nodeSchedulingPropertiesChange
    """
    # Upstream: quantities are compared as they are kept, so 1 is another amount than 1000m.
    amounts = [{name: amount.form for name, amount in node.status.allocatable.items()} for node in (old, new)]
    statuses = [{condition.type: condition.status for condition in node.status.conditions} for node in (old, new)]
    changes = (
        (old.spec.unschedulable and not new.spec.unschedulable, Action.UPDATE_NODE_TAINT, "NodeSpecUnschedulableChange"),
        (amounts[0] != amounts[1], Action.UPDATE_NODE_ALLOCATABLE, "NodeAllocatableChange"),
        (old.labels != new.labels, Action.UPDATE_NODE_LABEL, "NodeLabelChange"),
        (old.spec.taints != new.spec.taints, Action.UPDATE_NODE_TAINT, "NodeTaintChange"),
        (statuses[0] != statuses[1], Action.UPDATE_NODE_CONDITION, "NodeConditionChange"),
    )
    return next((ClusterEvent("Node", action, label) for applies, action, label in changes if applies), None)
