"""How many pods are in each topology domain, for the spread constraints of a pod.

A domain is a pair of a topology key and a node's value for it. Constraints of one key share their domains, so their counts are added up, as
upstream does.
Upstream: pkg/scheduler/algorithm/predicates/metadata.go getExistingPodSpreadCache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Protocol

import attrs
import numpy as np

from ...api.meaning.labels import SelectorError, compile_selector
from ...api.objects import LabelSelector, TopologySpreadConstraint
from ..arrays.batch import Batch
from ..arrays.census import PodsMatching, Query
from ..arrays.table import NodeTable
from ..arrays.types import Ints, Mask, Rows, ValueCodes
from ..pods.notes import StateKey
from ..pods.template import Template
from .nodeselectors import pod_node_affinity_mask, required_node_affinity

Constraints = tuple[TopologySpreadConstraint, ...]
Namespaces = frozenset[str] | None
NO_MINIMUM = 2**31 - 1
"""The smallest count of a topology key without domains."""
FEW = 16
"""Domains that are looked at one by one."""
_CONSTRAINTS: Mapping[str, StateKey[Constraints]] = {when: StateKey(when) for when in ("DoNotSchedule", "ScheduleAnyway")}


def hard_constraints(pod: Template) -> Constraints:
    """The constraints of *pod* that a node must keep."""
    return _constraints(pod, "DoNotSchedule")


def soft_constraints(pod: Template) -> Constraints:
    """The constraints of *pod* that a node should keep."""
    return _constraints(pod, "ScheduleAnyway")


def _constraints(pod: Template, when_unsatisfiable: str) -> Constraints:
    slot = _CONSTRAINTS[when_unsatisfiable]
    found = pod.notes.get(slot)
    if found is None:
        found = tuple(c for c in pod.spec.topology_spread_constraints if c.when_unsatisfiable == when_unsatisfiable)
        pod.notes[slot] = found
    return found


@lru_cache(1 << 12)
def is_readable(constraints: Constraints) -> bool:
    """Whether no constraint has an invalid selector."""
    return all(selector_error(constraint.label_selector) is None for constraint in constraints)


def selector_error(selector: LabelSelector | None) -> str | None:
    """The error of an invalid *selector*, None for a valid one."""
    try:
        compile_selector(selector)
    except SelectorError as error:
        return str(error)
    return None


@lru_cache(1 << 12)
def counted_by(constraint: TopologySpreadConstraint, namespaces: Namespaces) -> PodsMatching | None:
    """Which pods of *namespaces* (None: of any) a constraint counts; None where its selector is absent or invalid."""
    selector = constraint.label_selector
    if selector is None or selector_error(selector) is not None:
        return None
    matches = compile_selector(selector)
    return PodsMatching(namespaces, selector, lambda group: matches(group.labels), selector.match_labels.items())


class Keyed(Protocol):
    """Anything with a topology key."""

    @property
    def topology_key(self) -> str: ...


def with_all_keys(constraints: Iterable[Keyed], nodes: Batch) -> Mask:
    """The nodes that have the topology key of every constraint: bool[n]."""
    keys = frozenset(constraint.topology_key for constraint in constraints)
    if nodes.is_described:
        return _with_keys(keys, nodes)
    found: Mask = nodes.table.node_derived(("all keys", keys), lambda: _with_keys(keys, Batch.everywhere(nodes.table)))
    return found if nodes.rows is None else found[nodes.rows]


def has_key(key: str, table: NodeTable) -> bool:
    """Whether every row of *table* has the label *key*."""
    found: bool = table.node_derived(("has key", key), lambda: bool(Batch.everywhere(table).label(key).present.all()))
    return found


def _with_keys(keys: Iterable[str], nodes: Batch) -> Mask:
    mask = np.ones(nodes.n, np.bool_)
    for key in keys:
        mask &= nodes.label(key).present
    return mask


def eligible(pod: Template, constraints: Constraints, table: NodeTable) -> Mask:
    """The rows whose values make domains: *pod*'s node selector and affinity allow them, and they have every topology key: bool[rows]."""
    nodes = Batch.everywhere(table)
    return nodes.has_node & with_all_keys(constraints, nodes) & pod_node_affinity_mask(pod, nodes)


@attrs.frozen(eq=False, repr=False)
class DomainIndex:
    """The domains that some rows make by their values of one label, without any counts of pods.

    ``rows``: intp[k], the rows; ``codes``: intp[k], their values; ``known``: bool[values], the values that make a domain.
    """

    rows: Rows
    codes: ValueCodes
    known: Mask
    values: ValueCodes
    """intp: the codes of the known values."""
    is_whole: bool
    """``rows`` are exactly the rows that have the label."""
    lacks_keys: bool = False
    """Some row of the table lacks a topology key."""
    few: Sequence[int] = attrs.field(init=False)
    """``values`` where they are few."""

    @few.default
    def _few(self) -> Sequence[int]:
        return self.values.tolist() if len(self.values) <= FEW else ()

    @classmethod
    def of(cls, codes: ValueCodes, size: int, mask: Mask, *, lacks_keys: bool = False) -> DomainIndex:
        """The domains of the rows of *mask*: bool[rows] of the whole table. *codes*: intp[rows], the value of each row, one of *size*."""
        rows = np.flatnonzero(mask)
        mine = codes[rows]
        known = np.bincount(mine, minlength=size) > 0
        return cls(rows, mine, known, np.flatnonzero(known), bool((mask == (codes != 0)).all()), lacks_keys)

    def count(self, query: Query | None, key: str, table: NodeTable) -> Ints:
        """The pods that *query* counts (None: none) in each domain by label *key*: int64[values]."""
        if query is None:
            return np.zeros(len(self.known), np.int64)
        counter = table.census.counter(query)
        whole = counter.domains(key, table.labels)  # asked for in any case: a pod that comes concerns the rows of its domain
        if self.is_whole:
            return whole[: len(self.known)]
        return self.share(Batch.everywhere(table).base_counting(query))

    def exceeding(self, counts: Ints | tuple[int, ...], most: int) -> Mask | tuple[bool, ...]:
        """The values that rows lack, or whose count of *counts* is more than *most* above the smallest, by code; a tuple if given one."""
        if isinstance(counts, tuple):
            limit = most + min([counts[code] for code in self.few], default=NO_MINIMUM)
            return self.lacks_keys, *[count > limit for count in counts[1:]]
        found: Mask = counts > counts.take(self.values).min(initial=NO_MINIMUM) + most
        found[0] = self.lacks_keys
        return found

    def share(self, pods: Ints) -> Ints:
        """The sum of *pods*: int64[rows] over each domain: int64[values]."""
        return np.bincount(self.codes, pods[self.rows], len(self.known)).astype(np.int64)


@attrs.frozen(eq=False, repr=False)
class Domains:
    """The domains of one topology key, by code of the key's label column.

    ``counts``: int64[values], 0 where the value makes no domain; ``known``: bool[values], the values that do; ``values``: their codes.
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
        others = self.known.copy()
        others[max(self.least_code, 0)] = False
        return int(self.counts[others].min(initial=NO_MINIMUM))

    @property
    def number(self) -> int:
        """How many domains there are."""
        return len(self.values)

    def least_if(self, codes: ValueCodes, counts: Ints, known: Mask) -> Ints:
        """The smallest count, for each node of a trial whose own domain of *codes* has *counts* if it is *known*: int64[n]."""
        others = np.where(codes == self.least_code, self.second, self.least)
        return np.where(known, np.minimum(counts, others), others)


@attrs.frozen(eq=False, repr=False)
class DomainCounting:
    """What counts the pods in the domains of one topology key, again and again while no node object changes."""

    index: DomainIndex
    key: str
    queries: Sequence[Query | None]
    """One for each constraint of the key."""

    def counts(self, table: NodeTable) -> Ints:
        """The pods in each domain: int64[values]. Not to be changed."""
        found = self.index.count(self.queries[0], self.key, table)
        for query in self.queries[1:]:
            found = found + self.index.count(query, self.key, table)
        return found

    def counter_of(self, table: NodeTable) -> Callable[[], Ints | tuple[int, ...]]:
        """A function that gives the same, in a tuple where values are few."""
        size, queries = len(self.index.known), [query for query in self.queries if query is not None]
        if not self.index.is_whole or len(queries) != 1 or size > FEW or self.key not in table.labels:
            return lambda: self.few_or_all(table)
        counter, column = table.census.counter(queries[0]), table.labels[self.key]
        return lambda: tuple(counter.by(self.key, column)[:size].tolist())

    def few_or_all(self, table: NodeTable) -> Ints | tuple[int, ...]:
        """The same, in a tuple where values are few."""
        counts = self.counts(table)
        return tuple(counts.tolist()) if len(counts) <= FEW else counts


def counting_by_key(pod: Template, constraints: Constraints, namespaces: Namespaces, table: NodeTable) -> dict[str, DomainCounting]:
    """What counts the domains of each topology key."""
    queries: dict[str, list[Query | None]] = {}
    for constraint in constraints:
        queries.setdefault(constraint.topology_key, []).append(counted_by(constraint, namespaces))
    indexes = {constraint.topology_key: index for constraint, index in zip(constraints, _indexes(pod, constraints, table), strict=True)}
    return {key: DomainCounting(indexes[key], key, found) for key, found in queries.items()}


def domains_by_key(pod: Template, constraints: Constraints, namespaces: Namespaces, table: NodeTable) -> dict[str, Domains]:
    """The domains of each topology key over the whole cluster, including rows that keep a deleted node."""
    found: dict[str, Domains] = {}
    for constraint, index in zip(constraints, _indexes(pod, constraints, table), strict=True):
        key = constraint.topology_key
        counts = index.count(counted_by(constraint, namespaces), key, table)
        found[key] = Domains(found[key].counts + counts if key in found else counts, index.known, index.values, index.lacks_keys)
    return found


def _indexes(pod: Template, constraints: Constraints, table: NodeTable) -> list[DomainIndex]:
    """The domain index of each constraint."""

    def share() -> list[DomainIndex]:
        asked = ("domain indexes", tuple(c.topology_key for c in constraints), pod.node_selector, required_node_affinity(pod))
        found: list[DomainIndex] = table.node_derived(asked, lambda: _make_indexes(pod, constraints, table))
        return found

    found: list[DomainIndex] = table.node_derived((pod, constraints[0].when_unsatisfiable), share) if constraints else []
    return found


def _make_indexes(pod: Template, constraints: Constraints, table: NodeTable) -> list[DomainIndex]:
    mask, nodes = eligible(pod, constraints, table), Batch.everywhere(table)
    labels = [nodes.label(constraint.topology_key) for constraint in constraints]
    lacks = not with_all_keys(constraints, nodes).all()
    return [DomainIndex.of(label.codes, len(label.values), mask, lacks_keys=lacks) for label in labels]


def without_a_key(pod: Template, constraints: Constraints, nodes: Batch) -> bool:
    """Whether any of *nodes*, or another row of their table, may lack the topology key of a constraint of *pod*."""
    if nodes.is_described or not constraints:
        return nodes.is_described
    asked = pod, constraints[0].when_unsatisfiable, "lacks keys"
    found: bool = nodes.table.node_derived(asked, lambda: any(index.lacks_keys for index in _indexes(pod, constraints, nodes.table)))
    return found


def metadata_fails(pod: Template, table: NodeTable) -> bool:
    """Whether an invalid selector of a hard constraint keeps upstream from its predicate metadata.

    It does if there is a pod to match: one in *pod*'s namespace on an eligible node. Only releases with EvenPodsSpread check this.
    """
    constraints = hard_constraints(pod)
    if is_readable(constraints):
        return False
    all_pods = PodsMatching(frozenset((pod.namespace,)), "all pods", lambda group: True)
    return bool((eligible(pod, constraints, table) & (Batch.everywhere(table).counting(all_pods) > 0)).any())
