"""Equal pods decided in one go: what every row would be worth with one, two, ... more pods of the template, asked for all at once.

While pods of one template follow each other, each decision changes one row, and the next needs that row alone judged again. Judging all
rows costs little more than judging one, so the next states of all rows are worked out together. What was foreseen counts only if
exactly that happened to the row; every decision is the one that the pods would get one by one.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import attrs
import numpy as np

from .batch import Ints, Mask
from .cycle import Cycle
from .rule import Reads, Reduction
from .sums import Sums

if TYPE_CHECKING:
    from .standing import Standing, _Preference

DEPTH = 4
"""Pods that each row is looked at with: the best row often stays the best for a while."""
MOST = 1 << 16
"""Row states looked at together, at most."""
PAYS = 16
"""Foreseen decisions that make up for looking."""


@attrs.define(eq=False)
class Foresight:
    """For one standing: totals and fits of each row with one more pod of the template, two more, and so on."""

    totals: Ints | None = None
    """int64[DEPTH, rows]"""
    fits: Mask = attrs.field(factory=lambda: np.zeros((DEPTH, 0), np.bool_))
    used: dict[int, int] = attrs.field(factory=dict)
    """Row -> pods of the template that it got since."""
    cursor: int = -1
    """How far the log of changes was followed; the standing itself may lag behind."""
    foreseen: int = 0
    unforeseen: int = 0
    patience: int = 2
    """Decisions of the template in a row that must have been unforeseen before it is looked again; grows while that does not pay."""

    def take(self, standing: Standing, cycle: Cycle, stamp: Hashable) -> bool:
        """Follow the log by what was foreseen; False where something else happened."""
        log = standing.memory.table.changed
        if self.totals is None:
            return False
        if standing.stamp == stamp and standing.node_epoch == log.node_epoch and log.cursor == self.cursor + 1:
            row = log.last_row
            depth = self.used.get(row, 0)
            if self._is_foreseen(standing, cycle, row, depth) and not self._moved(standing, cycle):
                standing.ranked[row] = self.totals[depth, row]
                self.used[row], self.cursor = depth + 1, log.cursor
                self.foreseen += 1
                return True
        self.totals = None
        return False

    def _is_foreseen(self, standing: Standing, cycle: Cycle, row: int, depth: int) -> bool:
        """Whether all that happened to *row* is one more pod of the template, and it still fits."""
        return depth < DEPTH and bool(self.fits[depth, row]) and standing.memory.table.arrivals[row][1] is cycle.template

    @staticmethod
    def _moved(standing: Standing, cycle: Cycle) -> bool:
        """Whether an answer that no row tells of may have become another."""
        asked = [question.kept for question in standing.questions] + [preference.kept for preference in standing.preferences]
        return any(kept.stamped and standing.memory.is_outdated(kept, cycle) for kept in asked)

    def look(self, standing: Standing, cycle: Cycle) -> None:
        """After a decision that was not foreseen: look ahead, where the pods of the template seem to follow each other."""
        table = standing.memory.table
        own = table.changed.cursor > 0 and table.arrivals[table.changed.last_row][1] is cycle.template
        self.unforeseen = self.unforeseen + 1 if own else 0
        if self.unforeseen >= self.patience and not cycle.template.spec.node_name and not cycle.template.ports:
            self.patience = 2 if self.foreseen >= PAYS or self.cursor < 0 else min(2 * self.patience, 1 << 12)
            self.foreseen = self.unforeseen = 0
            self._foresee(standing, cycle)

    def _foresee(self, standing: Standing, cycle: Cycle) -> None:
        rows = np.flatnonzero(standing.fits)[: MOST // DEPTH]
        trial = Sums.of(standing.memory.table, np.tile(rows, DEPTH))
        trial.add(cycle.template, np.repeat(np.arange(1, DEPTH + 1), len(rows)))
        self.cursor = standing.memory.table.changed.cursor
        found = self._totals(standing, cycle, trial)
        fits = self._fits(standing, cycle, trial)
        if found is None or fits is None:
            return
        self.totals = np.zeros((DEPTH, len(standing.fits)), np.int64)
        self.fits = np.zeros(self.totals.shape, np.bool_)
        self.totals[:, rows], self.fits[:, rows] = found.reshape(DEPTH, -1), fits.reshape(DEPTH, -1)
        self.used.clear()

    @staticmethod
    def _fits(standing: Standing, cycle: Cycle, trial: Sums) -> Mask | None:
        fits = np.ones(trial.n, np.bool_)
        for question in standing.questions:
            if question.kept.rowwise:
                if question.predicate.reads & (Reads.PODS | Reads.EFFECTS):
                    return None
                found = question.predicate.check(cycle.template, trial, cycle)
                if found is not None:
                    fits &= found.passed
        return fits

    def _totals(self, standing: Standing, cycle: Cycle, trial: Sums) -> Ints | None:
        """The totals on *trial*; None where a score would change what all rows have to know together."""
        totals = np.zeros(trial.n, np.int64)
        for preference in standing.preferences:
            if not preference.settled:
                continue
            if preference.kept.rowwise and not self._stays_zero(preference, cycle):
                if preference.priority.reduce is not None or preference.priority.reads & Reads.PODS:
                    return None
                totals += preference.priority.score(cycle.template, trial, cycle) * preference.weight
            else:
                totals += preference.reduced[trial.indexes] * preference.weight
        return totals

    @staticmethod
    def _stays_zero(preference: _Preference, cycle: Cycle) -> bool:
        """Whether the raw scores are 0 everywhere and pods of the template change none of the counts that they come from."""
        kept, reduce = preference.kept, preference.priority.reduce
        if not kept.zero or preference.priority.reads & (Reads.REQUESTS | Reads.PORTS):
            return False
        if not isinstance(reduce, Reduction) or not reduce.zeros_alike:
            return False
        return not any(counter.of(cycle.template) for counter in kept.watched)
