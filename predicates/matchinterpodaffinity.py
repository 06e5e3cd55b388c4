"""Do required pod affinity and anti-affinity, of the pod and of those already there, allow the pod on the
node?

Upstream's predicate metadata holds sets of (topology key, value) pairs. Here a pair is in a set if the census
counts a matching pod in that domain. The edits of a trial follow upstream's updates of these sets. Upstream:
pkg/scheduler/algorithm/predicates/metadata.go getTPMapMatching...; RemovePod and AddPod there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import attrs
import numpy as np

from ..api.meaning import selector_matches
from ..core.matching import by_name, pods_with_any_key
from .rule import (
    EXISTING_PODS_ANTI_AFFINITY_RULES_NOT_MATCH,
    POD_AFFINITY_NOT_MATCH,
    POD_AFFINITY_RULES_NOT_MATCH,
    POD_ANTI_AFFINITY_RULES_NOT_MATCH,
    REQUIRED_AFFINITY,
    REQUIRED_ANTI_AFFINITY,
    Batch,
    Clause,
    Cycle,
    DomainSum,
    Entry,
    Failures,
    Ints,
    Mask,
    NodeTable,
    PodCount,
    PodsTargeted,
    Reads,
    Reasons,
    StateKey,
    Template,
    Terms,
    Unreadable,
    Weighted,
    added,
    grown,
    predicate,
    targeted_by,
    unreadable,
)

# --- Without predicate metadata: all pods are checked again for each node, and answers differ ---------------


REFUSED_BY_EXISTING = (POD_AFFINITY_NOT_MATCH, EXISTING_PODS_ANTI_AFFINITY_RULES_NOT_MATCH)
AFFINITY_UNMET = (POD_AFFINITY_NOT_MATCH, POD_AFFINITY_RULES_NOT_MATCH)
ANTI_AFFINITY_VIOLATED = (POD_AFFINITY_NOT_MATCH, POD_ANTI_AFFINITY_RULES_NOT_MATCH)
EMPTY_KEY = "empty topologyKey is not allowed except for PreferredDuringScheduling pod anti-affinity"


def without_metadata(pod: Template, nodes: Batch, cycle: Cycle) -> Failures | None:
    """The rule's answer in a cycle without predicate metadata.

    Upstream: pkg/scheduler/algorithm/predicates/predicates.go satisfiesExistingPodsAntiAffinity,
    satisfiesPodsAffinityAntiAffinity.
    """
    table = nodes.table
    terms = table.census.terms_about(pod, REQUIRED_ANTI_AFFINITY)
    holding = added(DomainSum.of_each(_weighted_terms(terms), table, table.deleted_rows), nodes)
    for carrier, _ in terms if nodes.edits else ():
        edited = nodes.edited(carrier)
        holding = holding + (edited.placed - edited.taken) * nodes.label(carrier.topology_key).present
    refused = holding > 0
    # For each node the error of the first invalid anti-affinity of a pod whose node is found.
    error: list[str | None] = [None] * nodes.n
    if nodes.counter(Unreadable((REQUIRED_ANTI_AFFINITY,))).total:
        if nodes.edits:
            error = [next(_unreadable_texts(nodes, i), None) for i in range(nodes.n)]
        else:
            error = [next(_unreadable_texts(nodes, 0), None)] * nodes.n
    judge = _OwnTerms.of(pod, nodes, cycle) if pod.required_affinity or pod.required_anti_affinity else None
    outcomes: list[Reasons | str | None] = []
    for i in range(nodes.n):
        if error[i] is not None:
            outcomes.append(
                cycle.release.affinity_texts["existing"].format(pod=cycle.pod.key, error=error[i])
            )
        elif refused[i]:
            outcomes.append(REFUSED_BY_EXISTING)
        else:
            outcomes.append(judge.check(i) if judge is not None and nodes.has_node[i] else None)
    return Failures.of_rows(outcomes)


def is_found(table: NodeTable, row: int) -> bool:
    """Whether the lister finds the row's node."""
    return bool(table.has_node[row]) and row not in table.deleted_rows


def listed(nodes: Batch, i: int) -> Iterator[tuple[int, Entry]]:
    """All pods with their rows, as the pod lister has them while node *i* is checked: without the pods that a
    trial removed from that node."""
    table = nodes.table
    judged_row = nodes.row(i)
    for name in sorted(table.row_of):
        row = table.row_of[name]
        if row == judged_row and nodes.edits:
            keys_left = {(entry.pod.namespace, entry.pod.name) for entry in nodes.pods(i)}
            yield from (
                (row, entry)
                for entry in table.pods[row]
                if (entry.pod.namespace, entry.pod.name) in keys_left
            )
        else:
            yield from ((row, entry) for entry in table.pods[row])


# --- anti-affinity of existing pods -------------------------------------------------------------------------


def _unreadable_texts(nodes: Batch, i: int) -> Iterator[str]:
    for row, entry in listed(nodes, i):
        text = unreadable(entry.template, REQUIRED_ANTI_AFFINITY)
        if text is not None and is_found(nodes.table, row):
            yield text


# --- the pod's own terms ------------------------------------------------------------------------------------

NO_PLACE = sys.maxsize
"""The place of a pod that does not exist: after all places in the list."""
Domains = tuple[int, ...]
"""Codes of the labels of a role's keys."""


@attrs.define(eq=False)
class _Role:
    """The terms of one role, and the places in the list of the pods that all of them match."""

    table: NodeTable
    keys: tuple[str, ...]
    error: str | None
    """The error of the first invalid selector. If there is one, every pod counts as this error."""
    targeted: PodCount | None
    by_domains: dict[Domains, list[int]] = attrs.Factory(dict)
    errors: list[tuple[int, str]] = attrs.Factory(list)
    anywhere: list[int] = attrs.Factory(list)
    """The places of all matching pods whose node is found."""

    @classmethod
    def of(cls, pod: Template, role: str, nodes: Batch) -> _Role:
        keys = dict.fromkeys(term.topology_key for term in getattr(pod, role))
        error = unreadable(pod, role)
        return cls(
            nodes.table,
            tuple(keys),
            error,
            None if error else nodes.counter(targeted_by(pod, role, every=True)),
        )

    @property
    def holding_rows(self) -> Ints:
        """The number of pods to look at on each row: int64[rows]."""
        if not self.keys:
            return np.zeros(self.table.size, np.int64)
        counts = self.table.pod_count if self.targeted is None else grown(self.targeted.rows, self.table.size)
        return counts[: self.table.size]

    def note(self, place: int, row: int, template: Template) -> None:
        """Add a pod on *row*, if this role has to look at it."""
        if not self.keys or (self.targeted is not None and not self.targeted.of(template)):
            return
        if self.error is not None:
            self.errors.append((place, self.error))
        elif not is_found(self.table, row):
            self.errors.append((place, f'node "{self.table.names[row]}" not found'))
        else:
            self.anywhere.append(place)
            self.by_domains.setdefault(self.domains(row), []).append(place)

    def domains(self, row: int) -> Domains:
        """The domains of a row by all keys, or those before an empty one."""
        # Upstream: keys are compared one after the other; an empty one is an error as soon as it is reached.
        keys = self.keys[: self.keys.index("")] if "" in self.keys else self.keys
        return tuple(
            int(self.table.labels[key].codes[row]) if key in self.table.labels else 0 for key in keys
        )

    def sharing(self, row: int) -> list[int]:
        """The places of pods in all of a row's domains."""
        domains = self.domains(row)
        return [] if 0 in domains else self.by_domains.get(domains, [])


@attrs.define(eq=False)
class _OwnTerms:
    """One pod's own terms, checked node by node against the pods that they match."""

    nodes: Batch
    cycle: Cycle
    affinity: _Role
    anti: _Role
    itself: bool
    places: dict[int, list[tuple[int, Entry]]] = attrs.Factory(dict)
    """Row -> the places of its pods in the list."""

    @classmethod
    def of(cls, pod: Template, nodes: Batch, cycle: Cycle) -> _OwnTerms:
        affinity = _Role.of(pod, REQUIRED_AFFINITY, nodes)
        anti = _Role.of(pod, REQUIRED_ANTI_AFFINITY, nodes)
        terms = cls(
            nodes, cycle, affinity, anti, affinity.targeted is not None and bool(affinity.targeted.of(pod))
        )
        names = nodes.table.names
        place = 0
        for row in sorted(
            np.flatnonzero(affinity.holding_rows + anti.holding_rows).tolist(), key=lambda row: names[row]
        ):
            for entry in nodes.table.pods[row]:
                terms.places.setdefault(row, []).append((place, entry))
                affinity.note(place, row, entry.template)
                anti.note(place, row, entry.template)
                place += 1
        return terms

    def check(self, i: int) -> Reasons | str | None:
        """The reasons against node *i*, or the text of an error."""
        row = self.nodes.row(i)
        places_gone = set()
        if self.nodes.edits:  # the places of pods that left the node in a trial
            keys_left = {(entry.pod.namespace, entry.pod.name) for entry in self.nodes.pods(i)}
            places = self.places.get(row, ())
            places_gone = {
                place for place, entry in places if (entry.pod.namespace, entry.pod.name) not in keys_left
            }
        first_match = _first_place(self.affinity.sharing(row), places_gone)
        error = _first_error(self.affinity, places_gone)
        if "" in self.affinity.keys and first_match < error[0]:
            first_match, error = NO_PLACE, (first_match, EMPTY_KEY)
        # Upstream: an error in the anti-affinity counts as a violation.
        first_violation = min(
            _first_place(self.anti.sharing(row), places_gone), _first_error(self.anti, places_gone)[0]
        )
        if error[0] < min(first_match, first_violation + 1):
            form = self.cycle.release.affinity_texts["affinity"]
            return form.format(pod=self.cycle.pod.key, node=self.nodes.name(i), error=error[1])
        if first_violation < NO_PLACE:
            return ANTI_AFFINITY_VIOLATED
        is_first = self.itself and _first_place(self.affinity.anywhere, places_gone) == NO_PLACE
        return None if not self.affinity.keys or first_match < NO_PLACE or is_first else AFFINITY_UNMET


def _first_place(places: list[int], places_gone: set[int]) -> int:
    return next((place for place in places if place not in places_gone), NO_PLACE)


def _first_error(role: _Role, places_gone: set[int]) -> tuple[int, str]:
    return next((error for error in role.errors if error[0] not in places_gone), (NO_PLACE, ""))


# --- With metadata ------------------------------------------------------------------------------------------


_AFFINITY: StateKey[RequiredAffinity] = StateKey(REQUIRED_AFFINITY)
_ANTI_AFFINITY: StateKey[AntiAffinity] = StateKey(REQUIRED_ANTI_AFFINITY)


def _clauses(pod: Template, cycle: Cycle) -> list[Clause] | None:
    """The tests by domain, in order. None where pods have to be checked one by one, as without metadata."""
    if not cycle.has_metadata:
        return None
    table = cycle.table
    required = RequiredAffinity.of(pod) if pod.required_affinity else None
    clauses = clauses_of_existing(
        table.census.terms_about(pod, REQUIRED_ANTI_AFFINITY), table, REFUSED_BY_EXISTING
    )
    if required is not None:
        unmet = unmet_clauses(required, table, AFFINITY_UNMET)
        if unmet is None:
            return None
        clauses += unmet
    if pod.required_anti_affinity and unreadable(pod, REQUIRED_ANTI_AFFINITY) is None:
        clauses += AntiAffinity.of(pod).clauses(table, ANTI_AFFINITY_VIOLATED)
    return clauses


def clauses_of_existing(terms: Terms, table: NodeTable, reasons: Reasons) -> list[Clause]:
    """The clauses against domains with a pod that carries one of *terms*."""
    return [
        Clause(sum=domain_sum, reasons=reasons)
        for domain_sum in DomainSum.of_each(_weighted_terms(terms), table)
    ]


def _weighted_terms(terms: Terms) -> list[Weighted]:
    """The counters of the pods with each of *terms*, for a sum by domain."""
    return [(counter, carrier.topology_key, 1) for carrier, counter in terms]


def unmet_clauses(
    affinity: RequiredAffinity, table: NodeTable, unmet: Reasons, *, needs_keys: bool = False
) -> list[Clause] | None:
    """The clauses against domains without a pod that *affinity* matches; None where one of its keys is on no
    node.

    *needs_keys*: even the first of its kind needs a node with all the keys.
    """
    counter = table.census.counter(affinity.wanted)
    sums = DomainSum.of_each([(counter, key, 1) for key in affinity.keys], table)
    if len(sums) < len(affinity.keys):
        return None
    alone = sums if affinity.itself else ()
    return [
        Clause(
            sum=total, reasons=unmet, wants=True, keyless=True, unless_none=alone, keyless_alone=needs_keys
        )
        for total in sums
    ]


@predicate(
    "MatchInterPodAffinity",
    reads=Reads.NODE | Reads.DOMAIN,
    key=lambda pod: (pod.namespace, pod.labels, pod.required_affinity, pod.required_anti_affinity),
    clauses=_clauses,
)
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


def first_of(masks: Sequence[Mask | None], reasons: Sequence[Reasons]) -> Failures | None:
    """The failures of the nodes, each with the entry of *reasons* for the first of *masks* that is set.

    *masks*: bool[n] each; None: set for no node.
    """
    codes = None
    for code in range(len(masks), 0, -1):
        mask = masks[code - 1]
        if mask is not None:
            codes = mask * np.int64(code) if codes is None else np.where(mask, code, codes)
    return None if codes is None else Failures.coded(codes, reasons)


def refused_by_existing(terms: Terms, nodes: Batch) -> Mask:
    """The nodes whose domain has a pod with one of *terms*, anti-affinity that matches the incoming pod;
    nominated pods count too."""
    holding = added(DomainSum.of_each(_weighted_terms(terms), nodes.table), nodes)
    for carrier, _ in terms if nodes.edits else ():
        holding += nodes.edited(carrier).net * nodes.label(carrier.topology_key).present
    return holding > 0


def refused_in_trial(pod: Template, terms: Terms, nodes: Batch) -> Mask:
    """As :func:`refused_by_existing`, but edits count too of pods of other namespaces whose terms name no
    namespace: bool[n]."""
    # Upstream: a trial reads the terms of other pods as if they were the incoming pod's.
    foreign: dict[str, Ints] = {}
    for edit in nodes.edits:
        template = edit.entry.template
        if template.namespace == pod.namespace or unreadable(template, REQUIRED_ANTI_AFFINITY) is not None:
            continue
        for term in template.required_anti_affinity:
            if not term.namespaces and selector_matches(term.label_selector, pod.labels):
                foreign.setdefault(term.topology_key, nodes.zeros())[edit.at] += edit.sign
    refused = nodes.none()
    for key in {*foreign, *(carrier.topology_key for carrier, _ in terms)}:
        terms_of_key = [(carrier, counter) for carrier, counter in terms if carrier.topology_key == key]
        holding = added(
            DomainSum.of_each([(counter, key, 1) for _, counter in terms_of_key], nodes.table), nodes
        )
        holding = holding + sum(
            (nodes.edited(carrier).net for carrier, _ in terms_of_key), foreign.get(key, nodes.zeros())
        )
        refused |= (holding > 0) & nodes.label(key).present
    return refused


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
        affinity = pod.notes.get(_AFFINITY)
        if affinity is None:
            query = targeted_by(pod, REQUIRED_AFFINITY, every=True)
            keys = dict.fromkeys(term.topology_key for term in pod.required_affinity)
            affinity = pod.notes[_AFFINITY] = cls(query, tuple(keys), bool(query.counts(pod)))
        return affinity

    def by_name(self, pod: Template, cycle: Cycle) -> RequiredAffinity:
        """The same, with the namespaces that it selects by labels replaced by names."""
        query = by_name(self.wanted, cycle)
        if query is self.wanted:
            return self
        return RequiredAffinity(query, self.keys, bool(query.counts(pod)))


def affinity_unmet(affinity: RequiredAffinity, nodes: Batch, change: Callable[[PodsTargeted], Ints]) -> Mask:
    """The nodes whose domain lacks a pod that *affinity* matches, bool[n]; none if no domain has one and the
    pod matches its own terms. *change*: how many of them edits add on each node, int64[n]."""
    counter = nodes.counter(affinity.wanted)
    edit_changes = change(affinity.wanted)
    unmet = nodes.none()
    has_any = nodes.none()
    for key in affinity.keys:
        label = nodes.label(key)
        has_any |= label.present
        unmet |= (counter.domains(key, nodes.table.labels)[label.codes] + edit_changes * label.present) <= 0
    if not affinity.itself:
        return unmet
    # Upstream: only collected pairs count here, so pods on nodes without any of the keys do not.
    return unmet & (pods_with_any_key(nodes, counter, affinity.keys) + edit_changes * has_any > 0)


@attrs.frozen(eq=False)
class AntiAffinity:
    """The required anti-affinity of a template, by topology key: ``(key, the pods that its terms match)``."""

    by_key: tuple[tuple[str, PodsTargeted], ...]
    any_term: PodsTargeted

    @classmethod
    def of(cls, pod: Template) -> AntiAffinity:
        """The required anti-affinity of *pod*."""
        anti_affinity = pod.notes.get(_ANTI_AFFINITY)
        if anti_affinity is None:
            keys = dict.fromkeys(term.topology_key for term in pod.required_anti_affinity)
            anti_affinity = pod.notes[_ANTI_AFFINITY] = cls(
                tuple((key, targeted_by(pod, REQUIRED_ANTI_AFFINITY, every=False, key=key)) for key in keys),
                targeted_by(pod, REQUIRED_ANTI_AFFINITY, every=False),
            )
        return anti_affinity

    def clauses(self, table: NodeTable, violated: Reasons) -> list[Clause]:
        """The clauses against domains with a matching pod."""
        sums = DomainSum.of_each([(table.census.counter(query), key, 1) for key, query in self.by_key], table)
        return [Clause(sum=domain_sum, reasons=violated) for domain_sum in sums]

    def by_name(self, cycle: Cycle) -> AntiAffinity:
        """The same, with the namespaces that it selects by labels replaced by names."""
        any_term = by_name(self.any_term, cycle)
        if any_term is self.any_term:
            return self
        return AntiAffinity(tuple((key, by_name(targeted, cycle)) for key, targeted in self.by_key), any_term)


def anti_affinity_violated(anti: AntiAffinity, nodes: Batch, change: Callable[[PodsTargeted], Ints]) -> Mask:
    """The nodes whose domain has a pod that *anti* matches: bool[n]; *change* is the number that edits add on
    each node, int64[n]."""
    violated = nodes.none()
    for key, query in anti.by_key:
        label = nodes.label(key)
        violated |= (
            nodes.counter(query).domains(key, nodes.table.labels)[label.codes] + change(query) * label.present
            > 0
        )
    return violated


def change_of(nodes: Batch, leaving: PodsTargeted, coming: PodsTargeted | None = None) -> Ints:
    """The changes that edits make to the count of *leaving* on each node, without pods that are only
    nominated: int64[n].

    *coming*: the pods that count when put back, if others.
    """
    # Upstream: a pod that is put back counts for the keys of all terms if any one term matches it; one that
    # is only nominated does not count here, unless it names a node in its spec.
    coming = leaving if coming is None else coming
    came = nodes.edited(coming)
    return came.placed + came.given - nodes.edited(leaving).taken
