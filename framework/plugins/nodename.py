"""NodeName: is this the node that the pod names?"""

from __future__ import annotations

from collections.abc import Hashable

from ..plugin import (
    ADD_OR_UPDATE,
    Action,
    Batch,
    Events,
    Failures,
    FrameworkCycle,
    Plugin,
    Reads,
    Template,
    reason,
)


class NodeName(Plugin):
    """Reject every node except the one in the pod's ``spec.nodeName``, if that is set.

    Upstream: pkg/scheduler/framework/plugins/nodename/node_name.go.
    """

    name = "NodeName"
    filter_reads = Reads.NODE

    def filter_key(self, pod: Template) -> Hashable:
        return pod.spec.node_name

    def filter(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Failures | None:
        node_name = pod.spec.node_name
        if node_name:
            return Failures.where(
                reason(self.cells.node_name_text, resolvable=False), ~nodes.named(node_name)
            )
        return None

    def events_to_register(self) -> Events:
        return (self.handle.node_event(Action.ADD, ADD_OR_UPDATE),)
