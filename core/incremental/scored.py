"""What the priorities that look beyond the row give the rows of a board: their cached raw scores, and these reduced over who fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from ..arrays.batch import Batch
from ..arrays.columns import NodeColumn
from ..arrays.reduction import Reduction, Tabled
from ..arrays.table import NodeTable
from ..arrays.trail import NEVER
from ..arrays.types import NO_INTS, Ints, Mask, Rows, Scores
from ..cycle import Cycle
from .scoresanswer import ScoresAnswer

MOST_SCORES = 64
"""With more different raw scores it is no faster to count them than to look at all rows."""
NOT_COUNTED = -(2**62)
"""Stands for the score of a row that does not fit."""


@attrs.define(eq=False, repr=False)
class FeasibleSet:
    """Which rows fit, in the forms in which reduce steps ask for them; worked out when first asked for."""

    table: NodeTable
    fits: Mask
    """bool[rows]"""
    order: Rows
    """All visited rows, in order."""
    number: int
    """How many rows fit."""
    flips: list[int] = attrs.field(factory=list)
    """The rows that fit and did not before, or no longer do, one after the other."""
    _nodes: Batch | None = None
    _numbers: dict[str, list[int]] = attrs.field(factory=dict)
    """Label key -> how many of them have each value, by code."""

    @property
    def nodes(self) -> Batch:
        """In ascending order; the whole table where every row fits."""
        if self._nodes is None:
            everywhere = self.number == len(self.fits)
            self._nodes = Batch.everywhere(self.table) if everywhere else Batch(self.table, self.fits.nonzero()[0])
        return self._nodes

    def numbers(self, key: str) -> Sequence[int]:
        """How many of them have each value of label *key*, by code."""
        found = self._numbers.get(key)
        if found is None:
            label = self.nodes.label(key)
            found = self._numbers[key] = np.bincount(label.codes, minlength=len(label.values)).tolist()
        return found

    def flip(self, rows: Sequence[int], number: int) -> None:
        """Whether a row fits is another for *rows*, each once; *number* fit now."""
        self.number, self._nodes = number, None
        self.flips += rows
        for key, numbers in self._numbers.items():
            codes = Batch.everywhere(self.table).label(key).codes
            for row in rows:
                numbers[codes.item(row)] += 1 if self.fits.item(row) else -1

    def of(self, scores: Scores) -> Scores:
        """The scores of ``nodes``, out of those of all rows."""
        return scores if self.nodes.rows is None else scores.take(self.nodes.rows)


def is_even(answer: ScoresAnswer) -> bool:
    """Whether all nodes get the same for *answer*, whichever of them fit."""
    constant, reduce = answer.constant, answer.rule.reduce
    return constant is not None and (reduce is None or (isinstance(reduce, Reduction) and reduce.zeros_alike and constant == 0))


@attrs.define(repr=False, eq=False)
class ScoresOfDomains:
    """Raw scores by the values of a label, and how many feasible nodes have each value."""

    scores: Sequence[int]
    numbers: Sequence[int]
    highest: int = attrs.field(init=False)
    lowest: int = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        there = [score for score, number in zip(self.scores, self.numbers, strict=False) if number]
        self.highest, self.lowest = (max(there), min(there)) if there else (0, 0)

    @property
    def number(self) -> int:
        return sum(self.numbers)

    @property
    def by_code(self) -> Mapping[int, int]:
        found: dict[int, int] = {}
        for score, number in zip(self.scores, self.numbers, strict=True):
            if number:
                found[score] = found.get(score, 0) + number
        return found


@attrs.define(eq=False, repr=False)
class ScoreHistogram:
    """Raw scores counted over the rows that fit, by the values of *column* too; kept up to date while few rows change."""

    column: NodeColumn[Any] | None
    number: int = 0
    """How many rows fit."""
    _width: int = 1
    """How many values the column has."""
    by_code: dict[int, int] = attrs.field(factory=dict)
    held: Ints = NO_INTS
    """int64[rows]: what each row was counted as."""
    _feasible: FeasibleSet | None = None
    """Whose rows are counted; None: count from nothing."""
    _seen: int = 0
    """The flips that are counted."""
    _is_hopeless: bool = False
    """Scores are too many."""

    def follow(self, raw: Scores, rows: Sequence[int] | None, feasible: FeasibleSet) -> bool:
        """Count *raw*: int64[rows of the table], which changed on no more than *rows* (None: on any); gives whether it is counted."""
        if self._is_hopeless:
            return False
        if rows is not None and self._feasible is feasible:
            fits, codes, width = feasible.fits, None if self.column is None else self.column.codes, self._width
            held = self.held
            for row in rows if self._seen == len(feasible.flips) else [*rows, *feasible.flips[self._seen :]]:
                score = NOT_COUNTED
                if fits.item(row):
                    score = raw.item(row) if codes is None else raw.item(row) * width + codes.item(row)
                if score != held.item(row):
                    self._count(row, score)
        else:
            self._begin(raw, feasible)
        self._feasible, self._seen, self.number = feasible, len(feasible.flips), feasible.number
        self._is_hopeless = self._is_hopeless or len(self.by_code) > MOST_SCORES
        return not self._is_hopeless

    def _begin(self, raw: Scores, feasible: FeasibleSet) -> None:
        self._width = 1 if self.column is None else len(self.column.values)
        keys = raw if self.column is None else raw * self._width + self.column.codes[: len(raw)]
        if feasible.number < len(keys):
            self.held = np.where(feasible.fits, keys, NOT_COUNTED)
            keys = keys[feasible.fits]
        else:
            self.held = keys.copy()
        lowest = keys.min(initial=0)
        if keys.max(initial=0) - lowest < len(self.held):
            numbers = np.bincount(keys - lowest if lowest else keys)
            values = numbers.nonzero()[0]
            values, numbers = values + lowest, numbers[values]
        else:
            values, numbers = np.unique(keys, return_counts=True)
        self.by_code = dict(zip(values.tolist(), numbers.tolist(), strict=True))

    def _count(self, row: int, now: int) -> None:
        """Count *row* as *now*, and no longer as what it was counted as."""
        counts, before = self.by_code, self.held.item(row)
        self.held[row] = now
        if now != NOT_COUNTED:
            counts[now] = counts.get(now, 0) + 1
        if before != NOT_COUNTED:
            left = counts[before] - 1
            if left:
                counts[before] = left
            else:
                del counts[before]

    # --- what reduce steps ask --------------------------------------------------------------------------------------

    @property
    def highest(self) -> int:
        return max(self.by_code, default=0) // self._width

    @property
    def lowest(self) -> int:
        return min(self.by_code, default=0) // self._width


@attrs.define(eq=False, repr=False)
class Scored:
    """The answer of a priority that looks beyond the row, or has a reduce step, and what it makes of that."""

    answer: ScoresAnswer
    weight: int
    seen: int = NEVER
    """The revision of the answer that the board has taken over."""
    reduced: Scores = NO_INTS
    """int64[size]: the scores after the reduce step; right where rows fit. Perhaps the very array of the answer."""
    counts: bool = True
    """It tells rows apart: else its scores are the same for all, and are left out."""
    depends_on_window: bool = False
    """Its scores depend on which of the rows that fit are feasible, so they are worked out over those alone, cycle by cycle."""
    summary: Any = None
    """What the reduce step made of all rows that fit."""
    histogram: ScoreHistogram | None = None
    _by_code: list[int] | None = None
    """The scores by the values of the label by which they are reduced, by code."""

    def is_stale(self, flipped: bool) -> bool:
        """Whether its reduced scores may be others than before, though the answer is as it was; *flipped*: other rows fit."""
        reduce = self.answer.rule.reduce
        return reduce is not None and (flipped or not isinstance(reduce, Reduction))

    def refresh(self, cycle: Cycle, feasible: FeasibleSet, *, everything: bool, window: bool) -> Sequence[int] | None:
        """Bring ``reduced`` up to date with the answer and with who fits; gives the rows where it changed, None: look at all.

        *everything*: node objects changed, or cycles were missed; with *window* not all rows that fit are feasible. Raises PriorityError.
        """
        answer, counted = self.answer, self.counts
        reduce = answer.rule.reduce
        everything = everything or not counted
        rows = None if everything else () if self.seen == answer.trail.revision else answer.trail.since(self.seen)
        self.seen = answer.trail.revision
        same = is_even(answer)
        self.depends_on_window = not same and reduce is not None and window
        self.counts = not same and not self.depends_on_window
        if not self.counts:
            return None if counted else ()
        if answer.by_code is not None and isinstance(reduce, Reduction) and reduce.scale is not None and reduce.column is None:
            scale = reduce.scale(cycle.template, ScoresOfDomains(answer.by_code, feasible.numbers(answer.sums[0].key or "")), cycle)
            if scale is not None:
                # As :meth:`refresh`, where raw scores go by few domains.
                answer, before = self.answer, self._by_code
                assert answer.by_code is not None
                self.summary, self._by_code = None, scale.each(answer.by_code)
                if not everything and before == self._by_code:
                    return ()
                self.reduced = np.array(self._by_code).take(answer.sums[0].column.codes[: answer.size])
                return None
        if answer.is_pending:
            answer.lay_out()
        if reduce is None:
            self.reduced = answer.answer
            return rows
        if isinstance(reduce, Reduction):
            return self._reduce(cycle, feasible, reduce, rows)
        self.reduced = self._in_order(cycle, feasible)
        return None

    def of(self, cycle: Cycle, nodes: Batch) -> Scores:
        """The scores of the feasible *nodes* where they are not the same for all: int64[n]."""
        if not self.depends_on_window:
            return self.reduced.take(nodes.indexes)
        found: Scores = self.answer.rule.reduce(cycle.template, self.answer.whole()[nodes.indexes], nodes, cycle)
        return found

    def _reduce(self, cycle: Cycle, feasible: FeasibleSet, reduce: Reduction, rows: Sequence[int] | None) -> Sequence[int] | None:
        """As :meth:`refresh`, where raw scores changed on no more than *rows* (None: on any)."""
        raw, before, scale, histogram = self.answer.answer, self.summary, None, self.histogram
        rows, self._by_code = (rows, None) if self._by_code is None else (None, None)
        column = None if reduce.column is None else reduce.column(cycle.template, cycle)
        if reduce.scale is not None:
            if histogram is None or histogram.column is not column:
                histogram = self.histogram = ScoreHistogram(column)
            if histogram.follow(raw, rows, feasible):
                scale = reduce.scale(cycle.template, histogram, cycle)
        self.summary = scale if scale is not None else reduce.summarise(cycle.template, feasible.of(raw), feasible.nodes, cycle)
        if rows is None or self.summary != before:
            if scale is None:
                self.reduced = reduce.apply(cycle.template, raw, self.summary, Batch.everywhere(cycle.table), cycle)
            elif isinstance(scale, Tabled) and histogram is not None:
                self.reduced = scale.of_keys(histogram.held)
            else:
                self.reduced = scale.of(raw, None if column is None else column.codes[: len(raw)])
            return None
        # Early cutoff: with the same summary, rows with the same raw score keep their reduced one.
        if scale is not None and rows:
            reduced, codes = self.reduced, None if column is None else [column.codes.item(row) for row in rows]
            for row, score in zip(rows, scale.each([raw.item(row) for row in rows], codes), strict=True):
                reduced[row] = score
        elif rows:
            some = np.array(sorted(set(rows)), np.intp)
            self.reduced[some] = reduce.apply(cycle.template, raw[some], self.summary, Batch(cycle.table, some), cycle)
        return rows

    def _in_order(self, cycle: Cycle, feasible: FeasibleSet) -> Scores:
        """The scores by a reduce step that must see all feasible nodes in visiting order, laid out over all rows."""
        order = feasible.order
        nodes, found = Batch(cycle.table, order[feasible.fits[order]]), np.zeros(len(feasible.fits), np.int64)
        found[nodes.indexes] = self.answer.rule.reduce(cycle.template, self.answer.answer[nodes.indexes], nodes, cycle)
        return found
