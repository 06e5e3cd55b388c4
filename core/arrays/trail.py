"""The rows of an array that changed, revision by revision: a derived value knows from it what is stale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

import attrs
import numpy as np

from .types import Rows

Step = TypeVar("Step")

NEVER = -1
"""The revision that a reader has seen before it looked for the first time."""
MAX_TRAIL = 1 << 14
"""Steps that are kept; a reader that is further behind looks at all rows."""


@attrs.define(eq=False, repr=False)
class Revisions(Generic[Step]):
    """Steps of change, numbered; the oldest ones are dropped where there are more than *limit*."""

    limit: int = MAX_TRAIL
    revision: int = 0
    """How many steps there were."""
    _start: int = 0
    """The earliest revision from which all later steps are kept."""
    _steps: list[Step] = attrs.Factory(list)

    def steps_since(self, revision: int) -> list[Step] | None:
        """The steps after *revision*, oldest first; None where they are no longer kept."""
        return None if revision < self._start else self._steps[revision - self._start :]

    @property
    def kept(self) -> int:
        """The number of steps that are known."""
        return len(self._steps)

    def extend(self, steps: Sequence[Step]) -> None:
        """These *steps* were taken."""
        self._steps += steps
        self.revision += len(steps)
        if len(self._steps) > self.limit:
            self._drop(len(self._steps) // 2)

    def begin_anew(self) -> None:
        """Anything may have changed: who has not looked since looks at all."""
        self.revision += 1
        self._start = self.revision
        self._steps.clear()

    def _drop(self, count: int) -> None:
        """Forget the oldest *count* steps."""
        del self._steps[:count]
        self._start += count


def distinct(rows: Sequence[int]) -> Rows:
    """Each of *rows* once, ascending: intp[k]."""
    found = sorted(set(rows)) if len(rows) > 1 else rows
    return np.fromiter(found, np.intp, len(found))
