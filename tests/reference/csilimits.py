"""Whether a node would have more volumes of a CSI driver than its CSINode allows, by plain loops, as from 1.32 on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kubeclassic.api.objects import CSINode, PersistentVolume, PersistentVolumeClaim, Pod, VolumeAttachment

Identity = tuple[str, str]
"""Driver and handle."""


def volumes_of(pod: Pod, claims: Mapping[str, PersistentVolumeClaim], volumes: Mapping[str, PersistentVolume]) -> set[Identity]:
    """The CSI volumes that *pod* uses."""
    found: set[Identity] = set()
    for used in pod.spec.volumes:
        claim = claims.get(used.persistent_volume_claim or "")
        volume = volumes.get(claim.spec.volume_name) if claim is not None else None
        csi = volume.spec.source.csi if volume is not None else None
        if csi is not None:
            found.add((csi.driver, csi.volume_handle))
    return found


def too_many(
    node: CSINode | None,
    new: set[Identity],
    there: Sequence[set[Identity]],
    attachments: Sequence[VolumeAttachment],
    volumes: Mapping[str, PersistentVolume],
) -> bool:
    """Whether *node* cannot take *new*; *there*: what each pod on it uses."""
    if node is None:
        return False
    used: set[Identity] = set().union(*there)
    attached: set[Identity] = set()
    for item in attachments:
        volume = volumes.get(item.persistent_volume_name)
        if item.node_name == node.name and item.attacher and volume is not None and volume.spec.source.csi is not None:
            attached.add((item.attacher, volume.spec.source.csi.volume_handle))
    for driver in node.drivers:
        wanted = [one for one in new - used if one[0] == driver.name]
        before = [one for one in used | attached if one[0] == driver.name]
        if driver.count is not None and wanted and len(before) + len(wanted) > driver.count:
            return True
    return False
