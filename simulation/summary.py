"""A simulation in numbers: how many pods found a node, how full the nodes are, and how evenly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np

from ..api.load import REFUSED
from ..api.objects import Pod
from ..api.record import Count, Counts, Record, Size
from ..core.arrays import Floats
from ..core.engine import Engine
from ..core.pods import PODS
from .nodesbyuse import UNITS, FreeRoom, Unit
from .simulate import Simulation


def fragmentation(engine: Engine, pods: Iterable[Pod]) -> dict[str, float]:
    """Resource -> the share of its free amount on nodes where a random one of *pods* would not fit, on
    average; 0 if nothing is free.

    A pod does not fit if a node has less left of a resource than it requests, or no room for one more pod.
    """
    room = FreeRoom.of(engine)
    free = dict(zip(room.resources, room.free, strict=True))
    kinds = Counter(tuple(engine.template_of(pod).requests.items()) for pod in pods)
    weights: Floats = np.zeros(len(room.names))
    for asked, count in kinds.items():
        misfit = free[PODS] < 1
        for name, number in asked:
            if number > 0:
                misfit |= free[name] < number if name in free else True
        weights += misfit * (count / kinds.total())
    found = {}
    for name, _, _ in room.each():
        if name != PODS:
            total = float(free[name].sum())
            found[name] = round(float(free[name] @ weights) / total, 6) if total else 0.0
    return found


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
        resources=tuple(usages(engine, digits=digits)),
    )


def usages(engine: Engine, *, digits: int = 6) -> Iterator[Usage]:
    """The use of each resource that any node has, pods last."""
    for name, allocatable, requested in FreeRoom.of(engine).each():
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
