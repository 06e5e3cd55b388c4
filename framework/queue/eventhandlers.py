"""Event handlers of the framework: the objects that a scheduler learns of, and the pods that it tries again.

Upstream: addAllEventHandlers in pkg/scheduler/eventhandlers.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import attrs

from ...api.meaning import tolerates
from ...api.objects import KubeObject, Node, Pod, StorageClass
from ...core.cluster.nominations import Nominations
from ...core.engine import Engine
from ...core.pods import NATIVE, PODS, Port, Template, Templates, of_node
from ...core.queue.backoff import SECOND, Clock
from ...core.release import QueueingCells, Requests
from ...core.router import ADD, UPDATE, EventRouter
from ..config.configuration import KubeSchedulerConfiguration
from ..hints import is_selected, ports_clash
from .events import (
    ANYTHING,
    ASSIGNED_POD_DELETE,
    NODE_ADD,
    NODE_DELETE,
    Action,
    ClusterEvent,
    node_changes,
    object_event,
)
from .queue import FrameworkQueue
from .registrations import Registrations


@attrs.define(eq=False, repr=False)
class NodeAdmission:
    """One node as the cache has it; call it with a pod."""

    node: Node
    templates: Templates
    used_ports: frozenset[Port]
    free: Requests
    """Allocatable less what its pods request; ``pods``: how many more it takes."""
    _known: dict[Template, bool] = attrs.Factory(dict)

    @classmethod
    def of(cls, engine: Engine, name: str) -> NodeAdmission | None:
        """The check for the node called *name*."""
        info = engine.cache.infos.get(name)
        if info is None or info.node is None:
            return None
        free = dict(of_node(info.node.status.allocatable))
        free[PODS] = free.get(PODS, 0) - len(info.pods)
        for entry in info.pods:
            for resource, number in entry.template.footprint.items():
                free[resource] = free.get(resource, 0) - number
        return cls(info.node, engine.templates, frozenset(info.used_ports), free)

    def __call__(self, pod: Pod) -> bool:
        template = self.templates.of(pod)
        if template not in self._known:
            node = self.node
            # Upstream: from 1.24 on NoExecute is not looked at here.
            checks_no_execute = self.templates.release.queueing.checks_no_execute
            effects = ("NoSchedule", "NoExecute") if checks_no_execute else ("NoSchedule",)
            self._known[template] = (
                self._has_room(template)
                and is_selected(template.pod, node)
                and template.spec.node_name in ("", node.name)
                and not any(
                    ports_clash(wanted, used) for wanted in template.ports for used in self.used_ports
                )
                and all(
                    tolerates(pod.spec.tolerations, taint)
                    for taint in node.spec.taints
                    if taint.effect in effects
                )
            )
        return self._known[template]

    def _has_room(self, pod: Template) -> bool:
        if self.free.get(PODS, 0) < 1:
            return False
        requests = pod.requests
        if not any(requests.get(name, 0) for name in NATIVE) and not set(requests) - set(NATIVE):
            return True
        checked = [
            name
            for name in NATIVE
            if not self.templates.release.framework.fit_checks_requested or requests.get(name, 0) > 0
        ]
        fits = all(requests.get(name, 0) <= self.free.get(name, 0) for name in checked)
        scalars = ((name, number) for name, number in requests.items() if name not in NATIVE and number)
        return fits and all(number <= self.free.get(name, 0) for name, number in scalars)


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
"""The kinds beside nodes and pods whose events plugins may wait for."""
FIXED: Mapping[str, Action] = {
    "PersistentVolume": Action.ADD | Action.UPDATE,
    "PersistentVolumeClaim": Action.ADD | Action.UPDATE,
    "CSINode": Action.ADD | Action.UPDATE,
    "StorageClass": Action.ADD,
    "Service": Action.ALL,
}
"""What happens to such objects and reaches the queue in releases in which this does not depend on plugins."""
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
            # For a class that comes and does not wait for its first consumer, or goes, no pod is tried.
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
            self.queue.move_all(
                event, None if asks_hints else NodeAdmission.of(self.engine, node.name), old, node
            )

    def delete(self, item: KubeObject) -> None:
        if not isinstance(item, Node):
            super().delete(item)
            return
        old = self.engine.node(item.name)
        # Upstream: up to 1.31 a node that goes causes no pod to be tried again.
        if old is not None and self._cells.node_delete:
            self.queue.move_all(NODE_DELETE, old=old)
        self.feed.delete(item)

    # --- pods -----------------------------------------------------------------------------------------------

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
        if new is not None or old is None:
            super()._tell_queue(old, new)
            if new is not None and old is not None and not self._is_echo(new):
                self._nomination_ended(old, new.status.nominated_node_name)
            return
        was_waiting = self.engine.flow.binding.removed(old)
        if was_waiting or self.engine.is_assumed(old):
            # The volumes that it was to get are given back with its reservation.
            self.queue.delete(old)
        else:
            super()._tell_queue(old, new)
        if was_waiting and self._cells.given_up_moves:
            self.queue.move_all(ASSIGNED_POD_DELETE, old=old)
        elif not was_waiting:
            self._nomination_ended(old, "")

    def _nomination_ended(self, old: Pod, now: str) -> None:
        """A pod was nominated to another node than *now*: pods of no higher priority, for which it counted
        there, may fit."""
        was = old.status.nominated_node_name
        if was and was != now and self._cells.nomination_ends:
            self.queue.move_all(ASSIGNED_POD_DELETE, lambda pod: pod.priority <= old.priority, old)

    def pod_given_up(self, pod: Pod, *, but_itself: bool) -> None:
        # Upstream: handleBindingCycleError in pkg/scheduler/schedule_one.go, as if a pod on a node had gone.
        if self._cells.given_up_moves:
            self.queue.move_all(
                ASSIGNED_POD_DELETE, (lambda other: other.uid != pod.uid) if but_itself else None, pod
            )

    def _is_echo(self, pod: Pod) -> bool:
        return self.engine.is_assumed(pod)


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
        registrations=Registrations(profiles, release.queueing, gives_hints, bool(engine.extenders)),
        templates=engine.templates,
        queueing=release.queueing,
        gives_hints=gives_hints,
        pops_early=enabled("SchedulerPopFromBackoffQ"),
        namespaces=engine.listings.namespaces,
        initial_backoff=config.initial_backoff * SECOND,
        max_backoff=config.max_backoff * SECOND,
    )
