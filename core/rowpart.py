"""What all rows are worth by the rules that look at nothing but the row: shared by the templates that these rules cannot tell apart.

A decision changes one row, and every template has to know what that row is worth now. Judging all rows costs little more than judging
one, so what each row would be worth with one to some more pods of the part's size is worked out together (:class:`Foresight`). What was
foreseen counts only if exactly that happened to the row; every decision is the one that the pods would get one by one.
"""

from __future__ import annotations

import attrs
import numpy as np

from .batch import Ints, Mask, Rows
from .changes import Event, What
from .cycle import Cycle
from .memory import Kept, Memory
from .rule import Predicate, Priority, Reads
from .sums import Sums
from .template import Template

DEEPEST = 8
"""Pods that each row is looked at with, at most: the best row often stays the best for a while."""
MOST = 1 << 16
"""Row states looked at together, at most."""
PAYS = 16
"""Foreseen changes that make up for looking."""
LONGEST = 4096
"""Changed rows that are listed before those who follow are told to look at all."""
UNFORESEEABLE = Reads.PODS | Reads.PORTS | Reads.COUNTS
"""What another pod on a row changes besides sums."""


@attrs.define(eq=False)
class Foresight:
    """Fits and totals of each row with one more pod of one size, two more, and so on."""

    depth: int = 4
    """Pods that each row was looked at with; grows where that pays."""
    totals: Ints = attrs.field(factory=lambda: np.zeros((0, 0), np.int64))
    """int64[depth, rows]"""
    fits: Mask = attrs.field(factory=lambda: np.zeros((0, 0), np.bool_))
    """bool[depth, rows]"""
    depths: list[int] = attrs.field(factory=list)
    """By row: pods of the size that it got since; ``DEEPEST`` where it is no longer foreseen."""
    foreseen: int = 0
    missed: int = 0
    """Changes since the last look that looking would have foreseen."""
    patience: int = 2
    """As many may be missed; grows while looking does not pay."""

    def forget(self) -> None:
        """What was foreseen is worth nothing any more."""
        self.depths = []


@attrs.define(eq=False)
class RowPart:
    """``fits``: bool[size], whether no rule of the part objects; ``totals``: int64[size], the sum of its weighted scores."""

    memory: Memory
    questions: list[tuple[Predicate, Kept]]
    preferences: list[tuple[Priority, int, Kept]]
    """Priorities without a reduce step, each with its weight."""
    fits: Mask = attrs.field(factory=lambda: np.zeros(0, np.bool_))
    totals: Ints = attrs.field(factory=lambda: np.zeros(0, np.int64))
    whole: int = 0
    """How often all rows were looked at; ``moved`` starts anew with it."""
    moved: list[int] = attrs.field(factory=list)
    """The rows that changed since then, in order; followers keep their place in it."""
    ahead: Foresight = attrs.field(factory=Foresight)
    cursor: int = -1
    """Place in the table's log of changes."""
    node_epoch: int = -1

    def refresh(self, cycle: Cycle) -> bool:
        """Bring fits and totals up to date; False where a rule cannot answer. Raises its RuleError."""
        log = self.memory.table.changed
        if self.cursor == log.cursor and self.node_epoch == log.node_epoch:
            return True
        events = log.since(self.cursor) if self.node_epoch == log.node_epoch and len(self.moved) < LONGEST else None
        self.cursor = -1
        if events is None or len(self.fits) != self.memory.table.size:
            if not self._ask(cycle):
                return False
            self._look_at_all()
        elif not self._follow(cycle, events):
            return False
        self.cursor, self.node_epoch = log.cursor, log.node_epoch
        return True

    # --- row by row -------------------------------------------------------------------------------------------------

    def _follow(self, cycle: Cycle, events: list[Event]) -> bool:
        """Put the rows of *events* right: as foreseen, or else by asking again."""
        ahead, size = self.ahead, cycle.template.size
        depths, asked = ahead.depths, set[int]()
        for row, what, arrival in events:
            if what is What.PODS and arrival is not None and arrival.size == size:
                if depths and (depth := depths[row]) < ahead.depth:
                    depths[row] = depth + 1
                    ahead.foreseen += 1
                    continue
                ahead.missed += 1
            if depths:
                depths[row] = DEEPEST
            asked.add(row)
        for row in dict.fromkeys(event[0] for event in events):
            if row not in asked:
                depth = depths[row] - 1
                self.fits[row], self.totals[row] = ahead.fits[depth, row], ahead.totals[depth, row]
            self.moved.append(row)
        if asked:
            if not self._ask(cycle):
                return False
            self._look_at(np.array(sorted(asked), np.intp))
            if ahead.missed >= ahead.patience:
                self._look_ahead(cycle)
        return True

    def _ask(self, cycle: Cycle) -> bool:
        """Bring what is remembered of each rule up to date; False where a predicate has an error."""
        for predicate, kept in self.questions:
            self.memory.refresh_failures(kept, predicate, cycle)
            if kept.answer is not None and kept.answer.errors is not None:
                return False
        for priority, _, kept in self.preferences:
            self.memory.refresh_scores(kept, priority, cycle)
        return True

    def _look_at(self, rows: Rows) -> None:
        fits = np.ones(len(rows), np.bool_)
        for _, kept in self.questions:
            if kept.answer is not None:
                fits &= kept.answer.codes[rows] == 0
        self.fits[rows] = fits
        self.totals[rows] = sum(kept.answer[rows] * weight for _, weight, kept in self.preferences)

    def _look_at_all(self) -> None:
        size = self.memory.table.size
        self.fits, self.totals = np.ones(size, np.bool_), np.zeros(size, np.int64)
        for _, kept in self.questions:
            if kept.answer is not None:
                self.fits &= kept.answer.codes == 0
        for _, weight, kept in self.preferences:
            self.totals += kept.answer * weight
        self.whole += 1
        self.moved.clear()
        self.ahead.forget()

    # --- ahead ------------------------------------------------------------------------------------------------------

    def _look_ahead(self, cycle: Cycle) -> None:
        """Work out what the rows, those that fit first, would be worth with more pods of the size of *cycle*'s."""
        ahead, pod = self.ahead, cycle.template
        if ahead.foreseen >= PAYS:
            ahead.patience, ahead.depth = 2, min(2 * ahead.depth, DEEPEST)
        elif ahead.depths:
            ahead.patience = min(2 * ahead.patience, 1 << 12)
        ahead.foreseen = ahead.missed = 0
        if pod.spec.node_name or any(rule.reads & self._unforeseeable(pod) for rule in self._rules()):
            return
        depth = ahead.depth
        rows = np.argsort(~self.fits, kind="stable")[: MOST // depth]
        trial = Sums.of(self.memory.table, np.tile(rows, depth))
        trial.add(pod, np.repeat(np.arange(1, depth + 1), len(rows)))
        shape = depth, len(self.fits)
        ahead.totals, ahead.fits = np.zeros(shape, np.int64), np.zeros(shape, np.bool_)
        ahead.totals[:, rows] = self._totals(cycle, trial).reshape(depth, -1)
        ahead.fits[:, rows] = self._fits(cycle, trial).reshape(depth, -1)
        depths = np.full(len(self.fits), DEEPEST)
        depths[rows] = 0
        ahead.depths = depths.tolist()

    @staticmethod
    def _unforeseeable(pod: Template) -> Reads:
        """Ports of other pods are nothing to a pod that asks for none."""
        return UNFORESEEABLE if pod.ports else UNFORESEEABLE & ~Reads.PORTS

    def _rules(self) -> list[Predicate | Priority]:
        return [predicate for predicate, _ in self.questions] + [priority for priority, _, _ in self.preferences]

    def _fits(self, cycle: Cycle, trial: Sums) -> Mask:
        fits = np.ones(trial.n, np.bool_)
        for predicate, kept in self.questions:
            if kept.rowwise:
                found = predicate.check(cycle.template, trial, cycle)
                if found is not None:
                    fits &= found.passed
            elif kept.answer is not None:
                fits &= kept.answer.codes[trial.indexes] == 0
        return fits

    def _totals(self, cycle: Cycle, trial: Sums) -> Ints:
        totals = np.zeros(trial.n, np.int64)
        for priority, weight, kept in self.preferences:
            scores = priority.score(cycle.template, trial, cycle) if kept.rowwise else kept.answer[trial.indexes]
            totals += scores * weight
        return totals
