"""Long lists: sorted, searched, filtered, saved as CSV, with details of a row on demand; thousands of rows stay quick.

The first rows stand in the HTML; all rows are data in the page, of which ``assets/tables.js`` shows what is looked at.
"""

from __future__ import annotations

from typing import Any

from ....api.view import Amount, Table
from ....api.words import percent, rounded
from ..tables import shown

FIRST = 50
"""That many rows stand in the HTML."""


def list_data(table: Table) -> dict[str, Any]:
    """What the script reads: columns with all values, and details."""
    columns = [
        {
            "title": column.title, "key": column.key, "kind": "name" if column.kind == "host" else column.kind, "filter": column.filter,
            **({"colours": dict(column.colours)} if column.colours else {}), **_packed([row[at] for row in table.rows]),
        }
        for at, column in enumerate(table.columns)
    ]  # fmt: skip
    found = {"noun": table.noun, "several": table.plural, "count": len(table.rows), "columns": columns, "sort": table.sort}
    return found if table.details is None else {**found, "shows": table.shows, "details": list(table.details), "shared": table.shared}


def _packed(values: list[Any]) -> dict[str, Any]:
    """Values as they are; texts that come again and again once each, by number."""
    if not all(value is None or isinstance(value, str) for value in values):
        return {"values": values}
    places: dict[str | None, int] = {}
    found = [places.setdefault(value, len(places)) for value in values]
    return {"texts": list(places), "values": found} if 2 * len(places) < len(values) else {"values": values}


def written(value: Any, kind: str) -> str:
    """A value as the table shows it; ``assets/format.js`` writes the same.

    >>> written(0.125, "share"), written(1500, "cores"), written(Amount("memory", None), "amount")
    ('12.5 %', '1.5', '-')
    """
    if isinstance(value, Amount):
        return "-" if value.number is None else str(rounded(value.resource, value.number))
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    match kind, value:
        case _, bool():
            return "yes" if value else "no"
        case "share", _:
            return str(percent(value))
        case "cores" | "bytes", int():
            return str(rounded("cpu" if kind == "cores" else "memory", value))
        case "decimal", float():
            return f"{value:,.3f}"
        case "seconds", _:
            return f"{value:,.1f} s"
        case _, int():
            return f"{value:,}"
    return shown(value)
