"""How many nodes can go at most: a relaxation that asks for enough room in sum, and forgets everything else.

The pods that move need at least what they request, and the nodes that stay have at most what they can allocate. Which pods fit together on
which node is left out, and so are all rules but the one about resources: the bound can be too high, never too low. With weights for
resources, at least as many nodes must stay as it takes, the greatest first, until their weighted shares of what is needed add up to 1.
Every choice of weights is a bound; each resource alone is tried, and each two of them, mixed in tenths.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from types import MappingProxyType
from typing import Annotated

import numpy as np

from ...api.objects import ObjectMeta, Pod, PodSpec
from ...api.record import Count, Record, field, says
from ...core.arrays.types import Floats
from ..capacity.room import is_counted
from .rules import DrainFlags, is_made_again
from .trial import DrainTrial

PODS = "pods"
TENTHS = 10
NEARLY = 1 - 1e-9
"""Shares are sums of floats."""


class Bound(Record):
    """Of a search: how many nodes can go at most."""

    candidates: Annotated[Count, says("The nodes that the search may choose from.")]
    at_most: Count
    must_stay: Count
    resources: Annotated[Mapping[str, float], says("Resources that ask for that many nodes, with their weights.")] = field(
        default_factory=dict
    )

    @classmethod
    def of(cls, candidates: int, must_stay: int, resources: Mapping[str, float] = MappingProxyType({})) -> Bound:
        """That of *candidates* nodes *must_stay* stay for *resources*."""
        return cls(candidates, candidates - must_stay, must_stay, dict(resources))


def bound_of(trial: DrainTrial, candidates: Sequence[str], flags: DrainFlags, keep: int = 0) -> Bound:
    """How many of *candidates* can go at most, of the cluster that *trial* begins with; *keep* of them have to stay anyway."""
    resources = counted_resources(trial)
    room, need = _room_and_need(trial, flags, resources)
    rows = {name: number for number, name in enumerate(trial.engine.pods_by_node())}
    chosen = [rows[name] for name in candidates]
    others = np.setdiff1d(np.arange(len(rows)), chosen)
    need = need - room[others].sum(axis=0)
    wanted = np.flatnonzero(need > 0)
    shares = room[chosen][:, wanted] / need[wanted]
    names = [resources[number] for number in wanted]
    tried = ((_least(shares @ mixture), mixture) for mixture in _mixtures(len(names)))
    least, weights = max(tried, key=lambda found: found[0], default=(0, need))
    if least <= keep:
        return Bound.of(len(chosen), min(keep, len(chosen)))
    told = {name: round(float(weight), 1) for name, weight in zip(names, weights, strict=True) if weight}
    return Bound.of(len(chosen), min(least, len(chosen)), told)


def _least(shares: Floats) -> int:
    """How many of the greatest *shares* add up to 1."""
    return int(np.searchsorted(np.sort(shares)[::-1].cumsum(), NEARLY)) + 1 if len(shares) else 0


def _mixtures(count: int) -> Iterator[Floats]:
    """Weights of *count* resources: each alone, and each two in tenths."""
    alone = np.eye(count)
    yield from alone
    for one, other in combinations(range(count), 2):
        for tenth in range(1, TENTHS):
            yield (alone[one] * tenth + alone[other] * (TENTHS - tenth)) / TENTHS


# --- room and need --------------------------------------------------------------------------------------------------


def counted_resources(trial: DrainTrial) -> list[str]:
    """The resources of which no node takes more than it has. The scheduler is asked: a Policy or a profile may leave out some, or all."""
    table = trial.engine.fresh_table()
    there = np.flatnonzero(table.has_node)
    most = {name: int(table.allocatable[row, there].max(initial=0)) for name, row in table.resources.items()}
    probe = Pod(metadata=ObjectMeta(name="of-any-size"), spec=PodSpec(scheduler_name=min(trial.scheduler_names)))
    found = [name for name, amount in most.items() if amount and is_counted(trial.run, probe, name, amount + 1)]
    return [*found, PODS] if found else []


def _room_and_need(trial: DrainTrial, flags: DrainFlags, resources: Sequence[str]) -> tuple[Floats, Floats]:
    """What each node has for pods that can move, float64[N, R], nodes as the cache has them; and what these pods need, float64[R]."""
    table, infos = trial.engine.table, trial.engine.cache.infos
    room, moving = np.zeros((len(infos), len(resources))), np.zeros((len(infos), len(resources)))
    for number, (name, info) in enumerate(infos.items()):
        sorted_pods = flags.sort(entry.pod for entry in info.pods)
        leaving = {pod.uid for pod in sorted_pods.leaving if is_made_again(pod) and _has_maker(pod, flags)}
        staying = {pod.uid for pod, _ in sorted_pods.staying}
        fixed = np.zeros(len(resources))
        for entry in info.pods:
            amounts = np.array([1 if one == PODS else entry.template.footprint.get(one, 0) for one in resources], np.float64)
            moving[number] += amounts if entry.pod.uid in leaving else 0
            fixed += amounts if entry.pod.uid in staying else 0
        if info.node is not None and not info.node.spec.unschedulable:
            row = table.row_of[name]
            has = [table.max_pods[row] if one == PODS else table.allocatable[table.resources[one], row] for one in resources]
            room[number] = np.array(has, np.float64) - fixed
    return np.maximum(room, moving), moving.sum(axis=0)


def _has_maker(pod: Pod, flags: DrainFlags) -> bool:
    return flags.recreate_bare or pod.metadata.controller is not None
