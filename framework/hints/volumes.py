"""Queueing hints of plugins that look at volumes. See :mod:`kubeclassic.framework.hints`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...api.objects import CSIStorageCapacity, PersistentVolume, Pod, ResourceClaim, Volume
from ...api.objects.quantity import Quantity
from ...core.pods.notes import claim_keys, claim_name
from ...core.volumes.intree import MIGRATED_PLUGINS, PLUGINS
from ...predicates.disks import disks_conflict
from ...predicates.volumezone import zones_of
from .nodes import was_on_node


def claim_is_used(pod: Pod, old: Any, new: Any) -> bool:
    """The claim is of one of the pod's volumes."""
    return new.key in claim_keys(pod, ephemeral=True)


def claim_is_named(pod: Pod, old: Any, new: Any) -> bool:
    """The pod names the claim; those of ephemeral volumes do not count."""
    return new.key in claim_keys(pod)


def class_changes(pod: Pod, old: Any, new: Any) -> bool:
    """A class is new, or has other topologies. Upstream: isSchedulableAfterStorageClassChange."""
    return bool(old is None or old.allowed_topologies != new.allowed_topologies)


def class_waits(pod: Pod, old: Any, new: Any) -> bool:
    """A class is new that waits for its first consumer."""
    return bool(new.volume_binding_mode == "WaitForFirstConsumer")


def migration_changes(pod: Pod, old: Any, new: Any) -> bool:
    """A CSINode is new, or other plugins are migrated there. Upstream: isSchedulableAfterCSINodeChange."""
    return bool(old is None or old.metadata.annotations.get(MIGRATED_PLUGINS) != new.metadata.annotations.get(MIGRATED_PLUGINS))


def capacity_grows(pod: Pod, old: Any, new: Any) -> bool:
    """There is more storage, or a report of storage that there was not. Upstream: isSchedulableAfterCSIStorageCapacityChange."""
    before, after = None if old is None else _limit(old), _limit(new)
    return old is None or (after is not None and (before is None or after > before))


def _limit(capacity: CSIStorageCapacity) -> Quantity | None:
    return capacity.capacity if capacity.maximum_volume_size is None else capacity.maximum_volume_size


def driver_stops_reporting(pod: Pod, old: Any, new: Any) -> bool:
    """The driver of an inline volume no longer reports capacity. Upstream: isSchedulableAfterCSIDriverChange."""
    uses = any(volume.csi is not None and volume.csi.driver == new.name for volume in pod.spec.volumes)
    return uses and old.storage_capacity and not new.storage_capacity


def volume_moves(pod: Pod, old: Any, new: Any, *, labels: tuple[str, ...]) -> bool:
    """A volume is new, or has other zones in its *labels*. Upstream: isSchedulableAfterPersistentVolumeChange."""
    return old is None or _zones(old, labels) != _zones(new, labels)


def _zones(volume: PersistentVolume, labels: tuple[str, ...]) -> list[tuple[str, frozenset[str]]]:
    found = ((label, zones_of(volume.labels[label])) for label in labels if label in volume.labels)
    return [(label, zones) for label, zones in found if zones]


def pod_leaves_disk(pod: Pod, old: Any, new: Any) -> bool:
    """A pod of the namespace is gone that used a disk or a claim which the pod wants for itself."""
    if old.namespace != pod.namespace:
        return False
    shares = not set(claim_keys(pod)).isdisjoint(claim_keys(old))
    return shares or any(disks_conflict(one, other) for one in pod.spec.volumes for other in old.spec.volumes)


# --- limits ---------------------------------------------------------------------------------------------------------


def pod_leaves_attachment(pod: Pod, old: Any, new: Any, *, nominated: bool) -> bool:
    """A pod left its node that had a volume of a CSI driver."""
    return was_on_node(old, nominated) and any(
        claim_name(old, volume, ephemeral=True) is not None or _inline_driver(volume) is not None for volume in old.spec.volumes
    )


def _inline_driver(volume: Volume) -> str | None:
    return next((plugin.driver for plugin in PLUGINS.values() if plugin.inline(volume) is not None), None)


def limit_grows(pod: Pod, old: Any, new: Any) -> bool:
    """The limit of a driver on the node grows; a driver without one counts as 0. Upstream: isSchedulableAfterCSINodeUpdated."""
    before = {driver.name: driver.count or 0 for driver in old.drivers}
    return any((driver.count or 0) > before.get(driver.name, 0) for driver in new.drivers)


def attachment_goes(pod: Pod, old: Any, new: Any) -> bool:
    """A volume is detached, and the pod has a claim, or a disk of the same driver. Upstream: isSchedulableAfterVolumeAttachmentDeleted."""
    drivers = {_inline_driver(volume) for volume in pod.spec.volumes}
    return bool(claim_keys(pod)) or old.attacher in drivers


ClaimsOf = Callable[[Pod], Sequence[ResourceClaim] | str]
"""The claims of a pod in order, or why one cannot be used."""


def claim_changes(pod: Pod, old: Any, new: Any, *, claims: ClaimsOf) -> bool:
    """A claim gave its devices back, or one of the pod's claims is new or has another status. Upstream: isSchedulableAfterClaimChange."""
    found = claims(pod)
    if isinstance(found, str):
        return False
    if old is not None and old.status.allocation is not None and new.status.allocation is None:
        return True
    return any(claim.uid == new.uid for claim in found) and (old is None or bool(old.status != new.status))


def claims_are_made(pod: Pod, old: Any, new: Any, *, claims: ClaimsOf) -> bool:
    """The pod itself has all of its claims now. Upstream: isSchedulableAfterPodChange."""
    return bool(pod.uid == new.uid) and not isinstance(claims(new), str)
