"""The writes of ResourceClaims: their finalizer, the devices that they get, and the pods that use them.

Upstream: bindClaim, PostFilter and Unreserve in pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go.
"""

from __future__ import annotations

from typing import Any

import attrs

from ...core.cluster.listings import ClaimWrite, ResourceClaims
from .state import LiveState
from .writes.api import ApiError


@attrs.define(eq=False)
class ClaimWork:
    """Writes what the engine notes of claims."""

    state: LiveState

    def __attrs_post_init__(self) -> None:
        self.claims.writes = []

    @property
    def claims(self) -> ResourceClaims:
        return self.state.listings.resource_claims

    def taken(self) -> list[ClaimWrite]:
        """What is to be written, and is no longer noted."""
        found, self.claims.writes = self.claims.writes or [], []
        return found

    async def write(self, wanted: list[ClaimWrite]) -> str | None:
        """Write *wanted* in order; the first error ends it, and what was not written is as before."""
        for number, each in enumerate(wanted):
            try:
                written = await self.state.api.put_claim(each.before, each.after, self._classes())
            except ApiError as error:
                await self.state.free()
                for undone in reversed(wanted[number:]):
                    self._restore(undone)
                return str(error)
            await self.state.free()
            self.claims.put(written)
        return None

    def write_beside(self) -> None:
        """Write what was noted just now, beside what goes on; an error is reported, and the next attempt notes it once more."""
        if wanted := self.taken():
            self.state.spawn(self._reported(wanted))

    async def _reported(self, wanted: list[ClaimWrite]) -> None:
        error = await self.write(wanted)
        if error is not None:
            self.state.log.warning(f"resourceclaims: {error}")

    def _restore(self, undone: ClaimWrite) -> None:
        if self.claims.get(undone.after.key) is undone.after:
            self.claims.put(undone.before)

    def _classes(self) -> dict[str, dict[str, Any]]:
        found = self.state.listings.device_classes
        return {one.name: dict(one.manifest or {}) for one in found}
