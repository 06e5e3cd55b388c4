"""NodeLabel, ServiceAffinity: the rules whose labels a Policy or the arguments name."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, ClassVar

import numpy as np

from ....api.objects import LabelSelector, Map
from ....core.arrays.batch import Batch
from ....core.arrays.types import Scores
from ....core.failures import Failures
from ....core.matching.owners import OwnerSelector, services_of
from ....core.pods.template import Template
from ....core.rule import Reads
from ....exceptions import PolicyError
from ....predicates.reasons import NODE_LABEL_PRESENCE_VIOLATED
from ....predicates.serviceaffinity import READS, service_affinity_failures
from ....priorities.selectorspread import peers
from ...config.args import NodeLabelArgs, ServiceAffinityArgs
from ...cycle.state import FrameworkCycle
from ...plugin import MAX_NODE_SCORE, Handle, Plugin
from ...queue.events import Action, ClusterEvent
from ..spreadconstraints import Peers

NODE_LABELS = ClusterEvent("Node", Action.ADD | Action.UPDATE_NODE_LABEL)


class NodeLabel(Plugin):
    """Reject nodes that lack a label, or have one that they must not have; prefer nodes in the same way. The values do not matter.

    Upstream: pkg/scheduler/framework/plugins/nodelabel/node_label.go.
    """

    name = "NodeLabel"
    filter_reads: ClassVar[Reads] = Reads.NODE
    score_reads: Reads = Reads.NODE

    def __init__(self, args: NodeLabelArgs | None, handle: Handle) -> None:
        super().__init__(_wanted(args, NodeLabelArgs), handle)

    def concerns(self, pod: Template) -> bool:
        return bool(self.args.present_labels or self.args.absent_labels)

    def filter_key(self, pod: Template) -> Hashable:
        return None

    def filter(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Failures | None:
        rejected = np.zeros(nodes.n, np.bool_)
        for label in self.args.present_labels:
            rejected |= ~nodes.label(label).present
        for label in self.args.absent_labels:
            rejected |= nodes.label(label).present
        return Failures.where(NODE_LABEL_PRESENCE_VIOLATED, rejected)

    def events_to_register(self) -> Sequence[ClusterEvent]:
        return (NODE_LABELS,)

    def score_key(self, pod: Template) -> Hashable:
        return None

    def score(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Scores:
        """The best score for each label that is as preferred; of several labels the mean, rounded down."""
        present, absent = self.args.present_labels_preference, self.args.absent_labels_preference
        found = np.zeros(nodes.n, np.int64)
        for label in present:
            found += nodes.label(label).present
        for label in absent:
            found += ~nodes.label(label).present
        return found * MAX_NODE_SCORE // max(len(present) + len(absent), 1)


class ServiceAffinityPlugin(Plugin):
    """Keep the pods of a service to nodes with equal values of some labels, and spread them over the values of others.

    Upstream: pkg/scheduler/framework/plugins/serviceaffinity/service_affinity.go.
    """

    name = "ServiceAffinity"
    filter_reads: ClassVar[Reads] = READS
    score_reads: Reads = Reads.COUNTS | Reads.LISTINGS
    follows_pods: str | None = 'error reading "PreFilterServiceAffinity" from cycleState: not found'

    def __init__(self, args: ServiceAffinityArgs | None, handle: Handle) -> None:
        super().__init__(_wanted(args, ServiceAffinityArgs), handle)
        if self._is_idle:
            self.follows_pods = None
        else:
            self.without_pre_filter = self.follows_pods

    @property
    def _is_idle(self) -> bool:
        return not self.args.affinity_labels and not self.handle.cells.counts_without_labels

    def concerns(self, pod: Template) -> bool:
        return not self._is_idle

    def events_to_register(self) -> Sequence[ClusterEvent]:
        changes = Action.UPDATE | Action.DELETE
        return (ClusterEvent("Pod", changes), NODE_LABELS, ClusterEvent("Service", changes)) if self.args.affinity_labels else ()

    def pre_filter(self, pod: Template, cycle: FrameworkCycle) -> None:
        """Nothing is prepared; but a profile can disable it, and then the filter fails."""

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
            return np.zeros(nodes.n, np.int64)
        if self.handle.cells.literal_pairs:
            counted = Peers(LabelSelector(), Map(services[0].selector)).counted(pod.namespace)
            return np.zeros(nodes.n, np.int64) if counted is None else nodes.counting(counted)
        return nodes.counting(peers(pod.namespace, frozenset((OwnerSelector.of_pairs(services[0].selector),))))

    def normalize_score(self, pod: Template, raw: Scores, nodes: Batch, cycle: FrameworkCycle) -> Scores:
        """For each label the share of pods on nodes with other values of it, and of these the mean; 0 for a label that a node lacks."""
        labels, total = self.args.anti_affinity_labels_preference, int(raw.sum())
        found = np.zeros(nodes.n)
        for label in labels:
            values = nodes.label(label)
            share = np.ones(nodes.n)
            if total > 0:
                by_value = np.bincount(values.codes, raw).astype(np.int64)
                share = ((total - by_value) / float(total))[values.codes]
            found += float(MAX_NODE_SCORE) * share * values.present / float(len(labels))
        return found.astype(np.int64)


def _wanted(args: Any, kind: type[Any]) -> Any:
    """*args*, or an error where there are none."""
    if args is None:
        raise PolicyError(f"want args to be of type {kind.__name__}, got <nil>")
    return args
