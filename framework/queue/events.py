"""Events of the cluster that may let a pod fit which did not: what a plugin registers, and what the queue is told.

Upstream: pkg/scheduler/framework/types.go ClusterEvent.
"""

from __future__ import annotations

import enum

import attrs


class Action(enum.Flag):
    """What happened to an object. For nodes an update says which part changed; ``UPDATE`` is any of them."""

    ADD = enum.auto()
    DELETE = enum.auto()
    UPDATE_NODE_ALLOCATABLE = enum.auto()
    UPDATE_NODE_LABEL = enum.auto()
    UPDATE_NODE_TAINT = enum.auto()
    UPDATE_NODE_CONDITION = enum.auto()
    UPDATE = UPDATE_NODE_ALLOCATABLE | UPDATE_NODE_LABEL | UPDATE_NODE_TAINT | UPDATE_NODE_CONDITION
    ALL = ADD | DELETE | UPDATE


ANYTHING = "*"


@attrs.frozen
class ClusterEvent:
    """A kind of object (``Node``, ``Pod``, ``PersistentVolume``..., ``*``) and what happened to one, or what may."""

    resource: str
    action: Action
    label: str = ""

    def matches(self, happened: ClusterEvent) -> bool:
        """Whether what *happened* is what this registration waits for."""
        same = self.resource == happened.resource
        return happened.is_wildcard or self.is_wildcard or (same and bool(self.action & happened.action))

    @property
    def is_wildcard(self) -> bool:
        """Whether it stands for whatever may happen."""
        return self.resource == ANYTHING and self.action is Action.ALL


NODE_ADD_OR_UPDATE = ClusterEvent("Node", Action.ADD | Action.UPDATE)
NODE_ADD = ClusterEvent("Node", Action.ADD, "NodeAdd")
ASSIGNED_POD_ADD = ClusterEvent("Pod", Action.ADD, "AssignedPodAdd")
ASSIGNED_POD_UPDATE = ClusterEvent("Pod", Action.UPDATE, "AssignedPodUpdate")
ASSIGNED_POD_DELETE = ClusterEvent("Pod", Action.DELETE, "AssignedPodDelete")
UNSCHEDULABLE_TIMEOUT = ClusterEvent(ANYTHING, Action.ALL, "UnschedulableTimeout")
NODE_CHANGES = (
    ClusterEvent("Node", Action.UPDATE_NODE_TAINT, "NodeSpecUnschedulableChange"),
    ClusterEvent("Node", Action.UPDATE_NODE_ALLOCATABLE, "NodeAllocatableChange"),
    ClusterEvent("Node", Action.UPDATE_NODE_LABEL, "NodeLabelChange"),
    ClusterEvent("Node", Action.UPDATE_NODE_TAINT, "NodeTaintChange"),
    ClusterEvent("Node", Action.UPDATE_NODE_CONDITION, "NodeConditionChange"),
)
"""The changes of a node; an update with several is the first of them."""
_SHORT = {"PersistentVolume": "Pv", "PersistentVolumeClaim": "Pvc"}
_VERBS = {Action.ADD: "Add", Action.UPDATE: "Update", Action.DELETE: "Delete"}


def object_event(kind: str, action: Action) -> ClusterEvent:
    """The event of an object that is no node and no pod, with upstream's label.

    >>> object_event("PersistentVolume", Action.DELETE).label
    'PvDelete'
    """
    return ClusterEvent(kind, action, _SHORT.get(kind, kind) + _VERBS[action])


_VOLUME_EVENTS = tuple(
    object_event(kind, action)
    for kind in ("PersistentVolume", "PersistentVolumeClaim", "StorageClass", "CSINode", "CSIDriver", "CSIStorageCapacity")
    for action in (Action.ADD, Action.UPDATE)
)
EVENTS = {
    event.label: event
    for event in (
        *(NODE_ADD, *NODE_CHANGES, ASSIGNED_POD_ADD, ASSIGNED_POD_UPDATE, ASSIGNED_POD_DELETE, *_VOLUME_EVENTS),
        *(UNSCHEDULABLE_TIMEOUT, ClusterEvent(ANYTHING, Action.ALL, "WildCardEvent")),
    )
}
"""Label -> event that moves pods. Upstream: pkg/scheduler/internal/queue/events.go."""
ALL_EVENTS = tuple(
    ClusterEvent(kind, Action.ALL) for kind in ("Pod", "Node", "CSINode", "PersistentVolume", "PersistentVolumeClaim", "StorageClass")
)
"""What a plugin waits for that does not say what it waits for, and so do extenders."""
