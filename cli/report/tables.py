"""Tables that fit the terminal: names are shortened in the middle, sentences wrapped, and columns without room go below.

    >>> table = Table(["pod", "cpu"], [["shop/web-0", 7], ["shop/a-pod-with-a-long-name", 10]])
    >>> print("\\n".join(table.lines(width=20)))
    POD              CPU
    shop/web-0         7
    shop/a..g-name    10
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import IO

import attrs
import click

from .text import GAP, NO_HOST, Cell, is_number, shown

WIDTHS = "Tables fit the terminal, or the COLUMNS of the environment; without either nothing is cut."
"""For help texts."""

SHORTEST_NAME, SHORTEST_TEXT = 12, 30
LONGEST_LINE = 40
"""A column with longer cells, with blanks in them, is one of sentences."""
ELLIPSIS = ".."


def width_of(stream: IO[str]) -> int | None:
    """How many columns a table on *stream* may have: COLUMNS of the environment, or the terminal's; None where nothing has to be cut."""
    wanted = os.environ.get("COLUMNS", "")
    if wanted.isascii() and wanted.isdecimal() and int(wanted):
        return int(wanted)
    try:
        return os.get_terminal_size(stream.fileno()).columns if stream.isatty() else None
    except (OSError, ValueError):
        return None


def wants_colour(stream: IO[str]) -> bool:
    """Whether *stream* is a terminal, and the environment has no NO_COLOR."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def shorten(name: str, width: int) -> str:
    """*name* in at most *width* characters, without its middle: beginning and end say most.

    >>> shorten("shop/web-7d4b9c6f5-x2x9z", 15)
    'shop/we..-x2x9z'
    """
    if len(name) <= width:
        return name
    kept = max(width - len(ELLIPSIS), 0)
    tail = kept // 2
    return f"{name[: kept - tail]}{ELLIPSIS}{name[len(name) - tail :]}"[:width]


@attrs.frozen
class Table:
    """Rows of cells under *headers*; None is shown as ``-``, and columns of numbers are aligned at their right."""

    headers: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    with_headers: bool = True

    def lines(self, width: int | None = None, *, colour: bool = False) -> Iterator[str]:
        """The table's lines, at most *width* characters each, unless a column of numbers alone has more."""
        columns = [self._column(at) for at in range(len(self.headers))]
        for number, block in enumerate(_blocks(columns, width)):
            if number:
                yield ""
            yield from self._block(_fitted(block, width), colour)

    def write(self, stream: IO[str]) -> None:
        """Write the table as it suits *stream*, a terminal or not."""
        for line in self.lines(width_of(stream), colour=wants_colour(stream)):
            stream.write(f"{line}\n")

    def _column(self, at: int) -> _Column:
        cells = [row[at] for row in self.rows]
        texts = [shown(cell) for cell in cells]
        return _Column(self.headers[at].upper(), texts, bool(cells) and all(map(is_number, cells)), self.with_headers)

    def _block(self, columns: Sequence[_Column], colour: bool) -> Iterator[str]:
        if self.with_headers:
            heads = [column.aligned(column.header) for column in columns]
            yield click.style(GAP.join(heads).rstrip(), bold=True) if colour else GAP.join(heads).rstrip()
        parts = [column.parts() for column in columns]
        for row in range(len(self.rows)):
            lines = _row([part[row] for part in parts], columns)
            yield from (_coloured(line) for line in lines) if colour else lines


def write_tables(tables: Iterable[Table], stream: IO[str]) -> None:
    """Write *tables*, with an empty line between two."""
    for number, table in enumerate(tables):
        stream.write("\n" if number else "")
        table.write(stream)


# --- columns --------------------------------------------------------------------------------------------------------


@attrs.define
class _Column:
    header: str
    texts: list[str]
    is_numeric: bool
    with_header: bool
    width: int = attrs.field(init=False)
    is_wrapped: bool = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        longest = max(self.texts, key=len, default="")
        self.width = max(len(longest), self.least_header)
        self.is_wrapped = len(longest) > LONGEST_LINE and " " in longest

    @property
    def least_header(self) -> int:
        return len(self.header) if self.with_header else 1

    @property
    def least(self) -> int:
        """The smallest width that leaves something to read."""
        if self.is_numeric:
            return self.width
        return min(self.width, max(self.least_header, SHORTEST_TEXT if self.is_wrapped else SHORTEST_NAME))

    def aligned(self, text: str) -> str:
        return text.rjust(self.width) if self.is_numeric else text.ljust(self.width)

    def parts(self) -> list[list[str]]:
        """The lines of each cell."""
        if self.is_wrapped:
            return [_wrapped(text, self.width) for text in self.texts]
        return [[self.aligned(shorten(text, self.width))] for text in self.texts]


def _wrapped(text: str, width: int) -> list[str]:
    return [text] if len(text) <= width else textwrap.wrap(text, width) or [""]


def _blocks(columns: list[_Column], width: int | None) -> Iterator[list[_Column]]:
    """Columns that fit beside one another; each block begins with the first column."""
    block = columns[:1]
    for column in columns[1:]:
        if width is not None and len(block) > 1 and _total([*block, column], least=True) > width:
            yield block
            block = columns[:1]
        block.append(column)
    yield block


def _total(columns: Sequence[_Column], *, least: bool = False) -> int:
    return sum(column.least if least else column.width for column in columns) + len(GAP) * (len(columns) - 1)


def _fitted(columns: Sequence[_Column], width: int | None) -> list[_Column]:
    """Copies of *columns*, narrowed to *width* together: sentences first, then always the widest one."""
    fitted = [attrs.evolve(column) for column in columns]
    for wrapped in (True, False):
        chosen = [column for column in fitted if column.is_wrapped is wrapped]
        while width is not None and (excess := _total(fitted) - width) > 0:
            widest = max(chosen, key=lambda column: column.width - column.least, default=None)
            if widest is None or widest.width <= widest.least:
                break
            widest.width -= min(excess, widest.width - widest.least) if wrapped else 1
    return fitted


# --- rows -----------------------------------------------------------------------------------------------------------


def _row(cells: Sequence[Sequence[str]], columns: Sequence[_Column]) -> Iterator[str]:
    if all(len(cell) == 1 for cell in cells):
        yield GAP.join(column.aligned(cell[0]) for cell, column in zip(cells, columns, strict=True)).rstrip()
        return
    for number in range(max(map(len, cells))):
        texts = (cell[number] if number < len(cell) else "" for cell in cells)
        yield GAP.join(column.aligned(text) for text, column in zip(texts, columns, strict=True)).rstrip()


def _coloured(line: str) -> str:
    return line.replace(NO_HOST, click.style(NO_HOST, fg="red"), 1)
