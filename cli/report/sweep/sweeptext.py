"""The table of a sweep for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ....api.words import Figure, count_of
from ....questions.sweep import SweepResult
from ....simulation.sweep.table import cell
from ..tables import TextTable
from ..text import Cell

DIGITS = 4


def sweep_tables(found: SweepResult) -> Iterator[TextTable]:
    """The runs, and then means over seeds if several ran; of a search, the trials that no other one beats, and then trial 0."""
    if found.found is not None:
        default = found.found.trials[0]
        yield _table(list(default), [*found.front, *([] if default in found.front else [default])])
        return
    columns = [column for column in found.columns if column != "error" or found.failed]
    yield _table(columns, found.rows)
    if found.confidence:
        kept = [key for key in found.settings if key != "seed"]
        yield _table([*kept, "seeds", *found.objectives], list(map(_together, found.confidence)))


def _together(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of means, each with its interval in one cell: ``21.3 (20.9 to 21.7)``."""
    told: dict[str, Any] = {}
    for name, value in row.items():
        if f"{name} low" not in row:
            told[name] = value
        elif value is not None:
            low, high = row[f"{name} low"], row[f"{name} high"]
            told[name] = Figure(short(value)) if low == high else f"{short(value)} ({short(low)} to {short(high)})"
    return told


def _table(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> TextTable:
    return TextTable(columns, [[_shown(row.get(column)) for column in columns] for row in rows])


def _shown(value: Any) -> Cell:
    found: Cell = Figure(short(value)) if isinstance(value, float) else cell(value)
    return found


def short(value: float) -> str:
    """A measure with four digits after the point, at most.

    >>> short(0.123456), short(3.0), short(12)
    ('0.1235', '3', '12')
    """
    return f"{value:.{DIGITS}f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def brief(value: float) -> str:
    """A measure as a sentence says it: two digits after the point from 10 on.

    >>> brief(20.3333), brief(0.095087), brief(1511)
    ('20.33', '0.0951', '1,511')
    """
    if isinstance(value, float) and abs(value) < 10:
        return short(value)
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def summary_line(found: SweepResult) -> str:
    """What ran, in a line."""
    told = count_of(len(found.rows), "run")
    if found.ran < len(found.rows):
        told += f", {found.ran} of them now"
    if found.failed:
        told += f", {found.failed} failed"
    if found.found is not None:
        told = f"{len(found.found.trials)} trials, {len(found.front)} of them beaten by no other; {told}"
    return told
