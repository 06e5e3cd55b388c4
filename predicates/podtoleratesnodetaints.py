"""Does the pod tolerate the node's taints?"""

from __future__ import annotations

from ..api.meaning import NO_NEW_PODS, first_untolerated
from ..api.objects import Taint
from .rule import TAINTS_TOLERATIONS_NOT_MATCH, Batch, Cycle, Failures, Reads, Template, predicate


def _untolerated(pod: Template, nodes: Batch, effects: tuple[str, ...]) -> Failures | None:
    def untolerated(taints: tuple[Taint, ...]) -> bool:
        return first_untolerated(taints, pod.spec.tolerations, effects) is not None

    return Failures.where(TAINTS_TOLERATIONS_NOT_MATCH, nodes.taints.where(untolerated))


@predicate("PodToleratesNodeTaints", reads=Reads.NODE, key=lambda pod: pod.spec.tolerations)
def pod_tolerates_node_taints(pod: Template, nodes: Batch, cycle: Cycle) -> Failures | None:
    """Turn down nodes with a NoSchedule or NoExecute taint that *pod* does not tolerate.

    Upstream: pkg/scheduler/algorithm/predicates/predicates.go PodToleratesNodeTaints.
    """
    return _untolerated(pod, nodes, NO_NEW_PODS)


@predicate("PodToleratesNodeNoExecuteTaints", reads=Reads.NODE, key=lambda pod: pod.spec.tolerations)
def pod_tolerates_node_no_execute_taints(pod: Template, nodes: Batch, cycle: Cycle) -> Failures | None:
    """Turn down nodes with a NoExecute taint that *pod* does not tolerate; no release registers it by name.

    Upstream: pkg/scheduler/algorithm/predicates/predicates.go PodToleratesNodeNoExecuteTaints.
    """
    return _untolerated(pod, nodes, ("NoExecute",))
