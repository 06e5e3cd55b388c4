"""The rows with the highest total, kept from decision to decision while few totals change."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

import attrs
import numpy as np

from ..arrays.types import Ints, Rows
from . import verify

MOST_MOVED = 16
"""With more changed totals, and one more for each ROWS_A_MOVE rows, the highest total is looked for among all rows."""
ROWS_A_MOVE = 1 << 9


@attrs.define(eq=False, repr=False)
class Leaders:
    """The rows that share the highest of ``ranked``, the totals of a scoreboard, in visiting order.

    All of them are found in one pass over the rows. After that, a row whose total changed is put in or taken out by itself, until
    none is left.
    """

    ranked: Ints
    """int64[rows]; its owner says when it changes."""
    total: int = 0
    """The highest total."""
    _rows: Rows | None = None
    """The leaders as they were found, ascending; None: look for them."""
    _queue: list[int] | None = None
    """The leaders as they are now, as their places in ``_order``, ascending; None: they are still as they were found."""
    _order: Rows | None = None
    """The pass that the places are of."""
    moved: list[int] = attrs.field(factory=list)
    """Rows whose totals may have changed since the leaders were right. The owner of the totals adds them."""

    def replaced(self, ranked: Ints) -> None:
        """All totals may have changed; they are in *ranked* now."""
        self.ranked, self._rows = ranked, None
        self.moved.clear()

    def note(self, rows: Rows, before: Ints, now: Ints) -> None:
        """The totals of *rows* were *before* and are *now*: of these rows, those matter that were or are among the best."""
        total = self.total
        if len(rows) > MOST_MOVED:
            self.moved += rows[np.maximum(before, now) >= total].tolist()
            return
        totals = zip(rows.tolist(), before.tolist(), now.tolist(), strict=True)
        self.moved += [row for row, old, new in totals if old >= total or new >= total]

    def trim(self) -> None:
        """Forget the leaders where too much moved."""
        if len(self.moved) > MOST_MOVED + len(self.ranked) // ROWS_A_MOVE:
            self.replaced(self.ranked)

    def host(self, order: Rows, places: Rows, which: Callable[[int], int]) -> int:
        """The row of the leader that *which* chooses of so many. *order*: the rows in visiting order; *places*: row -> its place there."""
        self._refresh(order, places)
        if verify.SWITCH.is_on:
            verify.check_leaders(self.ranked, self.all(order, places))
        if self._queue is None:
            return self._pick(places, which)
        queue = self._laid_out(order, places)
        return int(order[queue[which(len(queue))]])

    def all(self, order: Rows, places: Rows) -> list[int]:
        """All leaders, in visiting order."""
        self._refresh(order, places)
        found: list[int] = order[self._laid_out(order, places)].tolist()
        return found

    def _refresh(self, order: Rows, places: Rows) -> None:
        self.trim()
        if self.moved and self._rows is not None:
            self._follow(self._laid_out(order, places), places)
        if self._rows is None:
            self._find()

    def _find(self) -> None:
        ranked = self.ranked
        best = ranked[ranked.argmax()]
        self.total, self._rows, self._queue = int(best), (ranked == best).nonzero()[0], None
        self.moved.clear()

    def _pick(self, places: Rows, which: Callable[[int], int]) -> int:
        """As :meth:`host`, where the leaders are not laid out: mostly they are others the next time."""
        rows = self._rows
        assert rows is not None
        chosen = which(len(rows))
        if len(rows) == 1:
            return int(rows[0])
        at = places[rows]
        return int(rows[at.argmin() if chosen == 0 else at.argpartition(chosen)[chosen]])

    def _follow(self, queue: list[int], places: Rows) -> None:
        """Put the rows that moved in or out; no leader is known if none is left."""
        ranked = self.ranked
        for row in self.moved:
            total, place = ranked.item(row), places.item(row)
            at = bisect_left(queue, place)
            is_there = at < len(queue) and queue[at] == place
            if total > self.total:
                self.total, queue[:] = total, [place]
            elif total == self.total and not is_there:
                queue.insert(at, place)
            elif total < self.total and is_there:
                del queue[at]
        self.moved.clear()
        if not queue:
            self._rows = self._queue = None

    def _laid_out(self, order: Rows, places: Rows) -> list[int]:
        assert self._rows is not None
        if self._queue is None:
            at = places[self._rows]
            at.sort()
            self._queue, self._order = at.tolist(), order
        elif self._order is not order:
            assert self._order is not None
            self._queue, self._order = sorted(places[self._order[self._queue]].tolist()), order
        return self._queue
