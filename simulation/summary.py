"""A simulation in numbers: how many pods found a node, how full the nodes are, and how evenly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

import numpy as np

from ..api.inventory import REFUSED
from ..api.objects import Pod
from ..api.record import Count, Counts, Record, Size
from ..core.arrays.table import NodeTable
from ..core.arrays.types import Floats
from ..core.engine import Engine
from .simulate import Simulation


def fragmentation(engine: Engine, pods: Iterable[Pod]) -> dict[str, float]:
    """Resource -> the share of its free amount on nodes where a random one of *pods* would not fit, on
    average; 0 if nothing is free.

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
    found = {}
    for name, index in table.resources.items():
        if table.allocatable[index, there].any():
            total = float(free[index].sum())
            found[name] = round(float(free[index] @ weights) / total, 6) if total else 0.0
    return found


Unit = Literal["millicores", "bytes", "pieces"]
UNITS: Mapping[str, Unit] = {"cpu": "millicores", "memory": "bytes", "ephemeral-storage": "bytes"}
"""Other resources are counted in pieces."""


class Imbalance(Record):
    """The imbalance of a resource over the nodes that have any of it."""

    standard_deviation: Size
    """Of the use of nodes."""
    max_min: Size
    """fullest minus emptiest."""


class Usage(Record):
    """One resource over all nodes; ``use`` and the measures of imbalance are shares of 1, over the nodes that
    have any of it."""

    resource: str
    unit: Unit
    allocatable: int
    requested: int
    use: Size
    """A share of 1; more than 1 where pods request more than there is."""
    emptiest: Size
    """The use of the emptiest node that has the resource."""
    fullest: Size
    """The use of the fullest one."""
    imbalance: Imbalance


class Summary(Record):
    """The results of a simulation."""

    nodes: Count
    pods: Count
    """Pending pods, and replacements of evicted ones."""
    placed: Count
    waiting: Count
    """Pods that have a node but wait for Permit plugins."""
    unschedulable: Count
    gated: Count
    """Pods that were not tried because of scheduling gates or a PreEnqueue plugin."""
    evicted: Count
    """All evicted pods, whether they had their node before the simulation or found it there."""
    replaced: Count
    """Evicted pods that their controllers replaced."""
    decisions: Count
    ignored: Counts
    """Reason -> number of ignored objects."""
    resources: tuple[Usage, ...]

    @property
    def refused_pods(self) -> int:
        """The number of pods that the API server would refuse; they are among those that are ignored."""
        return self.ignored.get(REFUSED, 0)


def summarise(simulation: Simulation, *, digits: int = 6) -> Summary:
    """The summary of a finished simulation; shares are rounded to *digits*."""
    engine = simulation.engine
    outcomes = simulation.outcomes.values()
    words = Counter(outcome.word for outcome in outcomes)
    return Summary(
        nodes=engine.node_count,
        pods=len(outcomes),
        placed=words["placed"],
        waiting=sum(outcome.is_waiting for outcome in outcomes),
        unschedulable=words["unschedulable"],
        gated=sum(outcome.is_gated for outcome in outcomes),
        evicted=len(simulation.evictions),
        replaced=sum(eviction.replacement is not None for eviction in simulation.evictions),
        decisions=simulation.cycles,
        ignored=dict(simulation.scenario.ignored),
        resources=tuple(usages(engine.fresh_table(), digits=digits)),
    )


def usages(table: NodeTable, *, digits: int = 6) -> Iterator[Usage]:
    """The use of each resource that any node has, pods last."""
    there = np.flatnonzero(table.has_node)
    amounts = {
        name: (table.allocatable[at, there], table.requested[at, there])
        for name, at in table.resources.items()
    }
    known = {name: pair for name, pair in amounts.items() if pair[0].any()}
    if len(there):
        known["pods"] = table.max_pods[there], table.pod_count[there]
    for name, (allocatable, requested) in known.items():
        having = allocatable > 0
        shares = requested[having] / allocatable[having] if having.any() else np.zeros(1)
        total = int(allocatable.sum())
        used = int(requested.sum())
        least = float(shares.min())
        most = float(shares.max())
        use = round(used / total, digits) if having.any() else 0.0
        imbalance = Imbalance(round(float(shares.std()), digits), round(most - least, digits))
        yield Usage(
            name,
            UNITS.get(name, "pieces"),
            total,
            used,
            use,
            round(least, digits),
            round(most, digits),
            imbalance,
        )
