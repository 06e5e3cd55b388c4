"""Durations as Go writes them, such as ``1m30s``, and moments. Upstream: ParseDuration and Duration.String in
Go's package time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from math import inf
from typing import Any

from ..reading import Mismatch

UNITS: Mapping[str, float] = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "\u03bcs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "m": 60.0,
    "h": 3600.0,
}
"""Unit -> its seconds. There are two characters for micro."""
_SMALL = ((10**6, "ms"), (10**3, "\u00b5s"), (1, "ns"))
"""Units below the second, with their nanoseconds."""
_PART = re.compile(r"([0-9]++\.?+[0-9]*+|\.[0-9]++)([^0-9.]++)")
_WHOLE = re.compile(
    rf"(?:{_PART.pattern})+"
)  # early Pythons 3.11, such as 3.11.2, match a possessive group wrongly
_LONGEST = (2**63 - 1) / 1e9
"""Seconds: a duration is an int64 of nanoseconds."""


def parse_duration(text: str, units: Mapping[str, float] = UNITS) -> float | None:
    """The seconds of a duration; None for any other text, for one below 0, and for more than 292 years.

    >>> parse_duration("1m30s"), parse_duration("1.5h"), parse_duration("0"), parse_duration("90"), parse_duration("-1s")
    (90.0, 5400.0, 0.0, None, None)
    """
    if text == "0":
        return 0.0
    parts = _PART.findall(text) if _WHOLE.fullmatch(text) else []
    if not parts or any(unit not in units for _, unit in parts):
        return None
    seconds = float(sum(float(number) * units[unit] for number, unit in parts))
    return seconds if seconds <= _LONGEST else None


def duration(value: Any) -> float:
    """Reads a JSON value that has to be a duration, in seconds, which may be below 0."""
    seconds = parse_duration(value.removeprefix("-")) if isinstance(value, str) else None
    if seconds is None:
        raise Mismatch(value, "a duration such as 5s or 1m30s")
    return -seconds if value.startswith("-") else seconds


def duration_text(seconds: float) -> str:
    """A duration in Go's words, to the nanosecond.

    >>> [duration_text(seconds) for seconds in (10, 90, 3600, 1.5, 0.25, 0.0000015, 0, -30)]
    ['10s', '1m30s', '1h0m0s', '1.5s', '250ms', '1.5\u00b5s', '0s', '-30s']
    """
    nanoseconds = round(abs(seconds) * 10**9)
    sign = "-" if seconds < 0 and nanoseconds else ""
    if nanoseconds < 10**9:
        size, unit = next(((size, unit) for size, unit in _SMALL if nanoseconds >= size), (1, "s"))
        return f"{sign}{_decimal(nanoseconds, size)}{unit}"
    minutes, rest = divmod(nanoseconds, 60 * 10**9)
    hours, minutes = divmod(minutes, 60)
    return f"{sign}{f'{hours}h' if hours else ''}{f'{minutes}m' if hours or minutes else ''}{_decimal(rest, 10**9)}s"


def _decimal(nanoseconds: int, size: int) -> str:
    whole, rest = divmod(nanoseconds, size)
    if rest:
        return f"{whole}.{str(rest).rjust(len(str(size)) - 1, '0')}".rstrip("0").rstrip(".")
    return str(whole)


@lru_cache(maxsize=100_000)
def seconds_since_1970(text: str | None) -> float:
    """The moment that *text* says in RFC 3339; ``-inf`` if it says none."""
    try:
        moment = datetime.fromisoformat(text or "")
    except ValueError:
        return -inf
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
