"""EvenPodsSpread: nodes in emptier topology domains, for pods with soft spread constraints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

import attrs
import msgspec
import numpy as np

from ..core.matching import (
    domains_by_key,
    eligible,
    is_readable,
    required_node_affinity,
    selector_error,
    soft_constraints,
    sums_by_key,
    with_all_keys,
    without_a_key,
)
from .rule import (
    MAX_PRIORITY,
    NO_MINIMUM,
    Batch,
    Cycle,
    PriorityError,
    RawScores,
    Reads,
    Reduction,
    Scores,
    Sums,
    Template,
    priority,
)


def _key(pod: Template) -> Hashable:
    constraints = soft_constraints(pod)
    return constraints and (constraints, pod.node_selector, required_node_affinity(pod))


class FewestPodsScale(msgspec.Struct, frozen=True):
    """A scale that gives 10 where the fewest pods are counted, and less elsewhere. *total* are counted on all
    nodes, *least* on the emptiest."""

    total: int
    least: int

    def each(self, raw: Sequence[int], codes: Sequence[int] = ()) -> list[int]:
        total = self.total
        spread = float(_int32(self.total - self.least))
        best = float(MAX_PRIORITY)
        if not spread:
            return [MAX_PRIORITY] * len(raw)
        rest = [total - count for count in raw] if total >= 0 else [_int32(total - count) for count in raw]
        return [int(best * (number / spread)) for number in rest]


def _scale(pod: Template, raw: RawScores, cycle: Cycle) -> FewestPodsScale | None:
    """The scale where no node lacks a topology key and all selectors are valid; None elsewhere.

    Upstream: pkg/scheduler/algorithm/priorities/even_pods_spread.go CalculateEvenPodsSpreadPriority.
    """
    if not cycle.table.node_derived((pod, "plain soft constraints"), lambda: _is_plain(pod, cycle)):
        return None
    return FewestPodsScale(_int32(sum([score * nodes for score, _, nodes in raw.counted])), raw.lowest)


def _uneven_scores(pod: Template, raw: Scores, nodes: Batch, cycle: Cycle) -> Scores | None:
    """The scores where some nodes lack a topology key, a node is listed twice, or a selector is invalid.
    Nodes that lack a key get 0."""
    constraints = soft_constraints(pod)
    nodes = cycle.as_described(nodes)
    if not constraints:
        return nodes.zeros()
    if not is_readable(constraints):
        # An error where a pod in a domain of a candidate has to be matched against an invalid selector.
        candidates = nodes.some(np.flatnonzero(with_all_keys(constraints, nodes)))
        everywhere = Batch.everywhere(cycle.table)
        counted_rows = eligible(pod, constraints, cycle.table) & (everywhere.pod_count > 0)
        for constraint in constraints:
            text = selector_error(constraint.label_selector)
            domains = everywhere.label(constraint.topology_key).codes[counted_rows]
            candidate_domains = candidates.label(constraint.topology_key).codes
            if text is not None and np.isin(domains, candidate_domains).any():
                raise PriorityError(text)
    lacks_keys = without_a_key(pod, constraints, nodes)
    own_raw = raw
    if nodes.rows is not None and nodes.n > 1:
        # Upstream: a node that is twice in the list counts twice, and each of its entries gets both.
        occurrences = np.bincount(nodes.rows)[nodes.rows]
        own_raw = raw if occurrences.max() == 1 else raw * occurrences
    if not lacks_keys and own_raw is raw and _is_plain(pod, cycle):
        return None
    counted_raw = raw[with_all_keys(constraints, nodes)] if lacks_keys else raw
    scale = FewestPodsScale(_int32(int(counted_raw.sum())), int(counted_raw.min(initial=NO_MINIMUM)))
    scores = np.array(scale.each(own_raw.tolist()), np.int64)
    return scores * with_all_keys(constraints, nodes) if lacks_keys else scores


def _is_plain(pod: Template, cycle: Cycle) -> bool:
    constraints = soft_constraints(pod)
    return (
        bool(constraints)
        and is_readable(constraints)
        and not without_a_key(pod, constraints, Batch.everywhere(cycle.table))
    )


def _int32(number: int) -> int:
    """*number* as upstream's 32-bit counters hold it."""
    return (number + 2**31) % 2**32 - 2**31


def _sums(pod: Template, cycle: Cycle) -> Sums | None:
    """The pods by domain; None where some rows lack a key, or a selector is invalid."""
    constraints = soft_constraints(pod)
    if not _is_plain(pod, cycle):
        return None
    by_key = sums_by_key(pod, constraints, None, cycle.table)
    # Constraints of one key share their count, and each of them adds it.
    times = Counter(constraint.topology_key for constraint in constraints)
    return Sums(
        [
            attrs.evolve(
                total, counts=[msgspec.structs.replace(term, weight=times[key]) for term in total.counts]
            )
            for key, total in by_key.items()
        ]
    )


@priority(
    "EvenPodsSpreadPriority",
    reads=Reads.NODE | Reads.DOMAIN,
    key=_key,
    concerns=lambda pod: bool(soft_constraints(pod)),
    reduce=Reduction(_scale, zeros_alike=False, special=_uneven_scores),
    sums=_sums,
)
def even_pods_spread(pod: Template, nodes: Batch, cycle: Cycle) -> Scores:
    """Prefer nodes in topology domains with fewer pods that match *pod*'s soft spread constraints. The raw
    score is their number.

    Pods of every namespace count.
    Upstream: pkg/scheduler/algorithm/priorities/even_pods_spread.go CalculateEvenPodsSpreadPriority.
    """
    constraints = soft_constraints(pod)
    nodes = cycle.as_described(nodes)
    if not constraints:
        return nodes.zeros()
    domains = domains_by_key(pod, constraints, None, cycle.table)
    parts = [
        domains[constraint.topology_key].counts.take(nodes.label(constraint.topology_key).codes)
        for constraint in constraints
    ]
    counts = parts[0] if len(parts) == 1 else np.add.reduce(parts)
    return counts * with_all_keys(constraints, nodes) if without_a_key(pod, constraints, nodes) else counts
