"""Queueing hints of DynamicResources. See :mod:`kubeclassic.framework.hints`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...api.objects import Pod, ResourceClaim

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
