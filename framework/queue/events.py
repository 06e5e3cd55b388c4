"""Events of the cluster that may let a rejected pod fit: the registrations of plugins, and the events that
reach the queue.

Upstream: pkg/scheduler/framework/types.go ClusterEvent.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence

import attrs

from ...api.objects import KubeObject, Node, Pod
from ...core.pods import Templates
from ...core.release import QueueingCells


class Action(enum.Flag):
    """A change of an object. Updates of nodes and pods name the part that changed; ``UPDATE`` is any of
    these."""

    ADD = enum.auto()
    DELETE = enum.auto()
    UPDATE_NODE_ALLOCATABLE = enum.auto()
    UPDATE_NODE_LABEL = enum.auto()
    UPDATE_NODE_TAINT = enum.auto()
    UPDATE_NODE_CONDITION = enum.auto()
    UPDATE_NODE_ANNOTATION = enum.auto()
    UPDATE_NODE_DECLARED_FEATURE = enum.auto()
    UPDATE_POD_LABEL = enum.auto()
    UPDATE_POD_SCALE_DOWN = enum.auto()
    UPDATE_POD_TOLERATION = enum.auto()
    UPDATE_POD_SCHEDULING_GATES_ELIMINATED = enum.auto()
    UPDATE_POD_GENERATED_RESOURCE_CLAIM = enum.auto()
    UPDATE_POD_OTHER = enum.auto()
    UPDATE = (
        UPDATE_NODE_ALLOCATABLE
        | UPDATE_NODE_LABEL
        | UPDATE_NODE_TAINT
        | UPDATE_NODE_CONDITION
        | UPDATE_NODE_ANNOTATION
        | UPDATE_NODE_DECLARED_FEATURE
        | UPDATE_POD_LABEL
        | UPDATE_POD_SCALE_DOWN
        | UPDATE_POD_TOLERATION
        | UPDATE_POD_SCHEDULING_GATES_ELIMINATED
        | UPDATE_POD_GENERATED_RESOURCE_CLAIM
        | UPDATE_POD_OTHER
    )
    ALL = ADD | DELETE | UPDATE


ADD_OR_UPDATE = Action.ADD | Action.UPDATE
Hint = Callable[[Pod, KubeObject | None, KubeObject | None], bool]
"""(a pod that the plugin rejected, the object before and after the event) -> whether the pod may fit now.

The object before is None for a new one, and the object after for a deleted one. An error counts as yes.
"""
ANYTHING = "*"


@attrs.frozen(repr=False)
class ClusterEvent:
    """A kind of object (``Node``, ``Pod``, ``PersistentVolume``..., ``*``) and the changes that happened to
    one, or may happen.

    The registration of a plugin may have a *hint*, which counts with gate SchedulerQueueingHints; without one
    every such event may help.
    """

    resource: str
    action: Action
    label: str = ""
    hint: Hint | None = attrs.field(default=None, eq=False)

    def matches(self, happened: ClusterEvent) -> bool:
        """Whether this registration covers the event *happened*."""
        same = self.resource == happened.resource
        return happened.is_wildcard or self.is_wildcard or (same and bool(self.action & happened.action))

    @property
    def is_wildcard(self) -> bool:
        """Whether it means any event."""
        return self.resource == ANYTHING and self.action is Action.ALL


Events = Sequence[ClusterEvent]
"""The events that a plugin waits for."""
NODE_ADD = ClusterEvent("Node", Action.ADD, "NodeAdd")
NODE_DELETE = ClusterEvent("Node", Action.DELETE, "NodeDelete")
ASSIGNED_POD_ADD = ClusterEvent("Pod", Action.ADD, "AssignedPodAdd")
ASSIGNED_POD_UPDATE = ClusterEvent("Pod", Action.UPDATE, "AssignedPodUpdate")
ASSIGNED_POD_DELETE = ClusterEvent("Pod", Action.DELETE, "AssignedPodDelete")
UNSCHEDULABLE_TIMEOUT = ClusterEvent(ANYTHING, Action.ALL, "UnschedulableTimeout")
FORCE_ACTIVATE = ClusterEvent(ANYTHING, Action.ALL, "ForceActivate")
_NODE_LABELS = {
    "NodeSpecUnschedulableChange": Action.UPDATE_NODE_TAINT,
    "NodeAllocatableChange": Action.UPDATE_NODE_ALLOCATABLE,
    "NodeLabelChange": Action.UPDATE_NODE_LABEL,
    "NodeTaintChange": Action.UPDATE_NODE_TAINT,
    "NodeConditionChange": Action.UPDATE_NODE_CONDITION,
    "NodeAnnotationChange": Action.UPDATE_NODE_ANNOTATION,
    "NodeDeclaredFeatureChange": Action.UPDATE_NODE_DECLARED_FEATURE,
}
NODE_CHANGES = tuple(ClusterEvent("Node", action, label) for label, action in _NODE_LABELS.items())
"""The changes of a node, in the order in which they are reported."""
_SHORT = {"PersistentVolume": "Pv", "PersistentVolumeClaim": "Pvc"}
_VERBS = {Action.ADD: "Add", Action.UPDATE: "Update", Action.DELETE: "Delete"}


def object_event(kind: str, action: Action) -> ClusterEvent:
    """The event of an object, neither node nor pod, with upstream's label.

    >>> object_event("PersistentVolume", Action.DELETE).label
    'PvDelete'
    """
    return ClusterEvent(kind, action, _SHORT.get(kind, kind) + _VERBS[action])


_VOLUME_EVENTS = tuple(
    object_event(kind, action)
    for kind in (
        "PersistentVolume",
        "PersistentVolumeClaim",
        "StorageClass",
        "CSINode",
        "CSIDriver",
        "CSIStorageCapacity",
    )
    for action in (Action.ADD, Action.UPDATE)
)
EVENTS = {
    event.label: event
    for event in (
        NODE_ADD,
        NODE_DELETE,
        *NODE_CHANGES,
        ASSIGNED_POD_ADD,
        ASSIGNED_POD_UPDATE,
        ASSIGNED_POD_DELETE,
        *_VOLUME_EVENTS,
        UNSCHEDULABLE_TIMEOUT,
        ClusterEvent(ANYTHING, Action.ALL, "WildCardEvent"),
    )
}
"""Label -> event that moves pods. Upstream: pkg/scheduler/internal/queue/events.go."""
_GROUPED = {
    **dict.fromkeys(
        ("CSINode", "CSIDriver", "CSIStorageCapacity", "StorageClass", "VolumeAttachment"), "storage.k8s.io/"
    ),
    **dict.fromkeys(("ResourceClaim", "ResourceSlice", "DeviceClass"), "resource.k8s.io/"),
}
_CHANGES = {
    **{action: "".join(word.capitalize() for word in str(action.name).split("_")) for action in Action},
    **dict.fromkeys((Action.UPDATE, Action.UPDATE_POD_OTHER), "Update"),
}


def full_label(event: ClusterEvent) -> str:
    """The label of *event* in releases that name its kind and change in full.

    >>> full_label(NODE_CHANGES[0]), full_label(ASSIGNED_POD_DELETE), full_label(UNSCHEDULABLE_TIMEOUT)
    ('NodeUpdateNodeTaint', 'AssignedPodDelete', 'UnschedulableTimeout')
    """
    if event.is_wildcard:
        return event.label
    if event.label.startswith("AssignedPod"):
        kind = "AssignedPod"
    else:
        kind = _GROUPED.get(event.resource, "") + event.resource
    return kind + _CHANGES.get(event.action, "")


def node_changes(old: Node, new: Node, cells: QueueingCells) -> list[ClusterEvent]:
    """The changes of a node that may let a pod fit: all that apply, or the first."""
    # Upstream: where the first change is reported, quantities are compared as they are kept, so 1 is another
    # amount than 1000m.
    amounts = [
        {
            name: amount if cells.each_node_change else amount.form
            for name, amount in node.status.allocatable.items()
        }
        for node in (old, new)
    ]
    statuses = [
        {condition.type: condition.status for condition in node.status.conditions} for node in (old, new)
    ]
    changes = (
        old.spec.unschedulable and not new.spec.unschedulable,
        amounts[0] != amounts[1],
        old.labels != new.labels,
        old.spec.taints != new.spec.taints,
        statuses[0] != statuses[1],
        cells.each_node_change and old.metadata.annotations != new.metadata.annotations,
        cells.declared_features_wake and old.status.declared_features != new.status.declared_features,
    )
    applying = [event for event, applies in zip(NODE_CHANGES, changes, strict=True) if applies]
    return applying if cells.each_node_change else applying[:1]


POD_CHANGES: Mapping[str, tuple[Action, Callable[[Pod, Pod], bool]]] = {
    "labels": (Action.UPDATE_POD_LABEL, lambda old, new: old.labels != new.labels),
    "scheduling gates": (
        Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED,
        lambda old, new: bool(old.spec.scheduling_gates) and not new.spec.scheduling_gates,
    ),
    # Upstream: the API only lets users add tolerations, so their number is enough.
    "tolerations": (
        Action.UPDATE_POD_TOLERATION,
        lambda old, new: len(old.spec.tolerations) != len(new.spec.tolerations),
    ),
    "claims": (
        Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM,
        lambda old, new: old.status.resource_claim_statuses != new.status.resource_claim_statuses,
    ),
}
"""The changes of a pod that are events of their own, in upstream's order; smaller requests come after
labels."""


def pod_changes(old: Pod, new: Pod, cells: QueueingCells, templates: Templates) -> list[ClusterEvent]:
    """The events of a pod's update: those of its changes that are events of their own, else a plain
    update."""
    label = "AssignedPodUpdate" if new.spec.node_name else "UnschedulablePodUpdate"
    actions = []
    for name in cells.pod_changes:
        action, applies = POD_CHANGES.get(name, (Action.UPDATE_POD_SCALE_DOWN, None))
        if applies(old, new) if applies is not None else _is_scaled_down(old, new, templates):
            actions.append(action)
    fallback = Action.UPDATE_POD_OTHER if cells.pod_changes else Action.UPDATE
    return [ClusterEvent("Pod", action, label) for action in actions or [fallback]]


def _is_scaled_down(old: Pod, new: Pod, templates: Templates) -> bool:
    before = templates.of(old).footprint
    after = templates.of(new).footprint
    return any(amount > after.get(name, -1) for name, amount in before.items())
