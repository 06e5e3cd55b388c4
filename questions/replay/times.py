"""Times and durations, as files and people write them, read as seconds."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache

import attrs

from ...api.meaning import durations
from ...api.reading import shown
from ...exceptions import ManifestError

_UNITS = {**durations.UNITS, "d": 86400.0}
_FIRST_DATE = 1e8
"""Numbers from here on are dates, in seconds since 1970."""
_LONGEST = 100
"""The most characters of a duration."""
_LAST_SECOND = 253402300799
"""The end of the year 9999, beyond which no time can be written; no duration is longer."""

CREATION_TIME = "kubeclassic/creation-time"
DELETION_TIME = "kubeclassic/deletion-time"
RUN_TIME = "kubeclassic/run-time"
"""Annotations: when an object is created and deleted, and how long a pod runs."""
DURATION = "seconds, or a duration such as 90s, 1.5h or 2m30s"
TIME = "seconds, or a time such as 2023-04-01T12:00:00Z"


def parse_duration(written: object) -> float | None:
    """Seconds, 0 or more; None if it is not a duration. Unlike in the API, days and plain numbers of seconds
    are allowed.

    >>> parse_duration("2m30s"), parse_duration(12), parse_duration("0.25"), parse_duration("soon"), parse_duration("-1s")
    (150.0, 12.0, 0.25, None, None)
    """
    if isinstance(written, str) and len(written) > _LONGEST:
        return None
    seconds = durations.parse_duration(written, _UNITS) if isinstance(written, str) else None
    if seconds is None:
        seconds = _number(written)
    return None if seconds is None or not 0 <= seconds <= _LAST_SECOND else seconds


def parse_time(written: object) -> tuple[float, bool] | None:
    """Seconds, and whether it is a date, so that they count from 1970; None if it is not a time. A very large
    number is a date.

    >>> parse_time("1970-01-01T00:01:00.5Z"), parse_time("1.5"), parse_time("yesterday")
    ((60.5, True), (1.5, False), None)
    """
    seconds = _number(written)
    if seconds is not None:
        return seconds, seconds >= _FIRST_DATE
    if not (isinstance(written, str) and "T" in written):
        return None
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp(), True


def _number(written: object) -> float | None:
    if isinstance(written, bool) or not isinstance(written, (int, float, str)):
        return None
    try:
        seconds = float(written)
    except (ValueError, OverflowError):
        return None
    return seconds if abs(seconds) <= _LAST_SECOND else None


@lru_cache(1 << 10)
def as_timestamp(seconds: float) -> str:
    """Seconds since 1970 as the API writes times: RFC 3339 in UTC, whole seconds.

    >>> as_timestamp(90.7)
    '1970-01-01T00:01:30Z'
    """
    moment = datetime.fromtimestamp(min(max(int(seconds), 0), _LAST_SECOND), UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


@lru_cache(1 << 10)
def plain(seconds: float) -> int | float:
    """A number of seconds for output: an integer if it is whole, else rounded to the microsecond.

    >>> plain(3.0), plain(0.1 + 0.2)
    (3, 0.3)
    """
    rounded = round(seconds, 6)
    return int(rounded) if rounded == int(rounded) else rounded


@attrs.define(repr=False)
class TraceTimes:
    """Reads times, which must all be dates or all be seconds."""

    dated: bool | None = None

    def read(self, written: object, where: str) -> float:
        """A time in seconds. Raises :class:`~kubeclassic.exceptions.ManifestError`."""
        parsed = parse_time(written)
        if parsed is None:
            raise ManifestError(f"{where}: expected {TIME}, got {shown(written)}")
        if self.dated is not None and self.dated != parsed[1]:
            kinds = ("a date where earlier times are seconds", "seconds where earlier times are dates")
            raise ManifestError(
                f"{where}: expected one kind throughout, got {shown(written)}, {kinds[self.dated]}"
            )
        self.dated = parsed[1]
        return parsed[0]
