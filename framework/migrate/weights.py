"""Weights that keep their ratios and fit the numbers of a configuration."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import gcd, lcm

MAX_WEIGHT = 2**31 - 1


def fitted(weights: Mapping[str, Fraction]) -> tuple[dict[str, int], dict[str, str]]:
    """*weights*, each above 0, as whole numbers of 32 bits, and what was clipped: name -> what is told of it.

    They are multiplied until whole, divided by what they have in common where they are too large, and rounded only where that does not do.
    """
    if not weights:
        return {}, {}
    common = lcm(*(weight.denominator for weight in weights.values()))
    whole = {name: int(weight * common) for name, weight in weights.items()}
    if max(whole.values()) > MAX_WEIGHT:
        shared = gcd(*whole.values())
        whole = {name: weight // shared for name, weight in whole.items()}
    top = max(whole.values())
    if top <= MAX_WEIGHT:
        return whole, {}
    exact = {name: Fraction(weight * MAX_WEIGHT, top) for name, weight in whole.items()}
    rounded = {name: max(1, round(weight)) for name, weight in exact.items()}
    return rounded, {name: _told(weights[name], rounded[name]) for name in whole if rounded[name] != exact[name]}


def _told(before: Fraction, after: int) -> str:
    return f"weight {before} clipped to {after} as all were scaled to fit 32 bits"
