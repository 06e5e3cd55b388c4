"""What the update of a node or a pod is: the events of its changes.

Upstream: nodeSchedulingPropertiesChange in pkg/scheduler/eventhandlers.go; pkg/scheduler/framework/events.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...api.objects import Node, Pod
from ...core.pods.template import Templates
from ...core.release import QueueingCells
from .events import ASSIGNED_POD_UPDATE, NODE_CHANGES, Action, ClusterEvent


def node_changes(old: Node, new: Node, cells: QueueingCells) -> list[ClusterEvent]:
    """What happened to a node that may let a pod fit: all that applies, or the first."""
    # Upstream: where the first change is told, quantities are compared as they are kept, so 1 is another amount than 1000m.
    amounts = [
        {name: amount if cells.each_node_change else amount.form for name, amount in node.status.allocatable.items()} for node in (old, new)
    ]
    statuses = [{condition.type: condition.status for condition in node.status.conditions} for node in (old, new)]
    changes = (
        old.spec.unschedulable and not new.spec.unschedulable,
        amounts[0] != amounts[1],
        old.labels != new.labels,
        old.spec.taints != new.spec.taints,
        statuses[0] != statuses[1],
        cells.each_node_change and old.metadata.annotations != new.metadata.annotations,
    )
    found = [event for event, applies in zip(NODE_CHANGES, changes, strict=True) if applies]
    return found if cells.each_node_change else found[:1]


def _pod_event(action: Action, name: str) -> ClusterEvent:
    return ClusterEvent("Pod", action, name)


POD_CHANGES: Mapping[str, tuple[Action, Callable[[Pod, Pod], bool]]] = {
    "labels": (Action.UPDATE_POD_LABEL, lambda old, new: old.labels != new.labels),
    "scheduling gates": (
        Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED,
        lambda old, new: bool(old.spec.scheduling_gates) and not new.spec.scheduling_gates,
    ),
    # Upstream: the API lets users add tolerations alone, so their number is enough.
    "tolerations": (Action.UPDATE_POD_TOLERATION, lambda old, new: len(old.spec.tolerations) != len(new.spec.tolerations)),
    "claims": (Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM, lambda old, new: _claims(old) != _claims(new)),
}
"""The changes of a pod that count as different, in the order of upstream; requests that become smaller come after labels."""
SCALED_DOWN = "smaller requests"


def pod_changes(old: Pod, new: Pod, cells: QueueingCells, templates: Templates) -> list[ClusterEvent]:
    """The events of the update of a pod: those of its changes that count as different, else that of an update."""
    label = "AssignedPodUpdate" if new.spec.node_name else "UnschedulablePodUpdate"
    if not cells.pod_changes:
        return [ASSIGNED_POD_UPDATE if new.spec.node_name else _pod_event(Action.UPDATE, label)]
    found = []
    for name in cells.pod_changes:
        action, applies = POD_CHANGES.get(name, (Action.UPDATE_POD_SCALE_DOWN, None))
        if applies(old, new) if applies is not None else _is_scaled_down(old, new, templates):
            found.append(_pod_event(action, label))
    return found or [_pod_event(Action.UPDATE_POD_OTHER, label)]


def _is_scaled_down(old: Pod, new: Pod, templates: Templates) -> bool:
    before, after = templates.of(old).footprint, templates.of(new).footprint
    return any(amount > after.get(name, -1) for name, amount in before.items())


def _claims(pod: Pod) -> object:
    return getattr(pod.status, "resource_claim_statuses", ())
