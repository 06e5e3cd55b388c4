"""What each row is worth by the rules that look at nothing but the row, rule by rule."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np

from ..arrays.batch import Batch
from ..arrays.table import NodeTable
from ..arrays.trail import NEVER
from ..arrays.types import Ints, Mask
from ..cycle import Cycle
from ..incremental.byvalue import LARGE_SHARE
from ..incremental.cachedanswer import Unanswerable
from ..rule import Predicate, Priority


@attrs.define(eq=False, repr=False)
class RowSheet:
    """One for all templates that these rules cannot tell apart. It differs from ``RowScores`` in that it keeps the scores of each rule.

    ``fits``: bool[size], whether no predicate objects; ``scores``: int64[priorities, size].
    """

    table: NodeTable
    predicates: Sequence[Predicate]
    priorities: Sequence[Priority]
    """Those without a reduce step."""
    fits: Mask = attrs.field(factory=lambda: np.zeros(0, np.bool_))
    scores: Ints = attrs.field(factory=lambda: np.zeros((0, 0), np.int64))
    verified_at: int = NEVER
    """The revision of the table that they are right for."""
    node_revision: int = NEVER

    def refresh(self, cycle: Cycle) -> None:
        """Bring all up to date. Raises Unanswerable where a predicate has an error, and the PriorityError of a priority."""
        log, seen, size = self.table.changed, self.verified_at, self.table.size
        if seen == log.revision and self.node_revision == log.node_revision:
            return
        self.verified_at = NEVER
        is_followed = seen != NEVER and self.node_revision == log.node_revision and len(self.fits) == size
        rows = log.since(seen) if is_followed else None
        if rows is None or len(rows) * LARGE_SHARE > size:
            self.fits, self.scores = self._judge(cycle, Batch.everywhere(self.table))
        elif len(rows):
            self.fits[rows], self.scores[:, rows] = self._judge(cycle, Batch(self.table, rows))
        self.verified_at, self.node_revision = log.revision, log.node_revision

    def _judge(self, cycle: Cycle, nodes: Batch) -> tuple[Mask, Ints]:
        """Fits and scores of a batch: bool[n] and int64[priorities, n]."""
        fits = np.ones(nodes.n, np.bool_)
        for predicate in self.predicates:
            failures = predicate.check(cycle.template, nodes, cycle)
            if failures is not None:
                if failures.errors is not None:
                    raise Unanswerable
                fits &= failures.passed
        scores = np.empty((len(self.priorities), nodes.n), np.int64)
        for line, priority in zip(scores, self.priorities, strict=True):
            line[:] = priority.score(cycle.template, nodes, cycle)
        return fits, scores
