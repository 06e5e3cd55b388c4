"""Which nodes and zones have fewer pods of the same service or controller?"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Hashable, Sequence
from functools import lru_cache, partial

import attrs
import numpy as np

from ..core.arrays.batch import Batch
from ..core.arrays.census import PodsMatching
from ..core.arrays.types import Floats, Scores
from ..core.cluster.listings import Listings
from ..core.cycle import Cycle
from ..core.matching.owners import OwnerSelector, Remembered, owner_selectors, remembered
from ..core.pods.notes import Slot
from ..core.pods.template import Group, Template
from ..core.release import Release
from ..core.rule import Priority, Reads, Reduction
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
    selectors = owner_selectors(pod, cycle.listings)
    if not selectors:
        return np.zeros(nodes.n, np.int64)
    return nodes.counting(_peers_of_owners(pod, cycle))


_PEERS: Slot[Remembered[PodsMatching]] = Slot("peers of owners")


def _peers_of_owners(pod: Template, cycle: Cycle) -> PodsMatching:
    return remembered(_PEERS, partial(_peers, cycle.algorithm.release), pod, cycle.listings)


def _peers(release: Release, pod: Template, listings: Listings) -> PodsMatching:
    return peers(pod.namespace, owner_selectors(pod, listings), any_of_them=release.spread_matches_any_selector)


FEW = 16


@attrs.frozen
class Crowds:
    """What a node scores by its own peers and by its zone. Crowds that score alike are equal, whatever was counted."""

    most: int
    """The most peers on a node."""
    in_zones: tuple[int, ...] | int
    """The peers in each zone, by code; the number of codes alone where ``table`` says the rest."""
    table: bytes | None = None
    """int64[most + 1, codes]: one score for each pair, where these are fewer than nodes; None else."""

    @classmethod
    def of(cls, raw: Scores, in_zones: list[int], best: int) -> Crowds:
        """Those of nodes with *raw* peers, scored from 0 to *best*."""
        most, codes = int(raw.max(initial=0)), len(in_zones)
        if (most + 1) * codes > len(raw):
            return cls(most, tuple(in_zones))
        on_node = _by_count(most, best)
        if on_node.size * codes <= FEW:  # plain Python is faster then
            fullest = max(in_zones[1:], default=0)
            by_zone = [ZONE_WEIGHT * _emptiness(count, fullest, best) for count in in_zones[1:]]
            scores = [int(score) for own in on_node.tolist() for score in (own, *[own * (1.0 - ZONE_WEIGHT) + zone for zone in by_zone])]
            return cls(most, codes, array("q", scores).tobytes())
        table = _combined(on_node[:, None], _by_zone(in_zones, best))
        table[:, 0] = on_node
        return cls(most, codes, table.astype(np.int64).tobytes())


def _crowds(pod: Template, raw: Scores, nodes: Batch, cycle: Cycle, *, best: int) -> Crowds:
    """The most peers on a node, and the peers in each zone."""
    zone = nodes.zone
    by_zone = np.bincount(zone.codes, raw, len(zone.values)).astype(np.int64)
    return Crowds.of(raw, by_zone.tolist(), best)


def _crowds_of_owners(pod: Template, raw: Scores, nodes: Batch, cycle: Cycle) -> Crowds:
    """The same where *raw* counts the pods of *pod*'s owners: the census has the counts by zone already."""
    if nodes.rows is not None or not owner_selectors(pod, cycle.listings):
        return _crowds(pod, raw, nodes, cycle, best=MAX_PRIORITY)
    return Crowds.of(raw, nodes.counted_by_zone(_peers_of_owners(pod, cycle)).tolist(), MAX_PRIORITY)


def _spread(pod: Template, raw: Scores, crowds: Crowds, nodes: Batch, cycle: Cycle, *, best: int) -> Scores:
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


def _emptiness(count: int, most: int, best: int) -> float:
    """*best* for no peer, 0 for the most."""
    return float(best) * ((most - count) / float(most)) if most > 0 else float(best)


def _combined(on_node: Floats, in_zone: Floats) -> Floats:
    return on_node * (1.0 - ZONE_WEIGHT) + ZONE_WEIGHT * in_zone


def zone_reduction(best: int) -> Reduction:
    """The reduce step from counts of peers to 0 to *best*."""
    return Reduction(partial(_crowds, best=best), partial(_spread, best=best), zeros_alike=True)


reduce_by_zone = Reduction(_crowds_of_owners, partial(_spread, best=MAX_PRIORITY), zeros_alike=True)


@priority("SelectorSpreadPriority", reads=Reads.COUNTS | Reads.LISTINGS, key=_key, reduce=reduce_by_zone)
def selector_spread(pod: Template, nodes: Batch, cycle: Cycle) -> Scores:
    """Prefer nodes and zones with fewer pods of *pod*'s services, replication controllers, replica sets and stateful sets.

    Upstream: pkg/scheduler/algorithm/priorities/selector_spreading.go CalculateSpreadPriorityMap.
    """
    return _counts(pod, nodes, cycle)


service_spreading = Priority(
    name="ServiceSpreadingPriority", score=_counts, reads=selector_spread.reads, key=_key, reduce=reduce_by_zone
)
"""The older name of SelectorSpreadPriority.

Upstream: it is built with services alone, but it reads the same selectors as SelectorSpreadPriority, also those of controllers.
"""
