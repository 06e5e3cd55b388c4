"""Long lists: sorted, searched, filtered, saved as CSV, with details of a row on demand; thousands of rows stay quick.

The first rows stand in the HTML; all rows are data in the page, of which ``assets/tables.js`` shows what is looked at.
"""

from __future__ import annotations

from typing import Any

from ....api.view import Amount, Column, Number, Table, Words
from ....api.words import count_of, percent, rounded
from .markup import Markup, Text, data_script, element, html, joined, named, number, spoken
from .parts import SAME, plain_table, tag, track


def amount_text(resource: str, number: int | None) -> str | None:
    """A number of millicores, bytes or pieces; None stays None, which tables show as ``-``.

    >>> amount_text("cpu", 1500), amount_text("memory", None)
    ('1.5', None)
    """
    return None if number is None else str(rounded(resource, number))


FIRST = 50
"""That many rows stand in the HTML."""


def list_html(table: Table) -> Markup:
    """*table* as a list that readers sort, search, filter and save."""
    shown = table.of_form("page")
    needs = [element("span", data_part="aligned", hidden="")] if table.shows == "aligned" else []
    parts = (_bar(shown), *needs, _list(shown), _foot(shown), data_script(f"{table.name}-data", list_data(shown)))
    return element("div", *parts, class_="card list", id=table.name, data_part="table")


def list_data(table: Table) -> dict[str, Any]:
    """What the script reads: columns with all values, and details."""
    columns = [_column(table, at, column) for at, column in enumerate(table.columns)]
    found = {"noun": table.noun, "several": table.plural, "count": len(table.rows), "columns": columns, "sort": table.sort}
    if table.details is None:
        return found
    return {**found, "shows": table.shows, "details": list(table.details), "shared": table.shared}


def _column(table: Table, at: int, column: Column) -> dict[str, Any]:
    values = [row[at] for row in table.rows]
    described = {
        "title": column.title,
        "key": column.key,
        "kind": "name" if column.kind == "host" else column.kind,
        "filter": column.filter,
    }
    if column.colours:
        described["colours"] = dict(column.colours)
    return {**described, **_packed(values)}


# --- what shows before scripts run ----------------------------------------------------------------------------------


def _bar(table: Table) -> Markup:
    """Search, filters and CSV: the script fills it in, as without it they do nothing."""
    return element("div", class_="bar", role="search", aria_label=f"Search {table.plural}", hidden="")


def _list(table: Table) -> Markup:
    heads = [element("th", column.title, scope="col", class_=_mark(column)) for column in table.columns]
    body = [element("tr", *map(_cell, table.columns, row)) for row in table.rows[:FIRST]]
    rows = element("table", element("thead", element("tr", *heads)), element("tbody", *body), class_="rows")
    return element("div", rows, class_="scroll", tabindex="0", role="region", aria_label=table.plural)


def _foot(table: Table) -> Markup:
    every, first = count_of(len(table.rows), table.noun, table.several), min(FIRST, len(table.rows))
    text = every if first == len(table.rows) else f"The first {number(first)} of {every}; scripts show all, and -o json has them"
    return element("p", text, class_="soft count", aria_live="polite")


def _packed(values: list[Any]) -> dict[str, Any]:
    """Values as they are; texts that come again and again once each, by number."""
    if not all(value is None or isinstance(value, str) for value in values):
        return {"values": values}
    places: dict[str | None, int] = {}
    found = [places.setdefault(value, len(places)) for value in values]
    return {"texts": list(places), "values": found} if 2 * len(places) < len(values) else {"values": values}


def _mark(column: Column) -> str | None:
    return "n" if column.is_number else None


def _cell(column: Column, value: Any) -> Markup:
    return element("td", shown_value(column, value), class_=_mark(column), data_label=column.title)


def shown_value(column: Column, value: Any) -> Markup:
    """A value as the table shows it; ``assets/format.js`` writes the same.

    >>> shown_value(Column("use", "share"), 0.125), shown_value(Column("cpu", "cores"), 1500), shown_value(Column("why"), None)
    ('12.5 %', '1.5', '-')
    """
    if value is None or value in ("", []):
        return html("-")
    if column.kind in ("tag", "tags"):
        words = [value] if isinstance(value, str) else value
        return joined((tag(word, column.colours.get(word, SAME)) for word in words), " ")
    if column.kind in ("name", "names", "host"):
        return joined(map(named, [value] if isinstance(value, str) else value))
    return html(_plain(column.kind, value))


def _plain(kind: str, value: Any) -> Text:
    match kind:
        case "share":
            return percent(value)
        case "cores":
            return rounded("cpu", value)
        case "bytes":
            return rounded("memory", value)
        case "decimal":
            return f"{value:,.3f}"
        case "seconds":
            return f"{value:,.1f} s"
        case "count":
            return number(value)
    return str(value)


# --- short tables ---------------------------------------------------------------------------------------------------


def short_table(table: Table, caption: str = "") -> Markup:
    """*table* as it is: for few rows."""
    shown = table.of_form("page")
    rows = [[_short(column, value) for column, value in zip(shown.columns, row, strict=True)] for row in shown.rows]
    return plain_table([column.title for column in shown.columns], rows, caption)


def _short(column: Column, value: Any) -> object:
    if value is None:
        return None
    if column.kind == "bar":
        return track(abs(value), column.colours["less" if value < 0 else "bar"])
    if isinstance(value, Words):
        return spoken(value)
    if isinstance(value, Number):
        return str(value) if value.resource else _plain(column.kind, value.value)
    if isinstance(value, Amount):
        return amount_text(value.resource, value.number)
    return shown_value(column, value)
