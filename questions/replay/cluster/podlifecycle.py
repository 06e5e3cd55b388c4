"""What a replay knows of a pod beside its API object."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

import attrs

from ....api.objects import Pod
from ....core.arrays.types import Ints
from ....core.bindingcycle import Waiting
from ....core.queue.parked import QueuedPod


@attrs.frozen(kw_only=True, repr=False)
class Lifetime:
    """How long a pod lasts, in virtual seconds; None: until something else ends it."""

    runs_for: float | None = None
    """Counted from when it runs."""
    leaves_at: float | None = None
    """When it is deleted, whether it has a node or not."""


EVER = Lifetime()
"""A pod that stays until something ends it."""


@attrs.define(eq=False, repr=False)
class PodLifecycle:
    """One pod from its arrival to its end; the object itself is in the API."""

    key: str
    arrived: int
    """Nanoseconds, as all times here."""
    lifetime: Lifetime
    asked: Ints
    """What it takes of a node: int64[R] in the order of the ledger."""
    original: Pod
    """The pod as it came, or the first one that it replaces; after an eviction another is made from it."""
    node: str = ""
    """The node that it has or is about to get."""
    scheduled: int | None = None
    leaving: str = ""
    """Why it has to leave; empty while it may stay."""
    attempts: int = 0
    message: str = ""
    """Why the last attempt failed."""
    tried: QueuedPod = attrs.field(default=attrs.Factory(lambda self: QueuedPod(self.original), takes_self=True))
    """What the queue knew of it when it last gave it."""
    is_hopeless: bool = False
    """The last attempt found no node, and another one on the same cluster would not either."""
    tried_at: int = -1
    """The cluster's ``changes`` at the last failed attempt."""
    held: Waiting | None = None
    """What its binding waits for on its node."""
    timer: int | None = None
    """The task that ends this wait when its time is up."""
    work: Coroutine[Any, Any, None] | None = None
    """Its binding."""
    rejections: int = 0
    """How often such a wait ended in a rejection since the cluster last changed for good, ..."""
    rejected_at: int = -1
    """... and the cluster's ``lasting_changes`` then."""

    @property
    def waits(self) -> bool:
        return not self.node
