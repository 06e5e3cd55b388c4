"""The garbage collector is left as it was."""

import gc
from unittest.mock import patch

import pytest

from kubeclassic.api.garbage import HELD, SELDOM, no_garbage_collection, settled


@pytest.mark.parametrize("before", [(700, 10, 10), (50_000, 5, 3), (0, 10, 10)])
def test_settled_looks_less_often_and_leaves_no_trace(before):
    """Inside it looks no more often than before, and not at all where it was off; afterwards it is as it was,
    also after an error."""
    was = gc.get_threshold()
    try:
        gc.set_threshold(*before)
        with pytest.raises(ValueError, match="in there"):
            _fail_inside(max(before[0], SELDOM) if before[0] else 0)
        assert gc.get_threshold() == before
        assert gc.get_freeze_count() == 0
    finally:
        gc.set_threshold(*was)


def test_a_pause_inside_keeps_what_is_frozen():
    """Objects that are made inside without collection leave what is frozen as it is, and it is not counted
    for that, which takes long."""
    asked = []
    with settled(), patch.object(gc, "get_freeze_count", lambda: asked.append(1)):
        with no_garbage_collection():
            pass
        held = HELD.times
    with settled(), no_garbage_collection():
        pass
    assert (asked, held, HELD.times, gc.get_freeze_count()) == ([], 1, 0, 0)
    with settled():
        with no_garbage_collection():
            pass
        assert gc.get_freeze_count() > 0


def _fail_inside(wanted):
    with settled():
        assert gc.get_threshold()[0] == wanted
        raise ValueError("in there")


def test_what_is_frozen_twice_stays_so_until_the_last_ends():
    """The end of a pause inside another one does not make the outer one scan again."""
    before = gc.get_freeze_count()
    with settled():
        with settled():
            pass
        assert gc.get_freeze_count() > before
    assert gc.get_freeze_count() <= before
