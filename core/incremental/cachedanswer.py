"""One rule's answer for the whole table: a derived value, and the revisions of what it was derived from."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

import attrs
import numpy as np

from ..arrays.batch import Batch
from ..arrays.census import PodCount
from ..arrays.counts import Clause, Sums, Watched, added, failures_of, terms_of
from ..arrays.reduction import Reduction
from ..arrays.table import NodeTable
from ..arrays.trail import NEVER
from ..arrays.types import Rows, Scores, is_anywhere
from ..cycle import Cycle
from ..failures import Codes, Failures, Reasons
from ..rule import ROWWISE, WIDE, Predicate, Priority, Reads

Rule = Predicate | Priority
Environment = tuple[int, int, int, int]
"""The revisions of node objects and, as far as the rule reads them, of affinity terms, services and
controllers, volumes."""
Still = tuple[int, int, int]
"""The revisions of node objects, affinity terms, services and controllers."""


class Unanswerable(Exception):
    """A predicate has an error for some row: this cycle must find out node by node whether the error counts."""


@attrs.frozen(eq=False)
class Scope:
    """What a rule reads, as far as it matters for when its answer is stale. There is one for each
    declaration."""

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

    @property
    def is_global(self) -> bool:
        """It reads something that no row shows."""
        return self.wide or self.owners or self.volumes

    @staticmethod
    @cache
    def of(reads: Reads) -> Scope:
        """That of a rule which declares *reads*."""
        return Scope(
            *(bool(reads & kind) for kind in (ROWWISE, Reads.COUNTS, WIDE, Reads.LISTINGS, Reads.VOLUMES))
        )


@attrs.define(eq=False, repr=False)
class Answer:
    """What a rule answered for all rows of the table. It is written by :class:`~.answers.AnswerCache` alone.

    It is *declared* where the rule said which counts it follows from, by ``clauses`` or ``sums``: then the
    rule is not asked again.
    """

    rule: Rule
    table: NodeTable
    answer: Any = None
    """Of a predicate Failures, or None where it has nothing against any row; of a priority int64[size], its
    raw scores."""
    declared: Sequence[Clause] | Sums | None = None
    revision: int = 0
    """Moves when the answer may have changed."""
    size: int = 0
    """Rows of the table when all were evaluated."""
    shared: bool = False
    """Others may have the arrays too, the rule or a reader: copy them before they change."""
    constant: int | None = None
    """The score of all rows, where it is known to be the same for all."""
    watches: list[Watched] = attrs.Factory(list)
    """The counters of the census that it depends on."""
    is_restless: bool = True
    """It depends on something that neither ``still`` nor a counter shows: pods of the row, or volumes."""
    verified_at: int = NEVER
    """The revision of the table for which the answer is right; NEVER: all rows are stale."""
    still: Still | None = None
    """The revisions of what seldom moves, then."""
    environment: Environment | None = None
    """The revisions of what this rule reads, when the answer was verified; None: it is stale."""
    is_kept: bool = True
    """The cache has not dropped it; else it is there as long as its readers are."""
    scope: Scope = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.scope = Scope.of(self.rule.reads)

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays, about."""
        if isinstance(self.answer, Failures):
            return self.answer.codes.nbytes
        return 0 if self.answer is None or self.constant is not None else self.answer.nbytes

    @property
    def watched(self) -> list[PodCount]:
        """The counters, each once."""
        return list(dict.fromkeys(watch.counter for watch in self.watches))

    @property
    def is_behind(self) -> bool:
        """Whether a counter moved since the answer was verified."""
        return any(watch.counter.revision != watch.seen for watch in self.watches)

    @property
    def has_errors(self) -> bool:
        """Whether a predicate has an error for some row."""
        return isinstance(self.answer, Failures) and self.answer.errors is not None

    def forget(self) -> None:
        """Evaluate all rows next time."""
        self.verified_at = NEVER
        self.still = None
        self.environment = None

    def ask(self, cycle: Cycle, nodes: Batch) -> Any:
        """What the rule answers for *nodes*."""
        if isinstance(self.rule, Predicate):
            return self.rule.check(cycle.template, nodes, cycle)
        return self.rule.score(cycle.template, nodes, cycle)

    # --- writing --------------------------------------------------------------------------------------------

    def declare(self, declared: Sequence[Clause] | Sums) -> None:
        """Follow what the rule *declared* just now."""
        if isinstance(declared, Sums):
            sums = declared.each
        else:
            sums = [one for clause in declared for one in clause.sums]
        also = declared.also if isinstance(declared, Sums) else ()
        self.watches = [
            Watched(counter) for counter in dict.fromkeys([*[term.counter for term in terms_of(sums)], *also])
        ]
        self.declared = declared
        self.is_restless = False
        self.follow()

    def follow(self) -> None:
        """Work a declared answer out anew."""
        nodes = Batch.everywhere(self.table)
        declared = self.declared
        if isinstance(declared, Sums):
            self._take(added(declared.each, nodes))
        else:
            self._take(failures_of([(clause, clause.judge()) for clause in declared or ()], nodes))

    def replace(self, found: Any, watched: Sequence[PodCount]) -> None:
        """Take what the rule answered for all rows, having looked at the counters *watched*."""
        self.declared = None
        self.is_restless = self.scope.rowwise or self.scope.volumes
        self.watches = [Watched(counter) for counter in dict.fromkeys(watched)]
        self._take(found)

    def _take(self, found: Any) -> None:
        self.size = self.table.size
        self.shared = True
        self.constant = None
        if isinstance(found, np.ndarray):
            self.constant = constant_of(found)
            if self.constant is not None:
                # One array for all such answers: most pods that come are strangers to most rules.
                found = everywhere(self.constant, len(found))
            elif found.base is not None:
                # A view may be of one of the table's own arrays, which change.
                found = found.copy()
                self.shared = False
            self.revision += 1
        elif not self._says(found):
            self.revision += 1
        self.answer = found
        if found is not None and isinstance(found, Failures):
            found.codes  # noqa: B018  # now: until then they may be masks that are views of the table's own arrays

    def _says(self, found: Failures | None) -> bool:
        """Whether *found* turns down what was turned down before."""
        before = self.answer
        if self.verified_at == NEVER or found is None or before is None:
            return found is before and self.verified_at != NEVER
        if found.errors is not None or before.errors is not None or found.sequences != before.sequences:
            return False
        return len(found.codes) == len(before.codes) and not is_anywhere(found.codes != before.codes)

    def put(self, rows: Rows, found: Any) -> None:
        """Take a new answer for *rows*."""
        before = self.answer
        if found is None and before is None:
            return
        self.revision += 1
        if isinstance(self.rule, Priority):
            if self.shared:
                self.answer = before.copy()
                self.shared = False
            self.answer[rows] = found
            if self.constant is not None and (found != self.constant).any():
                self.constant = None
            return
        # The answer, or from now on a copy of it where others may have it too.
        if before is None:
            self.answer = Failures(np.zeros(self.size, np.int64), {})
        elif self.shared:
            self.answer = Failures(before.codes.copy(), dict(before.sequences), before.errors, before.texts)
        self.shared = False
        target = self.answer
        target.codes[rows] = 0 if found is None else _recoded(found, target.sequences)
        if found is not None and found.errors is not None:
            errors = np.zeros(len(target.codes), np.int64)
            errors[rows] = found.errors
            self.answer = Failures(target.codes, target.sequences, errors, found.texts)


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


@lru_cache(1 << 4)
def everywhere(score: int, size: int) -> Scores:
    """The same *score* for each of *size* rows: int64[size], read only."""
    found = np.full(size, score)
    found.setflags(write=False)
    return found


def constant_of(scores: Scores) -> int | None:
    """The score that all rows have, or None."""
    if not len(scores) or scores[0] != scores[-1]:
        return None
    return int(scores[0]) if (scores == scores[0]).all() else None


def is_even(answer: Answer) -> bool:
    """Whether all nodes get the same for *answer*, whichever of them fit."""
    constant = answer.constant
    reduce = answer.rule.reduce if isinstance(answer.rule, Priority) else None
    return constant is not None and (
        reduce is None or (isinstance(reduce, Reduction) and reduce.zeros_alike and constant == 0)
    )
