"""NodePorts: are the pod's host ports free on the node?"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial

from ...predicates.podfitshostports import pod_fits_host_ports
from ..hints import pod_leaves_ports
from ..plugin import Action, Batch, ClusterEvent, Failures, FrameworkCycle, Plugin, Template, prepare_nothing


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

    def filter(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Failures | None:
        return pod_fits_host_ports.check(pod, nodes, cycle)

    def events_to_register(self) -> Sequence[ClusterEvent]:
        freed = partial(pod_leaves_ports, nominated=self.handle.queueing.nomination_ends)
        return ClusterEvent("Pod", Action.DELETE, hint=freed), self.handle.node_event(
            Action.ADD, Action.ADD | Action.UPDATE
        )
