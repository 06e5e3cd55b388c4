"""What a standing follows beside its row-wise half: rules, what is remembered of their answers, and what was seen of it."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from ..rule import Predicate, Priority, Reduction, Scores
from .answers import Answer


@attrs.define(eq=False)
class TrackedPredicate:
    """A predicate that looks beyond the row, what is remembered of its answer, and which of its answers was last looked at."""

    predicate: Predicate
    kept: Answer
    seen: int = 0


@attrs.define(eq=False)
class TrackedPriority:
    """A priority that looks beyond the row or has a reduce step, and its reduced scores for all rows."""

    priority: Priority
    weight: int
    kept: Answer
    whole: int = 0
    edits: int = 0
    """Which of the remembered scores were last looked at."""
    summary: Any = None
    reduced: Scores = attrs.field(factory=lambda: np.zeros(0, np.int64))
    counts: bool = False
    """It tells rows apart: else its scores are the same for all, and are left out."""
    depends_on_window: bool = False
    """Its scores depend on which of the rows that fit are feasible, so they are worked out over those alone, cycle by cycle."""

    @property
    def is_current(self) -> bool:
        """Whether its scores are as they were, if the same rows fit."""
        if self.whole != self.kept.whole or self.edits != self.kept.edits:
            return False
        return not self.counts or self.priority.reduce is None or isinstance(self.priority.reduce, Reduction)

    def judge(self, window: bool) -> None:
        """Tell by the raw scores whether it counts; with *window* not all rows that fit are feasible."""
        self.whole, self.edits = self.kept.whole, self.kept.edits
        level, reduce = self.kept.level, self.priority.reduce
        same = level is not None and (reduce is None or (isinstance(reduce, Reduction) and reduce.zeros_alike and level == 0))
        self.depends_on_window = not same and reduce is not None and window
        self.counts = not same and not self.depends_on_window
