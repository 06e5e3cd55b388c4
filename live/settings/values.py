"""Flags as values of their kinds, for one release."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar, cast

import attrs

from ...algorithmprovider.gates import FALSE, TRUE
from ...api.meaning.durations import parse_duration
from ...exceptions import KubeclassicError, did_you_mean
from .cells import LiveRelease
from .flagtable import BOOL, DURATION, FLAGS, NUMBER, TEXT, WHOLE
from .livereleases import LIVE_RELEASES

T = TypeVar("T")


class FlagError(KubeclassicError):
    """A flag is unknown, wrong, or asks for what is not done."""


def check_names(given: Mapping[str, str], release: LiveRelease) -> None:
    """Raise :class:`FlagError` for a flag that *release* does not have, or that nothing here can stand for."""
    for name in given:
        if name not in release.flags:
            raise FlagError(f"unknown flag: --{name}: release {release.version} {_unknown(name, release)}")
        if FLAGS[name].is_refused:
            raise FlagError(f"--{name} is not served: {FLAGS[name].word}")


def _unknown(name: str, release: LiveRelease) -> str:
    having = [other.version for other in LIVE_RELEASES.values() if name in other.flags]
    if not having:
        return f"has no flag of that name{did_you_mean(name, release.flags)}"
    return f"does not have it, {', '.join(having)} {'do' if len(having) > 1 else 'does'}"


def _switch(written: str) -> bool | None:
    return written in TRUE if written in TRUE + FALSE else None


_READERS: Mapping[str, tuple[Callable[[str], object], str]] = {
    TEXT: (str, "a text"),
    BOOL: (_switch, "true or false"),
    WHOLE: (int, "a whole number"),
    NUMBER: (float, "a number"),
    DURATION: (parse_duration, "a duration such as 15s"),
}
"""Kind of flag -> what reads its text, with None or ValueError for a wrong one, and what is wanted."""


@attrs.frozen
class Values:
    """The flags that were given, each as the text that was typed."""

    given: Mapping[str, str]
    release: LiveRelease

    def of(self, name: str, default: T) -> T:
        """The value of a flag: true or false in any of Go's forms, a duration in seconds; *default* for one that was not given."""
        if name not in self.given:
            return default
        written, (read, wanted) = self.given[name], _READERS[FLAGS[name].kind]
        try:
            found = read(written)
        except ValueError:
            found = None
        if found is None:
            raise _wrong(name, written, wanted)
        return cast(T, found)

    def port(self, name: str, default: int) -> int:
        """A port; 0 means none."""
        found = self.of(name, default)
        if not 0 <= found <= 65535:
            raise _wrong(name, self.given[name], "a port between 0 and 65535")
        return found


def _wrong(name: str, got: str, wanted: str) -> FlagError:
    return FlagError(f'--{name}: got "{got}", wanted {wanted}')
