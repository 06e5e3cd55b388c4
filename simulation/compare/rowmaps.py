"""Which row of one scheduler's table is which row of another's."""

from __future__ import annotations

import attrs
import numpy as np

from ...core.arrays.types import Rows
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
        return self._rows[1][rows]
