"""What rules answered for the whole table, kept until something that they read changes, and then redone where it changed.

An answer is kept by (rule, the rule's key of the pod): a thousand pods of one template, or of templates that agree in what the rule
reads, pay for one. Rows that changed are asked again as a small batch; a rule that counts over domains is asked anew when one of the
counters that it looked at has moved.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cache
from typing import Any

import attrs
import numpy as np

from ..arrays.batch import Batch, Rows
from ..arrays.census import Counter
from ..arrays.table import NodeTable
from ..cycle import Cycle
from ..failures import Codes, Failures, Reasons
from ..pods.template import Template
from ..rule import ROWWISE, WIDE, Predicate, Priority, Reads, Scores

LARGE_SHARE = 4
"""Where more than one row in so many changed, all are asked again."""
NO_ROWS: Rows = np.zeros(0, np.intp)
RawAnswer = Failures | Scores | None


@attrs.define(eq=False)
class Answer:
    """An answer for all rows of the table and how far it is up to date."""

    rowwise: bool
    """The rule reads the pods of the row itself."""
    counted: bool
    """It reads how many pods of the row some query counts: only where a counter moved is a row to be asked again."""
    wide: bool
    """It reads what stands on other rows."""
    stamped: bool
    """It reads something that no row tells of."""
    owners: bool
    """It reads services and controllers."""
    volumes: bool
    """It reads volumes and claims."""
    answer: Any = None
    cursor: int = -1
    """Place in the table's log of changes."""
    node_epoch: int = -1
    stamp: tuple[int, ...] = ()
    watched: list[Counter] = attrs.field(factory=list)
    """The counters that the rule looked at."""
    hears_terms: bool = True
    """It asked for terms, of which there may be more later."""
    edits: int = 0
    """How often some rows were asked again."""
    counts: int = 0
    """The sum of their versions when the answer was last up to date."""
    whole: int = 0
    """How often all rows were asked and had another answer than None twice; 0 never."""
    size: int = 0
    """Rows of the table when all were asked."""
    level: int | None = None
    """The score of all rows, where it is known to be the same for all."""
    shared: bool = False
    """Another reader has the arrays too: copy them before they change."""
    last_used: int = 0

    @classmethod
    def of(cls, reads: Reads) -> Answer:
        """Nothing yet, for a rule that reads this."""
        return cls(*_traits(reads))

    @property
    def is_of_nodes(self) -> bool:
        """Whether it reads node objects alone."""
        moves = self.owners or self.volumes or (self.wide and (self.hears_terms or bool(self.watched)))
        return not (self.rowwise or self.counted or moves)

    def codes(self) -> Codes | None:
        """The codes of a predicate's answer, None where it objects to nothing."""
        return None if self.answer is None else self.answer.codes


@cache
def _traits(reads: Reads) -> tuple[bool, bool, bool, bool, bool, bool]:
    """rowwise, counted, wide, stamped, owners, volumes."""
    wide, owners, volumes = bool(reads & WIDE), bool(reads & Reads.LISTINGS), bool(reads & Reads.VOLUMES)
    return bool(reads & ROWWISE), bool(reads & Reads.COUNTS), wide, wide or owners or volumes, owners, volumes


@attrs.define(eq=False)
class AnswerCache:
    """Answer answers of one scheduler, up to *limit* bytes; 0 keeps nothing."""

    table: NodeTable
    limit: int = 1 << 30
    held: int = 0
    """Bytes held, about."""
    _kept: dict[Hashable, Answer] = attrs.field(factory=dict)
    _clock: int = 0
    _batch: Batch | None = None

    @staticmethod
    def keeps(rule: Predicate | Priority, cycle: Cycle) -> bool:
        """Whether what *rule* answers can be kept at all: not if it reads what other rules left behind in the cycle."""
        return not (rule.reads & Reads.EFFECTS and cycle.algorithm.leaves_counts)

    # --- asking -----------------------------------------------------------------------------------------------------

    def failures(self, predicate: Predicate, cycle: Cycle) -> Answer:
        """What *predicate* has against every row of the table: ``.answer`` is a Failures or None."""
        kept = self.entry(predicate, cycle.template)
        self.refresh_failures(kept, predicate, cycle)
        return kept

    def refresh_failures(self, kept: Answer, predicate: Predicate, cycle: Cycle) -> None:
        """Bring what is kept of *predicate* for the template of *cycle* up to date."""
        self._bring_up(kept, cycle, lambda nodes: predicate.check(cycle.template, nodes, cycle), _put_failures)
        if kept.answer is not None and kept.answer.errors is not None:
            # What cannot be answered names the very pod, or heals without a change that a rule declares.
            kept.cursor = -1

    def scores(self, priority: Priority, cycle: Cycle) -> Answer:
        """The raw scores of *priority* for every row of the table: ``.answer`` is int64[size]. Raises its RuleError."""
        kept = self.entry(priority, cycle.template)
        self.refresh_scores(kept, priority, cycle)
        return kept

    def refresh_scores(self, kept: Answer, priority: Priority, cycle: Cycle) -> None:
        """Bring what is kept of *priority* for the template of *cycle* up to date."""
        self._bring_up(kept, cycle, lambda nodes: priority.score(cycle.template, nodes, cycle), _put_scores)

    @staticmethod
    def key(rule: Predicate | Priority, template: Template) -> Hashable:
        """Answers of *rule* for templates with equal keys are the same."""
        found = template.notes.get(rule.slot)
        if found is None:
            found = template.notes[rule.slot] = (type(rule), rule.name, rule.key(template))
        return found

    def entry(self, rule: Predicate | Priority, template: Template) -> Answer:
        """Where the answer of *rule* for *template* is kept, up to date or not."""
        key = self.key(rule, template)
        kept = self._kept.get(key)
        if kept is None:
            kept = self._kept[key] = Answer.of(rule.reads)
            self._make_room()
        self._clock += 1
        kept.last_used = self._clock
        return kept

    # --- keeping up -------------------------------------------------------------------------------------------------

    def surroundings(self, cycle: Cycle) -> tuple[int, int, int, int]:
        """Numbers of which one moves with everything but the pods of a row: while they are the same, only rows' own answers change."""
        listings, table = cycle.listings, self.table
        volumes = listings.volumes_version + cycle.binder.version
        return table.census.version, table.changed.node_epoch, listings.owners_version, volumes

    def _bring_up(self, kept: Answer, cycle: Cycle, ask: Callable[[Batch], RawAnswer], put: Callable[[Answer, Rows, Any], None]) -> None:
        counts = sum([counter.version for counter in kept.watched])
        is_known = kept.cursor >= 0 and not (kept.stamped and kept.stamp != self._stamp(kept, cycle, counts))
        rows = self._stale_rows(kept, counts) if is_known else None
        if rows is None:
            self._ask_all(kept, cycle, ask)
            return
        if len(rows):
            put(kept, rows, ask(self._batch_of(rows)))
            kept.edits += 1
        kept.cursor, kept.node_epoch, kept.counts = self.table.changed.cursor, self.table.changed.node_epoch, counts

    def _batch_of(self, rows: Rows) -> Batch:
        """One batch for all rules that are asked about the same rows of the same state."""
        if self._batch is None or self._batch.rows is not rows:
            self._batch = Batch(self.table, rows)
        return self._batch

    def _stamp(self, kept: Answer, cycle: Cycle, counts: int) -> tuple[int, int, int]:
        """Numbers that move when something changes that no row tells of; *counts* moves with the counters that the rule looked at."""
        counted = counts + (self.table.census.terms_version if kept.hears_terms else 0) if kept.wide else 0
        owners = cycle.listings.owners_version if kept.owners else 0
        return counted, owners, cycle.listings.volumes_version + cycle.binder.version if kept.volumes else 0

    def _stale_rows(self, kept: Answer, counts: int) -> Rows | None:
        """The rows to ask again, None where all are."""
        log = self.table.changed
        if kept.node_epoch == log.node_epoch and not kept.rowwise and not (kept.counted and kept.counts != counts):
            return NO_ROWS
        rows = None if kept.wide or kept.size != self.table.size else log.rows_since(kept.cursor)
        return None if rows is None or len(rows) * LARGE_SHARE > self.table.size else rows

    def _ask_all(self, kept: Answer, cycle: Cycle, ask: Callable[[Batch], RawAnswer]) -> None:
        census = self.table.census
        kept.cursor, census.watch, census.asked_terms = -1, kept.watched, False
        kept.watched.clear()
        before = kept.answer
        self.held -= _size(before)
        try:
            kept.answer = _own(ask(Batch.everywhere(self.table)))
        finally:
            census.watch = None
        self.held += _size(kept.answer)
        kept.size = self.table.size
        kept.cursor, kept.node_epoch = self.table.changed.cursor, self.table.changed.node_epoch
        kept.counts, kept.hears_terms = sum([counter.version for counter in kept.watched]), census.asked_terms
        kept.stamp, kept.shared = self._stamp(kept, cycle, kept.counts), False
        if kept.answer is not None or before is not None or not kept.whole:
            kept.whole += 1
        kept.level = _level(kept.answer) if isinstance(kept.answer, np.ndarray) else None

    def _make_room(self) -> None:
        """Drop what was not used for longest, down to half of what may be held."""
        if self.held <= self.limit:
            return
        for key, kept in sorted(self._kept.items(), key=lambda item: item[1].last_used):
            if self.held <= self.limit // 2:
                break
            self.held -= _size(kept.answer)
            del self._kept[key]


def _own(answer: RawAnswer) -> RawAnswer:
    """*answer* with arrays that nobody else has."""
    if answer is None:
        return None
    if isinstance(answer, Failures):
        return Failures(answer.codes.copy(), dict(answer.sequences), answer.errors, answer.texts)
    return answer.copy()


def _level(scores: Scores) -> int | None:
    """The score that all rows have, or None."""
    if not len(scores) or scores[0] != scores[-1]:
        return None
    return int(scores[0]) if (scores == scores[0]).all() else None


def _size(answer: RawAnswer) -> int:
    if answer is None:
        return 0
    return answer.codes.nbytes if isinstance(answer, Failures) else answer.nbytes


def _put_scores(kept: Answer, rows: Rows, scores: Scores) -> None:
    if kept.shared:
        kept.answer, kept.shared = kept.answer.copy(), False
    kept.answer[rows] = scores
    if kept.level is not None and (scores != kept.level).any():
        kept.level = None


def _put_failures(kept: Answer, rows: Rows, found: Failures | None) -> None:
    if found is None:
        if kept.answer is not None:
            _writable(kept).codes[rows] = 0
        return
    if kept.answer is None:
        kept.answer = Failures(np.zeros(kept.size, np.int64), {})
    target = _writable(kept)
    target.codes[rows] = _recoded(found, target.sequences)
    if found.errors is not None:
        errors = np.zeros(len(target.codes), np.int64)
        errors[rows] = found.errors
        kept.answer = Failures(target.codes, target.sequences, errors, found.texts)


def _writable(kept: Answer) -> Failures:
    answer: Failures = kept.answer
    if kept.shared:
        answer = kept.answer = Failures(answer.codes.copy(), dict(answer.sequences), answer.errors, answer.texts)
        kept.shared = False
    return answer


def _recoded(found: Failures, sequences: dict[int, Reasons]) -> Codes:
    """The codes of *found* in the terms of *sequences*, which learns what it did not know."""
    known = {reasons: code for code, reasons in sequences.items()}
    table = np.zeros(max(found.sequences, default=0) + 1, np.int64)
    for code, reasons in found.sequences.items():
        number = known.get(reasons)
        if number is None:
            number = known[reasons] = max(sequences, default=0) + 1
            sequences[number] = reasons
        table[code] = number
    return table[found.codes]
