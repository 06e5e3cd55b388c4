"""The last line of a process: why it ends, and what was under way."""

from __future__ import annotations

import signal

import attrs

from ...api.words import count_of
from ..scheduler.election import Elector
from ..scheduler.following import STATUS


@attrs.frozen(kw_only=True)
class Ending:
    """What was under way when a scheduler was told to end, and what became of it."""

    being_bound: int = 0
    """Pods that had a node and were not bound yet."""
    not_bound: int = 0
    """How many of these were left when the time was over."""
    lease: str = ""
    """What became of the lease; empty: none was asked for."""
    is_dry: bool = False
    """Nothing was written."""

    def words(self) -> str:
        """All of it in words.

        >>> Ending().words(), Ending(being_bound=2, lease="lease a/b given back").words(), Ending(being_bound=2, not_bound=1).words()
        ('no pod was being bound', '2 pods were being bound, none is left; lease a/b given back', '2 pods were being bound, 1 is left')
        """
        if self.is_dry:
            return "nothing was written"
        if not self.being_bound:
            pods = "no pod was being bound"
        else:
            left = f"{self.not_bound or 'none'} {'are' if self.not_bound > 1 else 'is'} left"
            pods = f"{count_of(self.being_bound, 'pod')} {'was' if self.being_bound == 1 else 'were'} being bound, {left}"
        return "; ".join(filter(None, (pods, self.lease)))


def lease_words(elector: Elector | None, *, led: bool) -> str:
    """What became of the lease of *elector*, which has ended; *led*: it led until then."""
    if elector is None:
        return ""
    became = "not held" if not led else "kept until it runs out" if elector.has_lock else "given back"
    return f"lease {elector.lock.place} {became}"


def last_line(number: int | None, words: str = "") -> str:
    """The last line of a process that the signal *number* ended, or nothing did but its own end.

    >>> last_line(15, "no pod was being bound"), last_line(2), last_line(None)
    ('stopped by SIGTERM: no pod was being bound; exit status 0', 'stopped by SIGINT; exit status 130', 'ended; exit status 0')
    """
    told = "ended" if number is None else f"stopped by {signal.Signals(number).name}"
    return f"{told}{': ' if words else ''}{words}; exit status {STATUS[number]}"
