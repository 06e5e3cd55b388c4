"""LeastRequested: nodes that would stay emptier."""

from __future__ import annotations

from ..core.arrays import Batch, Scores, truncated_div
from ..core.cycle import Cycle, Reads
from ..core.pods import Template
from .rule import MAX_PRIORITY, both_requested_with, capacity_of, free_share, nonzero_request, priority


@priority("LeastRequestedPriority", reads=Reads.NODE | Reads.REQUESTS, key=nonzero_request)
def least_requested(pod: Template, nodes: Batch, cycle: Cycle) -> Scores:
    """Prefer nodes with the most cpu and memory left free: the mean of the two free shares, in tenths.

    Upstream: pkg/scheduler/algorithm/priorities/least_requested.go leastResourceScorer.
    """
    capacity, is_proper = capacity_of(nodes)
    cpu, memory = free_share(both_requested_with(pod, nodes), capacity, MAX_PRIORITY, is_proper=is_proper)
    return truncated_div(cpu + memory, 2)
