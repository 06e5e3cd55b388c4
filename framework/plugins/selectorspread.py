"""SelectorSpread: which nodes and zones have fewer pods of the same services and controller?"""

from __future__ import annotations

from collections.abc import Hashable

from ...priorities.selectorspread import zone_reduction
from ..plugin import (
    MAX_NODE_SCORE,
    Batch,
    DomainSum,
    FrameworkCycle,
    Plugin,
    PodsMatching,
    Reads,
    Reduction,
    Scores,
    Sums,
    Template,
    prepare_nothing,
)
from .spreadconstraints import deduced_peers


class SelectorSpread(Plugin):
    """Prefer nodes and zones with fewer pods of the pod's services and controller. For a pod with spread
    constraints every node scores 0.

    No profile has it by default, and a configuration can only name it under ``multiPoint``.
    Upstream: pkg/scheduler/framework/plugins/selectorspread/selector_spread.go.
    """

    name = "SelectorSpread"
    score_reads = Reads.COUNTS | Reads.LISTINGS
    without_pre_score: str | None = 'reading "PreScoreSelectorSpread" from cycleState: not found'
    pre_score_by_class = True

    def score_key(self, pod: Template) -> Hashable:
        return pod.namespace, pod.labels, pod.pod.controller, self.passes_over(pod)

    def passes_over(self, pod: Template) -> bool:
        return bool(pod.spec.topology_spread_constraints) and not self.cells.spreads_constrained_pods

    pre_score = prepare_nothing

    def score(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Scores:
        """The number of pods on each node that the pod's services and controller select: int64[n]."""
        peers = self._peers(pod, cycle)
        return nodes.zeros() if peers is None else nodes.counting(peers)

    def score_sums(self, pod: Template, cycle: FrameworkCycle) -> Sums:
        """The peers on the node: see :attr:`~kubeclassic.core.cycle.Priority.sums`."""
        peers = self._peers(pod, cycle)
        return Sums() if peers is None else Sums([DomainSum.on_rows([cycle.table.census.counter(peers)])])

    def _peers(self, pod: Template, cycle: FrameworkCycle) -> PodsMatching | None:
        if self.passes_over(pod):
            return None
        return deduced_peers(pod, cycle.listings, self.cells).counted(pod.namespace)

    @property
    def normalize_score(self) -> Reduction:
        """The reduction in which fewer peers score higher; every node scores 0 for a pod that is left out."""
        return zone_reduction(MAX_NODE_SCORE, self.passes_over)


class DefaultPodTopologySpread(SelectorSpread):
    """SelectorSpread under its first name.

    Upstream: pkg/scheduler/framework/plugins/defaultpodtopologyspread/default_pod_topology_spread.go.
    """

    name = "DefaultPodTopologySpread"
    without_pre_score: str | None = (
        'Error reading "PreScoreDefaultPodTopologySpread" from cycleState: not found'
    )


class ServiceSpreadingPriority(DefaultPodTopologySpread):
    """SelectorSpread under its oldest name, in releases where it still is a priority without a plugin of its
    own.

    Upstream: it is built with services alone, but it counts by the selectors of controllers, too.
    """

    name = "ServiceSpreadingPriority"
    without_pre_score: str | None = None
