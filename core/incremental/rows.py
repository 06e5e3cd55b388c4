"""What each row is worth by the rules that look at nothing but the row: one for all templates that these cannot tell apart."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_

import attrs
import numpy as np

from ..arrays.batch import Batch
from ..arrays.rowchanges import Event
from ..arrays.table import NodeTable
from ..arrays.trail import NEVER, Revisions, distinct
from ..arrays.types import NO_INTS, Ints, Mask
from ..cycle import Cycle
from ..rule import Predicate, Priority, Reads
from .cachedanswer import Unanswerable
from .lookahead import OUT, Lookahead


def reads_of(predicates: Sequence[Predicate], priorities: Sequence[tuple[Priority, int]]) -> Reads:
    """What all these rules read together."""
    return reduce(or_, [*[rule.reads for rule in predicates], *[rule.reads for rule, _ in priorities]], Reads.NOTHING)


@attrs.define(eq=False, repr=False)
class RowScores:
    """``worth``: int64[size], the sum of weighted scores; :data:`OUT` where a predicate objects."""

    table: NodeTable
    predicates: Sequence[Predicate]
    priorities: Sequence[tuple[Priority, int]]
    """Priorities without a reduce step, each with its weight."""
    worth: Ints = NO_INTS
    moved: Revisions[int] = attrs.field(factory=Revisions)
    """The rows whose worth became another, one a revision; it starts over when a node object changes."""
    ahead: Lookahead = attrs.field(factory=Lookahead)
    verified_at: int = NEVER
    """The revision of the table that ``worth`` is right for."""
    node_revision: int = NEVER
    reads: Reads = attrs.field(default=attrs.Factory(lambda self: reads_of(self.predicates, self.priorities), takes_self=True))

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays, of what its look-ahead keeps, and of the rows that moved."""
        return self.worth.nbytes + self.ahead.nbytes + 40 * self.moved.kept

    def refresh(self, cycle: Cycle) -> None:
        """Bring it up to date. Raises Unanswerable, and the PriorityError of a priority."""
        log, seen = self.table.changed, self.verified_at
        if seen == log.revision and self.node_revision == log.node_revision:
            return
        self.verified_at = NEVER
        events = log.steps_since(seen)
        if self.node_revision != log.node_revision or len(self.worth) != self.table.size or events is None:
            self.ahead.forget()
            self.moved.begin_anew()
            self.worth = self._judge(cycle, Batch.everywhere(self.table))
        else:
            self._follow(cycle, events)
        self.verified_at, self.node_revision = log.revision, log.node_revision

    def _follow(self, cycle: Cycle, events: Sequence[Event]) -> None:
        """Put the rows of *events* right: as foreseen, or else by judging them."""
        ahead, worth = self.ahead, self.worth
        missed, moved = ahead.follow(events, cycle.template.size, worth)
        if missed:
            rows = distinct(missed)
            before, now = worth[rows], self._judge(cycle, Batch(self.table, rows))
            worth[rows] = now
            moved += rows[before != now].tolist()
            if ahead.is_due:
                ahead.look(cycle.template, self.reads, self.table, worth, lambda nodes: self._judge(cycle, nodes))
        if moved:
            self.moved.extend(moved)

    def _judge(self, cycle: Cycle, nodes: Batch) -> Ints:
        """The worth of a batch: int64[n]. Nothing is scored where no row fits."""
        fits: Mask | None = None
        for predicate in self.predicates:
            failures = predicate.check(cycle.template, nodes, cycle)
            if failures is not None:
                if failures.errors is not None:
                    raise Unanswerable
                fits = failures.passed if fits is None else fits & failures.passed
        totals = np.zeros(nodes.n, np.int64)
        for priority, weight in self.priorities if fits is None or np.count_nonzero(fits) else ():
            scores = priority.score(cycle.template, nodes, cycle)
            totals += scores if weight == 1 else scores * weight
        if fits is not None:
            totals[~fits] = OUT
        return totals
