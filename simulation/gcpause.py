"""Keeps the garbage collector from scanning a large cluster again and again."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def settled() -> Iterator[None]:
    """Inside, the garbage collector does not scan the objects that exist at the beginning."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
