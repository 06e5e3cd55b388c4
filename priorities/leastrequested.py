"""How much of the node would stay free?"""

from __future__ import annotations

from ..core.arrays.arithmetic import truncated_div
from ..core.arrays.batch import Batch
from ..core.arrays.types import Scores
from ..core.cycle import Cycle
from ..core.pods.requests import CPU, MEMORY
from ..core.pods.template import Template
from ..core.rule import Reads
from .rule import MAX_PRIORITY, priority
from .shares import both_requested_with, free_share, nonzero_request


@priority("LeastRequestedPriority", reads=Reads.NODE | Reads.REQUESTS, key=nonzero_request)
def least_requested(pod: Template, nodes: Batch, cycle: Cycle) -> Scores:
    """Prefer nodes with the most cpu and memory left free: the mean of the two free shares, in tenths.

    Upstream: pkg/scheduler/algorithm/priorities/least_requested.go leastResourceScorer.
    """
    cpu, memory = free_share(both_requested_with(pod, nodes), nodes.allocatables((CPU, MEMORY)), MAX_PRIORITY)
    return truncated_div(cpu + memory, 2)
