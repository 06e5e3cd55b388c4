"""Which nodes are in emptier topology domains, for pods with soft spread constraints?"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from ..core.arrays.arithmetic import tabulated
from ..core.arrays.batch import Batch
from ..core.arrays.types import Ints, Scores
from ..core.cycle import Cycle
from ..core.matching.nodeselectors import required_node_affinity
from ..core.matching.spread import (
    NO_MINIMUM,
    Constraints,
    domains_by_key,
    eligible,
    is_readable,
    selector_error,
    soft_constraints,
    with_all_keys,
    without_a_key,
)
from ..core.pods.template import Template
from ..core.rule import Reads, Reduction, RuleError
from .rule import MAX_PRIORITY, priority


def _key(pod: Template) -> Hashable:
    constraints = soft_constraints(pod)
    return constraints and (constraints, pod.node_selector, required_node_affinity(pod))


def _summarise(pod: Template, raw: Scores, nodes: Batch, cycle: Cycle) -> tuple[int, int] | None:
    """The pods counted on all candidates together, and the smallest count of one; None where the pod has no soft constraint."""
    constraints, nodes = soft_constraints(pod), cycle.as_described(nodes)
    if not constraints:
        return None
    if not is_readable(constraints):
        _refuse_unreadable(pod, constraints, nodes.some(np.flatnonzero(with_all_keys(constraints, nodes))), cycle)
    met = raw[with_all_keys(constraints, nodes)] if without_a_key(pod, constraints, nodes) else raw
    return _int32(int(met.sum())), int(met.min(initial=NO_MINIMUM))


def _apply(pod: Template, raw: Scores, summary: tuple[int, int] | None, nodes: Batch, cycle: Cycle) -> Scores:
    """10 where the fewest pods are counted, and less where there are more; 0 on nodes that lack a topology key.

    Upstream: pkg/scheduler/algorithm/priorities/even_pods_spread.go CalculateEvenPodsSpreadPriority.
    """
    if summary is None:
        return np.zeros(nodes.n, np.int64)
    total, least = summary
    # Upstream: a node that is twice in the list counts twice, and each of its entries gets both.
    twice = nodes.rows is not None and nodes.n
    own = raw * np.bincount(nodes.indexes)[nodes.indexes] if twice else raw
    spread = _int32(total - least)
    constraints, nodes = soft_constraints(pod), cycle.as_described(nodes)
    scores = tabulated(lambda met: _scaled(_int32s(met), total, spread), own) if spread else np.full(nodes.n, MAX_PRIORITY)
    return scores * with_all_keys(constraints, nodes) if without_a_key(pod, constraints, nodes) else scores


def _scaled(own: Ints, total: int, spread: int) -> Scores:
    share = _int32s(total - own) / float(spread)
    return (float(MAX_PRIORITY) * share).astype(np.int64)


def _int32s(numbers: Ints) -> Ints:
    """*numbers* as upstream's 32-bit counters hold them."""
    return numbers.astype(np.int32).astype(np.int64)


def _int32(number: int) -> int:
    """*number* as upstream's 32-bit counters hold it."""
    return (number + 2**31) % 2**32 - 2**31


def _refuse_unreadable(pod: Template, constraints: Constraints, candidates: Batch, cycle: Cycle) -> None:
    """Raise RuleError where a pod in a domain of a candidate has to be matched against an invalid selector."""
    for constraint in constraints:
        text = selector_error(constraint.label_selector)
        if text is None:
            continue
        everywhere = Batch.everywhere(cycle.table)
        label = everywhere.label(constraint.topology_key)
        met = eligible(pod, constraints, cycle.table) & (everywhere.pod_count > 0)
        if np.isin(label.codes[met], candidates.label(constraint.topology_key).codes).any():
            raise RuleError(text)


def _concerns(pod: Template) -> bool:
    return bool(soft_constraints(pod))


@priority("EvenPodsSpreadPriority", reads=Reads.NODE | Reads.DOMAIN, key=_key, reduce=Reduction(_summarise, _apply), concerns=_concerns)
def even_pods_spread(pod: Template, nodes: Batch, cycle: Cycle) -> Scores:
    """Prefer nodes in topology domains with fewer pods that match *pod*'s soft spread constraints. The raw score is their number.

    Pods of every namespace count.
    Upstream: pkg/scheduler/algorithm/priorities/even_pods_spread.go CalculateEvenPodsSpreadPriority.
    """
    constraints, nodes = soft_constraints(pod), cycle.as_described(nodes)
    if not constraints:
        return np.zeros(nodes.n, np.int64)
    domains = domains_by_key(pod, constraints, None, cycle.table)
    met = [domains[constraint.topology_key].counts.take(nodes.label(constraint.topology_key).codes) for constraint in constraints]
    found = met[0] if len(met) == 1 else np.add.reduce(met)
    return found * with_all_keys(constraints, nodes) if without_a_key(pod, constraints, nodes) else found
