"""When an event happened. Its time is in its name too, so no two events have the same."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime

import attrs


@attrs.define
class Stamp:
    """Gives the time in nanoseconds since 1970, later each time."""

    wall: Callable[[], int] = time.time_ns
    last: int = 0

    def __call__(self) -> int:
        """The time; if it has been given out, the next nanosecond."""
        self.last = max(self.last + 1, self.wall())
        return self.last


def date(nanoseconds: int) -> datetime:
    """The time in microseconds; the rest is cut off."""
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest // 1000)
