"""How often each raw score is there among the rows that fit: a reduce step that asks for no more need not look at all rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import attrs
import numpy as np

from ..arrays.batch import Batch
from ..arrays.table import NodeTable
from ..arrays.trail import Trail
from ..arrays.types import Ints, Mask, Rows, Scores
from ..rule import Counts

OUT = -(2**62)
"""Stands for the score of a row that does not fit."""
MOST_ROWS = 32
"""With more changed scores, they are counted from nothing; more rows that fit or no longer do are counted together."""
MOST_SCORES = 64
"""With more different scores it is no faster to count them."""
STEADY = 2
"""Times that few rows have to change before scores are counted from nothing, which takes as long as to look at all of them five times."""
WIDEST = 1 << 12
"""Scores are not counted where the highest and the lowest are further apart; by zone, both times the number of zones."""


@attrs.define(eq=False, repr=False)
class Fitting:
    """Which rows fit, and since when: a tally goes on counting where it is given the same object again."""

    fits: Mask
    """bool[rows]"""
    fits_everywhere: bool
    """Every row fits."""
    refitted: Trail = attrs.field(factory=Trail)
    """The rows that fit and did not before, or no longer do."""


@attrs.define(eq=False, repr=False)
class Tally:
    """The raw scores of a priority, counted over the rows that fit; kept up to date while few rows change.

    With *by_zone* they are counted by zone too, as :data:`~..rule.Counts` says.
    """

    table: NodeTable
    by_zone: bool
    _counts: dict[int, int] = attrs.field(factory=dict)
    _held: Scores = attrs.field(factory=lambda: np.zeros(0, np.int64))
    """int64[rows]: what each row was counted as."""
    _fitting: Fitting | None = None
    """Whose rows are counted; None: count from nothing."""
    _seen: int = 0
    """The revision of ``refitted`` that is in the counts."""
    _steady: int = 0
    """How often in a row few rows changed, before scores are counted from nothing."""
    _is_hopeless: bool = False
    """Scores are too many."""

    def forget(self) -> None:
        """Scores may have changed on any row."""
        self._fitting, self._steady = None, 0

    def counts(self, raw: Scores, rows: Rows | None, fitting: Fitting) -> Counts | None:
        """The counts of *raw*: int64[rows of the table], which changed on no more than *rows* (None: on any); None: better not count."""
        if rows is None or len(rows) > MOST_ROWS or self._is_hopeless:
            self.forget()
            return None
        if not self._follow(raw, rows.tolist(), fitting):
            if self._steady < STEADY:
                self._fitting, self._steady = None, self._steady + 1
                return None
            self._begin(raw, fitting)
            self._fitting, self._seen, self._steady = fitting, fitting.refitted.revision, 0
        self._is_hopeless = self._is_hopeless or len(self._counts) > MOST_SCORES
        return None if self._is_hopeless else self._counts

    def moved(self, raw: Scores, rows: Sequence[int], fitting: Fitting) -> Counts | None:
        """As :meth:`counts`, where *rows* are few; None where they cannot be followed."""
        if self._is_hopeless or not self._follow(raw, rows, fitting):
            return None
        return self._counts if len(self._counts) <= MOST_SCORES else None

    def _begin(self, raw: Scores, fitting: Fitting) -> None:
        keys = self._keys(raw)
        lowest = int(keys.min()) if len(keys) else 0
        if len(keys) and int(keys.max()) - lowest > WIDEST:
            self._is_hopeless = True
            return
        self._held = keys.copy() if fitting.fits_everywhere else np.where(fitting.fits, keys, OUT)
        self._counts = dict(_numbers(keys if fitting.fits_everywhere else keys[fitting.fits]))

    def _keys(self, raw: Scores, rows: Rows | None = None) -> Ints:
        """What *rows* (None: all) are counted as."""
        if rows is not None:
            raw = raw.take(rows)
        zone = Batch(self.table, rows).zone
        return raw * len(zone.values) + zone.codes if self.by_zone else raw

    def _follow(self, raw: Scores, rows: Sequence[int], fitting: Fitting) -> bool:
        """Count *rows*, whose scores changed, and those that were refitted as they are now; gives whether that was possible."""
        if self._fitting is not fitting:
            return False
        if self._seen != fitting.refitted.revision:
            steps = fitting.refitted.steps_since(self._seen)
            if steps is None:
                return False
            for refitted in steps:
                if len(refitted) > MOST_ROWS:
                    self._count_together(raw, refitted, fitting.fits)
                else:
                    self._count_each(raw, refitted.tolist(), fitting.fits)
            self._seen = fitting.refitted.revision
        self._count_each(raw, rows, fitting.fits)
        return True

    def _count_each(self, raw: Scores, rows: Sequence[int], fits: Mask) -> None:
        counts, held, zone = self._counts, self._held, self.table.zone
        for row in rows:
            now, before = OUT, held.item(row)
            if fits.item(row):
                now = raw.item(row) * len(zone.values) + zone.codes.item(row) if self.by_zone else raw.item(row)
            if now == before:
                continue
            held[row] = now
            if now != OUT:
                counts[now] = counts.get(now, 0) + 1
            if before != OUT:
                counts[before] -= 1
                if not counts[before]:
                    del counts[before]

    def _count_together(self, raw: Scores, rows: Rows, fits: Mask) -> None:
        """Count *rows*, of which each is there once, as they are now: such as those of a zone."""
        fit = fits.take(rows)
        number = np.count_nonzero(fit)
        self._add(self._held.take(rows), -1)
        if number < len(rows):
            self._held[rows] = OUT
        if number:
            came = rows if number == len(rows) else rows[fit]
            keys = self._held[came] = self._keys(raw, came)
            self._add(keys, 1)

    def _add(self, keys: Ints, sign: int) -> None:
        counts = self._counts
        for key, number in _numbers(keys):
            left = counts.get(key, 0) + sign * number
            if left:
                counts[key] = left
            else:
                del counts[key]


def _numbers(keys: Ints) -> Iterable[tuple[int, int]]:
    """Each of *keys* but OUT, and how often it is there."""
    highest = int(keys.max(initial=OUT))
    if highest == OUT:
        return ()
    lowest = int(keys.min())
    if lowest == OUT:
        keys = keys[keys != OUT]
        lowest = int(keys.min())
    if highest - lowest > WIDEST:
        return Counter(keys.tolist()).items()
    numbers = np.bincount(keys - lowest)
    present = numbers.nonzero()[0]
    return zip((present + lowest).tolist(), numbers[present].tolist(), strict=True)
