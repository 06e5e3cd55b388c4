"""Which nodes and zones have fewer pods of the same service or controller?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from functools import lru_cache

import msgspec
import numpy as np

from ..core.arrays.batch import Batch
from ..core.arrays.census import PodsMatching
from ..core.arrays.counts import FEW, DomainSum, Sums
from ..core.arrays.reduction import Proportional, RawScores, Reduction, Scale, Tabled
from ..core.arrays.types import Floats, Scores, ValueCodes
from ..core.cluster.listings import Listings
from ..core.cycle import Cycle
from ..core.matching.owners import OwnerSelector, Remembered, owner_selectors, remembered
from ..core.pods.notes import StateKey
from ..core.pods.template import Group, Template
from ..core.rule import Priority, Reads
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


def _sums(pod: Template, cycle: Cycle) -> Sums:
    """The peers on the row; none without owners."""
    counted = _peers_of_owners(pod, cycle)
    return Sums() if counted is None else Sums([DomainSum.on_rows([cycle.table.census.counter(counted)])])


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


def zone_reduction(best: int, leaves_out: Callable[[Template], bool] = lambda pod: False) -> Reduction:
    """The reduce step from counts of peers to 0 to *best*: best where there is no peer, 0 where the most are.

    The zone has two thirds of the score, where the node has a zone. The counts of a pod that it *leaves_out* stay as they are.
    Upstream: pkg/scheduler/algorithm/priorities/selector_spreading.go CalculateSpreadPriorityReduce.
    """

    def scale(pod: Template, raw: RawScores, cycle: Cycle) -> Scale:
        if leaves_out(pod):
            return Proportional(0, best, reverse=False)
        codes = len(cycle.table.zone.values)
        in_zones, most = [0] * codes, 0
        for key, nodes in raw.by_code.items():
            count = key // codes
            in_zones[key % codes] += count * nodes
            most = max(most, count)
        return _scale(most, raw.number, in_zones, best)

    return Reduction.by(scale, lambda pod, cycle: cycle.table.zone)


reduce_by_zone: Reduction = zone_reduction(MAX_PRIORITY)


def _scale(most: int, nodes: int, in_zones: list[int], best: int) -> Scale:
    """What nodes score of which there are that many, with up to *most* peers; *in_zones*: the peers in each zone, by code."""
    codes = len(in_zones)
    if (most + 1) * codes > nodes:
        return Emptiness(most, tuple(in_zones), best)
    if (most + 1) * codes > FEW:
        on_node = _by_count(most, best)
        table = _combined(on_node[:, None], _by_zone(in_zones, best))
        table[:, 0] = on_node
        return Tabled(codes, table.astype(np.int64).tobytes())
    # Plain Python is faster then.
    fullest, highest = max(in_zones[1:], default=0), float(best)
    by_zone = [ZONE_WEIGHT * (highest * ((fullest - count) / float(fullest)) if fullest else highest) for count in in_zones[1:]]
    scores: list[int] = []
    for score, own in _shares(most, best):
        scores.append(score)
        scores += [int(own + zone) for zone in by_zone]
    return Tabled.from_list(codes, scores)


class Emptiness(msgspec.Struct, frozen=True):
    """The scale by the *most* peers on a node and the peers in each zone, by code; the first code stands for nodes without a zone."""

    most: int
    in_zones: tuple[int, ...]
    best: int

    def of(self, raw: Scores, codes: ValueCodes | None) -> Scores:
        # Nodes that do not fit can have higher counts.
        on_node = _by_count(self.most, self.best)[raw.clip(0, self.most)]
        return np.where(codes != 0, _combined(on_node, _by_zone(self.in_zones, self.best)[codes]), on_node).astype(np.int64)

    def each(self, raw: Sequence[int], codes: Sequence[int] | None = None) -> list[int]:
        found: list[int] = self.of(np.array(raw), np.zeros(len(raw), np.intp) if codes is None else np.array(codes)).tolist()
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


@priority("SelectorSpreadPriority", reads=Reads.COUNTS | Reads.LISTINGS, key=_key, reduce=reduce_by_zone, sums=_sums)
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
    sums=_sums,
)
"""The older name of SelectorSpreadPriority.

Upstream: it is built with services alone, but it reads the same selectors as SelectorSpreadPriority, also those of controllers.
"""
