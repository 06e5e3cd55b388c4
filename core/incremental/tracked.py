"""What a scoreboard follows besides the row scores: rules that look further, their cached answers, and how much of those it has seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np

from ..arrays.batch import Batch
from ..arrays.table import NodeTable
from ..arrays.trail import NEVER, NO_ROWS, distinct
from ..arrays.types import NO_INTS, Ints, Mask, Rows, Scores
from ..cycle import Cycle
from ..rule import OfFew, Predicate, Priority, Reduction
from .byvalue import moved_rows
from .cachedanswer import FEW_ROWS
from .failuresanswer import FailuresAnswer
from .scoresanswer import ScoresAnswer
from .tally import FeasibleSet, ScoreHistogram

FewWorths = tuple[str, tuple[int, ...]]
"""A label key, and the score of each of its values, which are few, by code."""


@attrs.define(eq=False, repr=False)
class TrackedFeasible(FeasibleSet):
    """The rows that fit, in the forms in which reduce steps ask for them; worked out when first asked for."""

    table: NodeTable = attrs.field(kw_only=True)
    order: Rows = attrs.field(kw_only=True)
    """All visited rows, in order."""
    _nodes: Batch | None = None
    _counts: dict[str, Ints] = attrs.field(factory=dict)
    """Label key -> how many of them have each value, by code."""
    _codes: dict[str, Sequence[int]] = attrs.field(factory=dict)
    """Label key -> the codes of the values that they have."""

    @property
    def nodes(self) -> Batch:
        """In ascending order; the whole table where every row fits."""
        if self._nodes is None:
            self._nodes = Batch.everywhere(self.table) if self.fits_everywhere else Batch(self.table, self.fits.nonzero()[0])
        return self._nodes

    def codes(self, key: str) -> Sequence[int]:
        """The values of label *key* that they have, by code, each once."""
        found = self._codes.get(key)
        if found is None:
            counts = self._counts.get(key)
            if counts is None:
                label = self.nodes.label(key)
                counts = self._counts[key] = np.bincount(label.codes, minlength=len(label.values))
            found = self._codes[key] = counts.nonzero()[0].tolist()
        return found

    def refit(self, fits: Mask, rows: Sequence[int], count: int) -> None:
        """Rows fit that did not, or no longer do: *rows*, each once; now *fits* is true, for *count* rows."""
        self.fits, self.fits_everywhere, self._nodes = fits, count == len(fits), None
        self.refitted += rows
        self._codes.clear()
        for key, counts in self._counts.items():
            codes = Batch.everywhere(self.table).label(key).codes
            for row in rows:
                counts[codes[row]] += 1 if fits[row] else -1

    def of(self, scores: Scores) -> Scores:
        """The scores of ``nodes``, out of those of all rows."""
        return scores if self.nodes.rows is None else scores.take(self.nodes.rows)

    def in_order(self) -> Batch:
        """In visiting order."""
        return Batch(self.table, self.order[self.fits[self.order]])


@attrs.define(eq=False, repr=False)
class TrackedPredicate:
    """A predicate that looks beyond the row, and its answer."""

    predicate: Predicate
    answer: FailuresAnswer
    seen: int = NEVER
    """The revision of the answer that the scoreboard has taken over."""

    def changed(self) -> Rows | None:
        """The rows where its answer may be another than when it was asked last; None: look at all."""
        trail, seen = self.answer.trail, self.seen
        self.seen = trail.revision
        return trail.since(seen)

    def passes(self, row: int) -> bool:
        """Whether it has nothing against *row*."""
        codes = self.answer.codes()
        return codes is None or not codes[row]


@attrs.define(eq=False, repr=False)
class TrackedPriority:
    """A priority that looks beyond the row or has a reduce step, its answer, and its reduced scores for all rows."""

    priority: Priority
    weight: int
    answer: ScoresAnswer
    seen: int = NEVER
    """The revision of the answer that ``reduced`` is made of."""
    summary: Any = None
    reduced: Scores = NO_INTS
    counts: bool = False
    """It tells rows apart: else its scores are the same for all, and are left out."""
    tally: ScoreHistogram | None = None
    """Its raw scores, counted over the rows that fit, where that is enough for its reduce step."""
    by_code: FewWorths | None = None
    """The label key by whose values the reduced scores were told, and those scores, by code."""
    _found: Any = None
    """The summary by counts of raw scores, where it was worked out already."""
    of_few: OfFew | None = attrs.field(init=False)
    """How its reduce step goes where raw scores are few."""
    depends_on_window: bool = False
    """Its scores depend on which of the rows that fit are feasible, so they are worked out over those alone, cycle by cycle."""

    def __attrs_post_init__(self) -> None:
        reduce = self.priority.reduce
        self.of_few = reduce.of_few if isinstance(reduce, Reduction) else None

    def is_stale(self, refitted: bool) -> bool:
        """Whether its reduced scores may be others than before; *refitted*: other rows fit."""
        if self.seen != self.answer.trail.revision:
            return True
        reduce = self.priority.reduce
        return self.counts and reduce is not None and (refitted or not isinstance(reduce, Reduction))

    def refresh(self, cycle: Cycle, feasible: TrackedFeasible, *, everything: bool, window: bool) -> Rows | None:
        """Bring ``reduced`` up to date with the answer and with who fits; gives the rows where it changed, None: look at all.

        *everything*: node objects changed, or cycles were missed; with *window* not all rows that fit are feasible. Raises PriorityError.
        """
        trail, counted = self.answer.trail, self.counts
        rows = None if everything or not counted else trail.since(self.seen)
        self.seen = trail.revision
        self._found = None
        if self.tally is not None and rows is not None and len(rows) <= FEW_ROWS and self._follow_few(cycle, feasible, rows.tolist()):
            return rows
        told_before, self.by_code = self.by_code, None
        self._judge(window)
        few = self._few_worths() if self.counts else None
        if self.tally is not None and (few is not None or not self.counts):
            self.tally.forget()
        if few is not None:
            return self._reduce_by_value(cycle, feasible, few, None if everything or not counted else told_before)
        if self.counts:
            return self._reduce(cycle, feasible, rows, everything or not counted)
        return None if counted else NO_ROWS

    def _follow_few(self, cycle: Cycle, feasible: TrackedFeasible, rows: Sequence[int]) -> bool:
        """Put the reduced scores of *rows* right, where no other raw score changed; gives whether that was enough."""
        reduce, raw = self.priority.reduce, self.answer.answer
        if self.tally is None or not isinstance(reduce, Reduction) or reduce.tallied is None or reduce.at is None:
            return False
        counts = self.tally.moved(raw, rows, feasible)
        if counts is None:
            return False
        summary = self._found = reduce.tallied(cycle.template, counts, cycle)
        if summary is None or summary != self.summary:
            return False
        at, codes, reduced = reduce.at, cycle.table.zone.codes, self.reduced
        for row in rows:
            score = at(raw.item(row), codes.item(row), summary)
            if score is None:
                return False
            reduced[row] = score
        return True

    def _judge(self, window: bool) -> None:
        """Tell by the raw scores whether it counts."""
        constant, reduce = self.answer.constant, self.priority.reduce
        same = constant is not None and (reduce is None or (isinstance(reduce, Reduction) and reduce.zeros_alike and constant == 0))
        self.depends_on_window = not same and reduce is not None and window
        self.counts = not same and not self.depends_on_window

    def _few_worths(self) -> FewWorths | None:
        """The raw scores of the values of one label, where they were told so and are few."""
        values = self.answer.values if self.of_few is not None else None
        if values is None or len(values) != 1 or values[0][1].__class__ is not tuple:
            return None
        found: FewWorths = values[0][:2]
        return found

    def _reduce_by_value(self, cycle: Cycle, feasible: TrackedFeasible, worths: FewWorths, before: FewWorths | None) -> Rows | None:
        """As :meth:`refresh`, where the raw scores are the *worths* of the few values of one label."""
        (key, raw), of_few = worths, self.of_few
        assert of_few is not None
        scores = of_few(cycle.template, raw, feasible.codes(key), cycle)
        self.summary, self.by_code = None, (key, scores)
        if before is not None and before[0] == key:
            rows = moved_rows((before,), (self.by_code,), cycle.table)
            if rows is not None:
                if len(rows):
                    self.reduced[rows] = np.array(scores).take(Batch(cycle.table, rows).label(key).codes)
                return rows
        self.reduced = np.array(scores).take(Batch.everywhere(cycle.table).label(key).codes)
        return None

    def _reduce(self, cycle: Cycle, feasible: TrackedFeasible, rows: Rows | None, everything: bool) -> Rows | None:
        """As :meth:`refresh`, where raw scores changed on no more than *rows* (None: on any)."""
        raw, reduce = self.answer.answer, self.priority.reduce
        if reduce is None:
            self.reduced = raw
            return rows
        if not isinstance(reduce, Reduction):
            self.reduced = self._in_order(cycle, feasible)
            return None
        before, found = self.summary, self._tallied(cycle, feasible, rows, reduce)
        self.summary = found if found is not None else reduce.summarise(cycle.template, feasible.of(raw), feasible.nodes, cycle)
        if rows is None or self.summary != before:
            kept, self.reduced = self.reduced, reduce.apply(cycle.template, raw, self.summary, Batch.everywhere(cycle.table), cycle)
            # Early cutoff: counts moved, and no score did.
            return None if everything or np.count_nonzero(kept != self.reduced) else NO_ROWS
        # Early cutoff: with the same summary, rows with the same raw score keep their reduced one.
        if len(rows):
            rows = distinct(rows.tolist())
            self.reduced[rows] = reduce.apply(cycle.template, raw[rows], self.summary, Batch(cycle.table, rows), cycle)
        return rows

    def _tallied(self, cycle: Cycle, feasible: TrackedFeasible, rows: Rows | None, reduce: Reduction) -> Any:
        """The summary by counts of raw scores, which changed on no more than *rows* (None: on any); None where all have to be looked at."""
        if reduce.tallied is None or self._found is not None:
            return self._found
        if self.tally is None:
            self.tally = ScoreHistogram(cycle.table, reduce.by_zone)
        counts = self.tally.counts(self.answer.answer, rows, feasible)
        return None if counts is None else reduce.tallied(cycle.template, counts, cycle)

    def _in_order(self, cycle: Cycle, feasible: TrackedFeasible) -> Scores:
        """The scores by a reduce step that must see all feasible nodes in visiting order, laid out over all rows."""
        assert self.priority.reduce is not None
        nodes, found = feasible.in_order(), np.zeros(len(feasible.fits), np.int64)
        found[nodes.indexes] = self.priority.reduce(cycle.template, self.answer.answer[nodes.indexes], nodes, cycle)
        return found
