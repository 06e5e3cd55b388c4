"""Which rows of a table changed, oldest first; every reader keeps a cursor."""

from __future__ import annotations

import enum

import attrs
import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp]


class What(enum.IntFlag):
    """What about a row changed."""

    NODE = 1
    """Its node object."""
    PODS = 2
    """Its pods, and with them the sums, ports and volumes."""
    ALL = 3


@attrs.define(eq=False)
class ChangeLog:
    """An append-only list of (row, what); entries that every possible reader would re-read as *everything* are dropped."""

    limit: int = 100_000
    start: int = 0
    cursor: int = 0
    """Where the log ends now."""
    node_epoch: int = 0
    """How often a node object changed, or what stands behind those that are gone."""
    _entries: list[tuple[int, What]] = attrs.field(factory=list)
    _latest: tuple[tuple[int, int], Rows] | None = None
    """The answer to the latest question, as many readers ask the same one."""

    def mark(self, row: int, what: What) -> None:
        """Note that *row* changed."""
        self._entries.append((row, what))
        self.cursor += 1
        if what != What.PODS:
            self.node_epoch += 1
        if len(self._entries) > self.limit:
            keep = self.limit // 2
            self.start += len(self._entries) - keep
            del self._entries[:-keep]

    def mark_unseen(self) -> None:
        """Note a change that no row shows, for rules that look behind the table."""
        self.node_epoch += 1

    @property
    def last_row(self) -> int:
        """The row that changed last."""
        return self._entries[-1][0]

    def rows_since(self, cursor: int) -> Rows | None:
        """The rows changed since *cursor*, ascending; None where the log no longer reaches back so far."""
        if self._latest is None or self._latest[0] != (cursor, self.cursor):
            if cursor < self.start:
                return None
            rows = {row for row, _ in self._entries[cursor - self.start :]}
            self._latest = (cursor, self.cursor), np.array(sorted(rows), np.intp)
        return self._latest[1]
