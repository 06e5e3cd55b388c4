"""How well the scores of two schedulers correlate, rule by rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import attrs
import numpy as np

from ...api.objects import Pod
from ...api.record import Count, Meta, Record, says
from ...core.arrays.types import Floats, Rows
from ...core.cycle import EVEN
from ...core.decision.decision import Decision
from ...core.decision.score import Ranking
from ...core.rule import Priority
from .contestants import Contestant
from .rowmaps import Feasible
from .ruleequivalents import subjects

TOTAL = "total"
Weights = Sequence[tuple[Priority, int]]
"""Scoring rules, each with its weight."""
Weighing = list[tuple[str, float]]
"""The rules of one side on one subject, each with its weight."""


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
    squares: list[float] = attrs.field(factory=lambda: [0.0, 0.0])

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
class Pairing:
    """Subjects that two algorithms score, the total last: the rules of each side with their weights, and sums over cycles."""

    weighed: tuple[Weights, Weights]
    """They stay alive as long as their identities are keys."""
    subjects: Sequence[str]
    sides: tuple[Sequence[Weighing], Sequence[Weighing]]
    """For each side the rules on each subject."""
    products: Floats = attrs.field(init=False)
    """float64[2n, 2n]: sums of products of lines around their means. A line is one side's scores of a subject; n lines a side."""
    cycles: int = 0
    points: int = 0
    _chosen: dict[tuple[int, ...], Any] = attrs.field(factory=dict)
    """Some lines -> the places of their products."""
    _line_of: Sequence[dict[str, tuple[int, float]]] = attrs.field(init=False)
    """For each side: rule -> the line of its subject, and its weight."""

    def __attrs_post_init__(self) -> None:
        size = len(self.subjects)
        self.products = np.zeros((2 * size, 2 * size))
        self._line_of = [
            {rule: (side * size + place, weight) for place, rules in enumerate(weighings) for rule, weight in rules}
            for side, weighings in enumerate(self.sides)
        ]

    def add(self, rankings: tuple[Ranking, Ranking], at: tuple[Rows | slice, Rows | slice], count: int) -> None:
        """Count one cycle: the scores of *count* nodes, which stand *at* these places of the rankings."""
        self.cycles, self.points = self.cycles + 1, self.points + count
        lines = self._lines(rankings, at)
        scores = np.array(list(lines.values()), np.float64)
        scores -= (np.add.reduce(scores, axis=1) / count)[:, None]
        places = tuple(lines)
        chosen = self._chosen.get(places)
        if chosen is None:
            chosen = self._chosen[places] = np.ix_(places, places)
        self.products[chosen] += scores @ scores.T

    def _lines(self, rankings: tuple[Ranking, Ranking], at: tuple[Rows | slice, Rows | slice]) -> dict[int, Any]:
        """Line -> the scores of the chosen nodes, but for lines that are the same for all."""
        found, size = dict[int, Any](), len(self.subjects)
        for side, (ranking, chosen, lines) in enumerate(zip(rankings, at, self._line_of, strict=True)):
            for rule, scores in ranking.by_priority.items():
                if scores.strides != EVEN:
                    line, weight = lines[rule]
                    part = scores[chosen] if weight == 1 else scores[chosen] * weight
                    found[line] = found[line] + part if line in found else part
            # The total is the last subject.
            found[side * size + size - 1] = ranking.totals[chosen]
        return found

    def moments(self, by_rule: dict[str, Moments]) -> None:
        """Add its sums to those of each subject."""
        size = len(self.subjects)
        for place, subject in enumerate(self.subjects):
            moments = by_rule.setdefault(subject, Moments())
            moments.cycles, moments.points = moments.cycles + self.cycles, moments.points + self.points
            moments.products += float(self.products[place, size + place])
            for side, line in enumerate((place, size + place)):
                moments.squares[side] += float(self.products[line, line])
                moments.rules[side].update((name, None) for name, _ in self.sides[side][place])


@attrs.define(eq=False, repr=False)
class Correlation:
    """The scores of *first* and *second* over the nodes that both scored in a cycle."""

    first: Contestant
    second: Contestant
    _pairings: dict[tuple[int, int, tuple[str, ...], tuple[str, ...]], Pairing] = attrs.field(factory=dict)

    def add(self, one: Decision, other: Decision, feasible: Feasible) -> None:
        """Count one cycle, before the next one begins."""
        if one.details.ranking is None or other.details.ranking is None:
            return
        *at, count = feasible.common
        if count >= 2:
            rankings = one.details.ranking, other.details.ranking
            self._pairing(*rankings, one.pod).add(rankings, (at[0], at[1]), count)

    def _pairing(self, one: Ranking, other: Ranking, pod: Pod) -> Pairing:
        """How the rules of both rankings go together; it is the same for most pods."""
        weighed = self.first.algorithm(pod).priorities, self.second.algorithm(pod).priorities
        key = id(weighed[0]), id(weighed[1]), tuple(one.by_priority), tuple(other.by_priority)
        found = self._pairings.get(key)
        if found is None:
            ours, theirs = _by_subject(weighed[0], weighed[1], one), _by_subject(weighed[1], weighed[0], other)
            names = list(dict.fromkeys((*ours, *theirs, TOTAL)))
            sides = [ours.get(name, []) for name in names], [theirs.get(name, []) for name in names]
            found = self._pairings[key] = Pairing(weighed, names, sides)
        return found

    def record(self) -> tuple[ScoreCorrelation, ...]:
        """A line for each rule, the total last."""
        by_rule = dict[str, Moments]()
        for pairing in self._pairings.values():
            pairing.moments(by_rule)
        names = sorted(by_rule, key=lambda name: (name == TOTAL, name))
        return tuple(self._line(name, by_rule[name]) for name in names)

    def _line(self, name: str, moments: Moments) -> ScoreCorrelation:
        found, (first, second), (ours, theirs) = moments.correlation, moments.deviations, moments.rules
        deviations = round(first / self.first.scale, 6), round(second / self.second.scale, 6)
        told = None if found is None else round(found, 6)
        return ScoreCorrelation(name, tuple(ours), tuple(theirs), moments.cycles, moments.points, told, deviations)


def _by_subject(weighed: Weights, beside: Weights, ranking: Ranking) -> dict[str, Weighing]:
    """Subject -> the rules of *ranking* that score it, each with its weight; *beside*: what the other runs."""
    weights, found = {rule.name: float(weight) for rule, weight in weighed}, dict[str, Weighing]()
    scored = (rule for rule, _ in weighed if rule.name in ranking.by_priority)
    for rule, subject in subjects(scored, [rule.name for rule, _ in beside]).items():
        found.setdefault(subject, []).append((rule, weights[rule]))
    return found
