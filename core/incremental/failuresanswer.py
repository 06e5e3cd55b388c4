"""What a predicate answered for the whole table."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np

from ..arrays.columns import RowsByCode
from ..arrays.counts import Clause, CountTerm, Refused, Watched, failures_of, rows_by_label, rows_in
from ..arrays.table import NodeTable
from ..arrays.trail import MOST_ROWS
from ..arrays.types import Mask, Rows, ValueCodes
from ..failures import Codes, Failures, Reasons
from .cachedanswer import Answer


@attrs.define(eq=False, repr=False)
class DomainTest:
    """One clause, and which domains it refuses."""

    clause: Clause
    codes: ValueCodes
    """intp[rows]: the domain of each row."""
    rows: RowsByCode
    """The rows of each domain."""
    limit: int | None
    refused: Refused

    @classmethod
    def of(cls, clause: Clause, table: NodeTable) -> DomainTest:
        """That of *clause* as it is now."""
        return cls(clause, clause.sum.column.codes, rows_by_label(table, clause.sum.key or ""), *clause.judge())

    def follow(self) -> Sequence[int] | None:
        """Bring it up to date; gives the domains, by code, that it refuses and did not, or no longer does; None: many."""
        refused, clause = self.refused, self.clause
        if clause.sum.is_few:
            self.limit, now = clause.judge()
            self.refused = now
            return () if now == refused else [code for code, answer in enumerate(now) if answer != refused[code]]
        assert isinstance(refused, np.ndarray)
        moved = clause.sum.moved(MOST_ROWS)
        limit = self.limit if clause.is_local else clause.limit(clause.sum.by_code())
        if moved is None or limit is None or limit != self.limit:
            self.limit, self.refused = clause.judge()
            found = np.not_equal(self.refused, refused).nonzero()[0]
            return found.tolist() if len(found) <= MOST_ROWS else None
        flipped: list[int] = []
        for code in moved:
            if refused.item(code) is not ((clause.sum.at_code(code) > limit) is not clause.wants):
                refused[code] = not refused[code]
                flipped.append(code)
        return flipped


@attrs.define(eq=False, repr=False)
class FailuresAnswer(Answer[Failures | None]):
    """What a predicate has against each row."""

    tests: Sequence[DomainTest] = ()
    """Of a declared answer; the first that refuses a row decides."""
    answer: Failures | None = None
    """What it has against each row; None: nothing against any."""

    def lay_out(self) -> None:
        self.answer, self.is_pending = failures_of([(test.clause, test.refused) for test in self.tests], self.everywhere), False

    @property
    def nbytes(self) -> int:
        refused = sum(test.refused.nbytes for test in self.tests if isinstance(test.refused, np.ndarray))
        return refused if self.answer is None else refused + self.answer.codes.nbytes

    def passes(self, row: int) -> bool:
        """Whether it has nothing against *row*."""
        if not self.is_declared:
            return self.answer is None or not self.answer.codes.item(row)
        for test in self.tests:  # noqa: SIM110  # a generator takes twice as long
            if test.refused[test.codes.item(row)]:
                return False
        return True

    def reasons(self, row: int) -> Reasons:
        """What it has against *row*; empty if nothing."""
        if not self.is_declared:
            return () if self.answer is None else self.answer.reasons(row)
        for test in self.tests:
            if test.refused[test.codes.item(row)]:
                return test.clause.reasons
        return ()

    def passed(self) -> Mask | None:
        """bool[size], the rows against which it has nothing; None: all."""
        if not self.is_declared:
            return None if self.answer is None else self.answer.codes == 0
        found: Mask | None = None
        for test in self.tests:
            if np.count_nonzero(test.refused):
                passed: Mask = np.logical_not(test.refused).take(test.codes[: self.size])
                found = passed if found is None else found & passed
        return found

    # --- declared ---------------------------------------------------------------------------------------------------

    def declare(self, declared: Sequence[Clause]) -> Sequence[Watched | CountTerm]:
        self.tests = [DomainTest.of(clause, self.table) for clause in declared]
        self.trail.reset()
        self.size, self.has_errors, self.answer, self.is_pending = self.table.size, False, None, bool(declared)
        sums = dict.fromkeys(one for clause in declared for one in (clause.sum, *clause.unless_none))
        return [each for one in sums for each in one.counts]

    def follow(self) -> None:
        rows: list[int] | None = []
        for test in self.tests:
            domains = test.follow()
            if domains is None:
                rows = None
            elif domains and rows is not None:
                mine = rows_in(test.rows, domains, MOST_ROWS)
                rows = None if mine is None else rows + mine
        for watch in self.watches:
            watch.seen = watch.counter.revision
        if rows is None:
            self.trail.reset()
        elif rows:
            self.trail.touch(rows)
        self.is_pending = self.is_pending or rows is None or bool(rows)

    # --- asked ------------------------------------------------------------------------------------------------------

    def replace(self, found: Failures | None) -> None:
        if not self._says(found):
            self.trail.reset()
        self.tests, self.is_pending = (), False
        self.answer, self.shared = found, True
        self.has_errors = found is not None and found.errors is not None
        if found is not None:
            found.codes  # noqa: B018  # now: until then they may be masks that are views of the table's own arrays

    def _says(self, found: Failures | None) -> bool:
        """Whether *found* turns down what was turned down before: then the early cutoff is here."""
        before = self.answer
        if self.is_declared or self.size != self.table.size or self.is_pending:
            return False
        if found is None or before is None:
            return found is before
        if found is before and not found.codes.flags.writeable:
            return found.errors is None
        if found.errors is not None or before.errors is not None or found.sequences != before.sequences:
            return False
        return not np.count_nonzero(found.codes != before.codes)

    def put(self, rows: Rows, found: Failures | None) -> None:
        if found is None and self.answer is None:
            return
        self.trail.touch(rows.tolist())
        # The answer, or from now on a copy of it where others may have it too.
        if self.answer is None:
            self.answer = Failures(np.zeros(self.size, np.int64), {})
        elif self.shared:
            before = self.answer
            self.answer = Failures(before.codes.copy(), dict(before.sequences), before.errors, before.texts)
        self.shared = False
        target = self.answer
        target.codes[rows] = 0 if found is None else _recoded(found, target.sequences)
        if found is not None and found.errors is not None:
            errors = np.zeros(len(target.codes), np.int64)
            errors[rows] = found.errors
            self.answer, self.has_errors = Failures(target.codes, target.sequences, errors, found.texts), True


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
