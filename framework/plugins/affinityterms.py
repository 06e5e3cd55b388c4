"""The terms that InterPodAffinity looks at for one template, found once, until there are others.

Which terms are about a pod depends on the terms that pods have or had, on namespaces and on nodes, but not on how many pods there are.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TypeVar

import attrs
import numpy as np

from ...core.arrays.census import Counter
from ...core.arrays.table import NodeTable
from ...core.cycle import Cycle
from ...core.failures import Reason
from ...core.matching.namespaces import terms_about
from ...core.pods.notes import Slot
from ...core.pods.template import Template
from ...core.pods.terms import REQUIRED_ANTI_AFFINITY
from ...predicates.interpodaffinity import Affinity, AntiAffinity
from ...predicates.reasons import EXISTING_PODS_ANTI_AFFINITY_RULES_NOT_MATCH as REFUSED
from ...predicates.reasons import POD_AFFINITY_RULES_NOT_MATCH as UNMET
from ...predicates.reasons import POD_ANTI_AFFINITY_RULES_NOT_MATCH as VIOLATED
from .byvalue import Judged, WeightedTerm, is_small

T = TypeVar("T")


@attrs.define(eq=False, repr=False)
class _Kept:
    """What was found for a template, with the counters that were asked for."""

    state: Hashable = None
    """Which terms and namespaces there were."""
    found: object = None
    counters: Sequence[Counter] = ()


def kept(slot: Slot[T], pod: Template, cycle: Cycle, find: Callable[[], T]) -> T:
    """What *find* finds for *pod*, which must not depend on how many pods there are; kept by *slot*."""
    census, entry = cycle.table.census, cycle.table.once((slot, pod), _Kept)
    state = census.terms_revision, cycle.listings.owner_tick.count
    if entry.state != state:
        outer, census.watch = census.watch, []
        try:
            entry.found, entry.counters = find(), census.watch
        finally:
            census.watch = outer
        entry.state = state
    census.asked_again(entry.counters)
    found: T = entry.found
    return found


@attrs.frozen(eq=False)
class RequiredTerms:
    """The required terms that the filter looks at."""

    affinity: Affinity
    company: Counter | None
    """The pods that the affinity requires, if there is one."""
    refusing: Sequence[tuple[Reason, str, Counter]]
    """The reason where there is a pod, the topology key, and the pods."""
    is_small: bool
    """All topology keys are of labels with few values."""

    @classmethod
    def of(cls, pod: Template, affinity: Affinity, anti: AntiAffinity, cycle: Cycle) -> RequiredTerms:
        """The *affinity* and *anti* affinity of *pod*, and the anti-affinity of others that is about it."""
        census = cycle.table.census
        company = census.counter(affinity.wanted) if affinity.keys else None
        refusing = [(VIOLATED, key, census.counter(unwanted)) for key, unwanted in anti.by_key]
        refusing += [(REFUSED, carrier.topology_key, counter) for carrier, counter in terms_about(pod, REQUIRED_ANTI_AFFINITY, cycle)]
        keys = {*affinity.keys, *(key for _, key, _ in refusing)}
        return cls(affinity, company, refusing, is_small(keys, cycle.table))

    def judged(self, table: NodeTable) -> Iterator[Judged]:
        """The domains of *table* that are turned down, in the order in which reasons count."""
        labels, affinity = table.labels, self.affinity
        if self.company is not None:
            lacking = [(key, self.company.domains(key, labels) <= 0) for key in affinity.keys]
            if affinity.itself and all(mask.all() for _, mask in lacking):
                # No pod counts at code 0, where the label is missing: there even the first of its kind is turned down.
                lacking = [(key, np.arange(len(mask)) < 1) for key, mask in lacking]
            for key, mask in lacking:
                yield UNMET, key, mask
        for reason, key, counter in self.refusing:
            yield reason, key, counter.domains(key, labels) > 0


@attrs.frozen(eq=False)
class LikedTerms:
    """The terms that the score looks at, where all are of one label with few values."""

    key: str
    terms: Sequence[tuple[Counter, int]]
    """The pods of each term, and the weight of a pod."""

    @classmethod
    def of(cls, terms: Sequence[WeightedTerm], cycle: Cycle) -> LikedTerms | None:
        """*terms*, if they are so."""
        keys = {key for _, key, _ in terms}
        if len(keys) != 1 or not is_small(keys, cycle.table):
            return None
        return cls(keys.pop(), [(counter, weight) for counter, _, weight in terms])
