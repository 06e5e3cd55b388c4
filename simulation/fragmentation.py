"""How much of the free room is of no use to the pods of a scenario."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from ..api.objects import Pod
from ..core.arrays.types import Floats, Ints
from ..core.engine import Engine


def fragmentation(engine: Engine, pods: Iterable[Pod]) -> dict[str, float]:
    """Resource -> the share of its free amount on nodes where a random one of *pods* would not fit, on average; 0 if nothing is free.

    A pod does not fit if a node has less left of a resource than it requests, or no room for one more pod.
    """
    table = engine.fresh_table()
    there = np.flatnonzero(table.has_node)
    free = np.maximum(table.allocatable[:, there] - table.requested[:, there], 0)
    full = table.pod_count[there] >= table.max_pods[there]
    kinds = Counter(tuple(engine.template_of(pod).requests.items()) for pod in pods)
    weights: Floats = np.zeros(len(there))
    for asked, count in kinds.items():
        misfit = full.copy()
        for name, number in asked:
            index = table.resources.get(name)
            if number > 0:
                misfit |= True if index is None else free[index] < number
        weights += misfit * (count / kinds.total())
    return {name: _share(free[index], weights) for name, index in table.resources.items() if table.allocatable[index, there].any()}


def _share(free: Ints, weights: Floats) -> float:
    total = float(free.sum())
    return round(float(free @ weights) / total, 6) if total else 0.0
