"""The claims of a pod's volumes. Upstream: k8s.io/component-helpers storage/ephemeral."""

from __future__ import annotations

from ...api.objects import PersistentVolumeClaim, Pod, Volume


def claim_name(pod: Pod, volume: Volume, ephemeral: bool) -> str | None:
    """The name of the claim of one of *pod*'s volumes, None where there is none; *ephemeral*: generic ephemeral volumes have claims."""
    if volume.persistent_volume_claim is not None:
        return volume.persistent_volume_claim
    return f"{pod.name}-{volume.name}" if ephemeral and volume.ephemeral is not None else None


def claim_keys(pod: Pod, ephemeral: bool = False) -> tuple[str, ...]:
    """The claims of *pod*'s volumes, in order, as ``namespace/name``."""
    if not pod.spec.volumes:
        return ()
    names = (claim_name(pod, volume, ephemeral) for volume in pod.spec.volumes)
    return tuple(f"{pod.namespace}/{name}" for name in names if name is not None)


def is_made_for_pod(volume: Volume) -> bool:
    """Whether the claim of *volume* is made for this pod only."""
    return volume.ephemeral is not None and volume.persistent_volume_claim is None


def not_owned(pod: Pod, claim: PersistentVolumeClaim) -> str | None:
    """The error of a *claim* that was not made for the ephemeral volume of *pod*; None where it was."""
    owner = claim.metadata.controller
    if claim.namespace == pod.namespace and owner is not None and owner.uid == pod.uid:
        return None
    return f"PVC {claim.namespace}/{claim.name} was not created for pod {pod.namespace}/{pod.name} (pod is not owner)"
