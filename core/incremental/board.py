"""Which rows fit a template and with what total: the materialised view of all its rules, brought up to date when it is asked for.

It lays the answers of the rules that look further over the row scores. Few rows that changed are put right one by one in plain Python,
many by numpy over all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Any

import attrs
import numpy as np

from ..arrays.batch import Batch
from ..arrays.trail import MAX_TRAIL, MOST_ROWS, NEVER, NO_ROWS
from ..arrays.types import NO_INTS, NOWHERE, Ints, Mask, Rows
from ..cycle import Cycle
from ..rule import Predicate, Priority
from . import verify
from .answers import AnswerCache
from .cachedanswer import Answer, Still, Unanswerable
from .failuresanswer import FailuresAnswer
from .rows import RowScores
from .scored import FeasibleSet, Scored


@attrs.define(eq=False, repr=False)
class Leaders:
    """The rows that share the highest of ``ranked``, the totals of a board, in visiting order.

    All of them are found in one pass over the rows. After that, a row whose total changed is put in or taken out by itself, until
    none is left, or until many changed at once.
    """

    ranked: Ints
    """int64[rows]; its owner says when it changes."""
    total: int = 0
    """The highest total."""
    _count: int = 0
    """How many leaders there are; 0: look for them."""
    _leads: Mask = attrs.field(factory=lambda: np.zeros(0, np.bool_))
    """bool[rows of the order]: whether the row at a place of ``_order`` is a leader."""
    _order: Rows = attrs.field(factory=lambda: np.zeros(0, np.intp))
    """The pass that the places are of."""
    moved: list[int] = attrs.field(factory=list)
    """Rows whose totals may have changed since the leaders were right. The owner of the totals adds them."""

    def replaced(self, ranked: Ints) -> None:
        """All totals may have changed; they are in *ranked* now."""
        self.ranked, self._count = ranked, 0
        self.moved.clear()

    def trim(self) -> None:
        """Forget the leaders where much moved."""
        if len(self.moved) > MOST_ROWS:
            self.moved[:] = set(self.moved)
            if len(self.moved) > MOST_ROWS:
                self.replaced(self.ranked)

    def host(self, order: Rows, places: Rows, which: Callable[[int], int]) -> int:
        """The row of the leader that *which* chooses of many. *order*: the rows in visiting order; *places*: row -> its place there."""
        self._refresh(order, places)
        if verify.SWITCH.is_on:
            verify.check_leaders(self.ranked, self.all(order, places), self._count)
        chosen = which(self._count)
        return order.item(self._leads.nonzero()[0].item(chosen) if chosen else self._leads.argmax())

    def all(self, order: Rows, places: Rows) -> list[int]:
        """All leaders, in visiting order."""
        self._refresh(order, places)
        found: list[int] = order[self._leads].tolist()
        return found

    def _refresh(self, order: Rows, places: Rows) -> None:
        if self._order is not order:
            self._order, self._count = order, 0
        if len(self.moved) > MOST_ROWS:
            self.trim()
        if self._count and self.moved:
            self._follow(self._leads, places)
        if not self._count:
            ranked = self.ranked
            best = ranked[ranked.argmax()]
            self._leads = (ranked == best).take(order)
            self.total, self._count = int(best), int(np.count_nonzero(self._leads))
            self.moved.clear()

    def _follow(self, leads: Mask, places: Rows) -> None:
        ranked = self.ranked
        for row in set(self.moved):
            total, place = ranked.item(row), places.item(row)
            leading = total == self.total
            if total > self.total:
                leads[:] = False
                leads[place] = True
                self.total, self._count = total, 1
            elif leads.item(place) is not leading:
                leads[place] = leading
                self._count += 1 if leading else -1
        self.moved.clear()


MOST_SINGLE = 12
"""Totals that are put right one by one; numpy takes as long for one as for a hundred, and as long as plain Python for twelve."""
OUT = -(2**62)
"""The total of a row that does not fit."""


@attrs.define(eq=False, repr=False)
class Filtered:
    """The answer of a predicate that looks beyond the row."""

    answer: FailuresAnswer
    seen: int = NEVER
    """The revision of the answer that the board has taken over."""


Reading = tuple[Priority, int, int | None, Scored | None]
"""A priority, its weight, and where its scores are: the place of its line in the row scores, or what looks beyond the row."""


@attrs.define(eq=False, repr=False)
class Board:
    """One template against all rows. ``ranked``: int64[size], the total where the row fits and is visited, else far below any total.

    Scores that are the same for all rows are not in it. Once a refresh is given up, all rows are stale.
    """

    answers: AnswerCache
    near: RowScores
    """What the rules of the row alone say."""
    filters: list[Filtered]
    """Those that look beyond the row."""
    scored: list[Scored]
    of_nodes: list[FailuresAnswer]
    """Those that look at node objects alone."""
    idle: Sequence[Predicate | Priority] = ()
    """Rules that say the same of every node for now, so that they are left out."""
    still: Still = (NEVER, NEVER, NEVER)
    """The revisions of what seldom moves; while they are these, those rules are idle."""
    even: dict[str, int] = attrs.field(factory=dict)
    """What priorities give each row that are left out as they give all the same; worked out for details."""
    readings: Sequence[Reading] | None = None
    """Where the scores of each priority are found; worked out for details."""
    order: Rows = NO_ROWS
    """The rows of the coming pass, each once."""
    fits: Mask = NOWHERE
    """bool[size]"""
    ranked: Ints = NO_INTS
    """See above; empty where the scores of each rule are kept."""
    leaders: Leaders = attrs.field(init=False)
    """The rows with the highest total."""
    count: int = 0
    """How many rows fit."""
    window: bool = False
    """A pass stops before its end, so that not all rows that fit are feasible."""
    _seen: int = NEVER
    """The revision of ``near`` that fits and totals are made of; NEVER: all rows are stale."""
    _flips_seen: int = NEVER
    """That of the fits of ``near`` alone."""
    _order_revision: Hashable = None
    """Which rows ``order`` has, in whatever sequence."""
    _open: Mask = NOWHERE
    """Rows of ``order`` whose nodes, as objects, will do."""
    _allowed: Mask = NOWHERE
    """Those of them that ``filters`` pass."""
    _is_ranked: bool = False
    """Scores were brought up to date with ``fits``."""
    _feasible: FeasibleSet | None = None
    """Which rows fit, as it was told to the priorities last."""
    _counting: list[Scored] = attrs.field(factory=list)
    """The priorities that tell rows apart."""
    _moves: bool = False
    """Scores may be others though nothing durable moved."""
    _scored_at: Still | None = None
    """What is durable, as of the last look at the scores."""

    def __attrs_post_init__(self) -> None:
        self.leaders = Leaders(self.ranked)

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays, and of the answers that it alone has."""
        arrays = [self.fits, self.ranked, self._open, self._allowed, self.leaders._leads, *[one.reduced for one in self.scored]]
        arrays += [one.histogram.held for one in self.scored if one.histogram is not None]
        answers: list[Answer[Any]] = [*[one.answer for one in self.filters], *[one.answer for one in self.scored], *self.of_nodes]
        return sum(array.nbytes for array in arrays) + sum(answer.nbytes for answer in answers if not answer.is_kept)

    def forget(self) -> None:
        """Work everything out again when next asked."""
        self._seen = NEVER

    def refresh(self, cycle: Cycle, order: Rows, order_revision: Hashable, *, window: bool) -> bool:
        """Bring fits and, where more than one row fits, totals up to date; False where this cycle needs the long way.

        *order*: the rows of the coming pass; *order_revision* says which rows they are. With *window* the pass stops before its end.
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
        self._seen = self.near.trail.revision
        if verify.SWITCH.is_on:
            verify.check_board(self, cycle)
        return True

    def _refresh(self, cycle: Cycle, seen: int, order_revision: Hashable) -> None:
        near = self.near
        near.refresh(cycle)
        rows: Collection[int] | None = near.trail.since(seen)
        everything = order_revision != self._order_revision or not (near.trail.keeps(seen) and near.flips.keeps(self._flips_seen))
        flipped, self._flips_seen, self._order_revision = near.flips.since(self._flips_seen), near.flips.revision, order_revision
        if everything:
            self._feasible = None
            self._open = self._open_rows(cycle)
        allowed = self._refresh_allowed(cycle, everything) if everything or self.filters else ()
        flips: Sequence[int] = ()
        if everything or flipped is None or flipped or allowed is None or allowed:
            flips = self._refresh_fits(None if everything else flipped, allowed)
        if everything or len(flips) > MOST_ROWS:
            rows = None
        elif flips and rows is not None:
            rows = [*rows, *flips]
        if self.count > 1:
            if not self._is_ranked:
                rows = None
            if self._moves or everything or not self._is_ranked or self._scored_at != self.still:
                rows = self._refresh_scores(cycle, rows, everything=everything or not self._is_ranked, flipped=bool(flips))
            if not near.keeps_lines:
                self._refresh_totals(rows)
        self._is_ranked = self.count > 1

    # --- fits -------------------------------------------------------------------------------------------------------

    def _open_rows(self, cycle: Cycle) -> Mask:
        """The rows of ``order`` whose nodes, as objects, will do: bool[size]."""
        found: Mask = self.answers.table.node_derived(("visited", self._order_revision), self._visited)
        self.answers.update(self.of_nodes, cycle, self.still)
        for one in self.of_nodes:
            passed = one.passed()
            found = found if passed is None else found & passed
        return found

    def _visited(self) -> Mask:
        """The rows of ``order``: bool[size], read only, as all templates share it."""
        found = np.zeros(self.answers.table.size, np.bool_)
        found[self.order] = True
        found.setflags(write=False)
        return found

    def _refresh_allowed(self, cycle: Cycle, everything: bool) -> Sequence[int] | None:
        """Bring ``_allowed`` up to date; gives the rows where it may have changed, None: all. Raises Unanswerable."""
        rows: Sequence[int] | None = None if everything else ()
        self.answers.update([one.answer for one in self.filters], cycle, self.still)
        for one in self.filters:
            trail = one.answer.trail
            if one.seen != trail.revision:
                more = None if rows is None else trail.since(one.seen)
                rows = None if rows is None or more is None else [*rows, *more]
                one.seen = trail.revision
        if rows is None or len(rows) > MOST_ROWS:
            allowed = self._open
            for one in self.filters:
                passed = one.answer.passed()
                allowed = allowed if passed is None else allowed & passed
            self._allowed = allowed.copy() if allowed is self._open else allowed
            return None
        is_open, allowed = self._open, self._allowed
        for row in rows:
            good = is_open.item(row)
            for one in self.filters if good else ():
                good = good and one.answer.passes(row)
            allowed[row] = good
        return rows

    def _refresh_fits(self, rows: Sequence[int] | None, allowed: Sequence[int] | None) -> Sequence[int]:
        """Put the fits right on *rows*, which fit by themselves or no longer do, and on those where ``_allowed`` changed; None: on all.

        Gives the rows where the fit became another. Rows that are never visited never fit.
        """
        before, near, good = self.fits, self.near.fits, self._allowed
        each = None if rows is None or allowed is None else {*rows, *allowed}
        if each is None or len(each) > MOST_ROWS:
            self.fits = fits = near & good
            self.count = int(np.count_nonzero(fits))
            changed = before != fits if len(before) == len(fits) else np.ones(len(fits), np.bool_)
            number = int(np.count_nonzero(changed))
            # Of many rows it is enough how many they are.
            flips: Sequence[int] = changed.nonzero()[0].tolist() if number <= MOST_ROWS else range(number)
        else:
            flips = [row for row in each if (near.item(row) and good.item(row)) is not before.item(row)]
            for row in flips:
                before[row] = not before[row]
                self.count += 1 if before[row] else -1
        feasible = self._feasible
        if flips and feasible is not None:
            if len(flips) > MOST_ROWS or len(feasible.flips) > MAX_TRAIL:
                self._feasible = None
            else:
                feasible.fits = self.fits
                feasible.flip(flips, self.count)
        return flips

    # --- totals -----------------------------------------------------------------------------------------------------

    def _refresh_scores(self, cycle: Cycle, rows: Collection[int] | None, *, everything: bool, flipped: bool) -> Collection[int] | None:
        """Bring the priorities up to date; gives *rows* and those where a reduced score changed, None: all. Raises PriorityError."""
        feasible = self._feasible
        if feasible is None:
            feasible = self._feasible = FeasibleSet(self.answers.table, self.fits, self.order, self.count)
        feasible.order = self.order
        self.answers.update([one.answer for one in self.scored], cycle, self.still)
        for one in self.scored:
            if everything or one.seen != one.answer.trail.revision or (one.counts and one.is_stale(flipped)):
                more = one.refresh(cycle, feasible, everything=everything, window=self.window)
                rows = None if rows is None or more is None else [*rows, *more] if more else rows
        self._counting = [one for one in self.scored if one.counts]
        if everything or self._scored_at != self.still:
            self._scored_at, self._moves = self.still, any(map(_may_move, self.scored))
        return rows

    def _refresh_totals(self, rows: Collection[int] | None) -> None:
        """Put the totals of *rows* (None: of all) right."""
        if rows is not None and len(rows) > 1:
            rows = set(rows)
        if rows is None or len(rows) > MOST_ROWS:
            self._add_up()
            return
        if len(rows) > MOST_SINGLE:
            self._refresh_totals_of(np.fromiter(rows, np.intp, len(rows)))
            return
        ranked, leaders, fits, totals, counting = self.ranked, self.leaders, self.fits, self.near.totals, self._counting
        for row in rows:
            total = OUT
            if fits.item(row):
                total = totals.item(row)
                for one in counting:
                    total += one.reduced.item(row) * one.weight
            before = ranked.item(row)
            if total != before:
                ranked[row] = total
                if max(before, total) >= leaders.total:
                    leaders.moved.append(row)

    def _add_up(self) -> None:
        """Work out the totals of all rows."""
        fits, totals = self.fits, self.near.totals
        found = totals
        for one in self._counting:
            found = found + (one.reduced if one.weight == 1 else one.reduced * one.weight)
        if self.count < len(fits):
            self.ranked = np.where(fits, found, OUT)
        else:
            self.ranked = found.copy() if found is totals else found
        self.leaders.replaced(self.ranked)

    def _refresh_totals_of(self, rows: Rows) -> None:
        """Put the totals of *rows* right."""
        before, totals = self.ranked.take(rows), self.near.totals.take(rows)
        for one in self._counting:
            scores = one.reduced.take(rows)
            totals += scores if one.weight == 1 else scores * one.weight
        if self.count < len(self.fits):
            totals[~self.fits.take(rows)] = OUT
        self.ranked[rows] = totals
        self.leaders.moved += rows[np.maximum(before, totals) >= self.leaders.total].tolist()

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
        for one in self.scored:
            if one.depends_on_window:
                totals += one.of(cycle, nodes) * one.weight
        return totals


def _may_move(one: Scored) -> bool:
    """Whether its scores may be others though nothing durable moved: pods count, or which nodes fit."""
    follows_fits = one.answer.rule.reduce is not None and (one.counts or one.depends_on_window)
    return bool(one.answer.watches) or one.answer.is_restless or follows_fits
