"""LeastRequested: nodes that would stay emptier."""

from __future__ import annotations

from .rule import (
    MAX_PRIORITY,
    Batch,
    Cycle,
    Reads,
    Scores,
    Template,
    both_requested_with,
    capacity_of,
    free_share,
    nonzero_request,
    priority,
    truncated_div,
)


@priority("LeastRequestedPriority", reads=Reads.NODE | Reads.REQUESTS, key=nonzero_request)
def least_requested(pod: Template, nodes: Batch, cycle: Cycle) -> Scores:
    """Prefer nodes with the most cpu and memory left free: the mean of the two free shares, in tenths.

    Upstream: pkg/scheduler/algorithm/priorities/least_requested.go leastResourceScorer.
    """
    capacity, is_proper = capacity_of(nodes)
    cpu, memory = free_share(both_requested_with(pod, nodes), capacity, MAX_PRIORITY, is_proper=is_proper)
    return truncated_div(cpu + memory, 2)
