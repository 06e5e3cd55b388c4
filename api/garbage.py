"""Contexts in which the garbage collector does not scan a large cluster again and again while it is made."""

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
    """The processor time from which on the next collection may run."""


HELD = FrozenHeap()
MANY = 20
SHARE = 50
"""Collections follow after at least 20 questions, and take less than a fiftieth of the time."""


@contextmanager
def frozen() -> Iterator[None]:
    """A context in which the garbage collector does not scan what existed before the outermost one."""
    if not HELD.times:  # another freeze would keep the garbage of inner contexts that have ended
        gc.freeze()
    HELD.times += 1
    try:
        yield
    finally:
        HELD.times -= 1
        if not HELD.times:
            gc.unfreeze()
            # Frozen objects have become old, so all are collected from time to time: finished schedulers are
            # cyclic, and hundreds of them would pile up.
            HELD.ended += 1
            begun = time.process_time()
            if HELD.ended >= MANY and begun >= HELD.due and gc.isenabled():
                gc.collect()
                HELD.ended, HELD.due = 0, begun + SHARE * (time.process_time() - begun)


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """A context for work that makes many objects and no cyclic garbage: collection would double its time."""
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
"""The surplus of new objects over freed ones that starts a collection: what cycles leave is seldom cyclic."""


@contextmanager
def settled() -> Iterator[None]:
    """A context in which the garbage collector skips older objects, and scans new ones less often."""
    thresholds = gc.get_threshold()
    with frozen():
        gc.set_threshold(max(SELDOM, thresholds[0]) if thresholds[0] else 0, *thresholds[1:])
        try:
            yield
        finally:
            gc.set_threshold(*thresholds)


@contextmanager
def passing() -> Iterator[None]:
    """For a part of a question whose schedulers end with it: they are collected at its end, at once."""
    was_enabled = gc.isenabled()
    with frozen():
        gc.freeze()
        gc.disable()
        try:
            yield
        finally:
            if was_enabled:
                gc.collect()
                gc.enable()
