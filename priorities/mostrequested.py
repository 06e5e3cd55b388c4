"""MostRequested: nodes that would be fuller."""

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
    nonzero_request,
    priority,
    truncated_div,
    used_share,
)


@priority("MostRequestedPriority", reads=Reads.NODE | Reads.REQUESTS, key=nonzero_request)
def most_requested(pod: Template, nodes: Batch, cycle: Cycle) -> Scores:
    """Prefer nodes that are almost full, so that others can become empty: the mean of the used shares of cpu
    and memory, in tenths.

    Upstream: pkg/scheduler/algorithm/priorities/most_requested.go mostResourceScorer.
    """
    capacity, is_proper = capacity_of(nodes)
    cpu, memory = used_share(both_requested_with(pod, nodes), capacity, MAX_PRIORITY, is_proper=is_proper)
    return truncated_div(cpu + memory, 2)
