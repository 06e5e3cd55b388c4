"""Are the pod's peers spread evenly enough over the topology domains?"""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property

import attrs

from ..api.meaning import selector_matches
from ..api.objects import TopologySpreadConstraint
from ..core.matching import (
    Constraints,
    Domains,
    counted_by,
    domains_by_key,
    hard_constraints,
    indexes,
    required_node_affinity,
    selector_error,
    sums_by_key,
    with_all_keys,
)
from .rule import (
    TOPOLOGY_SPREAD_CONSTRAINTS_NOT_MATCH,
    Batch,
    Clause,
    Cycle,
    Failures,
    Mask,
    PodsMatching,
    Reads,
    StateKey,
    Template,
    few_or_all,
    predicate,
)

NAME = "EvenPodsSpread"
Limits = list[tuple[TopologySpreadConstraint, str | None, int]]
_DOMAINS: StateKey[dict[str, Domains]] = StateKey(NAME)
_LIMITS: StateKey[Limits] = StateKey(f"{NAME} limits")


def _key(pod: Template) -> Hashable:
    constraints = hard_constraints(pod)
    return constraints and (constraints, pod.group, pod.node_selector, required_node_affinity(pod))


def _clauses(pod: Template, cycle: Cycle) -> list[Clause] | None:
    """The tests by domain; None where they depend on more."""
    constraints = hard_constraints(pod)
    table = cycle.table
    limits = _limits(pod, constraints)
    if not cycle.has_metadata or any(text is not None for _, text, _ in limits):
        return None
    known = {
        constraint.topology_key: index
        for constraint, index in zip(constraints, indexes(pod, constraints, table), strict=True)
    }
    if not any(len(index.values) for index in known.values()):
        return []  # Upstream: without domains every node fits.
    sums = sums_by_key(pod, constraints, frozenset((pod.namespace,)), table)
    if len(sums) < len(known):
        return None
    return [
        Clause(
            sum=sums[key],
            reasons=(TOPOLOGY_SPREAD_CONSTRAINTS_NOT_MATCH,),
            most=most,
            least_of=few_or_all(known[key].values),
            keyless=True,
        )
        for key, most in [(constraint.topology_key, most) for constraint, _, most in limits]
    ]


@predicate(
    NAME,
    reads=Reads.NODE | Reads.DOMAIN,
    key=_key,
    concerns=lambda pod: bool(hard_constraints(pod)),
    clauses=_clauses,
)
def even_pods_spread(pod: Template, nodes: Batch, cycle: Cycle) -> Failures | None:
    """Turn down nodes that lack the topology key of a hard spread constraint of *pod*, or where *pod* would
    lift its domain's count by more than maxSkew above the emptiest domain.

    Upstream: pkg/scheduler/algorithm/predicates/predicates.go EvenPodsSpreadPredicate.
    """
    constraints = hard_constraints(pod)
    if not cycle.has_metadata:
        return Failures.error("metadata not pre-computed for EvenPodsSpreadPredicate", nodes.every())
    namespaces = frozenset((pod.namespace,))
    if nodes.rows is None or _DOMAINS not in cycle.notes:
        # Worked out again for the whole table: a cached answer has to see which counters are read.
        cycle.notes[_DOMAINS] = domains_by_key(pod, constraints, namespaces, cycle.table)
    skews = _Skews(namespaces, constraints, nodes, cycle.notes[_DOMAINS])
    # The first constraint that a node violates, or that is invalid, decides about the node.
    asked = skews.has_domains()
    failed = None
    for constraint, text, most in _limits(pod, constraints):
        if text is not None:
            lacking = ~nodes.label(constraint.topology_key).present
            failed = lacking if failed is None else failed | lacking
            asked = nodes.every() if asked is None else asked
            refused = Failures.where(TOPOLOGY_SPREAD_CONSTRAINTS_NOT_MATCH, failed & asked)
            return Failures.joined([refused, Failures.error(text, asked & ~failed)])
        exceeding = skews.exceeding(constraint.topology_key, most)
        if exceeding is not None:
            failed = exceeding if failed is None else failed | exceeding
    if failed is None:
        return None
    return Failures.where(TOPOLOGY_SPREAD_CONSTRAINTS_NOT_MATCH, failed if asked is None else failed & asked)


def _limits(pod: Template, constraints: Constraints) -> Limits:
    """Each constraint, the error of its selector, and by how much a domain may exceed the emptiest one before
    the pod comes."""
    found = pod.notes.get(_LIMITS)
    if found is None:
        texts = [selector_error(constraint.label_selector) for constraint in constraints]
        found = [
            (c, text, c.max_skew - int(text is None and selector_matches(c.label_selector, pod.labels)))
            for c, text in zip(constraints, texts, strict=True)
        ]
        pod.notes[_LIMITS] = found
    return found


@attrs.define(eq=False, slots=False)
class _Skews:
    """The skew of each node's domain over the emptiest one; the batch's own edits count as in upstream's
    metadata."""

    namespaces: frozenset[str]
    constraints: Constraints
    nodes: Batch
    domains: dict[str, Domains]

    @cached_property
    def editable(self) -> Mask:
        """The nodes where an edit counts: bool[n]."""
        # Upstream: an edit counts wherever the node has all the keys; the pod's node selector is not checked
        # again.
        return with_all_keys(self.constraints, self.nodes)

    def has_domains(self) -> Mask | None:
        """The nodes for which a domain is known, None if all; elsewhere every node fits: bool[n]."""
        if any(len(domains.values) for domains in self.domains.values()):
            return None
        return self._edited(self.constraints) if self.nodes.edits else self.nodes.none()

    def exceeding(self, key: str, most: int) -> Mask | None:
        """The nodes without the label *key*, or whose domain's count is more than *most* above the smallest;
        None: there are none."""
        domains = self.domains[key]
        label = self.nodes.label(key)
        if not self.nodes.edits:
            by_value = domains.counts - domains.least > most
            by_value[0] = domains.lacks_keys
            return by_value.take(label.codes) if by_value.any() else None
        mine = tuple(c for c in self.constraints if c.topology_key == key)
        change = sum((self.nodes.edited(query).net for query in self._queries(mine)), self.nodes.zeros())
        counts = domains.counts[label.codes] + change * self.editable
        # Upstream: an edit can turn a value into a domain that was none, and its count can be negative.
        least = domains.least_if(label.codes, counts, domains.known[label.codes] | self._edited(mine))
        return ~label.present | (counts - least > most)

    def _edited(self, constraints: Constraints) -> Mask:
        found = self.nodes.none()
        for query in self._queries(constraints):
            found |= self.nodes.edited(query).touched
        return found & self.editable

    def _queries(self, constraints: Constraints) -> list[PodsMatching]:
        queries = (counted_by(constraint, self.namespaces) for constraint in constraints)
        return [query for query in queries if query is not None]
