"""A simulation in numbers: how many pods found a node, how full the nodes are, and how evenly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import attrs
import numpy as np

from ..core.arrays.table import NodeTable
from ..core.arrays.types import Ints
from .simulate import Simulation

Unit = Literal["millicores", "bytes", "pieces"]
UNITS: Mapping[str, Unit] = {"cpu": "millicores", "memory": "bytes", "ephemeral-storage": "bytes"}
"""Other resources are counted in pieces."""


@attrs.frozen
class Usage:
    """One resource over all nodes; ``use`` and the measures of imbalance are shares of 1, over the nodes that have any of it."""

    resource: str
    unit: str
    allocatable: int
    requested: int
    use: float
    standard_deviation: float
    emptiest: float
    """The use of the emptiest node."""
    fullest: float
    """The use of the fullest node."""

    @property
    def spread(self) -> float:
        """The use of the fullest node minus that of the emptiest one."""
        return self.fullest - self.emptiest

    def record(self) -> dict[str, Any]:
        """As plain data."""
        imbalance = {"standardDeviation": round(self.standard_deviation, 6), "maxMin": round(self.spread, 6)}
        sums = {"unit": self.unit, "allocatable": self.allocatable, "requested": self.requested}
        uses = {"use": round(self.use, 6), "emptiest": round(self.emptiest, 6), "fullest": round(self.fullest, 6)}
        return {"resource": self.resource, **sums, **uses, "imbalance": imbalance}


@attrs.frozen
class Summary:
    """The results of a simulation."""

    nodes: int
    pods: int
    placed: int
    waiting: int
    """Pods that have a node, where Permit plugins still make them wait."""
    unschedulable: int
    gated: int
    """Pods that were not tried, as a PreEnqueue plugin holds them back."""
    evicted: int
    """Pods that had to leave, whether they had a node before the simulation or found it there."""
    replaced: int
    """Evicted pods in whose place their owners made new ones; these count among *pods*."""
    cycles: int
    passed_over: Mapping[str, int]
    resources: tuple[Usage, ...]

    def record(self) -> dict[str, Any]:
        """As plain data."""
        names = ("nodes", "pods", "placed", "waiting", "unschedulable", "gated", "evicted", "replaced", "cycles")
        counts = {name: getattr(self, name) for name in names}
        return {**counts, "passedOver": dict(self.passed_over), "resources": [usage.record() for usage in self.resources]}


def summarise(simulation: Simulation) -> Summary:
    """The summary of a finished simulation."""
    engine, outcomes = simulation.engine, simulation.outcomes
    return Summary(
        nodes=engine.node_count,
        pods=len(outcomes),
        placed=sum(outcome.word == "placed" for outcome in outcomes.values()),
        waiting=sum(outcome.is_waiting for outcome in outcomes.values()),
        unschedulable=sum(outcome.word == "unschedulable" for outcome in outcomes.values()),
        gated=sum(outcome.is_gated for outcome in outcomes.values()),
        evicted=len(simulation.evictions),
        replaced=sum(eviction.replacement is not None for eviction in simulation.evictions),
        cycles=simulation.cycles,
        passed_over=simulation.scenario.passed_over,
        resources=tuple(usages(engine.fresh_table())),
    )


def usages(table: NodeTable) -> Iterator[Usage]:
    """The use of each resource that any node has, pods last."""
    there = np.flatnonzero(table.has_node)
    for name, index in table.resources.items():
        if table.allocatable[index, there].any():
            yield _usage(name, table.allocatable[index, there], table.requested[index, there])
    if len(there):
        yield _usage("pods", table.max_pods[there], table.pod_count[there])


def _usage(name: str, allocatable: Ints, requested: Ints) -> Usage:
    having = allocatable > 0
    shares = requested[having] / allocatable[having]
    total, used = int(allocatable.sum()), int(requested.sum())
    if not len(shares):
        return Usage(name, UNITS.get(name, "pieces"), total, used, 0.0, 0.0, 0.0, 0.0)
    least, most = float(shares.min()), float(shares.max())
    return Usage(name, UNITS.get(name, "pieces"), total, used, used / total, float(shares.std()), least, most)
