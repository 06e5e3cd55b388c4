"""Whole-number division as the Go original has it."""

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
