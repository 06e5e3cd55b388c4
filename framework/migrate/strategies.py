"""Several priorities about the use of resources, combined into the single scoring strategy of a profile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import attrs

Point = tuple[int, int]
FALLING: tuple[Point, ...] = ((0, 10), (100, 0))
RISING: tuple[Point, ...] = ((0, 0), (100, 10))
CPU_AND_MEMORY = {"cpu": 1, "memory": 1}
LINES: dict[tuple[Point, ...], str] = {FALLING: "LeastAllocated", RISING: "MostAllocated"}
MAX_SCORE, MAX_RESOURCE_WEIGHT = 10, 100


@attrs.frozen
class ResourceStrategy:
    """A priority that scores a node's use of resources: ``shape`` is a broken line from utilization, 0 to 100, to a score, 0 to 10."""

    name: str
    weight: int
    shape: tuple[Point, ...]
    resources: Mapping[str, int] = attrs.field(factory=lambda: CPU_AND_MEMORY)

    def at(self, utilization: int) -> Fraction:
        """The score at *utilization*."""
        left = self.shape[0]
        for right in self.shape:
            if utilization <= right[0]:
                along = Fraction(utilization - left[0], (right[0] - left[0]) or 1)
                return left[1] + along * (right[1] - left[1]) if right != left else Fraction(left[1])
            left = right
        return Fraction(left[1])


@attrs.frozen
class Strategy:
    """``scoringStrategy`` and its weight; ``document`` is None if the priorities cancel out."""

    document: dict[str, Any] | None
    weight: Fraction
    is_exact: bool
    dropped: tuple[str, ...]
    """The names of priorities over other resources, which weigh less and are left out."""


def merged(usages: Sequence[ResourceStrategy], *, adds_up: bool = True) -> Strategy:
    """*usages*, at least one, as one strategy: lines over the same resources are added up, and the resources with the most weight remain.

    Without *adds_up* only the heaviest usage remains.
    """
    groups: dict[object, list[ResourceStrategy]] = {}
    for usage in usages:
        groups.setdefault(tuple(sorted(usage.resources.items())) if adds_up else usage.name, []).append(usage)
    kept = max(groups.values(), key=lambda group: sum(usage.weight for usage in group))
    dropped = tuple(usage.name for usage in usages if usage not in kept)
    if len(kept) == 1:
        return Strategy(_document(kept[0].shape, kept[0].resources), Fraction(kept[0].weight), True, dropped)
    line = _sum(kept)
    low, high = min(line.values()), max(line.values())
    if low == high:
        return Strategy(None, Fraction(0), True, dropped)
    stretched = {utilization: (score - low) * MAX_SCORE / (high - low) for utilization, score in line.items()}
    shape = tuple((utilization, round(score)) for utilization, score in stretched.items())
    is_exact = all(score.denominator == 1 for score in stretched.values())
    return Strategy(_document(_straightened(shape), kept[0].resources), Fraction(high - low) / MAX_SCORE, is_exact, dropped)


def _sum(usages: Sequence[ResourceStrategy]) -> dict[int, Fraction]:
    points = sorted({0, 100, *(utilization for usage in usages for utilization, _ in usage.shape)})
    return {point: sum((usage.weight * usage.at(point) for usage in usages), Fraction(0)) for point in points}


def _straightened(shape: tuple[Point, ...]) -> tuple[Point, ...]:
    """One of ``LINES`` if *shape* lies on it; else *shape*."""
    for plain in LINES:
        line = ResourceStrategy("", 1, plain)
        if all(line.at(utilization) == score for utilization, score in shape):
            return plain
    return shape


def _document(shape: tuple[Point, ...], resources: Mapping[str, int]) -> dict[str, Any]:
    listed = [{"name": name, "weight": weight} for name, weight in resources.items()]
    if shape in LINES and resources == CPU_AND_MEMORY:
        return {"type": LINES[shape], "resources": listed}
    points = [{"utilization": utilization, "score": score} for utilization, score in shape]
    return {"type": "RequestedToCapacityRatio", "resources": listed, "requestedToCapacityRatio": {"shape": points}}


def fitted_resources(resources: Mapping[str, int]) -> tuple[dict[str, int], bool]:
    """Weights of resources scaled to 1 to 100, with their ratios kept where possible; and whether any had to change."""
    positive = {name: weight for name, weight in resources.items() if weight > 0}
    top = max(positive.values(), default=0)
    if top > MAX_RESOURCE_WEIGHT:
        positive = {name: max(1, round(Fraction(weight * MAX_RESOURCE_WEIGHT, top))) for name, weight in positive.items()}
    return positive or dict(CPU_AND_MEMORY), positive != dict(resources)
