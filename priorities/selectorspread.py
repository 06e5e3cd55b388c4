"""SelectorSpread: nodes and zones with fewer pods of the same service or controller."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import attrs
import msgspec

from ..core.cluster.listings import Listings
from ..core.matching import OwnerSelector, Remembered, owner_selectors, remembered
from .rule import (
    MAX_PRIORITY,
    Batch,
    Cycle,
    DomainSum,
    Group,
    PodsMatching,
    Priority,
    Proportional,
    RawScores,
    Reads,
    Reduction,
    Scale,
    Scores,
    StateKey,
    Sums,
    Template,
    priority,
)

ZONE_WEIGHT = 2.0 / 3.0
"""The zone's part of the score, where the node has a zone."""


def peers(namespace: str, selectors: frozenset[OwnerSelector], *, any_of_them: bool = False) -> PodsMatching:
    """The pods of *namespace* that all *selectors* (or any of them) match, without those that are being
    deleted."""
    combine = any if any_of_them else all

    def matches(group: Group) -> bool:
        return not group.terminating and combine(selector.matches(group.labels) for selector in selectors)

    several = any_of_them and len(selectors) > 1
    pairs = () if several else {pair for selector in selectors for pair in selector.pairs}
    return PodsMatching(frozenset((namespace,)), ("peers", selectors, several), matches, pairs)


def _sums(pod: Template, cycle: Cycle) -> Sums:
    """The peers on the row; none without owners."""
    query = _peers_of_owners(pod, cycle)
    return Sums() if query is None else Sums([DomainSum.on_rows([cycle.table.census.counter(query)])])


_PEERS: StateKey[Remembered[PodsMatching | None]] = StateKey("peers of owners")


def _peers_of_owners(pod: Template, cycle: Cycle) -> PodsMatching | None:
    """The pods of *pod*'s owners; None where it has none."""
    any_of_them = cycle.release.spread_matches_any_selector

    def find(pod: Template, listings: Listings) -> PodsMatching | None:
        selectors = owner_selectors(pod, listings)
        return peers(pod.namespace, selectors, any_of_them=any_of_them) if selectors else None

    return remembered(_PEERS, find, pod, cycle.listings)


def zone_reduction(best: int, leaves_out: Callable[[Template], bool] = lambda pod: False) -> Reduction:
    """The reduce step from counts of peers to scores: *best* where there is no peer, 0 where there are most.

    The zone makes up two thirds of the score, where the node has a zone. The counts of a pod for which
    *leaves_out* is true stay as they are. Upstream: pkg/scheduler/algorithm/priorities/selector_spreading.go
    CalculateSpreadPriorityReduce.
    """

    def scale(pod: Template, raw: RawScores, cycle: Cycle) -> Scale:
        if leaves_out(pod):
            return Proportional(0, best, reverse=False)
        in_zones = [0] * len(cycle.table.zone.values)
        for count, zone, nodes in raw.counted:
            in_zones[zone] += count * nodes
        return ZoneSpreadScale(raw.highest, in_zones, best)

    return Reduction(scale, lambda pod, cycle: cycle.table.zone)


reduce_by_zone: Reduction = zone_reduction(MAX_PRIORITY)


class ZoneSpreadScale(msgspec.Struct, frozen=True):
    """The scale by the *most* peers on a node and the peers in each zone, by code; the first code stands for
    nodes without a zone."""

    most: int
    in_zones: Sequence[int]
    best: int

    def each(self, raw: Sequence[int], codes: Sequence[int]) -> list[int]:
        fullest = max(self.in_zones[1:], default=0)
        best = self.best
        zones = [ZONE_WEIGHT * _emptiness(count, fullest, best) for count in self.in_zones]
        shares = _shares(self.most, best)
        return [
            int(shares[count][1] + zones[code]) if code else shares[count][0]
            for count, code in zip(raw, codes, strict=True)
        ]


@lru_cache(1 << 8)
def _shares(most: int, best: int) -> Sequence[tuple[int, float]]:
    """The score without a zone, and the node's part of it in a zone, by the number of peers."""
    scores = [_emptiness(count, most, best) for count in range(most + 1)]
    return [(int(score), score * (1.0 - ZONE_WEIGHT)) for score in scores]


def _emptiness(count: int, most: int, best: int) -> float:
    """*best* for no peer, 0 for the most."""
    return float(best) * ((most - count) / float(most)) if most > 0 else float(best)


@priority(
    "SelectorSpreadPriority",
    reads=Reads.COUNTS | Reads.LISTINGS,
    key=lambda pod: (pod.namespace, pod.labels),
    reduce=reduce_by_zone,
    sums=_sums,
)
def selector_spread(pod: Template, nodes: Batch, cycle: Cycle) -> Scores:
    """Prefer nodes and zones with fewer pods of *pod*'s services, replication controllers, replica sets and
    stateful sets.

    Upstream: pkg/scheduler/algorithm/priorities/selector_spreading.go CalculateSpreadPriorityMap.
    """
    query = _peers_of_owners(pod, cycle)
    return nodes.zeros() if query is None else nodes.counting(query)


service_spreading: Priority = attrs.evolve(selector_spread, name="ServiceSpreadingPriority")
"""The older name of SelectorSpreadPriority.

Upstream: it is built with services alone, but it reads the same selectors as SelectorSpreadPriority, also
those of controllers.
"""
