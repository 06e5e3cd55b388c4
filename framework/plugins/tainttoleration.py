"""TaintToleration: does the pod tolerate the node's taints, and how many soft taints does it not tolerate?"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from ...api.meaning import first_untolerated
from ...api.objects import Taint
from ...priorities.rule import normalize_reduce
from ...priorities.tainttoleration import taint_toleration
from ..hints import node_is_tolerated, tolerations_change
from ..plugin import (
    ADD_OR_UPDATE,
    MAX_NODE_SCORE,
    Action,
    Batch,
    ClusterEvent,
    Events,
    Failures,
    FrameworkCycle,
    Plugin,
    Reads,
    Template,
    prepare_nothing,
    reason,
)


class TaintToleration(Plugin):
    """Reject nodes with a NoSchedule or NoExecute taint that the pod does not tolerate; prefer few
    untolerated PreferNoSchedule taints.

    Upstream: pkg/scheduler/framework/plugins/tainttoleration/taint_toleration.go.
    """

    name = "TaintToleration"
    filter_reads = Reads.NODE
    score_reads = Reads.NODE
    pre_score_by_class = True
    without_pre_score = 'failed to read "PreScoreTaintToleration" from cycleState: not found'
    normalize_score = normalize_reduce(MAX_NODE_SCORE, reverse=True)

    def filter_key(self, pod: Template) -> Hashable:
        return pod.spec.tolerations

    def score_key(self, pod: Template) -> Hashable:
        return taint_toleration.key(pod)

    def filter(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Failures | None:
        """The failures; the reason names the node's first taint that is not tolerated."""
        numbers: dict[Taint, int] = {}
        by_list = np.zeros(len(nodes.taints.values), np.int64)
        for i, taints in enumerate(nodes.taints.values):
            taint = first_untolerated(taints, pod.spec.tolerations)
            if taint is not None:
                by_list[i] = numbers.setdefault(taint, len(numbers) + 1)
        text = self.cells.taint_text
        return Failures.coded(
            by_list[nodes.taints.codes],
            [(reason(text.format(key=t.key, value=t.value), resolvable=False),) for t in numbers],
        )

    pre_score = prepare_nothing
    score = staticmethod(taint_toleration.score)

    def events_to_register(self) -> Events:
        node = self.handle.node_event(Action.ADD | Action.UPDATE_NODE_TAINT, ADD_OR_UPDATE, node_is_tolerated)
        if not self.handle.hints_see_pods:
            return (node,)
        return node, ClusterEvent(
            "Pod", self.handle.pod_update(Action.UPDATE_POD_TOLERATION), hint=tolerations_change
        )
