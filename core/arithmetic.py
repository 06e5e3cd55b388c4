"""Whole-number division and rounding as the Go original has them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def truncated_div(numerator: Ints, denominator: Ints | int) -> Ints:
    """*numerator* / *denominator* without the fraction, rounded toward zero: int64[n]; 0 where the denominator is 0.

    >>> truncated_div(np.array([7, -7, 7]), np.array([2, 2, 0])).tolist()
    [3, -3, 0]
    """
    with np.errstate(divide="ignore", over="ignore"):
        quotient: Ints = numerator // denominator
    # numpy rounds down, which differs only below zero.
    negative = quotient < 0
    if negative.any():
        quotient += negative & (quotient * denominator != numerator)
    return quotient


def rounded(numbers: NDArray[np.float64]) -> Ints:
    """*numbers* as whole ones, halves away from zero: int64[n].

    >>> rounded(np.array([0.5, 1.4, -2.5])).tolist()
    [1, 1, -3]
    """
    whole = np.trunc(numbers)
    return (whole + np.trunc(2 * (numbers - whole))).astype(np.int64)
