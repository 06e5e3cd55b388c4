"""Does the node have the labels that the pod prefers?"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from ..api.meaning import SelectorError
from ..api.objects import NodeSelectorTerm, PreferredSchedulingTerm
from ..core.matching import expressions_mask
from .rule import Batch, Cycle, Mask, PriorityError, Reads, Scores, Template, normalize_reduce, priority


def preferred_terms(pod: Template) -> tuple[PreferredSchedulingTerm, ...]:
    """The preferred node affinity of *pod*."""
    affinity = pod.affinity.node_affinity
    return () if affinity is None else affinity.preferred


@priority(
    "NodeAffinityPriority",
    reads=Reads.NODE,
    key=lambda pod: tuple((term.weight, term.preference.match_expressions) for term in preferred_terms(pod)),
    reduce=normalize_reduce(),
)
def node_affinity(pod: Template, nodes: Batch, cycle: Cycle) -> Scores:
    """Prefer nodes that match many of *pod*'s preferred node affinity terms: the sum of the weights of those
    that match.

    Raises PriorityError with upstream's text where an expression is not valid.
    Upstream: pkg/scheduler/algorithm/priorities/node_affinity.go CalculateNodeAffinityPriorityMap.
    """
    try:
        total = weighed(preferred_terms(pod), nodes, expressions_of_term_mask)
    except SelectorError as error:
        raise PriorityError(cycle.release.selector_text(error)) from error
    # Upstream: the sum is kept in 32 bits.
    return total.astype(np.int32).astype(np.int64)


def expressions_of_term_mask(term: NodeSelectorTerm, nodes: Batch) -> Mask:
    """The nodes where the expressions of *term* match, without its fields: bool[n]; none if it has no
    expressions."""
    return expressions_mask(term.match_expressions, nodes)


def weighed(
    terms: Iterable[PreferredSchedulingTerm], nodes: Batch, mask_of: Callable[[NodeSelectorTerm, Batch], Mask]
) -> Scores:
    """The sum of the weights of the *terms* that match each node: int64[n]."""
    total = nodes.zeros()
    for term in terms:
        if term.weight != 0:
            total += term.weight * mask_of(term.preference, nodes)
    return total
