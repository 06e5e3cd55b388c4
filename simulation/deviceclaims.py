"""Claims to devices of pods that leave their nodes, and of those that are made in their place."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ..api.controlplane.deviceclaims import claims_made_for, templates_in
from ..api.objects import Pod, ResourceClaim
from ..core.engine import Engine
from ..core.run import Run


def claims_left_by(pod: Pod, engine: Engine) -> Iterator[tuple[ResourceClaim, ResourceClaim | None]]:
    """Each claim of *pod*, and what becomes of it when the pod is gone: those that were made for it go with it.

    Others lose it as their user, and their devices with the last one. Upstream: pkg/controller/resourceclaim/controller.go.
    """
    for claim in engine.listings.resource_claims.of(pod):
        owner = claim.metadata.controller
        if owner is not None and owner.uid == pod.uid:
            yield claim, None
            continue
        users = tuple(one for one in claim.status.reserved_for if one.uid != pod.uid)
        if len(users) < len(claim.status.reserved_for):
            status = replace(claim.status, reserved_for=users, allocation=claim.status.allocation if users else None)
            yield claim, replace(claim, status=status)


def with_claims(pod: Pod, engine: Engine) -> tuple[Pod, list[ResourceClaim]]:
    """*pod*, which is new, with the claims that are made for it."""
    return claims_made_for(pod, templates_in(engine.listings.claim_templates))


def give_back(pod: Pod, run: Run) -> None:
    """*pod* is gone: what it claimed is free again, unless others use it."""
    for before, after in tuple(claims_left_by(pod, run.engine)):
        if after is None:
            run.delete(before)
        else:
            run.put(after)
