"""How many nodes are how full, in tenths."""

from __future__ import annotations

import numpy as np

from ..core.arrays.types import Ints
from ..core.engine import Engine

TENTHS = 10


def nodes_by_use(engine: Engine) -> dict[str, list[int]]:
    """Resource, and ``pods`` -> nodes by tenth of their use: 10 counts, the last of them from 0.9 on; nodes without it are left out."""
    engine.snapshot.refresh()
    table = engine.table
    there = np.flatnonzero(table.has_node)
    found = {name: _tenths(table.allocatable[index, there], table.requested[index, there]) for name, index in table.resources.items()}
    found["pods"] = _tenths(table.max_pods[there], table.pod_count[there])
    return {name: counts for name, counts in found.items() if any(counts)}


def _tenths(allocatable: Ints, requested: Ints) -> list[int]:
    having = allocatable > 0
    tenths = np.minimum(requested[having] * TENTHS // allocatable[having], TENTHS - 1)
    counts: list[int] = np.bincount(np.maximum(tenths, 0), minlength=TENTHS).tolist()
    return counts
