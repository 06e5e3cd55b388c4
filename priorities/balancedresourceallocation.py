"""Would cpu, memory and, with a gate, attached volumes be used to equal shares?"""

from __future__ import annotations

import numpy as np

from .rule import (
    MAX_PRIORITY,
    Batch,
    Cycle,
    Floats,
    Ints,
    Reads,
    Scores,
    Template,
    both_requested_with,
    capacity_of,
    is_anywhere,
    is_everywhere,
    nonzero_request,
    priority,
    whole,
)

VOLUMES_GATE = "BalanceAttachedNodeVolumes"
BITS_OF_ONE = np.float64(1).view(np.uint64)
"""The bits of 1 as an unsigned integer; those of negative numbers are greater."""


@priority(
    "BalancedResourceAllocation", reads=Reads.NODE | Reads.REQUESTS | Reads.EFFECTS, key=nonzero_request
)
def balanced_resource_allocation(pod: Template, nodes: Batch, cycle: Cycle) -> Scores:
    """Prefer nodes on which the fractions of cpu and memory in use differ least; a node that would be full
    gets 0.

    With gate BalanceAttachedNodeVolumes the volume counts that predicates of this cycle have set are a third
    fraction. Without the gate they are not read. Upstream:
    pkg/scheduler/algorithm/priorities/balanced_resource_allocation.go balancedResourceScorer.
    """
    return balance_of_two(
        pod, nodes, MAX_PRIORITY, with_volumes=bool(cycle.algorithm.gates.get(VOLUMES_GATE))
    )


def balance_of_two(pod: Template, nodes: Batch, best: int, *, with_volumes: bool) -> Scores:
    """*best* where the fractions of cpu and memory in use are alike, 0 where one is not below 1; with a third
    fraction of volumes."""
    shares = fractions(both_requested_with(pod, nodes), *capacity_of(nodes))
    is_below_one = shares.view(np.uint64) < BITS_OF_ONE
    if with_volumes:
        cpu, memory = shares
        allocatable, requested = nodes.transient
        has_volumes = allocatable > 0
        volumes = np.divide(requested, allocatable, out=np.zeros(len(cpu)), where=has_volumes)
        mean = (cpu + memory + volumes) / 3
        variance = sum((share - mean) * (share - mean) for share in (cpu, memory, volumes)) / 3
        evenness = np.where(has_volumes, 1 - variance, 1 - np.abs(cpu - memory))
        room = (cpu < 1) & (memory < 1) & (volumes < 1)
    elif is_everywhere(is_below_one):
        return _parts(shares, best)
    elif is_anywhere(np.signbit(shares)):  # nothing of a negative capacity is -0.0
        evenness = 1 - np.abs(shares[0] - shares[1])
        room = (shares[0] < 1) & (shares[1] < 1)
    else:
        scores: Scores = _parts(np.minimum(shares, 1), best) * (is_below_one[0] & is_below_one[1])
        return scores
    # Upstream: a number beyond 64 bits silently becomes the least int64 on amd64.
    return whole(np.where(room, evenness * best, 0))


def _parts(shares: Floats, best: int) -> Scores:
    """The evenness of *shares*, float64[2, n], which is from 0 to 1, in parts of *best*: int64[n]."""
    evenness = shares[0] - shares[1]
    np.abs(evenness, evenness)
    evenness = 1 - evenness
    evenness *= best
    parts: Scores = evenness.astype(np.int64)
    return parts


def fractions(requested: Ints, capacity: Ints, is_proper: bool) -> Floats:
    """*requested* of *capacity*: float64 as given; 1 where there is no capacity. *is_proper*: there is some
    everywhere."""
    if is_proper:
        shares = requested.astype(np.float64)  # numpy would convert both piece by piece, which takes longer
        shares /= capacity.astype(np.float64)
        return shares
    return np.divide(requested, capacity, out=np.ones(requested.shape), where=capacity != 0)
