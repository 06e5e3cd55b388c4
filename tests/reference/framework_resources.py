"""What NodeResourcesFit and NodeResourcesBalancedAllocation say of one node, in plain whole numbers and floats."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

Numbers = Mapping[str, int]
Shape = Sequence[tuple[int, int]]


def counted(names: Sequence[str], wanted: Numbers, capacity: Numbers, scalars: Sequence[str]) -> list[str]:
    """The resources that count on a node."""
    return [name for name in names if capacity.get(name, 0) and (name not in scalars or wanted.get(name, 0))]


def least(used: int, capacity: int) -> int:
    return 0 if used > capacity else (capacity - used) * 100 // capacity


def most(used: int, capacity: int) -> int:
    return min(used, capacity) * 100 // capacity


def on_line(shape: Shape, used: int, capacity: int) -> int:
    """The score of a broken line at a node's utilization, cut toward zero on each piece."""
    utilization = 100 if used > capacity else used * 100 // capacity
    before: tuple[int, int] | None = None
    for place, score in shape:
        if utilization <= place:
            if before is None:
                return score * 10
            rise = Fraction((score - before[1]) * 10 * (utilization - before[0]), place - before[0])
            return before[1] * 10 + int(rise)
        before = (place, score)
    return shape[-1][1] * 10


def weighted(scores: Mapping[str, int], weights: Numbers) -> int:
    """The mean by weight, cut to a whole number."""
    total = sum(weights[name] for name in scores)
    return sum(score * weights[name] for name, score in scores.items()) // total if total else 0


def weighted_positive(scores: Mapping[str, int], weights: Numbers) -> int:
    """The mean by weight of the scores above 0, halves rounded up."""
    above = {name: score for name, score in scores.items() if score > 0}
    total = sum(weights[name] for name in above)
    return math.floor(Fraction(sum(score * weights[name] for name, score in above.items()), total) + Fraction(1, 2)) if total else 0


def balance(shares: Sequence[float]) -> int:
    """100 for equal shares."""
    shares = [min(share, 1.0) for share in shares]
    if len(shares) == 2:
        deviation = abs((shares[0] - shares[1]) / 2)
    elif len(shares) > 2:
        mean = sum(shares) / len(shares)
        deviation = math.sqrt(sum((share - mean) * (share - mean) for share in shares) / len(shares))
    else:
        deviation = 0.0
    return int((1 - deviation) * 100)
