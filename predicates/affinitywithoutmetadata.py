"""MatchInterPodAffinity in a cycle without predicate metadata: all pods are checked again for each node, and
the answers differ.

Pods come in the order of the scheduler's pod lister: by node name, then in the node's own order. Their nodes
are looked up by name; deleted nodes are not found. A pod counts only if all terms match it and it shares the
domains of all of them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import attrs
import numpy as np

from ..core.arrays import Batch, DomainSum, Failures, Ints, NodeTable, PodCount, Reasons, added, grown
from ..core.cycle import Cycle
from ..core.pods import (
    REQUIRED_AFFINITY,
    REQUIRED_ANTI_AFFINITY,
    Entry,
    Template,
    Unreadable,
    targeted_by,
    unreadable,
)
from .reasons import (
    EXISTING_PODS_ANTI_AFFINITY_RULES_NOT_MATCH,
    POD_AFFINITY_NOT_MATCH,
    POD_AFFINITY_RULES_NOT_MATCH,
    POD_ANTI_AFFINITY_RULES_NOT_MATCH,
)

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
    carried = [(counter, carrier.topology_key, 1) for carrier, counter in terms]
    holding = added(DomainSum.of_each(carried, table, table.deleted_rows), nodes)
    for carrier, _ in terms if nodes.edits else ():
        edited = nodes.edited(carrier)
        holding = holding + (edited.placed - edited.taken) * nodes.label(carrier.topology_key).present
    refused = holding > 0
    error = _unreadable_existing(pod, nodes)
    own = _OwnTerms.of(pod, nodes, cycle) if pod.required_affinity or pod.required_anti_affinity else None
    outcomes: list[Reasons | str | None] = []
    for i in range(nodes.n):
        if error[i] is not None:
            outcomes.append(
                cycle.release.affinity_texts["existing"].format(pod=cycle.pod.key, error=error[i])
            )
        elif refused[i]:
            outcomes.append(REFUSED_BY_EXISTING)
        else:
            outcomes.append(own.check(i) if own is not None and nodes.has_node[i] else None)
    return Failures.of_rows(outcomes)


def is_found(table: NodeTable, row: int) -> bool:
    """Whether the lister finds the row's node."""
    return bool(table.has_node[row]) and row not in table.deleted_rows


def listed(nodes: Batch, i: int) -> Iterator[tuple[int, Entry]]:
    """All pods with their rows as the pod lister has them while node *i* is judged: pods that a trial took
    off it are left out."""
    table = nodes.table
    judged = nodes.row(i)
    for name in sorted(table.row_of):
        row = table.row_of[name]
        if row == judged and nodes.edits:
            kept = {(entry.pod.namespace, entry.pod.name) for entry in nodes.pods(i)}
            yield from (
                (row, entry) for entry in table.pods[row] if (entry.pod.namespace, entry.pod.name) in kept
            )
        else:
            yield from ((row, entry) for entry in table.pods[row])


# --- anti-affinity of existing pods -------------------------------------------------------------------------


def _unreadable_existing(pod: Template, nodes: Batch) -> list[str | None]:
    """For each node: the error of the first invalid anti-affinity of a pod whose node is found."""
    if not nodes.counter(Unreadable((REQUIRED_ANTI_AFFINITY,))).total:
        return [None] * nodes.n
    if not nodes.edits:
        return [next(_unreadable_texts(nodes, 0), None)] * nodes.n
    return [next(_unreadable_texts(nodes, i), None) for i in range(nodes.n)]


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
        held = self.table.pod_count if self.targeted is None else grown(self.targeted.rows, self.table.size)
        return held[: self.table.size]

    @property
    def has_empty_key(self) -> bool:
        return "" in self.keys

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
        keys = self.keys[: self.keys.index("")] if self.has_empty_key else self.keys
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
        found = cls(
            nodes, cycle, affinity, anti, affinity.targeted is not None and bool(affinity.targeted.of(pod))
        )
        names = nodes.table.names
        place = 0
        for row in sorted(
            np.flatnonzero(affinity.holding_rows + anti.holding_rows).tolist(), key=lambda row: names[row]
        ):
            for entry in nodes.table.pods[row]:
                found.places.setdefault(row, []).append((place, entry))
                affinity.note(place, row, entry.template)
                anti.note(place, row, entry.template)
                place += 1
        return found

    def check(self, i: int) -> Reasons | str | None:
        """The reasons against node *i*, or the text of an error."""
        row = self.nodes.row(i)
        gone = self._gone(i)
        wanted = _first(self.affinity.sharing(row), gone)
        error = _first_error(self.affinity, gone)
        if self.affinity.has_empty_key and wanted < error[0]:
            wanted, error = NO_PLACE, (wanted, EMPTY_KEY)
        # Upstream: an error in the anti-affinity counts as a violation.
        refused = min(_first(self.anti.sharing(row), gone), _first_error(self.anti, gone)[0])
        if error[0] < min(wanted, refused + 1):
            texts = self.cycle.release.affinity_texts
            return texts["affinity"].format(pod=self.cycle.pod.key, node=self.nodes.name(i), error=error[1])
        if refused < NO_PLACE:
            return ANTI_AFFINITY_VIOLATED
        is_first = self.itself and _first(self.affinity.anywhere, gone) == NO_PLACE
        return None if not self.affinity.keys or wanted < NO_PLACE or is_first else AFFINITY_UNMET

    def _gone(self, i: int) -> set[int]:
        """The places of pods that left node *i* in a trial."""
        if not self.nodes.edits:
            return set()
        kept = {(entry.pod.namespace, entry.pod.name) for entry in self.nodes.pods(i)}
        places = self.places.get(self.nodes.row(i), ())
        return {place for place, entry in places if (entry.pod.namespace, entry.pod.name) not in kept}


def _first(places: list[int], gone: set[int]) -> int:
    return next((place for place in places if place not in gone), NO_PLACE)


def _first_error(role: _Role, gone: set[int]) -> tuple[int, str]:
    return next((error for error in role.errors if error[0] not in gone), (NO_PLACE, ""))
