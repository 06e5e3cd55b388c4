"""MatchInterPodAffinity without predicate metadata: every pod is looked at anew for every node, and the answers differ.

Pods come from the scheduler's pod lister, in ascending order of node name and then in the node's own order; their nodes are looked up
by name, and those that are gone are not found. A pod counts only if it is about all terms and shares the domains of all of them.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import numpy as np

from ..core.batch import Batch
from ..core.census import Counter
from ..core.cycle import Cycle
from ..core.domains import DomainSums
from ..core.failures import Failures, Mask, Reasons
from ..core.podterms import REQUIRED_AFFINITY, REQUIRED_ANTI_AFFINITY, Unreadable, meant_by, unreadable
from ..core.table import NodeTable
from ..core.template import Entry, Template
from .reasons import (
    EXISTING_PODS_ANTI_AFFINITY_RULES_NOT_MATCH,
    POD_AFFINITY_NOT_MATCH,
    POD_AFFINITY_RULES_NOT_MATCH,
    POD_ANTI_AFFINITY_RULES_NOT_MATCH,
)

REFUSED_BY_EXISTING = (POD_AFFINITY_NOT_MATCH, EXISTING_PODS_ANTI_AFFINITY_RULES_NOT_MATCH)
LACKING_COMPANY = (POD_AFFINITY_NOT_MATCH, POD_AFFINITY_RULES_NOT_MATCH)
MEETING_REFUSED = (POD_AFFINITY_NOT_MATCH, POD_ANTI_AFFINITY_RULES_NOT_MATCH)
EMPTY_KEY = "empty topologyKey is not allowed except for PreferredDuringScheduling pod anti-affinity"


def without_metadata(pod: Template, nodes: Batch, cycle: Cycle) -> Failures | None:
    """The rule's answer in a cycle without predicate metadata.

    Upstream: pkg/scheduler/algorithm/predicates/predicates.go satisfiesExistingPodsAntiAffinity, satisfiesPodsAffinityAntiAffinity.
    """
    refused = _refused_by_existing(pod, nodes)
    error = _unreadable_existing(pod, nodes)
    own = _OwnTerms.of(pod, nodes, cycle) if pod.required_affinity or pod.required_anti_affinity else None
    outcomes: list[Reasons | str | None] = []
    for i in range(nodes.n):
        if error[i] is not None:
            outcomes.append(cycle.release.affinity_texts["existing"].format(pod=cycle.pod.key, error=error[i]))
        elif refused[i]:
            outcomes.append(REFUSED_BY_EXISTING)
        else:
            outcomes.append(own.check(i) if own is not None and nodes.has_node[i] else None)
    return Failures.of_rows(outcomes)


def is_found(table: NodeTable, row: int) -> bool:
    """Whether the lister finds the row's node."""
    return bool(table.has_node[row]) and row not in table.ghosts


def listed(nodes: Batch, i: int) -> Iterator[tuple[int, Entry]]:
    """All pods with their rows as the pod lister has them while node *i* is judged: those that left it in a trial are not there."""
    table, judged = nodes.table, nodes.row(i)
    for name in sorted(table.row_of):
        row = table.row_of[name]
        if row == judged and nodes.edits:
            kept = {(entry.pod.namespace, entry.pod.name) for entry in nodes.pods(i)}
            yield from ((row, entry) for entry in table.pods[row] if (entry.pod.namespace, entry.pod.name) in kept)
        else:
            yield from ((row, entry) for entry in table.pods[row])


# --- what existing pods refuse --------------------------------------------------------------------------------------


def _refused_by_existing(pod: Template, nodes: Batch) -> Mask:
    sums = DomainSums(nodes.table, without=nodes.table.ghosts)
    terms = nodes.table.census.terms_about(pod, REQUIRED_ANTI_AFFINITY)
    for holder, counter in terms:
        sums.add(counter, holder.topology_key)
    holding = sums.at(nodes)
    holding = np.zeros(nodes.n, np.int64) if holding is None else holding
    for holder, _ in terms if nodes.edits else ():
        holding = holding + (nodes.placed(holder) - nodes.taken(holder)) * nodes.label(holder.topology_key).present
    return holding > 0


def _unreadable_existing(pod: Template, nodes: Batch) -> list[str | None]:
    """What is wrong with the first invalid anti-affinity of a pod whose node is found, for each node."""
    if not nodes.counter(Unreadable(REQUIRED_ANTI_AFFINITY)).total:
        return [None] * nodes.n
    if not nodes.edits:
        return [next(_unreadable_texts(nodes, 0), None)] * nodes.n
    return [next(_unreadable_texts(nodes, i), None) for i in range(nodes.n)]


def _unreadable_texts(nodes: Batch, i: int) -> Iterator[str]:
    for row, entry in listed(nodes, i):
        text = unreadable(entry.template, REQUIRED_ANTI_AFFINITY)
        if text is not None and is_found(nodes.table, row):
            yield text


# --- what the pod wants and refuses itself --------------------------------------------------------------------------


@attrs.frozen(eq=False)
class _Terms:
    """The terms of one role: their topology keys, and the pods that all of them are about or the text of an invalid selector."""

    keys: tuple[str, ...]
    meant: Counter | None
    error: str | None

    @classmethod
    def of(cls, pod: Template, role: str, nodes: Batch) -> _Terms:
        keys = dict.fromkeys(term.topology_key for term in getattr(pod, role))
        error = unreadable(pod, role)
        return cls(tuple(keys), None if error else nodes.counter(meant_by(pod, role, every=True)), error)

    def concerns(self, template: Template) -> bool:
        """Whether pods of *template* are to be looked at: all, where a selector is invalid."""
        return bool(self.keys) and (self.meant is None or bool(self.meant.of(template)))


@attrs.define(eq=False)
class _OwnTerms:
    """One pod's own terms against the pods that they concern, node after node; nodes of the same domains share an answer."""

    nodes: Batch
    cycle: Cycle
    affinity: _Terms
    anti: _Terms
    itself: bool
    concerned: list[tuple[int, Entry, bool, bool]]
    """Row, pod, whether the affinity and whether the anti-affinity concerns it; in the lister's order."""
    _known: dict[tuple[str | None, ...], Reasons | str | None] = attrs.field(factory=dict)

    @classmethod
    def of(cls, pod: Template, nodes: Batch, cycle: Cycle) -> _OwnTerms:
        affinity, anti = _Terms.of(pod, REQUIRED_AFFINITY, nodes), _Terms.of(pod, REQUIRED_ANTI_AFFINITY, nodes)
        everybody = ((row, entry, entry.template) for row, entry in listed(Batch(nodes.table), 0))
        flagged = ((row, entry, affinity.concerns(template), anti.concerns(template)) for row, entry, template in everybody)
        itself = affinity.meant is not None and bool(affinity.meant.of(pod))
        return cls(nodes, cycle, affinity, anti, itself, [item for item in flagged if item[2] or item[3]])

    def check(self, i: int) -> Reasons | str | None:
        """The reasons against node *i*, or the text of an error."""
        if self.nodes.edits:
            return self._named(i, self._walk(i))
        domains = tuple(self._value(self.nodes.row(i), key) for key in (*self.affinity.keys, *self.anti.keys))
        if domains not in self._known:
            self._known[domains] = self._walk(i)
        return self._named(i, self._known[domains])

    def _named(self, i: int, found: Reasons | str | None) -> Reasons | str | None:
        if not isinstance(found, str):
            return found
        texts, key = self.cycle.release.affinity_texts, self.cycle.pod.key
        return texts["affinity"].format(pod=key, node=self.nodes.name(i), error=found)

    def _walk(self, i: int) -> Reasons | str | None:
        judged, wanted_somewhere, satisfied = self.nodes.row(i), False, not self.affinity.keys
        for row, is_wanted, is_refused in self._seen_from(i):
            if is_wanted and not satisfied:
                error = self._error(self.affinity, judged, row)
                if error is not None:
                    return error
                wanted_somewhere = True
                satisfied = self._shares(judged, row, self.affinity.keys)
            # Upstream: an error of the anti-affinity counts as a refusal.
            if is_refused and (self._error(self.anti, judged, row) is not None or self._shares(judged, row, self.anti.keys)):
                return MEETING_REFUSED
        return None if satisfied or (not wanted_somewhere and self.itself) else LACKING_COMPANY

    def _seen_from(self, i: int) -> Iterator[tuple[int, bool, bool]]:
        judged = self.nodes.row(i)
        kept = {(entry.pod.namespace, entry.pod.name) for entry in self.nodes.pods(i)} if self.nodes.edits else None
        for row, entry, is_wanted, is_refused in self.concerned:
            if kept is None or row != judged or (entry.pod.namespace, entry.pod.name) in kept:
                yield row, is_wanted, is_refused

    def _error(self, terms: _Terms, judged: int, row: int) -> str | None:
        if terms.error is not None:
            return terms.error
        if not is_found(self.nodes.table, row):
            return f'node "{self.nodes.table.names[row]}" not found'
        if "" in terms.keys and self._shares(judged, row, terms.keys[: terms.keys.index("")]):
            return EMPTY_KEY
        return None

    def _shares(self, judged: int, row: int, keys: tuple[str, ...]) -> bool:
        """Whether both rows are in the same domain by all of *keys*."""
        values = (self._value(judged, key) for key in keys)
        return all(value is not None and value == self._value(row, key) for value, key in zip(values, keys, strict=True))

    def _value(self, row: int, key: str) -> str | None:
        column = self.nodes.table.labels.get(key) if key else None
        return None if column is None else column.values[int(column.codes[row])]
