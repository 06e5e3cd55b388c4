"""The topology spread constraints of a pod, and the counts of its peers in each topology domain. The
constraints are its own, or the profile's with a selector from the pod's services and controller; hard and
soft ones count differently.

Upstream: pkg/scheduler/framework/plugins/podtopologyspread/common.go, filtering.go preFilterState, scoring.go
preScoreState; pkg/scheduler/framework/plugins/helper/spread.go DefaultSelector.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import lru_cache

import attrs
import msgspec
import numpy as np

from ...api.meaning import (
    TOPOLOGY_ZONE,
    compile_selector,
    everything,
    first_untolerated,
    pairs_match,
    set_selector,
)
from ...api.objects import NO_STRINGS, LabelSelector, Map, TopologySpreadConstraint
from ...core.cluster.listings import Listings
from ...core.matching import (
    DomainIndex,
    Domains,
    Remembered,
    controllers_of,
    has_key,
    literal_node_affinity_mask,
    pod_node_affinity_mask,
    remembered,
    replica_sets_of,
    required_node_affinity,
    services_of,
    stateful_sets_of,
    with_all_keys,
)
from ...core.release import FrameworkCells
from ..config.fielderrors import label_selector_fault
from ..plugin import (
    FEW,
    MAX_NODE_SCORE,
    NO_MINIMUM,
    Batch,
    Clause,
    ColumnView,
    DomainSum,
    Floats,
    Group,
    Ints,
    Mask,
    NodeTable,
    PodsMatching,
    RawScores,
    Reasons,
    Scores,
    StateKey,
    Template,
    ValueCodes,
    few_or_all,
    rounded,
    tabulated,
    whole,
)

HARD = "DoNotSchedule"
SOFT = "ScheduleAnyway"
HOSTNAME = "kubernetes.io/hostname"
SYSTEM_DEFAULTS = (
    TopologySpreadConstraint(topology_key=HOSTNAME, when_unsatisfiable=SOFT, max_skew=3),
    TopologySpreadConstraint(topology_key=TOPOLOGY_ZONE, when_unsatisfiable=SOFT, max_skew=5),
)
"""The constraints of pods without their own, in a profile with ``defaultingType: System``."""


@attrs.frozen(cache_hash=True)
class Peers:
    """The pods that a constraint counts: *selector* matches them (None: no pod) and they have all label
    *pairs*."""

    selector: LabelSelector | None
    pairs: Map[str] = NO_STRINGS
    counts_everybody: bool = False
    """Whether every pod counts if nothing is required; else none does."""

    def matches(self, labels: Mapping[str, str]) -> bool:
        return compile_selector(self.selector)(labels) and pairs_match(self.pairs, labels)

    @property
    def is_everybody(self) -> bool:
        """Whether every pod matches, because nothing is required."""
        return not self.pairs and self.selector is not None and self.selector.is_empty

    def counted(self, namespace: str | None, *, terminating: bool = False) -> PodsMatching | None:
        """The query for peers in *namespace* (None: in any) that are on nodes, and not being deleted unless
        *terminating* ones count; None: it counts no pod."""
        # Upstream: an empty selector counts no pod, although it matches the pod itself and, in trials, every
        # other pod.
        if self.is_everybody and not self.counts_everybody:
            return None
        return _query(self, namespace, terminating=terminating)

    def followed(self, namespace: str) -> PodsMatching | None:
        """The query for peers in *namespace* that are added or removed in a trial."""
        # Upstream: here pods that are being deleted count, so removing one may lower a count that never
        # included it.
        return _query(self, namespace, terminating=True)


@lru_cache(1 << 12)
def _query(peers: Peers, namespace: str | None, *, terminating: bool) -> PodsMatching | None:
    if peers.selector is None:
        return None

    def matches(group: Group) -> bool:
        return (terminating or not group.terminating) and peers.matches(group.labels)

    return PodsMatching(
        None if namespace is None else frozenset((namespace,)),
        (peers, terminating),
        matches,
        (*peers.selector.match_labels.items(), *peers.pairs.items()),
    )


@attrs.frozen(cache_hash=True)
class Constraint:
    """One constraint, with defaults applied."""

    topology_key: str
    max_skew: int
    peers: Peers
    min_domains: int = 1
    """The number of domains below which the smallest count is 0."""
    honors_affinity: bool = True
    """Whether only nodes count that the pod's node selector and node affinity match."""
    honors_taints: bool = False
    """Whether only nodes count whose taints the pod tolerates."""

    counts_terminating: bool = False
    """Whether peers that are being deleted count."""
    any_namespace: bool = False
    """Whether peers of every namespace count."""
    checks_pairs: bool = False
    """Whether an invalid label in the pod's node selector makes it match every node."""

    def counted(self, namespace: str) -> PodsMatching | None:
        """The query for the peers of pods in *namespace*; None: it counts no pod."""
        within = None if self.any_namespace else namespace
        return self.peers.counted(within, terminating=self.counts_terminating)

    def counts_on(self, pod: Template, nodes: Batch) -> Mask:
        """The nodes whose pods count, without a check of topology keys: bool[n]."""
        mask = nodes.has_node
        if self.honors_affinity:
            matching = pod_node_affinity_mask if self.checks_pairs else literal_node_affinity_mask
            mask = mask & matching(pod, nodes)
        if not self.honors_taints:
            return mask
        tolerations = pod.spec.tolerations
        tolerated: Mask = nodes.taints.where(lambda taints: first_untolerated(taints, tolerations) is None)
        return mask & tolerated


def allows(pod: Template) -> tuple[Hashable, ...]:
    """The parts of *pod* that :meth:`Constraint.counts_on` depends on."""
    return pod.node_selector, required_node_affinity(pod), pod.spec.tolerations


Constraints = tuple[Constraint, ...]


_PEERS: StateKey[Remembered[Peers]] = StateKey("deduced peers")


def deduced_peers(pod: Template, listings: Listings, cells: FrameworkCells) -> Peers:
    """The pods that the services and the controllers of *pod* select; every pod if nothing selects *pod*."""
    find = _deduce
    if cells.owners_by_selector:
        find = _deduce_by_checked_selectors if cells.checks_pairs else _deduce_by_selectors
    return remembered(_PEERS, find, pod, listings)


def _service_pairs(pod: Template, listings: Listings) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for service in services_of(pod, listings):
        pairs |= service.selector or {}
    return pairs


def _deduce(pod: Template, listings: Listings) -> Peers:
    pairs = _service_pairs(pod, listings)
    selector = _controller_selector(pod, listings)
    if isinstance(selector, LabelSelector):
        return Peers(selector, Map(pairs))
    return Peers(LabelSelector(), Map(pairs | dict(selector or {})))


def _deduce_by_selectors(pod: Template, listings: Listings) -> Peers:
    pairs = _service_pairs(pod, listings)
    for controller in controllers_of(pod, listings):
        pairs |= controller.selector or {}
    owners = (*replica_sets_of(pod, listings), *stateful_sets_of(pod, listings))
    selectors = [owner.selector for owner in owners if owner.selector is not None]
    # All selectors match the pod, so no two of them require different values.
    selected = {key: value for selector in selectors for key, value in selector.match_labels.items()}
    expressions = tuple(expression for selector in selectors for expression in selector.match_expressions)
    return Peers(LabelSelector(match_labels=Map(selected), match_expressions=expressions), Map(pairs))


def _deduce_by_checked_selectors(pod: Template, listings: Listings) -> Peers:
    peers = _deduce_by_selectors(pod, listings)
    # Upstream: one invalid pair makes all pairs of services and replication controllers match everything.
    if peers.pairs and set_selector(peers.pairs) is everything:
        return attrs.evolve(peers, pairs=NO_STRINGS)
    return peers


def _controller_selector(pod: Template, listings: Listings) -> Map[str] | LabelSelector | None:
    """The selector of the controller that owns *pod*; None for a kind that does not count, or for an invalid
    selector."""
    owner = pod.pod.controller
    if owner is None:
        return None
    key = f"{pod.namespace}/{owner.name}"
    if (owner.api_version, owner.kind) == ("v1", "ReplicationController"):
        controller = listings.controllers.get(key)
        return None if controller is None else controller.selector
    workloads = {"ReplicaSet": listings.replica_sets.get, "StatefulSet": listings.stateful_sets.get}
    if owner.api_version != "apps/v1" or owner.kind not in workloads:
        return None
    workload = workloads[owner.kind](key)
    return None if workload is None or label_selector_fault(workload.selector) else workload.selector


# --- hard constraints ---------------------------------------------------------------------------------------


@attrs.frozen(eq=False)
class HardConstraint:
    """One hard constraint of a pod on a table of nodes."""

    constraint: Constraint
    sharing: Constraints
    """The constraints whose counts are added up, this one included."""
    index: DomainIndex
    """The domains of the nodes that count."""
    query: PodsMatching | None
    """The query for the peers; None: it counts no pod."""
    most: int
    """The most by which the count of a node's domain may exceed the smallest one."""
    is_everywhere: bool
    """Whether every row has the topology key."""


def hard_constraints(
    pod: Template, constraints: Constraints, table: NodeTable, cells: FrameworkCells
) -> Sequence[HardConstraint]:
    """*constraints* of *pod*, with everything that does not depend on existing pods."""

    def make() -> Sequence[HardConstraint]:
        return [
            HardConstraint(
                constraint,
                (constraint,) if cells.counts_apart else _of_key(constraint.topology_key, constraints),
                _hard_index(pod, constraints, at, table, cells),
                constraint.counted(pod.namespace),
                constraint.max_skew - int(constraint.peers.matches(pod.labels)),
                has_key(constraint.topology_key, table),
            )
            for at, constraint in enumerate(constraints)
        ]

    return table.node_derived(("hard constraints", pod, constraints), make)


def domains_shared(hard: Sequence[HardConstraint], table: NodeTable) -> dict[Constraints, Domains]:
    """The constraints that share counts -> their domains in the whole cluster."""
    domains: dict[Constraints, Domains] = {}
    for limit in hard:
        counts = limit.index.count(limit.query, limit.constraint.topology_key, table)
        known = limit.index.known
        values = limit.index.values
        if len(limit.sharing) > 1 and limit.sharing in domains:
            counts = counts + domains[limit.sharing].counts
            known = known | domains[limit.sharing].known
            values = np.flatnonzero(known)
        domains[limit.sharing] = Domains(counts, known, values)
    return domains


def _hard_index(
    pod: Template, constraints: Constraints, at: int, table: NodeTable, cells: FrameworkCells
) -> DomainIndex:
    """The domains of the nodes that constraint number *at* counts."""

    def make() -> DomainIndex:
        nodes = Batch.everywhere(table)
        label = nodes.label(constraints[at].topology_key)
        mask = with_all_keys(constraints, nodes) & constraints[at].counts_on(pod, nodes)
        if cells.counts_whole_domains:
            # Upstream: the nodes that count make the domains, and then pods are counted on all nodes in these
            # domains.
            return DomainIndex.of(slot, label, nodes.has_node & np.isin(label.codes, label.codes[mask]))
        is_sole = cells.counts_apart or cells.adds_up_constraints
        for later in () if is_sole else _of_key(constraints[at].topology_key, constraints[at + 1 :]):
            # Upstream: of two constraints with the same key, the count of the later one for a node replaces
            # the earlier one's.
            mask &= ~later.counts_on(pod, nodes)
        return DomainIndex.of(slot, label, mask)

    slot = "hard domains", constraints, at, cells, *allows(pod)
    return table.node_derived(slot, make)


def _of_key(key: str, constraints: Constraints) -> Constraints:
    return tuple(constraint for constraint in constraints if constraint.topology_key == key)


def exceeding(
    hard: HardConstraint,
    pod: Template,
    constraints: Constraints,
    nodes: Batch,
    domains: Domains,
    cells: FrameworkCells,
    *,
    zeroes_minimum: bool,
) -> Mask | None:
    """The nodes whose domain's count is too far above the smallest, with the edits of the batch: bool[n];
    None: there are none.

    *zeroes_minimum*: with fewer domains than minDomains the smallest count is 0.
    """
    is_zero = zeroes_minimum and domains.number < hard.constraint.min_domains
    codes = nodes.label(hard.constraint.topology_key).codes
    if not nodes.edits:
        by_value = domains.counts > hard.most + (0 if is_zero else domains.least)
        return by_value.take(codes) if by_value.any() else None
    net = nodes.zeros()
    complete = with_all_keys(constraints, nodes)
    for constraint in hard.sharing:
        query = constraint.peers.followed(pod.namespace)
        if query is not None:
            counted = complete
            # Edits on nodes that do not count may change the count of their domain, too.
            if not cells.edits_count_anywhere:
                counted = complete & constraint.counts_on(pod, nodes)
            net += nodes.edited(query).net * counted
    counts = domains.counts[codes] + net
    known = domains.known[codes]
    if cells.edits_make_domains:
        # Upstream: an edit can turn a value into a domain that was none, and its count can be negative.
        known = known | touched(hard.sharing, pod, nodes) & complete
    return counts - (0 if is_zero else domains.least_if(codes, counts, known)) > hard.most


def touched(constraints: Constraints, pod: Template, nodes: Batch) -> Mask:
    """The nodes where an edit adds or removes a peer: bool[n]."""
    is_touched = nodes.none()
    for constraint in constraints:
        query = constraint.peers.followed(pod.namespace)
        if query is not None:
            is_touched |= nodes.edited(query).touched
    return is_touched


def clauses_of(
    hard: Sequence[HardConstraint],
    table: NodeTable,
    lacking: Reasons,
    uneven: Reasons,
    *,
    zeroes_minimum: bool,
) -> list[Clause] | None:
    """The tests by domain, with the reasons for nodes that lack a key and for domains that are too full; None
    where no node has a key.

    *zeroes_minimum*: as for :func:`exceeding`.
    """
    clauses = []
    for limit in hard:
        key = limit.constraint.topology_key
        if key not in table.labels:
            return None
        shared = (
            [other for other in hard if other.sharing == limit.sharing] if len(limit.sharing) > 1 else [limit]
        )
        counts = [other.index.counted(other.query, key, table) for other in shared if other.query is not None]
        known = np.logical_or.reduce([other.index.known for other in shared]).nonzero()[0]
        is_zero = zeroes_minimum and len(known) < limit.constraint.min_domains
        if not limit.is_everywhere:
            clauses.append(
                Clause(
                    sum=DomainSum(key, table.labels[key], ()), reasons=lacking, most=NO_MINIMUM, keyless=True
                )
            )
        sums = DomainSum(key, table.labels[key], counts)
        clauses.append(
            Clause(sum=sums, reasons=uneven, most=limit.most, least_of=None if is_zero else few_or_all(known))
        )
    return clauses


# --- soft constraints ---------------------------------------------------------------------------------------


@attrs.frozen(eq=False, repr=False)
class SoftCounts:
    """The counts of domains and the weights of constraints, from which scores follow.

    ``weights``: the more domains the feasible nodes have, the more a pod in one of them weighs. ``counts``:
    for each constraint int64[values], or None for one on hosts. Without these two it is right until a node
    object changes, and the pod's notes keep it.
    """

    namespace: str
    """The pod's namespace."""
    constraints: Constraints
    requires_all: bool
    """Whether nodes that lack a topology key are ignored: their pods do not count, and they score 0."""
    cells: FrameworkCells
    judges_all: bool
    """Whether no node of the table is ignored."""
    is_plain: bool
    """The answer of :func:`is_plain`, in releases that score by weights; else False."""
    _each: Sequence[tuple[DomainIndex, PodsMatching | None] | int | None]
    """For each constraint its domains; None for one on hosts, which are counted node by node; 1 where no node
    has its key."""
    counts: tuple[Ints | None, ...] = ()
    weights: tuple[float, ...] = ()

    @classmethod
    def of(
        cls,
        pod: Template,
        constraints: Constraints,
        table: NodeTable,
        cells: FrameworkCells,
        *,
        requires_all: bool,
    ) -> SoftCounts:
        """The counters of the peers of *pod*, without counts and weights."""
        by_node = "" if cells.spreads_by_share else HOSTNAME
        required = constraints if requires_all else ()
        judges_all = not requires_all or all(
            has_key(constraint.topology_key, table) for constraint in constraints
        )
        plain = not cells.spreads_by_share and is_plain(constraints, table, requires_all=requires_all)
        indexes = [
            None if constraint.topology_key == by_node else _soft_index(pod, constraint, required, table)
            for constraint in constraints
        ]
        return cls(pod.namespace, constraints, requires_all, cells, judges_all, plain, indexes)

    def counted(self, table: NodeTable) -> SoftCounts:
        """The same with current counts."""
        keys = [constraint.topology_key for constraint in self.constraints]
        counts: list[Ints | None] = []
        for index, key in zip(self._each, keys, strict=True):
            if isinstance(index, int):
                counts.append(np.zeros(1, np.int64))
            else:
                counts.append(None if index is None else index[0].count(index[1], key, table))
        if not self.cells.counts_apart and len(set(keys)) < len(keys):
            sums: dict[str, Ints] = {}
            for key, count in zip(keys, counts, strict=True):
                if count is not None:
                    sums[key] = sums[key] + count if key in sums else count
            counts = [sums.get(key) for key in keys]
        # In place of attrs.evolve, which takes three times as long.
        return SoftCounts(
            self.namespace,
            self.constraints,
            self.requires_all,
            self.cells,
            self.judges_all,
            self.is_plain,
            self._each,
            tuple(counts),
        )

    def weighed(self, feasible: Batch) -> SoftCounts:
        """The same with the weights for these *feasible* nodes."""
        judged = feasible if self.judges_all else feasible.some(np.flatnonzero(self.judged(feasible)))
        # The number of domains of the nodes, for each constraint.
        keys_seen: set[str] = set()
        sizes = []
        for key in (constraint.topology_key for constraint in self.constraints):
            if key == HOSTNAME:
                sizes.append(judged.n)
            elif key in keys_seen and not self.cells.counts_apart:
                # Upstream: where constraints share counts, a domain is counted for the first one with its key
                # only.
                sizes.append(0)
            else:
                sizes.append(int(np.count_nonzero(np.bincount(_values(judged.label(key))))))
                keys_seen.add(key)
        return attrs.evolve(self, weights=tuple(math.log(size + 2) for size in sizes))

    def scale(self, raw: RawScores) -> SpreadScale:
        """The scale from peers on the node and the value of the other topology key, where :func:`is_plain`
        holds."""
        skews = [
            (constraint.max_skew, counts)
            for constraint, counts in zip(self.constraints, self.counts, strict=True)
            if counts is None or len(counts) > 1  # some node has the key
        ]
        in_domains = next((counts.tolist() for _, counts in skews if counts is not None), [0])
        pairs = {(peers, code) for peers, code, _ in raw.counted}
        on_hosts = math.log(raw.number + 2)
        inside_domains = math.log(len({code for _, code in pairs}) + 2)
        terms = [
            (counts is None, on_hosts if counts is None else inside_domains, float(skew - 1))
            for skew, counts in skews
        ]
        return SpreadScale.of(terms, in_domains, pairs, rounds=self.cells.rounds_spread)

    def on_host(self, nodes: Batch) -> Ints:
        """The peers on each node that constraints on hosts count: int64[n], read only."""
        on_hosts = [at for at, counts in enumerate(self.counts) if counts is None]
        return self._peers(on_hosts[0], nodes) if on_hosts else nodes.zeros()

    def peers(self, nodes: Batch) -> Ints:
        """The peers that all constraints count for each node, added up: int64[n], read only."""
        peers = self._peers(0, nodes)
        for at in range(1, len(self.constraints)):
            peers = peers + self._peers(at, nodes)
        return peers

    def judged(self, nodes: Batch) -> Mask:
        """The nodes that are not ignored: bool[n]."""
        return with_all_keys(self.constraints, nodes) if self.requires_all else nodes.every()

    def raw(self, nodes: Batch) -> Scores:
        """The weighted count of peers in each node's domains: int64[n], 0 for ignored nodes."""
        judges_all = self.judges_all
        if self.cells.spreads_by_share:
            return self.peers(nodes) if judges_all else self.peers(nodes) * self.judged(nodes)
        if self.requires_all and len(self.constraints) == 1:
            scores = tabulated(lambda counts: self._whole(self._crowded(0, counts)), self._peers(0, nodes))
            return scores if judges_all else scores * self.judged(nodes)
        total = np.zeros(nodes.n, np.float64)
        for at, constraint in enumerate(self.constraints):
            crowded = self._crowded(at, self._peers(at, nodes))
            total += (
                crowded
                if judges_all and self.requires_all
                else crowded * nodes.label(constraint.topology_key).present
            )
        return self._whole(total) if judges_all else self._whole(total) * self.judged(nodes)

    def _whole(self, crowded: Floats) -> Scores:
        return rounded(crowded) if self.cells.rounds_spread else whole(crowded)

    def _crowded(self, at: int, counts: Ints) -> Floats:
        """The raw score of constraint number *at* for these *counts* of peers."""
        return np.asarray(counts * self.weights[at] + float(self.constraints[at].max_skew - 1), np.float64)

    def _peers(self, at: int, nodes: Batch) -> Ints:
        """The peers of constraint number *at*."""
        constraint = self.constraints[at]
        counts = self.counts[at]
        if counts is None and nodes.is_described and self.cells.scores_sent_nodes:
            return nodes.zeros()
        if counts is None:
            # Upstream: counted on the node itself, even if its pods do not count otherwise.
            query = constraint.counted(self.namespace)
            return nodes.zeros() if query is None else nodes.base_counting(query)
        return counts[_values(nodes.label(constraint.topology_key))]


class SpreadScale(msgspec.Struct):
    """The scale from crowding to scores. *known*: (peers on the node, code of the node's domain) ->
    crowding."""

    known: dict[tuple[int, int], int]
    most: int
    least: int

    @classmethod
    def of(
        cls,
        terms: Sequence[tuple[bool, float, float]],
        in_domains: Sequence[int],
        pairs: Iterable[tuple[int, int]],
        *,
        rounds: bool,
    ) -> SpreadScale:
        """The scale for these *pairs*. *in_domains*: the peers in each domain, by code. A term: whether a
        constraint is on hosts, its weight, and the addition for its skew."""
        known = {}
        for peers, code in pairs:
            total = 0.0
            inside = in_domains[code]
            for on_host, weight, skew in terms:
                total += (peers if on_host else inside) * weight + skew
            cut_off = int(total)
            known[peers, code] = cut_off + int(2 * (total - cut_off)) if rounds else cut_off
        return cls(known, max(0, max(known.values(), default=0)), min(known.values(), default=0))

    def each(self, raw: Sequence[int], codes: Sequence[int] | None = None) -> list[int]:
        known = self.known
        most = self.most
        least = self.least
        if not most:
            return [MAX_NODE_SCORE] * len(raw)
        pairs = zip(raw, [0] * len(raw) if codes is None else codes, strict=True)
        return [MAX_NODE_SCORE * (most + least - known[pair]) // most for pair in pairs]


def is_plain(constraints: Constraints, table: NodeTable, *, requires_all: bool) -> bool:
    """Whether scores follow from the peers on the node and in its domain by one other key.

    That key has few values. All nodes have the keys; or none has the other one, which then makes no
    difference.
    """

    def ask() -> bool:
        keys = [
            key
            for constraint in constraints
            if (key := constraint.topology_key) in table.labels or key == HOSTNAME or requires_all
        ]
        others = [key for key in keys if key != HOSTNAME]
        if (
            len(set(keys)) < len(keys)
            or len(others) > 1
            or not all(key in table.labels and has_key(key, table) for key in keys)
        ):
            return False
        return all(len(table.labels[key].values) <= FEW and table.labels[key].known("") < 0 for key in others)

    return table.node_derived(("plain", constraints, requires_all), ask)


def _values(label: ColumnView[str | None]) -> ValueCodes:
    """The codes of a label's values."""
    # Upstream: nodes without the label are in one domain with those whose label is empty.
    empty = label.column.known("")
    return label.codes if empty < 0 else np.where(label.codes == empty, 0, label.codes)


def _soft_index(
    pod: Template, constraint: Constraint, required: Constraints, table: NodeTable
) -> tuple[DomainIndex, PodsMatching | None] | int:
    if constraint.topology_key not in table.labels:
        return 1  # no node is in a domain, so counts make no difference

    def make() -> DomainIndex:
        nodes = Batch.everywhere(table)
        label = nodes.label(constraint.topology_key)
        return DomainIndex.of(
            slot,
            label,
            with_all_keys(required, nodes) & constraint.counts_on(pod, nodes),
            codes=_values(label),
        )

    slot = "soft domains", constraint, required, *allows(pod)
    return table.node_derived(slot, make), constraint.counted(pod.namespace)
