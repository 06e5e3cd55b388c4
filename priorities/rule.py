"""The decorator of priorities, and shares of resources, by which several of them score. The names of core for
writing priorities are here, too.

A priority is a function that scores all nodes at once, under
``@priority(name, reads=..., key=..., reduce=...)``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable

import numpy as np

from ..core.arrays import *
from ..core.cycle import *
from ..core.guard import whole_number
from ..core.pods.requests import *
from ..core.pods.template import *

Score = Callable[[Template, Batch, Cycle], Scores]
Reduce = Callable[[Template, Scores, Batch, Cycle], Scores]
EachNode = Callable[[Template, Batch, int, Cycle], int]


class _Declare:
    """The decorator; :meth:`each_node` is its slow and easy form."""

    def __call__(
        self,
        name: str,
        *,
        reads: Reads,
        key: Callable[[Template], Hashable] = lambda pod: pod,
        reduce: Reduce | None = None,
        whole_list: bool = False,
        concerns: Callable[[Template], bool] = every_pod,
        sums: Callable[[Template, Cycle], Sums | None] | None = None,
    ) -> Callable[[Score], Priority]:
        """Declare a priority that gives int64[n], one score a node of the batch."""
        return lambda score: Priority(
            name=name,
            score=score,
            reads=reads,
            key=key,
            reduce=reduce,
            whole_list=whole_list,
            concerns=concerns,
            sums=sums,
        )

    def each_node(
        self,
        name: str,
        *,
        reads: Reads = Reads.NODE | Reads.REQUESTS | Reads.PORTS | Reads.PODS,
        key: Callable[[Template], Hashable] = lambda pod: pod,
        reduce: Reduce | None = None,
    ) -> Callable[[EachNode], Priority]:
        """Declare a priority that is asked node by node: ``(pod, nodes, i, cycle)`` -> a whole number."""

        def declare(ask: EachNode) -> Priority:
            @functools.wraps(ask)
            def score(pod: Template, nodes: Batch, cycle: Cycle) -> Scores:
                return np.fromiter(
                    (whole_number(ask(pod, nodes, i, cycle), nodes.name(i)) for i in range(nodes.n)),
                    np.int64,
                    nodes.n,
                )

            return Priority(name=name, score=score, reads=reads, key=key, reduce=reduce)

        return declare


priority: _Declare = _Declare()

MAX_PRIORITY = 10
"""The best score of a priority after its reduce step."""


# Reduce steps: how raw scores of the nodes that fit become scores from 0 to 10.


def normalize_reduce(best: int = MAX_PRIORITY, *, reverse: bool = False) -> Reduction:
    """The reduce step that scales scores so that the greatest becomes *best*.

    With *reverse* 0 becomes *best*, and the greatest score 0. Where no score is above 0, the scores stay as
    they are, or with *reverse* become *best*. Upstream: pkg/scheduler/algorithm/priorities/reduce.go
    NormalizeReduce.
    """

    return Reduction(lambda pod, raw, cycle: Proportional(max(0, raw.highest), best, reverse))


# --- Shares of a resource in use with the pod; absent requests count with defaults --------------------------
# Upstream: pkg/scheduler/algorithm/priorities/resource_allocation.go.


_ASKED: StateKey[Ints] = StateKey("nonzero request")


def nonzero_request(pod: Template) -> tuple[int, int]:
    """cpu in millicores and memory in bytes that *pod* counts in scores; pods with equal values share
    scores."""
    return pod.nonzero


def request(pod: Template, resource: str) -> int:
    """The request of *pod* for *resource*, as scores count it."""
    if resource in (CPU, MEMORY):
        return pod.nonzero[(CPU, MEMORY).index(resource)]
    return pod.scored.get(resource, 0)


def requested_with(pod: Template, nodes: Batch, resource: str) -> Ints:
    """The requested sum of *resource* on each node with *pod* on it: int64[n]."""
    requested = request(pod, resource)
    return requested + (nodes.nonzero(resource) if resource in (CPU, MEMORY) else nodes.requested(resource))


def both_requested_with(pod: Template, nodes: Batch) -> Ints:
    """:func:`requested_with` of cpu and of memory: int64[2, n]. The array for the whole table is overwritten
    by the next call."""
    nonzero = pod.notes.get(_ASKED)
    if nonzero is None:
        nonzero = pod.notes[_ASKED] = np.array([[pod.nonzero[0]], [pod.nonzero[1]]], np.int64)
    if nodes.rows is not None:
        return nodes.nonzeros + nonzero
    sums: Ints = np.add(nodes.nonzeros, nonzero, workspace(nodes, "requested", 2))
    return sums


def capacity_of(nodes: Batch) -> tuple[Ints, bool]:
    """Allocatable cpu and memory: int64[2, n]; and whether each is above 0 and not huge.

    If so, and if all nodes of the table have the same capacity, it is int64[2, 1]: dividing by one number is
    faster.
    """
    table = nodes.table
    common, is_proper = table.node_derived("common capacity", lambda: _common_capacity(table))
    if common is not None:
        return common, True
    capacity = nodes.limits[1:3]
    return capacity, is_proper or (not table.has_huge and np.count_nonzero(capacity) == capacity.size)


def _common_capacity(table: NodeTable) -> tuple[Ints | None, bool]:
    """The cpu and memory that each row of the table has: int64[2, 1], None where they differ; and whether
    none is 0 or huge on any row."""
    every = table.limits[1:3, : table.size]
    is_proper = not table.has_huge and bool(every.all())
    return every[:, :1].copy() if is_proper and every.size and (
        every == every[:, :1]
    ).all() else None, is_proper


def free_share(requested: Ints, capacity: Ints, scale: int, *, is_proper: bool = False) -> Ints:
    """The part of *capacity* that stays free, in parts of *scale*: int64 as given; 0 where there is none or
    too much is requested.

    *is_proper*: *capacity* is known to be above 0 and below a hundredth of what 64 bits hold, and *scale* is
    no more than 100.
    """
    return _share(capacity - requested, requested, capacity, scale, is_proper)


def used_share(requested: Ints, capacity: Ints, scale: int, *, is_proper: bool = False) -> Ints:
    """As :func:`free_share`, for the part of *capacity* that is requested."""
    return _share(requested, requested, capacity, scale, is_proper)


def _share(part: Ints, requested: Ints, capacity: Ints, scale: int, is_proper: bool) -> Ints:
    if is_proper:
        # As unsigned integers, numbers below 0 are above every capacity.
        room = requested.view(np.uint64) <= capacity.view(np.uint64)
        fits = is_everywhere(room)
        if fits or not is_anywhere(requested < 0):  # a sum can have wrapped around
            parts: Ints = np.multiply(part, scale, None if part is requested else part)
            parts //= capacity
            return parts if fits else parts * room
    room = requested <= capacity
    parts = truncated_div(part * scale, capacity)
    return parts if is_everywhere(room) else parts * room
