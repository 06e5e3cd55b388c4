"""Which nodes are in emptier topology domains, for pods with soft spread constraints?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from functools import lru_cache

import attrs
import msgspec
import numpy as np

from ..core.arrays.arithmetic import up_to
from ..core.arrays.batch import Batch
from ..core.arrays.counts import FEW, NO_MINIMUM, Sums
from ..core.arrays.reduction import RawScores, Reduction, Tabled
from ..core.arrays.types import Ints, Scores
from ..core.cycle import Cycle
from ..core.matching.nodeselectors import required_node_affinity
from ..core.matching.spread import (
    Constraints,
    domains_by_key,
    eligible,
    is_readable,
    selector_error,
    soft_constraints,
    sums_by_key,
    with_all_keys,
    without_a_key,
)
from ..core.pods.template import Template
from ..core.rule import PriorityError, Reads
from .rule import MAX_PRIORITY, priority


def _key(pod: Template) -> Hashable:
    constraints = soft_constraints(pod)
    return constraints and (constraints, pod.node_selector, required_node_affinity(pod))


Summary = Tabled | tuple[int, int] | None
"""The score for each count; or, where there are more counts than nodes, the pods counted on all candidates together and the smallest count
of one; None where the pod has no soft constraint."""


def _summarise(pod: Template, raw: Scores, nodes: Batch, cycle: Cycle) -> Summary:
    """What the scores follow from, besides the count of each node."""
    constraints, nodes = soft_constraints(pod), cycle.as_described(nodes)
    if not constraints:
        return None
    if not is_readable(constraints):
        _refuse_unreadable(pod, constraints, nodes.some(np.flatnonzero(with_all_keys(constraints, nodes))), cycle)
    met = raw[with_all_keys(constraints, nodes)] if without_a_key(pod, constraints, nodes) else raw
    return _summary(int(met.sum()), int(met.min(initial=NO_MINIMUM)), int(_own(raw, nodes).max(initial=0)), nodes.n)


def _summary(total: int, least: int, most: int, nodes: int) -> Summary:
    total = _int32(total)
    if most >= nodes:
        return total, least
    return _few_scaled(most, total, least) if most < FEW else Tabled(1, _scaled(up_to(most), total, least).tobytes())


def _scale(pod: Template, raw: RawScores, cycle: Cycle) -> Tabled | None:
    """The same where no node lacks a topology key and all selectors are valid; None elsewhere."""
    if not cycle.table.node_derived((pod, "plain soft constraints"), lambda: _is_plain(pod, cycle)):
        return None
    there = raw.by_code
    total = sum([score * number for score, number in there.items()])
    found = _summary(total, min(there, default=NO_MINIMUM), max(there, default=0), raw.number)
    return found if isinstance(found, Tabled) else None


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
    scores = _scaled(own, *summary) if isinstance(summary, tuple) else summary.of(own, None)
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
def _few_scaled(most: int, total: int, least: int) -> Tabled:
    """The scores of 0 to *most* pods, which are few. Plain Python is faster then."""
    spread = float(_int32(total - least))
    scores = [int(float(MAX_PRIORITY) * (_int32(total - own) / spread)) if spread else MAX_PRIORITY for own in range(most + 1)]
    return Tabled.from_list(1, scores)


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


def _sums(pod: Template, cycle: Cycle) -> Sums | None:
    """The pods by domain; None where some rows lack a key, or a selector is invalid."""
    constraints, table = soft_constraints(pod), cycle.table
    if not _is_plain(pod, cycle):
        return None
    by_key = sums_by_key(pod, constraints, None, table)
    # Constraints of one key share their count, and each of them adds it.
    often = Counter(constraint.topology_key for constraint in constraints)
    return Sums(
        [
            attrs.evolve(found, counts=[msgspec.structs.replace(each, weight=often[key]) for each in found.counts])
            for key, found in by_key.items()
        ]
    )


@priority(
    "EvenPodsSpreadPriority", reads=Reads.NODE | Reads.DOMAIN, key=_key, concerns=_concerns,
    reduce=Reduction(_summarise, _apply, scale=_scale), sums=_sums,
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
