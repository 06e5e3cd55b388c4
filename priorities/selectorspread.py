"""Which nodes and zones have fewer pods of the same service or controller?"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Hashable, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

import attrs
import numpy as np

from ..core.arrays.batch import Batch
from ..core.arrays.census import PodsMatching
from ..core.arrays.types import Floats, Scores
from ..core.cluster.listings import Listings
from ..core.cycle import Cycle
from ..core.matching.owners import OwnerSelector, Remembered, owner_selectors, remembered
from ..core.pods.notes import StateKey
from ..core.pods.template import Group, Template
from ..core.rule import Counts, Priority, Reads, Reduction
from .rule import MAX_PRIORITY, priority

ZONE_WEIGHT = 2.0 / 3.0
"""The zone's part of the score, where the node has a zone."""


def peers(namespace: str, selectors: frozenset[OwnerSelector], *, any_of_them: bool = False) -> PodsMatching:
    """The pods of *namespace* that all *selectors* (or any of them) match, without those that are being deleted."""
    combine = any if any_of_them else all

    def matches(group: Group) -> bool:
        return not group.terminating and combine(selector.matches(group.labels) for selector in selectors)

    several = any_of_them and len(selectors) > 1
    pairs: Collection[tuple[str, str]] = () if several else {pair for selector in selectors for pair in selector.pairs}
    return PodsMatching(frozenset((namespace,)), ("peers", selectors, several), matches, pairs)


def _key(pod: Template) -> Hashable:
    return pod.namespace, pod.labels


def _counts(pod: Template, nodes: Batch, cycle: Cycle) -> Scores:
    counted = _peers_of_owners(pod, cycle)
    return np.zeros(nodes.n, np.int64) if counted is None else nodes.counting(counted)


def _by_row(pod: Template, cycle: Cycle) -> Callable[[int], int] | None:
    """What tells the peers on one row."""
    counted = _peers_of_owners(pod, cycle)
    return None if counted is None else cycle.table.census.counter(counted).on


_PEERS: StateKey[Remembered[PodsMatching | None]] = StateKey("peers of owners")


def _peers_of_owners(pod: Template, cycle: Cycle) -> PodsMatching | None:
    """What counts the pods of *pod*'s owners; None where it has none."""
    release = cycle.algorithm.release
    find = _peers_of_any if release.spread_matches_any_selector else _peers_of_all
    return remembered(_PEERS, find, pod, cycle.listings)


def _peers_of_any(pod: Template, listings: Listings) -> PodsMatching | None:
    selectors = owner_selectors(pod, listings)
    return peers(pod.namespace, selectors, any_of_them=True) if selectors else None


def _peers_of_all(pod: Template, listings: Listings) -> PodsMatching | None:
    selectors = owner_selectors(pod, listings)
    return peers(pod.namespace, selectors) if selectors else None


FEW = 16


class SpreadSummary(NamedTuple):
    """What a node scores by its own peers and by its zone. Crowds that score alike are equal, whatever was counted."""

    most: int
    """The most peers on a node."""
    in_zones: tuple[int, ...] | int
    """The peers in each zone, by code; the number of codes alone where ``table`` says the rest."""
    table: bytes | None = None
    """int64[most + 1, codes]: one score for each pair, where these are fewer than nodes; None else."""

    @classmethod
    def of(cls, most: int, nodes: int, in_zones: list[int], best: int) -> SpreadSummary:
        """Those of that many *nodes* with up to *most* peers, scored from 0 to *best*."""
        codes = len(in_zones)
        if (most + 1) * codes > nodes:
            return cls(most, tuple(in_zones))
        if (most + 1) * codes <= FEW:  # plain Python is faster then
            fullest = max(in_zones[1:], default=0)
            if fullest > 0:
                by_zone = [ZONE_WEIGHT * (float(best) * ((fullest - count) / float(fullest))) for count in in_zones[1:]]
            else:
                by_zone = [ZONE_WEIGHT * float(best)] * (codes - 1)
            scores: list[int] = []
            for score, own in _shares(most, best):
                scores.append(score)
                scores += [int(own + zone) for zone in by_zone]
            return cls(most, codes, array("q", scores).tobytes())
        on_node = _by_count(most, best)
        table = _combined(on_node[:, None], _by_zone(in_zones, best))
        table[:, 0] = on_node
        return cls(most, codes, table.astype(np.int64).tobytes())


def _crowds(pod: Template, raw: Scores, nodes: Batch, cycle: Cycle, *, best: int) -> SpreadSummary:
    """The most peers on a node, and the peers in each zone."""
    zone = nodes.zone
    by_zone = np.bincount(zone.codes, raw, len(zone.values)).astype(np.int64)
    return SpreadSummary.of(int(raw.max(initial=0)), nodes.n, by_zone.tolist(), best)


def _tallied(pod: Template, counts: Counts, cycle: Cycle, *, best: int) -> SpreadSummary:
    """The same where peers are counted already."""
    zones = len(cycle.table.zone.values)
    in_zones = [0] * zones
    for key, number in counts.items():
        in_zones[key % zones] += key // zones * number
    return SpreadSummary.of(max(counts, default=0) // zones, sum(counts.values()), in_zones, best)


def _spread_at(own: int, zone: int, crowds: SpreadSummary) -> int | None:
    """As :func:`_spread`, for one node with *own* peers."""
    if crowds.table is None:
        return None
    scores = memoryview(crowds.table).cast("q")
    assert isinstance(crowds.in_zones, int)
    found: int = scores[min(own * crowds.in_zones + zone, len(scores) - 1)]
    return found


def _crowds_of_owners(pod: Template, raw: Scores, nodes: Batch, cycle: Cycle) -> SpreadSummary:
    """The same where *raw* counts the pods of *pod*'s owners: the census has the counts by zone already."""
    counted = None if nodes.rows is not None else _peers_of_owners(pod, cycle)
    if counted is None:
        return _crowds(pod, raw, nodes, cycle, best=MAX_PRIORITY)
    return SpreadSummary.of(int(raw.max(initial=0)), nodes.n, nodes.counted_by_zone(counted).tolist(), MAX_PRIORITY)


def _spread(pod: Template, raw: Scores, crowds: SpreadSummary, nodes: Batch, cycle: Cycle, *, best: int) -> Scores:
    """*best* where there is no peer, 0 where the most are; the zone has two thirds of the score, where the node has a zone.

    Upstream: pkg/scheduler/algorithm/priorities/selector_spreading.go CalculateSpreadPriorityReduce.
    """
    zones, in_zones = nodes.zone.codes, crowds.in_zones
    if isinstance(in_zones, tuple):
        on_node = _by_count(crowds.most, best)[raw.clip(0, crowds.most)]
        return np.where(zones != 0, _combined(on_node, _by_zone(in_zones, best)[zones]), on_node).astype(np.int64)
    # Nodes that do not fit can have higher counts.
    assert crowds.table is not None
    found: Scores = np.frombuffer(crowds.table, np.int64).take(raw * in_zones + zones, mode="clip")
    return found


def _by_zone(in_zones: Sequence[int], best: int) -> Floats:
    """The score for each zone, by code: float64[codes]."""
    fullest = max(in_zones[1:], default=0)
    return np.array([_emptiness(count, fullest, best) for count in in_zones])


@lru_cache(1 << 8)
def _by_count(most: int, best: int) -> Floats:
    """The score for each number of peers on a node: float64[most + 1]."""
    return np.array([_emptiness(count, most, best) for count in range(most + 1)])


@lru_cache(1 << 8)
def _shares(most: int, best: int) -> Sequence[tuple[int, float]]:
    """For each number of peers on a node the score without a zone, and the node's part of the score in a zone."""
    return [(int(score), score * (1.0 - ZONE_WEIGHT)) for score in _by_count(most, best).tolist()]


def _emptiness(count: int, most: int, best: int) -> float:
    """*best* for no peer, 0 for the most."""
    return float(best) * ((most - count) / float(most)) if most > 0 else float(best)


def _combined(on_node: Floats, in_zone: Floats) -> Floats:
    return on_node * (1.0 - ZONE_WEIGHT) + ZONE_WEIGHT * in_zone


def zone_reduction(best: int) -> Reduction:
    """The reduce step from counts of peers to 0 to *best*."""
    return Reduction(
        partial(_crowds, best=best), partial(_spread, best=best), zeros_alike=True,
        tallied=partial(_tallied, best=best), by_zone=True, at=_spread_at,
    )  # fmt: skip


reduce_by_zone: Reduction = attrs.evolve(zone_reduction(MAX_PRIORITY), summarise=_crowds_of_owners)


def _is_idle(pod: Template, cycle: Cycle) -> bool:
    return _peers_of_owners(pod, cycle) is None


@priority("SelectorSpreadPriority", reads=Reads.COUNTS | Reads.LISTINGS, key=_key, reduce=reduce_by_zone, by_row=_by_row, is_idle=_is_idle)
def selector_spread(pod: Template, nodes: Batch, cycle: Cycle) -> Scores:
    """Prefer nodes and zones with fewer pods of *pod*'s services, replication controllers, replica sets and stateful sets.

    Upstream: pkg/scheduler/algorithm/priorities/selector_spreading.go CalculateSpreadPriorityMap.
    """
    return _counts(pod, nodes, cycle)


service_spreading: Priority = Priority(
    name="ServiceSpreadingPriority",
    score=_counts,
    reads=selector_spread.reads,
    key=_key,
    reduce=reduce_by_zone,
    by_row=_by_row,
    is_idle=_is_idle,
)
"""The older name of SelectorSpreadPriority.

Upstream: it is built with services alone, but it reads the same selectors as SelectorSpreadPriority, also those of controllers.
"""
