"""The lists of a record as tables, with a column for each field of what they hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

Row: TypeAlias = "Mapping[str, Any]"
MOST_COLUMNS = 64
"""A field with more fields inside than that, such as one for each node, is left out."""


def rows_of(record: Row) -> dict[str, list[dict[str, Any]]]:
    """Name -> rows, for each list of objects in *record*.

    >>> rows_of({"pods": [{"pod": "a", "requests": {"cpu": 1}, "victims": ["b", "c"]}], "count": 1})
    {'pods': [{'pod': 'a', 'requests.cpu': 1, 'victims': 'b, c'}]}
    """
    lists = {name: value for name, value in record.items() if isinstance(value, Sequence) and not isinstance(value, str) and value}
    objects = {name: value for name, value in lists.items() if all(isinstance(each, Mapping) for each in value)}
    return {name: _flat_rows(value) for name, value in objects.items()}


def _flat_rows(rows: Sequence[Row]) -> list[dict[str, Any]]:
    flat = [dict(_flat("", row)) for row in rows]
    inside: dict[str, set[str]] = {}
    for row in flat:
        for name in row:
            inside.setdefault(name.partition(".")[0], set()).add(name)
    kept = {name for names in inside.values() if len(names) <= MOST_COLUMNS for name in names}
    return [{name: value for name, value in row.items() if name in kept} for row in flat]


def _flat(start: str, row: Row) -> Iterator[tuple[str, Any]]:
    """The fields of an object, those of objects inside it under both names; lists of objects are tables of their own and left out."""
    for name, value in row.items():
        if isinstance(value, Mapping):
            yield from _flat(f"{start}{name}.", value)
        elif not isinstance(value, Sequence) or isinstance(value, str):
            yield f"{start}{name}", value
        elif not any(isinstance(each, Mapping) for each in value):
            yield f"{start}{name}", ", ".join(map(str, value))
