"""Shares of what a node has: many are worked out as few are, however close to a whole number."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.priorities.shares import EXACT, MANY, free_share, used_share
from tests.support.examples import examples

LARGE = st.sampled_from([1, 3, 4000, 32 << 30, EXACT // 100 - 1, EXACT // 10 - 1, EXACT // 10 + 1, (1 << 62) // 100])


@examples(2)
@given(capacity=LARGE, part=st.integers(-1, 11), off=st.integers(-2, 2), scale=st.sampled_from([10, 100]))
@pytest.mark.parametrize("share", [free_share, used_share])
def test_many_shares_are_rounded_as_few_are(share: object, capacity: int, part: int, off: int, scale: int) -> None:
    """A request at, above or below a whole part of any capacity gives the same share, alone and among many."""
    assert callable(share)
    requested = np.full(MANY + 1, capacity * part // scale + off)
    there = np.full(MANY + 1, capacity)
    (alone,) = share(requested[:1], there[:1], scale)
    assert set(share(requested, there, scale).tolist()) == {alone}


def test_many_shares_of_nothing_are_zero() -> None:
    """Nodes without capacity, and those where more is requested than there is, have a share of 0 among many others."""
    capacity, requested = np.full(MANY + 2, 4), np.full(MANY + 2, 1)
    capacity[0], requested[1] = 0, 5
    assert free_share(requested, capacity, 10)[:3].tolist() == [0, 0, 7]
    assert used_share(requested, capacity, 10)[:3].tolist() == [0, 0, 2]
