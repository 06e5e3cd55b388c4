"""The raw scores that a priority gave to the whole table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import attrs
import numpy as np

from ..arrays.batch import Batch
from ..arrays.table import NodeTable
from ..arrays.trail import NO_ROWS
from ..arrays.types import NO_INTS, Rows, Scores
from ..cycle import Cycle
from .byvalue import Told, one_score, scored
from .cachedanswer import Answer


@attrs.define(eq=False, repr=False)
class ScoresAnswer(Answer[Scores]):
    """The raw scores of a priority. They are laid out over the rows when somebody asks for them: by value they may say enough."""

    constant: int | None = None
    """The score of all rows, where it is known to be the same for all."""
    _scores: Scores = NO_INTS
    _nodes: Batch | None = None
    """All rows, where the scores of ``values`` are still to be laid out."""

    @property
    def answer(self) -> Scores:
        """int64[size]"""
        if self._nodes is not None:
            self._scores, self.shared, self._nodes = self.told(self._nodes), False, None
        return self._scores

    def ask(self, rule: Any, cycle: Cycle, nodes: Batch) -> Scores:
        if self.tells is not None and nodes.rows is not None:
            return scored(self.tells(), nodes)
        found: Scores = rule.score(cycle.template, nodes, cycle)
        return found

    def told(self, nodes: Batch) -> Scores:
        return scored(self.values or (), nodes)

    def tell(self, values: Told, table: NodeTable) -> None:
        if len(values) != 1 or values[0][1].__class__ is not tuple:
            super().tell(values, table)
        elif values != self.values:
            self.values = values
            self.tell_all(Batch.everywhere(table))

    def tell_all(self, nodes: Batch) -> None:
        if self.values is None or len(self.values) != 1:
            super().tell_all(nodes)
            return
        self.trail.reset()
        key, values = self.values[0]
        # Few values that differ may stand for rows that do not: then some value is of no row.
        differ = values.__class__ is tuple and len(set(values[1:])) > 1
        self.size, self.constant, self._nodes = nodes.n, None if differ else one_score(nodes, key, values), nodes

    def untell(self) -> None:
        super().untell()
        self._nodes = None

    @property
    def nbytes(self) -> int:
        return self._scores.nbytes

    def replace(self, found: Scores, size: int) -> None:
        if found is self.answer and size == self.size and not found.flags.writeable:
            # The very same scores, which cannot have changed: but a reduce step may look at the counts behind them.
            self.trail.touch(NO_ROWS)
            self.shared = True
            return
        # No early cutoff otherwise: equal scores do not mean equal counts.
        self.trail.reset()
        self.constant, self.size, self.shared, self._nodes = _constant(found), size, True, None
        if self.constant is not None:
            # One array for all such answers: most pods that come are strangers to most rules.
            self._scores = _everywhere(self.constant, size)
            return
        # A view may be of one of the table's own arrays, which change.
        is_view = found.base is not None
        self._scores, self.shared = found.copy() if is_view else found, not is_view

    def put(self, rows: Rows, found: Scores) -> None:
        scores = self._writable()
        self.trail.touch(rows)
        scores[rows] = found
        if self.constant is not None and (found != self.constant).any():
            self.constant = None

    def put_each(self, rows: Sequence[int], tell: Callable[[int], int]) -> None:
        self.trail.touch(np.array(rows, np.intp))
        scores = self._writable() if self.shared or self._nodes is not None else self._scores
        for row in rows:
            scores[row] = score = tell(row)
            if score != self.constant:
                self.constant = None

    def _writable(self) -> Scores:
        """The scores, or from now on a copy of them where others may have them too."""
        if self.shared or self._nodes is not None:
            scores = self.answer
            if self.shared:
                self._scores, self.shared = scores.copy(), False
        return self._scores


@lru_cache(1 << 4)
def _everywhere(score: int, size: int) -> Scores:
    """The same *score* for each of *size* rows: int64[size], read only."""
    found = np.full(size, score)
    found.setflags(write=False)
    return found


def _constant(scores: Scores) -> int | None:
    """The score that all rows have, or None."""
    if not len(scores) or scores[0] != scores[-1]:
        return None
    return int(scores[0]) if (scores == scores[0]).all() else None
