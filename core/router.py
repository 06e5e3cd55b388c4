"""The event router of a scheduler with a queue: events update the engine's state and may move waiting pods.

Upstream: AddAllEventHandlers in pkg/scheduler/eventhandlers.go (1.12, 1.13: NewConfigFactory in
pkg/scheduler/factory/factory.go).
"""

from __future__ import annotations

import attrs
from msgspec.structs import replace

from ..api.objects import DEFAULT_SCHEDULER, KubeObject, Map, Node, Pod, StorageClass
from .engine import Engine
from .queue.priority import SchedulingQueue
from .run import EventFeed

ADD = "Add"
UPDATE = "Update"
DELETE = "Delete"
ALWAYS = {
    ("PersistentVolume", ADD),
    ("PersistentVolume", UPDATE),
    ("PersistentVolumeClaim", ADD),
    ("Service", ADD),
    ("Service", UPDATE),
    ("Service", DELETE),
}
"""Events that move all pods in every release."""


@attrs.define(eq=False, repr=False)
class EventRouter:
    """A router that delivers events to *engine* and *queue*: adds and updates by :meth:`put`, deletes by
    :meth:`delete`.

    Pods of other schedulers count only when they have a node. A pod that is Succeeded or Failed counts as
    deleted. Both methods raise :class:`~kubeclassic.exceptions.CacheError` where upstream's scheduler would
    exit, for example when a pod changes its node.
    """

    engine: Engine
    queue: SchedulingQueue
    scheduler_name: str | None = DEFAULT_SCHEDULER
    """The scheduler whose pods are queued, with profiles those of any of them; None: all pods are."""
    pods: dict[str, Pod] = attrs.Factory(dict)
    """Key -> pod as in the API, without finished pods."""
    feed: EventFeed = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.feed = EventFeed(self.engine)
        self.engine.nominations.lister = self.pods

    def put(self, item: KubeObject) -> None:
        """Take an added or updated object."""
        if isinstance(item, Pod):
            self._put_pod(item)
        elif isinstance(item, Node):
            self._put_node(item)
        else:
            old = self.feed.listed(item)
            self.feed.put(item)
            self._maybe_move(ADD if old is None else UPDATE, item, old)

    def delete(self, item: KubeObject) -> None:
        """Take a deleted object; only its kind and key matter. An unknown object is ignored."""
        if isinstance(item, Pod):
            old = self.pods.pop(item.key, None)
            if old is not None:
                self._pod_changed(old, None)
        elif self.feed.exists(item):
            listed = self.feed.listed(item)
            self.feed.delete(item)
            self._maybe_move(DELETE, item, listed)

    def pod_given_up(self, pod: Pod, *, but_itself: bool) -> None:
        """Take the end of a reservation: *pod* was forgotten, so other pods may fit. *but_itself*: it does
        not move itself. Up to 1.16 this moves no pod."""

    # --- what moves pods ------------------------------------------------------------------------------------

    def _maybe_move(self, verb: str, item: KubeObject, old: KubeObject | None) -> None:
        """Take a change of an object, neither pod nor node; *old*: its state before."""
        engine = self.engine
        if isinstance(item, StorageClass):
            is_late = item.volume_binding_mode == "WaitForFirstConsumer"
            moves = verb == ADD and is_late and engine.binder.enabled
        elif item.kind == "CSINode":
            moves = verb != DELETE and engine.release.queue.csi_node_events and engine.enabled("CSINodeInfo")
        elif (item.kind, verb) == ("PersistentVolumeClaim", UPDATE):
            moves = engine.binder.enabled
        else:
            moves = (item.kind, verb) in ALWAYS
        if moves:
            self.queue.move_all()

    def _put_node(self, node: Node) -> None:
        old = self.engine.cache.node(node.name)
        self.feed.put(node)
        filtered = self.engine.algorithm.release.queue.node_update_filter
        # Upstream: with no pod parked any update counts as a move, for a pod that is in its cycle now.
        if (
            old is None
            or not filtered
            or not self.queue.pending.unschedulable
            or (old.spec.unschedulable and not node.spec.unschedulable)
            or _scheduling_properties(old) != _scheduling_properties(node)
        ):
            self.queue.move_all()

    # --- pods -----------------------------------------------------------------------------------------------

    def _put_pod(self, pod: Pod) -> None:
        old = self.pods.get(pod.key)
        if pod.is_terminal:
            self.delete(pod)
        elif old is not None and old.uid != pod.uid:
            self.delete(old)
            self._put_pod(pod)
        else:
            self.pods[pod.key] = pod
            self._pod_changed(old, pod)

    def _pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        """Update the cache with pods on nodes, then the queue with pods without. A pod that got a node leaves
        the queue."""
        self._tell_cache(old if _is_assigned(old) else None, new if _is_assigned(new) else None)
        self._tell_queue(old if self._is_queued(old) else None, new if self._is_queued(new) else None)

    def _is_queued(self, pod: Pod | None) -> bool:
        if pod is None or pod.spec.node_name:
            return False
        name = pod.scheduler_name
        return self.scheduler_name is None or name in (self.engine.profiles or (self.scheduler_name,))

    def _tell_cache(self, old: Pod | None, new: Pod | None) -> None:
        if new is not None:
            self.feed.put(new)
            (self.queue.assigned_pod_added if old is None else self.queue.assigned_pod_updated)(new)
        elif old is not None:
            self.feed.delete(old)
            self.queue.move_all()

    def _tell_queue(self, old: Pod | None, new: Pod | None) -> None:
        if new is None and old is not None:
            self.queue.delete(old)
            self.engine.binder.forget(old)
        elif new is not None and old is None:
            self.queue.add(new)
        elif new is not None and old is not None and not self._is_echo(new):
            self.queue.update(old, new)

    def _is_echo(self, pod: Pod) -> bool:
        """Whether *pod* is assumed on a node and nothing has changed that scheduling reads."""
        state = self.engine.cache.state(pod)
        if state is None or not state.assumed:
            return False
        lenient = self.engine.algorithm.release.queue.skips_condition_updates
        return _comparable(state.pod, lenient) == _comparable(pod, lenient)


def _is_assigned(pod: Pod | None) -> bool:
    return pod is not None and bool(pod.spec.node_name)


def _comparable(pod: Pod, lenient: bool) -> Pod:
    """*pod* without the parts that may differ: with *lenient* also without its conditions and finalizers."""
    metadata = replace(pod.metadata, resource_version="", annotations=Map())
    status = pod.status
    if lenient:
        metadata = replace(metadata, finalizers=())
        status = replace(status, conditions=())
    return replace(pod, metadata=metadata, spec=replace(pod.spec, node_name=""), status=status)


def _scheduling_properties(node: Node) -> tuple[object, ...]:
    """The properties whose changes may let a pod fit. Upstream: pkg/scheduler/eventhandlers.go
    nodeSchedulingPropertiesChanged."""
    statuses = {condition.type: condition.status for condition in node.status.conditions}
    # Upstream: quantities are compared by their stored form, so 1 and 1000m differ.
    allocatable = {name: amount.form for name, amount in node.status.allocatable.items()}
    return allocatable, node.labels, node.spec.taints, statuses
