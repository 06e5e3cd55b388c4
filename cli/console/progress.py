"""Progress of work that takes over two seconds: a bar of rich at a terminal, on standard error.

The work counts into a :class:`Work`, and a thread of its own shows that from time to time, so that a step
costs nothing but the count. ``KUBECLASSIC_PROGRESS=0`` in the environment turns it off.

    >>> Work("scheduling", total=8152, unit="pods", done=1200).text(), Work("reading", word="cluster.json").text()
    ('1,200 of 8,152 pods', 'cluster.json')
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import attrs

TO_BAR = 2.0
REFRESH = 0.2
"""Seconds until a bar appears, and between two updates of it."""
WORDS = ("progress.percentage", "progress.remaining", "progress.elapsed", "progress.spinner")
"""The styles that rich colours in cyan and yellow, which are not readable on white."""
_SHOWN = threading.Lock()
"""Held by the work that is shown; work within it is part of it."""


@attrs.define(eq=False, repr=False)
class Work:
    """Progress: *done* of *total* of a *unit*, and a *word* on the latest; without a total its end is not
    known."""

    what: str
    total: int | None = None
    unit: str = ""
    done: int = 0
    word: str = ""

    def at(self, done: int, total: int) -> None:
        """Set how much is done, and the total as far as it is known."""
        self.done = done
        self.total = total

    def tell(self, done: int, word: str = "") -> None:
        """Set how much is done, and the latest word."""
        self.done = done
        self.word = word

    def text(self) -> str:
        """The progress in words, and the latest word."""
        counted = f"{self.done:,} {self.unit}" if self.done else ""
        if self.total is not None:
            counted = f"{min(self.done, self.total):,} of {self.total:,} {self.unit}"
        return ", ".join(filter(None, (counted.rstrip(), self.word)))


@contextmanager
def telling(what: str, word: str = "") -> Iterator[Callable[[str], None]]:
    """A context for work of unknown length: call the yielded function with what comes next."""
    with working(what, word=word) as work:
        yield partial(work.tell, 0)


@contextmanager
def working(
    what: str, total: int | None = None, unit: str = "", *, word: str = "", shown: bool = True
) -> Iterator[Work]:
    """Show the yielded work while the block runs."""
    work = Work(what, total, unit, word=word)
    is_off = os.environ.get("KUBECLASSIC_PROGRESS") == "0" or os.environ.get("TERM") == "dumb"
    is_seen = shown and not is_off and sys.stderr is not None and sys.stderr.isatty()
    if not is_seen or not _SHOWN.acquire(blocking=False):
        yield work
        return
    over = threading.Event()
    teller = threading.Thread(target=_bar, args=(work, over), name="progress", daemon=True)
    try:
        teller.start()
        yield work
    finally:
        over.set()
        teller.join()
        _SHOWN.release()


def _bar(work: Work, over: threading.Event) -> None:
    """A bar after :data:`TO_BAR` seconds, until the work is *over*; it leaves nothing behind."""
    if over.wait(TO_BAR):
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.theme import Theme

    console = Console(stderr=True, theme=Theme(dict.fromkeys(WORDS, "none")))
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[word]}", markup=False),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True, auto_refresh=False) as progress:
        task = progress.add_task(work.what, total=work.total, word=work.text())
        while True:
            progress.update(task, total=work.total, completed=work.done, word=work.text())
            progress.refresh()
            if over.wait(REFRESH):
                return
