"""NodePorts: are the pod's host ports free on the node?"""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial

from ...predicates.podfitshostports import pod_fits_host_ports
from ..hints import pod_leaves_ports
from ..plugin import ADD_OR_UPDATE, Action, ClusterEvent, Events, Plugin, Template, prepare_nothing


class NodePorts(Plugin):
    """Reject nodes where another pod uses one of the host ports of the pod's containers.

    Upstream: pkg/scheduler/framework/plugins/nodeports/node_ports.go.
    """

    name = "NodePorts"
    filter_reads = pod_fits_host_ports.reads
    without_pre_filter = 'reading "PreFilterNodePorts" from cycleState: not found'

    def concerns(self, pod: Template) -> bool:
        return bool(pod.ports)

    def filter_key(self, pod: Template) -> Hashable:
        return pod.ports

    pre_filter = prepare_nothing
    filter = staticmethod(pod_fits_host_ports.check)

    def events_to_register(self) -> Events:
        freed = partial(pod_leaves_ports, nominated=self.handle.queueing.nomination_ends)
        return ClusterEvent("Pod", Action.DELETE, hint=freed), self.handle.node_event(
            Action.ADD, ADD_OR_UPDATE
        )
