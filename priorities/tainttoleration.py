"""Does a taint of the node ask to avoid the pod?"""

from __future__ import annotations

import numpy as np

from ..api.meaning import tolerates
from ..api.objects import Taint, Toleration
from .rule import Batch, Cycle, Reads, Scores, Template, normalize_reduce, priority

PREFER_NO_SCHEDULE = "PreferNoSchedule"


def _tolerations(pod: Template) -> tuple[Toleration, ...]:
    """The tolerations of *pod* that may cover a PreferNoSchedule taint."""
    return tuple(
        toleration for toleration in pod.spec.tolerations if toleration.effect in ("", PREFER_NO_SCHEDULE)
    )


@priority(
    "TaintTolerationPriority", reads=Reads.NODE, key=_tolerations, reduce=normalize_reduce(reverse=True)
)
def taint_toleration(pod: Template, nodes: Batch, cycle: Cycle) -> Scores:
    """Prefer nodes with few PreferNoSchedule taints that *pod* does not tolerate; the raw score is their
    number.

    Upstream: pkg/scheduler/algorithm/priorities/taint_toleration.go ComputeTaintTolerationPriorityMap.
    """
    tolerations = _tolerations(pod)

    def untolerated(taints: tuple[Taint, ...]) -> int:
        return sum(
            taint.effect == PREFER_NO_SCHEDULE and not tolerates(tolerations, taint) for taint in taints
        )

    return nodes.taints.where(untolerated, np.int64)
