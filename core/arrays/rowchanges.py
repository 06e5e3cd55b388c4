"""The log of what happened to the rows of a table: the input from which all that is kept between cycles is brought up to date."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import attrs
import numpy as np

from ..rebuilt import rebuilt_from
from .columns import grown
from .trail import NEVER, Revisions, distinct
from .types import Ints, Rows

Event = tuple[int, Hashable]
"""A row that changed, and the size of the pod that came, where that is all; else None."""

STEP_COST = 1 << 7
"""To look at one step takes as long as to look at that many rows."""


@rebuilt_from()
@attrs.define(eq=False, repr=False)
class Derived:
    """What was worked out of a table and can be worked out again: a copy begins empty."""

    kept: dict[Hashable, Any] = attrs.field(factory=dict)


@attrs.define(eq=False, repr=False)
class ChangeLog(Revisions[Event]):
    """The steps of the table: rows that changed, with the pods that came."""

    node_revision: int = 0
    """Moves when a node object changes, or something that only rules see which look behind the table."""
    _changed_at: Ints = attrs.field(factory=lambda: np.zeros(8, np.int64))
    """Row -> the revision that its latest change made."""
    _latest: tuple[tuple[int, int], Rows] | None = None
    """The answer to the latest question, as many readers ask the same one."""

    def node_changed(self, row: int) -> None:
        """The node object of *row* changed, or its whole content."""
        self.node_revision += 1
        self.note(row, None)

    def nodes_changed(self, rows: Rows) -> None:
        """As :meth:`node_changed`, for many rows at once."""
        self.node_revision += 1
        self.revision += len(rows)
        self._steps.extend((row, None) for row in rows.tolist())
        self._changed_at = grown(self._changed_at, int(rows.max(initial=-1)) + 1)
        self._changed_at[rows] = self.revision
        if len(self._steps) > self.limit:
            self._drop(len(self._steps) // 2)

    def note(self, row: int, arrival: Hashable) -> None:
        """A pod of the size *arrival* was put on *row*; None: one was taken off."""
        self._steps.append((row, arrival))
        self.revision: int = self.revision + 1
        if row >= len(self._changed_at):
            self._changed_at = grown(self._changed_at, row + 1)
        self._changed_at[row] = self.revision
        if len(self._steps) > self.limit:
            self._drop(len(self._steps) // 2)

    def unseen_changed(self) -> None:
        """Something changed that no row shows, for rules that look behind the table."""
        self.node_revision += 1

    def since(self, revision: int) -> Rows | None:
        """The rows that changed after *revision*, each once, ascending: intp[k]; None: look at all."""
        if self._latest is None or self._latest[0] != (revision, self.revision):
            if revision == NEVER:
                return None
            if revision >= self._start and (self.revision - revision) * STEP_COST < STEP_COST + len(self._changed_at):
                rows = distinct([row for row, _ in self._steps[revision - self._start :]])
            else:
                rows = (self._changed_at > revision).nonzero()[0]
            self._latest = (revision, self.revision), rows
        return self._latest[1]
