"""Do required pod affinity and anti-affinity, of the pod and of those already there, allow the pod on the
node?

Upstream's predicate metadata holds sets of (topology key, value) pairs. Here a pair is in a set if the census
counts a matching pod in that domain. The edits of a trial follow upstream's updates of these sets. Upstream:
pkg/scheduler/algorithm/predicates/metadata.go getTPMapMatching...; RemovePod and AddPod there.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial

import attrs
import numpy as np

from ..api.meaning import selector_matches
from ..core.arrays import Batch, Clause, DomainSum, Failures, Ints, Mask, NodeTable, Reasons, Terms, added
from ..core.cycle import Cycle, Reads
from ..core.matching import by_name, pods_with_any_key
from ..core.pods import (
    REQUIRED_AFFINITY,
    REQUIRED_ANTI_AFFINITY,
    PodsTargeted,
    StateKey,
    Template,
    targeted_by,
    unreadable,
)
from .affinitywithoutmetadata import (
    AFFINITY_UNMET,
    ANTI_AFFINITY_VIOLATED,
    REFUSED_BY_EXISTING,
    without_metadata,
)
from .rule import predicate

NAME = "MatchInterPodAffinity"
_AFFINITY: StateKey[RequiredAffinity] = StateKey(REQUIRED_AFFINITY)
_ANTI_AFFINITY: StateKey[AntiAffinity] = StateKey(REQUIRED_ANTI_AFFINITY)


def _key(pod: Template) -> Hashable:
    return pod.namespace, pod.labels, pod.required_affinity, pod.required_anti_affinity


def _clauses(pod: Template, cycle: Cycle) -> list[Clause] | None:
    """The tests by domain, in order; without metadata, pods of existing nodes are looked at one by one."""
    if not cycle.has_metadata:
        return None
    table = cycle.table
    required = RequiredAffinity.of(pod) if pod.required_affinity else None
    found = refusing(table.census.terms_about(pod, REQUIRED_ANTI_AFFINITY), table, REFUSED_BY_EXISTING)
    if required is not None:
        unmet = unmet_clauses(required, table, AFFINITY_UNMET)
        if unmet is None:
            return None
        found += unmet
    if pod.required_anti_affinity and unreadable(pod, REQUIRED_ANTI_AFFINITY) is None:
        found += AntiAffinity.of(pod).clauses(table, ANTI_AFFINITY_VIOLATED)
    return found


def refusing(terms: Terms, table: NodeTable, reasons: Reasons) -> list[Clause]:
    """Domains are refused where a pod carries one of *terms*."""
    counted = DomainSum.of_each([(counter, carrier.topology_key, 1) for carrier, counter in terms], table)
    return [Clause(sum=each, reasons=reasons) for each in counted]


def unmet_clauses(
    affinity: RequiredAffinity, table: NodeTable, unmet: Reasons, *, needs_keys: bool = False
) -> list[Clause] | None:
    """Domains are refused where *affinity* finds no pod; *needs_keys*: even the first of its kind needs a
    node with all the keys.

    None where no node has one of the keys.
    """
    counter = table.census.counter(affinity.wanted)
    sums = DomainSum.of_each([(counter, key, 1) for key in affinity.keys], table)
    if len(sums) < len(affinity.keys):
        return None
    alone = sums if affinity.itself else ()
    return [
        Clause(sum=each, reasons=unmet, wants=True, keyless=True, unless_none=alone, keyless_alone=needs_keys)
        for each in sums
    ]


@predicate(NAME, reads=Reads.NODE | Reads.DOMAIN, key=_key, clauses=_clauses)
def match_inter_pod_affinity(pod: Template, nodes: Batch, cycle: Cycle) -> Failures | None:
    """Turn down nodes where *pod* violates the anti-affinity of an existing pod, its own affinity or its own
    anti-affinity.

    Upstream: pkg/scheduler/algorithm/predicates/predicates.go InterPodAffinityMatches.
    """
    if not cycle.has_metadata:
        return without_metadata(pod, nodes, cycle)
    unmet = violated = None
    if pod.required_affinity:
        unmet = affinity_unmet(RequiredAffinity.of(pod), nodes, partial(change_of, nodes))
    # Upstream: selectors are parsed only where there is a pod to match, and an error there would have left no
    # metadata.
    if pod.required_anti_affinity and unreadable(pod, REQUIRED_ANTI_AFFINITY) is None:
        anti = AntiAffinity.of(pod)
        violated = anti_affinity_violated(anti, nodes, partial(change_of, nodes, coming=anti.any_term))
    refused = refused_by_existing(nodes.table.census.terms_about(pod, REQUIRED_ANTI_AFFINITY), nodes)
    return first_of((refused, unmet, violated), (REFUSED_BY_EXISTING, AFFINITY_UNMET, ANTI_AFFINITY_VIOLATED))


def first_of(found: Sequence[Mask | None], reasons: Sequence[Reasons]) -> Failures | None:
    """For each node the one of *reasons* that belongs to the first mask of *found* that is set: bool[n] each,
    None: for no node."""
    codes: Ints | None = None
    for code in range(len(found), 0, -1):
        mask = found[code - 1]
        if mask is not None:
            codes = mask * np.int64(code) if codes is None else np.where(mask, code, codes)
    return None if codes is None else Failures.coded(codes, reasons)


def refused_by_existing(terms: Terms, nodes: Batch) -> Mask:
    """The nodes whose domain has a pod with one of *terms*, anti-affinity that matches the incoming pod;
    nominated pods count too."""
    holding = added(
        DomainSum.of_each([(counter, carrier.topology_key, 1) for carrier, counter in terms], nodes.table),
        nodes,
    )
    for carrier, _ in terms if nodes.edits else ():
        holding += nodes.edited(carrier).net * nodes.label(carrier.topology_key).present
    found: Mask = holding > 0
    return found


def refused_in_trial(pod: Template, terms: Terms, nodes: Batch) -> Mask:
    """As :func:`refused_by_existing`, where edits of pods of other namespaces whose terms name none count,
    too: bool[n]."""
    # Upstream: a trial reads the terms of other pods as if they were the incoming pod's.
    foreign: dict[str, Ints] = {}
    for edit in nodes.edits:
        for key in _foreign_keys(pod, edit.entry.template):
            foreign.setdefault(key, nodes.zeros())[edit.at] += edit.sign
    refused = nodes.none()
    for key in {*foreign, *(carrier.topology_key for carrier, _ in terms)}:
        mine = [(carrier, counter) for carrier, counter in terms if carrier.topology_key == key]
        holding = added(DomainSum.of_each([(counter, key, 1) for _, counter in mine], nodes.table), nodes)
        holding = holding + sum(
            (nodes.edited(carrier).net for carrier, _ in mine), foreign.get(key, nodes.zeros())
        )
        refused |= (holding > 0) & nodes.label(key).present
    return refused


def _foreign_keys(pod: Template, other: Template) -> list[str]:
    """The topology keys of *other*'s terms without namespaces that would match *pod* if both were in one
    namespace, but are not."""
    if other.namespace == pod.namespace or unreadable(other, REQUIRED_ANTI_AFFINITY) is not None:
        return []
    found = (term for term in other.required_anti_affinity if not term.namespaces)
    return [term.topology_key for term in found if selector_matches(term.label_selector, pod.labels)]


@attrs.frozen(eq=False)
class RequiredAffinity:
    """The required affinity of a template. A pod counts if all terms match it, in the domain of every key."""

    wanted: PodsTargeted
    keys: tuple[str, ...]
    itself: bool
    """The pod matches its own terms."""

    @classmethod
    def of(cls, pod: Template) -> RequiredAffinity:
        """The required affinity of *pod*."""
        found = pod.notes.get(_AFFINITY)
        if found is None:
            wanted = targeted_by(pod, REQUIRED_AFFINITY, every=True)
            keys = dict.fromkeys(term.topology_key for term in pod.required_affinity)
            found = pod.notes[_AFFINITY] = cls(wanted, tuple(keys), bool(wanted.counts(pod)))
        return found

    def by_name(self, pod: Template, cycle: Cycle) -> RequiredAffinity:
        """The same, with the namespaces that it selects by labels replaced by names."""
        wanted = by_name(self.wanted, cycle)
        if wanted is self.wanted:
            return self
        return RequiredAffinity(wanted, self.keys, bool(wanted.counts(pod)))


def affinity_unmet(affinity: RequiredAffinity, nodes: Batch, change: Callable[[PodsTargeted], Ints]) -> Mask:
    """The nodes whose domain lacks a pod that *affinity* matches, bool[n]; none if no domain has one and the
    pod matches its own terms. *change*: how many of them edits add on each node, int64[n]."""
    counter = nodes.counter(affinity.wanted)
    more = change(affinity.wanted)
    unmet = nodes.none()
    has_any = nodes.none()
    for key in affinity.keys:
        label = nodes.label(key)
        has_any |= label.present
        unmet |= (counter.domains(key, nodes.table.labels)[label.codes] + more * label.present) <= 0
    if not affinity.itself:
        return unmet
    # Upstream: only collected pairs count here, so pods on nodes without any of the keys do not.
    return unmet & (pods_with_any_key(nodes, counter, affinity.keys) + more * has_any > 0)


@attrs.frozen(eq=False)
class AntiAffinity:
    """The required anti-affinity of a template, by topology key: ``(key, the pods that its terms match)``."""

    by_key: tuple[tuple[str, PodsTargeted], ...]
    any_term: PodsTargeted

    @classmethod
    def of(cls, pod: Template) -> AntiAffinity:
        """The required affinity of *pod*."""
        found = pod.notes.get(_ANTI_AFFINITY)
        if found is None:
            keys = dict.fromkeys(term.topology_key for term in pod.required_anti_affinity)
            found = pod.notes[_ANTI_AFFINITY] = cls(
                tuple((key, targeted_by(pod, REQUIRED_ANTI_AFFINITY, every=False, key=key)) for key in keys),
                targeted_by(pod, REQUIRED_ANTI_AFFINITY, every=False),
            )
        return found

    def clauses(self, table: NodeTable, violated: Reasons) -> list[Clause]:
        """Domains are refused where a pod matches."""
        sums = DomainSum.of_each(
            [(table.census.counter(refused), key, 1) for key, refused in self.by_key], table
        )
        return [Clause(sum=each, reasons=violated) for each in sums]

    def by_name(self, cycle: Cycle) -> AntiAffinity:
        """The same, with the namespaces that it selects by labels replaced by names."""
        any_term = by_name(self.any_term, cycle)
        if any_term is self.any_term:
            return self
        return AntiAffinity(tuple((key, by_name(targeted, cycle)) for key, targeted in self.by_key), any_term)


def anti_affinity_violated(anti: AntiAffinity, nodes: Batch, change: Callable[[PodsTargeted], Ints]) -> Mask:
    """The nodes whose domain has a pod that *anti* matches: bool[n]; *change* is the number that edits add on
    each node, int64[n]."""
    met = nodes.none()
    for key, refused in anti.by_key:
        label = nodes.label(key)
        met |= (
            nodes.counter(refused).domains(key, nodes.table.labels)[label.codes]
            + change(refused) * label.present
            > 0
        )
    return met


def change_of(nodes: Batch, leaving: PodsTargeted, coming: PodsTargeted | None = None) -> Ints:
    """The edits' changes of the count of *leaving* on each node, without pods that are only nominated:
    int64[n].

    *coming*: the pods that count where they are put back, if others.
    """
    # Upstream: a pod that is put back counts for the keys of all terms if any one term matches it; one that is
    # only nominated does not count here, unless it names a node in its spec.
    coming = leaving if coming is None else coming
    came = nodes.edited(coming)
    return came.placed + came.given - nodes.edited(leaving).taken
