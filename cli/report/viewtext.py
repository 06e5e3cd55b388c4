"""A view as text: paragraphs and tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

from ...api.view import Amount, Column, Paragraph, Table, View
from ...api.words import Figure, count_of, decimal, percent, rounded
from .tables import NO_HOST, Cell, TextTable, wants_colour, width_of, wrapped


def write_view(view: View, stream: IO[str], *, wide: bool = False, headers: bool = True) -> None:
    """Write *view* as it suits *stream*; *wide*: with everything that text has."""
    lines = view_lines(view, "wide" if wide else "table", width_of(stream), headers=headers, colour=wants_colour(stream))
    stream.writelines(f"{line}\n" for line in lines)


def view_lines(view: View, form: str, width: int | None, *, headers: bool = True, colour: bool = False) -> Iterator[str]:
    """What text of *form* has of *view*, in lines of at most *width* characters."""
    begun = False
    for part in view.parts_of(form):
        if begun:
            yield ""
        begun = True
        for item in part:
            if isinstance(item, Paragraph):
                yield from list(wrapped([item.text], width if item.wraps else None, item.hanging)) or [""]
            else:
                yield from _table_lines(item, width, form == "wide", headers, colour)


def _table_lines(table: Table, width: int | None, wide: bool, headers: bool, colour: bool) -> Iterator[str]:
    rows = table.rows if wide else [row for at, row in enumerate(table.rows) if at not in table.minor][: table.most]
    cells = [[_cell(column, value) for column, value in zip(table.columns, row, strict=True)] for row in rows]
    yield from TextTable([column.title for column in table.columns], cells, headers).lines(width, colour=colour)
    hidden = len(table.rows) - table.most if table.most is not None and not wide else 0
    if hidden > 0:
        yield f"and {count_of(hidden, f'more {table.noun}', f'more {table.plural}')}: -o wide lists all"


def _cell(column: Column, value: object) -> Cell:
    if isinstance(value, Amount):
        return rounded(value.resource, value.number)
    match column.kind, value:
        case "host", None | "":
            return NO_HOST
        case "count", int():
            return Figure(f"{value:,}")
        case "cores", int():
            return rounded("cpu", value)
        case "bytes", int():
            return rounded("memory", value)
        case "share", int() | float():
            return percent(value)
        case "decimal", float():
            return decimal(value)
        case _, list() | tuple():
            return ", ".join(map(str, value))
    return value
