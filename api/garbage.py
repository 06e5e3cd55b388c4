"""Keeps the garbage collector from going through a large cluster again and again while it is made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


class Held:
    """How many of those who run now have frozen what there is."""

    times = 0


HELD = Held()


@contextmanager
def frozen() -> Iterator[None]:
    """Inside, the garbage collector does not scan the objects that exist at the beginning."""
    gc.freeze()
    HELD.times += 1
    try:
        yield
    finally:
        HELD.times -= 1
        if not HELD.times:
            gc.unfreeze()


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """For what makes many objects and no cyclic garbage: garbage collection would double its time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            _settle()
            gc.enable()


def _settle() -> None:
    """Make everything old, so that the next garbage collection does not go through all that was made."""
    if not HELD.times:
        gc.freeze()
        gc.unfreeze()


SELDOM = 20_000
"""That many more new objects than objects that went make the garbage collector look: what cycles leave behind is seldom cyclic."""


@contextmanager
def settled() -> Iterator[None]:
    """Inside, the garbage collector does not scan the objects that exist at the beginning, and looks at new ones less often."""
    before = gc.get_threshold()
    with frozen():
        gc.set_threshold(max(SELDOM, before[0]) if before[0] else 0, *before[1:])
        try:
            yield
        finally:
            gc.set_threshold(*before)
