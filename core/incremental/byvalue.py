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
from ..arrays.types import Ints, Mask, Rows, Scores
from ..failures import Failures
from ..rule import DomainRejections, ScoresByValue

Told = Sequence[tuple[Any, ...]]
"""DomainRejections or ScoresByValue."""
LARGE_SHARE = 4
"""Where more than one row in that many changed, all are looked at."""


def rows_by_label(table: NodeTable, key: str) -> RowsByCode:
    """The rows of *table* by value of label *key*."""
    found: RowsByCode = table.node_derived(("rows by", key), lambda: RowsByCode.of(Batch.everywhere(table).label(key).codes))
    return found


def codes_in_use(nodes: Batch, key: str) -> Sequence[int]:
    """The values of label *key* that any row has, where *nodes* are all rows, by code."""
    found: Sequence[int] = nodes.table.node_derived(("used", key), lambda: np.bincount(nodes.label(key).codes).nonzero()[0].tolist())
    return found


def is_same(new: tuple[Any, ...], old: tuple[Any, ...]) -> bool:
    """Whether two parts are equal for certain: that of few values is a tuple, which is quick to compare, and may follow an array."""
    return new[1].__class__ is tuple and old[1].__class__ is tuple and new == old


def moved_rows(before: Told, now: Told, table: NodeTable) -> Rows | None:
    """The rows whose values *now* have another answer than *before*, each once: intp[k]; None: many, or the two are about other labels."""
    if len(before) != len(now):
        return None
    found: list[Rows] = []
    for old, new in zip(before, now, strict=True):
        if is_same(new, old):
            continue
        if old[0] != new[0] or len(old[1]) != len(new[1]) or old[2:] != new[2:]:
            return None
        moved = _moved(old[1], new[1])
        if moved:
            by_label = rows_by_label(table, new[0])
            found += [by_label.at(code) for code in moved]
    if not found:
        return NO_ROWS
    return None if sum(map(len, found)) * LARGE_SHARE > table.size else _together(found)


def _moved(old: Any, new: Any) -> list[int]:
    """The codes of values whose answers differ."""
    if new.__class__ is tuple:
        return [code for code, answer in enumerate(new) if answer != old[code]]
    moved: Mask = np.not_equal(old, new)
    return moved.nonzero()[0].tolist() if np.count_nonzero(moved) else []


def kept(told: Told) -> Told:
    """*told* as it is now: arrays may change later, and are copied."""
    return [part if part[1].__class__ is tuple else (part[0], part[1].copy(), *part[2:]) for part in told]


def _together(parts: list[Rows]) -> Rows:
    if len(parts) <= 1:
        return parts[0] if parts else NO_ROWS
    return np.array(sorted({row for part in parts for row in part.tolist()}), np.intp)


def one_score(nodes: Batch, key: str, values: Sequence[int] | Ints) -> int | None:
    """The score that all of *nodes*, which are all rows, get by the *values* of label *key*; None where they differ."""
    there = codes_in_use(nodes, key)
    found = {values[code] for code in there} if isinstance(values, tuple) else set(np.asarray(values).take(there).tolist())
    return found.pop() if len(found) == 1 else None


def scored(worths: ScoresByValue, nodes: Batch) -> Scores:
    """The raw scores of a batch: int64[n]."""
    found: Scores | None = None
    for key, values in worths:
        gathered: Ints = np.asarray(values, np.int64).take(nodes.label(key).codes)
        found = gathered if found is None else found + gathered
    return np.zeros(nodes.n, np.int64) if found is None else found


def judged(refusals: DomainRejections, nodes: Batch) -> Failures | None:
    """What is against the nodes of a batch."""
    codes: Any = None
    for number, (key, refused, _) in reversed(list(enumerate(refusals, 1))):
        if np.count_nonzero(refused):
            here = np.asarray(refused, np.bool_).take(nodes.label(key).codes)
            codes = here * np.int64(number) if codes is None else np.where(here, number, codes)
    return None if codes is None else Failures.coded(codes, [reasons for _, _, reasons in refusals])
