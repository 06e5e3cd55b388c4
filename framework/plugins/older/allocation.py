"""NodeResourcesLeastAllocated, NodeResourcesMostAllocated, RequestedToCapacityRatio: how full would the node be?

From 1.23 on they are strategies of NodeResourcesFit.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import attrs
import numpy as np

from ....algorithmprovider.cells import rounded_mean_of_positive
from ....core.arrays.batch import Batch
from ....core.arrays.types import Ints, Scores
from ....core.pods.template import Template
from ....core.rule import Reads
from ....exceptions import PolicyError
from ....priorities.requestedtocapacity import FULL
from ....priorities.shares import free_share, request, used_share
from ...config.args import CPU_AND_MEMORY, RequestedToCapacityRatioArgs, ShapePoint
from ...cycle.state import FrameworkCycle
from ...plugin import MAX_NODE_SCORE, Handle, Plugin
from ..noderesources import ScoredResources, Shares, counted_requests, scaled_line, utilization


class _AllocationScore(Plugin):
    """The common part. Pods without requests count with defaults."""

    score_reads: Reads = Reads.NODE | Reads.REQUESTS

    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args, handle)
        self._measured = ScoredResources.of(CPU_AND_MEMORY if args is None else args.resources, handle.cells)

    def score_key(self, pod: Template) -> Hashable:
        return tuple(request(pod, name) for name in self._measured.names)

    def _shares(self, pod: Template, nodes: Batch) -> Shares:
        found = Shares.of(pod, nodes, self._measured, request, counted_requests)
        if found.counts_all or not self.handle.cells.lacking_resources_score:
            return found
        return attrs.evolve(found, counted=np.ones_like(found.counted), counts_all=True)


class NodeResourcesLeastAllocated(_AllocationScore):
    """Prefer nodes with the most left free: the weighted mean of the free shares.

    Upstream: pkg/scheduler/framework/plugins/noderesources/least_allocated.go.
    """

    name = "NodeResourcesLeastAllocated"

    def score(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Scores:
        shares = self._shares(pod, nodes)
        return shares.mean(free_share(shares.requested, shares.allocatable, MAX_NODE_SCORE, is_proper=shares.is_proper))


class NodeResourcesMostAllocated(_AllocationScore):
    """Prefer nodes that are almost full: the weighted mean of the used shares.

    Upstream: pkg/scheduler/framework/plugins/noderesources/most_allocated.go.
    """

    name = "NodeResourcesMostAllocated"

    def score(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Scores:
        shares = self._shares(pod, nodes)
        requested = shares.requested if self.handle.cells.overfull_scores_zero else np.minimum(shares.requested, shares.allocatable)
        return shares.mean(used_share(requested, shares.allocatable, MAX_NODE_SCORE, is_proper=shares.is_proper))


class RequestedToCapacityRatio(_AllocationScore):
    """Score a node by the share that would be requested, on the line that the arguments give.

    Upstream: pkg/scheduler/framework/plugins/noderesources/requested_to_capacity_ratio.go.
    """

    name = "RequestedToCapacityRatio"

    def __init__(self, args: RequestedToCapacityRatioArgs | None, handle: Handle) -> None:
        super().__init__(args, handle)
        if args is None:
            raise PolicyError("want args to be of type RequestedToCapacityRatioArgs, got <nil>")
        self._line = scaled_line(args.shape)

    def score(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Scores:
        if not self._measured.names:  # Upstream: a Policy's argument gets no defaults.
            return np.zeros(nodes.n, np.int64)
        shares = self._shares(pod, nodes)
        scores = np.where(shares.counted, self._line[self._used(shares.requested, shares.allocatable)], 0)
        return rounded_mean_of_positive(scores, shares.measured.weights[:, 0])

    def _used(self, requested: Ints, capacity: Ints) -> Ints:
        """The requested share in percent, rounded up where the free share is what is rounded down."""
        if not self.handle.cells.ratio_rounds_up:
            return utilization(requested, capacity)
        return (FULL - free_share(requested, capacity, FULL)).clip(0, FULL)


class RequestedToCapacityRatioPriority(RequestedToCapacityRatio):
    """The same with the line on which an empty node is the best, where it still is a priority without a plugin of its own."""

    name = "RequestedToCapacityRatioPriority"

    def __init__(self, args: None, handle: Handle) -> None:
        super().__init__(RequestedToCapacityRatioArgs((ShapePoint(0, 10), ShapePoint(100, 0)), CPU_AND_MEMORY), handle)
