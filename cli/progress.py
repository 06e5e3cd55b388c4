"""A progress bar on standard error, for people who wait at a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

WORTH_A_BAR = 500
"""With fewer steps the bar would only flicker."""


def following(items: Iterable[T], total: int) -> Iterator[T]:
    """*items* as they come, shown as a bar where standard error is a terminal and there are many."""
    if total < WORTH_A_BAR or not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(items, "scheduling", total=total, console=Console(stderr=True), transient=True)
