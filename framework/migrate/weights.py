"""Weights scaled to the whole numbers of a configuration, with their ratios kept."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import gcd, lcm

MAX_WEIGHT = 2**31 - 1


def fitted(weights: Mapping[str, Fraction]) -> tuple[dict[str, int], dict[str, str]]:
    """*weights*, each above 0, as whole numbers of 32 bits; and name -> a text for each weight that was rounded.

    All are multiplied by their common denominator. If that makes them too large they are divided by their common divisor, and only if they
    are still too large they are scaled and rounded.
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
    return rounded, {name: _clipped(weights[name], rounded[name]) for name in whole if rounded[name] != exact[name]}


def _clipped(before: Fraction, after: int) -> str:
    return f"weight {before} clipped to {after} as all were scaled to fit 32 bits"
