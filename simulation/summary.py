"""A simulation in numbers: how many pods found a node, how full the nodes are, and how evenly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

import numpy as np

from ..api.record import Count, Counts, Record, says
from ..core.arrays.table import NodeTable
from ..core.arrays.types import Ints
from .simulate import Simulation

Unit = Literal["millicores", "bytes", "pieces"]
UNITS: Mapping[str, Unit] = {"cpu": "millicores", "memory": "bytes", "ephemeral-storage": "bytes"}
"""Other resources are counted in pieces."""


DIGITS = 6
UseShare = Annotated[float, says("A share of 1; more than 1 where pods request more than there is.", ge=0)]


class Imbalance(Record):
    """How unevenly the nodes that have a resource are used."""

    standard_deviation: Annotated[float, says("Of the use, a share of 1.", ge=0)]
    max_min: Annotated[float, says("fullest minus emptiest.", ge=0)]


class Usage(Record):
    """One resource over all nodes; shares are of the nodes that have any of it."""

    resource: str
    unit: Unit
    allocatable: int
    requested: int
    use: UseShare
    emptiest: Annotated[UseShare, says("The use of the emptiest node that has the resource.")]
    fullest: Annotated[UseShare, says("The use of the fullest one.")]
    imbalance: Imbalance


class Summary(Record):
    """The results of a simulation."""

    nodes: Count
    pods: Annotated[Count, says("Pods that waited, and replacements of evicted ones.")]
    placed: Count
    waiting: Annotated[Count, says("Pods that have a node, but that Permit plugins have not allowed yet.")]
    unschedulable: Count
    gated: Annotated[Count, says("Pods that were not tried, as a PreEnqueue plugin holds them back.")]
    evicted: Annotated[Count, says("All pods that had to leave, whether they had their node before the simulation or found it there.")]
    replaced: Annotated[Count, says("Evicted pods in whose place their owners made new ones.")]
    cycles: Count
    passed_over: Annotated[Counts, says("Why objects of the input do not count -> how many.")]
    resources: tuple[Usage, ...]


def summarise(simulation: Simulation) -> Summary:
    """The summary of a finished simulation."""
    engine, outcomes = simulation.engine, simulation.outcomes
    engine.snapshot.refresh()
    return Summary(
        nodes=engine.cache.node_count,
        pods=len(outcomes),
        placed=sum(outcome.word == "placed" for outcome in outcomes.values()),
        waiting=sum(outcome.is_waiting for outcome in outcomes.values()),
        unschedulable=sum(outcome.word == "unschedulable" for outcome in outcomes.values()),
        gated=sum(outcome.is_gated for outcome in outcomes.values()),
        evicted=len(simulation.evictions),
        replaced=sum(eviction.replacement is not None for eviction in simulation.evictions),
        cycles=simulation.cycles,
        passed_over=dict(simulation.scenario.passed_over),
        resources=tuple(usages(engine.table)),
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
        return Usage(name, UNITS.get(name, "pieces"), total, used, 0.0, 0.0, 0.0, Imbalance(0.0, 0.0))
    least, most, deviation = float(shares.min()), float(shares.max()), float(shares.std())
    imbalance = Imbalance(round(deviation, DIGITS), round(most - least, DIGITS))
    use, emptiest, fullest = (round(share, DIGITS) for share in (used / total, least, most))
    return Usage(name, UNITS.get(name, "pieces"), total, used, use, emptiest, fullest, imbalance)
