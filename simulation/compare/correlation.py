"""How well the scores of two schedulers correlate, rule by rule."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from ...core.arrays.types import Floats, Rows
from ...core.decision.decision import Decision
from .contestants import Contestant
from .rowmaps import RowMap
from .ruleequivalents import subjects

TOTAL = "total"


@attrs.define
class Moments:
    """Sums over cycles for the correlation of two scores, each cycle around its own means."""

    rules: tuple[dict[str, None], dict[str, None]] = attrs.field(factory=lambda: ({}, {}))
    """The rules of each contestant that scored in some cycle."""
    cycles: int = 0
    points: int = 0
    products: float = 0.0
    squares: list[float] = attrs.field(factory=lambda: [0.0, 0.0])

    def add(self, one: Floats, other: Floats) -> None:
        """One cycle's scores: float64[k] each, of the same k nodes."""
        first, second = one - one.mean(), other - other.mean()
        self.cycles, self.points = self.cycles + 1, self.points + len(one)
        self.products += float(first @ second)
        self.squares[0] += float(first @ first)
        self.squares[1] += float(second @ second)

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


@attrs.define(eq=False)
class Correlation:
    """The scores of *first* and *second* over the nodes that both scored in a cycle."""

    first: Contestant
    second: Contestant
    by_rule: dict[str, Moments] = attrs.field(factory=dict)
    _map: RowMap = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._map = RowMap(self.first, self.second)

    def add(self, one: Decision, other: Decision) -> None:
        """Count one cycle, before the next one begins."""
        if one.details.ranking is None or other.details.ranking is None:
            return
        rows = self._map.of_first(other.details.feasible_rows)
        _, at, there = np.intersect1d(one.details.feasible_rows, rows, return_indices=True)
        if len(at) < 2:
            return
        rules = [set(decision.details.ranking.by_priority) for decision in (one, other)]  # type: ignore[union-attr]  # asked above
        ours, names = _by_subject(self.first, one, rules[1], at)
        theirs, other_names = _by_subject(self.second, other, rules[0], there)
        for subject in dict.fromkeys((*ours, *theirs)):
            nothing = np.zeros(len(at))
            moments = self.by_rule.setdefault(subject, Moments())
            moments.rules[0].update(dict.fromkeys(names.get(subject, ())))
            moments.rules[1].update(dict.fromkeys(other_names.get(subject, ())))
            moments.add(ours.get(subject, nothing), theirs.get(subject, nothing))

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


def _by_subject(contestant: Contestant, decision: Decision, others: set[str], at: Rows) -> tuple[dict[str, Floats], dict[str, list[str]]]:
    """Subject -> weighted scores of the chosen nodes, and the rules that they come from."""
    ranking = decision.details.ranking
    assert ranking is not None
    names, found = dict[str, list[str]](), dict[str, Floats]()
    weighed = contestant.algorithm(decision.pod).priorities
    weights = {rule.name: weight for rule, weight in weighed}
    for rule, subject in subjects((rule for rule, _ in weighed if rule.name in ranking.by_priority), others).items():
        names.setdefault(subject, []).append(rule)
        found[subject] = found.get(subject, np.zeros(len(at))) + ranking.by_priority[rule][at] * float(weights[rule])
    found[TOTAL] = ranking.totals[at].astype(np.float64)
    return found, names
