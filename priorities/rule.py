"""The decorator of priorities: ``@priority(name, reads=..., key=..., reduce=...)`` over a function that
scores all nodes at once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable

import numpy as np

from ..core.arrays import Batch, Proportional, Reduction, Scores, Sums
from ..core.cycle import Cycle, Priority, Reads, every_pod
from ..core.guard import whole_number
from ..core.pods import Template

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
    """The reduce step that scales scores so that the greatest becomes *best*, or with *reverse* 0 becomes
    *best* and the greatest 0.

    Where no score is above 0 they stay as they are; with *reverse* every node gets *best*.
    Upstream: pkg/scheduler/algorithm/priorities/reduce.go NormalizeReduce.
    """

    return Reduction(lambda pod, raw, cycle: Proportional(max(0, raw.highest), best, reverse))
