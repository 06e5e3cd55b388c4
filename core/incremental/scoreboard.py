"""How the whole table stands for one template, carried from cycle to cycle: who fits, with what total, and so who is best.

Between two pods of a template little changes: a row got a pod, perhaps a count moved. What depends on the row alone stands in a
:class:`~.rows.RowScores`, which templates share. The rest are rules that look further: their answers are laid over it, and a reduce step
is redone on all rows only where what it must know of all feasible nodes together (its summary) became another.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import attrs
import numpy as np

from ..arrays.batch import Batch, Ints, Rows
from ..cycle import Cycle
from ..failures import Mask
from ..rule import Reduction, Scores
from .answers import AnswerCache
from .rows import RowScores
from .tracked import TrackedPredicate, TrackedPriority

OUT = -(2**62)
"""The total of a row that does not fit."""
NO_ROWS: Rows = np.zeros(0, np.intp)
FEW = 6
"""Rows up to which one after the other is faster than all as an array."""
NO_POSITION = (-1, 0)
"""No place in the list of a part's moved rows."""


@attrs.define(eq=False)
class Scoreboard:
    """One template against all rows. ``ranked``: int64[size], the total where the row fits and is visited, else far below any total.

    Scores that are the same for all rows are not in it.
    """

    memory: AnswerCache
    part: RowScores
    questions: list[TrackedPredicate]
    """The predicates that look beyond the row."""
    preferences: list[TrackedPriority]
    of_nodes: list[TrackedPredicate]
    """The predicates that look at node objects alone."""
    order: Rows = attrs.field(factory=lambda: np.zeros(0, np.intp))
    """The rows of the coming pass, each once."""
    stamp: Hashable = None
    """Which rows those are, in whatever order, and at which node epoch."""
    visited: Mask = attrs.field(factory=lambda: np.zeros(0, np.bool_))
    """The rows of ``order`` whose nodes, as objects, will do."""
    fits: Mask = attrs.field(factory=lambda: np.zeros(0, np.bool_))
    ranked: Ints = attrs.field(factory=lambda: np.zeros(0, np.int64))
    count: int = 0
    """How many rows fit."""
    window: bool = False
    """A pass stops before its end, so that not all rows that fit are feasible."""
    _place: tuple[int, int] = NO_POSITION
    """How far the part was followed: its ``whole``, and a place in its ``moved``."""
    _visits: int = 0
    """How often ``visited`` was put right."""
    _surroundings: Hashable = None
    """What else was as it is now."""
    _is_ranked: bool = False
    _counting: list[TrackedPriority] = attrs.field(factory=list)
    """The priorities that tell rows apart."""
    _reads_rows: bool = attrs.field(init=False)
    """Some rule that is not of the part looks at the row's own pods too."""

    def __attrs_post_init__(self) -> None:
        asked = [question.kept for question in self.questions] + [preference.kept for preference in self.preferences]
        self._reads_rows = any(kept.rowwise for kept in asked)

    def forget(self) -> None:
        """Work everything out anew when next asked."""
        self._place = NO_POSITION

    # --- fits -------------------------------------------------------------------------------------------------------

    def refresh(self, cycle: Cycle, order: Rows, stamp: Hashable, *, window: bool) -> bool:
        """Bring fits and, where more than one row fits, totals up to date; False where this cycle needs the long way.

        *order*: the rows of the coming pass; *stamp* tells which rows they are. With *window* the pass stops before its end.
        Raises RuleError where a priority cannot be computed.
        """
        self.order = order
        if window is not self.window:
            self.window, self._is_ranked = window, False
        (whole, place), self._place = self._place, NO_POSITION
        surroundings, is_ranked, self._is_ranked = self.memory.surroundings(cycle), self._is_ranked, False
        moved = self._surroundings != surroundings or self._reads_rows
        visits = self._visits
        if not self.part.refresh(cycle) or not self._visit(cycle, stamp) or (moved and not self._ask(cycle, self.questions)):
            return False
        anew = whole != self.part.whole or visits != self._visits
        anew = anew or (moved and any(question.kept.whole != question.seen for question in self.questions))
        rows = NO_ROWS if anew else self._moved(place)
        flipped = self._fit_all() if anew else self._fit(rows)
        if self.count > 1:
            if moved or anew or flipped or not is_ranked:
                anew |= self._prefer_all(cycle, None if anew or not is_ranked else rows, flipped or not is_ranked) or not is_ranked
            self._rank(rows, anew)
            self._is_ranked = True
        self._place, self._surroundings = (self.part.whole, len(self.part.moved)), surroundings
        return True

    def _moved(self, place: int) -> Rows:
        """The rows of the part that changed since it was at *place*, without repetition."""
        moved = self.part.moved[place:]
        if len(moved) == 1:
            return moved[0]
        rows = set[int]().union(*(rows.tolist() for rows in moved))
        return np.fromiter(rows, np.intp, len(rows))

    def _ask(self, cycle: Cycle, questions: Sequence[TrackedPredicate]) -> bool:
        """Bring the answers of *questions* up to date; False where one cannot be given."""
        for question in questions:
            self.memory.refresh_failures(question.kept, question.predicate, cycle)
            if question.kept.answer is not None and question.kept.answer.errors is not None:
                return False
        return True

    def _visit(self, cycle: Cycle, stamp: Hashable) -> bool:
        """Put right which rows are looked at all; False where a predicate cannot answer."""
        state = stamp, self.memory.table.changed.node_epoch
        if self.stamp == state:
            return True
        if not self._ask(cycle, self.of_nodes):
            return False
        visited = np.zeros(self.memory.table.size, np.bool_)
        visited[self.order] = True
        for question in self.of_nodes:
            codes = question.kept.codes()
            if codes is not None:
                visited &= codes == 0
        self.visited, self.stamp = visited, state
        self._visits += 1
        return True

    def _fit_all(self) -> bool:
        """Put all fits right; answers whether any became another."""
        fits = self.part.fits & self.visited
        for question in self.questions:
            codes = question.kept.codes()
            if codes is not None:
                fits &= codes == 0
            question.seen = question.kept.whole
        flipped = len(fits) != len(self.fits) or bool((fits != self.fits).any())
        self.fits, self.count = fits, int(np.count_nonzero(fits))
        return flipped

    def _fit(self, rows: Rows) -> bool:
        """Put the fits of *rows* right; answers whether any became another. Rows that are never visited never fit."""
        if len(rows) > FEW:
            return self._fit_many(rows)
        flipped = False
        asked = [codes for question in self.questions if (codes := question.kept.codes()) is not None]
        for row in rows.tolist():
            fits = bool(self.part.fits[row] and self.visited[row]) and not any(codes[row] for codes in asked)
            if fits != self.fits[row]:
                self.fits[row] = fits
                self.count += 1 if fits else -1
                flipped = True
        return flipped

    def _fit_many(self, rows: Rows) -> bool:
        fits = self.part.fits[rows] & self.visited[rows]
        for question in self.questions:
            codes = question.kept.codes()
            if codes is not None:
                fits &= codes[rows] == 0
        before = self.fits[rows]
        self.fits[rows] = fits
        self.count += int(np.count_nonzero(fits)) - int(np.count_nonzero(before))
        return bool((fits != before).any())

    # --- totals -----------------------------------------------------------------------------------------------------

    def _prefer_all(self, cycle: Cycle, rows: Rows | None, reselected: bool) -> bool:
        """Bring the priorities up to date; answers whether more than *rows* (None: who knows which) of their scores became others.

        *reselected*: other rows fit than before. Raises RuleError.
        """
        feasible, anew, epoch = Feasible(self), False, self.memory.table.changed.node_epoch
        for preference in self.preferences:
            if preference.kept.node_epoch != epoch or not preference.kept.is_of_nodes:
                self.memory.refresh_scores(preference.kept, preference.priority, cycle)
            if not preference.is_current or (reselected and (preference.counts or preference.depends_on_window)):
                anew |= self._prefer(cycle, preference, rows, reselected, feasible)
        self._counting = [preference for preference in self.preferences if preference.counts]
        return anew

    def _rank(self, rows: Rows, anew: bool) -> None:
        """Put the ranks right on *rows*, or with *anew* everywhere."""
        if anew:
            totals = self.part.totals
            for preference in self._counting:
                totals = totals + (preference.reduced if preference.weight == 1 else preference.reduced * preference.weight)
            if self.count < len(self.fits):
                self.ranked = np.where(self.fits, totals, OUT)
            else:
                self.ranked = totals.copy() if totals is self.part.totals else totals
            return
        if len(rows) > FEW:
            totals = self.part.totals[rows]
            for preference in self._counting:
                totals = totals + preference.reduced[rows] * preference.weight
            self.ranked[rows] = np.where(self.fits[rows], totals, OUT)
            return
        for row in rows.tolist():
            total = int(self.part.totals[row]) + sum([int(p.reduced[row]) * p.weight for p in self._counting])
            self.ranked[row] = total if self.fits[row] else OUT

    def _prefer(
        self, cycle: Cycle, preference: TrackedPriority, rows: Rows | None, reselected: bool, feasible: Feasible
    ) -> bool:
        """As :meth:`_prefer_all`, for one priority."""
        kept, reduce, counted = preference.kept, preference.priority.reduce, preference.counts
        moved = preference.edits != kept.edits
        anew = not counted or preference.whole != kept.whole or (moved and rows is None)
        preference.judge(self.window)
        if not preference.counts:
            return counted
        if reduce is None:
            preference.reduced = kept.answer
            return anew
        if not isinstance(reduce, Reduction):
            preference.reduced = feasible.reduced(cycle, preference)
            return True
        if anew or reselected or moved:
            summary = reduce.summarise(cycle.template, feasible.of(kept.answer), feasible.nodes, cycle)
            anew = anew or summary != preference.summary
            preference.summary = summary
        if anew:
            preference.reduced = reduce.apply(cycle.template, kept.answer, preference.summary, Batch.everywhere(cycle.table), cycle)
        elif moved and rows is not None and len(rows):
            nodes = Batch(cycle.table, rows)
            preference.reduced[rows] = reduce.apply(cycle.template, kept.answer[rows], preference.summary, nodes, cycle)
        return anew

    # --- the best ---------------------------------------------------------------------------------------------------

    def feasible(self, wanted: int) -> tuple[Rows, int]:
        """The rows that a pass finds which stops after *wanted* fits and one more, and how many rows it takes from the order."""
        for reach in (wanted + wanted // 8 + 64, len(self.order)):
            found = self.fits.take(self.order[:reach]).nonzero()[0]
            if len(found) > wanted:
                return self.order[found[:wanted]], int(found[wanted]) + 1
        return self.order[found], len(self.order)

    def totals_of(self, cycle: Cycle, feasible: Rows) -> Ints:
        """The totals of the feasible rows of a pass that stopped before its end: int64[k]. Raises RuleError."""
        totals = self.ranked[feasible]
        nodes = Batch(self.memory.table, feasible)
        for preference in self.preferences:
            if preference.depends_on_window and preference.priority.reduce is not None:
                raw = preference.kept.answer[feasible]
                totals += preference.priority.reduce(cycle.template, raw, nodes, cycle) * preference.weight
        return totals

    def best(self) -> Rows:
        """The rows with the highest total, ascending."""
        ranked = self.ranked
        found: Rows = (ranked == ranked[ranked.argmax()]).nonzero()[0]
        return found


@attrs.define(eq=False)
class Feasible:
    """The rows that fit, worked out when first asked for."""

    standing: Scoreboard
    _nodes: Batch | None = None

    @property
    def nodes(self) -> Batch:
        """In ascending order; the whole table where every row fits."""
        if self._nodes is None:
            table, fits = self.standing.memory.table, self.standing.fits
            self._nodes = Batch.everywhere(table) if self.standing.count == len(fits) else Batch(table, fits.nonzero()[0])
        return self._nodes

    def of(self, scores: Scores) -> Scores:
        """The scores of ``nodes``, out of those of all rows."""
        return scores if self.nodes.rows is None else scores.take(self.nodes.rows)

    def reduced(self, cycle: Cycle, preference: TrackedPriority) -> Scores:
        """The scores of a priority whose reduce step sees all feasible nodes in visiting order at once, laid out over all rows."""
        assert preference.priority.reduce is not None
        order, found = self.standing.order, np.zeros(len(self.standing.fits), np.int64)
        rows = order[self.standing.fits[order]]
        nodes = Batch(self.standing.memory.table, rows)
        found[rows] = preference.priority.reduce(cycle.template, preference.kept.answer[rows], nodes, cycle)
        return found
