"""How many disks of a type a node would have, by plain loops over the objects."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from kubeclassic.api.objects import PersistentVolume, PersistentVolumeClaim, Pod, StorageClass


def disks(
    pod: Pod,
    claims: Mapping[str, PersistentVolumeClaim],
    volumes: Mapping[str, PersistentVolume],
    classes: Mapping[str, StorageClass],
    counts_unresolved: bool,
) -> set[Hashable]:
    """The EBS volumes that *pod* uses; raises LookupError where a claim has no name."""
    found: set[Hashable] = set()
    for volume in pod.spec.volumes:
        if volume.aws_elastic_block_store is not None:
            found.add(volume.aws_elastic_block_store.volume_id)
            continue
        if volume.persistent_volume_claim is None:
            continue
        if not volume.persistent_volume_claim:
            raise LookupError("PersistentVolumeClaim had no name")
        key = f"{pod.namespace}/{volume.persistent_volume_claim}"
        claim = claims.get(key)
        bound = volumes.get(claim.spec.volume_name) if claim is not None else None
        if bound is not None:
            if bound.spec.source.aws_elastic_block_store is not None:
                found.add(bound.spec.source.aws_elastic_block_store.volume_id)
        elif counts_unresolved:
            found.add(("claim", key))
        elif claim is not None:
            kind = classes.get(claim.spec.storage_class_name or "")
            if kind is not None and kind.provisioner == "kubernetes.io/aws-ebs":
                found.add(("claim", key))
    return found


def too_many(new: set[Hashable], existing: Sequence[set[Hashable]], limit: int) -> bool:
    """Whether the node would have more disks than *limit*."""
    there: set[Hashable] = set().union(*existing)
    return bool(new) and len(there) + len(new - there) > limit
