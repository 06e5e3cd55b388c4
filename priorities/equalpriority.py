"""No preference."""

from __future__ import annotations

import numpy as np

from .rule import Batch, Cycle, Reads, Scores, Template, priority


@priority("EqualPriority", reads=Reads.NOTHING, key=lambda pod: None)
def equal(pod: Template, nodes: Batch, cycle: Cycle) -> Scores:
    """Prefer no node: each one scores 1.

    Upstream: pkg/scheduler/core/generic_scheduler.go EqualPriorityMap.
    """
    return np.ones(nodes.n, np.int64)
