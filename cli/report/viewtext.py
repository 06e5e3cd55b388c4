"""A view as text: paragraphs first, then tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO

from ...api.units import percent, rounded
from ...api.view import Amount, Column, Paragraph, Table, View
from ...api.words import count_of
from .prose import wrapped
from .tables import TextTable, width_of
from .text import NO_HOST, Cell


def write_view(view: View, stream: IO[str], *, wide: bool = False, headers: bool = True) -> None:
    """Write *view* as it suits *stream*; *wide*: with everything that text has."""
    form, width = "wide" if wide else "table", width_of(stream)

    def said(paragraphs: Sequence[Paragraph]) -> list[str]:
        texts = ((one.text, one.hanging) for one in paragraphs if form in one.forms)
        return [f"{line}\n" for text, hanging in texts for line in list(wrapped([text], width, hanging)) or [""]]

    lines = said(view.paragraphs)
    stream.writelines(lines)
    begun = bool(lines)
    for table in view.tables_of(form):
        stream.write("\n" if begun else "")
        begun = True
        if lines := said(table.before):
            stream.writelines([*lines, "\n"])
        _write(table, stream, wide, headers)
        stream.writelines(said(table.after))


def _write(table: Table, stream: IO[str], wide: bool, headers: bool) -> None:
    rows = table.rows if wide else [row for at, row in enumerate(table.rows) if at not in table.minor][: table.most]
    cells = [[_cell(column, value) for column, value in zip(table.columns, row, strict=True)] for row in rows]
    TextTable([column.title for column in table.columns], cells, headers).write(stream)
    hidden = len(table.rows) - table.most if table.most is not None and not wide else 0
    if hidden > 0:
        stream.write(f"and {count_of(hidden, f'more {table.noun}', f'more {table.plural}')}: -o wide lists all\n")


def _cell(column: Column, value: object) -> Cell:
    if isinstance(value, Amount):
        return rounded(value.resource, value.number)
    match column.kind, value:
        case "host", None | "":
            return NO_HOST
        case "cores", int():
            return rounded("cpu", value)
        case "bytes", int():
            return rounded("memory", value)
        case "share", int() | float():
            return percent(value)
        case _, list() | tuple():
            return ", ".join(map(str, value))
    return value
