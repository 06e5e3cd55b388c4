"""Long lists: sorted, searched, filtered, saved as CSV, with details of a row on demand; thousands of rows stay quick.

The first rows stand in the HTML; all rows are data in the page, of which ``assets/tables.js`` shows what is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from ..units import percent, rounded
from ..words import count_of
from .markup import Markup, Text, data_script, element, html, joined, number
from .parts import SAME, tag

FIRST = 50
"""That many rows stand in the HTML."""
KINDS = ("text", "name", "names", "tag", "tags", "count", "decimal", "share", "cores", "bytes", "seconds")
"""How a column's values show: texts, names and lists of them, words in frames; numbers: pieces, shares of 1, millicores, bytes, seconds."""
NUMBERS = KINDS[5:]


@attrs.frozen
class Column:
    """A column. Values are plain: str, a list of them, a number, or None."""

    title: str
    kind: str = attrs.field(default="text", validator=attrs.validators.in_(KINDS))
    filter: bool = attrs.field(default=False, kw_only=True)
    """Whether people choose among its values, which are few."""
    colours: Mapping[str, str] = attrs.field(factory=dict, kw_only=True)
    """Tags: value -> colour."""

    @property
    def key(self) -> str:
        """What stands for it in links."""
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")

    @property
    def is_number(self) -> bool:
        """Whether its values are aligned at their right."""
        return self.kind in NUMBERS


@attrs.frozen
class DataTable:
    """A long list; rows have a value for each column."""

    name: str
    """Its id; links to a view of it begin ``#name?``, and it is the name of its CSV file."""
    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]
    noun: str = attrs.field(default="row", kw_only=True)
    """What one row is."""
    several: str = attrs.field(default="", kw_only=True)
    """More than one of it, unless that takes an s."""
    details: Sequence[Any] | None = attrs.field(default=None, kw_only=True)
    """For each row what shows when it is opened, or None: pairs of a name and a text, or what *shows* wants."""
    shows: str = attrs.field(default="facts", kw_only=True)
    """Which script shows details: ``facts``, or ``aligned`` (:class:`~.aligned.AlignedData`)."""
    shared: Any = attrs.field(default=None, kw_only=True)
    """What all details have in common."""
    sort: str = attrs.field(default="", kw_only=True)
    """The title of the column that rows are sorted by at first, ``-`` before it: the highest first. Empty: as they come."""

    def html(self) -> Markup:
        """The table, with its data."""
        needs = [element("span", data_part="aligned", hidden="")] if self.shows == "aligned" else []
        parts = (self._bar(), *needs, self._table(), self._foot(), data_script(f"{self.name}-data", self.data()))
        return element("div", *parts, class_="card list", id=self.name, data_part="table")

    def data(self) -> dict[str, Any]:
        """What the script reads: columns with all values, and details."""
        columns = [self._column(at, column) for at, column in enumerate(self.columns)]
        found = {"noun": self.noun, "several": self._plural(), "count": len(self.rows), "columns": columns, "sort": self.sort}
        if self.details is None:
            return found
        return {**found, "shows": self.shows, "details": list(self.details), "shared": self.shared}

    def _column(self, at: int, column: Column) -> dict[str, Any]:
        values = [row[at] for row in self.rows]
        told = {"title": column.title, "key": column.key, "kind": column.kind, "filter": column.filter}
        if column.colours:
            told["colours"] = dict(column.colours)
        return {**told, **_packed(values)}

    # --- what shows before scripts run ------------------------------------------------------------------------------

    def _bar(self) -> Markup:
        """Search, filters and CSV: the script fills it in, as without it they do nothing."""
        return element("div", class_="bar", role="search", aria_label=f"Search {self._plural()}", hidden="")

    def _table(self) -> Markup:
        heads = [element("th", column.title, scope="col", class_=_mark(column)) for column in self.columns]
        body = [element("tr", *map(_cell, self.columns, row)) for row in self.rows[:FIRST]]
        table = element("table", element("thead", element("tr", *heads)), element("tbody", *body), class_="rows")
        return element("div", table, class_="scroll", tabindex="0", role="region", aria_label=self._plural())

    def _foot(self) -> Markup:
        every, first = count_of(len(self.rows), self.noun, self.several), min(FIRST, len(self.rows))
        told = every if first == len(self.rows) else f"The first {number(first)} of {every}; scripts show all, and -o json has them"
        return element("p", told, class_="soft count", aria_live="polite")

    def _plural(self) -> str:
        return self.several or f"{self.noun}s"


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
    if column.kind in ("name", "names"):
        return joined(element("span", word, class_="name") for word in ([value] if isinstance(value, str) else value))
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
