"""Whole-number division and sums as Go has them."""

import warnings

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.core.arrays.columns import add_at, truncated_div

SMALL = st.integers(-(2**40), 2**40)


@given(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63))
def test_wraps_around_without_a_warning(before, number):
    """Go's int64 wraps around at both ends: the sum is the one of that size that differs from the true
    one by a multiple of 2**64."""
    sums = np.array([[7, before]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        add_at(sums, (0, 1), number)
    assert sums[0, 0] == 7
    assert (int(sums[0, 1]) - before - number) % 2**64 == 0


# --- Truncated div ------------------------------------------------------------------------------------------


@given(pairs=st.lists(st.tuples(SMALL, SMALL), max_size=8))
def test_rounds_toward_zero(pairs):
    """The quotient's size is that of the sizes, whatever the signs; a denominator of 0 gives 0."""
    columns = np.array(pairs, np.int64).reshape(-1, 2)
    found = truncated_div(columns[:, 0], columns[:, 1])
    assert found.dtype == np.int64
    for (a, b), quotient in zip(pairs, found.tolist(), strict=True):
        size = abs(a) // abs(b) if b else 0
        assert quotient == (size if (a < 0) == (b < 0) else -size)


def test_one_denominator_for_all():
    """A single number divides every entry."""
    assert truncated_div(np.array([7, -7, 6]), 3).tolist() == [2, -2, 2]
