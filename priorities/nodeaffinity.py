"""Does the node have the labels that the pod prefers?"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from ..api.meaning.labels import SelectorError
from ..api.objects import PreferredSchedulingTerm
from ..core.arrays.batch import Batch
from ..core.arrays.types import Scores
from ..core.cycle import Cycle
from ..core.matching.nodeselectors import expressions_mask
from ..core.pods.template import Template
from ..core.rule import PriorityError, Reads
from .rule import normalize_reduce, priority


def _preferred(pod: Template) -> tuple[PreferredSchedulingTerm, ...]:
    affinity = pod.affinity.node_affinity
    return () if affinity is None else affinity.preferred


def _asked(pod: Template) -> Hashable:
    return tuple((term.weight, term.preference.match_expressions) for term in _preferred(pod))


@priority("NodeAffinityPriority", reads=Reads.NODE, key=_asked, reduce=normalize_reduce())
def node_affinity(pod: Template, nodes: Batch, cycle: Cycle) -> Scores:
    """Prefer nodes that match many of *pod*'s preferred node affinity terms: the sum of the weights of those
    that match.

    Raises PriorityError with upstream's text where an expression is not valid.
    Upstream: pkg/scheduler/algorithm/priorities/node_affinity.go CalculateNodeAffinityPriorityMap.
    """
    total = np.zeros(nodes.n, np.int64)
    for term in _preferred(pod):
        if term.weight != 0:
            total += term.weight * _matching(term, nodes, cycle)
    # Upstream: the sum is kept in 32 bits.
    return total.astype(np.int32).astype(np.int64)


def _matching(term: PreferredSchedulingTerm, nodes: Batch, cycle: Cycle) -> Scores:
    """1 where the term matches, else 0: int64[n]."""
    # Upstream: matchFields are not read; a term without matchExpressions matches no node.
    try:
        return expressions_mask(term.preference.match_expressions, nodes).astype(np.int64)
    except SelectorError as error:
        raise PriorityError(cycle.release.selector_text(error)) from error
