"""How well the scores of two schedulers correlate, rule by rule."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from typing import Annotated

import attrs
import numpy as np

from ...api.objects import Pod
from ...api.record import Count, Meta, Record, says
from ...core.arrays.types import Floats, Rows
from ...core.cycle import EVEN
from ...core.decision.decision import Decision
from ...core.decision.score import Ranking
from .contestants import Contestant, Feasible

TOTAL = "total"


class ScoreCorrelation(Record):
    """How the scores of one rule go together, over the nodes that both scored."""

    rule: str
    first: Annotated[tuple[str, ...], says("The rules of the first one that it stands for.")]
    second: tuple[str, ...]
    decisions: Count
    points: Count
    correlation: Annotated[Annotated[float, Meta(ge=-1.000001, le=1.000001)] | None, says("null: one of the two gives all nodes the same.")]
    deviations: Annotated[tuple[float, float], says("Of the first and the second, shares of the highest score of a rule with weight 1.")]


@attrs.define(eq=False, repr=False)
class Moments:
    """Sums for the correlation of two scores, over cycles in which the same rules scored, each cycle around its own means."""

    names: list[str]
    """What rules are compared under, the total last."""
    rules: list[tuple[int, int, str, int]]
    """Each rule that scored: of which of the two, for which of ``names``, its own name and its weight."""
    cycles: int = 0
    points: int = 0
    products: Floats = attrs.field(default=attrs.Factory(lambda self: np.zeros(len(self.names)), takes_self=True))
    squares: Floats = attrs.field(default=attrs.Factory(lambda self: np.zeros((2, len(self.names))), takes_self=True))
    """Of each of the two: float64[2, names]."""

    def add(self, rankings: Sequence[Ranking], at: Sequence[Rows | slice], count: int) -> None:
        """Count a cycle in which *count* nodes stand *at* these places of the two *rankings*; a rule that scores all alike adds nothing."""
        self.cycles, self.points = self.cycles + 1, self.points + count
        scored = [(side, name, rankings[side].by_priority[rule], weight) for side, name, rule, weight in self.rules]
        scored = [found for found in scored if found[2].strides != EVEN]
        scored += [(side, len(self.names) - 1, ranking.totals, 1) for side, ranking in enumerate(rankings)]
        names = list(dict.fromkeys(name for _, name, _, _ in scored))
        lines = np.zeros((2, len(names), count))
        for side, name, scores, weight in scored:
            found = scores[at[side]]
            lines[side, names.index(name)] += found if weight == 1 else found * weight
        lines -= (np.add.reduce(lines, axis=2) / count)[..., None]
        self.products[names] += np.einsum("ij,ij->i", *lines)
        self.squares[:, names] += np.einsum("sij,sij->si", lines, lines)

    def rules_for(self, name: str, side: int) -> Iterator[str]:
        """The rules of one of the two that are compared under *name*."""
        return (rule for of, at, rule, _ in self.rules if (of, self.names[at]) == (side, name))


@attrs.define(eq=False, repr=False)
class Correlation:
    """The scores of *first* and *second* over the nodes that both scored in a cycle."""

    first: Contestant
    second: Contestant
    _moments: dict[Hashable, Moments] = attrs.field(factory=dict)
    """By the algorithms of both, and by the rules that scored."""

    def add(self, one: Decision, other: Decision, feasible: Feasible) -> None:
        """Count one cycle, before the next one begins."""
        ours, theirs = one.details.ranking, other.details.ranking
        if ours is None or theirs is None:
            return
        *at, count = feasible.common
        if count < 2:
            return
        names = tuple(ours.by_priority), tuple(theirs.by_priority)
        key = self.first.algorithm(one.pod), self.second.algorithm(one.pod), *names
        if key not in self._moments:
            self._moments[key] = self._begun(one.pod, names)
        self._moments[key].add((ours, theirs), at, count)

    def _begun(self, pod: Pod, scoring: Sequence[tuple[str, ...]]) -> Moments:
        """Empty sums for the rules *scoring* on either side."""
        names, found = dict[str, int](), list[tuple[int, int, str, int]]()
        for side, (one, beside) in enumerate(((self.first, self.second), (self.second, self.first))):
            weights = {rule.name: weight for rule, weight in one.algorithm(pod).priorities}
            for rule, subject in one.subjects(pod, beside).items():
                if rule in scoring[side]:
                    found.append((side, names.setdefault(subject, len(names)), rule, weights[rule]))
        return Moments([*names, TOTAL], found)

    def record(self) -> tuple[ScoreCorrelation, ...]:
        """A line for each rule, the total last."""
        names = {name for moments in self._moments.values() for name in moments.names}
        return tuple(map(self._line, sorted(names, key=lambda name: (name == TOTAL, name))))

    def _line(self, name: str) -> ScoreCorrelation:
        found = [(moments, moments.names.index(name)) for moments in self._moments.values() if name in moments.names]
        cycles, points = (sum(getattr(moments, kind) for moments, _ in found) for kind in ("cycles", "points"))
        squares = [float(sum(moments.squares[side, at] for moments, at in found)) for side in (0, 1)]
        size, product = math.sqrt(squares[0]) * math.sqrt(squares[1]), float(sum(moments.products[at] for moments, at in found))
        deviations = [math.sqrt(square / points) / one.scale for square, one in zip(squares, (self.first, self.second), strict=True)]
        ours, theirs = (tuple(dict.fromkeys(rule for moments, _ in found for rule in moments.rules_for(name, side))) for side in (0, 1))
        told = round(product / size, 6) if size > 0 else None
        return ScoreCorrelation(name, ours, theirs, cycles, points, told, (round(deviations[0], 6), round(deviations[1], 6)))
