"""The number of pods in each topology domain, for the spread constraints of a pod.

A domain is a pair of a topology key and a node's value for it. Constraints of one key share their domains, so
their counts are added up, as upstream does. Upstream: pkg/scheduler/algorithm/predicates/metadata.go
getExistingPodSpreadCache.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from functools import lru_cache
from typing import Any, Protocol

import attrs
import numpy as np

from ...api.meaning import SelectorError, compile_selector, selector_matches
from ...api.objects import NO_STRINGS, LabelSelector, Namespace, TopologySpreadConstraint
from ..arrays import (
    NO_MINIMUM,
    Batch,
    ColumnView,
    CountTerm,
    DomainSum,
    Ints,
    Mask,
    NodeColumn,
    NodeTable,
    PodCount,
    PodsMatching,
    PodsTargeted,
    Query,
    Rows,
    Target,
    Terms,
    ValueCodes,
    Weighted,
    masked,
)
from ..cluster.listings import Listing
from ..cycle import Cycle
from ..pods import StateKey, Template
from .nodeselectors import pod_node_affinity_mask, required_node_affinity

Constraints = tuple[TopologySpreadConstraint, ...]
Namespaces = frozenset[str] | None
_CONSTRAINTS: Mapping[str, StateKey[Constraints]] = {
    when: StateKey(when) for when in ("DoNotSchedule", "ScheduleAnyway")
}


def hard_constraints(pod: Template) -> Constraints:
    """The constraints of *pod* that a node must keep."""
    return _constraints(pod, "DoNotSchedule")


def soft_constraints(pod: Template) -> Constraints:
    """The constraints of *pod* that a node should keep."""
    return _constraints(pod, "ScheduleAnyway")


def _constraints(pod: Template, when_unsatisfiable: str) -> Constraints:
    slot = _CONSTRAINTS[when_unsatisfiable]
    constraints = pod.notes.get(slot)
    if constraints is None:
        constraints = tuple(
            c for c in pod.spec.topology_spread_constraints if c.when_unsatisfiable == when_unsatisfiable
        )
        pod.notes[slot] = constraints
    return constraints


@lru_cache(1 << 12)
def is_readable(constraints: Constraints) -> bool:
    """Whether no constraint has an invalid selector."""
    return all(selector_error(constraint.label_selector) is None for constraint in constraints)


def selector_error(selector: LabelSelector | None, text: Callable[[SelectorError], str] = str) -> str | None:
    """The error of an invalid *selector*, as *text* says it; None for a valid one."""
    try:
        compile_selector(selector)
    except SelectorError as error:
        return text(error)
    return None


@lru_cache(1 << 12)
def counted_by(constraint: TopologySpreadConstraint, namespaces: Namespaces) -> PodsMatching | None:
    """The pods of *namespaces* (None: of any) that a constraint counts; None where its selector is absent or
    invalid."""
    selector = constraint.label_selector
    if selector is None or selector_error(selector) is not None:
        return None
    matches = compile_selector(selector)
    return PodsMatching(
        namespaces, selector, lambda group: matches(group.labels), selector.match_labels.items()
    )


class Keyed(Protocol):
    """Anything with a topology key."""

    @property
    def topology_key(self) -> str: ...


def with_all_keys(constraints: Iterable[Keyed], nodes: Batch) -> Mask:
    """The nodes that have the topology key of every constraint: bool[n]."""
    keys = frozenset(constraint.topology_key for constraint in constraints)
    if nodes.is_described:
        return _with_keys(keys, nodes)
    mask = nodes.table.node_derived(
        ("all keys", keys), lambda: _with_keys(keys, Batch.everywhere(nodes.table))
    )
    return mask if nodes.rows is None else mask[nodes.rows]


def has_key(key: str, table: NodeTable) -> bool:
    """Whether every row of *table* has the label *key*."""
    return table.node_derived(
        ("has key", key), lambda: bool(Batch.everywhere(table).label(key).present.all())
    )


def _with_keys(keys: Iterable[str], nodes: Batch) -> Mask:
    mask = nodes.every()
    for key in keys:
        mask &= nodes.label(key).present
    return mask


def eligible(pod: Template, constraints: Constraints, table: NodeTable) -> Mask:
    """The rows whose values make domains: *pod*'s node selector and affinity allow them, and they have every
    topology key: bool[rows]."""
    nodes = Batch.everywhere(table)
    return nodes.has_node & with_all_keys(constraints, nodes) & pod_node_affinity_mask(pod, nodes)


@attrs.frozen(eq=False, repr=False)
class DomainIndex:
    """The domains that some rows make by their values of one label, without any counts of pods.

    ``known``: bool[values], the values that make a domain; ``values``: intp, their codes.
    """

    slot: Hashable
    """The key under which counters keep their counts in these domains."""
    column: NodeColumn[Any]
    """The label column, with 0 for rows that make no domain."""
    known: Mask
    values: ValueCodes
    absent: Rows
    """The rows that make a domain although they have no value: intp[k]."""
    lacks_keys: bool = False
    """Some row of the table lacks a topology key."""

    @classmethod
    def of(
        cls,
        slot: Hashable,
        label: ColumnView[Any],
        mask: Mask,
        *,
        codes: ValueCodes | None = None,
        lacks_keys: bool = False,
    ) -> DomainIndex:
        """The domains of the rows of *mask*, bool[rows], of the whole table. *codes*: the values to count
        them by, if not their own."""
        codes = label.codes if codes is None else codes
        known = np.bincount(codes[mask], minlength=len(label.values)) > 0
        is_whole = codes is label.codes and (mask | (codes == 0)).all()
        column = label.column if is_whole else masked(label.column, np.where(mask, codes, 0))
        return cls(
            slot, column, known, np.flatnonzero(known), np.flatnonzero(mask & (codes == 0)), lacks_keys
        )

    def counted(self, query: Query, key: str, table: NodeTable) -> CountTerm:
        """The pods of *query* in these domains, which are by label *key*, without those of ``absent``
        rows."""
        return CountTerm(
            table.census.counter(query),
            1,
            key if self.column is table.labels.get(key) else self.slot,
            self.column,
        )

    def count(self, query: Query | None, key: str, table: NodeTable) -> Ints:
        """The pods that *query* counts (None: none) in each domain by label *key*: int64[values]."""
        if query is None:
            return np.zeros(len(self.known), np.int64)
        counts = self.counted(query, key, table).by_code()
        if not len(self.absent):
            return counts
        counts = counts.copy()
        counts[0] = Batch.everywhere(table).base_counting(query)[self.absent].sum()
        return counts


@attrs.frozen(eq=False, repr=False)
class Domains:
    """The domains of one topology key, by code of the key's label column.

    ``counts``: int64[values], 0 where the value makes no domain; ``known``: bool[values], the values that do;
    ``values``: their codes.
    """

    counts: Ints
    known: Mask
    values: ValueCodes
    lacks_keys: bool = False
    """Some row of the table lacks a topology key."""

    @property
    def least(self) -> int:
        """The smallest count of a domain."""
        return int(self.counts.take(self.values).min()) if len(self.values) else NO_MINIMUM

    @property
    def least_code(self) -> int:
        """A domain with the smallest count, -1 where there is no domain."""
        return int(self.values[self.counts.take(self.values).argmin()]) if len(self.values) else -1

    @property
    def second(self) -> int:
        """The smallest count of all domains except ``least_code``."""
        other_domains = self.known.copy()
        other_domains[max(self.least_code, 0)] = False
        return int(self.counts[other_domains].min(initial=NO_MINIMUM))

    @property
    def number(self) -> int:
        """The number of domains."""
        return len(self.values)

    def least_if(self, codes: ValueCodes, counts: Ints, known: Mask) -> Ints:
        """The smallest count, for each node of a trial whose own domain of *codes* has *counts* if it is
        *known*: int64[n]."""
        other_least = np.where(codes == self.least_code, self.second, self.least)
        return np.where(known, np.minimum(counts, other_least), other_least)


def sums_by_key(
    pod: Template, constraints: Constraints, namespaces: Namespaces, table: NodeTable
) -> dict[str, DomainSum]:
    """The counts of pods in the domains of each topology key that some row has."""
    counts: dict[str, list[CountTerm]] = {}
    for constraint, index in zip(constraints, indexes(pod, constraints, table), strict=True):
        key = constraint.topology_key
        query = counted_by(constraint, namespaces)
        if key in table.labels:
            terms = counts.setdefault(key, [])
            if query is not None:
                terms.append(index.counted(query, key, table))
    return {key: DomainSum(key, table.labels[key], terms) for key, terms in counts.items()}


def domains_by_key(
    pod: Template, constraints: Constraints, namespaces: Namespaces, table: NodeTable
) -> dict[str, Domains]:
    """The domains of each topology key over the whole cluster, including rows that keep a deleted node."""
    domains: dict[str, Domains] = {}
    for constraint, index in zip(constraints, indexes(pod, constraints, table), strict=True):
        key = constraint.topology_key
        counts = index.count(counted_by(constraint, namespaces), key, table)
        domains[key] = Domains(
            domains[key].counts + counts if key in domains else counts,
            index.known,
            index.values,
            index.lacks_keys,
        )
    return domains


def indexes(pod: Template, constraints: Constraints, table: NodeTable) -> list[DomainIndex]:
    """The domain index of each constraint."""

    def share() -> list[DomainIndex]:
        keys = tuple(constraint.topology_key for constraint in constraints)
        slot_key = pod.node_selector, required_node_affinity(pod), keys
        return table.node_derived(
            ("domain indexes", *slot_key), lambda: _make_indexes(pod, constraints, table, slot_key)
        )

    return table.node_derived((pod, constraints[0].when_unsatisfiable), share) if constraints else []


def _make_indexes(
    pod: Template, constraints: Constraints, table: NodeTable, slot_key: tuple[Hashable, ...]
) -> list[DomainIndex]:
    mask = eligible(pod, constraints, table)
    nodes = Batch.everywhere(table)
    lacks_keys = not with_all_keys(constraints, nodes).all()
    keys = [constraint.topology_key for constraint in constraints]
    return [DomainIndex.of((key, *slot_key), nodes.label(key), mask, lacks_keys=lacks_keys) for key in keys]


def without_a_key(pod: Template, constraints: Constraints, nodes: Batch) -> bool:
    """Whether any of *nodes*, or another row of their table, may lack the topology key of a constraint of
    *pod*."""
    if nodes.is_described or not constraints:
        return nodes.is_described
    slot = pod, constraints[0].when_unsatisfiable, "lacks keys"
    return nodes.table.node_derived(
        slot, lambda: any(index.lacks_keys for index in indexes(pod, constraints, nodes.table))
    )


def metadata_fails(pod: Template, table: NodeTable) -> bool:
    """Whether an invalid selector of a hard constraint keeps upstream from its predicate metadata.

    It does if there is a pod to match: one in *pod*'s namespace on an eligible node. Only releases with
    EvenPodsSpread check this.
    """
    constraints = hard_constraints(pod)
    if is_readable(constraints):
        return False
    all_pods = PodsMatching(frozenset((pod.namespace,)), "all pods", lambda group: True)
    return bool((eligible(pod, constraints, table) & (Batch.everywhere(table).counting(all_pods) > 0)).any())


# --- domains ------------------------------------------------------------------------------------------------

# Sums over topology domains: a node gets the sum of the pods in its domains. A term counts pods by the value
# of one label key. Sums are made over the distinct values of a key, which are few, and then looked up for
# each node.


EVERYWHERE = LabelSelector()
"""The empty selector, which selects all namespaces."""


def labels_of(namespace: str, namespaces: Listing[Namespace]) -> Mapping[str, str]:
    """The labels of *namespace*."""
    known_namespace = namespaces.get(namespace)
    return NO_STRINGS if known_namespace is None else known_namespace.labels


def terms_about(pod: Template, role: str, cycle: Cycle) -> Terms:
    """The terms of *role*, of present or earlier pods, that match *pod*: each once, with the counter of its
    carriers."""
    census = cycle.table.census
    terms = census.terms_about(pod, role) if census.terms[role].size else ()
    if not terms or not pod.selects_namespaces or not any(carrier.target.by_labels for carrier, _ in terms):
        return terms
    labels = labels_of(pod.namespace, cycle.listings.namespaces)
    return [
        (carrier, counter)
        for carrier, counter in terms
        if (
            pod.namespace in carrier.target.namespaces
            or selector_matches(carrier.target.namespace_selector, labels)
        )
    ]


def by_name(targeted: PodsTargeted, cycle: Cycle) -> PodsTargeted:
    """*targeted*, of the incoming pod, with the names of namespaces in place of selectors for them."""
    if not any(target.by_labels for target in targeted.targets):
        return targeted
    return attrs.evolve(targeted, targets=frozenset(_by_name(target, cycle) for target in targeted.targets))


def _by_name(target: Target, cycle: Cycle) -> Target:
    if not target.by_labels:
        return target
    selector = target.namespace_selector
    selected = (item.name for item in cycle.listings.namespaces if selector_matches(selector, item.labels))
    # Upstream: a selector that is kept is matched again for every pod, with the labels of no namespace.
    is_kept = cycle.release.framework.keeps_namespace_selectors and selector_matches(selector, NO_STRINGS)
    return attrs.evolve(
        target,
        namespaces=target.namespaces.union(selected),
        namespace_selector=EVERYWHERE if is_kept else None,
    )


def has_pods_in_domains(terms: Iterable[Weighted], table: NodeTable) -> bool:
    """Whether any pod of the *terms*, whatever its weight, is on a row of *table* that has the topology
    key."""
    labels = table.labels
    return any(
        counter.total and key in labels and counter.domains(key, labels).any() for counter, key, _ in terms
    )


def pods_with_any_key(nodes: Batch, counter: PodCount, keys: Collection[str]) -> int:
    """The number of pods of *counter* on rows with any of the label *keys*, over the whole table."""
    if not counter.total:
        return 0
    if len(keys) == 1:
        return int(sum(counter.domains(key, nodes.table.labels).sum() for key in keys))
    everywhere = Batch.everywhere(nodes.table)
    present = everywhere.none()
    for key in keys:
        present |= everywhere.label(key).present
    size = min(len(counter.rows), everywhere.n)
    return int(counter.rows[:size][present[:size]].sum())
