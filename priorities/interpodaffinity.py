"""Which nodes do the affinity terms of the pod, and of the pods already there, prefer?"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np

from ..core.arrays.batch import Batch
from ..core.arrays.census import Query
from ..core.arrays.table import NodeTable
from ..core.arrays.types import Ints, Scores
from ..core.cycle import Cycle
from ..core.matching.domains import DomainSums, KeySums, Weighted, by_name, sum_at, terms_about
from ..core.pods.notes import StateKey
from ..core.pods.template import Template
from ..core.pods.terms import (
    PREFERRED_AFFINITY,
    PREFERRED_ANTI_AFFINITY,
    REQUIRED_AFFINITY,
    AllPods,
    AnyUnreadable,
    PodsTargeted,
    Unreadable,
    target_of,
    terms_of,
    unreadable,
)
from ..core.rule import Counts, PriorityError, Reads, Reduction, ScoresByValue
from .rule import MAX_PRIORITY, priority

NAME = "InterPodAffinityPriority"
OWN = ((PREFERRED_AFFINITY, 1), (PREFERRED_ANTI_AFFINITY, -1))
"""The pod's own preferences, each with its sign."""
Preferences = list[tuple[PodsTargeted, str, int]]
"""The pods that a term matches, its topology key and its weight."""
_PREFERENCES: Mapping[str, StateKey[Preferences]] = {role: StateKey(role) for role, _ in OWN}
ALL_PODS = AllPods()
MOST_SCALED = 1 << 12
"""Up to such a spread of raw scores, what each of them becomes is kept."""
READ = (REQUIRED_AFFINITY, PREFERRED_AFFINITY, PREFERRED_ANTI_AFFINITY)
ANY_UNREADABLE, UNREADABLE = AnyUnreadable(READ), tuple(Unreadable(role) for role in READ)


def _key(pod: Template) -> Hashable:
    return pod.namespace, pod.labels, pod.preferred_affinity, pod.preferred_anti_affinity


def _extremes(pod: Template, raw: Scores, nodes: Batch, cycle: Cycle) -> tuple[int, int]:
    raw = _times(raw, nodes, cycle)
    return int(raw.max(initial=0)), int(raw.min(initial=0))


def _between(pod: Template, raw: Scores, extremes: tuple[int, int], nodes: Batch, cycle: Cycle) -> Scores:
    """Scale so that the lowest sum becomes 0 and the highest 10; a sum of 0 always takes part.

    Upstream: pkg/scheduler/algorithm/priorities/interpod_affinity.go, the end of CalculateInterPodAffinityPriority.
    """
    highest, lowest = extremes
    return stretched(_times(raw, nodes, cycle), lowest, highest, MAX_PRIORITY)


def stretched(raw: Scores, lowest: int, highest: int, top: int) -> Scores:
    """*raw* scaled from *lowest*..*highest* to 0..*top*: int64[n], rounded down; 0 where the two are equal.

    >>> stretched(np.array([1, 2, 3, 4]), 1, 4, 10).tolist()
    [0, 3, 6, 10]
    """
    spread = highest - lowest
    if not spread:
        return np.zeros(len(raw), np.int64)
    if spread < MOST_SCALED:
        # Nodes that do not fit can be out of range; they get a score that is never used.
        return _scale(spread, top).take(raw - lowest, mode="clip")
    return _scaled(raw - lowest, spread, top)


@lru_cache(maxsize=1024)
def _scale(spread: int, top: int) -> Scores:
    """What each of 0..*spread* becomes: int64[spread + 1]."""
    return _scaled(np.arange(spread + 1), spread, top)


def _scaled(above: Ints, spread: int, top: int) -> Scores:
    scores: Scores = (float(top) * (above / float(spread))).astype(np.int64)
    return scores


def _of_few(pod: Template, raw: tuple[int, ...], there: Sequence[int], cycle: Cycle) -> tuple[int, ...]:
    """:func:`_extremes` and :func:`_between` of the values of a label."""
    sums = [0, *[raw[code] for code in there]]
    return few_stretched(raw, there, min(sums), max(sums), MAX_PRIORITY)


def one_stretched(raw: int, lowest: int, highest: int, top: int) -> int:
    """As :func:`stretched`, for one score. One that is out of range is of a node that does not fit.

    >>> [one_stretched(raw, 1, 4, 10) for raw in (1, 2, 4, 7)]
    [0, 3, 10, 10]
    """
    return int(float(top) * ((min(max(raw, lowest), highest) - lowest) / float(highest - lowest))) if highest > lowest else 0


def few_stretched(raw: Sequence[int], there: Iterable[int], lowest: int, highest: int, top: int) -> tuple[int, ...]:
    """As :func:`stretched`, in plain Python; 0 for all but the places *there*.

    >>> few_stretched((1, 2, 3, 4), (0, 1, 3), 1, 4, 10)
    (0, 3, 0, 10)
    """
    scores, spread = [0] * len(raw), float(highest - lowest)
    if spread:
        for code in there:
            scores[code] = int(float(top) * ((raw[code] - lowest) / spread))
    return tuple(scores)


def _tallied(pod: Template, counts: Counts, cycle: Cycle) -> tuple[int, int]:
    """:func:`_extremes` of scores that are counted already."""
    return max(0, max(counts, default=0)), min(0, min(counts, default=0))


def _at(raw: int, zone: int, extremes: tuple[int, int]) -> int:
    """:func:`_between` for one node."""
    return one_stretched(raw, extremes[1], extremes[0], MAX_PRIORITY)


normalize: Reduction = Reduction(_extremes, _between, zeros_alike=True, of_few=_of_few, tallied=_tallied, at=_at)


def _times(raw: Scores, nodes: Batch, cycle: Cycle) -> Scores:
    # Upstream: some releases count by name, so a node that is listed twice counts everything twice.
    return raw * _times_listed(nodes) if cycle.algorithm.release.interpod_counts_by_name and nodes.rows is not None else raw


def _times_listed(nodes: Batch) -> Scores:
    """How often each node is among the feasible ones: after nodes have changed, a search can visit one twice."""
    listed: Scores = np.bincount(nodes.indexes)[nodes.indexes]
    return listed


def _by_value(pod: Template, cycle: Cycle) -> Callable[[], ScoresByValue]:
    """What tells the raw scores of all rows by values of the topology keys."""
    table = cycle.table
    terms = likings(pod, cycle, cycle.algorithm.hard_pod_affinity_weight)
    # Upstream: the node is looked up by name, so pods on a deleted node are skipped.
    by_key = KeySums.of_each(terms, table, table.deleted_rows)
    own, unreadable_ones = _own_text(pod), table.census.counter(ANY_UNREADABLE)

    def tell() -> ScoresByValue:
        if own is not None or unreadable_ones.total:
            _refuse_unreadable(pod, table)
        return [(sums.key, values) for sums in by_key if (values := sums()) is not None]

    return tell


def _by_row(pod: Template, cycle: Cycle) -> Callable[[int], int] | None:
    """What tells the raw score of one row."""
    if cycle.table.deleted_rows:
        return None
    return sum_at(list(likings(pod, cycle, cycle.algorithm.hard_pod_affinity_weight)), cycle.table)


def likes_nothing(pod: Template, cycle: Cycle) -> bool:
    """Whether there are no terms at all by which *pod* could like one node more than another."""
    if pod.preferred_affinity or pod.preferred_anti_affinity:
        return False
    by_required, by_preferred = terms_about(pod, REQUIRED_AFFINITY, cycle), terms_about(pod, PREFERRED_AFFINITY, cycle)
    return not (by_required or by_preferred or terms_about(pod, PREFERRED_ANTI_AFFINITY, cycle))


def _is_idle(pod: Template, cycle: Cycle) -> bool:
    return not cycle.table.census.has_unreadable and likes_nothing(pod, cycle)


@priority(
    NAME, reads=Reads.NODE | Reads.DOMAIN, key=_key, reduce=normalize, by_domain=lambda pod: True, by_value=_by_value, by_row=_by_row,
    is_idle=_is_idle,
)  # fmt: skip
def inter_pod_affinity(pod: Template, nodes: Batch, cycle: Cycle) -> Scores:
    """Prefer nodes by preferred (anti-)affinity terms, the pod's own and those of existing pods, and by required affinity of existing pods.

    int64[n]: the sum of the weights of all matching terms; a required affinity term of an existing pod has the configured weight. Raises
    :class:`PriorityError` for an invalid selector that a pod has to be matched against.
    Upstream: pkg/scheduler/algorithm/priorities/interpod_affinity.go CalculateInterPodAffinityPriority.
    """
    _refuse_unreadable(pod, cycle.table)
    # Upstream: labels are read from the node objects that are scored, so those of an extender's reply count.
    return liking(pod, cycle.as_described(nodes), cycle, cycle.algorithm.hard_pod_affinity_weight)


def liking(pod: Template, nodes: Batch, cycle: Cycle, hard_weight: int) -> Scores:
    """The sum of weights for each node, *hard_weight* for each required affinity term of an existing pod: int64[n]."""
    found = _liked(likings(pod, cycle, hard_weight), cycle.table).at(nodes)
    return np.zeros(nodes.n, np.int64) if found is None else found


def _liked(terms: Iterable[Weighted], table: NodeTable) -> DomainSums:
    """The sums of weights by domain."""
    # Upstream: the node is looked up by name, so pods on a deleted node are skipped.
    sums = DomainSums(table, without=table.deleted_rows)
    for counter, key, weight in terms:
        sums.add(counter, key, weight)
    return sums


def likings(pod: Template, cycle: Cycle, hard_weight: int) -> Iterator[Weighted]:
    """Counters of pods, each with its topology key and the weight of a pod."""
    for role, sign in OWN:
        for targeted, key, weight in _own(pod, role):
            yield cycle.table.census.counter(by_name(targeted, cycle)), key, sign * weight
        for carrier, counter in terms_about(pod, role, cycle):
            yield counter, carrier.topology_key, sign * carrier.weight
    if hard_weight:
        for carrier, counter in terms_about(pod, REQUIRED_AFFINITY, cycle):
            yield counter, carrier.topology_key, hard_weight


def _own(pod: Template, role: str) -> Preferences:
    found = pod.notes.get(_PREFERENCES[role])
    if found is None:
        terms = terms_of(pod, role) if unreadable(pod, role) is None else ()
        found = [(PodsTargeted(frozenset((target_of(pod, term),)), every=True), term.topology_key, weight) for term, weight in terms]
        pod.notes[_PREFERENCES[role]] = found
    return found


# --- selectors that cannot be read ----------------------------------------------------------------------------------


def _refuse_unreadable(pod: Template, table: NodeTable) -> None:
    """Raise PriorityError for the first invalid selector that a pod on an existing node has or is matched against."""
    own = _own_text(pod)
    if own is not None and _carrying_rows(table, ALL_PODS):
        raise PriorityError(own, once=True)
    for query in UNREADABLE if table.census.counter(ANY_UNREADABLE).total else ():
        for row in _carrying_rows(table, query):
            text = next(text for entry in table.pods[row] if (text := unreadable(entry.template, query.role)) is not None)
            raise PriorityError(text, once=True)


def _own_text(pod: Template) -> str | None:
    return unreadable(pod, PREFERRED_AFFINITY) or unreadable(pod, PREFERRED_ANTI_AFFINITY)


def _carrying_rows(table: NodeTable, query: Query) -> list[int]:
    """The rows of existing nodes with pods that *query* counts."""
    counter = table.census.counter(query)
    if not counter.total:
        return []
    return [row for row in np.flatnonzero(counter.rows).tolist() if table.has_node[row] and row not in table.deleted_rows]
