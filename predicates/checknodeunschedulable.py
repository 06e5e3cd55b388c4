"""Is the node closed for new pods?"""

from __future__ import annotations

from ..api.meaning import tolerates
from ..api.objects import Taint
from .rule import NODE_UNSCHEDULABLE, Batch, Cycle, Failures, Reads, Template, predicate

UNSCHEDULABLE = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")


def _tolerates_unschedulable(pod: Template) -> bool:
    return tolerates(pod.spec.tolerations, UNSCHEDULABLE)


@predicate("CheckNodeUnschedulable", reads=Reads.NODE, key=_tolerates_unschedulable)
def check_node_unschedulable(pod: Template, nodes: Batch, cycle: Cycle) -> Failures | None:
    """Turn down nodes with ``spec.unschedulable``, unless *pod* tolerates the taint of that meaning.

    Upstream: pkg/scheduler/algorithm/predicates/predicates.go CheckNodeUnschedulablePredicate.
    """
    # Upstream: the node's own taints are not read.
    if _tolerates_unschedulable(pod):
        return None
    return Failures.where(NODE_UNSCHEDULABLE, nodes.unschedulable.present)
