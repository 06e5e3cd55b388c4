"""Keeps the garbage collector from scanning a large cluster again and again."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from ..api.garbage import frozen

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
