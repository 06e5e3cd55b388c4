"""The event handlers of the framework: the objects that a scheduler learns of, and the pods that it tries
again.

Upstream: addAllEventHandlers in pkg/scheduler/eventhandlers.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import attrs

from ...api.meaning import tolerates
from ...api.objects import KubeObject, Node, Pod, StorageClass
from ...core.engine import Engine
from ...core.pods import NATIVE, PODS, Template, of_node
from ...core.release import QueueingCells, Requests
from ...core.router import ADD, UPDATE, EventRouter
from ..hints import is_selected, ports_clash
from .events import (
    ADD_OR_UPDATE,
    ANYTHING,
    ASSIGNED_POD_DELETE,
    NODE_ADD,
    NODE_DELETE,
    Action,
    ClusterEvent,
    node_changes,
    object_event,
)

if TYPE_CHECKING:
    from .queue import FrameworkQueue


def admission(engine: Engine, name: str) -> Callable[[Pod], bool] | None:
    """The check whether a pod may go to the node called *name* in its current state; None where no check is
    needed."""
    info = engine.cache.infos.get(name)
    if info is None or info.node is None:
        return None
    node = info.node
    templates = engine.templates
    used_ports = frozenset(info.used_ports)
    # Allocatable minus the requests of the node's pods; ``pods``: the number of further pods.
    free = dict(of_node(node.status.allocatable))
    free[PODS] = free.get(PODS, 0) - len(info.pods)
    for entry in info.pods:
        for resource, number in entry.template.footprint.items():
            free[resource] = free.get(resource, 0) - number
    release = engine.release
    # Upstream: from 1.24 on NoExecute is not looked at here.
    effects = ("NoSchedule", "NoExecute") if release.queueing.checks_no_execute else ("NoSchedule",)
    answers: dict[Template, bool] = {}

    def passes(pod: Pod) -> bool:
        template = templates.of(pod)
        if template not in answers:
            answers[template] = (
                _has_room(template.requests, free, release.framework.fit_checks_requested)
                and is_selected(template.pod, node)
                and template.spec.node_name in ("", node.name)
                and not any(ports_clash(port, used) for port in template.ports for used in used_ports)
                and all(
                    tolerates(pod.spec.tolerations, taint)
                    for taint in node.spec.taints
                    if taint.effect in effects
                )
            )
        return answers[template]

    return passes


def _has_room(requests: Requests, free: Requests, checks_requested: bool) -> bool:
    if free.get(PODS, 0) < 1:
        return False
    if not any(requests.get(name, 0) for name in NATIVE) and not set(requests) - set(NATIVE):
        return True
    checked = [name for name in NATIVE if not checks_requested or requests.get(name, 0) > 0]
    fits = all(requests.get(name, 0) <= free.get(name, 0) for name in checked)
    scalars = ((name, number) for name, number in requests.items() if name not in NATIVE and number)
    return fits and all(number <= free.get(name, 0) for name, number in scalars)


ACTIONS = {ADD: Action.ADD, UPDATE: Action.UPDATE}
KINDS = frozenset(
    {
        "CSINode",
        "CSIDriver",
        "CSIStorageCapacity",
        "PersistentVolume",
        "PersistentVolumeClaim",
        "StorageClass",
        "VolumeAttachment",
        "ResourceClaim",
        "ResourceSlice",
        "DeviceClass",
        "Service",
    }
)
"""The kinds whose events plugins may wait for, besides nodes and pods."""
FIXED: Mapping[str, Action] = {
    "PersistentVolume": ADD_OR_UPDATE,
    "PersistentVolumeClaim": ADD_OR_UPDATE,
    "CSINode": ADD_OR_UPDATE,
    "StorageClass": Action.ADD,
    "Service": Action.ALL,
}
"""Kind -> the actions that reach the queue in releases where this does not depend on plugins."""
IDLE = ClusterEvent(ANYTHING, Action.ALL, "Unknown")


@attrs.define(eq=False, repr=False)
class FrameworkEvents(EventRouter):
    """Delivers events to an engine of the framework and its queue."""

    if TYPE_CHECKING:
        queue: FrameworkQueue

    @property
    def _cells(self) -> QueueingCells:
        return self.engine.release.queueing

    def _maybe_move(self, verb: str, item: KubeObject, old: KubeObject | None) -> None:
        action = ACTIONS.get(verb, Action.DELETE)
        cells = self._cells
        if cells.fixed_events:
            is_handled = bool(FIXED.get(item.kind, Action(0)) & action)
        else:
            # Upstream: there are handlers only for what some plugin registered.
            is_handled = item.kind in KINDS and bool(self.queue.registrations.actions(item.kind) & action)
        asks_hints = self.queue.gives_hints and cells.hints_replace_checks
        if isinstance(item, StorageClass) and action is not Action.UPDATE and not asks_hints:
            # A new class that does not wait for its first consumer, or a deleted one, moves no pod.
            is_handled &= action is Action.ADD and item.volume_binding_mode == "WaitForFirstConsumer"
        if is_handled:
            new = None if action is Action.DELETE else item
            self.queue.move_all(
                object_event(item.kind, action), old=old or item if new is None else old, new=new
            )

    # --- nodes ----------------------------------------------------------------------------------------------

    def _put_node(self, node: Node) -> None:
        old = self.engine.node(node.name)
        self.feed.put(node)
        if old is not None and self._cells.idle_updates_count and not self.queue.pending.unschedulable:
            self.queue.move_all(IDLE)
            return
        for event in [NODE_ADD] if old is None else node_changes(old, node, self._cells):
            asks_hints = (
                self.queue.gives_hints and self._cells.hints_replace_checks
            ) or not self._cells.checks_nodes
            self.queue.move_all(event, None if asks_hints else admission(self.engine, node.name), old, node)

    def delete(self, item: KubeObject) -> None:
        if not isinstance(item, Node):
            super().delete(item)
            return
        old = self.engine.node(item.name)
        # Upstream: up to 1.31 the deletion of a node moves no pod.
        if old is not None and self._cells.node_delete:
            self.queue.move_all(NODE_DELETE, old=old)
        self.feed.delete(item)

    # --- pods -----------------------------------------------------------------------------------------------

    def _put_pod(self, pod: Pod) -> None:
        old = self.pods.get(pod.key)
        got_node = old is not None and not old.node_name and bool(pod.node_name)
        if got_node and self._cells.tells_removal_from_binding and not pod.is_terminal:
            # Upstream: another pod of its name counts as its binding, too.
            self.pods[pod.key] = pod
            self._pod_changed(old, pod)
        else:
            super()._put_pod(pod)

    def _tell_cache(self, old: Pod | None, new: Pod | None) -> None:
        if new is None and old is not None:
            self.feed.delete(old)
            self.queue.move_all(ASSIGNED_POD_DELETE, old=old)
        elif new is not None and old is not None:
            self.feed.put(new)
            self.queue.assigned_pod_updated(new, old)
        else:
            super()._tell_cache(old, new)

    def _tell_queue(self, old: Pod | None, new: Pod | None) -> None:
        tells_apart = self._cells.tells_removal_from_binding
        if new is not None or old is None:
            super()._tell_queue(old, new)
            if new is None or old is None:
                return
            if not self._is_echo(new):
                self._nomination_ended(old, new.status.nominated_node_name)
            elif tells_apart and new.is_terminating and not old.is_terminating:
                self._assumed_pod_goes(new)
            return
        is_bound = old.key in self.pods
        if tells_apart and self.engine.is_assumed(old):
            self.queue.delete(old)
            if not is_bound:
                self._assumed_pod_goes(old)
            return
        if tells_apart and is_bound:
            super()._tell_queue(old, new)
            return
        was_waiting = self._stops_waiting(old)
        if was_waiting or self.engine.is_assumed(old):
            # Its reserved volumes are given back with its reservation.
            self.queue.delete(old)
        else:
            super()._tell_queue(old, new)
        if was_waiting and self._cells.given_up_moves:
            self.queue.move_all(ASSIGNED_POD_DELETE, old=old)
        elif not was_waiting:
            self._nomination_ended(old, "")

    def _stops_waiting(self, pod: Pod) -> bool:
        """Reject *pod* if it waits for Permit plugins. Returns whether it did."""
        return self.engine.flow.binding.removed(pod)

    def _assumed_pod_goes(self, pod: Pod) -> None:
        """Forget a pod that is deleted while assumed on a node: its room there is free before its binding
        fails."""
        engine = self.engine
        assumed = engine.pod_state(pod)
        assert assumed is not None
        if not self._stops_waiting(pod):
            engine.cache.forget(assumed.pod)
        self.queue.move_all(ASSIGNED_POD_DELETE, old=assumed.pod)

    def _nomination_ended(self, old: Pod, now: str) -> None:
        """Move pods after the end of a nomination, if *old* was nominated to another node than *now*. Pods of
        no higher priority, for which it counted there, may fit."""
        was = old.status.nominated_node_name
        if was and was != now and self._cells.nomination_ends:
            self.queue.move_all(ASSIGNED_POD_DELETE, lambda pod: pod.priority <= old.priority, old)

    def pod_given_up(self, pod: Pod, *, but_itself: bool) -> None:
        # Upstream: handleBindingCycleError in pkg/scheduler/schedule_one.go, as if a pod on a node had been
        # deleted.
        if self._cells.given_up_moves:
            self.queue.move_all(
                ASSIGNED_POD_DELETE, (lambda other: other.uid != pod.uid) if but_itself else None, pod
            )

    def _is_echo(self, pod: Pod) -> bool:
        return self.engine.is_assumed(pod) and (self._cells.passes_over_assumed or super()._is_echo(pod))
