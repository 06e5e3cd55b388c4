"""Does the pod tolerate the node's taints?"""

from collections.abc import Sequence

from ..api.meaning import tolerates
from ..api.objects import Taint, Toleration
from .rule import TAINTS_TOLERATIONS_NOT_MATCH, Batch, Cycle, Failures, Reads, Template, predicate

NO_NEW_PODS = ("NoSchedule", "NoExecute")
"""The effects of taints that keep pods away."""


def first_untolerated(
    taints: Sequence[Taint], tolerations: Sequence[Toleration], effects: Sequence[str] = NO_NEW_PODS
) -> Taint | None:
    """The first of *taints* with one of *effects* that no toleration covers, None where there is none."""
    return next(
        (taint for taint in taints if taint.effect in effects and not tolerates(tolerations, taint)), None
    )


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
