"""Which row of one scheduler's table is which row of another's, and the nodes that fit for both in one cycle."""

from __future__ import annotations

from functools import cached_property

import attrs
import numpy as np

from ...core.arrays.types import Mask, Rows
from ...core.decision.decision import Decision
from .contestants import Contestant


@attrs.define(eq=False, repr=False)
class RowMap:
    """From the rows of *second* to those of *first*, computed again after nodes came or went."""

    first: Contestant
    second: Contestant
    _version: tuple[int, int] | None = None
    _rows: Rows | None = None
    """intp[rows of the second one]; None: both have the same rows."""

    def of_first(self, rows: Rows) -> Rows:
        """intp[k]: the first one's rows for the second one's *rows*, -1 for nodes that the first one does not have."""
        ours, theirs = self.first.engine.table, self.second.engine.table
        version = ours.rows_version, theirs.rows_version
        if self._version != version:
            found = np.array([ours.row_of.get(name, -1) for name in theirs.names], np.intp)
            self._version, self._rows = version, None if np.array_equal(found, np.arange(len(found))) else found
        return rows if self._rows is None else self._rows.take(rows)

    def marked(self, rows: Rows) -> Mask:
        """bool[size + 1]: which rows of the first one are among *rows*; the last place is for nodes that it does not have."""
        found = np.zeros(self.first.engine.table.size + 1, np.bool_)
        found[rows] = True
        return found

    def feasible(self, one: Decision, other: Decision) -> Feasible:
        """The nodes that fit in one cycle, while the details of both decisions still exist."""
        are_regular = self.first.engine.visits_each_once and self.second.engine.visits_each_once
        return Feasible(self, one.details.feasible_rows, self.of_first(other.details.feasible_rows), are_regular)


@attrs.define(eq=False, slots=False, repr=False)
class Feasible:
    """The nodes that fit for both contestants, each in its visiting order, as rows of the first one."""

    rows: RowMap
    ours: Rows
    theirs: Rows
    are_regular: bool
    """No row is there twice."""

    @cached_property
    def is_equal(self) -> bool:
        """The same nodes fit for both, in the same order."""
        return np.array_equal(self.ours, self.theirs)

    @property
    def is_same(self) -> bool:
        """The same nodes fit for both."""
        return self.is_equal or np.array_equal(self.rows.marked(self.ours), self.rows.marked(self.theirs))

    @property
    def common(self) -> tuple[Rows | slice, Rows | slice, int]:
        """Where the nodes that fit for both are in ``ours`` and in ``theirs``, in the same order and each once; and how many they are."""
        if self.is_equal and self.are_regular:
            return slice(None), slice(None), len(self.ours)
        both, at, there = np.intersect1d(self.ours, self.theirs, return_indices=True)
        return at, there, len(both)
