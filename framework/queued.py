"""A pod in the queue, with what the queue knows of its attempts. Upstream: pkg/scheduler/framework/types.go QueuedPodInfo."""

from __future__ import annotations

import attrs

from ..api.objects import Pod


@attrs.define(eq=False)
class QueuedPod:
    """One waiting pod. Times are seconds of the queue's clock."""

    pod: Pod
    timestamp: float
    """When it was added; set anew whenever an attempt failed."""
    attempts: int = 0
    plugins: frozenset[str] = frozenset()
    """The plugins that turned it down last; none: anything may let it fit."""
    is_gated: bool = False
    """A PreEnqueue plugin holds it back."""
