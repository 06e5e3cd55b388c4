"""PodTopologySpread: are the pod's peers spread evenly over the topology domains, and which domains have the
fewest?"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import partial
from typing import Any

import numpy as np

from ...api.meaning import SelectorError
from ...api.objects import LabelSelector, Map, Pod, TopologySpreadConstraint
from ...core.matching import Domains, required_node_affinity, with_all_keys
from ...predicates.matchinterpodaffinity import first_of
from ...predicates.rule import TOPOLOGY_SPREAD_CONSTRAINTS_NOT_MATCH as UNEVEN
from ..config.args import PodTopologySpreadArgs
from ..config.fielderrors import label_selector_fault
from ..hints import Spread, spread_node_changes, spread_pod_changes
from ..plugin import (
    MAX_NODE_SCORE,
    SKIP,
    Action,
    Batch,
    Clause,
    ClusterEvent,
    Cycle,
    DomainSum,
    Events,
    Failures,
    FrameworkCycle,
    Handle,
    Mask,
    NodeColumn,
    NodeTable,
    Plugin,
    PriorityError,
    RawScores,
    Reads,
    Reason,
    Reasons,
    Reduction,
    Scale,
    Scores,
    StateKey,
    Status,
    Sums,
    Template,
    error,
    tabulated,
    truncated_div,
    whole,
)
from .spreadconstraints import (
    HARD,
    HOSTNAME,
    SOFT,
    SYSTEM_DEFAULTS,
    Constraint,
    Constraints,
    Peers,
    SoftCounts,
    clauses_of,
    deduced_peers,
    domains_shared,
    exceeding,
    hard_constraints,
    is_plain,
    touched,
)

MISSING_LABEL = Reason(f"{UNEVEN.text} (missing required label)", resolvable=False)


class PodTopologySpread(Plugin):
    """Reject nodes where the pod would raise the domain's count of peers too far above the smallest; prefer
    domains with few peers.

    Upstream: pkg/scheduler/framework/plugins/podtopologyspread.
    """

    name = "PodTopologySpread"
    filter_reads = Reads.NODE | Reads.DOMAIN | Reads.CLUSTER | Reads.LISTINGS
    score_reads = Reads.NODE | Reads.DOMAIN | Reads.CLUSTER | Reads.LISTINGS
    scores_together = True
    without_pre_filter = 'reading "PreFilterPodTopologySpread" from cycleState: not found'
    without_pre_score = 'error reading "PreScorePodTopologySpread" from cycleState: not found'
    follows_pods = without_pre_filter
    pre_filter_by_class = True
    pre_score_by_class = True
    pre_score_skips = True

    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args or PodTopologySpreadArgs(defaulting_type="System"), handle)
        self.is_system: bool = self.args.defaulting_type == "System"
        self.defaults: tuple[TopologySpreadConstraint, ...] = (
            SYSTEM_DEFAULTS if self.is_system else self.args.default_constraints
        )
        self.min_domains: bool = handle.enabled("MinDomainsInPodTopologySpread")
        self.node_inclusion: bool = handle.enabled("NodeInclusionPolicyInPodTopologySpread")
        self.read_slots: Mapping[str, StateKey[tuple[Peers | None, Constraints]]] = {
            when: StateKey(f"{self.name} {when}") for when in (HARD, SOFT)
        }
        self.lacking: Reasons = (UNEVEN if handle.cells.missing_key_is_uneven else MISSING_LABEL,)
        self.domains_slot: StateKey[dict[Constraints, Domains]] = StateKey(f"{self.name} domains")
        self.soft_slot: StateKey[SoftCounts | None] = StateKey(f"{self.name} soft")
        self.indexes_slot: StateKey[tuple[int, SoftCounts]] = StateKey(f"{self.name} indexes")
        self.counted_slot: StateKey[SoftCounts | None] = StateKey(f"{self.name} counted")

    def constraints(self, pod: Template, when: str, cycle: Cycle) -> Constraints:
        """The constraints of *pod*, or the profile's if it has none of any kind. Raises SelectorError for an
        invalid selector."""
        own = pod.spec.topology_spread_constraints
        if not own and not any(constraint.when_unsatisfiable == when for constraint in self.defaults):
            return ()
        peers = None if own else deduced_peers(pod, cycle.listings, self.cells)
        slot = self.read_slots[when]
        kept = pod.notes.get(slot)
        if kept is None or kept[0] is not peers:
            given = [
                constraint for constraint in own or self.defaults if constraint.when_unsatisfiable == when
            ]
            constraints = (
                ()
                if peers is not None and peers.is_everybody
                else tuple([self._read(pod, constraint, peers) for constraint in given])
            )
            kept = pod.notes[slot] = peers, constraints
        return kept[1]

    def _read(self, pod: Template, constraint: TopologySpreadConstraint, peers: Peers | None) -> Constraint:
        """*constraint* of *pod*, which counts *peers* if given, else its own selector."""
        fewest = constraint.min_domains if self.min_domains else None
        return Constraint(
            topology_key=constraint.topology_key,
            max_skew=constraint.max_skew,
            peers=self._peers(pod, constraint) if peers is None else peers,
            min_domains=1 if fewest is None else fewest,
            honors_affinity=not self.node_inclusion or constraint.node_affinity_policy in (None, "Honor"),
            honors_taints=self.node_inclusion and constraint.node_taints_policy == "Honor",
            counts_terminating=self.cells.terminating_peers_count,
            checks_pairs=self.cells.checks_pairs,
            any_namespace=self.cells.soft_peers_anywhere and constraint.when_unsatisfiable == SOFT,
        )

    def _peers(self, pod: Template | Pod, constraint: TopologySpreadConstraint) -> Peers:
        fault = label_selector_fault(constraint.label_selector, self.cells)
        if fault:
            raise SelectorError(fault)
        keys = constraint.match_label_keys if self.handle.enabled("MatchLabelKeysInPodTopologySpread") else ()
        pairs = Map((key, pod.labels[key]) for key in keys if key in pod.labels)
        selector = constraint.label_selector
        if selector is None and pairs and self.cells.label_keys_alone_select:
            selector = LabelSelector()
        return Peers(selector, pairs, self.cells.empty_selectors_count)

    # --- hard constraints -----------------------------------------------------------------------------------

    def concerns(self, pod: Template) -> bool:
        return any(
            c.when_unsatisfiable == HARD for c in pod.spec.topology_spread_constraints or self.defaults
        )

    def filter_key(self, pod: Template) -> Hashable:
        own = pod.spec.topology_spread_constraints
        return (
            own,
            None if own else pod.pod.controller,
            pod.namespace,
            pod.labels,
            pod.node_selector,
            required_node_affinity(pod),
            pod.spec.tolerations,
        )

    def pre_filter(self, pod: Template, cycle: FrameworkCycle) -> Status | None:
        try:
            self.constraints(pod, HARD, cycle)
        except SelectorError as fault:
            return error(
                f"{self.cells.constraints_text}obtaining pod's hard topology spread constraints: {fault}"
            )
        return None

    def filter(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Failures | None:
        """The failures; the reason of a node is that of the first constraint that it breaks."""
        constraints = self.constraints(pod, HARD, cycle)
        if not constraints:
            return None
        cells = self.cells
        hard = hard_constraints(pod, constraints, cycle.table, cells)
        if nodes.rows is None or self.domains_slot not in cycle.notes:
            # Counted again for the whole table, so that a cached answer knows which counters it read.
            cycle.notes[self.domains_slot] = domains_shared(hard, cycle.table)
        domains = cycle.notes[self.domains_slot]
        masks = []
        for limit in hard:
            masks.append(None if limit.is_everywhere else ~nodes.label(limit.constraint.topology_key).present)
            masks.append(
                exceeding(
                    limit,
                    pod,
                    constraints,
                    nodes,
                    domains[limit.sharing],
                    cells,
                    zeroes_minimum=self.min_domains,
                )
            )
        if cells.no_domain_fits and not any(len(limit.index.values) for limit in hard):
            # A trial can make the first domain.
            asked = touched(constraints, pod, nodes) & with_all_keys(constraints, nodes)
            masks = [None if mask is None else mask & asked for mask in masks]
        return first_of(masks, (self.lacking, (UNEVEN,)) * len(hard))

    def filter_clauses(self, pod: Template, cycle: FrameworkCycle) -> list[Clause] | None:
        """The tests by domain, in order: see :attr:`~kubeclassic.core.cycle.Predicate.clauses`."""
        try:
            table = cycle.table
            constraints = self.constraints(pod, HARD, cycle)
        except SelectorError:
            return None
        hard = hard_constraints(pod, constraints, table, self.cells) if constraints else ()
        if self.cells.no_domain_fits and not any(len(limit.index.values) for limit in hard):
            return []
        return clauses_of(hard, table, self.lacking, (UNEVEN,), zeroes_minimum=self.min_domains)

    # --- soft constraints -----------------------------------------------------------------------------------

    def score_concerns(self, pod: Template) -> bool:
        return any(
            c.when_unsatisfiable == SOFT for c in pod.spec.topology_spread_constraints or self.defaults
        )

    score_key = filter_key

    def pre_score(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Status | None:
        try:
            constraints = self.constraints(pod, SOFT, cycle)
        except SelectorError as fault:
            return error(
                f"{self.cells.soft_constraints_text}obtaining pod's soft topology spread constraints: {fault}"
            )
        if not constraints:
            cycle.notes[self.soft_slot] = None
            return SKIP if PodTopologySpread.name in self.cells.skips_scoring else None
        described = nodes if cycle.described is None else cycle.as_described(nodes)
        soft = self._soft(pod, constraints, described.table)
        cycle.notes[self.soft_slot] = soft.counted(described.table).weighed(described)
        return None

    def _soft(self, pod: Template, constraints: Constraints, table: NodeTable) -> SoftCounts:
        return SoftCounts.of(pod, constraints, table, self.cells, requires_all=self._requires_all(pod))

    def _requires_all(self, pod: Template) -> bool:
        return (
            bool(pod.spec.topology_spread_constraints)
            or not self.is_system
            or self.cells.system_needs_all_keys
        )

    def score(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Scores:
        """The weighted count of peers in each node's domains: int64[n]."""
        soft = cycle.notes[self.soft_slot]
        return nodes.zeros() if soft is None else soft.raw(nodes)

    def normalize_score(self, pod: Template, raw: Scores, nodes: Batch, cycle: FrameworkCycle) -> Scores:
        """The scores, 0 to 100, int64[n]: the fewer peers the higher, 100 for domains without any; 0 for
        nodes that lack a topology key."""
        soft = cycle.notes[self.soft_slot]
        if soft is None:
            return self._idle(nodes)
        return self._normalized(raw, soft.judged(nodes))

    def _normalized(self, raw: Scores, judged: Mask) -> Scores:
        met = raw[judged]
        best = np.full(len(raw), MAX_NODE_SCORE, np.int64)
        if self.cells.spreads_by_share:
            if not len(met):
                return np.zeros(len(raw), np.int64)
            total = int(met.sum())
            spread = total - int(met.min())
            if not spread:
                # Upstream: nodes that lack a topology key get the best score, too.
                return best
            return whole(float(MAX_NODE_SCORE) * ((total - raw) / float(spread))) * judged
        most = int(met.max(initial=0))
        if not most:
            return best * judged
        top = most + int(met.min())
        return tabulated(lambda crowded: truncated_div(MAX_NODE_SCORE * (top - crowded), most), raw) * judged

    def _idle(self, nodes: Batch) -> Scores:
        """The scores for a pod without soft constraints."""
        return np.full(nodes.n, 0 if self.cells.spreads_by_share else MAX_NODE_SCORE, np.int64)

    # --- the same, kept from cycle to cycle -----------------------------------------------------------------

    def kept_score(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Scores:
        """The peers, only those on the node itself where that is enough: int64[n]. It changes with all that
        :attr:`kept_normalize` reads."""
        try:
            soft = self._counted(pod, cycle)
        except SelectorError as fault:
            raise PriorityError(str(fault)) from None
        if soft is None:
            return nodes.zeros()
        return soft.on_host(nodes) if soft.is_plain else soft.peers(nodes) * soft.judged(nodes)

    def score_sums(self, pod: Template, cycle: FrameworkCycle) -> Sums | None:
        """The peers on the node: see :attr:`~kubeclassic.core.cycle.Priority.sums`. None where scores need
        more."""
        try:
            constraints = self.constraints(pod, SOFT, cycle)
        except SelectorError:
            return None
        if not constraints:
            return Sums()
        if self.cells.spreads_by_share or not is_plain(
            constraints, cycle.table, requires_all=self._requires_all(pod)
        ):
            return None
        labels = cycle.table.labels
        queries = [
            (constraint, constraint.counted(pod.namespace))
            for constraint in constraints
            if constraint.topology_key in labels
        ]
        counters = [
            (constraint.topology_key, cycle.table.census.counter(query))
            for constraint, query in queries
            if query is not None
        ]
        on_host = [counter for key, counter in counters if key == HOSTNAME]
        return Sums([DomainSum.on_rows(on_host)], [counter for key, counter in counters if key != HOSTNAME])

    @property
    def kept_normalize(self) -> Reduction:
        """score and normalize_score as one reduction."""
        return Reduction(self._scale, self._column, zeros_alike=False, special=self._unlike)

    def _counted(self, pod: Template, cycle: Cycle) -> SoftCounts | None:
        """The counts of the cycle, without weights."""
        if self.counted_slot not in cycle.notes:
            constraints = self.constraints(pod, SOFT, cycle)
            counted = None
            if constraints:
                kept = pod.notes.get(self.indexes_slot)
                at = cycle.table.changed.node_revision
                if kept is None or kept[0] != at or kept[1].constraints is not constraints:
                    kept = pod.notes[self.indexes_slot] = at, self._soft(pod, constraints, cycle.table)
                counted = kept[1].counted(cycle.table)
            cycle.notes[self.counted_slot] = counted
        soft: SoftCounts | None = cycle.notes[self.counted_slot]
        return soft

    def _column(self, pod: Template, cycle: Cycle) -> NodeColumn[Any] | None:
        soft = self._counted(pod, cycle)
        if soft is None or not soft.is_plain:
            return None
        labels = cycle.table.labels
        domain_keys = [
            key
            for constraint in soft.constraints
            if (key := constraint.topology_key) != HOSTNAME and key in labels
        ]
        return labels[domain_keys[0]] if domain_keys else None

    def _scale(self, pod: Template, raw: RawScores, cycle: Cycle) -> Scale | None:
        """The scale where scores follow from the peers on the node and in its domain; else None."""
        soft = self._counted(pod, cycle)
        return soft.scale(raw) if soft is not None and soft.is_plain else None

    def _unlike(self, pod: Template, raw: Scores, nodes: Batch, cycle: Cycle) -> Scores | None:
        """The scores where they do not follow from the peers on the node and in its domain; else None."""
        soft = self._counted(pod, cycle)
        if soft is None:
            return self._idle(nodes)
        if soft.is_plain:
            return None
        if not self.cells.spreads_by_share:
            raw = soft.weighed(nodes).raw(nodes)
        return self._normalized(raw, soft.judged(nodes))

    def events_to_register(self) -> Events:
        handle = self.handle
        narrow = handle.queueing.narrow_events
        pods = handle.peer_changes
        if narrow and handle.gives_hints:
            pods |= Action.UPDATE_POD_TOLERATION
        nodes = handle.labels_and_taints(Action.ADD | Action.DELETE | Action.UPDATE_NODE_LABEL)
        peers = partial(
            spread_pod_changes,
            constraints=self._spreads,
            sees_itself=narrow,
            wider=handle.queueing.wider_pod_hints,
        )
        domains = partial(spread_node_changes, constraints=self._spreads, compares=handle.compares(self.name))
        return ClusterEvent("Pod", pods, hint=peers), ClusterEvent("Node", nodes, hint=domains)

    def _spreads(self, pod: Pod) -> list[Spread] | None:
        """The pod's hard constraints as hints see them; None where the profile's defaults apply to it."""
        own = pod.spec.topology_spread_constraints
        if not own and any(constraint.when_unsatisfiable == HARD for constraint in self.defaults):
            return None
        return [
            Spread(
                constraint.topology_key,
                self._peers(pod, constraint).matches,
                self.node_inclusion and constraint.node_taints_policy == "Honor",
            )
            for constraint in own
            if constraint.when_unsatisfiable == HARD
        ]
