"""Names for arrays by what is in them, and whole-number arithmetic on them as Go has it. Shapes are in the
docstrings of their owners."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ...api.objects.quantity import wrap_int64

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
"""Where something holds."""
Rows = NDArray[np.intp]
"""Rows of a table, or indexes into a batch."""
ValueCodes = NDArray[np.intp]
"""Values of a column, as indexes into its list of distinct values."""
Scores = NDArray[np.int64]
"""What a priority gives each node."""

NO_INTS: Ints = np.zeros(0, np.int64)
NO_ROWS: Rows = np.zeros(0, np.intp)
NOWHERE: Mask = np.zeros(0, np.bool_)
"""What arrays begin with that are made later: read only, as nothing is in them."""


# --- arithmetic as Go has it --------------------------------------------------------------------------------


def truncated_div(numerator: Ints, denominator: Ints | int) -> Ints:
    """*numerator* / *denominator* without the fraction, rounded toward zero: int64 as given; 0 where the
    denominator is 0.

    >>> truncated_div(np.array([7, -7, 7]), np.array([2, 2, 0])).tolist()
    [3, -3, 0]
    """
    quotient: Ints
    if isinstance(denominator, int) and denominator > 0:
        # A power of two is shifted out: that rounds down too, and is four times as fast.
        if denominator.bit_count() == 1:
            quotient = numerator >> (denominator.bit_length() - 1)
        else:
            quotient = numerator // denominator
    else:
        with np.errstate(divide="ignore", over="ignore"):
            quotient = numerator // denominator
    # numpy rounds down, which differs only below zero.
    negative = quotient < 0
    if is_anywhere(negative):
        quotient += negative & (quotient * denominator != numerator)
    return quotient


def is_anywhere(mask: Mask) -> bool:
    """Whether *mask* is True anywhere; up to some thousand entries this takes a third of what numpy takes to
    count them.

    >>> is_anywhere(np.array([True, False]))
    True
    """
    return 1 in mask.tobytes()


def is_everywhere(mask: Mask) -> bool:
    """Whether *mask* is True everywhere.

    >>> is_everywhere(np.array([True, False]))
    False
    """
    return 0 not in mask.tobytes()


def add_at(sums: Ints, at: int | tuple[int, int], number: int) -> None:
    """Add *number* to one of *sums*, int64; as Go's, a sum wraps around at 2**63.

    >>> sums = np.array([2**63 - 1])
    >>> add_at(sums, 0, 2)
    >>> sums.tolist() == [1 - 2**63]
    True
    """
    total = sums.item(at) + number
    try:
        sums[at] = total
    except OverflowError:
        sums[at] = wrap_int64(total)


def tabulated(function: Callable[[Ints], Ints], numbers: Ints) -> Ints:
    """``function(numbers)`` of *numbers* of 0 or more, worked out once for each up to the greatest where
    those are fewer: int64[n].

    >>> tabulated(lambda n: n * n, np.array([2, 0, 2, 2])).tolist()
    [4, 0, 4, 4]
    """
    most = int(numbers.max(initial=0))
    return function(numbers) if most >= len(numbers) else function(up_to(most)).take(numbers)


@lru_cache(1 << 8)
def up_to(last: int) -> Ints:
    """0 to *last*: int64[last + 1]. Not to be changed."""
    return np.arange(last + 1)


def whole(numbers: Floats) -> Ints:
    """*numbers* without their fractions: int64 as given.

    >>> whole(np.array([2.9, -2.9, -1e19])).tolist()
    [2, -2, -9223372036854775808]
    """
    # Upstream: what 64 bits cannot hold becomes the least number on amd64, without a word.
    with np.errstate(invalid="ignore"):
        return numbers.astype(np.int64)


def rounded(numbers: Floats) -> Ints:
    """*numbers* as whole ones, halves away from zero: int64[n].

    >>> rounded(np.array([0.5, 1.4, -2.5])).tolist()
    [1, 1, -3]
    """
    truncated = np.trunc(numbers)
    return whole(truncated + np.trunc(2 * (numbers - truncated)))
