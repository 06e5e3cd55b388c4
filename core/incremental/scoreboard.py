"""Layer 3: how the whole table stands for one template: which rows fit, with what total, and so which are best.

Between two pods of a template little changes: a row got a pod, perhaps a count moved. A scoreboard takes the rows that changed from
the trails of what it is made of, and works out those alone.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence

import attrs
import numpy as np

from ..arrays.batch import Batch
from ..arrays.trail import NEVER, NO_ROWS, union
from ..arrays.types import NO_INTS, NOWHERE, Ints, Mask, Rows
from ..cycle import Cycle
from ..rule import Predicate, Priority
from . import verify
from .answers import AnswerCache
from .cachedanswer import Scope, Still, Unanswerable
from .leaders import Leaders
from .rows import RowScores
from .tracked import TrackedFeasible, TrackedPredicate, TrackedPriority

OUT = -(2**62)
"""The total of a row that does not fit."""
FEW = 64
"""Rows are few where there are that many times as many."""
MOST_REFITTED = 16
"""Rows that are counted in or out one by one where they fit or no longer do."""
MOST_NOTED = 1 << 12
"""Such rows that are noted, all in all, before they are counted from nothing."""
MOST_LISTED = 64
"""Rows, of which some may occur often, that are looked through for how many different ones there are."""
MOST_SINGLE = 12
"""Rows that are put right one by one: plain Python is faster then than numpy, which takes as long for one row as for a hundred."""


@attrs.define(eq=False, repr=False)
class Scoreboard:
    """One template against all rows. ``ranked``: int64[size], the total where the row fits and is visited, else far below any total.

    Scores that are the same for all rows are not in it. Once a refresh is given up, all rows are stale.
    """

    answers: AnswerCache
    row_scores: RowScores
    predicates: list[TrackedPredicate]
    """Those that look beyond the row."""
    priorities: list[TrackedPriority]
    node_predicates: list[TrackedPredicate]
    """Those that look at node objects alone."""
    idle: Sequence[Predicate | Priority] = ()
    """Rules that have nothing to say about the template for now, so that they are left out."""
    idle_at: tuple[int, int] | None = None
    """The revisions of affinity terms and of owners at which that was so."""
    order: Rows = NO_ROWS
    """The rows of the coming pass, each once."""
    fits: Mask = NOWHERE
    """bool[size]"""
    ranked: Ints = NO_INTS
    leaders: Leaders = attrs.field(init=False)
    """The rows with the highest total."""
    count: int = 0
    """How many rows fit."""
    window: bool = False
    """A pass stops before its end, so that not all rows that fit are feasible."""
    _seen: int = NEVER
    """The revision of ``row_scores`` that fits and totals are made of; NEVER: all rows are stale."""
    _environment: Hashable = None
    """The revisions of all else that its rules read, as of the last refresh."""
    _order_revision: Hashable = None
    """Which rows ``order`` has, in whatever sequence."""
    _open: Mask = NOWHERE
    """Rows of ``order`` whose nodes, as objects, will do."""
    _allowed: Mask = NOWHERE
    """Those of them that ``predicates`` pass."""
    _is_ranked: bool = False
    """``ranked`` was brought up to date with ``fits``."""
    _feasible: TrackedFeasible | None = None
    """Which rows fit, as it was told to the priorities last."""
    _counting: list[TrackedPriority] = attrs.field(factory=list)
    """The priorities that tell rows apart."""
    _scope: Scope = attrs.field(init=False)
    """What ``predicates`` and ``priorities`` read."""

    def __attrs_post_init__(self) -> None:
        scopes = [tracked.answer.scope for tracked in self.predicates] + [tracked.answer.scope for tracked in self.priorities]
        self._scope = Scope.together(frozenset(scopes))
        self.leaders = Leaders(self.ranked)

    def forget(self) -> None:
        """Work everything out again when next asked."""
        self._seen = NEVER

    def refresh(self, cycle: Cycle, order: Rows, order_revision: Hashable, *, window: bool) -> bool:
        """Bring fits and, where more than one row fits, totals up to date; False where this cycle needs the long way.

        *order*: the rows of the coming pass; *order_revision* tells which rows they are. With *window* the pass stops before its end.
        Raises PriorityError where a priority cannot be computed.
        """
        self.order = order
        if window is not self.window:
            self.window, self._is_ranked = window, False
        if window:  # leaders are not asked for
            self.leaders.trim()
        seen, self._seen = self._seen, NEVER
        try:
            self._refresh(cycle, seen, order_revision)
        except Unanswerable:
            return False
        self._seen = self.row_scores.trail.revision
        if verify.SWITCH.is_on:
            verify.check_scoreboard(self, cycle)
        return True

    def _refresh(self, cycle: Cycle, seen: int, order_revision: Hashable) -> None:
        row_scores = self.row_scores
        environment = self.answers.environment(self._scope, cycle)
        still = environment[0]
        row_scores.refresh(cycle)
        rows = row_scores.trail.since(seen)
        if order_revision != self._order_revision:
            rows, self._order_revision = None, order_revision
        if rows is None:
            self._feasible = None
        moved = rows is None or environment != self._environment or self._scope.rowwise
        rows, refitted = self._refresh_fits(rows, self._refresh_allowed(cycle, still, everything=rows is None) if moved else NO_ROWS)
        if self.count > 1:
            if moved or refitted or not self._is_ranked:
                rows = self._refresh_priorities(cycle, still, rows if self._is_ranked else None, refitted)
            self._refresh_totals(rows)
        self._is_ranked, self._environment = self.count > 1, environment

    # --- fits -------------------------------------------------------------------------------------------------------

    def _refresh_allowed(self, cycle: Cycle, still: Still, *, everything: bool) -> Rows | None:
        """Bring ``_allowed`` up to date; gives the rows where it may have changed, None: look at all. Raises Unanswerable.

        *everything*: node objects or the rows of ``order`` changed, or cycles were missed.
        """
        if everything:
            self._open = self.answers.table.node_derived(("visited", self._order_revision), self._visited)
            for tracked in self.node_predicates:
                self.answers.refresh_failures(tracked.answer, tracked.predicate, cycle, still)
            self._open = self._passed(self.node_predicates, self._open)
        rows = None if everything else NO_ROWS
        for tracked in self.predicates:
            if tracked.answer.moves or tracked.answer.still != still:
                self.answers.refresh_failures(tracked.answer, tracked.predicate, cycle, still)
            if tracked.seen != tracked.answer.trail.revision:
                rows = union(rows, tracked.changed())
        if rows is None or len(rows) > MOST_REFITTED:
            allowed = self._passed(self.predicates, self._open)
            self._allowed = allowed.copy() if allowed is self._open else allowed
            return None
        for row in rows.tolist():
            self._allowed[row] = self._open[row] and all(tracked.passes(row) for tracked in self.predicates)
        return rows

    def _visited(self) -> Mask:
        """The rows of ``order``: bool[size], read only, as all templates share it."""
        found = np.zeros(self.answers.table.size, np.bool_)
        found[self.order] = True
        found.setflags(write=False)
        return found

    @staticmethod
    def _passed(predicates: Sequence[TrackedPredicate], mask: Mask) -> Mask:
        """The rows of *mask*: bool[size] that all *predicates* pass."""
        for tracked in predicates:
            codes = tracked.answer.codes()
            if codes is not None:
                mask = mask & (codes == 0)
        return mask

    def _refresh_fits(self, rows: Rows | None, allowed: Rows | None) -> tuple[Rows | None, bool]:
        """Put the fits right: on *rows*, whose row scores changed, and on those where ``_allowed`` changed; None: on all.

        Gives *rows* and those where the fit became another, and whether there are any of the latter. Rows that are never visited never fit.
        """
        both = rows if allowed is NO_ROWS else union(rows, allowed)
        each = None if both is None else _few(both)
        if each is not None:
            refitted = self._refresh_fits_of(each)
            return (both if refitted else rows), refitted
        if both is not None and len(both) * FEW <= len(self.fits):
            changed = (self.row_scores.fits.take(both) & self._allowed.take(both)) != self.fits.take(both)
            if not np.count_nonzero(changed):
                return rows, False
            return both, self._refresh_fits_of(set(both[changed].tolist()))
        before, self.fits = self.fits, self.row_scores.fits & self._allowed
        self.count = int(np.count_nonzero(self.fits))
        if len(before) != len(self.fits):
            self._feasible = None
            return None, True
        changed = before != self.fits
        if not np.count_nonzero(changed):
            return rows, False
        moved = changed.nonzero()[0]
        if len(moved) > MOST_REFITTED:
            self._feasible = None
        else:
            self._refit(moved.tolist())
        return union(rows, moved), True

    def _refit(self, rows: Sequence[int]) -> None:
        """Tell who fits now, where *rows* fit that did not or no longer do."""
        if self._feasible is not None:
            if len(self._feasible.refitted) > MOST_NOTED:
                self._feasible = None
            else:
                self._feasible.refit(self.fits, rows, self.count)

    def _refresh_fits_of(self, rows: Collection[int]) -> bool:
        """As :meth:`_refresh_fits`, for few *rows*; gives whether the fit of any became another."""
        good, allowed, fits = self.row_scores.fits, self._allowed, self.fits
        changed = [row for row in rows if (good.item(row) and allowed.item(row)) is not fits.item(row)]
        for row in changed:
            fits[row] = not fits[row]
            self.count += 1 if fits[row] else -1
        if changed:
            self._refit(changed)
        return bool(changed)

    # --- totals -----------------------------------------------------------------------------------------------------

    def _refresh_priorities(self, cycle: Cycle, still: Still, rows: Rows | None, refitted: bool) -> Rows | None:
        """Bring the priorities up to date; gives *rows* and those where a reduced score changed, None: all. Raises PriorityError."""
        everything, feasible = rows is None, self._feasible
        if feasible is None or everything:
            everywhere = self.count == len(self.fits)
            feasible = self._feasible = TrackedFeasible(self.fits, everywhere, table=self.answers.table, order=self.order)
        feasible.order = self.order
        for tracked in self.priorities:
            answer = tracked.answer
            if answer.moves or answer.still != still:
                self.answers.refresh(answer, tracked.priority, cycle, still)
            if everything or tracked.seen != answer.trail.revision or (tracked.counts and tracked.is_stale(refitted)):
                rows = union(rows, tracked.refresh(cycle, feasible, everything=everything, window=self.window))
        self._counting = [tracked for tracked in self.priorities if tracked.counts]
        return rows

    def _refresh_totals(self, rows: Rows | None) -> None:
        """Put the totals of *rows* (None: of all) right."""
        if rows is not None:
            each = _few(rows)
            if each is None:
                self._refresh_totals_of(rows)
            else:
                self._refresh_each_total(each)
            return
        totals = self.row_scores.totals
        for tracked in self._counting:
            totals = totals + (tracked.reduced if tracked.weight == 1 else tracked.reduced * tracked.weight)
        if self.count < len(self.fits):
            self.ranked = np.where(self.fits, totals, OUT)
        else:
            self.ranked = totals.copy() if totals is self.row_scores.totals else totals
        self.leaders.replaced(self.ranked)

    def _refresh_totals_of(self, rows: Rows) -> None:
        """Put the totals of *rows* right."""
        before, totals = self.ranked.take(rows), self.row_scores.totals.take(rows)
        for tracked in self._counting:
            scores = tracked.reduced.take(rows)
            totals += scores if tracked.weight == 1 else scores * tracked.weight
        if self.count < len(self.fits):
            totals[~self.fits.take(rows)] = OUT
        self.ranked[rows] = totals
        self.leaders.note(rows, before, totals)

    def _refresh_each_total(self, rows: Collection[int]) -> None:
        """Put the totals of *rows*, which are few, right."""
        totals, fits, ranked, leaders = self.row_scores.totals, self.fits, self.ranked, self.leaders
        for row in rows:
            total = OUT
            if fits.item(row):
                total = totals.item(row)
                for tracked in self._counting:
                    total += tracked.reduced.item(row) * tracked.weight
            before = ranked.item(row)
            if total != before:
                ranked[row] = total
                if max(before, total) >= leaders.total:
                    leaders.moved.append(row)

    # --- the best ---------------------------------------------------------------------------------------------------

    def feasible(self, wanted: int) -> tuple[Rows, int]:
        """The rows that a pass finds which stops after *wanted* fits and one more, and how many rows it takes from the order."""
        for reach in (wanted + wanted // 8 + 64, len(self.order)):
            found = self.fits.take(self.order[:reach]).nonzero()[0]
            if len(found) > wanted:
                return self.order[found[:wanted]], int(found[wanted]) + 1
        return self.order[found], len(self.order)

    def totals_of(self, cycle: Cycle, feasible: Rows) -> Ints:
        """The totals of the feasible rows of a pass that stopped before its end: int64[k]. Raises PriorityError."""
        totals = self.ranked[feasible]
        nodes = Batch(self.answers.table, feasible)
        for tracked in self.priorities:
            if tracked.depends_on_window and tracked.priority.reduce is not None:
                raw = tracked.answer.answer[feasible]
                totals += tracked.priority.reduce(cycle.template, raw, nodes, cycle) * tracked.weight
        return totals


def _few(rows: Rows) -> Collection[int] | None:
    """Each of *rows* once, where they are few; None: they are many."""
    if len(rows) == 1:
        return (int(rows[0]),)
    if len(rows) > MOST_LISTED:
        return None
    found = set(rows.tolist())
    return found if len(found) <= MOST_SINGLE else None
