"""Does the node have the labels that the pod's nodeSelector and required node affinity ask for?"""

from __future__ import annotations

from ..core.matching import pod_node_affinity_mask, required_node_affinity
from .rule import NODE_SELECTOR_NOT_MATCH, Batch, Cycle, Failures, Reads, Template, predicate


def _concerns(pod: Template) -> bool:
    return bool(pod.node_selector) or required_node_affinity(pod) is not None


@predicate(
    "MatchNodeSelector",
    reads=Reads.NODE,
    key=lambda pod: (pod.node_selector, required_node_affinity(pod)),
    concerns=_concerns,
)
def pod_match_node_selector(pod: Template, nodes: Batch, cycle: Cycle) -> Failures | None:
    """Turn down nodes that *pod*'s nodeSelector or its required node affinity does not match.

    Upstream: pkg/scheduler/algorithm/predicates/predicates.go PodMatchNodeSelector.
    """
    if not _concerns(pod):
        return None
    return Failures.where(NODE_SELECTOR_NOT_MATCH, ~pod_node_affinity_mask(pod, nodes))
