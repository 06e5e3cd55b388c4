"""Which nodes are in emptier topology domains, for pods with soft spread constraints?"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable
from functools import lru_cache

import numpy as np

from ..core.arrays.arithmetic import up_to
from ..core.arrays.batch import Batch
from ..core.arrays.types import Ints, Scores
from ..core.cycle import Cycle
from ..core.matching.domains import sum_at
from ..core.matching.nodeselectors import required_node_affinity
from ..core.matching.spread import (
    NO_MINIMUM,
    Constraints,
    counting_by_key,
    domains_by_key,
    eligible,
    is_readable,
    selector_error,
    soft_constraints,
    with_all_keys,
    without_a_key,
)
from ..core.pods.template import Template
from ..core.rule import Counts, PriorityError, Reads, Reduction, ScoresByValue
from .rule import MAX_PRIORITY, priority


def _key(pod: Template) -> Hashable:
    constraints = soft_constraints(pod)
    return constraints and (constraints, pod.node_selector, required_node_affinity(pod))


FEW = 8
Summary = tuple[int, int] | bytes | None
"""The pods counted on all candidates together and the smallest count of one; or the score for each count, int64[most + 1], which stays the
same when pods come that change no score; None where the pod has no soft constraint."""


def _summarise(pod: Template, raw: Scores, nodes: Batch, cycle: Cycle) -> Summary:
    """What the scores follow from, besides the count of each node."""
    constraints, nodes = soft_constraints(pod), cycle.as_described(nodes)
    if not constraints:
        return None
    if not is_readable(constraints):
        _refuse_unreadable(pod, constraints, nodes.some(np.flatnonzero(with_all_keys(constraints, nodes))), cycle)
    met = raw[with_all_keys(constraints, nodes)] if without_a_key(pod, constraints, nodes) else raw
    total, least, most = _int32(int(met.sum())), int(met.min(initial=NO_MINIMUM)), int(_own(raw, nodes).max(initial=0))
    if most >= nodes.n:
        return total, least
    return _few_scaled(most, total, least) if most < FEW else _scaled(up_to(most), total, least).tobytes()


def _tallied(pod: Template, counts: Counts, cycle: Cycle) -> Summary:
    """The same where the counts of nodes are counted already; None where a node may lack a topology key or a selector is invalid."""
    is_plain: bool = cycle.table.node_derived((pod, "plain soft constraints"), lambda: _is_plain(pod, cycle))
    if not is_plain:
        return None
    total, least, most = sum([met * number for met, number in counts.items()]), min(counts, default=NO_MINIMUM), max(counts, default=0)
    total = _int32(total)
    if most >= sum(counts.values()):
        return total, least
    return _few_scaled(most, total, least) if most < FEW else _scaled(up_to(most), total, least).tobytes()


def _score_at(own: int, zone: int, summary: Summary) -> int | None:
    """As :func:`_apply`, for one node with a count of *own*."""
    if not isinstance(summary, bytes):
        return None
    scores = memoryview(summary).cast("q")
    found: int = scores[min(own, len(scores) - 1)]
    return found


def _is_plain(pod: Template, cycle: Cycle) -> bool:
    constraints = soft_constraints(pod)
    return bool(constraints) and is_readable(constraints) and not without_a_key(pod, constraints, Batch.everywhere(cycle.table))


def _apply(pod: Template, raw: Scores, summary: Summary, nodes: Batch, cycle: Cycle) -> Scores:
    """10 where the fewest pods are counted, and less where there are more; 0 on nodes that lack a topology key.

    Upstream: pkg/scheduler/algorithm/priorities/even_pods_spread.go CalculateEvenPodsSpreadPriority.
    """
    if summary is None:
        return np.zeros(nodes.n, np.int64)
    own = _own(raw, nodes)
    # Nodes that do not fit can have higher counts than the table.
    scores = _scaled(own, *summary) if isinstance(summary, tuple) else np.frombuffer(summary, np.int64).take(own, mode="clip")
    constraints, nodes = soft_constraints(pod), cycle.as_described(nodes)
    return scores * with_all_keys(constraints, nodes) if without_a_key(pod, constraints, nodes) else scores


def _own(raw: Scores, nodes: Batch) -> Scores:
    """The count of each node."""
    if nodes.rows is None or nodes.n <= 1:
        return raw
    # Upstream: a node that is twice in the list counts twice, and each of its entries gets both.
    found: Scores = raw * np.bincount(nodes.rows)[nodes.rows]
    return found


def _scaled(own: Ints, total: int, least: int) -> Scores:
    """The score of nodes with *own* pods, of *total* pods on all nodes: int64 as given."""
    spread = _int32(total - least)
    if not spread:
        return np.full(len(own), MAX_PRIORITY)
    share = _int32s(total - _int32s(own)) / float(spread)
    return (float(MAX_PRIORITY) * share).astype(np.int64)


@lru_cache(1 << 8)
def _few_scaled(most: int, total: int, least: int) -> bytes:
    """The scores of 0 to *most* pods, which are few: int64[most + 1]. Plain Python is faster then."""
    spread = float(_int32(total - least))
    scores = [int(float(MAX_PRIORITY) * (_int32(total - own) / spread)) if spread else MAX_PRIORITY for own in range(most + 1)]
    return array("q", scores).tobytes()


def _int32s(numbers: Ints) -> Ints:
    """*numbers* as upstream's 32-bit counters hold them."""
    return numbers.astype(np.int32).astype(np.int64)


def _int32(number: int) -> int:
    """*number* as upstream's 32-bit counters hold it."""
    return (number + 2**31) % 2**32 - 2**31


def _refuse_unreadable(pod: Template, constraints: Constraints, candidates: Batch, cycle: Cycle) -> None:
    """Raise PriorityError where a pod in a domain of a candidate has to be matched against an invalid selector."""
    for constraint in constraints:
        text = selector_error(constraint.label_selector)
        if text is None:
            continue
        everywhere = Batch.everywhere(cycle.table)
        label = everywhere.label(constraint.topology_key)
        met = eligible(pod, constraints, cycle.table) & (everywhere.pod_count > 0)
        if np.isin(label.codes[met], candidates.label(constraint.topology_key).codes).any():
            raise PriorityError(text)


def _concerns(pod: Template) -> bool:
    return bool(soft_constraints(pod))


def _by_value(pod: Template, cycle: Cycle) -> Callable[[], ScoresByValue] | None:
    """What tells the raw scores of all rows by values of the topology keys; None where some rows lack a key."""
    constraints, table = soft_constraints(pod), cycle.table
    if not constraints or without_a_key(pod, constraints, Batch.everywhere(table)):
        return None
    counting = counting_by_key(pod, constraints, None, table)
    keys = [constraint.topology_key for constraint in constraints]
    return lambda: [(key, counting[key].few_or_all(table)) for key in keys]


def _by_row(pod: Template, cycle: Cycle) -> Callable[[int], int] | None:
    """What tells the raw score of one row; None where some rows lack a key, or not all nodes with a key count."""
    constraints, table = soft_constraints(pod), cycle.table
    if not constraints or without_a_key(pod, constraints, Batch.everywhere(table)):
        return None
    counting = counting_by_key(pod, constraints, None, table)
    parts = [counting[constraint.topology_key] for constraint in constraints]
    if not all(part.index.is_whole for part in parts):
        return None
    asked = [(query, part.key) for part in parts for query in part.queries if query is not None]
    return sum_at([(table.census.counter(query), key, 1) for query, key in asked], table)


@priority(
    "EvenPodsSpreadPriority", reads=Reads.NODE | Reads.DOMAIN, key=_key, concerns=_concerns,
    reduce=Reduction(_summarise, _apply, tallied=_tallied, at=_score_at), by_domain=lambda pod: True, by_value=_by_value,
    by_row=_by_row,
)  # fmt: skip
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
