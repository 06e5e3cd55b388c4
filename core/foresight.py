"""Equal pods decided in one go: what the best rows would be worth with one more pod of the template, asked for many rows at once.

While pods of one template follow each other, each decision changes one row, and the next needs that row alone judged again. Judging a
hundred rows costs little more than judging one, so the next states of the rows that come next are worked out together. What was
foreseen counts only if exactly that happened to the row; every decision is the one that the pods would get one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from .batch import Ints, Mask, Rows
from .cycle import Cycle
from .overlay import Overlay
from .rule import Reduction
from .template import Entry

if TYPE_CHECKING:
    from .standing import Standing

REACH = 64
"""Rows looked at together."""
DEPTH = 4
"""Pods that each row is looked at with: the best row often stays the best for a while."""
PATIENCE = 2
"""Decisions in a row that must have been unforeseen before it pays to look."""


@attrs.define(eq=False)
class Foresight:
    """For one standing: row -> (how often its pods had changed, the totals with one, two, ... more pods of the template)."""

    totals: dict[int, tuple[int, list[int]]] = attrs.field(factory=dict)
    cursor: int = -1
    """How far the log of changes was followed; the standing itself may lag behind."""
    unforeseen: int = 0

    def take(self, standing: Standing, cycle: Cycle, order: Rows) -> bool:
        """Follow the log by what was foreseen; False where something else happened."""
        log = standing.memory.table.changed
        if not self.totals or standing.order is not order or standing.node_epoch != log.node_epoch or log.cursor != self.cursor + 1:
            return False
        row = log.last_row
        before, totals = self.totals.get(row, (0, []))
        if not totals or standing.memory.table.arrivals[row] != (before + 1, cycle.template) or self._moved(standing, cycle):
            self.totals.clear()
            return False
        standing.ranked[row] = totals.pop(0)
        self.totals[row] = before + 1, totals
        self.cursor = log.cursor
        return True

    @staticmethod
    def _moved(standing: Standing, cycle: Cycle) -> bool:
        """Whether an answer that no row tells of may have become another."""
        return any(standing.memory.is_outdated(item.kept, cycle) for item in (*standing.questions, *standing.preferences) if item.kept.stamped)

    def look(self, standing: Standing, cycle: Cycle) -> None:
        """After a decision that was not foreseen: look ahead, where the pods of the template seem to follow each other."""
        table = standing.memory.table
        own = table.changed.cursor > 0 and table.arrivals[table.changed.last_row][1] is cycle.template
        self.unforeseen = self.unforeseen + 1 if own else 0
        self.totals.clear()
        if self.unforeseen >= PATIENCE and not cycle.template.spec.node_name:
            self.unforeseen = 0
            self.cursor = table.changed.cursor
            self._foresee(standing, cycle, self._next_rows(standing))

    @staticmethod
    def _next_rows(standing: Standing) -> Rows:
        """The rows with the highest totals, those to be taken first among equals."""
        best = standing.best()
        if len(best) < REACH:
            reach = min(REACH, standing.count)
            return np.argpartition(standing.ranked, -reach)[-reach:]
        places = np.empty(len(standing.visited), np.intp)
        places[standing.order] = np.arange(len(standing.order))
        return best[np.argpartition(places[best], REACH - 1)[:REACH]]

    def _foresee(self, standing: Standing, cycle: Cycle, rows: Rows) -> None:
        """Judge *rows* with one to DEPTH more pods, all in one batch; what follows a state that does not fit is not foreseen."""
        trial = Overlay.of(standing.memory.table, np.tile(rows, DEPTH), cycle.pod)
        entry = Entry(cycle.pod, cycle.template)
        for depth in range(DEPTH):
            trial.add_from(depth * len(rows), entry)
        totals = self._totals(standing, cycle, trial)
        if totals is None:
            return
        by_row = totals.reshape(DEPTH, -1).T.tolist()
        depths = np.logical_and.accumulate(self._fits(standing, cycle, trial).reshape(DEPTH, -1)).sum(axis=0).tolist()
        arrivals = standing.memory.table.arrivals
        self.totals = {row: (arrivals[row][0], by_row[i][: depths[i]]) for i, row in enumerate(rows.tolist())}

    @staticmethod
    def _fits(standing: Standing, cycle: Cycle, trial: Overlay) -> Mask:
        fits = np.ones(trial.n, np.bool_)
        for question in standing.questions:
            if question.kept.rowwise:
                found = question.predicate.check(cycle.template, trial, cycle)
                if found is not None:
                    fits &= found.passed
        return fits

    @staticmethod
    def _totals(standing: Standing, cycle: Cycle, trial: Overlay) -> Ints | None:
        """The totals on *trial*; None where a score would change what all rows have to know together."""
        totals = np.zeros(trial.n, np.int64)
        for preference in standing.preferences:
            scores = preference.reduced[trial.indexes]
            if preference.kept.rowwise:
                raw = preference.priority.score(cycle.template, trial, cycle)
                reduce = preference.priority.reduce
                if reduce is None:
                    scores = raw
                elif not isinstance(reduce, Reduction) or not reduce.zeros_alike or not preference.kept.zero or raw.any():
                    return None
            totals += scores * preference.weight
        return totals
