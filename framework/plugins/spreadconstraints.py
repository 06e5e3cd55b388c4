"""The topology spread constraints of a pod: its own, or the profile's with a selector from the pod's services and controller.

Upstream: pkg/scheduler/framework/plugins/podtopologyspread/common.go, pkg/scheduler/framework/plugins/helper/spread.go DefaultSelector.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import lru_cache

import attrs

from ...api.meaning.labels import SelectorError, compile_selector, pairs_match
from ...api.objects import NO_STRINGS, LabelSelector, Map, Pod, Taint, TopologySpreadConstraint
from ...core.arrays.batch import Batch
from ...core.arrays.census import PodsMatching
from ...core.arrays.types import Mask
from ...core.cluster.listings import Listings
from ...core.matching.nodeselectors import literal_node_affinity_mask, required_node_affinity
from ...core.matching.owners import Remembered, remembered, services_of
from ...core.pods.notes import StateKey
from ...core.pods.template import Group, Template
from ...core.release import FrameworkCells
from ...predicates.taints import first_untolerated
from ..config.argfaults import label_selector_fault
from ..hints.pods import Spread
from ..plugin import Handle

HARD, SOFT = "DoNotSchedule", "ScheduleAnyway"
HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
SYSTEM_DEFAULTS = (
    TopologySpreadConstraint(topology_key=HOSTNAME, when_unsatisfiable=SOFT, max_skew=3),
    TopologySpreadConstraint(topology_key=ZONE, when_unsatisfiable=SOFT, max_skew=5),
)
"""The constraints of pods without their own, in a profile with ``defaultingType: System``."""


@attrs.frozen(cache_hash=True)
class Peers:
    """The pods that a constraint counts: *selector* matches them (None: no pod) and they have all label *pairs*."""

    selector: LabelSelector | None
    pairs: Map[str] = NO_STRINGS

    def matches(self, labels: Mapping[str, str]) -> bool:
        return compile_selector(self.selector)(labels) and pairs_match(self.pairs, labels)

    @property
    def is_everybody(self) -> bool:
        """Whether every pod matches, because nothing is required."""
        return not self.pairs and self.selector is not None and self.selector.is_empty

    def counted(self, namespace: str) -> PodsMatching | None:
        """The query for peers in *namespace* that are on nodes and not being deleted; None: it counts no pod."""
        # Upstream: an empty selector counts no pod, although it matches the pod itself and, in trials, every other pod.
        if self.is_everybody:
            return None
        return _query(self, namespace, terminating=False)

    def followed(self, namespace: str) -> PodsMatching | None:
        """The query for peers in *namespace* that are added or removed in a trial."""
        # Upstream: here pods that are being deleted count, so removing one may lower a count that never included it.
        return _query(self, namespace, terminating=True)


@lru_cache(1 << 12)
def _query(peers: Peers, namespace: str, *, terminating: bool) -> PodsMatching | None:
    if peers.selector is None:
        return None

    def matches(group: Group) -> bool:
        return (terminating or not group.terminating) and peers.matches(group.labels)

    pairs = (*peers.selector.match_labels.items(), *peers.pairs.items())
    return PodsMatching(frozenset((namespace,)), (peers, terminating), matches, pairs)


@attrs.frozen(cache_hash=True)
class Constraint:
    """One constraint, with defaults applied."""

    topology_key: str
    max_skew: int
    peers: Peers
    min_domains: int = 1
    """With fewer domains the smallest count is 0."""
    honors_affinity: bool = True
    """Count only nodes that the pod's node selector and node affinity match."""
    honors_taints: bool = False
    """Count only nodes whose taints the pod tolerates."""

    def counts_on(self, pod: Template, nodes: Batch) -> Mask:
        """The nodes whose pods count, without a check of topology keys: bool[n]."""
        mask = nodes.has_node
        if self.honors_affinity:
            mask = mask & literal_node_affinity_mask(pod, nodes)
        return mask & _tolerated(pod, nodes) if self.honors_taints else mask


def allows(pod: Template) -> tuple[Hashable, ...]:
    """The parts of *pod* that :meth:`Constraint.counts_on` depends on."""
    return pod.node_selector, required_node_affinity(pod), pod.spec.tolerations


def _tolerated(pod: Template, nodes: Batch) -> Mask:
    def tolerated(taints: tuple[Taint, ...]) -> bool:
        return first_untolerated(taints, pod.spec.tolerations) is None

    return nodes.taints.where(tolerated)


Constraints = tuple[Constraint, ...]


@attrs.frozen(eq=False)
class ConstraintReader:
    """Reads constraints according to the feature gates and the release."""

    min_domains: bool
    node_inclusion: bool
    label_keys: bool
    cells: FrameworkCells

    @classmethod
    def of(cls, handle: Handle) -> ConstraintReader:
        """With the gates of *handle*."""
        gates = ("MinDomains", "NodeInclusionPolicy", "MatchLabelKeys")
        min_domains, node_inclusion, label_keys = (handle.enabled(f"{gate}InPodTopologySpread") for gate in gates)
        return cls(min_domains, node_inclusion, label_keys, handle.cells)

    def read(self, pod: Template, constraint: TopologySpreadConstraint, peers: Peers | None = None) -> Constraint:
        """*constraint* of *pod*, which counts *peers* if given, else its own selector. Raises SelectorError for an invalid selector."""
        return Constraint(
            topology_key=constraint.topology_key,
            max_skew=constraint.max_skew,
            peers=self._peers(pod, constraint) if peers is None else peers,
            min_domains=constraint.min_domains if self.min_domains and constraint.min_domains is not None else 1,
            honors_affinity=not self.node_inclusion or constraint.node_affinity_policy in (None, "Honor"),
            honors_taints=self.node_inclusion and constraint.node_taints_policy == "Honor",
        )

    def spread(self, pod: Pod, constraint: TopologySpreadConstraint) -> Spread:
        """*constraint* of *pod* as hints look at it."""
        peers = self._peers(pod, constraint)
        return Spread(constraint.topology_key, peers.matches, self.node_inclusion and constraint.node_taints_policy == "Honor")

    def _peers(self, pod: Template | Pod, constraint: TopologySpreadConstraint) -> Peers:
        fault = label_selector_fault(constraint.label_selector, self.cells)
        if fault:
            raise SelectorError(fault)
        keys = constraint.match_label_keys if self.label_keys else ()
        return Peers(constraint.label_selector, Map((key, pod.labels[key]) for key in keys if key in pod.labels))


_PEERS: StateKey[Remembered[Peers]] = StateKey("deduced peers")


def deduced_peers(pod: Template, listings: Listings) -> Peers:
    """The pods that the services and the controller of *pod* select; every pod if nothing selects *pod*."""
    return remembered(_PEERS, _deduce, pod, listings)


def _deduce(pod: Template, listings: Listings) -> Peers:
    pairs: dict[str, str] = {}
    for service in services_of(pod, listings):
        pairs |= service.selector or {}
    found = _controller_selector(pod, listings)
    if isinstance(found, LabelSelector):
        return Peers(found, Map(pairs))
    return Peers(LabelSelector(), Map(pairs | dict(found or {})))


def _controller_selector(pod: Template, listings: Listings) -> Map[str] | LabelSelector | None:
    """The selector of the controller that owns *pod*; None for a kind that does not count, or for an invalid selector."""
    owner = pod.pod.metadata.controller
    if owner is None:
        return None
    key = f"{pod.namespace}/{owner.name}"
    if (owner.api_version, owner.kind) == ("v1", "ReplicationController"):
        controller = listings.controllers.get(key)
        return None if controller is None else controller.selector
    workloads = {"ReplicaSet": listings.replica_sets.get, "StatefulSet": listings.stateful_sets.get}
    if owner.api_version != "apps/v1" or owner.kind not in workloads:
        return None
    workload = workloads[owner.kind](key)
    return None if workload is None or label_selector_fault(workload.selector) else workload.selector
