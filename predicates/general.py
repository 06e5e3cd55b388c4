"""The four questions that every pod has to pass, asked as one."""

from __future__ import annotations

from ..core.arrays.batch import Batch
from ..core.cycle import Cycle
from ..core.failures import Failures
from ..core.pods.template import Template
from ..core.rule import Reads
from .hostname import pod_fits_host
from .hostports import pod_fits_host_ports
from .nodeselector import pod_match_node_selector
from .resources import pod_fits_resources
from .rule import predicate

PARTS = (pod_fits_resources, pod_fits_host, pod_fits_host_ports, pod_match_node_selector)


@predicate(
    "GeneralPredicates",
    reads=Reads.NODE | Reads.REQUESTS | Reads.PORTS,
    key=lambda pod: tuple(part.key(pod) for part in PARTS),
)
def general_predicates(pod: Template, nodes: Batch, cycle: Cycle) -> Failures | None:
    """Turn down nodes that fail PodFitsResources, HostName, PodFitsHostPorts or MatchNodeSelector, with the reasons of all that fail.

    Upstream: pkg/scheduler/algorithm/predicates/predicates.go GeneralPredicates.
    """
    return Failures.joined([part.check(pod, nodes, cycle) for part in PARTS])
