"""The raw scores that a priority gave to the whole table."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import attrs
import numpy as np

from ..arrays.columns import RowsByCode
from ..arrays.counts import CountTerm, DomainSum, Sums, Watched, added, rows_by_label, rows_in
from ..arrays.trail import MOST_ROWS
from ..arrays.types import NO_INTS, Rows, Scores
from .cachedanswer import Answer


@attrs.define(eq=False, repr=False)
class ScoresAnswer(Answer[Scores]):
    """The raw scores of a priority. Those that go by few domains are laid out over the rows when somebody asks for them."""

    sums: Sequence[DomainSum] = ()
    """Of a declared answer."""
    by_code: tuple[int, ...] | None = None
    """The score of each domain of the only sum, where they are few."""
    _rows: Sequence[RowsByCode | None] = ()
    """The rows of the domains of each sum; None: they are rows themselves."""
    _there: Sequence[int] = ()
    """The domains that rows are in, where they are few."""
    constant: int | None = None
    """The score of all rows, where it is known to be the same for all."""
    answer: Scores = NO_INTS
    """int64[size]"""

    def lay_out(self) -> None:
        nodes = self.everywhere
        if self.by_code is not None:
            self.answer = np.array(self.by_code).take(nodes.label(self.sums[0].key or "").codes)
        else:
            self.answer = added(self.sums, nodes)
        self.shared = self.is_pending = False

    @property
    def nbytes(self) -> int:
        return 0 if self.constant is not None and self.shared else self.answer.nbytes

    # --- declared ---------------------------------------------------------------------------------------------------

    def declare(self, declared: Sums) -> Sequence[Watched | CountTerm]:
        table, self.sums = self.table, declared.each
        self.size, self.shared, self.by_code = table.size, False, None
        self._rows = [None if each.key is None else rows_by_label(table, each.key) for each in self.sums]
        if len(self.sums) == 1 and self.sums[0].is_few:
            key = self.sums[0].key or ""
            self._there = table.node_derived(("used", key), lambda: np.bincount(self.everywhere.label(key).codes).nonzero()[0].tolist())
        self._take_sums()
        return [*[each for one in self.sums for each in one.counts], *map(Watched, declared.also)]

    def _take_sums(self) -> None:
        """All scores may be others than before."""
        sums = self.sums
        if len(sums) == 1 and sums[0].is_few:
            values = sums[0].by_code()
            assert isinstance(values, tuple)
            if values == self.by_code:
                return
            self.by_code, self.is_pending, found = values, True, set(map(values.__getitem__, self._there))
            self.constant = found.pop() if len(found) == 1 else None
        elif sums:
            self.lay_out()
            self.constant = constant_of(self.answer)
        else:
            self.constant, self.is_pending, self.answer, self.shared = 0, False, everywhere(0, self.size), True
        self.trail.reset()

    def follow(self) -> None:
        revision = self.trail.revision
        rows = None if self.by_code is not None else self._moved()
        if rows is None:
            self._take_sums()
        elif rows:
            scores, changed = self.answer, []
            for row in rows:
                score = 0
                for each in self.sums:
                    score += each.at(row)
                if score != scores.item(row):
                    scores[row] = score
                    changed.append(row)
                    self.constant = None
            self.trail.touch(changed)
        for watch in self.watches:
            watch.seen = watch.counter.revision
        if self.trail.revision == revision:
            self.trail.touch(())  # no score is another, but the reduce step may read the counters

    def _moved(self) -> Sequence[int] | None:
        """The rows in whose domains counters moved; None: many."""
        rows: list[int] = []
        for each, by_code in zip(self.sums, self._rows, strict=True):
            domains = each.moved(MOST_ROWS)
            mine = domains if by_code is None or not domains else rows_in(by_code, domains, MOST_ROWS)
            if mine is None:
                return None
            rows += mine
        return rows

    # --- asked ------------------------------------------------------------------------------------------------------

    def replace(self, found: Scores) -> None:
        is_asked, size = not (self.is_pending or self.is_declared), self.table.size
        self.sums, self.by_code, self.is_pending = (), None, False
        if is_asked and found is self.answer and size == self.size and not found.flags.writeable:
            # The very same scores, which cannot have changed: but a reduce step may look at the counts behind them.
            self.trail.touch(())
            self.shared = True
            return
        # No early cutoff otherwise: equal scores do not mean equal counts.
        self.trail.reset()
        self.constant, self.shared = constant_of(found), True
        if self.constant is not None:
            # One array for all such answers: most pods that come are strangers to most rules.
            self.answer = everywhere(self.constant, size)
            return
        # A view may be of one of the table's own arrays, which change.
        is_view = found.base is not None
        self.answer, self.shared = found.copy() if is_view else found, not is_view

    def put(self, rows: Rows, found: Scores) -> None:
        if self.shared:
            self.answer, self.shared = self.answer.copy(), False
        self.trail.touch(rows.tolist())
        self.answer[rows] = found
        if self.constant is not None and (found != self.constant).any():
            self.constant = None


@lru_cache(1 << 4)
def everywhere(score: int, size: int) -> Scores:
    """The same *score* for each of *size* rows: int64[size], read only."""
    found = np.full(size, score)
    found.setflags(write=False)
    return found


def constant_of(scores: Scores) -> int | None:
    """The score that all rows have, or None."""
    if not len(scores) or scores[0] != scores[-1]:
        return None
    return int(scores[0]) if (scores == scores[0]).all() else None
