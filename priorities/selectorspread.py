"""Which nodes and zones have fewer pods of the same service or controller?"""

from __future__ import annotations

from collections.abc import Collection, Hashable
from functools import lru_cache, partial

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


def _crowds(pod: Template, raw: Scores, nodes: Batch, cycle: Cycle) -> tuple[int, tuple[int, ...]]:
    """The most peers on a node, and the peers in each zone, by code."""
    zone = nodes.zone
    by_zone = np.bincount(zone.codes, raw, len(zone.values)).astype(np.int64)
    return int(raw.max(initial=0)), tuple(by_zone.tolist())


def _crowds_of_owners(pod: Template, raw: Scores, nodes: Batch, cycle: Cycle) -> tuple[int, tuple[int, ...]]:
    """The same where *raw* counts the pods of *pod*'s owners: the census has the counts by zone already."""
    if nodes.rows is not None or not owner_selectors(pod, cycle.listings):
        return _crowds(pod, raw, nodes, cycle)
    return int(raw.max(initial=0)), tuple(nodes.counted_by_zone(_peers_of_owners(pod, cycle)).tolist())


def _spread(pod: Template, raw: Scores, crowds: tuple[int, tuple[int, ...]], nodes: Batch, cycle: Cycle, *, best: int) -> Scores:
    """*best* where there is no peer, 0 where the most are; the zone has two thirds of the score, where the node has a zone.

    Upstream: pkg/scheduler/algorithm/priorities/selector_spreading.go CalculateSpreadPriorityReduce.
    """
    zones, (most, in_zones) = nodes.zone.codes, crowds
    fullest = max(in_zones[1:], default=0)
    by_zone = np.array([_emptiness(count, fullest, best) for count in in_zones])
    if (most + 1) * len(in_zones) > len(raw):
        on_node = _by_count(most, best)[raw.clip(0, most)]
        return np.where(zones != 0, _combined(on_node, by_zone[zones]), on_node).astype(np.int64)
    # Counts and zones are few: one score for each pair, looked up for each node. Nodes that do not fit can have higher counts.
    on_node = _by_count(most, best)
    table = _combined(on_node[:, None], by_zone)
    table[:, 0] = on_node
    found: Scores = table.astype(np.int64).take(raw * len(in_zones) + zones, mode="clip")
    return found


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
    return Reduction(_crowds, partial(_spread, best=best), zeros_alike=True)


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
