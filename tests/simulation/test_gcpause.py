"""The garbage collector is left as it was."""

from __future__ import annotations

import gc

import pytest

from kubeclassic.simulation.gcpause import SELDOM, settled


@pytest.mark.parametrize("before", [(700, 10, 10), (50_000, 5, 3), (0, 10, 10)])
def test_settled_looks_less_often_and_leaves_no_trace(before: tuple[int, int, int]) -> None:
    """Inside it looks no more often than before, and not at all where it was off; afterwards it is as it was, also after an error."""
    was = gc.get_threshold()
    try:
        gc.set_threshold(*before)
        with pytest.raises(ValueError, match="in there"):
            _fail_inside(max(before[0], SELDOM) if before[0] else 0)
        assert gc.get_threshold() == before
        assert gc.get_freeze_count() == 0
    finally:
        gc.set_threshold(*was)


def _fail_inside(wanted: int) -> None:
    with settled():
        assert gc.get_threshold()[0] == wanted
        raise ValueError("in there")
