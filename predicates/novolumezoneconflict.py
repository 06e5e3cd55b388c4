"""Are the pod's volumes in the node's zone?"""

from __future__ import annotations

from functools import partial

from ..api.meaning import BETA_REGION, BETA_ZONE
from ..api.objects import PersistentVolume, PersistentVolumeClaim
from ..core.binding import VolumeError
from ..core.volumes import delays_binding
from .rule import VOLUME_ZONE_CONFLICT, Batch, Cycle, Failures, Reads, Template, has_volumes, predicate

NO_NAME = "PersistentVolumeClaim had no name"


def zones_of(label: str) -> frozenset[str]:
    """The zones that a volume's label names, separated by ``__``; none where a part is empty, as then the
    label does not count."""
    parts = [part.strip() for part in label.split("__")]
    return frozenset(parts) if all(parts) else frozenset()


def volume_of(key: str, cycle: Cycle) -> PersistentVolume | PersistentVolumeClaim:
    """The volume of the claim with this key, or the claim where it has none; raises :class:`VolumeError`."""
    name = key.partition("/")[2]
    claim = cycle.listings.claims.get(key)
    if claim is None:
        raise VolumeError(f'persistentvolumeclaim "{name}" not found' if name else NO_NAME)
    if not claim.spec.volume_name:
        return claim
    volume = cycle.listings.volumes.get(claim.spec.volume_name)
    if volume is None:
        raise VolumeError(f'persistentvolume "{claim.spec.volume_name}" not found')
    return volume


def not_among(zones: frozenset[str], zone: str | None) -> bool:
    """Whether *zone* (None: the node has none) is not one of *zones*."""
    return zone not in zones


@predicate(
    "NoVolumeZoneConflict", reads=Reads.NODE | Reads.VOLUMES, key=lambda pod: pod.claims, concerns=has_volumes
)
def no_volume_zone_conflict(pod: Template, nodes: Batch, cycle: Cycle) -> Failures | None:
    """Turn down nodes in another zone or region than the labels of a bound volume of *pod* say; nodes with
    neither label always fit.

    Upstream: pkg/scheduler/algorithm/predicates/predicates.go NewVolumeZonePredicate.
    """
    if not pod.claims:
        return None
    cells = cycle.release.volumes
    labelled = nodes.label(BETA_ZONE).present | nodes.label(BETA_REGION).present
    conflict = nodes.none()
    try:
        for claim in pod.claims:
            volume = volume_of(claim, cycle)
            if not isinstance(volume, PersistentVolume):
                kind = cycle.listings.classes.get(volume.storage_class)
                if cells.zone_needs_scheduling_gate and not cycle.enabled("VolumeScheduling"):
                    kind = None
                if kind is None or not delays_binding(kind):
                    raise VolumeError(cells.unbound_claim_text.format(f'"{volume.name}"'))
                continue
            for key in (BETA_ZONE, BETA_REGION):
                if zones := zones_of(volume.labels.get(key, "")):
                    # Upstream: a node with only the other of the two labels counts as being in zone "".
                    conflict |= labelled & nodes.label(key).where(partial(not_among, zones))
    except VolumeError as error:
        # Upstream: a volume elsewhere ends the check, so that faults of later claims are not noticed.
        failures = Failures.where(VOLUME_ZONE_CONFLICT, conflict)
        return Failures.joined([failures, Failures.error(str(error), labelled & ~conflict)])
    return Failures.where(VOLUME_ZONE_CONFLICT, conflict)
