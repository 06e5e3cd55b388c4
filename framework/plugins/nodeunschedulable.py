"""NodeUnschedulable: is the node closed for new pods?"""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial

from ...predicates.checknodeunschedulable import check_node_unschedulable
from ..hints import node_is_schedulable, pod_tolerates_unschedulable
from ..plugin import ADD_OR_UPDATE, Action, ClusterEvent, Events, Plugin, Template


class NodeUnschedulable(Plugin):
    """Reject nodes with ``spec.unschedulable``, unless the pod tolerates the taint for that.

    Upstream: pkg/scheduler/framework/plugins/nodeunschedulable/node_unschedulable.go.
    """

    name = "NodeUnschedulable"
    filter_reads = check_node_unschedulable.reads

    def filter_key(self, pod: Template) -> Hashable:
        return check_node_unschedulable.key(pod)

    filter = staticmethod(check_node_unschedulable.check)

    def events_to_register(self) -> Events:
        node_actions = Action.ADD | Action.UPDATE_NODE_TAINT
        handle = self.handle
        node = handle.node_event(
            node_actions,
            ADD_OR_UPDATE if handle.queueing.taints_wake else node_actions,
            partial(node_is_schedulable, compares=handle.compares(self.name)),
        )
        if not (handle.gives_hints and handle.queueing.narrow_events):
            return (node,)
        return node, ClusterEvent("Pod", Action.UPDATE_POD_TOLERATION, hint=pod_tolerates_unschedulable)
