"""A progress bar on standard error, for people who wait at a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.console import Console

T = TypeVar("T")

WORTH_A_BAR = 500
"""With fewer steps the bar would only flicker."""
WORDS = ("progress.percentage", "progress.remaining", "progress.elapsed")
"""What rich colours in cyan and yellow, which nobody can read on white."""


def following(items: Iterable[T], total: int, worth: int = WORTH_A_BAR) -> Iterator[T]:
    """*items* as they come, shown as a bar where standard error is a terminal and there are many: *worth* a bar or more."""
    if total < worth or not sys.stderr.isatty():
        yield from items
        return
    from rich.progress import track

    yield from track(items, "scheduling", total=total, console=_console(), transient=True)


@contextmanager
def counting(total: int, what: str, worth: int = WORTH_A_BAR) -> Iterator[Callable[[int, str], None]]:
    """A bar for work that reports its own progress: call the yielded function with the number done and a short text.

    With fewer steps than *worth* there is none.
    """
    if total < worth or not sys.stderr.isatty():
        yield lambda done, word: None
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    shown = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TextColumn("{task.fields[word]}"))
    with Progress(*shown, console=_console(), transient=True) as progress:
        task = progress.add_task(what, total=total, word="")
        yield lambda done, word: progress.update(task, completed=done, word=word)


@contextmanager
def telling(what: str) -> Iterator[Callable[[str], None]]:
    """A line for work of which nobody knows how long it takes: call the yielded function with what comes next."""
    if not sys.stderr.isatty():
        yield lambda word: None
        return
    with _console().status(what) as status:
        yield lambda word: status.update(f"{what}: {word}")


def _console() -> Console:
    """Standard error, with words in the terminal's own colour."""
    from rich.console import Console
    from rich.theme import Theme

    return Console(stderr=True, theme=Theme(dict.fromkeys(WORDS, "none")))
