"""The rows with the highest total, kept from decision to decision while few totals change."""

from __future__ import annotations

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
            self._find(order)

    def _find(self, order: Rows) -> None:
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
