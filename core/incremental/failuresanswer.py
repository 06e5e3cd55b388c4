"""What a predicate answered for the whole table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np

from ..arrays.batch import Batch
from ..arrays.types import Rows
from ..cycle import Cycle
from ..failures import Codes, Failures, Reasons
from .byvalue import judged
from .cachedanswer import Answer


@attrs.define(eq=False, repr=False)
class FailuresAnswer(Answer[Failures | None]):
    """What a predicate has against each row; None: nothing against any."""

    answer: Failures | None = None
    has_errors: bool = False

    def ask(self, rule: Any, cycle: Cycle, nodes: Batch) -> Failures | None:
        found: Failures | None = rule.check(cycle.template, nodes, cycle)
        return found

    def told(self, nodes: Batch) -> Failures | None:
        return judged(self.values or (), nodes)

    @property
    def nbytes(self) -> int:
        return 0 if self.answer is None else self.answer.codes.nbytes

    def codes(self) -> Codes | None:
        """int64[size], 0 where the predicate passes the node; None where it passes all."""
        return None if self.answer is None else self.answer.codes

    def replace(self, found: Failures | None, size: int) -> None:
        if not self._says(found, size):
            self.trail.reset()
        self.answer, self.shared, self.size = found, True, size
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

    def put_each(self, rows: Sequence[int], tell: Callable[[int], Reasons]) -> None:
        """As :meth:`put`; a row against which there is what was before did not change."""
        changed = []
        for row in rows:
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
