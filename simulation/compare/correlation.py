"""How well the scores of two schedulers correlate, rule by rule."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any

import attrs
import numpy as np

from ...api.objects import Pod
from ...core.arrays.types import Floats, Rows
from ...core.cycle import EVEN
from ...core.decision.decision import Decision
from ...core.decision.score import Ranking
from ...core.rule import Priority
from .contestants import Contestant
from .rowmaps import RowMap
from .ruleequivalents import subjects

TOTAL = "total"
Weights = Sequence[tuple[Priority, int]]
"""Scoring rules, each with its weight."""


@attrs.define
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


@attrs.frozen(eq=False)
class Pairing:
    """Subjects that two algorithms score, the total last: the sums of each, and the rules of each side with their weights."""

    weighed: tuple[Weights, Weights]
    """They stay alive as long as their identities are keys."""
    moments: tuple[Moments, ...]
    ours: Sequence[list[tuple[str, float]]]
    theirs: Sequence[list[tuple[str, float]]]


@attrs.define(eq=False)
class Correlation:
    """The scores of *first* and *second* over the nodes that both scored in a cycle."""

    first: Contestant
    second: Contestant
    by_rule: dict[str, Moments] = attrs.field(factory=dict)
    _pairings: dict[tuple[int, int, tuple[str, ...], tuple[str, ...]], Pairing] = attrs.field(factory=dict)
    _map: RowMap = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._map = RowMap(self.first, self.second)

    def add(self, one: Decision, other: Decision) -> None:
        """Count one cycle, before the next one begins."""
        if one.details.ranking is None or other.details.ranking is None:
            return
        at, there = self._map.common(one.details.feasible_rows, other.details.feasible_rows)
        if len(at) < 2:
            return
        pairing = self._pairing(one.details.ranking, other.details.ranking, one.pod)
        for moments in pairing.moments:
            moments.cycles, moments.points = moments.cycles + 1, moments.points + len(at)
        ours, theirs = _centred(pairing.ours, one.details.ranking, at), _centred(pairing.theirs, other.details.ranking, there)
        for place, moments in enumerate(pairing.moments):
            for side, found in enumerate((ours, theirs)):
                if place in found:
                    moments.squares[side] += float(found[place] @ found[place])
            if place in ours and place in theirs:
                moments.products += float(ours[place] @ theirs[place])

    def _pairing(self, one: Ranking, other: Ranking, pod: Pod) -> Pairing:
        """How the rules of both rankings go together; it is the same for most pods."""
        weighed = self.first.algorithm(pod).priorities, self.second.algorithm(pod).priorities
        key = id(weighed[0]), id(weighed[1]), tuple(one.by_priority), tuple(other.by_priority)
        found = self._pairings.get(key)
        if found is None:
            ours, theirs = _by_subject(weighed[0], one, other), _by_subject(weighed[1], other, one)
            moments = {subject: self.by_rule.setdefault(subject, Moments()) for subject in dict.fromkeys((*ours, *theirs, TOTAL))}
            for side, rules in enumerate((ours, theirs)):
                for subject, parts in rules.items():
                    moments[subject].rules[side].update((name, None) for name, _ in parts)
            sides = ([found.get(subject, []) for subject in moments] for found in (ours, theirs))
            found = self._pairings[key] = Pairing(weighed, tuple(moments.values()), *sides)
        return found

    def record(self) -> list[dict[str, Any]]:
        """A line for each rule, the total last; deviations as shares of the highest score of a rule with weight 1."""
        names = sorted(self.by_rule, key=lambda name: (name == TOTAL, name))
        return [self._line(name, self.by_rule[name]) for name in names]

    def _line(self, name: str, moments: Moments) -> dict[str, Any]:
        found = moments.correlation
        counts = {"cycles": moments.cycles, "points": moments.points}
        ours, theirs = (list(rules) for rules in moments.rules)
        shares = [round(one / contestant.scale, 6) for one, contestant in zip(moments.deviations, (self.first, self.second), strict=True)]
        told = {"correlation": None if found is None else round(found, 6), "deviations": shares}
        return {"rule": name, "first": ours, "second": theirs, **counts, **told}


def _by_subject(weighed: Weights, ranking: Ranking, beside: Ranking) -> dict[str, list[tuple[str, float]]]:
    """Subject -> the rules of *ranking* that score it, each with its weight."""
    weights, found = {rule.name: float(weight) for rule, weight in weighed}, dict[str, list[tuple[str, float]]]()
    for rule, subject in subjects((rule for rule, _ in weighed if rule.name in ranking.by_priority), beside.by_priority).items():
        found.setdefault(subject, []).append((rule, weights[rule]))
    return found


def _centred(sides: Sequence[list[tuple[str, float]]], ranking: Ranking, at: Rows) -> dict[int, Floats]:
    """Place of a subject -> the scores of the chosen nodes around their mean, float64[k], but for those that are the same for all."""
    found = dict[int, Floats]()
    for place, rules in enumerate(sides):
        parts = [(ranking.by_priority[rule], weight) for rule, weight in rules if ranking.by_priority[rule].strides != EVEN]
        if parts:
            found[place] = _around_mean(reduce(add, [scores.take(at) * weight for scores, weight in parts]))
    # The total is the last subject.
    found[len(sides) - 1] = _around_mean(ranking.totals.take(at).astype(np.float64))
    return found


def _around_mean(scores: Any) -> Floats:
    found: Floats = scores - np.add.reduce(scores) / len(scores)
    return found
