"""Answers that rules tell by values of labels: a row is touched only where the answer of its value became another.

Values are few (zones), or most of them stay as they are (host names). So they are compared before any row is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays.batch import Batch
from ..arrays.columns import RowsByCode
from ..arrays.table import NodeTable
from ..arrays.trail import NO_ROWS
from ..arrays.types import Ints, Mask, Rows, Scores, ValueCodes
from ..failures import Failures
from ..rule import Refusals, Worths

Told = Sequence[tuple[Any, ...]]
"""Refusals or Worths."""
LARGE_SHARE = 4
"""Where more than one row in so many changed, all are looked at."""


def rows_by_label(table: NodeTable, key: str) -> RowsByCode:
    """The rows of *table* by value of label *key*."""
    found: RowsByCode = table.once(("rows by", key), lambda: RowsByCode.of(Batch.everywhere(table).label(key).codes))
    return found


def codes_in_use(nodes: Batch, key: str) -> ValueCodes:
    """The values of label *key* that any row has, where *nodes* are all rows, by code: intp[k]."""
    found: ValueCodes = nodes.table.once(("codes in use", key), lambda: np.bincount(nodes.label(key).codes).nonzero()[0])
    return found


def moved_rows(before: Told, now: Told, table: NodeTable) -> Rows | None:
    """The rows whose values *now* have another answer than *before*, each once: intp[k]; None: many, or the two are about other labels."""
    if len(before) != len(now):
        return None
    found: list[Rows] = []
    for (key, old, *reasons), (other, new, *others) in zip(before, now, strict=True):
        if key != other or len(old) != len(new) or reasons != others:
            return None
        moved: Mask = np.not_equal(old, new)
        if np.count_nonzero(moved):
            by_label = rows_by_label(table, key)
            found += [by_label.at(code) for code in moved.nonzero()[0].tolist()]
    if sum(map(len, found)) * LARGE_SHARE > table.size:
        return None
    return _together(found)


def kept(told: Told) -> Told:
    """*told* as it is now, in arrays of its own."""
    return [(key, values.copy(), *reasons) for key, values, *reasons in told]


def _together(parts: list[Rows]) -> Rows:
    if len(parts) <= 1:
        return parts[0] if parts else NO_ROWS
    return np.array(sorted({row for part in parts for row in part.tolist()}), np.intp)


def scored(worths: Worths, nodes: Batch) -> Scores:
    """The raw scores of a batch: int64[n]."""
    found: Scores | None = None
    for key, values in worths:
        gathered: Ints = values.take(nodes.label(key).codes)
        found = gathered if found is None else found + gathered
    return np.zeros(nodes.n, np.int64) if found is None else found


def judged(refusals: Refusals, nodes: Batch) -> Failures | None:
    """What is against the nodes of a batch."""
    codes: Any = None
    for number, (key, refused, _) in reversed(list(enumerate(refusals, 1))):
        if np.count_nonzero(refused):
            here = refused.take(nodes.label(key).codes)
            codes = here * np.int64(number) if codes is None else np.where(here, number, codes)
    return None if codes is None else Failures.coded(codes, [reasons for _, _, reasons in refusals])
