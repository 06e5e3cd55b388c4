"""Volumes and claims: their class, their size, and whose a volume is."""

from __future__ import annotations

from ..objects import BETA_CLASS, PersistentVolume, PersistentVolumeClaim, Quantity

_NOTHING = Quantity()
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
DELAYED = "WaitForFirstConsumer"
"""The binding mode of a class whose volumes wait for the node of their pod."""


def volume_class(volume: PersistentVolume) -> str:
    """The storage class that *volume* belongs to, the beta annotation first; empty where it has none."""
    return volume.annotations.get(BETA_CLASS, volume.spec.storage_class_name)


def requested_size(claim: PersistentVolumeClaim) -> int:
    """The storage that *claim* requests, exactly, in units of 1e-9 bytes."""
    return claim.spec.requests.get("storage", _NOTHING).nanos


def volume_size(volume: PersistentVolume) -> int:
    """The storage of *volume*, exactly, in units of 1e-9 bytes."""
    return volume.spec.capacity.get("storage", _NOTHING).nanos


def is_bound_to(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Whether *volume* is bound to *claim*; a reference without a UID means any claim of that name."""
    reference = volume.spec.claim_ref
    if reference is None or (reference.namespace, reference.name) != (claim.namespace, claim.name):
        return False
    return not reference.uid or reference.uid == claim.uid
