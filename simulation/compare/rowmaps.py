"""Which row of one scheduler's table is which row of another's."""

from __future__ import annotations

import attrs
import numpy as np

from ...core.arrays.types import Mask, Rows
from .contestants import Contestant


@attrs.define(eq=False)
class RowMap:
    """From the rows of *second* to those of *first*, computed again after nodes came or went."""

    first: Contestant
    second: Contestant
    _rows: tuple[tuple[int, int], Rows] | None = None

    def of_first(self, rows: Rows) -> Rows:
        """intp[k]: the first one's rows for the second one's *rows*, -1 for nodes that the first one does not have."""
        ours, theirs = self.first.engine.table, self.second.engine.table
        version = ours.rows_version, theirs.rows_version
        if self._rows is None or self._rows[0] != version:
            self._rows = version, np.array([ours.row_of.get(name, -1) for name in theirs.names], np.intp)
        return self._rows[1].take(rows)

    def marked(self, rows: Rows) -> Mask:
        """bool[size + 1]: which rows of the first one are among *rows*; the last place is for nodes that it does not have."""
        found = np.zeros(self.first.engine.table.size + 1, np.bool_)
        found[rows] = True
        return found

    def common(self, ours: Rows, theirs: Rows) -> tuple[Rows, Rows]:
        """Where the nodes of both are in *ours*, rows of the first one, and in *theirs*, rows of the second one: intp[k] each.

        They are in ascending order of the first one's rows, each once.
        """
        theirs = self.of_first(theirs)
        both = (self.marked(ours) & self.marked(theirs))[:-1].nonzero()[0]
        return self._places(ours).take(both), self._places(theirs).take(both)

    def _places(self, rows: Rows) -> Rows:
        """intp[size + 1]: where each of *rows* stands in it, of no meaning for others."""
        found = np.empty(self.first.engine.table.size + 1, np.intp)
        found[rows] = np.arange(len(rows))
        return found
