"""How well the scores of two schedulers correlate, rule by rule."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from typing import Annotated

import attrs
import numpy as np

from ...api.record import Count, Meta, Record, says
from ...core.arrays.types import Floats
from ...core.cycle import EVEN
from ...core.decision.decision import Decision
from ...core.rule import Priority
from .contestants import Contestant, Feasible
from .ruleequivalents import subjects

TOTAL = "total"
Weights = tuple[tuple[Priority, int], ...]
"""Scoring rules, each with its weight."""


class ScoreCorrelation(Record):
    """How the scores of one rule go together, over the nodes that both scored."""

    rule: str
    first: Annotated[tuple[str, ...], says("The rules of the first one that it stands for.")]
    second: tuple[str, ...]
    decisions: Count
    points: Count
    correlation: Annotated[Annotated[float, Meta(ge=-1.000001, le=1.000001)] | None, says("null: one of the two gives all nodes the same.")]
    deviations: Annotated[tuple[float, float], says("Of the first and the second, shares of the highest score of a rule with weight 1.")]


@attrs.define(repr=False)
class Moments:
    """Sums over cycles for the correlation of two scores, each cycle around its own means."""

    rules: tuple[dict[str, None], dict[str, None]] = attrs.field(factory=lambda: ({}, {}))
    """The rules of each contestant that scored in some cycle."""
    cycles: int = 0
    points: int = 0
    products: float = 0.0
    squares: Floats = attrs.field(factory=lambda: np.zeros(2))
    """Of each contestant."""

    @property
    def correlation(self) -> float | None:
        """-1 to 1; None if one contestant always gives all nodes the same score, or if no cycle scored two nodes."""
        size = float(np.sqrt(self.squares[0]) * np.sqrt(self.squares[1]))
        return self.products / size if size > 0 else None

    @property
    def deviations(self) -> tuple[float, float]:
        """The standard deviation of each contestant's scores around the mean of their cycle."""
        first, second = (float(np.sqrt(square / max(self.points, 1))) for square in self.squares)
        return first, second


@attrs.define(eq=False, repr=False)
class Correlation:
    """The scores of *first* and *second* over the nodes that both scored in a cycle."""

    first: Contestant
    second: Contestant
    _moments: dict[str, Moments] = attrs.field(factory=lambda: defaultdict(Moments))
    """By the name that rules are compared under, and the total."""

    def add(self, one: Decision, other: Decision, feasible: Feasible) -> None:
        """Count one cycle, before the next one begins."""
        if one.details.ranking is None or other.details.ranking is None:
            return
        *at, count = feasible.common
        if count < 2:
            return
        weighed = tuple(self.first.algorithm(one.pod).priorities), tuple(self.second.algorithm(one.pod).priorities)
        rankings = one.details.ranking, other.details.ranking
        sides = [_by_subject(weighed[side], weighed[1 - side], tuple(rankings[side].by_priority)) for side in (0, 1)]
        names = list(dict.fromkeys((*sides[0], *sides[1], TOTAL)))
        lines = np.zeros((2, len(names), count))
        for side, (ranking, chosen) in enumerate(zip(rankings, at, strict=True)):
            for place, name in enumerate(names[:-1]):
                for rule, weight in sides[side].get(name, ()):
                    scores = ranking.by_priority[rule]
                    if scores.strides != EVEN:
                        lines[side, place] += scores[chosen] if weight == 1 else scores[chosen] * weight
            lines[side, -1] = ranking.totals[chosen]
        lines -= (np.add.reduce(lines, axis=2) / count)[..., None]
        products, squares = np.einsum("ij,ij->i", *lines), np.einsum("sij,sij->si", lines, lines)
        for place, name in enumerate(names):
            moments = self._moments[name]
            moments.cycles, moments.points = moments.cycles + 1, moments.points + count
            moments.products += float(products[place])
            moments.squares += squares[:, place]
            for known, found in zip(moments.rules, sides, strict=True):
                known.update((rule, None) for rule, _ in found.get(name, ()))

    def record(self) -> tuple[ScoreCorrelation, ...]:
        """A line for each rule, the total last."""
        names = sorted(self._moments, key=lambda name: (name == TOTAL, name))
        return tuple(self._line(name, self._moments[name]) for name in names)

    def _line(self, name: str, moments: Moments) -> ScoreCorrelation:
        found, (first, second), (ours, theirs) = moments.correlation, moments.deviations, moments.rules
        deviations = round(first / self.first.scale, 6), round(second / self.second.scale, 6)
        told = None if found is None else round(found, 6)
        return ScoreCorrelation(name, tuple(ours), tuple(theirs), moments.cycles, moments.points, told, deviations)


@lru_cache(1 << 6)
def _by_subject(weighed: Weights, beside: Weights, names: tuple[str, ...]) -> dict[str, list[tuple[str, int]]]:
    """Subject -> those rules of *names* that score it, each with its weight; *beside*: what the other runs."""
    weights, found = {rule.name: weight for rule, weight in weighed}, dict[str, list[tuple[str, int]]]()
    scored = (rule for rule, _ in weighed if rule.name in names)
    for rule, subject in subjects(scored, [rule.name for rule, _ in beside]).items():
        found.setdefault(subject, []).append((rule, weights[rule]))
    return found
