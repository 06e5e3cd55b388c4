"""SelectorSpread: which nodes and zones have fewer pods of the same service or controller?"""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar

import numpy as np

from ...core.arrays.batch import Batch
from ...core.arrays.types import Scores
from ...core.pods.template import Template
from ...core.rule import Reads
from ...priorities.selectorspread import zone_reduction
from ..cycle.state import FrameworkCycle
from ..plugin import MAX_NODE_SCORE, Plugin
from .spreadconstraints import deduced_peers

_BY_ZONE = zone_reduction(MAX_NODE_SCORE)


class SelectorSpread(Plugin):
    """Prefer nodes and zones with fewer pods of the pod's services and controller. For a pod with spread constraints every node scores 0.

    No profile has it by default, and a configuration can only name it under ``multiPoint``.
    Upstream: pkg/scheduler/framework/plugins/selectorspread/selector_spread.go.
    """

    name = "SelectorSpread"
    score_reads: ClassVar[Reads] = Reads.COUNTS | Reads.LISTINGS
    without_pre_score: ClassVar[str | None] = 'reading "PreScoreSelectorSpread" from cycleState: not found'

    def score_key(self, pod: Template) -> Hashable:
        return pod.namespace, pod.labels, pod.pod.metadata.controller, bool(pod.spec.topology_spread_constraints)

    def pre_score(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> None:
        """Nothing to prepare; but a profile can disable it, and then the score fails."""

    def score(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Scores:
        """The number of pods on each node that the pod's services and controller select: int64[n]."""
        peers = None if pod.spec.topology_spread_constraints else deduced_peers(pod, cycle.listings).counted(pod.namespace)
        return np.zeros(nodes.n, np.int64) if peers is None else nodes.counting(peers)

    def normalize_score(self, pod: Template, raw: Scores, nodes: Batch, cycle: FrameworkCycle) -> Scores:
        return raw if pod.spec.topology_spread_constraints else _BY_ZONE(pod, raw, nodes, cycle)
