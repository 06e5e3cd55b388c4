"""Virtual time: a clock that a simulation moves, and timers that tick on it."""

from __future__ import annotations

import math

import attrs


@attrs.define(eq=False, repr=False)
class Clock:
    """The time in seconds. Move it forward only: ``clock.now = 12.5``."""

    now: float = 0.0
    origin: float = 0.0
    """The clock's 0 in seconds since 1970; objects have times in dates."""


@attrs.define(eq=False, repr=False)
class Timer:
    """Ticks at *start* and every *period* seconds after it; those up to *spent* have been.

    Upstream: wait.Until, with functions that take no time.
    """

    start: float
    period: float
    spent: float = attrs.field(default=attrs.Factory(lambda self: self.start, takes_self=True))
    """The time up to which ticks are over; the first one is when the timer is made."""

    def next(self, wanted: float, *, after: bool = False) -> float:
        """The first tick that is not over and not before *wanted*; with *after*, that is later than *wanted*.

        >>> Timer(start=0.0, period=30.0).next(60.0), Timer(start=0.0, period=30.0).next(60.0, after=True)
        (60.0, 90.0)
        """
        if wanted <= self.spent:
            return self._later(self.spent)
        return self._later(wanted) if after or not self._is_tick(wanted) else wanted

    def _later(self, time: float) -> float:
        count = math.floor((time - self.start) / self.period)
        while self.start + count * self.period <= time:
            count += 1
        return self.start + count * self.period

    def _is_tick(self, time: float) -> bool:
        return self.start + round((time - self.start) / self.period) * self.period == time
