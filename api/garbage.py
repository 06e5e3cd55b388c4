"""Keeps the garbage collector from going through a large cluster again and again while it is made."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager


class FrozenHeap:
    """The count of running questions that froze the heap, and the time of the last collection."""

    times = 0
    ended = 0
    """The number of questions that ended since."""
    due = 0.0
    """From which processor time on it may be collected again."""


HELD = FrozenHeap()
MANY = 20
SHARE = 50
"""It is collected after 20 of them, and takes less than a fiftieth of the time."""


@contextmanager
def frozen() -> Iterator[None]:
    """Inside, the garbage collector does not scan the objects that exist at the beginning of the
    outermost."""
    if not HELD.times:  # else what those left behind that ended inside of it would stay
        gc.freeze()
    HELD.times += 1
    try:
        yield
    finally:
        HELD.times -= 1
        if not HELD.times:
            gc.unfreeze()
            # What has become old by being frozen is collected sometimes: schedulers that are over are cyclic,
            # and hundreds of them would pile up.
            HELD.ended += 1
            begun = time.process_time()
            if HELD.ended >= MANY and begun >= HELD.due and gc.isenabled():
                gc.collect()
                HELD.ended, HELD.due = 0, begun + SHARE * (time.process_time() - begun)


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """For what makes many objects and no cyclic garbage: garbage collection would double its time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if not HELD.times:  # make everything old, so that the next garbage collection does not go through all that was made
                gc.freeze()
                gc.unfreeze()
            gc.enable()


SELDOM = 20_000
"""That many more new objects than objects that went make the garbage collector look: what cycles leave behind
is seldom cyclic."""


@contextmanager
def settled() -> Iterator[None]:
    """Inside, the garbage collector does not scan the objects that exist at the beginning, and looks at new
    ones less often."""
    thresholds = gc.get_threshold()
    with frozen():
        gc.set_threshold(max(SELDOM, thresholds[0]) if thresholds[0] else 0, *thresholds[1:])
        try:
            yield
        finally:
            gc.set_threshold(*thresholds)
