"""InterPodAffinity: do the pod and existing pods require, refuse, prefer or avoid each other in the node's
domains?"""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import Any

from ...core.matching import has_pods_in_domains, terms_about
from ...core.release import FrameworkCells
from ...predicates.matchinterpodaffinity import (
    AntiAffinity,
    RequiredAffinity,
    affinity_unmet,
    anti_affinity_violated,
    change_of,
    clauses_of_existing,
    first_of,
    refused_by_existing,
    refused_in_trial,
    unmet_clauses,
)
from ...predicates.rule import EXISTING_PODS_ANTI_AFFINITY_RULES_NOT_MATCH as REFUSED
from ...predicates.rule import POD_AFFINITY_RULES_NOT_MATCH as UNMET
from ...predicates.rule import POD_ANTI_AFFINITY_RULES_NOT_MATCH as VIOLATED
from ...priorities.interpodaffinity import existing_error, liked, liking, likings, own_error
from ..config.args import InterPodAffinityArgs
from ..config.fielderrors import aggregated, label_selector_fault
from ..hints import affine_node_changes, affine_pod_changes
from ..plugin import (
    MAX_NODE_SCORE,
    PREFERRED_AFFINITY,
    PREFERRED_ANTI_AFFINITY,
    REQUIRED_AFFINITY,
    REQUIRED_ANTI_AFFINITY,
    ROLES,
    SKIP,
    Action,
    Batch,
    Clause,
    ClusterEvent,
    Cycle,
    Events,
    Failures,
    FrameworkCycle,
    Handle,
    Ints,
    Plugin,
    PodsTargeted,
    PriorityError,
    RawScores,
    Reads,
    Reason,
    Reasons,
    Reduction,
    Scores,
    StateKey,
    Status,
    Stretched,
    Sums,
    Template,
    Weighted,
    error,
    terms_of,
    unreadable,
    unresolvable,
)

FIELDS = {
    REQUIRED_AFFINITY: "requiredAffinityTerms",
    REQUIRED_ANTI_AFFINITY: "requiredAntiAffinityTerms",
    PREFERRED_AFFINITY: "preferredAffinityTerms",
    PREFERRED_ANTI_AFFINITY: "preferredAntiAffinityTerms",
}
"""Role -> the name of its terms in texts."""
_FAULTS: StateKey[str] = StateKey("faults of terms")
_OWN_TERMS: StateKey[tuple[RequiredAffinity, AntiAffinity]] = StateKey("InterPodAffinity")


def _scale(pod: Template, raw: RawScores, cycle: Cycle) -> Stretched:
    """0 for the least and 100 for the most liked node; all 0 where no difference is made."""
    if cycle.release.framework.liking_includes_zero:
        return Stretched(min(0, raw.lowest), max(0, raw.highest), MAX_NODE_SCORE)
    return Stretched(raw.lowest, raw.highest, MAX_NODE_SCORE)


class InterPodAffinity(Plugin):
    """Reject nodes whose domains lack a required pod, or have a refused one; prefer nodes with preferred
    company.

    Upstream: pkg/scheduler/framework/plugins/interpodaffinity.
    """

    name = "InterPodAffinity"
    filter_reads = Reads.NODE | Reads.DOMAIN | Reads.CLUSTER | Reads.LISTINGS
    score_reads = Reads.NODE | Reads.DOMAIN | Reads.LISTINGS
    without_pre_filter = 'error reading "PreFilterInterPodAffinity" from cycleState: not found'
    without_pre_score = 'failed to read "PreScoreInterPodAffinity" from cycleState: not found'
    follows_pods = without_pre_filter
    pre_filter_skips = True
    normalize_score = Reduction(_scale)
    pre_score_skips = True

    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args or InterPodAffinityArgs(), handle)
        self._unmet, self._violated, self._refused = (
            _reasons(reason, handle.cells) for reason in (UNMET, VIOLATED, REFUSED)
        )

    # --- what is required -----------------------------------------------------------------------------------

    def filter_key(self, pod: Template) -> Hashable:
        return pod.namespace, pod.labels, pod.required_affinity, pod.required_anti_affinity

    def pre_filter(self, pod: Template, cycle: FrameworkCycle) -> Status | None:
        cells = self.cells
        if cells.unreadable_terms.startswith("reject") and (text := _faults(pod, cells)):
            return unresolvable(f"parsing pod: {text}")
        if self._errs(pod, cycle) and (first := _required_error(pod, cycle)):
            return error(f"calculating preFilterState: {first}")
        if cells.trial_terms_change_namespace or pod.required_affinity or pod.required_anti_affinity:
            return None
        terms = terms_about(pod, REQUIRED_ANTI_AFFINITY, cycle)
        carried = ((counter, carrier.topology_key, 1) for carrier, counter in terms)
        return None if has_pods_in_domains(carried, cycle.table) else SKIP

    def filter(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Failures | None:
        """The failures by the pod's own affinity, then its anti-affinity, then that of existing pods; in some
        releases the last come first."""
        cells = self.cells
        unmet = violated = None
        affinity, anti = _own_terms(pod, cycle)

        def change(targeted: PodsTargeted) -> Ints:
            """The number of pods that edits add on each node, of those that the pod's own terms match."""
            if cells.nominated_pods_lack_company:
                return change_of(nodes, targeted)
            return nodes.edited(targeted).net

        if affinity.keys:
            # Upstream: even the first of its kind needs a node with all the keys.
            unmet = affinity_unmet(affinity, nodes, change)
            for key in affinity.keys if cells.first_pod_needs_keys else ():
                absent = ~nodes.label(key).present
                unmet = absent if unmet is None else unmet | absent
        if anti.by_key:
            against = partial(change_of, nodes, coming=anti.any_term) if cells.any_term_counts else change
            violated = anti_affinity_violated(anti, nodes, against)
        terms = terms_about(pod, REQUIRED_ANTI_AFFINITY, cycle)
        if nodes.edits and cells.trial_terms_change_namespace:
            refused = refused_in_trial(pod, terms, nodes)
        else:
            refused = refused_by_existing(terms, nodes)
        if cells.existing_pods_refuse_first:
            return first_of((refused, unmet, violated), [self._refused, self._unmet, self._violated])
        return first_of((unmet, violated, refused), [self._unmet, self._violated, self._refused])

    def filter_clauses(self, pod: Template, cycle: FrameworkCycle) -> list[Clause] | None:
        """The tests by domain, in order: see :attr:`~kubeclassic.core.cycle.Predicate.clauses`."""
        table = cycle.table
        (affinity, anti) = _own_terms(pod, cycle)
        unmet = (
            unmet_clauses(affinity, table, self._unmet, needs_keys=self.cells.first_pod_needs_keys)
            if affinity.keys
            else []
        )
        if unmet is None:
            return None
        existing = clauses_of_existing(terms_about(pod, REQUIRED_ANTI_AFFINITY, cycle), table, self._refused)
        if self.cells.existing_pods_refuse_first:
            return [*existing, *unmet, *anti.clauses(table, self._violated)]
        return [*unmet, *anti.clauses(table, self._violated), *existing]

    # --- what is preferred ----------------------------------------------------------------------------------

    def score_key(self, pod: Template) -> Hashable:
        return pod.namespace, pod.labels, pod.preferred_affinity, pod.preferred_anti_affinity

    def pre_score(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Status | None:
        answer = self.cells.unreadable_terms
        reads_terms = answer.startswith("reject") and self._looks_at_existing(pod)
        if reads_terms and (text := _faults(pod, self.cells)):
            return error(f"{'failed to parse' if answer == 'reject' else 'parsing'} pod: {text}")
        if self._errs(pod, cycle) and not own_error(pod) and (first := self._scoring_error(cycle)):
            return error(first)
        skips = InterPodAffinity.name in self.cells.skips_scoring
        # Upstream: pods decide, even if their weights add up to 0.
        return SKIP if skips and not has_pods_in_domains(self._likings(pod, cycle), cycle.table) else None

    def score(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Scores:
        """The sum of the weights of the pod's own terms and of existing pods' terms about it: int64[n]."""
        if not self._looks_at_existing(pod):
            return nodes.zeros()
        if self._gives_no_scores(pod, cycle):
            return nodes.zeros()
        if self._errs(pod, cycle) and own_error(pod):
            # Upstream: PreScore only logs it, and leaves no state.
            raise PriorityError('Error reading "PreScoreInterPodAffinity" from cycleState: not found')
        return liking(pod, nodes, cycle, self.args.hard_pod_affinity_weight)

    def _looks_at_existing(self, pod: Template) -> bool:
        has_preferences = bool(pod.preferred_affinity or pod.preferred_anti_affinity)
        # Upstream: the required affinity of existing pods is ignored with their preferences.
        return has_preferences or not self.args.ignore_preferred_terms_of_existing_pods

    def score_sums(self, pod: Template, cycle: FrameworkCycle) -> Sums | None:
        """The weights by domain: see :attr:`~kubeclassic.core.cycle.Priority.sums`."""
        if self._errs(pod, cycle) or self._gives_no_scores(pod, cycle):
            return None
        return liked(self._likings(pod, cycle), cycle.table)

    def _errs(self, pod: Template, cycle: FrameworkCycle) -> bool:
        """Whether an invalid selector of *pod*, or of an existing pod, is an error."""
        is_any = cycle.table.census.has_unreadable or any(unreadable(pod, role) for role in ROLES)
        return self.cells.unreadable_terms == "error" and is_any

    def _gives_no_scores(self, pod: Template, cycle: FrameworkCycle) -> bool:
        if self.cells.unreadable_terms != "no scores":
            return False
        # Upstream: invalid preferred terms of other pods end the counting, too.
        others = self._scoring_error(cycle) or existing_error(cycle.table, (PREFERRED_AFFINITY,))
        return bool(own_error(pod) or others)

    def _scoring_error(self, cycle: FrameworkCycle) -> str | None:
        roles = (REQUIRED_AFFINITY, PREFERRED_ANTI_AFFINITY)
        return existing_error(cycle.table, roles if self.args.hard_pod_affinity_weight else roles[1:])

    def _likings(self, pod: Template, cycle: FrameworkCycle) -> list[Weighted]:
        if self._looks_at_existing(pod):
            return list(likings(pod, cycle, self.args.hard_pod_affinity_weight))
        return []

    def events_to_register(self) -> Events:
        handle = self.handle
        node_actions = Action.ADD | Action.UPDATE_NODE_LABEL
        node = handle.node_event(
            node_actions,
            handle.labels_and_taints(node_actions),
            partial(affine_node_changes, compares=handle.compares(self.name)),
        )
        peers = partial(affine_pod_changes, wider=handle.queueing.wider_pod_hints)
        return ClusterEvent("Pod", handle.peer_changes, hint=peers), node


def _reasons(special: Reason, cells: FrameworkCells) -> Reasons:
    """*special* with the general reason before it, where the release has one."""
    if cells.one_reason:
        return (Reason(cells.pod_affinity_text),) if special.resolvable else (special,)
    if cells.pod_affinity_text:
        return (Reason(cells.pod_affinity_text, special.resolvable), special)
    return (special,)


def _own_terms(pod: Template, cycle: FrameworkCycle) -> tuple[RequiredAffinity, AntiAffinity]:
    """The required terms of *pod*, namespaces by name."""
    terms = cycle.notes.get(_OWN_TERMS)
    if terms is None:
        # Upstream: PreFilter has rejected a pod with invalid selectors, or such terms are left out.
        if unreadable(pod, REQUIRED_AFFINITY) is not None:
            affinity = RequiredAffinity(PodsTargeted(frozenset(), every=True), (), itself=False)
        else:
            affinity = RequiredAffinity.of(pod).by_name(pod, cycle)
        if unreadable(pod, REQUIRED_ANTI_AFFINITY) is not None:
            anti = AntiAffinity((), PodsTargeted(frozenset(), every=False))
        else:
            anti = AntiAffinity.of(pod).by_name(cycle)
        terms = cycle.notes[_OWN_TERMS] = affinity, anti
    return terms


def _required_error(pod: Template, cycle: FrameworkCycle) -> str | None:
    """The error of the first invalid selector in required terms, anti-affinity of existing pods first."""
    existing = existing_error(cycle.table, (REQUIRED_ANTI_AFFINITY,))
    return existing or unreadable(pod, REQUIRED_AFFINITY) or unreadable(pod, REQUIRED_ANTI_AFFINITY)


def _faults(pod: Template, cells: FrameworkCells) -> str:
    """The faults of the selectors of *pod*'s terms, preferred ones included; empty where there is none."""
    if not pod.has_pod_affinity:
        return ""
    fault = pod.notes.get(_FAULTS)
    if fault is None:
        texts = []
        for role in ROLES:
            if unreadable(pod, role) is not None:
                selectors = [
                    selector
                    for term, _ in terms_of(pod, role)
                    for selector in (
                        term.label_selector,
                        term.namespace_selector if pod.selects_namespaces else None,
                    )
                ]
                faults = (label_selector_fault(selector, cells) for selector in selectors)
                texts.append(f"{FIELDS[role]}: {next(filter(None, faults), '')}")
        named = texts[-1:] if cells.unreadable_terms == "reject for the last" else texts
        fault = pod.notes[_FAULTS] = aggregated(named)
    return fault
