"""How long a pod that failed has to wait before it may be tried again.

Upstream: pkg/scheduler/internal/queue/pod_backoff.go (before 1.15: pkg/scheduler/util/backoff_utils.go).
"""

from __future__ import annotations

from typing import NamedTuple

import attrs


class BackoffEntry(NamedTuple):
    """A pod's last failure that counted, and how many seconds it has to wait from then."""

    failed: float
    wait: float


@attrs.define(eq=False, repr=False)
class Backoff:
    """Pods by key, each with its wait of 1, 2, 4, 8, then always 10 seconds. Times are seconds of the caller's clock."""

    forget_after: float
    """Seconds after a pod's last failure that counted; from then on it starts anew."""
    initial: float = 1.0
    maximum: float = 10.0
    _steps: dict[str, BackoffEntry] = attrs.field(factory=dict)
    """In ascending order of their failures."""

    def until(self, key: str) -> float | None:
        """When the wait of *key* ends; None for a pod that is not known (any more)."""
        step = self._steps.get(key)
        return None if step is None else step.failed + step.wait

    def is_waiting(self, key: str, now: float) -> bool:
        """Whether the wait of *key* has not ended yet."""
        until = self.until(key)
        return until is not None and until > now

    def fail(self, key: str, now: float) -> None:
        """A pod failed: its next wait begins, unless one is going on."""
        self._forget(now)
        until = self.until(key)
        if until is not None and until >= now:
            return
        before = self._steps.pop(key, None)
        self._steps[key] = BackoffEntry(now, self.initial if before is None else min(before.wait * 2, self.maximum))

    def clear(self, key: str) -> None:
        """Know nothing of *key* any more."""
        self._steps.pop(key, None)

    def _forget(self, now: float) -> None:
        # Upstream: old entries go only when some pod fails, those of pods that still wait in the backoff queue too.
        while self._steps:
            key = next(iter(self._steps))
            if self._steps[key].failed + self.forget_after >= now:
                return
            del self._steps[key]
