"""Which rows of a table changed, oldest first; every reader keeps a cursor."""

from __future__ import annotations

import enum

import attrs
import numpy as np
from numpy.typing import NDArray

from ..pods.template import Template

Rows = NDArray[np.intp]


class What(enum.IntFlag):
    """What about a row changed."""

    NODE = 1
    """Its node object."""
    PODS = 2
    """Its pods, and with them the sums, ports and volumes."""
    ALL = 3


Event = tuple[int, What, Template | None]
"""A row, what about it changed, and the template of the pod that came, where that is all."""


@attrs.define(eq=False)
class ChangeLog:
    """An append-only list of events; entries that every possible reader would re-read as *everything* are dropped."""

    limit: int = 100_000
    start: int = 0
    cursor: int = 0
    """Where the log ends now."""
    node_epoch: int = 0
    """How often a node object changed, or what stands behind those that are gone."""
    _entries: list[Event] = attrs.field(factory=list)
    _latest: tuple[tuple[int, int], Rows] | None = None
    """The answer to the latest question, as many readers ask the same one."""

    def mark(self, row: int, what: What, arrival: Template | None = None) -> None:
        """Note that *row* changed; *arrival*: a pod of this template came to it."""
        self._entries.append((row, what, arrival))
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

    def since(self, cursor: int) -> list[Event] | None:
        """What happened since *cursor*, oldest first; None where the log no longer reaches back so far."""
        return None if cursor < self.start else self._entries[cursor - self.start :]

    def rows_since(self, cursor: int) -> Rows | None:
        """The rows changed since *cursor*, ascending; None where the log no longer reaches back so far."""
        if self._latest is None or self._latest[0] != (cursor, self.cursor):
            if cursor < self.start:
                return None
            rows = {row for row, _, _ in self._entries[cursor - self.start :]}
            self._latest = (cursor, self.cursor), np.array(sorted(rows), np.intp)
        return self._latest[1]
