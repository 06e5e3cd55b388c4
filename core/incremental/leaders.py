"""The rows with the highest total, kept from decision to decision while few totals change."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

import attrs
import numpy as np

from ..arrays.trail import MOST_ROWS
from ..arrays.types import Ints, Mask, Rows
from . import verify


@attrs.define(eq=False, repr=False)
class Leaders:
    """The rows that share the highest of ``ranked``, the totals of a board, in visiting order.

    All of them are found in one pass over the rows. After that, a row whose total changed is put in or taken out by itself, until
    none is left.
    """

    ranked: Ints
    """int64[rows]; its owner says when it changes."""
    total: int = 0
    """The highest total."""
    _count: int = 0
    """How many leaders there are; 0: look for them."""
    _leads: Mask = attrs.field(factory=lambda: np.zeros(0, np.bool_))
    """bool[rows of the order]: whether the row at a place of ``_order`` is a leader. It holds where ``_queue`` does not."""
    _queue: list[int] | None = None
    """The places of the leaders, ascending; None: not laid out."""
    _takes_turns: bool = False
    """Another than the first was chosen, so that the places are worth to be laid out."""
    _order: Rows = attrs.field(factory=lambda: np.zeros(0, np.intp))
    """The pass that the places are of."""
    moved: list[int] = attrs.field(factory=list)
    """Rows whose totals may have changed since the leaders were right. The owner of the totals adds them."""

    def replaced(self, ranked: Ints) -> None:
        """All totals may have changed; they are in *ranked* now."""
        self.ranked, self._count = ranked, 0
        self.moved.clear()

    def trim(self) -> None:
        """Forget the leaders where too much moved."""
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
        if chosen == 0 and self._queue is None:
            return order.item(self._leads.argmax())
        self._takes_turns = True
        return order.item(self._laid_out()[chosen])

    def all(self, order: Rows, places: Rows) -> list[int]:
        """All leaders, in visiting order."""
        self._refresh(order, places)
        found: list[int] = order[self._leads if self._queue is None else self._queue].tolist()
        return found

    def _refresh(self, order: Rows, places: Rows) -> None:
        if len(self.moved) > MOST_ROWS:
            self.trim()
        if self._order is not order:
            self._turn(order, places)
        if self.moved and self._count:
            if self._takes_turns:
                self._follow_queue(self._laid_out(), places)
            else:
                self._follow_mask(self._leads, places)
            self.moved.clear()
        if not self._count:
            self._find(order)

    def _turn(self, order: Rows, places: Rows) -> None:
        """Rows are visited in another order."""
        if self._count:
            leads = np.zeros(len(order), np.bool_)
            leads[places[self._order[self._leads if self._queue is None else self._queue]]] = True
            self._leads, self._queue = leads, None
        self._order = order

    def _find(self, order: Rows) -> None:
        ranked = self.ranked
        best = ranked[ranked.argmax()]
        self._leads, self._queue = (ranked == best).take(order), None
        self.total, self._count = int(best), int(np.count_nonzero(self._leads))
        self.moved.clear()

    def _laid_out(self) -> list[int]:
        if self._queue is None:
            self._queue = self._leads.nonzero()[0].tolist()
        return self._queue

    def _follow_mask(self, leads: Mask, places: Rows) -> None:
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

    def _follow_queue(self, queue: list[int], places: Rows) -> None:
        ranked = self.ranked
        for row in set(self.moved):
            total, place = ranked.item(row), places.item(row)
            if total > self.total:
                queue[:] = [place]
                self.total = total
                continue
            at = bisect_left(queue, place)
            was_leading, leading = at < len(queue) and queue[at] == place, total == self.total
            if was_leading and not leading:
                del queue[at]
            elif leading and not was_leading:
                queue.insert(at, place)
        self._count = len(queue)
