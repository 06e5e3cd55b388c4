"""How often each raw score is there among the rows that fit: a reduce step that asks for no more need not look at all rows."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np

from ..arrays.batch import Batch
from ..arrays.table import NodeTable
from ..arrays.types import Ints, Mask, Rows, Scores
from ..rule import Counts

OUT = -(2**62)
"""Stands for the score of a row that does not fit."""
MOST_ROWS = 32
"""With more changed rows, scores are counted from nothing."""
MOST_SCORES = 64
"""With more different scores it is no faster to count them."""
STEADY = 2
"""Times that few rows have to change before scores are counted from nothing, which takes as long as to look at all of them five times."""
WIDEST = 1 << 12
"""Scores are not counted where the highest and the lowest are further apart; by zone, both times the number of zones."""


@attrs.define(eq=False, repr=False)
class FeasibleSet:
    """Which rows fit, and since when: a tally goes on counting where it is given the same object again."""

    fits: Mask
    """bool[rows]"""
    fits_everywhere: bool
    """Every row fits."""
    refitted: list[int] = attrs.field(factory=list)
    """The rows that fit and did not before, or no longer do, one after the other."""


@attrs.define(eq=False, repr=False)
class ScoreHistogram:
    """The raw scores of a priority, counted over the rows that fit; kept up to date while few rows change.

    With *by_zone* they are counted by zone too, as :data:`~..rule.Counts` says.
    """

    table: NodeTable
    by_zone: bool
    _counts: dict[int, int] = attrs.field(factory=dict)
    _held: Scores = attrs.field(factory=lambda: np.zeros(0, np.int64))
    """int64[rows]: what each row was counted as."""
    _fitting: FeasibleSet | None = None
    """Whose rows are counted; None: count from nothing."""
    _seen: int = 0
    """Entries of ``refitted`` that are in the counts."""
    _steady: int = 0
    """How often in a row few rows changed, before scores are counted from nothing."""
    _is_hopeless: bool = False
    """Scores are too many."""

    def forget(self) -> None:
        """Scores may have changed on any row."""
        self._fitting, self._steady = None, 0

    def counts(self, raw: Scores, rows: Rows | None, fitting: FeasibleSet) -> Counts | None:
        """The counts of *raw*: int64[rows of the table], which changed on no more than *rows* (None: on any); None: better not count."""
        if rows is None or len(rows) > MOST_ROWS or self._is_hopeless:
            self.forget()
            return None
        if self._fitting is fitting and len(fitting.refitted) - self._seen <= MOST_ROWS:
            self._follow(raw, rows.tolist() + fitting.refitted[self._seen :], fitting.fits)
        elif self._steady >= STEADY:
            self._begin(raw, fitting)
            self._steady = 0
        else:
            self._fitting, self._steady = None, self._steady + 1
            return None
        self._fitting, self._seen = fitting, len(fitting.refitted)
        self._is_hopeless = self._is_hopeless or len(self._counts) > MOST_SCORES
        return None if self._is_hopeless else self._counts

    def moved(self, raw: Scores, rows: Sequence[int], fitting: FeasibleSet) -> Counts | None:
        """As :meth:`counts`, where *rows* are few and nothing else changed; None where that is not all that is needed."""
        if self._fitting is not fitting or len(fitting.refitted) != self._seen or self._is_hopeless:
            return None
        self._follow(raw, rows, fitting.fits)
        return self._counts if len(self._counts) <= MOST_SCORES else None

    def _begin(self, raw: Scores, fitting: FeasibleSet) -> None:
        keys = self._keys(raw)
        lowest = int(keys.min()) if len(keys) else 0
        if len(keys) and int(keys.max()) - lowest > WIDEST:
            self._is_hopeless = True
            return
        self._held = keys.copy() if fitting.fits_everywhere else np.where(fitting.fits, keys, OUT)
        numbers = np.bincount((keys if fitting.fits_everywhere else keys[fitting.fits]) - lowest)
        present = numbers.nonzero()[0]
        self._counts = dict(zip((present + lowest).tolist(), numbers[present].tolist(), strict=True))

    def _keys(self, raw: Scores) -> Ints:
        zone = Batch.everywhere(self.table).zone
        return raw * len(zone.values) + zone.codes if self.by_zone else raw

    def _follow(self, raw: Scores, rows: Sequence[int], fits: Mask) -> None:
        """Count *rows*, of which each may occur twice, as they are now."""
        zone = self.table.zone
        zones, codes = len(zone.values), zone.codes
        for row in rows:
            score = raw.item(row)
            self._count(row, OUT if not fits.item(row) else score * zones + codes.item(row) if self.by_zone else score)

    def _count(self, row: int, now: int) -> None:
        """Count *row* as *now*, and no longer as what it was counted as."""
        counts, before = self._counts, self._held.item(row)
        if now == before:
            return
        self._held[row] = now
        if now != OUT:
            counts[now] = counts.get(now, 0) + 1
        if before != OUT:
            left = counts[before] - 1
            if left:
                counts[before] = left
            else:
                del counts[before]
