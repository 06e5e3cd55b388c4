"""The counts of a pod's peers in each topology domain, for hard and for soft constraints.

Upstream: pkg/scheduler/framework/plugins/podtopologyspread/filtering.go preFilterState, scoring.go preScoreState.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import attrs
import numpy as np

from ...core.arrays.arithmetic import rounded, tabulated
from ...core.arrays.batch import Batch
from ...core.arrays.census import PodCount, PodsMatching
from ...core.arrays.columns import ColumnView
from ...core.arrays.table import NodeTable
from ...core.arrays.types import Floats, Ints, Mask, Scores, ValueCodes
from ...core.failures import Reasons
from ...core.matching.spread import DomainCounting, DomainIndex, Domains, has_key, with_all_keys
from ...core.pods.template import Template
from ...core.rule import DomainRejection
from .spreadconstraints import HOSTNAME, Constraint, Constraints, allows, pods_on

Judge = Callable[[Reasons, Reasons], list[DomainRejection]]
"""What is against the domains of a topology key, with the reasons for nodes that lack it and for domains that are too full."""

# --- hard constraints -----------------------------------------------------------------------------------------------


@attrs.frozen(eq=False)
class HardConstraint:
    """One hard constraint of a pod on a table of nodes."""

    constraint: Constraint
    sharing: Constraints
    """Those whose counts are added up, itself among them."""
    index: DomainIndex
    """The domains of the nodes that count."""
    query: PodsMatching | None
    """The peers; None: none."""
    most: int
    """So far may the count of a node's domain be above the smallest one."""
    is_everywhere: bool
    """Every row has the topology key."""


def hard_constraints(pod: Template, constraints: Constraints, table: NodeTable, *, apart: bool) -> Sequence[HardConstraint]:
    """*constraints* of *pod* with all that does not depend on pods that are there; *apart*: those of one key do not share counts."""

    def make() -> Sequence[HardConstraint]:
        return [
            HardConstraint(
                constraint, (constraint,) if apart else _of_key(constraint.topology_key, constraints),
                _hard_index(pod, constraints, at, table, apart=apart), constraint.peers.counted(pod.namespace),
                constraint.max_skew - int(constraint.peers.matches(pod.labels)), has_key(constraint.topology_key, table),
            )
            for at, constraint in enumerate(constraints)
        ]  # fmt: skip

    found: Sequence[HardConstraint] = table.node_derived(("hard constraints", pod, constraints), make)
    return found


def domains_shared(hard: Sequence[HardConstraint], table: NodeTable) -> dict[Constraints, Domains]:
    """The constraints that share counts -> their domains in the whole cluster."""
    found: dict[Constraints, Domains] = {}
    for each in hard:
        domains = Domains(each.index.count(each.query, each.constraint.topology_key, table), each.index.known, each.index.values)
        is_more = len(each.sharing) > 1 and each.sharing in found
        found[each.sharing] = _together(found[each.sharing], domains) if is_more else domains
    return found


def _together(one: Domains, other: Domains) -> Domains:
    known = one.known | other.known
    return Domains(one.counts + other.counts, known, np.flatnonzero(known))


def _hard_index(pod: Template, constraints: Constraints, at: int, table: NodeTable, *, apart: bool) -> DomainIndex:
    """The domains of the nodes that constraint number *at* counts."""

    def make() -> DomainIndex:
        nodes = Batch.everywhere(table)
        mask = with_all_keys(constraints, nodes) & constraints[at].counts_on(pod, nodes)
        for later in () if apart else _of_key(constraints[at].topology_key, constraints[at + 1 :]):
            # Upstream: of two constraints with the same key, the count of the later one for a node replaces the earlier one's.
            mask &= ~later.counts_on(pod, nodes)
        label = nodes.label(constraints[at].topology_key)
        return DomainIndex.of(label.codes, len(label.values), mask)

    found: DomainIndex = table.node_derived(("hard domains", constraints, at, *allows(pod)), make)
    return found


def _of_key(key: str, constraints: Constraints) -> Constraints:
    return tuple(constraint for constraint in constraints if constraint.topology_key == key)


@attrs.frozen(eq=False)
class Skews:
    """How far the domain of each node of a batch is above the smallest count, with the edits of the batch."""

    pod: Template
    constraints: Constraints
    nodes: Batch
    domains: dict[Constraints, Domains]
    """As :func:`domains_shared` has them."""
    zeroes_minimum: bool
    """With fewer domains than minDomains the smallest count is 0."""

    def by_value(self, hard: HardConstraint) -> Mask:
        """The values of the topology key whose count, without edits, is too far above the smallest: bool[values]."""
        domains = self.domains[hard.sharing]
        return domains.counts > hard.most + (0 if self._is_zero(hard, domains) else domains.least)

    def exceeding(self, hard: HardConstraint) -> Mask | None:
        """Where the count of the node's domain is too far above the smallest: bool[n]; None: nowhere."""
        domains, codes = self.domains[hard.sharing], self.nodes.label(hard.constraint.topology_key).codes
        if not self.nodes.edits:
            by_value = self.by_value(hard)
            return by_value.take(codes) if by_value.any() else None
        counts = domains.counts[codes] + self._edited(hard)
        return counts - (0 if self._is_zero(hard, domains) else domains.least_if(codes, counts, domains.known[codes])) > hard.most

    def _is_zero(self, hard: HardConstraint, domains: Domains) -> bool:
        return self.zeroes_minimum and domains.number < hard.constraint.min_domains

    def _edited(self, hard: HardConstraint) -> Ints:
        found = np.zeros(self.nodes.n, np.int64)
        complete = with_all_keys(self.constraints, self.nodes)
        for constraint in hard.sharing:
            query = constraint.peers.followed(self.pod.namespace)
            if query is not None:
                found += self.nodes.delta(query) * (complete & constraint.counts_on(self.pod, self.nodes))
        return found


def judged_by_value(hard: HardConstraint, table: NodeTable, zeroes_minimum: bool) -> Judge:
    """Computes which domains *hard* turns down, where no other constraint shares its counts; *zeroes_minimum*: as in :class:`Skews`."""
    key, index = hard.constraint.topology_key, hard.index
    compute = DomainCounting(index, key, [hard.query]).counter_of(table)
    missing = (True, *[False] * (len(index.known) - 1))
    is_zero = zeroes_minimum and len(index.values) < hard.constraint.min_domains

    def judge(lacking: Reasons, uneven: Reasons) -> list[DomainRejection]:
        counts = compute()
        exceeding = counts_above(counts, hard.most) if is_zero else index.exceeding(counts, hard.most)
        found: list[DomainRejection] = [] if hard.is_everywhere else [(key, missing, lacking)]
        return [*found, (key, exceeding, uneven)]

    return judge


def counts_above(counts: Ints | tuple[int, ...], most: int) -> Mask | tuple[bool, ...]:
    """Where *counts* are more than *most*: a tuple if given one."""
    return tuple([count > most for count in counts]) if isinstance(counts, tuple) else np.greater(counts, most)


# --- soft constraints -----------------------------------------------------------------------------------------------


@attrs.frozen(eq=False)
class SoftCounts:
    """What scores depend on besides the node: the counts of domains, and a weight for each constraint.

    ``weights``: the more domains the feasible nodes have, the more a pod in one of them weighs. ``counts``: for each constraint
    int64[values], or None for one on hosts.
    """

    pod: Template
    constraints: Constraints
    requires_all: bool
    """Nodes that lack a topology key are ignored: their pods do not count, and they score 0."""
    weights: tuple[float, ...]
    counts: tuple[Ints | None, ...]
    judges_all: bool
    """No node of the table is ignored."""
    apart: bool
    """Constraints of one key do not share counts, and the domains of each are counted for its weight."""

    @classmethod
    def of(cls, pod: Template, constraints: Constraints, feasible: Batch, *, requires_all: bool, apart: bool) -> SoftCounts:
        """The counts and weights for scoring the *feasible* nodes."""
        return soft_counts(pod, constraints, feasible.table, requires_all=requires_all, apart=apart).weighed(feasible)

    def weighed(self, feasible: Batch) -> SoftCounts:
        """The same counts, with the weights for these *feasible* nodes."""
        judged = feasible if self.judges_all else feasible.some(np.flatnonzero(self.judged(feasible)))
        return attrs.evolve(self, weights=tuple(math.log(size + 2) for size in _sizes(self.constraints, judged, apart=self.apart)))

    @property
    def is_of_hosts(self) -> bool:
        """Whether there is one constraint, on hosts, and no node is ignored: then a score follows from the few peers on the node."""
        return self.judges_all and self.requires_all and [c.topology_key for c in self.constraints] == [HOSTNAME]

    def on_hosts(self, table: NodeTable) -> list[PodCount]:
        """The counters of the peers on each node, where all constraints are on hosts."""
        queries = [constraint.peers.counted(self.pod.namespace, apart=HOSTNAME) for constraint in self.constraints]
        return [table.census.counter(query) for query in queries if query is not None]

    def peers(self, nodes: Batch) -> Ints:
        """For each node the peers that all constraints count, added up: int64[n], not to be written to."""
        found = self._peers(0, nodes)
        for at in range(1, len(self.constraints)):
            found = found + self._peers(at, nodes)
        return found

    def judged(self, nodes: Batch) -> Mask:
        """The nodes that are not ignored: bool[n]."""
        return with_all_keys(self.constraints, nodes) if self.requires_all else np.ones(nodes.n, np.bool_)

    def raw(self, nodes: Batch) -> Scores:
        """The weighted count of peers in each node's domains: int64[n], 0 for ignored nodes."""
        judges_all = self.judges_all
        if self.requires_all and len(self.constraints) == 1:
            scores = tabulated(lambda counts: rounded(self._crowded(0, counts)), self._peers(0, nodes))
            return scores if judges_all else scores * self.judged(nodes)
        total = np.zeros(nodes.n, np.float64)
        for at, constraint in enumerate(self.constraints):
            crowded = self._crowded(at, self._peers(at, nodes))
            total += crowded if judges_all and self.requires_all else crowded * nodes.label(constraint.topology_key).present
        return rounded(total) if judges_all else rounded(total) * self.judged(nodes)

    def _crowded(self, at: int, counts: Ints) -> Floats:
        """The raw score of constraint number *at* for these *counts* of peers."""
        return weighted(counts, self.weights[at], self.constraints[at].max_skew)

    def _peers(self, at: int, nodes: Batch) -> Ints:
        """Those of constraint number *at*."""
        constraint, counts = self.constraints[at], self.counts[at]
        if counts is None:
            # Upstream: counted on the node itself, even if its pods do not count otherwise.
            return pods_on(constraint, self.pod.namespace, nodes)
        return counts[_values(nodes.label(constraint.topology_key))]


def soft_counts(pod: Template, constraints: Constraints, table: NodeTable, *, requires_all: bool, apart: bool) -> SoftCounts:
    """The counts of soft *constraints* of *pod*, without weights."""

    def make() -> SoftCounts:
        judges_all = not requires_all or all(has_key(constraint.topology_key, table) for constraint in constraints)
        return SoftCounts(pod, constraints, requires_all, (), (None,) * len(constraints), judges_all, apart)

    found: SoftCounts = table.node_derived(("soft counts", pod, constraints, requires_all), make)
    counts = _counts(pod, constraints, table, requires_all=requires_all, apart=apart)
    # Hosts are counted node by node: then there is nothing in it that changes with pods.
    return found if counts is None else attrs.evolve(found, counts=counts)


def weighted(counts: Ints, weight: float, max_skew: int) -> Floats:
    """The raw scores of one constraint for these *counts* of peers: float64[n]."""
    return np.asarray(counts * weight + float(max_skew - 1), np.float64)


def _sizes(constraints: Constraints, judged: Batch, *, apart: bool) -> list[int]:
    """The number of domains of the nodes, for each constraint."""
    found: set[str] = set()
    sizes = []
    for key in (constraint.topology_key for constraint in constraints):
        if key == HOSTNAME:
            sizes.append(judged.n)
        else:
            # Upstream: where constraints share counts, a domain is counted for the first one with its key only.
            sizes.append(0 if key in found and not apart else _number_of_values(_values(judged.label(key))))
            found.add(key)
    return sizes


def _number_of_values(codes: ValueCodes) -> int:
    return int(np.count_nonzero(np.bincount(codes))) if len(codes) else 0


def _values(label: ColumnView[str | None]) -> ValueCodes:
    """The codes of a label's values."""
    # Upstream: nodes without the label are in one domain with those whose label is empty.
    empty = label.column.known("")
    return label.codes if empty < 0 else np.where(label.codes == empty, 0, label.codes)


def _counts(
    pod: Template, constraints: Constraints, table: NodeTable, *, requires_all: bool, apart: bool
) -> tuple[Ints | None, ...] | None:
    """The number of peers in each domain: int64[values] for each constraint, None for one on hosts; None where all are."""
    keys = [constraint.topology_key for constraint in constraints]
    if all(key == HOSTNAME for key in keys):
        return None
    required = constraints if requires_all else ()
    counts = [None if key == HOSTNAME else _count(pod, each, required, table) for key, each in zip(keys, constraints, strict=True)]
    if apart or len(set(keys)) == len(keys):
        return tuple(counts)
    sums: dict[str, Ints] = {}
    for key, each in zip(keys, counts, strict=True):
        if each is not None:
            sums[key] = sums[key] + each if key in sums else each
    return tuple(sums.get(key) for key in keys)


def _count(pod: Template, constraint: Constraint, required: Constraints, table: NodeTable) -> Ints:

    def make() -> DomainIndex:
        nodes = Batch.everywhere(table)
        label = nodes.label(constraint.topology_key)
        return DomainIndex.of(_values(label), len(label.values), with_all_keys(required, nodes) & constraint.counts_on(pod, nodes))

    index: DomainIndex = table.node_derived(("soft domains", constraint, required, *allows(pod)), make)
    return index.count(constraint.peers.counted(pod.namespace), constraint.topology_key, table)
