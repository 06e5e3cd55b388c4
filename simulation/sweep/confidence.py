"""Means over seeds, and how sure they are: 95 % intervals by Student's t."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, stdev
from typing import Any

from .axes import SEED

Row = dict[str, Any]
T = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
"""The 97.5th percentile of Student's t for 1, 2, ... degrees of freedom."""
NORMAL = 1.96
DIGITS = 6


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """The mean, and the ends of its 95 % interval.

    >>> interval([10, 12, 14])
    (12.0, 7.031324, 16.968676)
    """
    mean = fmean(values)
    if len(values) < 2:
        return round(mean, DIGITS), round(mean, DIGITS), round(mean, DIGITS)
    half = student(len(values) - 1) * stdev(values) / math.sqrt(len(values))
    return round(mean, DIGITS), round(mean - half, DIGITS), round(mean + half, DIGITS)


def student(freedom: int) -> float:
    """The 97.5th percentile of Student's t, above 30 degrees of freedom to three digits.

    >>> student(1), round(student(60), 3)
    (12.706, 2.0)
    """
    if freedom <= len(T):
        return T[freedom - 1]
    return NORMAL + 2.373 / freedom + 2.82 / freedom**2


def over_seeds(rows: Sequence[Mapping[str, Any]], settings: Sequence[str], objectives: Sequence[str]) -> list[Row]:
    """A row for each configuration that ran with two seeds or more: ``seeds``, and of each objective mean, low and high.

    Failed runs, and objectives without a value, are left out.
    """
    kept = [key for key in settings if key != SEED]
    groups: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(repr(row.get(key)) for key in kept), []).append(row)
    return [_averaged(found, kept, objectives) for found in groups.values() if len({row.get(SEED) for row in found}) > 1]


def _averaged(rows: Sequence[Mapping[str, Any]], kept: Sequence[str], objectives: Sequence[str]) -> Row:
    right = [row for row in rows if row.get("error") is None]
    return {**{key: rows[0].get(key) for key in kept}, "seeds": len(right), **dict(_columns(right, objectives))}


def _columns(rows: Sequence[Mapping[str, Any]], objectives: Sequence[str]) -> Iterator[tuple[str, float | None]]:
    for name in objectives:
        values = [row[name] for row in rows if row.get(name) is not None]
        found = interval(values) if values else (None, None, None)
        yield from zip((name, f"{name} low", f"{name} high"), found, strict=True)
