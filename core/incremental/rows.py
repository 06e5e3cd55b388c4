"""Layer 2: what all rows are worth by the rules that look at nothing but the row: one for all templates that these cannot tell apart."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_

import attrs
import numpy as np

from ..arrays.batch import Batch
from ..arrays.rowchanges import Event
from ..arrays.table import NodeTable
from ..arrays.trail import NEVER, Trail, distinct
from ..arrays.types import NO_INTS, NOWHERE, Ints, Mask
from ..cycle import Cycle
from ..rule import Predicate, Priority, Reads
from .answers import LARGE_SHARE
from .cachedanswer import Unanswerable
from .lookahead import Lookahead

NO_LINES: Ints = np.zeros((0, 0), np.int64)


def reads_of(predicates: Sequence[Predicate], priorities: Sequence[tuple[Priority, int]]) -> Reads:
    """What all these rules read together."""
    return reduce(or_, [*[rule.reads for rule in predicates], *[rule.reads for rule, _ in priorities]], Reads.NOTHING)


@attrs.define(eq=False, repr=False)
class RowScores:
    """``fits``: bool[size], whether no predicate objects; ``totals``: int64[size], the sum of weighted scores."""

    table: NodeTable
    predicates: Sequence[Predicate]
    priorities: Sequence[tuple[Priority, int]]
    """Priorities without a reduce step, each with its weight."""
    fits: Mask = NOWHERE
    totals: Ints = NO_INTS
    keeps_lines: bool = False
    """Besides the sum the scores of each priority are kept, for details; then nothing is looked up ahead."""
    lines: Ints = NO_LINES
    """int64[priorities, size] where they are kept: the scores of each."""
    trail: Trail = attrs.field(factory=Trail)
    """The rows whose fits or totals changed; it starts over when a node object changes."""
    flips: Trail = attrs.field(factory=Trail)
    """Those of them whose fits changed: few, and each template has to look at them."""
    ahead: Lookahead = attrs.field(factory=Lookahead)
    verified_at: int = NEVER
    """The revision of the table that fits and totals are right for."""
    node_revision: int = NEVER
    reads: Reads = attrs.field(default=attrs.Factory(lambda self: reads_of(self.predicates, self.priorities), takes_self=True))

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays, and of what its look-ahead and its trails keep."""
        ahead, arrays = self.ahead, (self.fits, self.totals, self.lines, self.ahead.fits, self.ahead.totals)
        return sum(array.nbytes for array in arrays) + 8 * len(ahead.depths) + 40 * (self.trail.held + self.flips.held)

    def refresh(self, cycle: Cycle) -> None:
        """Bring fits and totals up to date. Raises Unanswerable, and the PriorityError of a priority."""
        log, seen = self.table.changed, self.verified_at
        if seen == log.revision and self.node_revision == log.node_revision:
            return
        self.verified_at = NEVER
        if self.node_revision != log.node_revision or len(self.fits) != self.table.size:
            self._judge_all(cycle)
        elif self.keeps_lines:
            # Judge *rows* again; None: all.
            rows = log.since(seen)
            if rows is None or len(rows) * LARGE_SHARE > self.table.size:
                self._judge_all(cycle)
            elif len(rows):
                before = self.fits[rows]
                self.trail.touch(rows.tolist())
                self.fits[rows], self.totals[rows], self.lines[:, rows] = self._judge(cycle, Batch(self.table, rows))
                self.flips.touch(rows[before != self.fits[rows]].tolist())
        else:
            self._follow(cycle, log.steps_since(seen))
        self.verified_at, self.node_revision = log.revision, log.node_revision

    def _judge_all(self, cycle: Cycle) -> None:
        self.ahead.forget()
        self.trail.reset()
        self.flips.reset()
        self.fits, self.totals, self.lines = self._judge(cycle, Batch.everywhere(self.table))

    def _follow(self, cycle: Cycle, events: Sequence[Event] | None) -> None:
        """Put the rows of *events* (None: all) right: as foreseen, or else by judging them."""
        if events is None:
            self._judge_all(cycle)
            return
        ahead, fits, moved = self.ahead, self.fits, [row for row, _ in events]
        flips: list[int] = []
        missed = ahead.follow(events, cycle.template.size, fits, self.totals, flips)
        self.trail.touch(moved)
        if missed is None or missed:
            rows = distinct(moved if missed is None else missed)
            before = fits[rows]
            fits[rows], self.totals[rows], _ = self._judge(cycle, Batch(self.table, rows))
            flips += rows[before != fits[rows]].tolist()
            if ahead.is_due:
                ahead.look(cycle.template, self.reads, self.table, fits, lambda nodes: self._judge(cycle, nodes)[:2])
        if flips:
            self.flips.touch(flips)

    def _judge(self, cycle: Cycle, nodes: Batch) -> tuple[Mask, Ints, Ints]:
        """Fits, totals and lines of a batch: bool[n], int64[n], int64[priorities, n]. Nothing is scored where no row fits."""
        fits: Mask | None = None
        for predicate in self.predicates:
            failures = predicate.check(cycle.template, nodes, cycle)
            if failures is not None:
                if failures.errors is not None:
                    raise Unanswerable
                fits = failures.passed if fits is None else fits & failures.passed
        totals = np.zeros(nodes.n, np.int64)
        lines = np.zeros((len(self.priorities), nodes.n), np.int64) if self.keeps_lines else NO_LINES
        for place, (priority, weight) in enumerate(self.priorities if fits is None or np.count_nonzero(fits) else ()):
            scores = priority.score(cycle.template, nodes, cycle)
            if self.keeps_lines:
                lines[place] = scores
            totals += scores if weight == 1 else scores * weight
        return np.ones(nodes.n, np.bool_) if fits is None else fits, totals, lines
