"""One rule's answer for the whole table: a derived value, what it was derived from, and which rows of it changed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any, Generic, TypeVar

import attrs
import numpy as np

from ..arrays.batch import Batch
from ..arrays.census import Counter
from ..arrays.table import NodeTable
from ..arrays.trail import NEVER, NO_ROWS, Trail
from ..arrays.types import Rows, Scores
from ..cycle import Cycle
from ..failures import Codes, Failures, Reasons
from ..rule import ROWWISE, WIDE, Reads
from .byvalue import codes_in_use, judged, kept, moved_rows, scored

Value = TypeVar("Value")
Environment = tuple[int, int, int]
"""The revisions of what no row tells of: counters, services and controllers, volumes."""


class Unanswerable(Exception):
    """A predicate has an error for some row: this cycle must find out node by node whether the error counts."""


@attrs.frozen(eq=False)
class Scope:
    """What a rule reads, as far as it matters for when its answer is stale. There is one for each declaration."""

    rowwise: bool
    """The pods of the row itself."""
    counted: bool
    """How many pods of the row some query counts: only where a counter moved are rows stale."""
    wide: bool
    """What is on other rows."""
    owners: bool
    """Services and controllers."""
    volumes: bool
    """Volumes and claims."""
    is_global: bool
    """Something that no row tells of."""

    @staticmethod
    @cache
    def of(reads: Reads) -> Scope:
        """That of a rule which declares *reads*."""
        wide, owners, volumes = bool(reads & WIDE), bool(reads & Reads.LISTINGS), bool(reads & Reads.VOLUMES)
        return Scope(bool(reads & ROWWISE), bool(reads & Reads.COUNTS), wide, owners, volumes, wide or owners or volumes)

    @staticmethod
    @cache
    def together(scopes: frozenset[Scope]) -> Scope:
        """What several rules read."""
        return Scope(*(any(flags) for flags in zip(*map(attrs.astuple, scopes), strict=True))) if scopes else Scope.of(Reads.NOTHING)


@attrs.define(eq=False, repr=False)
class Answer(ABC, Generic[Value]):
    """What a rule answered for all rows of the table, and at which revisions of what it reads this was verified.

    ``answer`` is written by :class:`~.answers.AnswerCache` alone. Readers follow ``trail``.
    """

    scope: Scope
    trail: Trail = attrs.field(factory=Trail)
    """The rows where the answer may have changed."""
    size: int = 0
    """Rows of the table when all were evaluated."""
    shared: bool = False
    """Others may have the arrays too, the rule or a reader: copy them before they change."""
    watched: list[Counter] = attrs.field(factory=list)
    """The counters of the census that the rule looked at."""
    watches_terms: bool = True
    """It asked for terms, of which there may be more later."""
    tells: Callable[[], Any] | None = None
    """What tells the answer by value, once it was asked for."""
    values: Any = None
    """What the rule told by value, if that is where the answer is from: Refusals or Worths."""
    by_domain: bool = False
    """A pod that comes or goes concerns the rows of its domains alone; no more once these were too many again and again."""
    too_many: int = 0
    """How often in a row they were too many."""
    is_of_nodes: bool = False
    """As it was evaluated last, nothing but node objects counts."""
    verified_at: int = NEVER
    """The revision of the table for which the answer is right; NEVER: all rows are stale."""
    node_revision: int = NEVER
    counters_seen: int = 0
    """The sum of the counters' revisions when the answer was verified."""
    each_seen: Sequence[int] = ()
    """The revision of each counter then, where the answer goes by domain."""
    environment: Environment = (0, 0, 0)
    """The revisions of what no row tells of, when the answer was verified."""
    bytes_held: int = 0
    """As the cache has counted them."""

    @abstractmethod
    def ask(self, rule: Any, cycle: Cycle, nodes: Batch) -> Value:
        """What *rule* answers for *nodes*."""

    @abstractmethod
    def told(self, nodes: Batch) -> Value:
        """What ``values`` say about *nodes*."""

    def tell(self, values: Any, table: NodeTable) -> None:
        """Take the rule's answer for all rows, told by value."""
        rows = None if self.values is None else moved_rows(self.values, values, table)
        if rows is NO_ROWS:
            return  # early cutoff: the values are as they were
        self.values = kept(values)
        if rows is None:
            self.tell_all(Batch.everywhere(table))
        elif len(rows):
            self.put(rows, self.told(Batch(table, rows)))

    def tell_all(self, nodes: Batch) -> None:
        """Take over what ``values`` say about all rows, which are *nodes*."""
        self.replace(self.told(nodes), nodes.n)

    def untell(self) -> None:
        """Forget what was told by value: it no longer holds."""
        self.values = self.tells = None

    @abstractmethod
    def replace(self, found: Value, size: int) -> None:
        """Take a new answer for all of *size* rows."""

    @abstractmethod
    def put(self, rows: Rows, found: Value) -> None:
        """Take a new answer for *rows*."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes of its arrays, about."""

    def forget(self) -> None:
        """Evaluate all rows next time."""
        self.verified_at = self.node_revision = NEVER

    def observed(self, asked_terms: bool) -> None:
        """Note what the evaluation of all rows looked at, besides ``watched``."""
        scope, self.watches_terms = self.scope, asked_terms
        moves = scope.owners or scope.volumes or (scope.wide and (asked_terms or bool(self.watched)))
        self.is_of_nodes = not (scope.rowwise or scope.counted or moves)


# --- predicates -----------------------------------------------------------------------------------------------------


@attrs.define(eq=False, repr=False)
class FailuresAnswer(Answer[Failures | None]):
    """What a predicate has against each row; None: nothing against any."""

    answer: Failures | None = None
    has_errors: bool = False
    tells_row: Callable[[int], Reasons] | None = None
    """What tells the reasons against one row, once it was asked for; until all rows are evaluated again."""

    def ask(self, rule: Any, cycle: Cycle, nodes: Batch) -> Failures | None:
        found: Failures | None = rule.check(cycle.template, nodes, cycle)
        return found

    def told(self, nodes: Batch) -> Failures | None:
        return judged(self.values, nodes)

    @property
    def nbytes(self) -> int:
        return 0 if self.answer is None else self.answer.codes.nbytes

    def codes(self) -> Codes | None:
        """int64[size], 0 where the predicate passes the node; None where it passes all."""
        return None if self.answer is None else self.answer.codes

    def replace(self, found: Failures | None, size: int) -> None:
        if not self._says(found, size):
            self.trail.reset()
        self.answer, self.tells_row = found, None
        self.shared: bool = True
        self.size: int = size
        self.has_errors = found is not None and found.errors is not None
        # The codes are worked out now: until then they may be masks that are views of the table's own arrays.
        self.codes()

    def _says(self, found: Failures | None, size: int) -> bool:
        """Whether *found* turns down what was turned down before: then the early cutoff is here."""
        before = self.answer
        if found is None or before is None or self.size != size:
            return found is before and self.size == size
        if found is before and not found.codes.flags.writeable:
            return found.errors is None
        if found.errors is not None or before.errors is not None or found.sequences != before.sequences:
            return False
        return not np.count_nonzero(found.codes != before.codes)

    def put(self, rows: Rows, found: Failures | None) -> None:
        if found is None and self.answer is None:
            return
        self.trail.touch(rows)
        target = self._writable()
        target.codes[rows] = 0 if found is None else _recoded(found, target.sequences)
        if found is not None and found.errors is not None:
            errors = np.zeros(len(target.codes), np.int64)
            errors[rows] = found.errors
            self.answer, self.has_errors = Failures(target.codes, target.sequences, errors, found.texts), True

    def put_each(self, rows: Rows, tell: Callable[[int], Reasons]) -> None:
        """As :meth:`put`, where *tell* says what is against each of *rows*; a row against which there is what was before did not change."""
        changed = []
        for row in rows.tolist():
            reasons = tell(row)
            code = 0 if self.answer is None else self.answer.codes.item(row)
            if reasons != (() if not code or self.answer is None else self.answer.sequences[code]):
                changed.append((row, reasons))
        if not changed:
            return
        self.trail.touch(np.array([row for row, _ in changed], np.intp))
        target = self._writable()
        for row, reasons in changed:
            target.codes[row] = _code_of(reasons, target.sequences)

    def _writable(self) -> Failures:
        """The answer, or from now on a copy of it where others may have it too."""
        if self.answer is None:
            self.answer = Failures(np.zeros(self.size, np.int64), {})
        elif self.shared:
            self.answer = Failures(self.answer.codes.copy(), dict(self.answer.sequences), self.answer.errors, self.answer.texts)
        self.shared = False
        return self.answer


def _code_of(reasons: Reasons, sequences: dict[int, Reasons]) -> int:
    """The code of *reasons* among *sequences*, which gets them where it lacks them."""
    if not reasons:
        return 0
    found = next((code for code, known in sequences.items() if known == reasons), 0)
    if not found:
        found = max(sequences, default=0) + 1
        sequences[found] = reasons
    return found


def _recoded(found: Failures, sequences: dict[int, Reasons]) -> Codes:
    """The codes of *found* in the terms of *sequences*, which gets the reasons that it lacks."""
    if all(sequences.get(code) == reasons for code, reasons in found.sequences.items()):
        return found.codes
    known = {reasons: code for code, reasons in sequences.items()}
    table = np.zeros(max(found.sequences, default=0) + 1, np.int64)
    for code, reasons in found.sequences.items():
        number = known.get(reasons)
        if number is None:
            number = known[reasons] = max(sequences, default=0) + 1
            sequences[number] = reasons
        table[code] = number
    return table[found.codes]


# --- priorities -----------------------------------------------------------------------------------------------------


@attrs.define(eq=False, repr=False)
class ScoresAnswer(Answer[Scores]):
    """The raw scores of a priority. They are laid out over the rows when somebody asks for them: by value they may say enough."""

    constant: int | None = None
    """The score of all rows, where it is known to be the same for all."""
    _scores: Scores = attrs.field(factory=lambda: np.zeros(0, np.int64))
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
        return scored(self.values, nodes)

    def tell_all(self, nodes: Batch) -> None:
        if len(self.values) != 1:
            super().tell_all(nodes)
            return
        self.trail.reset()
        key, values = self.values[0]
        self.size: int = nodes.n
        self.constant, self._nodes = _constant(values.take(codes_in_use(nodes, key))), nodes

    def untell(self) -> None:
        super().untell()
        self._nodes = None

    @property
    def nbytes(self) -> int:
        return self._scores.nbytes

    def replace(self, found: Scores, size: int) -> None:
        if found is self.answer and size == self.size and not found.flags.writeable:
            # The very same scores, which nobody can have changed: but a reduce step may look at the counts behind them.
            self.trail.touch(NO_ROWS)
            self.shared = True
            return
        # No early cutoff otherwise: equal scores do not mean equal counts.
        self.trail.reset()
        self.constant, self.size, self._nodes = _constant(found), size, None
        self.shared: bool = True
        if self.constant is not None:
            # One array for all such answers: most pods that come are strangers to most rules.
            self._scores = _everywhere(self.constant, size)
            return
        # A view may be of one of the table's own arrays, which change.
        is_view = found.base is not None
        self._scores, self.shared = found.copy() if is_view else found, not is_view

    def put(self, rows: Rows, found: Scores) -> None:
        self.trail.touch(rows)
        scores = self.answer
        if self.shared:
            self._scores, self.shared = scores.copy(), False
        self._scores[rows] = found
        if self.constant is not None and (found != self.constant).any():
            self.constant = None


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
