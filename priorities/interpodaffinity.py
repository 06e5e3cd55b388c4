"""InterPodAffinity: nodes that the affinity terms of the pod, and of the pods already there, prefer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from ..core.matching import by_name, terms_about
from .rule import (
    MAX_PRIORITY,
    PREFERRED_AFFINITY,
    PREFERRED_ANTI_AFFINITY,
    REQUIRED_AFFINITY,
    AllPods,
    Batch,
    Cycle,
    DomainSum,
    NodeTable,
    PodsTargeted,
    PriorityError,
    Query,
    Reads,
    Reduction,
    Scores,
    StateKey,
    Stretched,
    Sums,
    Template,
    Unreadable,
    Weighted,
    added,
    priority,
    target_of,
    terms_of,
    unreadable,
)

OWN = ((PREFERRED_AFFINITY, 1), (PREFERRED_ANTI_AFFINITY, -1))
"""The pod's own preferences, each with its sign."""
Preferences = list[tuple[PodsTargeted, str, int]]
"""The pods that a term matches, its topology key and its weight."""
_PREFERENCES: Mapping[str, StateKey[Preferences]] = {role: StateKey(role) for role, _ in OWN}
READ = (REQUIRED_AFFINITY, PREFERRED_AFFINITY, PREFERRED_ANTI_AFFINITY)


def _described_scores(pod: Template, raw: Scores, nodes: Batch, cycle: Cycle) -> Scores | None:
    # Upstream: some releases count by name, so a node that is listed twice counts everything twice.
    if not cycle.release.interpod_counts_by_name or nodes.rows is None or not len(raw):
        return None
    # How often each node is among the feasible ones: after nodes have changed, a search can visit one twice.
    times = np.bincount(nodes.indexes)[nodes.indexes]
    if times.max() == 1:
        return None
    raw = raw * times
    scale = Stretched(min(0, int(raw.min())), max(0, int(raw.max())), MAX_PRIORITY)
    return np.array(scale.each(raw.tolist()), np.int64)


normalize: Reduction = Reduction(
    lambda pod, raw, cycle: Stretched(min(0, raw.lowest), max(0, raw.highest), MAX_PRIORITY),
    special=_described_scores,
)
"""The lowest sum becomes 0 and the highest 10; a sum of 0 always takes part.

Upstream: pkg/scheduler/algorithm/priorities/interpod_affinity.go, the end of
CalculateInterPodAffinityPriority.
"""


def _sums(pod: Template, cycle: Cycle) -> Sums | None:
    """The weights by domain; None where a selector cannot be read."""
    if cycle.table.census.has_unreadable or own_error(pod) is not None:
        return None
    return liked(likings(pod, cycle, cycle.algorithm.hard_pod_affinity_weight), cycle.table)


def liked(terms: Iterable[Weighted], table: NodeTable) -> Sums:
    """The points from *terms* for the nodes of each domain."""
    # Upstream: the node is looked up by name, so pods on a deleted node are skipped.
    return Sums(DomainSum.of_each(terms, table, table.deleted_rows))


@priority(
    "InterPodAffinityPriority",
    reads=Reads.NODE | Reads.DOMAIN,
    key=lambda pod: (pod.namespace, pod.labels, pod.preferred_affinity, pod.preferred_anti_affinity),
    reduce=normalize,
    sums=_sums,
)
def inter_pod_affinity(pod: Template, nodes: Batch, cycle: Cycle) -> Scores:
    """Prefer nodes by preferred (anti-)affinity terms of *pod* and existing pods, and by required affinity
    terms of existing pods.

    int64[n]: the sum of the weights of all matching terms; a required affinity term of an existing pod has
    the configured weight. Raises :class:`PriorityError` for an invalid selector that a pod has to be matched
    against. Upstream: pkg/scheduler/algorithm/priorities/interpod_affinity.go
    CalculateInterPodAffinityPriority.
    """
    table = cycle.table
    text = own_error(pod)
    if text is not None and _carrying_rows(table, AllPods()):
        raise PriorityError(text, once=True)
    if (text := existing_error(table, READ)) is not None:
        raise PriorityError(text, once=True)
    # Upstream: labels are read from the node objects that are scored, so those of an extender's reply count.
    return liking(pod, cycle.as_described(nodes), cycle, cycle.algorithm.hard_pod_affinity_weight)


def liking(pod: Template, nodes: Batch, cycle: Cycle, hard_weight: int) -> Scores:
    """The sum of weights for each node, *hard_weight* for each required affinity term of an existing pod:
    int64[n]."""
    return added(liked(likings(pod, cycle, hard_weight), cycle.table).each, nodes)


def likings(pod: Template, cycle: Cycle, hard_weight: int) -> Iterator[Weighted]:
    """Counters of pods, each with its topology key and the weight of a pod."""
    for role, sign in OWN:
        for targeted, key, weight in _own_preferences(pod, role) if pod.has_pod_affinity else ():
            yield cycle.table.census.counter(by_name(targeted, cycle)), key, sign * weight
        for carrier, counter in terms_about(pod, role, cycle):
            yield counter, carrier.topology_key, sign * carrier.weight
    if hard_weight:
        for carrier, counter in terms_about(pod, REQUIRED_AFFINITY, cycle):
            yield counter, carrier.topology_key, hard_weight


def _own_preferences(pod: Template, role: str) -> Preferences:
    preferences = pod.notes.get(_PREFERENCES[role])
    if preferences is None:
        terms = terms_of(pod, role) if unreadable(pod, role) is None else ()
        preferences = [
            (PodsTargeted(frozenset((target_of(pod, term),)), every=True), term.topology_key, weight)
            for term, weight in terms
        ]
        pod.notes[_PREFERENCES[role]] = preferences
    return preferences


# --- selectors that cannot be read --------------------------------------------------------------------------


def own_error(pod: Template) -> str | None:
    """The error of an invalid selector among the preferences of *pod*."""
    return unreadable(pod, PREFERRED_AFFINITY) or unreadable(pod, PREFERRED_ANTI_AFFINITY)


def existing_error(table: NodeTable, roles: tuple[str, ...]) -> str | None:
    """The error of the first invalid selector among the terms of *roles* of pods on existing nodes."""
    for row in _carrying_rows(table, Unreadable(roles)):
        texts = (unreadable(entry.template, role) for entry in table.pods[row] for role in roles)
        return next(text for text in texts if text is not None)
    return None


def _carrying_rows(table: NodeTable, query: Query) -> list[int]:
    """The rows of existing nodes with pods that *query* counts."""
    counter = table.census.counter(query)
    if not counter.total:
        return []
    return [
        row
        for row in np.flatnonzero(counter.rows).tolist()
        if table.has_node[row] and row not in table.deleted_rows
    ]
