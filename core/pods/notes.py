"""Notes: what rules and plugins have worked out for a template or a cycle, in typed slots."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import attrs

from ...api.objects import PersistentVolumeClaim, Pod, Volume
from ..release import Gates, VolumeCells

T = TypeVar("T")


# Without ``unsafe_hash`` a type checker does not take a slot for Hashable: it checks the value's type. The hash is that of ``object``.
@attrs.frozen(eq=False, unsafe_hash=False, repr=False)
class StateKey(Generic[T]):
    """A key of notes whose values are of type T. Two slots of one name are different keys; the name is only for ``repr``.

    A slot that is pickled together with its owner stays the same key. One of a module does not: what a plugin keeps for a
    waiting pod, which copies hold, needs a slot of the plugin's own or a plain key.
    """

    name: str


CycleState = dict[Any, Any]
"""What was worked out, by :class:`StateKey`; a user's own rule or plugin may take any other key."""


def claim_name(pod: Pod, volume: Volume, ephemeral: bool) -> str | None:
    """The name of the claim of one of *pod*'s volumes, None where there is none; *ephemeral*: generic ephemeral volumes have claims."""
    if volume.persistent_volume_claim is not None:
        return volume.persistent_volume_claim
    return f"{pod.name}-{volume.name}" if ephemeral and volume.ephemeral is not None else None


def has_ephemeral_claims(cells: VolumeCells, gates: Gates) -> bool:
    """Whether generic ephemeral volumes have claims."""
    return cells.ephemeral_claims and (not cells.ephemeral_gate or bool(gates.get(cells.ephemeral_gate)))


def claim_keys(pod: Pod, ephemeral: bool = False) -> tuple[str, ...]:
    """The claims of *pod*'s volumes, in order, as ``namespace/name``."""
    if not pod.spec.volumes:
        return ()
    names = (claim_name(pod, volume, ephemeral) for volume in pod.spec.volumes)
    return tuple(f"{pod.namespace}/{name}" for name in names if name is not None)


def is_made_for_pod(volume: Volume) -> bool:
    """Whether the claim of *volume* is made for this pod only."""
    return volume.ephemeral is not None and volume.persistent_volume_claim is None


NOT_OWNED = "PVC {namespace}/{name} was not created for pod {namespace}/{pod} (pod is not owner)"


def not_owned(pod: Pod, claim: PersistentVolumeClaim, text: str = NOT_OWNED) -> str | None:
    """The error of a *claim* that was not made for the ephemeral volume of *pod*, as *text* words it; None where it was."""
    owner = claim.metadata.controller
    if claim.namespace == pod.namespace and owner is not None and owner.uid == pod.uid:
        return None
    return text.format(namespace=claim.namespace, name=claim.name, pod=pod.name)
