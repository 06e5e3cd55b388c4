"""Are the host ports that the pod asks for free on the node?"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import ClassVar

from ...core.arrays.batch import Batch
from ...core.failures import Failures
from ...core.pods.template import Template
from ...core.rule import Reads
from ...predicates.hostports import pod_fits_host_ports
from ..cycle.state import FrameworkCycle
from ..plugin import Plugin
from ..queue.events import NODE_ADD_OR_UPDATE, Action, ClusterEvent


class NodePorts(Plugin):
    """Turn down nodes where a pod already has one of the host ports that the pod's containers ask for.

    Upstream: pkg/scheduler/framework/plugins/nodeports/node_ports.go.
    """

    name = "NodePorts"
    filter_reads: ClassVar[Reads] = pod_fits_host_ports.reads
    without_pre_filter: str | None = 'reading "PreFilterNodePorts" from cycleState: not found'

    def concerns(self, pod: Template) -> bool:
        return bool(pod.ports)

    def filter_key(self, pod: Template) -> Hashable:
        return pod.ports

    def pre_filter(self, pod: Template, cycle: FrameworkCycle) -> None:
        """Nothing needs to be prepared; a profile may disable it all the same."""

    def filter(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Failures | None:
        return pod_fits_host_ports.check(pod, nodes, cycle)

    def events_to_register(self) -> Sequence[ClusterEvent]:
        return ClusterEvent("Pod", Action.DELETE), NODE_ADD_OR_UPDATE
