"""Are the pod's peers spread evenly enough over the topology domains?"""

from __future__ import annotations

from collections.abc import Hashable

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
    ColumnView,
    Cycle,
    Failures,
    Ints,
    Mask,
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
    index_by_key = {
        constraint.topology_key: index
        for constraint, index in zip(constraints, indexes(pod, constraints, table), strict=True)
    }
    if not any(len(index.values) for index in index_by_key.values()):
        return []  # Upstream: without domains every node fits.
    sums = sums_by_key(pod, constraints, frozenset((pod.namespace,)), table)
    if len(sums) < len(index_by_key):
        return None
    return [
        Clause(
            sum=sums[key],
            reasons=(TOPOLOGY_SPREAD_CONSTRAINTS_NOT_MATCH,),
            most=most,
            least_of=few_or_all(index_by_key[key].values),
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
    """Turn down nodes on which *pod* would violate one of its hard topology spread constraints.

    A constraint requires its topology key, and a count with *pod* of at most maxSkew above the emptiest
    domain.

    Upstream: pkg/scheduler/algorithm/predicates/predicates.go EvenPodsSpreadPredicate.
    """
    constraints = hard_constraints(pod)
    if not cycle.has_metadata:
        return Failures.error("metadata not pre-computed for EvenPodsSpreadPredicate", nodes.every())
    namespaces = frozenset((pod.namespace,))
    if nodes.rows is None or _DOMAINS not in cycle.notes:
        # Computed again for the whole table: a cached answer has to see which counters are read.
        cycle.notes[_DOMAINS] = domains_by_key(pod, constraints, namespaces, cycle.table)
    domains = cycle.notes[_DOMAINS]
    # The nodes for which a domain is known, None if all; elsewhere every node fits: bool[n].
    has_domains = any(len(key_domains.values) for key_domains in domains.values())
    judged_nodes = None if has_domains else _edits(constraints, constraints, namespaces, nodes)[1]
    # The first constraint that a node violates, or that is invalid, decides about the node.
    failed = None
    for constraint, text, most in _limits(pod, constraints):
        key = constraint.topology_key
        label = nodes.label(key)
        if text is not None:
            lacks_key = ~label.present
            failed = lacks_key if failed is None else failed | lacks_key
            judged_nodes = nodes.every() if judged_nodes is None else judged_nodes
            violated = Failures.where(TOPOLOGY_SPREAD_CONSTRAINTS_NOT_MATCH, failed & judged_nodes)
            return Failures.joined([violated, Failures.error(text, judged_nodes & ~failed)])
        constraints_of_key = tuple(c for c in constraints if c.topology_key == key)
        edits = _edits(constraints_of_key, constraints, namespaces, nodes) if nodes.edits else None
        exceeding = _exceeding(label, domains[key], most, edits)
        if exceeding is not None:
            failed = exceeding if failed is None else failed | exceeding
    if failed is None:
        return None
    return Failures.where(
        TOPOLOGY_SPREAD_CONSTRAINTS_NOT_MATCH, failed if judged_nodes is None else failed & judged_nodes
    )


def _limits(pod: Template, constraints: Constraints) -> Limits:
    """Each constraint with its selector's error and the most by which a domain may exceed the emptiest one.
    *pod* is not yet counted."""
    limits = pod.notes.get(_LIMITS)
    if limits is None:
        texts = [selector_error(constraint.label_selector) for constraint in constraints]
        limits = [
            (c, text, c.max_skew - int(text is None and selector_matches(c.label_selector, pod.labels)))
            for c, text in zip(constraints, texts, strict=True)
        ]
        pod.notes[_LIMITS] = limits
    return limits


def _edits(
    counted: Constraints, constraints: Constraints, namespaces: frozenset[str], nodes: Batch
) -> tuple[Ints, Mask]:
    """The changes that edits make to the counts of the *counted* constraints: int64[n]; and where there are
    any: bool[n]. Edits count as in upstream's metadata."""
    change = nodes.zeros()
    touched = nodes.none()
    for query in (counted_by(constraint, namespaces) for constraint in counted):
        if query is not None:
            edited = nodes.edited(query)
            change += edited.net
            touched |= edited.touched
    # Upstream: an edit counts wherever the node has all the keys; the pod's node selector is not checked
    # again.
    has_keys = with_all_keys(constraints, nodes)
    return change * has_keys, touched & has_keys


def _exceeding(
    label: ColumnView[str | None], domains: Domains, most: int, edits: tuple[Ints, Mask] | None
) -> Mask | None:
    """The nodes without the label, or whose domain's count is more than *most* above the smallest; None:
    there are none."""
    if edits is None:
        by_value = domains.counts - domains.least > most
        by_value[0] = domains.lacks_keys
        return by_value.take(label.codes) if by_value.any() else None
    change, touched = edits
    counts = domains.counts[label.codes] + change
    # Upstream: an edit can turn a value into a domain that was none, and its count can be negative.
    least = domains.least_if(label.codes, counts, domains.known[label.codes] | touched)
    return ~label.present | (counts - least > most)
