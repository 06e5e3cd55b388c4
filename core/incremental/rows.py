"""What all rows are worth by the rules that look at nothing but the row: shared by the templates that these rules cannot tell apart.

A decision changes one row, and every template has to know what that row is worth now. Judging all rows costs little more than judging
one, so what each row would be worth with one to some more pods of the part's size is worked out together (:class:`Lookahead`). What was
hits counts only if exactly that happened to the row; every decision is the one that the pods would get one by one.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import attrs
import numpy as np

from ..arrays.batch import Batch, Ints, Mask, Rows
from ..arrays.changes import Event, What
from ..arrays.sums import SumsTrial
from ..arrays.table import NodeTable
from ..cycle import Cycle
from ..pods.template import Template
from ..rule import Predicate, Priority, Reads

MAX_DEPTH = 8
"""Pods that each row is looked at with, at most: the best row often stays the best for a while."""
MAX_STATES = 1 << 16
"""Row states looked at together, at most."""
HITS_TO_DEEPEN = 24
"""How often nothing must have had to be asked for a look to have paid."""
MISSES_TO_LOOK = 3
"""How often looking must have been misses before the first look."""
MAX_TRAIL = 4096
"""How often changed rows are listed before those who follow are told to look at all."""
UNPREDICTABLE = Reads.PODS | Reads.PORTS | Reads.COUNTS
"""What another pod on a row changes besides sums."""


@attrs.define(eq=False)
class Lookahead:
    """Fits and totals of each row with one more pod of one size, two more, and so on."""

    depth: int = 4
    """Pods that each row was looked at with; grows where that pays."""
    totals: Ints = attrs.field(factory=lambda: np.zeros((0, 0), np.int64))
    """int64[depth, rows]"""
    fits: Mask = attrs.field(factory=lambda: np.zeros((0, 0), np.bool_))
    """bool[depth, rows]"""
    depths: list[int] = attrs.field(factory=list)
    """By row: pods of the size that it got since; ``MAX_DEPTH`` where it is no longer hits."""
    hits: int = 0
    """How often nothing had to be asked, since the last look."""
    misses: int = 0
    """How often looking would have spared asking."""
    patience: int = MISSES_TO_LOOK
    """As many may be misses; grows while looking does not pay."""

    def forget(self) -> None:
        """What was hits is worth nothing any more."""
        self.depths = []


@attrs.define(eq=False)
class RowScores:
    """``fits``: bool[size], whether no rule of the part objects; ``totals``: int64[size], the sum of its weighted scores."""

    table: NodeTable
    questions: Sequence[Predicate]
    preferences: Sequence[tuple[Priority, int]]
    """Priorities without a reduce step, each with its weight."""
    fits: Mask = attrs.field(factory=lambda: np.zeros(0, np.bool_))
    totals: Ints = attrs.field(factory=lambda: np.zeros(0, np.int64))
    whole: int = 0
    """How often all rows were looked at; ``moved`` starts anew with it."""
    moved: list[Rows] = attrs.field(factory=list)
    """The rows that changed since then, each time without repetition; followers keep their place in it."""
    ahead: Lookahead = attrs.field(factory=Lookahead)
    cursor: int = -1
    """Place in the table's log of changes."""
    node_epoch: int = -1

    def refresh(self, cycle: Cycle) -> bool:
        """Bring fits and totals up to date; False where a rule cannot answer. Raises its RuleError."""
        log = self.table.changed
        if self.cursor == log.cursor and self.node_epoch == log.node_epoch:
            return True
        events = log.since(self.cursor) if self.node_epoch == log.node_epoch and len(self.moved) < MAX_TRAIL else None
        self.cursor = -1
        if events is None or len(self.fits) != self.table.size:
            if not self._look_at_all(cycle):
                return False
        elif not self._follow(cycle, events):
            return False
        self.cursor, self.node_epoch = log.cursor, log.node_epoch
        return True

    # --- row by row -------------------------------------------------------------------------------------------------

    def _follow(self, cycle: Cycle, events: list[Event]) -> bool:
        """Put the rows of *events* right: as hits, or else by asking again."""
        ahead, size = self.ahead, cycle.template.size
        if len(events) == 1 and ahead.depths and self._is_hit(*events[0], size):
            return True
        rows = {row for row, _, _ in events}
        self.moved.append(np.fromiter(rows, np.intp, len(rows)))
        if not ahead.depths:
            ahead.misses += all(arrival is not None and arrival.size is size for _, _, arrival in events)
            return self._look_at(cycle, self.moved[-1])
        depths, asked = ahead.depths, set[int]()
        for row, _, arrival in events:
            depth = depths[row]
            if arrival is not None and arrival.size is size and depth < ahead.depth:
                depths[row] = depth + 1
            else:
                depths[row] = MAX_DEPTH
                asked.add(row)
        for row in rows - asked:
            depth = depths[row] - 1
            self.fits[row], self.totals[row] = ahead.fits[depth, row], ahead.totals[depth, row]
        if not asked:
            ahead.hits += 1
            return True
        ahead.misses += all(arrival is not None and arrival.size is size for _, _, arrival in events)
        return self._look_at(cycle, np.fromiter(asked, np.intp, len(asked)))

    def _is_hit(self, row: int, what: What, arrival: Template | None, size: Hashable) -> bool:
        """Whether the only event was one that was hits; then its row is put right."""
        ahead = self.ahead
        depth = ahead.depths[row]
        if arrival is None or arrival.size is not size or depth >= ahead.depth:
            return False
        self.fits[row], self.totals[row] = ahead.fits[depth, row], ahead.totals[depth, row]
        ahead.depths[row] = depth + 1
        ahead.hits += 1
        self.moved.append(np.array((row,), np.intp))
        return True

    def _look_at(self, cycle: Cycle, rows: Rows) -> bool:
        found = self._judge(cycle, Batch(self.table, rows))
        if found is None:
            return False
        self.fits[rows], self.totals[rows] = found
        if self.ahead.misses >= self.ahead.patience:
            self._look_ahead(cycle)
        return True

    def _look_at_all(self, cycle: Cycle) -> bool:
        found = self._judge(cycle, Batch.everywhere(self.table))
        if found is None:
            return False
        self.fits, self.totals = found
        self.whole += 1
        self.moved.clear()
        self.ahead.forget()
        return True

    def _judge(self, cycle: Cycle, nodes: Batch) -> tuple[Mask, Ints] | None:
        """Fits and totals of a batch: bool[n] and int64[n]; None where a predicate has an error."""
        fits, totals = np.ones(nodes.n, np.bool_), np.zeros(nodes.n, np.int64)
        for predicate in self.questions:
            failures = predicate.check(cycle.template, nodes, cycle)
            if failures is not None:
                if failures.errors is not None:
                    return None
                fits &= failures.passed
        for priority, weight in self.preferences:
            totals += priority.score(cycle.template, nodes, cycle) * weight
        return fits, totals

    # --- ahead ------------------------------------------------------------------------------------------------------

    def _look_ahead(self, cycle: Cycle) -> None:
        """Work out what the rows, those that fit first, would be worth with more pods of the size of *cycle*'s."""
        ahead, pod = self.ahead, cycle.template
        if ahead.hits >= HITS_TO_DEEPEN:
            ahead.patience, ahead.depth = MISSES_TO_LOOK, min(2 * ahead.depth, MAX_DEPTH)
        elif ahead.depths:
            ahead.patience = min(2 * ahead.patience, 1 << 12)
        ahead.hits = ahead.misses = 0
        if pod.spec.node_name or any(rule.reads & self._unpredictable(pod) for rule in self._rules()):
            return
        rows = np.argsort(~self.fits, kind="stable")[: MAX_STATES // ahead.depth]
        trial, shape = SumsTrial.of(self.table, rows), (ahead.depth, len(self.fits))
        fits, totals = np.zeros(shape, np.bool_), np.zeros(shape, np.int64)
        for depth in range(ahead.depth):
            trial.add(pod, np.ones(len(rows), np.int64))
            found = self._judge(cycle, trial)
            if found is None:
                return
            fits[depth, rows], totals[depth, rows] = found
        ahead.fits, ahead.totals = fits, totals
        depths = np.full(len(self.fits), MAX_DEPTH)
        depths[rows] = 0
        ahead.depths = depths.tolist()

    @staticmethod
    def _unpredictable(pod: Template) -> Reads:
        """Ports of other pods are nothing to a pod that asks for none."""
        return UNPREDICTABLE if pod.ports else UNPREDICTABLE & ~Reads.PORTS

    def _rules(self) -> list[Predicate | Priority]:
        return [*self.questions, *(priority for priority, _ in self.preferences)]
