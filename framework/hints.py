"""Queueing hints: may an event let a pod fit that a plugin rejected? Pure functions of the pod, and of the
object before and after.

A hint may say yes in vain, and then the pod is tried for nothing; if it says no, the plugin would still
reject the pod.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Any

import attrs

from ..api.meaning import (
    Matcher,
    compile_selector,
    first_untolerated,
    node_selector_matches,
    pairs_match,
    tolerates,
)
from ..api.objects import (
    Affinity,
    CSIStorageCapacity,
    Node,
    NodeSelector,
    PersistentVolume,
    Pod,
    PodAffinityTerm,
    Quantity,
    ResourceClaim,
    Taint,
    Volume,
)
from ..core.cluster.listings import IMPLICIT
from ..core.pods import PODS, Port, claim_keys, claim_name, host_ports, of_node
from ..core.release import Requests
from ..core.volumes import MIGRATED_PLUGINS, PLUGINS, RBD, plugin_of
from ..predicates.nodiskconflict import disks_conflict
from ..predicates.novolumezoneconflict import zones_of

RequestsOf = Callable[[Pod], Requests]
"""The requests of a pod."""
CORDONED = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")


def node_matches_affinity(
    pod: Pod, old: Any, new: Any, *, added: NodeSelector | None, compares: bool
) -> bool:
    """The node begins to match the pod's node selector and required affinity, and matches what the profile
    *added*."""
    if added is not None and not node_selector_matches(added, new.labels, new.name):
        return False
    return is_selected(pod, new) and not (compares and old is not None and is_selected(pod, old))


def is_selected(pod: Pod, node: Node) -> bool:
    """Whether the pod's node selector and required affinity match the node."""
    affinity = (pod.spec.affinity or Affinity()).node_affinity
    required = affinity.required if affinity else None
    return pairs_match(pod.spec.node_selector, node.labels) and (
        required is None or node_selector_matches(required, node.labels, node.name)
    )


def node_is_schedulable(pod: Pod, old: Any, new: Any, *, compares: bool) -> bool:
    """The node is schedulable, and was not."""
    return not new.spec.unschedulable and (not compares or old is None or old.spec.unschedulable)


def pod_tolerates_unschedulable(pod: Pod, old: Any, new: Any) -> bool:
    """The pod itself tolerates unschedulable nodes now."""
    return pod.uid == new.uid and tolerates(new.spec.tolerations, CORDONED)


def node_is_tolerated(pod: Pod, old: Any, new: Any) -> bool:
    """The pod tolerates the node's taints now, and did not."""
    was_tolerated = old is not None and first_untolerated(old.spec.taints, pod.spec.tolerations) is None
    return not was_tolerated and first_untolerated(new.spec.taints, pod.spec.tolerations) is None


def declared_features_change(pod: Pod, old: Any, new: Any) -> bool:
    """The node declares other features than before."""
    return old is None or old.status.declared_features != new.status.declared_features


def tolerations_change(pod: Pod, old: Any, new: Any) -> bool:
    """The pod itself has more tolerations."""
    return bool(pod.uid == new.uid) and len(old.spec.tolerations) != len(new.spec.tolerations)


def gates_end(pod: Pod, old: Any, new: Any) -> bool:
    """The pod itself has no scheduling gates."""
    return bool(pod.uid == new.uid) and not new.spec.scheduling_gates


def node_has_room(
    pod: Pod,
    old: Any,
    new: Any,
    *,
    requests: RequestsOf,
    compares: bool,
    devices: Callable[[], Container[str]] = tuple,
) -> bool:
    """The pod would fit on the empty node, which has more than before of some resource that the pod requests.

    The node may lack resources that *devices* give.
    """
    requested = requests(pod)
    room = of_node(new.status.allocatable)
    device_resources = devices()
    positive = {name: number for name, number in requested.items() if number}
    compared = {
        name: number
        for name, number in positive.items()
        if room.get(name, 0) > 0 or name not in device_resources
    }
    if room.get(PODS, 0) < 1 or any(number > room.get(name, 0) for name, number in compared.items()):
        return False
    if not compares or old is None:
        return True
    old_room = of_node(old.status.allocatable)
    return len(compared) < len(positive) or any(
        room.get(name, 0) > old_room.get(name, 0) for name in (PODS, *compared)
    )


def class_gives(pod: Pod, old: Any, new: Any, *, requests: RequestsOf) -> bool:
    """A DeviceClass is new, or names another extended resource than before, and the pod requests that
    resource."""
    explicit = new.spec.extended_resource_name
    requested = requests(pod)
    if old is None:
        return explicit in requested or IMPLICIT + new.name in requested
    return (old.spec.extended_resource_name or "") != (explicit or "") and explicit in requested


def pod_leaves_room(
    pod: Pod, old: Any, new: Any, *, counted: RequestsOf | None, nominated: bool, compares_own: bool
) -> bool:
    """A pod left its node, or its requests there became smaller in a resource that the pod requests. With
    *counted* None requests do not change.

    With *nominated* a pod that was nominated to a node counts, too; with *compares_own* the pod's own smaller
    requests count only in resources that it still requests.
    """
    if new is None:
        return was_on_node(old, nominated)
    if counted is None:
        return False
    is_own = new.uid == pod.uid
    if is_own and not compares_own:
        return True
    before = counted(old)
    after = counted(new)
    return bool(is_own or new.spec.node_name) and any(
        number and before.get(name, 0) > after.get(name, 0) for name, number in counted(pod).items()
    )


def was_on_node(pod: Pod, nominated: bool) -> bool:
    """Whether a deleted pod took room on a node; with *nominated* also if it was only nominated to one."""
    return bool(pod.spec.node_name or (nominated and pod.status.nominated_node_name))


def claim_is_used(pod: Pod, old: Any, new: Any) -> bool:
    """The claim belongs to one of the pod's volumes."""
    return new.key in claim_keys(pod, ephemeral=True)


def claim_is_named(pod: Pod, old: Any, new: Any) -> bool:
    """The pod names the claim; those of ephemeral volumes do not count."""
    return new.key in claim_keys(pod)


def class_changes(pod: Pod, old: Any, new: Any) -> bool:
    """A class is new, or has other topologies. Upstream: isSchedulableAfterStorageClassChange."""
    return bool(old is None or old.allowed_topologies != new.allowed_topologies)


def class_waits(pod: Pod, old: Any, new: Any) -> bool:
    """A class that waits for its first consumer is new."""
    return bool(new.volume_binding_mode == "WaitForFirstConsumer")


def migration_changes(pod: Pod, old: Any, new: Any) -> bool:
    """A CSINode is new, or other plugins are migrated there. Upstream: isSchedulableAfterCSINodeChange."""
    return bool(
        old is None or old.annotations.get(MIGRATED_PLUGINS, "") != new.annotations.get(MIGRATED_PLUGINS, "")
    )


def capacity_grows(pod: Pod, old: Any, new: Any) -> bool:
    """There is more storage, or a first report of storage. Upstream:
    isSchedulableAfterCSIStorageCapacityChange."""
    before = None if old is None else _limit(old)
    after = _limit(new)
    return old is None or (after is not None and (before is None or after > before))


def _limit(capacity: CSIStorageCapacity) -> Quantity | None:
    return capacity.capacity if capacity.maximum_volume_size is None else capacity.maximum_volume_size


def driver_stops_reporting(pod: Pod, old: Any, new: Any) -> bool:
    """The driver of an inline volume no longer reports capacity. Upstream:
    isSchedulableAfterCSIDriverChange."""
    uses = any(volume.csi is not None and volume.csi.driver == new.name for volume in pod.spec.volumes)
    return uses and old.spec.storage_capacity and not new.spec.storage_capacity


def volume_moves(pod: Pod, old: Any, new: Any, *, labels: tuple[str, ...]) -> bool:
    """A volume is new, or has other zones in its *labels*. Upstream:
    isSchedulableAfterPersistentVolumeChange."""
    return old is None or _zones(old, labels) != _zones(new, labels)


def _zones(volume: PersistentVolume, labels: tuple[str, ...]) -> list[tuple[str, frozenset[str]]]:
    return [(label, zones) for label in labels if (zones := zones_of(volume.labels.get(label, "")))]


def pod_leaves_disk(pod: Pod, old: Any, new: Any) -> bool:
    """A deleted pod of the namespace used a disk or a claim that the pod needs for itself."""
    return old.namespace == pod.namespace and (
        not set(claim_keys(pod)).isdisjoint(claim_keys(old))
        or any(disks_conflict(disk, old_disk) for disk in pod.spec.volumes for old_disk in old.spec.volumes)
    )


# --- limits -------------------------------------------------------------------------------------------------


def pod_leaves_attachment(pod: Pod, old: Any, new: Any, *, nominated: bool) -> bool:
    """A pod with a volume of a CSI driver left its node."""
    return was_on_node(old, nominated) and any(
        claim_name(old, volume, ephemeral=True) is not None or _inline_driver(volume) is not None
        for volume in old.spec.volumes
    )


def _inline_driver(volume: Volume) -> str | None:
    plugin = plugin_of(volume)
    # Upstream: the releases in which limits have hints know no driver for disks of Ceph.
    return None if plugin in (None, RBD) else PLUGINS[plugin].driver


def limit_grows(pod: Pod, old: Any, new: Any) -> bool:
    """The limit of a driver on the node grows; a driver without one counts as 0. Upstream:
    isSchedulableAfterCSINodeUpdated."""
    before = {driver.name: driver.allocatable.count or 0 for driver in old.spec.drivers}
    return any((driver.allocatable.count or 0) > before.get(driver.name, 0) for driver in new.spec.drivers)


def attachment_goes(pod: Pod, old: Any, new: Any) -> bool:
    """A volume is detached, and the pod has a claim, or a disk of the same driver. Upstream:
    isSchedulableAfterVolumeAttachmentDeleted."""
    drivers = {_inline_driver(volume) for volume in pod.spec.volumes}
    return bool(claim_keys(pod)) or old.spec.attacher in drivers


ClaimsOf = Callable[[Pod], Sequence[ResourceClaim] | str]
"""The claims of a pod in order, or the reason why one cannot be used."""


def claim_changes(pod: Pod, old: Any, new: Any, *, claims: ClaimsOf) -> bool:
    """A claim gave its devices back, or one of the pod's claims is new or has another status. Upstream:
    isSchedulableAfterClaimChange."""
    pod_claims = claims(pod)
    if isinstance(pod_claims, str):
        return False
    if old is not None and old.status.allocation is not None and new.status.allocation is None:
        return True
    return any(claim.uid == new.uid for claim in pod_claims) and (
        old is None or bool(old.status != new.status)
    )


def claims_are_made(pod: Pod, old: Any, new: Pod, *, claims: ClaimsOf) -> bool:
    """The pod itself has all of its claims now. Upstream: isSchedulableAfterPodChange."""
    return pod.uid == new.uid and not isinstance(claims(new), str)


# --- host ports ---------------------------------------------------------------------------------------------


def pod_leaves_ports(pod: Pod, old: Any, new: Any, *, nominated: bool) -> bool:
    """A pod that used one of the pod's host ports left its node. Upstream: isSchedulableAfterPodDeleted of
    NodePorts."""
    return was_on_node(old, nominated) and any(
        ports_clash(port, used_port) for port in host_ports(pod) for used_port in host_ports(old)
    )


def ports_clash(one: Port, other: Port) -> bool:
    """Whether no node has both ports."""
    return one[1:] == other[1:] and (one[0] == other[0] or "0.0.0.0" in (one[0], other[0]))


# --- affinity between pods ----------------------------------------------------------------------------------


def affine_pod_changes(pod: Pod, old: Any, new: Any, *, wider: bool = False) -> bool:
    """A pod on a node begins to match all required affinity terms, or no longer matches all anti-affinity
    terms. The terms are those of the pod that waits.

    *wider*: changes of the pod's own labels and nominated pods count too, as do deleted pods that avoided the
    pod. Upstream: isSchedulableAfterPodChange of InterPodAffinity.
    """
    if wider and old is not None and new is not None and pod.uid == new.uid:
        return True
    if not all(other is None or was_on_node(other, wider) for other in (old, new)):
        return False
    required, avoided = affinity_terms(pod)
    if old is None:
        return _matches_all(required, pod, new)
    if new is None:
        return _matches_all(avoided, pod, old) or (wider and _matches_all(affinity_terms(old)[1], old, pod))
    is_new_match = not _matches_all(required, pod, old) and _matches_all(required, pod, new)
    return is_new_match or (_matches_all(avoided, pod, old) and not _matches_all(avoided, pod, new))


def affine_node_changes(pod: Pod, old: Any, new: Any, *, compares: bool) -> bool:
    """The node has the topology key of a required term. If it *compares*, the key has another value now, or
    is new, or is gone.

    Upstream: isSchedulableAfterNodeChange of InterPodAffinity.
    """
    required, avoided = affinity_terms(pod)
    if not compares:
        return any(term.topology_key in new.labels for term in (*required, *avoided))
    if old is None:
        return bool(avoided) or any(term.topology_key in new.labels for term in required)
    has_new_match = any(term.topology_key in new.labels and _has_changed(term, old, new) for term in required)
    return has_new_match or any(
        term.topology_key in old.labels and _has_changed(term, old, new) for term in avoided
    )


def _has_changed(term: PodAffinityTerm, old: Node, new: Node) -> bool:
    return old.labels.get(term.topology_key) != new.labels.get(term.topology_key)


def affinity_terms(pod: Pod) -> tuple[Sequence[PodAffinityTerm], Sequence[PodAffinityTerm]]:
    """The required terms of affinity and of anti-affinity."""
    affinity = pod.spec.affinity or Affinity()
    affine = affinity.pod_affinity
    anti = affinity.pod_anti_affinity
    return affine.required if affine else (), anti.required if anti else ()


def _matches_all(terms: Sequence[PodAffinityTerm], owner: Pod, other: Pod) -> bool:
    for term in terms:
        own_space = not term.namespaces and term.namespace_selector is None
        # Upstream: the labels of the namespace are not looked up, so a selector reaches it only if it matches
        # no labels at all.
        in_namespace = other.namespace in (term.namespaces or ((owner.namespace,) if own_space else ()))
        if not (in_namespace or compile_selector(term.namespace_selector)({})):
            return False
        if not compile_selector(term.label_selector)(other.labels):
            return False
    return bool(terms)


# --- topology spread ----------------------------------------------------------------------------------------


@attrs.frozen(repr=False)
class Spread:
    """A hard constraint as hints see it."""

    topology_key: str
    matches: Matcher
    honors_taints: bool


ConstraintsOf = Callable[[Pod], Sequence[Spread] | None]
"""A pod's hard constraints; None where they depend on its services and controller, so that every event may
help."""


def spread_pod_changes(
    pod: Pod, old: Any, new: Any, *, constraints: ConstraintsOf, sees_itself: bool, wider: bool = False
) -> bool:
    """A pod of the namespace comes, leaves or changes its labels, so that the count of some constraint
    changes.

    With *sees_itself* also a change of the pod's own labels, or of its tolerations where taints count.
    *wider*: nominated pods count, too. Upstream: isSchedulableAfterPodChange of PodTopologySpread.
    """
    if any(
        other is not None
        and not (
            (sees_itself and other.uid == pod.uid)
            or (was_on_node(other, wider) and other.namespace == pod.namespace)
        )
        for other in (old, new)
    ):
        return False
    pod_constraints = constraints(pod)
    if pod_constraints is None:
        return True
    if old is None or new is None:
        return any(constraint.matches((old or new).labels) for constraint in pod_constraints)
    if (
        sees_itself
        and pod.uid == new.uid
        and old.spec.tolerations != new.spec.tolerations
        and any(constraint.honors_taints for constraint in pod_constraints)
    ):
        return True
    return bool(old.labels != new.labels) and any(
        constraint.matches(old.labels) != constraint.matches(new.labels) for constraint in pod_constraints
    )


def spread_node_changes(pod: Pod, old: Any, new: Any, *, constraints: ConstraintsOf, compares: bool) -> bool:
    """A node with all topology keys comes, goes, or changes its domains or taints. Upstream:
    isSchedulableAfterNodeChange."""
    pod_constraints = constraints(pod)
    if pod_constraints is None:
        return True
    keys = [constraint.topology_key for constraint in pod_constraints]
    old_has_keys, new_has_keys = (
        node is not None and all(key in node.labels for key in keys) for node in (old, new)
    )
    if old is None or not compares:
        return new_has_keys if new is not None else old_has_keys
    if new is None or old_has_keys != new_has_keys:
        return old_has_keys or new is not None
    return new_has_keys and (
        any(old.labels[key] != new.labels[key] for key in keys) or old.spec.taints != new.spec.taints
    )
