"""Plugins of the first releases of the framework, up to 1.22, that later ones lack."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import attrs
import numpy as np

from ...api.objects import LabelSelector, Map
from ...core.matching import OwnerSelector, services_of
from ...exceptions import PolicyError
from ...predicates.checkserviceaffinity import READS, service_affinity_failures
from ...predicates.rule import NODE_LABEL_PRESENCE_VIOLATED
from ...priorities.nodepreferavoidpods import node_prefer_avoid_pods
from ...priorities.requestedtocapacityratio import FULL
from ...priorities.resourcelimits import resource_limits
from ...priorities.rule import MAX_PRIORITY, free_share, request
from ...priorities.selectorspread import peers
from ..config.args import (
    CPU_AND_MEMORY,
    NodeLabelArgs,
    RequestedToCapacityRatioArgs,
    ServiceAffinityArgs,
    ShapePoint,
)
from ..plugin import (
    MAX_NODE_SCORE,
    Action,
    Batch,
    ClusterEvent,
    Events,
    Failures,
    FrameworkCycle,
    Handle,
    Ints,
    Plugin,
    Reads,
    Scores,
    Template,
    prepare_nothing,
)
from .noderesources import (
    ScoredResources,
    Shares,
    counted_requests,
    least_allocated,
    most_allocated,
    requested_to_capacity_ratio,
    scaled_line,
    utilization,
)
from .spreadconstraints import Peers


class NodePreferAvoidPods(Plugin):
    """Prefer, by far, nodes whose annotation preferAvoidPods does not name the pod's replication controller
    or replica set.

    Upstream: pkg/scheduler/framework/plugins/nodepreferavoidpods/node_prefer_avoid_pods.go.
    """

    name = "NodePreferAvoidPods"
    score_reads = Reads.NODE

    def score_key(self, pod: Template) -> Hashable:
        return node_prefer_avoid_pods.key(pod)

    def score(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Scores:
        return node_prefer_avoid_pods.score(pod, nodes, cycle) * (MAX_NODE_SCORE // MAX_PRIORITY)


class NodeResourceLimits(Plugin):
    """Prefer, by one point, nodes whose allocatable cpu or memory covers the pod's limit; pods already there
    do not matter.

    Upstream: pkg/scheduler/framework/plugins/noderesources/resource_limits.go.
    """

    name = "NodeResourceLimits"
    score_reads = Reads.NODE
    pre_score_by_class = True
    without_pre_score: str | None = 'Error reading "PreScoreNodeResourceLimits" from cycleState: not found'

    def score_key(self, pod: Template) -> Hashable:
        return resource_limits.key(pod)

    pre_score = prepare_nothing
    # Upstream: the scale went from 10 to 100, the one point did not.
    score = staticmethod(resource_limits.score)


class ResourceLimitsPriority(NodeResourceLimits):
    """NodeResourceLimits in releases where it still is a priority, which has no plugin of its own."""

    name = "ResourceLimitsPriority"
    without_pre_score: str | None = None


class _AllocationScore(Plugin):
    """The common part of scores by allocation. Absent requests count with defaults."""

    score_reads = Reads.NODE | Reads.REQUESTS

    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args, handle)
        self._measured = ScoredResources.of(CPU_AND_MEMORY if args is None else args.resources, handle.cells)

    def score_key(self, pod: Template) -> Hashable:
        return tuple(request(pod, name) for name in self._measured.names)

    def _shares(self, pod: Template, nodes: Batch) -> Shares:
        shares = Shares.of(pod, nodes, self._measured, request, counted_requests)
        if shares.counts_all or not self.cells.lacking_resources_score:
            return shares
        return attrs.evolve(shares, counted=np.ones_like(shares.counted), counts_all=True)


class NodeResourcesLeastAllocated(_AllocationScore):
    """Prefer nodes with the most left free: the weighted mean of the free shares.

    Upstream: pkg/scheduler/framework/plugins/noderesources/least_allocated.go.
    """

    name = "NodeResourcesLeastAllocated"

    def score(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Scores:
        return least_allocated(self._shares(pod, nodes))


class NodeResourcesMostAllocated(_AllocationScore):
    """Prefer nodes that are almost full: the weighted mean of the used shares.

    Upstream: pkg/scheduler/framework/plugins/noderesources/most_allocated.go.
    """

    name = "NodeResourcesMostAllocated"

    def score(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Scores:
        return most_allocated(self._shares(pod, nodes), overfull_is_full=not self.cells.overfull_scores_zero)


class RequestedToCapacityRatio(_AllocationScore):
    """Score a node by its requested share with the pod, on the line from the arguments.

    Upstream: pkg/scheduler/framework/plugins/noderesources/requested_to_capacity_ratio.go.
    """

    name = "RequestedToCapacityRatio"

    def __init__(self, args: RequestedToCapacityRatioArgs | None, handle: Handle) -> None:
        super().__init__(_required(args, RequestedToCapacityRatioArgs), handle)
        self._line = scaled_line(self.args.shape or (ShapePoint(0, 0),))

    def score(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Scores:
        if not self._measured.names:  # Upstream: a Policy's argument gets no defaults.
            return nodes.zeros()
        return requested_to_capacity_ratio(
            self._shares(pod, nodes), self._line, _rounded_up if self.cells.ratio_rounds_up else utilization
        )


def _rounded_up(requested: Ints, capacity: Ints) -> Ints:
    """The requested share in percent, from a free share that is rounded down."""
    return (FULL - free_share(requested, capacity, FULL)).clip(0, FULL)


class RequestedToCapacityRatioPriority(RequestedToCapacityRatio):
    """RequestedToCapacityRatio with a line on which an empty node is the best. In its releases it still is a
    priority without a plugin of its own."""

    name = "RequestedToCapacityRatioPriority"

    def __init__(self, args: None, handle: Handle) -> None:
        super().__init__(
            RequestedToCapacityRatioArgs((ShapePoint(0, 10), ShapePoint(100, 0)), CPU_AND_MEMORY), handle
        )


NODE_LABELS = ClusterEvent("Node", Action.ADD | Action.UPDATE_NODE_LABEL)


class NodeLabel(Plugin):
    """Reject nodes that lack a required label, or have a forbidden one; prefer nodes in the same way. Values
    do not matter.

    Upstream: pkg/scheduler/framework/plugins/nodelabel/node_label.go.
    """

    name = "NodeLabel"
    filter_reads = Reads.NODE
    score_reads = Reads.NODE

    def __init__(self, args: NodeLabelArgs | None, handle: Handle) -> None:
        super().__init__(_required(args, NodeLabelArgs), handle)

    def concerns(self, pod: Template) -> bool:
        return bool(self.args.present_labels or self.args.absent_labels)

    def filter_key(self, pod: Template) -> Hashable:
        return None

    def filter(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Failures | None:
        rejected = nodes.none()
        for label in self.args.present_labels:
            rejected |= ~nodes.label(label).present
        for label in self.args.absent_labels:
            rejected |= nodes.label(label).present
        return Failures.where(NODE_LABEL_PRESENCE_VIOLATED, rejected)

    def events_to_register(self) -> Events:
        return (NODE_LABELS,)

    def score_key(self, pod: Template) -> Hashable:
        return None

    def score(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Scores:
        """The best score for each label as preferred; of several labels the mean, rounded down."""
        present = self.args.present_labels_preference
        absent = self.args.absent_labels_preference
        scores = nodes.zeros()
        for label in present:
            scores += nodes.label(label).present
        for label in absent:
            scores += ~nodes.label(label).present
        return scores * MAX_NODE_SCORE // max(len(present) + len(absent), 1)


class ServiceAffinityPlugin(Plugin):
    """Keep pods of a service on nodes with equal values of some labels; spread them over values of others.

    Upstream: pkg/scheduler/framework/plugins/serviceaffinity/service_affinity.go.
    """

    name = "ServiceAffinity"
    filter_reads = READS
    score_reads = Reads.COUNTS | Reads.LISTINGS
    follows_pods: str | None = 'error reading "PreFilterServiceAffinity" from cycleState: not found'

    def __init__(self, args: ServiceAffinityArgs | None, handle: Handle) -> None:
        super().__init__(_required(args, ServiceAffinityArgs), handle)
        if self._is_idle:
            self.follows_pods = None
        else:
            self.without_pre_filter = self.follows_pods

    @property
    def _is_idle(self) -> bool:
        return not self.args.affinity_labels and not self.cells.counts_without_labels

    def concerns(self, pod: Template) -> bool:
        return not self._is_idle

    def events_to_register(self) -> Events:
        changes = Action.UPDATE | Action.DELETE
        if self.args.affinity_labels:
            return (ClusterEvent("Pod", changes), NODE_LABELS, ClusterEvent("Service", changes))
        return ()

    pre_filter = prepare_nothing

    def filter_key(self, pod: Template) -> Hashable:
        return pod.namespace, pod.labels, pod.node_selector

    def filter(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Failures | None:
        return service_affinity_failures(pod, self.args.affinity_labels, nodes, cycle)

    def score_key(self, pod: Template) -> Hashable:
        return pod.namespace, pod.labels

    def score(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Scores:
        """The pods of the pod's first service on each node."""
        services = services_of(pod, cycle.listings)
        if not services or not services[0].selector:
            return nodes.zeros()
        if self.cells.literal_pairs:
            counts = Peers(LabelSelector(), Map(services[0].selector)).counted(pod.namespace)
            return nodes.zeros() if counts is None else nodes.counting(counts)
        return nodes.counting(
            peers(pod.namespace, frozenset((OwnerSelector.of_pairs(services[0].selector),)))
        )

    def normalize_score(self, pod: Template, raw: Scores, nodes: Batch, cycle: FrameworkCycle) -> Scores:
        """The mean over the labels of the share of pods on nodes with other values; 0 for a label that a node
        lacks."""
        labels = self.args.anti_affinity_labels_preference
        total = int(raw.sum())
        scores = np.zeros(nodes.n)
        for label in labels:
            values = nodes.label(label)
            share = np.ones(nodes.n)
            if total > 0:
                by_value = np.bincount(values.codes, raw).astype(np.int64)
                share = ((total - by_value) / float(total))[values.codes]
            scores += float(MAX_NODE_SCORE) * share * values.present / float(len(labels))
        return scores.astype(np.int64)


def _required(args: Any, kind: type[Any]) -> Any:
    """*args*, or an error where there are none."""
    if args is None:
        raise PolicyError(f"want args to be of type {kind.__name__}, got <nil>")
    return args
