"""The worth of each row by the rules of the row alone, shared by templates alike for these rules."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Sequence
from functools import reduce
from operator import or_

import attrs
import numpy as np

from ..arrays import (
    NEVER,
    NO_INTS,
    Batch,
    Event,
    Ints,
    Mask,
    NodeTable,
    Revisions,
    Rows,
    SumsTrial,
    distinct,
    is_anywhere,
)
from ..cycle import Cycle, Predicate, Priority, Reads
from ..pods import Template
from .answers import Unanswerable

# --- look-ahead ---------------------------------------------------------------------------------------------

# The worth of each row with one or more additional pods of one size, computed ahead and right only if exactly
# that happens. A decision changes one row, and every template has to know that row's new worth. Judging all
# rows at once costs little more than judging one, so the next few states of each row are judged together.
# They are hits or misses; they never decide anything by themselves.

MAX_DEPTH = 8
"""The most pods that each row is judged with: the best row often stays the best for a while."""
MAX_STATES = 1 << 16
"""The most row states judged together."""
HITS_TO_DEEPEN = 24
"""The hits after which a look has paid, so that the next one goes deeper."""
MISSES_TO_LOOK = 3
"""The misses after which all rows are looked at."""
MAX_PATIENCE = 1 << 12
MAX_COMMON_PATIENCE = 1 << 8
MOST_EVENTS = 1 << 5
"""The most events at once for which a look pays: with more, other sizes come in between."""
UNPREDICTABLE = Reads.PODS | Reads.PORTS | Reads.COUNTS
"""State that another pod on a row changes besides sums."""

OUT = -(2**62)
"""The worth of a row that does not fit."""
NO_STATES: Ints = np.zeros((0, 0), np.int64)

Judge = Callable[[Batch], Ints]
"""A function for the worth of the nodes of a batch: int64[n]."""


@attrs.define
class LookaheadStats:
    """The success of late looks ahead, over all sizes."""

    patience: int = MISSES_TO_LOOK
    """The misses before any look; grows where looks do not pay."""


@attrs.define(eq=False, repr=False)
class Lookahead:
    """The worth of each row with one more pod of one size, two more, and so on."""

    states: Ints = NO_STATES
    """int64[depth, rows]"""
    depths: list[int] = attrs.Factory(list)
    """Row -> pods of the size that it got since the look; MAX_DEPTH where anything else happened to it.
    Empty: no look was taken."""
    depth: int = 4
    """The number of pods that each row is judged with; grows where that pays."""
    hits: int = 0
    """The times since the look that it foresaw all events."""
    misses: int = 0
    """The times that rows had to be judged, though a new look would have foreseen all events."""
    patience: int = MISSES_TO_LOOK
    """The misses before the next look; grows while looks do not pay."""
    luck: LookaheadStats = attrs.Factory(LookaheadStats)
    """Shared by all look-aheads of one scheduler."""

    def forget(self) -> None:
        """Drop the look, as rows changed in other ways."""
        self.depths = []

    @property
    def nbytes(self) -> int:
        """The size of what it keeps, in bytes."""
        return self.states.nbytes + 8 * len(self.depths)

    def follow(self, events: Sequence[Event], size: Hashable, worth: Ints) -> tuple[list[int], list[int]]:
        """Correct *worth* on the rows of *events*. Returns the rows to judge, which were not foreseen, and
        those whose worth changed.

        An event is foreseen if it is exactly one more pod of *size*, on a row to which nothing else happened
        since the look.
        """
        missed: list[int] = []
        moved: list[int] = []
        if self.depths and len(events) > MOST_EVENTS:
            self._learn()
            self.forget()
        if not self.depths:
            missed = [row for row, _ in events]
        depths = self.depths
        for row, arrival in events if depths else ():
            depth = depths[row]
            if arrival is not size or depth >= self.depth:
                depths[row] = MAX_DEPTH
                missed.append(row)
                continue
            depths[row] = depth + 1
            now = self.states.item(depth, row)
            if now != worth.item(row):
                worth[row] = now
                moved.append(row)
        if not missed:
            self.hits += 1
        elif all(arrival is size for _, arrival in events):
            self.misses += 1
        return missed, moved

    @property
    def is_due(self) -> bool:
        """Whether there were enough misses to look at all rows."""
        return self.misses >= self.patience and self.misses >= self.luck.patience

    def look(self, pod: Template, reads: Reads, table: NodeTable, worth: Ints, judge: Judge) -> None:
        """Judge rows with more pods of the size of *pod*, up to MAX_STATES states, rows that fit first.
        *reads*: the reads of the rules in *judge*."""
        self._learn()
        # Ports of other pods are nothing to a pod that asks for none.
        unpredictable = UNPREDICTABLE if pod.ports else UNPREDICTABLE & ~Reads.PORTS
        if pod.spec.node_name or reads & unpredictable:
            return
        rows = np.argsort(worth == OUT, kind="stable")[: MAX_STATES // self.depth]
        trial = SumsTrial.of(table, rows)
        states = np.zeros((self.depth, len(worth)), np.int64)
        with contextlib.suppress(Unanswerable):
            for depth in range(self.depth):
                trial.add(pod, np.ones(len(rows), np.int64))
                states[depth, rows] = judge(trial)
            depths = np.full(len(worth), MAX_DEPTH)
            depths[rows] = 0
            self.states, self.depths = states, depths.tolist()

    def _learn(self) -> None:
        """Look deeper where the last look paid, later where it did not."""
        if self.hits >= HITS_TO_DEEPEN:
            self.patience, self.depth = MISSES_TO_LOOK, min(2 * self.depth, MAX_DEPTH)
            self.luck.patience = MISSES_TO_LOOK
        elif self.depths:
            self.patience = min(2 * self.patience, MAX_PATIENCE)
            self.luck.patience = min(4 * self.luck.patience, MAX_COMMON_PATIENCE)
        self.hits = self.misses = 0


@attrs.define(eq=False, repr=False)
class RowScores:
    """The row scores: ``worth`` is int64[size], the sum of weighted scores; :data:`OUT` where a predicate
    rejects the row."""

    table: NodeTable
    predicates: Sequence[Predicate]
    priorities: Sequence[tuple[Priority, int]]
    """Priorities without a reduce step, each with its weight."""
    worth: Ints = NO_INTS
    moved: Revisions[int] = attrs.Factory(Revisions)
    """The rows whose worth changed, one a revision; it starts over when a node object changes."""
    ahead: Lookahead = attrs.Factory(Lookahead)
    verified_at: int = NEVER
    """The revision of the table for which ``worth`` is right."""
    node_revision: int = NEVER
    reads: Reads = attrs.field(init=False)
    """The reads of all these rules together."""

    def __attrs_post_init__(self) -> None:
        reads = [rule.reads for rule in self.predicates] + [rule.reads for rule, _ in self.priorities]
        self.reads = reduce(or_, reads, Reads.NOTHING)

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays, of what its look-ahead keeps, and of the rows that moved."""
        return self.worth.nbytes + self.ahead.nbytes + 40 * self.moved.kept

    def refresh(self, cycle: Cycle) -> None:
        """Update ``worth``. Raises Unanswerable, and the PriorityError of a priority."""
        log = self.table.changed
        verified_at = self.verified_at
        if verified_at == log.revision and self.node_revision == log.node_revision:
            return
        self.verified_at = NEVER
        events = log.steps_since(verified_at)
        if self.node_revision != log.node_revision or len(self.worth) != self.table.size or events is None:
            self.ahead.forget()
            self.moved.begin_anew()
            self.worth = self._judge(cycle, Batch.everywhere(self.table))
        else:
            missed, moved = self.ahead.follow(events, cycle.template.size, self.worth)
            if missed:
                moved += self._judge_again(cycle, distinct(missed))
            if moved:
                self.moved.extend(moved)
        self.verified_at = log.revision
        self.node_revision = log.node_revision

    def _judge_again(self, cycle: Cycle, rows: Rows) -> list[int]:
        """Judge *rows* again, and look ahead where it is due. Returns those whose worth changed."""
        worth = self.worth
        before = worth.take(rows)
        now = self._judge(cycle, Batch(self.table, rows))
        worth[rows] = now
        if self.ahead.is_due:
            self.ahead.look(
                cycle.template, self.reads, self.table, worth, lambda nodes: self._judge(cycle, nodes)
            )
        moved: list[int] = rows[before != now].tolist()
        return moved

    def _judge(self, cycle: Cycle, nodes: Batch) -> Ints:
        """The worth of a batch: int64[n]. Nothing is scored where no row fits."""
        fits: Mask | None = None
        for predicate in self.predicates:
            failures = predicate.check(cycle.template, nodes, cycle)
            if failures is not None:
                if failures.errors is not None:
                    raise Unanswerable
                fits = failures.passed if fits is None else fits & failures.passed
        totals = nodes.zeros()
        for priority, weight in self.priorities if fits is None or is_anywhere(fits) else ():
            scores = priority.score(cycle.template, nodes, cycle)
            totals += scores if weight == 1 else scores * weight
        if fits is not None:
            totals[~fits] = OUT
        return totals
