"""How long a reflector waits before it tries again.

Upstream: BackoffUntil and NewExponentialBackoffManager of k8s.io/apimachinery/pkg/util/wait.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs

FORGOTTEN_AFTER = 120.0
"""Seconds without a pause after which the next one is the shortest."""


@attrs.define
class Pauses:
    """Pauses in seconds that double from *shortest* to *longest*; *random* (0 to 1) adds up to the pause itself.

    Where both are equal, every pause is that long.

    >>> pauses = Pauses(0.8, 30.0, lambda: 0.5)
    >>> [round(pauses.next(0.0), 1) for _ in range(7)]
    [1.2, 2.4, 4.8, 9.6, 19.2, 38.4, 45.0]
    """

    shortest: float
    longest: float
    random: Callable[[], float]
    _base: float = attrs.field(default=attrs.Factory(lambda self: self.shortest, takes_self=True), init=False)
    _last: float = attrs.field(default=float("-inf"), init=False)

    def next(self, now: float) -> float:
        """The pause that begins *now*."""
        if self.shortest == self.longest:
            return self.shortest
        if now - self._last > FORGOTTEN_AFTER:
            self._base = self.shortest
        self._last = now
        base, self._base = self._base, min(self._base * 2, self.longest)
        return base * (1 + self.random())
