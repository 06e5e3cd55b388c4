"""The configurations of a sweep as they are compared: short names, values, and which are best in what."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from .measures import beats, more_is_better
from .sweepfolder import cell

Row = Mapping[str, Any]
SPOKEN = ("name", "release", "policy", "profile", "provider", "order", "cluster", "trace", "input")
"""Settings whose values say by themselves what they are."""


@attrs.frozen(repr=False)
class SweepConfiguration:
    """One of those that are compared."""

    name: str
    row: Row
    path: str
    """Of its row in ``-o json``."""

    def value(self, objective: str) -> float | None:
        """What it comes to."""
        found: float | None = self.row.get(objective)
        return found

    def ends(self, objective: str) -> tuple[float, float]:
        """The ends of its 95 % interval; without seeds both are the value."""
        value = self.value(objective) or 0.0
        return self.row.get(f"{objective} low", value), self.row.get(f"{objective} high", value)


def configurations(record: Mapping[str, Any]) -> list[SweepConfiguration]:
    """Each configuration with its mean over seeds, or without seeds each run that has not failed."""
    where = "confidence" if record["confidence"] else "runs"
    rows = [(at, row) for at, row in enumerate(record[where]) if not row.get("error")]
    settings = [key for key in record["settings"] if key != "seed"]
    names = short_names([{key: row.get(key) for key in settings} for _, row in rows])
    return [SweepConfiguration(name, row, f"{where}.{at}") for name, (at, row) in zip(names, rows, strict=True)]


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
    return told if key in SPOKEN and value is not None else f"{key.removeprefix('weights.')} {told}"


# --- which is best --------------------------------------------------------------------------------------------------


@attrs.frozen(repr=False)
class Best:
    """Who is best in an objective, and worst."""

    objective: str
    more: bool
    """Whether more is better."""
    best: tuple[SweepConfiguration, ...]
    worst: tuple[SweepConfiguration, ...]
    rivals: tuple[SweepConfiguration, ...] = ()
    """Others whose 95 % interval overlaps that of the best: more seeds might say that they are better."""


def best_of(found: Sequence[SweepConfiguration], objectives: Sequence[str]) -> list[Best]:
    """Who is best in each objective in which configurations differ and of which one way is better."""
    answer = []
    for objective in objectives:
        ways, groups = more_is_better(objective), defaultdict[float, list[SweepConfiguration]](list)
        for one in found:
            value = one.value(objective)
            if value is not None:
                groups[value].append(one)
        if ways is not None and len(groups) > 1:
            ends = sorted(groups, reverse=ways)
            best, others = groups[ends[0]], [one for end in ends[1:] for one in groups[end]]
            rivals = tuple(one for one in others if any(_overlap(one.ends(objective), each.ends(objective)) for each in best))
            answer.append(Best(objective, ways, tuple(best), tuple(groups[ends[-1]]), rivals))
    return answer


def _overlap(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]


def unbeaten(found: Sequence[SweepConfiguration], objectives: Sequence[str]) -> list[SweepConfiguration]:
    """Those that no other one beats: as good in all *objectives*, and better in one."""
    signs = {name: 1 if more_is_better(name) else -1 for name in objectives}

    def worth(one: SweepConfiguration) -> list[float]:
        return [sign * (one.value(name) or 0) for name, sign in signs.items()]

    values = [worth(one) for one in found]
    return [one for one, mine in zip(found, values, strict=True) if not any(beats(other, mine) for other in values)]
