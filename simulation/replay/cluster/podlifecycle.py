"""One pod's life in a replay, as far as the API does not tell of it."""

from __future__ import annotations

import attrs

from ....api.objects import Pod
from ..ledger import Ints


@attrs.frozen(kw_only=True)
class Lifetime:
    """How long a pod lasts, in virtual seconds; None: until something else ends it."""

    runs_for: float | None = None
    """Counted from when it runs."""
    leaves_at: float | None = None
    """When it goes wherever it is by then."""


EVER = Lifetime()
"""A pod that stays until something ends it."""


@attrs.define(eq=False)
class PodLifecycle:
    """One pod. Its object is the API's; here is what a replay knows besides."""

    key: str
    arrived: float
    lifetime: Lifetime
    asked: Ints
    """What it takes of a node: int64[R] in the order of the ledger."""
    original: Pod
    """As it, or the first whose place it takes, came: to be made anew after an eviction."""
    node: str = ""
    """The node that it has or is about to get."""
    scheduled: float | None = None
    leaving: str = ""
    """Why it was told to leave."""
    attempts: int = 0
    message: str = ""
    """Why the last attempt failed."""
    is_hopeless: bool = False
    """The last attempt found no place, and one on the same cluster would not either."""
    tried_at: int = -1
    """The cluster's ``changes`` at the last failed attempt."""

    @property
    def waits(self) -> bool:
        return not self.node
