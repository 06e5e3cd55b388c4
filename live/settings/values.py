"""Flags as values of their kinds, for one release."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from ...algorithmprovider.gates import FALSE, TRUE
from ...api.meaning.durations import parse_duration
from ...exceptions import KubeclassicError, did_you_mean
from .cells import LiveRelease
from .flagtable import FLAGS
from .livereleases import LIVE_RELEASES


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


@attrs.frozen
class Values:
    """The flags that were given, each as the text that was typed. Its methods give the default for a flag that was not."""

    given: Mapping[str, str]
    release: LiveRelease

    def text(self, name: str, default: str = "") -> str:
        """A text."""
        return self.given.get(name, default)

    def switch(self, name: str, default: bool) -> bool:
        """True or false, in any of Go's forms."""
        written = self.given.get(name)
        if written is None:
            return default
        if written not in TRUE + FALSE:
            raise _wrong(name, written, "true or false")
        return written in TRUE

    def whole(self, name: str, default: int) -> int:
        """A whole number."""
        written = self.given.get(name)
        try:
            return default if written is None else int(written)
        except ValueError:
            raise _wrong(name, self.given[name], "a whole number") from None

    def number(self, name: str, default: float) -> float:
        """A number."""
        written = self.given.get(name)
        try:
            return default if written is None else float(written)
        except ValueError:
            raise _wrong(name, self.given[name], "a number") from None

    def seconds(self, name: str, default: float) -> float:
        """A duration, in seconds."""
        written = self.given.get(name)
        found = default if written is None else parse_duration(written)
        if found is None:
            raise _wrong(name, self.given[name], "a duration such as 15s")
        return found

    def port(self, name: str, default: int) -> int:
        """A port; 0 means none."""
        found = self.whole(name, default)
        if not 0 <= found <= 65535:
            raise _wrong(name, self.given[name], "a port between 0 and 65535")
        return found


def _wrong(name: str, got: str, wanted: str) -> FlagError:
    return FlagError(f'--{name}: got "{got}", wanted {wanted}')
