"""NodePreferAvoidPods, NodeResourceLimits: what the node's annotations and the pod's limits ask for."""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar

from ....core.arrays.batch import Batch
from ....core.arrays.types import Scores
from ....core.pods.template import Template
from ....core.rule import Reads
from ....priorities.avoidpods import node_prefer_avoid_pods
from ....priorities.resourcelimits import resource_limits
from ....priorities.rule import MAX_PRIORITY
from ...cycle.state import FrameworkCycle
from ...plugin import MAX_NODE_SCORE, Plugin


class NodePreferAvoidPods(Plugin):
    """Prefer, by far, nodes whose annotation preferAvoidPods does not name the pod's replication controller or replica set.

    Upstream: pkg/scheduler/framework/plugins/nodepreferavoidpods/node_prefer_avoid_pods.go.
    """

    name = "NodePreferAvoidPods"
    score_reads: Reads = Reads.NODE

    def score_key(self, pod: Template) -> Hashable:
        return node_prefer_avoid_pods.key(pod)

    def score(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Scores:
        return node_prefer_avoid_pods.score(pod, nodes, cycle) * (MAX_NODE_SCORE // MAX_PRIORITY)


class NodeResourceLimits(Plugin):
    """Prefer, by one point, nodes whose allocatable cpu or memory covers the pod's limit; pods already there do not matter.

    Upstream: pkg/scheduler/framework/plugins/noderesources/resource_limits.go.
    """

    name = "NodeResourceLimits"
    score_reads: Reads = Reads.NODE
    pre_score_by_class: ClassVar[bool] = True
    without_pre_score: ClassVar[str | None] = 'Error reading "PreScoreNodeResourceLimits" from cycleState: not found'

    def score_key(self, pod: Template) -> Hashable:
        return resource_limits.key(pod)

    def pre_score(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> None:
        """Nothing to prepare; but a profile can disable it, and then the score fails."""

    def score(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Scores:
        # Upstream: the scale went from 10 to 100, the one point did not.
        return resource_limits.score(pod, nodes, cycle)


class ResourceLimitsPriority(NodeResourceLimits):
    """The same where it still is a priority, which has no plugin of its own."""

    name = "ResourceLimitsPriority"
    without_pre_score: ClassVar[str | None] = None
