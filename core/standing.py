"""How the whole table stands for one template, carried from cycle to cycle: who fits, with what total, and so who is best.

Between two pods of a template little changes: a row got a pod, perhaps a count moved. Fits and totals are put right on those rows, and
a priority is redone on all rows only where what it must know of all feasible nodes together (its summary) became another.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import attrs
import numpy as np

from .batch import Batch, Ints, Rows
from .cycle import Cycle
from .failures import Mask
from .foresight import Foresight
from .memory import Kept, Memory
from .rule import Predicate, Priority, Reduction, Scores
from .template import Template

OUT = -(2**62)
"""The total of a row that does not fit."""


@attrs.define(eq=False)
class _Question:
    """A predicate, what is remembered of its answer, and when all rows of that were last looked at."""

    predicate: Predicate
    kept: Kept
    seen: int = 0


@attrs.define(eq=False)
class _Preference:
    """A priority with its weight, what is remembered of its raw scores, and its reduced scores for all rows."""

    priority: Priority
    weight: int
    kept: Kept
    seen: int = 0
    summary: Any = None
    reduced: Scores = attrs.field(factory=lambda: np.zeros(0, np.int64))
    zero: bool = False
    """``reduced`` was worked out when every raw score was 0."""
    settled: bool = True
    """``reduced`` holds whichever of the rows that fit are feasible; else it is worked out over those alone, cycle by cycle."""


@attrs.define(eq=False)
class Standing:
    """One template against all rows. ``ranked``: int64[size], the total where the row fits and is visited, else far below any total."""

    memory: Memory
    order: Rows
    """The rows of the coming pass, each once."""
    stamp: Hashable = None
    """Which rows those are, in whatever order."""
    questions: list[_Question] = attrs.field(factory=list)
    preferences: list[_Preference] = attrs.field(factory=list)
    fits: Mask = attrs.field(factory=lambda: np.zeros(0, np.bool_))
    totals: Ints = attrs.field(factory=lambda: np.zeros(0, np.int64))
    ranked: Ints = attrs.field(factory=lambda: np.zeros(0, np.int64))
    visited: Mask = attrs.field(factory=lambda: np.zeros(0, np.bool_))
    """The rows of ``order``."""
    count: int = 0
    """How many rows fit."""
    cursor: int = -1
    node_epoch: int = -1
    ranked_yet: bool = False
    window: bool = False
    """A pass stops before its end, so that not all rows that fit are feasible."""
    foresight: Foresight = attrs.field(factory=Foresight)

    # --- fits -------------------------------------------------------------------------------------------------------

    def refresh(self, cycle: Cycle, order: Rows, stamp: Hashable, *, window: bool) -> bool:
        """Bring fits and, where more than one row fits, totals up to date; False where this cycle needs the long way.

        *order*: the rows of the coming pass; *stamp* tells which rows they are. With *window* the pass stops before its end.
        """
        self.order = order
        if self.foresight.take(self, cycle, stamp):
            return True
        changed = self._changed_rows(stamp)
        self.window = window
        if not self._ask(cycle):
            return False
        refitted = changed is None or any(question.kept.whole != question.seen for question in self.questions)
        flipped = self._fit_all(stamp) if refitted or changed is None else self._fit(changed)
        self.cursor, self.node_epoch = self.memory.table.changed.cursor, self.memory.table.changed.node_epoch
        if self.count > 1:
            self._rank(cycle, None if changed is None or not self.ranked_yet else changed, flipped, refitted)
            self.foresight.look(self, cycle)
        else:
            self.ranked_yet = False
        return True

    def _changed_rows(self, stamp: Hashable) -> Rows | None:
        log = self.memory.table.changed
        if self.cursor < 0 or self.stamp != stamp or self.node_epoch != log.node_epoch:
            return None
        return log.rows_since(self.cursor)

    def _ask(self, cycle: Cycle) -> bool:
        """Bring the answers of the predicates up to date; False where one cannot be given."""
        if not self.questions:
            self.questions = [_Question(p, self.memory.failures(p, cycle)) for p in cycle.algorithm.predicates_for(cycle.template)]
        still = self.node_epoch == self.memory.table.changed.node_epoch
        for question in self.questions:
            kept = question.kept
            if still and not kept.rowwise and not kept.stamped:
                continue
            self.memory.refresh_failures(kept, question.predicate, cycle)
            if kept.answer is not None and kept.answer.errors is not None:
                self.cursor = -1
                return False
        return True

    def _fit_all(self, stamp: Hashable) -> bool:
        if self.stamp != stamp or len(self.visited) != self.memory.table.size:
            self.visited = np.zeros(self.memory.table.size, np.bool_)
            self.visited[self.order] = True
            self.stamp, self.ranked_yet = stamp, False
        fits = self.visited.copy()
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
        flipped = False
        asked = [codes for question in self.questions if (codes := question.kept.codes()) is not None]
        for row in rows.tolist():
            fits = not any(codes[row] for codes in asked) and bool(self.visited[row])
            if fits != bool(self.fits[row]):
                self.fits[row] = fits
                self.count += 1 if fits else -1
                flipped = True
        return flipped

    # --- totals -----------------------------------------------------------------------------------------------------

    def _rank(self, cycle: Cycle, rows: Rows | None, flipped: bool, refitted: bool) -> None:
        """Put totals right on *rows*, or everywhere, and the ranks too; raises RuleError where a priority cannot be computed."""
        if not self.preferences:
            self.preferences = [_Preference(p, w, self.memory.scores(p, cycle)) for p, w in cycle.algorithm.priorities]
        feasible = _Feasible(self)
        redone = False
        for preference in self.preferences:
            before, counted = preference.reduced, preference.settled
            if self._prefer(cycle, preference, rows, flipped, feasible):
                redone = True
                if rows is not None:
                    self._exchange(preference, before, counted)
        if rows is None:
            self._add_up()
        else:
            self._add_up_rows(rows, redone or refitted)
        self.ranked_yet = True

    def _exchange(self, preference: _Preference, before: Scores, counted: bool) -> None:
        """Take what a priority gave *before* out of the totals, where it was *counted*, and put in what it gives now."""
        if counted:
            self.totals -= before * preference.weight
        if preference.settled:
            self.totals += preference.reduced * preference.weight

    def _prefer(self, cycle: Cycle, preference: _Preference, rows: Rows | None, flipped: bool, feasible: _Feasible) -> bool:
        """Bring one priority up to date; answers whether all of its reduced scores were made anew."""
        kept = preference.kept
        if rows is None or kept.rowwise or kept.stamped:
            self.memory.refresh_scores(kept, preference.priority, cycle)
        raw, reduce = kept.answer, preference.priority.reduce
        settled = reduce is None or not self.window or (isinstance(reduce, Reduction) and reduce.zeros_alike and kept.zero)
        anew = rows is None or kept.whole != preference.seen or settled != preference.settled
        preference.settled = settled
        if not settled:
            return anew
        preference.seen = kept.whole
        if reduce is None:
            preference.reduced = raw
            return anew
        if not isinstance(reduce, Reduction):
            preference.reduced = feasible.spread(reduce(cycle.template, raw[feasible.rows], feasible.nodes, cycle))
            return True
        same = kept.zero and preference.zero and reduce.zeros_alike
        if anew or (not same and (flipped or not self._untouched(preference, rows))):
            summary = reduce.summarise(cycle.template, raw[feasible.rows], feasible.nodes, cycle)
            anew = anew or summary != preference.summary
            preference.summary = summary
        preference.zero = kept.zero
        if anew:
            preference.reduced = reduce.apply(cycle.template, raw, preference.summary, Batch(cycle.table), cycle)
        elif rows is not None and len(rows) and not kept.zero:
            preference.reduced[rows] = reduce.apply(cycle.template, raw[rows], preference.summary, Batch(cycle.table, rows), cycle)
        return anew

    @staticmethod
    def _untouched(preference: _Preference, rows: Rows | None) -> bool:
        """Whether the raw scores of *rows* cannot have changed, as the priority reads nothing of a row's pods."""
        return rows is not None and (not len(rows) or not preference.kept.rowwise)

    def _add_up(self) -> None:
        totals = np.zeros(len(self.fits), np.int64)
        for preference in self.preferences:
            if preference.settled:
                totals += preference.reduced * preference.weight
        self.totals = totals
        self.ranked = np.where(self.fits, totals, OUT)

    def _add_up_rows(self, rows: Rows, everywhere: bool) -> None:
        """Put the totals of *rows* right, and the ranks of these rows or of all."""
        if len(rows):
            self.totals[rows] = sum(p.reduced[rows] * p.weight for p in self.preferences if p.settled)
        if everywhere:
            self.ranked = np.where(self.fits, self.totals, OUT)
        elif len(rows):
            self.ranked[rows] = np.where(self.fits[rows], self.totals[rows], OUT)

    # --- the best ---------------------------------------------------------------------------------------------------

    def feasible(self, wanted: int) -> tuple[Rows, int]:
        """The rows that a pass finds which stops after *wanted* fits and one more, and how many rows it takes from the order."""
        found = np.flatnonzero(self.fits[self.order])
        if len(found) > wanted:
            return self.order[found[:wanted]], int(found[wanted]) + 1
        return self.order[found], len(self.order)

    def totals_of(self, cycle: Cycle, feasible: Rows) -> Ints:
        """The totals of the feasible rows of a pass that stopped before its end: int64[k]. Raises RuleError."""
        totals = self.ranked[feasible]
        nodes = Batch(self.memory.table, feasible)
        for preference in self.preferences:
            if not preference.settled and preference.priority.reduce is not None:
                self.memory.refresh_scores(preference.kept, preference.priority, cycle)
                raw = preference.kept.answer[feasible]
                totals += preference.priority.reduce(cycle.template, raw, nodes, cycle) * preference.weight
        return totals

    def best(self) -> Rows:
        """The rows with the highest total, ascending."""
        return np.flatnonzero(self.ranked == self.ranked.max())


@attrs.define(eq=False)
class _Feasible:
    """The rows that fit, in visiting order, worked out when first asked for."""

    standing: Standing
    _rows: Rows | None = None
    _nodes: Batch | None = None

    @property
    def rows(self) -> Rows:
        if self._rows is None:
            order = self.standing.order
            self._rows = order[self.standing.fits[order]]
        return self._rows

    @property
    def nodes(self) -> Batch:
        if self._nodes is None:
            self._nodes = Batch(self.standing.memory.table, self.rows)
        return self._nodes

    def spread(self, scores: Scores) -> Scores:
        """Scores of the feasible rows laid out over all rows."""
        found = np.zeros(len(self.standing.fits), np.int64)
        found[self.rows] = scores
        return found


@attrs.define(eq=False)
class Standings:
    """The standings of the templates in use, up to *limit* bytes; those not asked for longest are dropped."""

    memory: Memory
    limit: int
    _known: dict[Template, Standing] = attrs.field(factory=dict)

    def of(self, template: Template) -> Standing:
        """The standing of *template*."""
        found = self._known.pop(template, None)
        if found is None:
            found = Standing(self.memory, np.zeros(0, np.intp))
            while self._known and len(self._known) * self._size() > self.limit:
                del self._known[next(iter(self._known))]
        self._known[template] = found
        return found

    def _size(self) -> int:
        """Bytes that one standing takes, about."""
        return 80 * max(self.memory.table.size, 1)
