"""Which results an event invalidates in the equivalence cache. Upstream forgets some cases; these gaps are kept.

Upstream: the invalidate functions of pkg/scheduler/factory/factory.go and InvalidateCachedPredicateItemForPodAdd in
pkg/scheduler/core/equivalence/eqivalence.go. Two of its conditions are left out, as no result depends on them: taints in annotations,
and conditions that changed in their texts only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ...api.objects import (
    KubeObject,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    Service,
    StorageClass,
)

if TYPE_CHECKING:
    from ..release import Release

Gates = Mapping[str, bool]
Ends = Iterable[tuple[str, str | None]]
"""Predicate and node; None for every node."""

ALL = "*"
"""Every predicate."""
GENERAL, CONDITION, TAINTS = "GeneralPredicates", "CheckNodeCondition", "PodToleratesNodeTaints"
AFFINITY, SERVICES, DISKS = "MatchInterPodAffinity", "CheckServiceAffinity", "NoDiskConflict"
BINDING, ZONE = "CheckVolumeBinding", "NoVolumeZoneConflict"
EBS, GCE, AZURE, CSI = "MaxEBSVolumeCount", "MaxGCEPDVolumeCount", "MaxAzureDiskVolumeCount", "MaxCSIVolumeCountPred"
PRESSURES = {
    "MemoryPressure": "CheckNodeMemoryPressure",
    "DiskPressure": "CheckNodeDiskPressure",
    "PIDPressure": "CheckNodePIDPressure",
    "Ready": CONDITION,
    "OutOfDisk": CONDITION,
    "NetworkUnavailable": CONDITION,
}
ZONE_LABELS = ("failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region")
LATE = "WaitForFirstConsumer"


def of_change(old: KubeObject | None, new: KubeObject | None, release: Release, gates: Gates) -> Ends:
    """What is invalid when an object comes (*old* is None), changes, or is deleted (*new* is None). Pods are those bound to a node."""
    match old or new:
        case Node():
            return _of_node(old, new)
        case Pod():
            return _of_pod(old, new, release, gates)
        case PersistentVolume():
            return _everywhere(_of_volume(old, new, gates))
        case PersistentVolumeClaim():
            return _everywhere(_of_claim(old, new, gates))
        case StorageClass() if new is None:
            return _everywhere(_of_class_gone(old, gates))
        case Service():
            return _everywhere(_of_service(old, new))
    return ()


def _everywhere(predicates: Iterable[str]) -> Ends:
    return [(predicate, None) for predicate in predicates]


# --- pods -----------------------------------------------------------------------------------------------------------


def of_pod_arrival(pod: Pod, gates: Gates) -> set[str]:
    """What is invalid on a node when the scheduler puts *pod* there; upstream uses the same list when the pod leaves."""
    # Upstream: neither MatchInterPodAffinity nor NoDiskConflict is among them.
    ended = {GENERAL}
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is not None:
            ended.update(_counts(gates))
        else:
            inline = (EBS, volume.aws_elastic_block_store), (GCE, volume.gce_persistent_disk), (AZURE, volume.azure_disk)
            ended.update(name for name, source in inline if source is not None)
    return ended


def of_volumes_assumed(gates: Gates) -> set[str]:
    """What is invalid on all nodes when volumes are assumed."""
    return _binding(gates)


def _of_pod(old: KubeObject | None, new: KubeObject | None, release: Release, gates: Gates) -> Ends:
    if not isinstance(old, Pod):
        # Upstream: only the scheduler's own pods invalidate results, when they are assumed; a pod that others bind does not.
        return ()
    node_name = old.spec.node_name
    if not isinstance(new, Pod):
        ended = [(AFFINITY, None), *((name, node_name) for name in of_pod_arrival(old, gates))]
        return [*ended, (DISKS, node_name)] if any(map(_may_conflict, old.spec.volumes)) else ended
    labels = [(AFFINITY, None)] if old.labels != new.labels else []
    requests = [(GENERAL, node_name)] if release.incoming(old, gates) != release.incoming(new, gates) else []
    return [*labels, *requests]


def _may_conflict(volume: object) -> bool:
    kinds = ("gce_persistent_disk", "aws_elastic_block_store", "rbd", "iscsi")
    return any(getattr(volume, kind) is not None for kind in kinds)


# --- nodes ----------------------------------------------------------------------------------------------------------


def _of_node(old: KubeObject | None, new: KubeObject | None) -> Ends:
    if not isinstance(old, Node):
        return ()
    if not isinstance(new, Node):
        return [(ALL, old.name)]
    ended = _of_labels(old.labels, new.labels) | _of_conditions(old, new)
    if _forms(old) != _forms(new):
        ended.add(GENERAL)
    if old.spec.taints != new.spec.taints:
        ended.add(TAINTS)
    if old.spec.unschedulable != new.spec.unschedulable:
        # Upstream: this invalidates CheckNodeCondition, but not CheckNodeUnschedulable.
        ended.add(CONDITION)
    return [(name, old.name) for name in ended]


def _forms(node: Node) -> dict[str, object]:
    return {name: amount.form for name, amount in node.status.allocatable.items()}


def _of_labels(old: Mapping[str, str], new: Mapping[str, str]) -> set[str]:
    if old == new:
        return set()
    # Upstream: a label that the node did not have before invalidates neither of the two below.
    changed = {key for key, value in old.items() if value != new.get(key, "")}
    ended = {GENERAL, SERVICES}
    if changed:
        ended.add(AFFINITY)
    if changed.intersection(ZONE_LABELS):
        ended.add(ZONE)
    return ended


def _of_conditions(old: Node, new: Node) -> set[str]:
    before, after = ({condition.type: condition.status for condition in node.status.conditions} for node in (old, new))
    return {predicate for kind, predicate in PRESSURES.items() if before.get(kind, "") != after.get(kind, "")}


# --- volumes, services ----------------------------------------------------------------------------------------------


def _binding(gates: Gates) -> set[str]:
    return {BINDING} if gates.get("VolumeScheduling", False) else set()


def _counts(gates: Gates) -> set[str]:
    return {EBS, GCE, AZURE, CSI} if gates.get("AttachVolumeLimit", False) else {EBS, GCE, AZURE}


def _of_volume(old: KubeObject | None, new: KubeObject | None, gates: Gates) -> set[str]:
    if isinstance(old, PersistentVolume) and isinstance(new, PersistentVolume):
        changed = (key for key in ZONE_LABELS if key in new.labels and new.labels[key] != old.labels.get(key, ""))
        # Upstream: a removed zone label does not invalidate NoVolumeZoneConflict.
        return _binding(gates) | ({ZONE} if any(changed) else set())
    volume = old or new
    assert isinstance(volume, PersistentVolume)
    source = volume.spec.source
    kinds = ((EBS, source.aws_elastic_block_store), (GCE, source.gce_persistent_disk), (AZURE, source.azure_disk), (CSI, source.csi))
    ended = {name for name, found in kinds if found is not None} & _counts(gates)
    if any(key in volume.labels for key in ZONE_LABELS):
        ended.add(ZONE)
    return ended | _binding(gates)


def _of_claim(old: KubeObject | None, new: KubeObject | None, gates: Gates) -> set[str]:
    if not isinstance(old, PersistentVolumeClaim) or not isinstance(new, PersistentVolumeClaim):
        return _counts(gates) | {ZONE} | _binding(gates)
    # Upstream: an update does not invalidate NoVolumeZoneConflict; without gate VolumeScheduling updates are ignored.
    if not gates.get("VolumeScheduling", False) or old.spec.volume_name == new.spec.volume_name:
        return set()
    return _counts(gates) | _binding(gates)


def _of_class_gone(old: KubeObject | None, gates: Gates) -> set[str]:
    late = isinstance(old, StorageClass) and old.volume_binding_mode == LATE
    return {BINDING, ZONE} if late and gates.get("VolumeScheduling", False) else set()


def _of_service(old: KubeObject | None, new: KubeObject | None) -> set[str]:
    unchanged = isinstance(old, Service) and isinstance(new, Service) and old.selector == new.selector
    return set() if unchanged else {SERVICES}
