"""The topology spread constraints of a pod: its own, or the profile's with a selector from the pod's services
and controller.

Upstream: pkg/scheduler/framework/plugins/podtopologyspread/common.go,
pkg/scheduler/framework/plugins/helper/spread.go DefaultSelector.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import lru_cache

import attrs

from ...api.meaning import TOPOLOGY_ZONE, compile_selector, everything, pairs_match, set_selector
from ...api.objects import NO_STRINGS, LabelSelector, Map, TopologySpreadConstraint
from ...core.cluster.listings import Listings
from ...core.matching import (
    Remembered,
    controllers_of,
    literal_node_affinity_mask,
    pod_node_affinity_mask,
    remembered,
    replica_sets_of,
    required_node_affinity,
    services_of,
    stateful_sets_of,
)
from ...core.release import FrameworkCells
from ...predicates.podtoleratesnodetaints import first_untolerated
from ..config.fielderrors import label_selector_fault
from ..plugin import Batch, Group, Mask, PodsMatching, StateKey, Template

HARD = "DoNotSchedule"
SOFT = "ScheduleAnyway"
HOSTNAME = "kubernetes.io/hostname"
SYSTEM_DEFAULTS = (
    TopologySpreadConstraint(topology_key=HOSTNAME, when_unsatisfiable=SOFT, max_skew=3),
    TopologySpreadConstraint(topology_key=TOPOLOGY_ZONE, when_unsatisfiable=SOFT, max_skew=5),
)
"""The constraints of pods without their own, in a profile with ``defaultingType: System``."""


@attrs.frozen(cache_hash=True)
class Peers:
    """The pods that a constraint counts: *selector* matches them (None: no pod) and they have all label
    *pairs*."""

    selector: LabelSelector | None
    pairs: Map[str] = NO_STRINGS
    counts_everybody: bool = False
    """Where nothing is required every pod counts; else none does."""

    def matches(self, labels: Mapping[str, str]) -> bool:
        return compile_selector(self.selector)(labels) and pairs_match(self.pairs, labels)

    @property
    def is_everybody(self) -> bool:
        """Whether every pod matches, because nothing is required."""
        return not self.pairs and self.selector is not None and self.selector.is_empty

    def counted(self, namespace: str) -> PodsMatching | None:
        """The query for peers in *namespace* that are on nodes and not being deleted; None: it counts no pod."""
        # Upstream: an empty selector counts no pod, although it matches the pod itself and, in trials, every
        # other pod.
        if self.is_everybody and not self.counts_everybody:
            return None
        return _query(self, namespace, terminating=False)

    def followed(self, namespace: str) -> PodsMatching | None:
        """The query for peers in *namespace* that are added or removed in a trial."""
        # Upstream: here pods that are being deleted count, so removing one may lower a count that never
        # included it.
        return _query(self, namespace, terminating=True)


@lru_cache(1 << 12)
def _query(peers: Peers, namespace: str | None, *, terminating: bool) -> PodsMatching | None:
    if peers.selector is None:
        return None

    def matches(group: Group) -> bool:
        return (terminating or not group.terminating) and peers.matches(group.labels)

    return PodsMatching(
        None if namespace is None else frozenset((namespace,)),
        (peers, terminating),
        matches,
        (*peers.selector.match_labels.items(), *peers.pairs.items()),
    )


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

    counts_terminating: bool = False
    """Peers that are being deleted count."""
    any_namespace: bool = False
    """Peers of every namespace count."""
    checks_pairs: bool = False
    """An invalid label in the pod's node selector makes it match every node."""

    def counted(self, namespace: str) -> PodsMatching | None:
        """The query for the peers of pods in *namespace*; None: it counts no pod."""
        if not self.counts_terminating and not self.any_namespace:
            return self.peers.counted(namespace)
        if self.peers.is_everybody and not self.peers.counts_everybody:
            return None
        return _query(
            self.peers, None if self.any_namespace else namespace, terminating=self.counts_terminating
        )

    def counts_on(self, pod: Template, nodes: Batch) -> Mask:
        """The nodes whose pods count, without a check of topology keys: bool[n]."""
        mask = nodes.has_node
        if self.honors_affinity:
            matching = pod_node_affinity_mask if self.checks_pairs else literal_node_affinity_mask
            mask = mask & matching(pod, nodes)
        if not self.honors_taints:
            return mask
        tolerations = pod.spec.tolerations
        tolerated: Mask = nodes.taints.where(lambda taints: first_untolerated(taints, tolerations) is None)
        return mask & tolerated


def allows(pod: Template) -> tuple[Hashable, ...]:
    """The parts of *pod* that :meth:`Constraint.counts_on` depends on."""
    return pod.node_selector, required_node_affinity(pod), pod.spec.tolerations


Constraints = tuple[Constraint, ...]


_PEERS: StateKey[Remembered[Peers]] = StateKey("deduced peers")


def deduced_peers(pod: Template, listings: Listings, cells: FrameworkCells) -> Peers:
    """The pods that the services and the controllers of *pod* select; every pod if nothing selects *pod*."""
    find = _deduce
    if cells.owners_by_selector:
        find = _deduce_by_checked_selectors if cells.checks_pairs else _deduce_by_selectors
    return remembered(_PEERS, find, pod, listings)


def _service_pairs(pod: Template, listings: Listings) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for service in services_of(pod, listings):
        pairs |= service.selector or {}
    return pairs


def _deduce(pod: Template, listings: Listings) -> Peers:
    pairs = _service_pairs(pod, listings)
    found = _controller_selector(pod, listings)
    if isinstance(found, LabelSelector):
        return Peers(found, Map(pairs))
    return Peers(LabelSelector(), Map(pairs | dict(found or {})))


def _deduce_by_selectors(pod: Template, listings: Listings) -> Peers:
    pairs = _service_pairs(pod, listings)
    for controller in controllers_of(pod, listings):
        pairs |= controller.selector or {}
    selectors = [owner.selector for owner in replica_sets_of(pod, listings)]
    selectors += [owner.selector for owner in stateful_sets_of(pod, listings)]
    found = [selector for selector in selectors if selector is not None]
    # They all match the pod, so no two of them ask for different values.
    selected = {key: value for selector in found for key, value in selector.match_labels.items()}
    expressions = tuple(expression for selector in found for expression in selector.match_expressions)
    return Peers(LabelSelector(match_labels=Map(selected), match_expressions=expressions), Map(pairs))


def _deduce_by_checked_selectors(pod: Template, listings: Listings) -> Peers:
    found = _deduce_by_selectors(pod, listings)
    # Upstream: one invalid pair makes all pairs of services and replication controllers match everything.
    if found.pairs and set_selector(found.pairs) is everything:
        return attrs.evolve(found, pairs=NO_STRINGS)
    return found


def _controller_selector(pod: Template, listings: Listings) -> Map[str] | LabelSelector | None:
    """The selector of the controller that owns *pod*; None for a kind that does not count, or for an invalid
    selector."""
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
