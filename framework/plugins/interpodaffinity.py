"""Do the pod and those already there want, refuse, like or dislike each other's company?"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ...core.arrays.batch import Batch
from ...core.arrays.census import PodCount
from ...core.arrays.types import Scores
from ...core.cycle import Cycle
from ...core.failures import Failures, Reasons
from ...core.matching.domains import KeySums, Weighted, has_pods_in_domains, sum_at, terms_about
from ...core.pods.notes import StateKey
from ...core.pods.template import Template
from ...core.pods.terms import (
    PREFERRED_AFFINITY,
    PREFERRED_ANTI_AFFINITY,
    REQUIRED_AFFINITY,
    REQUIRED_ANTI_AFFINITY,
    ROLES,
    terms_of,
    unreadable,
)
from ...core.release import FrameworkCells
from ...core.rule import Counts, DomainRejections, Reads, Reduction, ScoresByValue
from ...predicates.interpodaffinity import (
    AntiAffinity,
    RequiredAffinity,
    affinity_unmet,
    anti_affinity_violated,
    first_of,
    first_refusing,
    refused_by_existing,
    refused_by_value,
    unmet_by_value,
)
from ...predicates.reasons import EXISTING_PODS_ANTI_AFFINITY_RULES_NOT_MATCH as REFUSED
from ...predicates.reasons import POD_AFFINITY_RULES_NOT_MATCH as UNMET
from ...predicates.reasons import POD_ANTI_AFFINITY_RULES_NOT_MATCH as VIOLATED
from ...priorities.interpodaffinity import few_stretched, likes_nothing, liking, likings, one_stretched, stretched
from ..config.argfaults import label_selector_fault
from ..config.args import InterPodAffinityArgs
from ..config.fielderrors import aggregated
from ..cycle.state import FrameworkCycle
from ..hints.pods import affine_node_changes, affine_pod_changes
from ..plugin import MAX_NODE_SCORE, Handle, Plugin
from ..queue.events import Action, ClusterEvent
from ..status import SKIP, Status, error, unresolvable

FIELDS = {
    REQUIRED_AFFINITY: "requiredAffinityTerms",
    REQUIRED_ANTI_AFFINITY: "requiredAntiAffinityTerms",
    PREFERRED_AFFINITY: "preferredAffinityTerms",
    PREFERRED_ANTI_AFFINITY: "preferredAntiAffinityTerms",
}
"""Role -> how a text about its terms calls it."""
_FAULTS: StateKey[str] = StateKey("faults of terms")
_OWN_TERMS: StateKey[tuple[RequiredAffinity, AntiAffinity]] = StateKey("InterPodAffinity")


def _extremes(pod: Template, raw: Scores, nodes: Batch, cycle: Cycle) -> tuple[int, int]:
    return (int(raw.min()), int(raw.max())) if len(raw) else (0, 0)


def _between(pod: Template, raw: Scores, extremes: tuple[int, int], nodes: Batch, cycle: Cycle) -> Scores:
    """0 for the least and 100 for the most liked node; all 0 where no difference is made."""
    return stretched(raw, *extremes, MAX_NODE_SCORE)


def _of_few(pod: Template, raw: tuple[int, ...], there: Sequence[int], cycle: Cycle) -> tuple[int, ...]:
    """:func:`_extremes` and :func:`_between` of the values of a label."""
    sums = [raw[code] for code in there]
    return few_stretched(raw, there, min(sums, default=0), max(sums, default=0), MAX_NODE_SCORE)


def _tallied(pod: Template, counts: Counts, cycle: Cycle) -> tuple[int, int]:
    """:func:`_extremes` of scores that are counted already."""
    return min(counts, default=0), max(counts, default=0)


def _at(raw: int, zone: int, extremes: tuple[int, int]) -> int:
    """:func:`_between` for one node."""
    return one_stretched(raw, *extremes, MAX_NODE_SCORE)


class InterPodAffinity(Plugin):
    """Turn down nodes in whose domains a pod is missing that the pod requires, or where one is refused; prefer nodes with liked company.

    Upstream: pkg/scheduler/framework/plugins/interpodaffinity.
    """

    name = "InterPodAffinity"
    filter_reads: ClassVar[Reads] = Reads.NODE | Reads.DOMAIN | Reads.CLUSTER | Reads.LISTINGS
    score_reads: ClassVar[Reads] = Reads.NODE | Reads.DOMAIN | Reads.LISTINGS
    without_pre_filter: str | None = 'error reading "PreFilterInterPodAffinity" from cycleState: not found'
    without_pre_score: ClassVar[str | None] = 'failed to read "PreScoreInterPodAffinity" from cycleState: not found'
    follows_pods: str | None = without_pre_filter
    pre_filter_skips: ClassVar[bool] = True
    normalize_score: Reduction = Reduction(_extremes, _between, zeros_alike=True, of_few=_of_few, tallied=_tallied, at=_at)
    pre_score_skips: ClassVar[bool] = True

    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args or InterPodAffinityArgs(), handle)

    # --- what is required -------------------------------------------------------------------------------------------

    def filter_key(self, pod: Template) -> Hashable:
        return pod.namespace, pod.labels, pod.required_affinity, pod.required_anti_affinity

    def filter_by_domain(self, pod: Template) -> bool:
        return not pod.required_affinity

    def filter_is_idle(self, pod: Template, cycle: FrameworkCycle) -> bool:
        """Whether no term is about the pod: see :attr:`~kubeclassic.core.rule.Predicate.is_idle`."""
        return not (pod.required_affinity or pod.required_anti_affinity or terms_about(pod, REQUIRED_ANTI_AFFINITY, cycle))

    def pre_filter(self, pod: Template, cycle: FrameworkCycle) -> Status | None:
        if text := _faults(pod, self.handle.cells):
            return unresolvable(f"parsing pod: {text}")
        if pod.required_affinity or pod.required_anti_affinity or _is_refused_somewhere(pod, cycle):
            return None
        return SKIP

    def filter(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Failures | None:
        """The pod's own affinity is looked at first, then its anti-affinity, then that of pods that are there."""
        unmet = violated = None
        affinity, anti = _own_terms(pod, cycle)
        if affinity.keys:
            # Upstream: even the first of its kind needs a node with all the keys.
            unmet = affinity_unmet(affinity, nodes, nodes.delta)
            for key in affinity.keys:
                absent = ~nodes.label(key).present
                unmet = absent if unmet is None else unmet | absent
        if anti.by_key:
            violated = anti_affinity_violated(anti, nodes, nodes.delta)
        refused = refused_by_existing(terms_about(pod, REQUIRED_ANTI_AFFINITY, cycle), nodes)
        return first_of((unmet, violated, refused), [(UNMET,), (VIOLATED,), (REFUSED,)])

    def filter_by_row(self, pod: Template, cycle: FrameworkCycle) -> Callable[[int], Reasons] | None:
        """Computes the reasons against one row: see :attr:`~kubeclassic.core.rule.Predicate.by_row`."""
        if pod.required_affinity:
            return None
        census, anti = cycle.table.census, _own_terms(pod, cycle)[1]
        refusing: list[tuple[PodCount, str, Reasons]] = [(census.counter(pods), key, (VIOLATED,)) for key, pods in anti.by_key]
        for carrier, counter in terms_about(pod, REQUIRED_ANTI_AFFINITY, cycle):
            refusing.append((counter, carrier.topology_key, (REFUSED,)))
        return first_refusing(refusing, cycle.table)

    def filter_by_value(self, pod: Template, cycle: FrameworkCycle) -> Callable[[], DomainRejections]:
        """Computes the answer by value: see :attr:`~kubeclassic.core.rule.Predicate.by_value`."""
        table, (affinity, anti) = cycle.table, _own_terms(pod, cycle)
        own = [(table.census.counter(unwanted), key, 1) for key, unwanted in anti.by_key]
        others = [(counter, carrier.topology_key, 1) for carrier, counter in terms_about(pod, REQUIRED_ANTI_AFFINITY, cycle)]
        unmet = unmet_by_value(affinity, table, (UNMET,), needs_keys=True) if affinity.keys else list
        refusing = [(sums, (VIOLATED,)) for sums in KeySums.of_each(own, table)]
        refusing += [(sums, (REFUSED,)) for sums in KeySums.of_each(others, table)]
        return lambda: [*unmet(), *refused_by_value(refusing)]

    # --- what is preferred ------------------------------------------------------------------------------------------

    def score_key(self, pod: Template) -> Hashable:
        return pod.namespace, pod.labels, pod.preferred_affinity, pod.preferred_anti_affinity

    def score_by_domain(self, pod: Template) -> bool:
        return True

    def score_is_idle(self, pod: Template, cycle: FrameworkCycle) -> bool:
        """Whether no term makes a difference: see :attr:`~kubeclassic.core.rule.Priority.is_idle`."""
        return not self._looks_at_existing(pod) or likes_nothing(pod, cycle)

    def pre_score(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Status | None:
        if text := self._noted_faults(pod) if self._looks_at_existing(pod) else "":
            return error(f"failed to parse pod: {text}")
        skips = InterPodAffinity.name in self.handle.cells.skips_scoring
        # Upstream: it is pods that count, also where weights add up to 0.
        return SKIP if skips and not has_pods_in_domains(self._likings(pod, cycle), cycle.table, cycle.table.deleted_rows) else None

    def _noted_faults(self, pod: Template) -> str:
        found = pod.notes.get(_FAULTS)
        if found is None:
            found = pod.notes[_FAULTS] = _faults(pod, self.handle.cells)
        return found

    def score(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Scores:
        """The sum of the weights of the pod's own terms and of existing pods' terms about it: int64[n]."""
        if not self._looks_at_existing(pod):
            return np.zeros(nodes.n, np.int64)
        return liking(pod, nodes, cycle, self.args.hard_pod_affinity_weight)

    def _looks_at_existing(self, pod: Template) -> bool:
        has_preferences = bool(pod.preferred_affinity or pod.preferred_anti_affinity)
        # Upstream: the required affinity of pods that are there is passed over with their preferences.
        return has_preferences or not self.args.ignore_preferred_terms_of_existing_pods

    def score_by_value(self, pod: Template, cycle: FrameworkCycle) -> Callable[[], ScoresByValue]:
        """Computes the raw scores by value: see :attr:`~kubeclassic.core.rule.Priority.by_value`."""
        table = cycle.table
        by_key = KeySums.of_each(self._likings(pod, cycle), table, table.deleted_rows)
        return lambda: [(sums.key, values) for sums in by_key if (values := sums()) is not None]

    def score_by_row(self, pod: Template, cycle: FrameworkCycle) -> Callable[[int], int] | None:
        """Computes the raw score of one row: see :attr:`~kubeclassic.core.rule.Priority.by_row`."""
        return None if cycle.table.deleted_rows else sum_at(self._likings(pod, cycle), cycle.table)

    def _likings(self, pod: Template, cycle: FrameworkCycle) -> list[Weighted]:
        return list(likings(pod, cycle, self.args.hard_pod_affinity_weight)) if self._looks_at_existing(pod) else []

    def events_to_register(self) -> Sequence[ClusterEvent]:
        handle, own = self.handle, Action.ADD | Action.UPDATE_NODE_LABEL
        pods = Action.ADD | Action.UPDATE_POD_LABEL | Action.DELETE if handle.queueing.pod_changes else Action.ALL
        domains = partial(affine_node_changes, compares=handle.compares(self.name))
        node = handle.node_event(own, handle.labels_and_taints(own), domains)
        return ClusterEvent("Pod", pods, hint=affine_pod_changes), node


def _own_terms(pod: Template, cycle: FrameworkCycle) -> tuple[RequiredAffinity, AntiAffinity]:
    """The required terms of *pod*, namespaces by name."""
    found = cycle.notes.get(_OWN_TERMS)
    if found is None:
        found = cycle.notes[_OWN_TERMS] = RequiredAffinity.of(pod).by_name(pod, cycle), AntiAffinity.of(pod).by_name(cycle)
    return found


def _is_refused_somewhere(pod: Template, cycle: FrameworkCycle) -> bool:
    terms = terms_about(pod, REQUIRED_ANTI_AFFINITY, cycle)
    return has_pods_in_domains(((counter, carrier.topology_key, 1) for carrier, counter in terms), cycle.table)


def _faults(pod: Template, cells: FrameworkCells) -> str:
    """What is wrong with the selectors of *pod*'s terms, preferred ones included; empty where nothing is."""
    if not pod.has_pod_affinity:
        return ""
    return aggregated(f"{FIELDS[role]}: {_fault(pod, role, cells)}" for role in ROLES if unreadable(pod, role) is not None)


def _fault(pod: Template, role: str, cells: FrameworkCells) -> str:
    return next(filter(None, _selector_faults(pod, role, cells)), "")


def _selector_faults(pod: Template, role: str, cells: FrameworkCells) -> Iterator[str]:
    for term, _ in terms_of(pod, role):
        yield label_selector_fault(term.label_selector, cells)
        yield label_selector_fault(term.namespace_selector, cells)
