"""Is a disk that the pod mounts free of other users on the node?"""

from __future__ import annotations

from ..api.objects import Volume
from .rule import DISK_CONFLICT, Batch, Cycle, Failures, Reads, StateKey, Template, has_volumes, predicate

_DISKS: StateKey[tuple[Volume, ...]] = StateKey("NoDiskConflict")


def _disks(pod: Template) -> tuple[Volume, ...]:
    """The volumes of *pod* that can conflict with those of another pod."""
    disks = pod.notes.get(_DISKS)
    if disks is None:
        disks = pod.notes[_DISKS] = tuple(
            v for v in pod.volumes if v.gce_persistent_disk or v.aws_elastic_block_store or v.iscsi or v.rbd
        )
    return disks


def has_disks(pod: Template) -> bool:
    """Whether *pod* has volumes that can conflict with those of another pod."""
    return bool(_disks(pod))


def disks_conflict(one: Volume, other: Volume) -> bool:
    """Whether two pods cannot have these volumes on one node."""
    gce = one.gce_persistent_disk
    other_gce = other.gce_persistent_disk
    if gce and other_gce and gce.pd_name == other_gce.pd_name and not (gce.read_only and other_gce.read_only):
        return True
    ebs = one.aws_elastic_block_store
    other_ebs = other.aws_elastic_block_store
    # Upstream: an EBS volume has one user, even if all of them only read.
    if ebs and other_ebs and ebs.volume_id == other_ebs.volume_id:
        return True
    iscsi = one.iscsi
    other_iscsi = other.iscsi
    # Upstream: lun and portal do not matter.
    if (
        iscsi
        and other_iscsi
        and iscsi.iqn == other_iscsi.iqn
        and not (iscsi.read_only and other_iscsi.read_only)
    ):
        return True
    rbd = one.rbd
    other_rbd = other.rbd
    return bool(
        rbd
        and other_rbd
        and (rbd.pool, rbd.image) == (other_rbd.pool, other_rbd.image)
        and not set(rbd.monitors).isdisjoint(other_rbd.monitors)
        and not (rbd.read_only and other_rbd.read_only)
    )


@predicate("NoDiskConflict", reads=Reads.PODS, key=_disks, concerns=has_volumes)
def no_disk_conflict(pod: Template, nodes: Batch, cycle: Cycle) -> Failures | None:
    """Turn down nodes where another pod uses a disk of *pod*, unless both only read it.

    GCE disks, EBS volumes, iSCSI and Ceph RBD disks count, disks behind claims do not. An EBS volume has one
    user in any case. Upstream: pkg/scheduler/algorithm/predicates/predicates.go NoDiskConflict.
    """
    disks = _disks(pod)
    if not disks:
        return None
    conflict_by_template = {}

    def conflicts(other: Template) -> bool:
        if other.number not in conflict_by_template:
            conflict_by_template[other.number] = any(
                disks_conflict(disk, other_disk) for disk in disks for other_disk in _disks(other)
            )
        return conflict_by_template[other.number]

    mask = nodes.none()
    for i in nodes.with_volumes():
        mask[i] = any(conflicts(entry.template) for entry in nodes.pods(i))
    return Failures.where(DISK_CONFLICT, mask)
