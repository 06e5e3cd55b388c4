"""Reduce steps: how raw scores of the nodes that fit become scores from 0 to 10."""

from __future__ import annotations

import numpy as np

from ..core.arrays.arithmetic import truncated_div
from ..core.arrays.batch import Batch
from ..core.arrays.types import Scores
from ..core.cycle import Cycle
from ..core.pods.template import Template
from ..core.rule import Counts, Reduction
from .rule import MAX_PRIORITY


def normalize_reduce(best: int = MAX_PRIORITY, *, reverse: bool = False) -> Reduction:
    """The reduce step that scales scores so that the greatest becomes *best*, or with *reverse* 0 becomes *best* and the greatest 0.

    Where no score is above 0 they stay as they are; with *reverse* every node gets *best*.
    Upstream: pkg/scheduler/algorithm/priorities/reduce.go NormalizeReduce.
    """

    def summarise(pod: Template, raw: Scores, nodes: Batch, cycle: Cycle) -> int:
        return int(raw.max(initial=0))

    def tallied(pod: Template, counts: Counts, cycle: Cycle) -> int:
        return max(0, max(counts, default=0))

    def apply(pod: Template, raw: Scores, greatest: int, nodes: Batch, cycle: Cycle) -> Scores:
        if greatest == 0:
            return np.full_like(raw, best) if reverse else raw
        scaled = truncated_div(raw * best, greatest)
        return best - scaled if reverse else scaled

    return Reduction(summarise, apply, zeros_alike=True, tallied=tallied)
