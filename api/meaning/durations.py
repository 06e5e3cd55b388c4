"""Durations as Go writes them, such as ``1m30s``. Upstream: ParseDuration in Go's package time."""

from __future__ import annotations

import re
from collections.abc import Mapping

UNITS: Mapping[str, float] = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "\u03bcs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
"""Unit -> its seconds. There are two characters for micro."""
_PART = re.compile(r"([0-9]++\.?+[0-9]*+|\.[0-9]++)([^0-9.]++)")
_WHOLE = re.compile(rf"(?:{_PART.pattern})++")
_LONGEST = (2**63 - 1) / 1e9
"""Seconds: a duration is an int64 of nanoseconds."""


def parse_duration(written: str, units: Mapping[str, float] = UNITS) -> float | None:
    """The seconds of a duration; None for any other text, for one below 0, and for more than 292 years.

    >>> parse_duration("1m30s"), parse_duration("1.5h"), parse_duration("0"), parse_duration("90"), parse_duration("-1s")
    (90.0, 5400.0, 0.0, None, None)
    """
    if written == "0":
        return 0.0
    parts = _PART.findall(written) if _WHOLE.fullmatch(written) else []
    if not parts or any(unit not in units for _, unit in parts):
        return None
    seconds = float(sum(float(number) * units[unit] for number, unit in parts))
    return seconds if seconds <= _LONGEST else None
