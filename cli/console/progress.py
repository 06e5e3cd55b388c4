"""Progress of work that takes over two seconds: a bar at a terminal, elsewhere a plain line every ten seconds, on standard error.

The work counts into a :class:`Work`, and a thread of its own shows that from time to time, so that a step costs nothing but the count.
``KUBECLASSIC_PROGRESS=0`` in the environment turns it off.

    >>> print(Work("scheduling", total=8152, unit="pods", done=1200).line(34))
    scheduling: 1,200 of 8,152 pods, 34 s
    >>> print(Work("reading", word="cluster.json").line(12))
    reading: cluster.json, 12 s
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import attrs

from .output import note

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

T = TypeVar("T")

TO_BAR, TO_LINE = 2.0, 10.0
"""After how many seconds a bar appears, and how many lie between two lines."""
REFRESH = 0.2
"""Seconds between two looks of the bar."""
SAME_COMMAND = 1.0
"""With fewer seconds between two pieces of work, the second one does not begin to wait from the start."""
WORDS = ("progress.percentage", "progress.remaining", "progress.elapsed", "progress.spinner")
"""What rich colours in cyan and yellow, which is not readable on white."""


@attrs.define(eq=False, repr=False)
class Work:
    """What is under way: *done* of *total* of a *unit*, and a *word* on the latest; without a total its end is not known."""

    what: str
    total: int | None = None
    unit: str = ""
    done: int = 0
    word: str = ""

    def at(self, done: int, total: int) -> None:
        """So much is done, of so much as is known now."""
        self.done, self.total = done, total

    def tell(self, done: int, word: str = "") -> None:
        """So much is done, and a word on the latest."""
        self.done, self.word = done, word

    def line(self, seconds: float) -> str:
        """One line on how far it is after *seconds*."""
        return f"{self.what}: {', '.join(filter(None, (self.told(), f'{seconds:,.0f} s')))}"

    def told(self) -> str:
        """What is done, and the latest word."""
        return ", ".join(filter(None, (self.counted(), self.word)))

    def counted(self) -> str:
        """How much is done; empty where nothing is counted."""
        if self.total is not None:
            return f"{min(self.done, self.total):,} of {self.total:,} {self.unit}".rstrip()
        return f"{self.done:,} {self.unit}".rstrip() if self.done else ""


def following(items: Iterable[T], total: int, what: str = "scheduling", unit: str = "pods", *, shown: bool = True) -> Iterator[T]:
    """*items* as they come, of which there are *total*."""
    with working(what, total, unit, shown=shown) as work:
        for item in items:
            yield item
            work.done += 1


@contextmanager
def counting(total: int | None, what: str, unit: str = "") -> Iterator[Callable[[int, str], None]]:
    """For work that reports its own progress: call the yielded function with the number done and a short text."""
    with working(what, total, unit) as work:
        yield work.tell


@contextmanager
def telling(what: str, word: str = "") -> Iterator[Callable[[str], None]]:
    """For work of unknown length: call the yielded function with what comes next."""
    with working(what, word=word) as work:
        yield partial(work.tell, 0)


@contextmanager
def working(
    what: str, total: int | None = None, unit: str = "", *, word: str = "", shown: bool = True, still: bool = False
) -> Iterator[Work]:
    """Show the yielded work while the block runs; work within work is part of it, and is not shown.

    *still*: never as a bar, which takes some time itself.
    """
    work = Work(what, total, unit, word=word)
    if not shown or _PACE.is_taken or not _is_wanted():
        yield work
        return
    over = threading.Event()
    show = _bar if _is_terminal() and not still else _lines
    teller = threading.Thread(target=show, args=(work, _PACE.begin(), over), name="progress", daemon=True)
    teller.start()
    try:
        yield work
    finally:
        over.set()
        teller.join()
        _PACE.end()


# --- when ----------------------------------------------------------------------------------------------------------


@attrs.define(repr=False)
class _Pace:
    """Since when people wait: pieces of work that follow one another are one wait."""

    is_taken: bool = False
    since: float = 0.0
    ended: float = float("-inf")

    def begin(self) -> float:
        """The time at which the wait began, or the latest line was written."""
        now = time.monotonic()
        self.is_taken = True
        if now - self.ended > SAME_COMMAND:
            self.since = now
        return self.since

    def end(self) -> None:
        self.is_taken, self.ended = False, time.monotonic()


_PACE = _Pace()


def _is_wanted() -> bool:
    return os.environ.get("KUBECLASSIC_PROGRESS") != "0" and sys.stderr is not None


def _is_terminal() -> bool:
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


# --- how ------------------------------------------------------------------------------------------------------------


def _lines(work: Work, since: float, over: threading.Event) -> None:
    """A line every :data:`TO_LINE` seconds, until the work is *over*."""
    began = time.monotonic()
    due = since + TO_LINE
    while not over.wait(max(due - time.monotonic(), 0.0)):
        note(work.line(time.monotonic() - began))
        due = _PACE.since = time.monotonic()
        due += TO_LINE


def _bar(work: Work, since: float, over: threading.Event) -> None:
    """A bar after :data:`TO_BAR` seconds, until the work is *over*; it leaves nothing behind."""
    if over.wait(max(since + TO_BAR - time.monotonic(), 0.0)):
        return
    with _drawn(work) as progress:
        task = progress.add_task(work.what, total=work.total, completed=work.done, word=work.told())
        while True:
            progress.update(task, total=work.total, completed=work.done, word=work.told())
            progress.refresh()
            if over.wait(REFRESH):
                return


def _drawn(work: Work) -> Progress:
    from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    known = (BarColumn(), TaskProgressColumn(), TextColumn("{task.fields[word]}", markup=False), TimeRemainingColumn())
    unknown = (SpinnerColumn(), TextColumn("{task.fields[word]}", markup=False), TimeElapsedColumn())
    shown = (TextColumn("{task.description}"), *(unknown if work.total is None else known))
    return Progress(*shown, console=_console(), transient=True, auto_refresh=False)


def _console() -> Console:
    """Standard error, with words in the terminal's own colour."""
    from rich.console import Console
    from rich.theme import Theme

    return Console(stderr=True, theme=Theme(dict.fromkeys(WORDS, "none")))
