"""Nodes in emptier topology domains, for pods that would rather be spread evenly."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from numpy.typing import NDArray

from ..core.batch import Batch, Ints, Mask
from ..core.cycle import Cycle
from ..core.nodeselectors import required_node_affinity
from ..core.rule import Reads, Reduction, RuleError, Scores
from ..core.spread import NO_MINIMUM, Constraints, domains_by_key, eligible, selector_error, soft_constraints, with_all_keys
from ..core.template import Template
from .rule import MAX_PRIORITY, priority


def _key(pod: Template) -> Hashable:
    constraints = soft_constraints(pod)
    return constraints and (constraints, pod.node_selector, required_node_affinity(pod))


def _summarise(pod: Template, raw: Scores, nodes: Batch, cycle: Cycle) -> tuple[int, int] | None:
    """The pods met on all candidates together, and on the one that meets the fewest; None where nothing is asked for."""
    constraints = soft_constraints(pod)
    if not constraints:
        return None
    candidates = with_all_keys(constraints, nodes)
    _refuse_unreadable(pod, constraints, nodes.some(np.flatnonzero(candidates)), cycle)
    return int(_int32(raw[candidates].sum())), int(raw[candidates].min()) if candidates.any() else NO_MINIMUM


def _apply(pod: Template, raw: Scores, summary: tuple[int, int] | None, nodes: Batch, cycle: Cycle) -> Scores:
    """10 where the fewest pods are met, less the more there are; 0 on nodes that lack a topology key.

    Upstream: pkg/scheduler/algorithm/priorities/even_pods_spread.go CalculateEvenPodsSpreadPriority.
    """
    if summary is None:
        return np.zeros(nodes.n, np.int64)
    total, least = summary
    # Upstream: a node that stands twice in the list is credited twice, each time for both.
    twice = nodes.rows is not None and nodes.n
    own = _int32(raw * np.bincount(nodes.indexes)[nodes.indexes] if twice else raw)
    return _scaled(own, np.int64(total), _int32(np.int64(total - least)), with_all_keys(soft_constraints(pod), nodes))


def _scaled(own: Ints, total: np.int64, spread: NDArray[np.int64], candidates: Mask) -> Scores:
    if not spread:
        return candidates * np.int64(MAX_PRIORITY)
    share = _int32(total - own).astype(np.float64) / float(spread)
    return np.trunc(float(MAX_PRIORITY) * share).astype(np.int64) * candidates


def _int32(numbers: NDArray[np.int64] | np.int64) -> NDArray[np.int64]:
    """*numbers* as upstream's 32-bit counters hold them."""
    return np.asarray(numbers).astype(np.int32).astype(np.int64)


def _refuse_unreadable(pod: Template, constraints: Constraints, candidates: Batch, cycle: Cycle) -> None:
    """Raise RuleError where an invalid selector meets a pod in a domain of a candidate."""
    for constraint in constraints:
        text = selector_error(constraint.label_selector)
        if text is None:
            continue
        everywhere = Batch(cycle.table)
        label = everywhere.label(constraint.topology_key)
        met = eligible(pod, constraints, everywhere) & (everywhere.pod_count > 0)
        if np.isin(label.codes[met], candidates.label(constraint.topology_key).codes).any():
            raise RuleError(text)


def _concerns(pod: Template) -> bool:
    return bool(soft_constraints(pod))


@priority("EvenPodsSpreadPriority", reads=Reads.NODE | Reads.DOMAIN, key=_key, reduce=Reduction(_summarise, _apply), concerns=_concerns)
def even_pods_spread(pod: Template, nodes: Batch, cycle: Cycle) -> Scores:
    """Prefer nodes in whose topology domains fewer pods match *pod*'s soft spread constraints: the pods met there, to be reduced.

    Pods of every namespace count.
    Upstream: pkg/scheduler/algorithm/priorities/even_pods_spread.go CalculateEvenPodsSpreadPriority.
    """
    constraints = soft_constraints(pod)
    found = np.zeros(nodes.n, np.int64)
    if not constraints:
        return found
    domains = domains_by_key(pod, constraints, None, cycle.table)
    for constraint in constraints:
        key = constraint.topology_key
        found += domains[key].counts[nodes.label(key).codes]
    return found * with_all_keys(constraints, nodes)
