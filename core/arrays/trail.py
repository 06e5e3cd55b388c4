"""Which rows of an array changed, revision by revision: how a derived value knows what is stale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

import attrs
import numpy as np

from .types import Rows

Step = TypeVar("Step")

NEVER = -1
"""The revision that a reader has seen before it looked for the first time."""
NO_ROWS: Rows = np.zeros(0, np.intp)
MAX_TRAIL = 1 << 14
"""Row numbers that a trail keeps; a reader that is further behind looks at all rows."""
MOST_ROWS = 64
"""Rows that are put right one by one. Numpy looks at all of 5,000 rows in the time that plain Python takes for 64."""


@attrs.define(eq=False, repr=False)
class Revisions(Generic[Step]):
    """Steps of change, numbered; the oldest ones are dropped where there are more than *limit*."""

    limit: int = MAX_TRAIL
    revision: int = 0
    """How many steps there were."""
    _start: int = 0
    """The earliest revision from which all later steps are kept."""
    _steps: list[Step] = attrs.field(factory=list)

    def steps_since(self, revision: int) -> list[Step] | None:
        """The steps after *revision*, oldest first; None where they are no longer kept."""
        return None if revision < self._start else self._steps[revision - self._start :]

    def _drop(self, count: int) -> None:
        """Forget the oldest *count* steps."""
        del self._steps[:count]
        self._start += count


@attrs.define(eq=False, repr=False)
class Trail(Revisions[Sequence[int]]):
    """Which rows of an array changed, revision by revision; a reader keeps the revision that it has seen."""

    held: int = 0
    """Steps, and row numbers in all of them."""

    def touch(self, rows: Sequence[int]) -> None:
        """These *rows* changed; where they are more than :data:`MOST_ROWS`, any row may have."""
        if len(rows) > MOST_ROWS:
            self.reset()
            return
        self._steps.append(rows)
        self.revision: int = self.revision + 1
        self.held += len(rows) + 1
        if self.held > self.limit:
            self._drop((len(self._steps) + 1) // 2)

    def _drop(self, count: int) -> None:
        self.held -= sum(map(len, self._steps[:count])) + count
        super()._drop(count)

    def reset(self) -> None:
        """Any row may have changed."""
        self.revision += 1
        self._start, self.held = self.revision, 0
        self._steps.clear()

    def keeps(self, revision: int) -> bool:
        """Whether it is known which rows changed after *revision*, however many they are."""
        return revision >= self._start

    def since(self, revision: int) -> Sequence[int] | None:
        """The rows that changed after *revision*, one that changed twice perhaps twice; None: look at all, as they are many."""
        if revision == self.revision:
            return ()
        if revision < self._start:
            return None
        steps = self._steps[revision - self._start :]
        if len(steps) == 1:
            return steps[0]
        # Pods of other templates fill the same rows again, so up to twice as many can be few.
        return None if sum(map(len, steps)) > 2 * MOST_ROWS else [row for step in steps for row in step]


def distinct(rows: Sequence[int]) -> Rows:
    """Each of *rows* once, ascending: intp[k]."""
    found = sorted(set(rows)) if len(rows) > 1 else rows
    return np.fromiter(found, np.intp, len(found))
