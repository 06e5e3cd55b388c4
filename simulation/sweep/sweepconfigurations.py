"""The configurations of a sweep as they are compared: short names, means over seeds, and which are best in what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import attrs

from .axes import SEED, WEIGHT
from .measures import more_is_better

Row = Mapping[str, Any]
SPOKEN = ("name", "release", "policy", "profile", "provider", "order", "cluster", "trace", "input")
"""Settings whose values say by themselves what they are."""
DIGITS = 6


@attrs.frozen
class SweepConfiguration:
    """One of those that are compared, with the mean of each objective over its seeds."""

    name: str
    values: Mapping[str, float]


@attrs.frozen
class Best:
    """The configurations that are best in an objective, and their value."""

    objective: str
    value: float
    names: tuple[str, ...]


def configurations(rows: Sequence[Row], settings: Sequence[str], objectives: Sequence[str]) -> list[SweepConfiguration]:
    """Each configuration that has a run without an error."""
    kept = [key for key in settings if key != SEED]
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        if row["error"] is None:
            groups.setdefault(tuple(repr(row.get(key)) for key in kept), []).append(row)
    names = short_names([{key: group[0].get(key) for key in kept} for group in groups.values()])
    return [SweepConfiguration(name, _means(group, objectives)) for name, group in zip(names, groups.values(), strict=True)]


def _means(rows: Sequence[Row], objectives: Sequence[str]) -> dict[str, float]:
    values = {name: [row[name] for row in rows if row[name] is not None] for name in objectives}
    return {name: round(fmean(found), DIGITS) for name, found in values.items() if found}


def best_of(found: Sequence[SweepConfiguration], objectives: Sequence[str]) -> list[Best]:
    """Who is best in each objective in which configurations differ and of which one way is better."""
    answer = []
    for objective in objectives:
        values, more = [one.values[objective] for one in found if objective in one.values], more_is_better(objective)
        if more is None or len(set(values)) < 2:
            continue
        best = max(values) if more else min(values)
        answer.append(Best(objective, best, tuple(one.name for one in found if one.values.get(objective) == best)))
    return answer


def short_names(rows: Sequence[Row]) -> list[str]:
    """A name for each row: the settings that tell them apart, and no more.

    >>> short_names([{"name": "spread", "release": "1.14", "policy": None}, {"name": "pack", "release": "1.14", "policy": "p.yaml"}])
    ['spread', 'pack']
    >>> short_names([{"release": "1.14", "seed": 1}, {"release": "1.16", "seed": 1}])
    ['1.14', '1.16']
    """
    kept: list[str] = []
    groups = 1
    for key in rows[0] if rows else ():
        several = len({tuple(str(row[name]) for name in (*kept, key)) for row in rows})
        if several > groups:
            kept.append(key)
            groups = several
    found = [", ".join(_word(key, row[key]) for key in kept) for row in rows]
    return [name or f"configuration {at + 1}" for at, name in enumerate(found)]


def _word(key: str, value: Any) -> str:
    told = "none" if value is None else str(cell(value))
    return told if key in SPOKEN and value is not None else f"{key.removeprefix(WEIGHT)} {told}"


def cell(value: Any) -> Any:
    """*value* as one cell: lists as text, true and false as in YAML."""
    if isinstance(value, list | tuple):
        return "; ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else value
