"""Reduce steps: how raw scores of the nodes that fit become scores from 0 to 10."""

from __future__ import annotations

from ..core.arrays.reduction import Proportional, Reduction
from .rule import MAX_PRIORITY


def normalize_reduce(best: int = MAX_PRIORITY, *, reverse: bool = False) -> Reduction:
    """The reduce step that scales scores so that the greatest becomes *best*, or with *reverse* 0 becomes *best* and the greatest 0.

    Where no score is above 0 they stay as they are; with *reverse* every node gets *best*.
    Upstream: pkg/scheduler/algorithm/priorities/reduce.go NormalizeReduce.
    """

    return Reduction(lambda pod, raw, cycle: Proportional(max(0, raw.highest), best, reverse))
