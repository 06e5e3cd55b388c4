"""How much of the node would stay free?"""

from __future__ import annotations

from ..core.arithmetic import truncated_div
from ..core.batch import Batch
from ..core.cycle import Cycle
from ..core.requests import CPU, MEMORY
from ..core.rule import Reads, Scores
from ..core.template import Template
from .rule import MAX_PRIORITY, priority
from .shares import free_share, nonzero_request, requested_with


@priority("LeastRequestedPriority", reads=Reads.NODE | Reads.REQUESTS, key=nonzero_request)
def least_requested(pod: Template, nodes: Batch, cycle: Cycle) -> Scores:
    """Prefer nodes that keep most of their cpu and memory free: the mean of the two free shares, in tenths.

    Upstream: pkg/scheduler/algorithm/priorities/least_requested.go leastResourceScorer.
    """
    cpu, memory = (free_share(requested_with(pod, nodes, name), nodes.allocatable(name), MAX_PRIORITY) for name in (CPU, MEMORY))
    return truncated_div(cpu + memory, 2)
