"""Tables that fit the terminal: names are shortened in the middle, sentences wrapped, and columns without
room go below.

>>> table = TextTable(["pod", "cpu"], [["shop/web-0", 7], ["shop/a-pod-with-a-long-name", 10]])
>>> print("\\n".join(table.lines(width=20)))
POD              CPU
shop/web-0         7
shop/a..g-name    10
"""

from __future__ import annotations

import csv
import json
import os
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import IO, Any, TypeVar

import attrs
import click
import msgspec

from ...api.record import plain
from ...api.view import Amount, Column, Paragraph, Table, View
from ...api.words import Figure, count_of, decimal, no_formula, percent, rounded
from ...exceptions import UnknownNameError, did_you_mean, visible

GAP = "   "
NO_HOST = "<none>"
"""In place of a host that a pod does not have."""

Cell = object


def shown(cell: Cell) -> str:
    """A cell's text.

    >>> shown(None), shown(1.25), shown(7)
    ('-', '1.2', '7')
    """
    if cell is None or cell == "":
        return "-"
    text = f"{cell:.1f}" if isinstance(cell, float) else str(cell)
    return text if text.isprintable() else visible(text)


def is_number(cell: Cell) -> bool:
    """Whether *cell* is a number, or nothing: columns of such are aligned at their right."""
    return cell is None or (isinstance(cell, int | float | Figure) and not isinstance(cell, bool))


SHORTEST_NAME = 12
SHORTEST_TEXT = 22
READABLE_NAME = 20
READABLE_TEXT = 44
"""Widths that are kept where there is room for them: columns go below before names are shorter."""
LONGEST_LINE = 40
"""A column with longer cells, with blanks in them, is one of sentences."""
MOST_LINES = 3
"""A sentence that would take more lines goes below, where it has more room."""
ELLIPSIS = ".."


def width_of(stream: IO[str]) -> int | None:
    """The number of columns of a table on *stream*: the terminal's, or COLUMNS of the environment; None if it
    is no terminal.

    Then nothing is cut, so that programs get all of it.
    """
    if not stream.isatty():
        return None
    columns = os.environ.get("COLUMNS", "")
    if columns.isascii() and columns.isdecimal() and len(columns) < 10 and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(stream.fileno()).columns or None
    except OSError:
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


@attrs.frozen(repr=False)
class TextTable:
    """Rows of cells under *headers*; None is shown as ``-``, and columns of numbers are aligned at their
    right."""

    headers: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    with_headers: bool = True

    def lines(self, width: int | None = None, *, colour: bool = False) -> Iterator[str]:
        """The table's lines, at most *width* characters each, unless a column of numbers alone has more."""
        columns = []
        for at, header in enumerate(self.headers):
            cells = [row[at] for row in self.rows]
            is_numeric = all(map(is_number, cells)) and any(cell is not None for cell in cells)
            columns.append(_Column(header.upper(), list(map(shown, cells)), is_numeric, self.with_headers))
        # Columns that fit beside one another; each block begins with the first column.
        blocks = [columns[:1]]
        for column in columns[1:]:
            narrowest = _total(
                column.least(READABLE_NAME, column.least_text) for column in (*blocks[-1], column)
            )
            if width is not None and len(blocks[-1]) > 1 and narrowest > width:
                blocks.append(columns[:1])
            blocks[-1].append(column)
        for number, block in enumerate(blocks):
            if number:
                # What stands below another block has only the rows of which it says anything.
                rows = [
                    at
                    for at in range(len(self.rows))
                    if any(column.texts[at] != shown(None) for column in block[1:])
                ]
                if not rows:
                    continue
                block = [attrs.evolve(column, texts=[column.texts[at] for at in rows]) for column in block]
                yield ""
            fitted = [attrs.evolve(column) for column in block]
            for name, text in ((READABLE_NAME, READABLE_TEXT), (SHORTEST_NAME, SHORTEST_TEXT)):
                for is_wrapped in (True, False):
                    # Always the column that has most to give, down to what each keeps at least.
                    chosen = [column for column in fitted if column.is_wrapped is is_wrapped]
                    while width is not None and chosen and _total(column.width for column in fitted) > width:
                        widest = max(chosen, key=lambda column: column.width - column.least(name, text))
                        if widest.width <= widest.least(name, text):
                            break
                        widest.width -= 1
            if self.with_headers:
                heads = GAP.join(column.aligned(column.header) for column in fitted).rstrip()
                yield click.style(heads, bold=True) if colour else heads
            for parts in zip(*(column.parts() for column in fitted), strict=True):
                for texts in zip_longest(*parts, fillvalue=""):
                    aligned = (column.aligned(text) for text, column in zip(texts, fitted, strict=True))
                    line = GAP.join(aligned).rstrip()
                    yield line.replace(NO_HOST, click.style(NO_HOST, fg="red"), 1) if colour else line


# --- columns ------------------------------------------------------------------------------------------------


@attrs.define(repr=False)
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
    def least_text(self) -> int:
        """The smallest width beside other columns, where the column is one of sentences."""
        return max(SHORTEST_TEXT, -(-max(map(len, self.texts), default=0) // MOST_LINES))

    def least(self, name: int, text: int) -> int:
        """The smallest width, where names are to keep *name* characters and sentences *text* in a line."""
        if self.is_numeric:
            return self.width
        return min(self.width, max(self.least_header, text if self.is_wrapped else name))

    def aligned(self, text: str) -> str:
        return text.rjust(self.width) if self.is_numeric else text.ljust(self.width)

    def parts(self) -> list[list[str]]:
        """The lines of each cell."""
        if not self.is_wrapped:
            return [[shorten(text, self.width)] for text in self.texts]
        return [
            [text] if len(text) <= self.width else textwrap.wrap(text, self.width) or [""]
            for text in self.texts
        ]


def _total(widths: Iterable[int]) -> int:
    numbers = list(widths)
    return sum(numbers) + len(GAP) * (len(numbers) - 1)


# --- sentences ----------------------------------------------------------------------------------------------


def wrapped(sentences: Iterable[str], width: int | None, hanging: str = "") -> Iterator[str]:
    """Each of *sentences* on lines of its own, *width* characters at most; empty ones are left out.

    Its further lines begin as far to the right as the first, and with *hanging* there.
    """
    for sentence in map(visible, filter(None, sentences)):
        indent = " " * (len(sentence) - len(sentence.lstrip())) + hanging
        wrapper = textwrap.TextWrapper(
            width or 0, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )
        yield from wrapper.wrap(sentence) if width else [sentence]


def write_view(view: View, stream: IO[str], *, wide: bool = False, headers: bool = True) -> None:
    """Write *view* as it suits *stream*; *wide*: with everything that text has."""
    lines = view_lines(
        view, "wide" if wide else "table", width_of(stream), headers=headers, colour=wants_colour(stream)
    )
    stream.writelines(f"{line}\n" for line in lines)


def view_lines(
    view: View, form: str, width: int | None, *, headers: bool = True, colour: bool = False
) -> Iterator[str]:
    """The text of *view* in *form*, in lines of at most *width* characters."""
    begun = False
    for parts in filter(None, (section.shown(form) for section in view.sections)):
        if begun:
            yield ""
        begun = True
        for part in parts:
            match part:
                case Paragraph():
                    yield from list(
                        wrapped([str(part.text)], width if part.wraps else None, part.hanging)
                    ) or [""]
                case Table():
                    wide = form == "wide"
                    if wide:
                        rows = part.rows
                    else:
                        rows = [row for at, row in enumerate(part.rows) if at not in part.minor][: part.most]
                    cells = [
                        [_cell(column, value) for column, value in zip(part.columns, row, strict=True)]
                        for row in rows
                    ]
                    yield from TextTable([column.title for column in part.columns], cells, headers).lines(
                        width, colour=colour
                    )
                    hidden = len(part.rows) - part.most if part.most is not None and not wide else 0
                    if hidden > 0:
                        yield f"and {count_of(hidden, f'more {part.noun}', f'more {part.plural}')}: -o wide lists all"


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


# --- records for programs: JSON, and lists that are sorted by a column or written as CSV --------------------


Record = Mapping[str, Any]
Path = tuple[str, ...]
T = TypeVar("T")


# --- sorting ------------------------------------------------------------------------------------------------


@attrs.frozen(repr=False)
class Sorting:
    """The order that ``--sort-by`` asks for: by *path*, the greatest first if *descending*; records without a
    value come last."""

    path: Path
    descending: bool

    @classmethod
    def parse(cls, text: str, columns: Mapping[str, Path]) -> Sorting:
        """Read the name of one of *columns*; with a minus before it, descending.

        Raises :class:`~kubeclassic.exceptions.UnknownNameError` for another one.
        """
        title = text.strip().removeprefix("-")
        name = title if title in columns else plain_name(title)
        if name not in columns:
            full = [column for column in columns if column.endswith(f"/{name}")]
            hint = "" if full else did_you_mean(name, columns)
            expected = ", ".join(full or columns)
            raise UnknownNameError(f'--sort-by: expected one of {expected}, got "{title}"{hint}')
        return cls(columns[name], text.strip().startswith("-"))

    def sorted(self, records: Sequence[T]) -> list[T]:
        """*records*, typed or plain, in this order; equal ones stay as they are."""
        values = list[Any](map(plain, records))
        for part in self.path:
            values = [value.get(part) if isinstance(value, Mapping) else None for value in values]
        others = [at for at, value in enumerate(values) if value is None]

        def rank(at: int) -> tuple[bool, Any]:
            value = values[at]
            return (False, value) if isinstance(value, int | float) else (True, written(value))

        ordered = sorted(
            (at for at, value in enumerate(values) if value is not None), key=rank, reverse=self.descending
        )
        return [records[at] for at in (*ordered, *others)]


def plain_name(header: str) -> str:
    """A column's name as it is looked up: blanks, dashes and capitals do not count.

    >>> plain_name("CPU FREE"), plain_name("evictedBy")
    ('cpu-free', 'evicted-by')
    """
    return re.sub(r"[\s_-]+|(?<=[a-z])(?=[A-Z])", "-", header.strip()).lower()


# --- CSV ----------------------------------------------------------------------------------------------------


def write_csv(
    records: Sequence[Record], stream: IO[str], *, headers: bool = True, first: Sequence[str] = ()
) -> None:
    """Write *records* with a column for each field that any of them has, exact; fields of fields are named
    with dots, and stand together.

    *first*: columns that are there in any case, before all others.
    """
    rows = [dict(_flat(record)) for record in records]
    names = list(dict.fromkeys([*first, *_names(records)]))
    writer = csv.writer(stream, lineterminator="\n")
    if headers and names:
        writer.writerow(names)
    writer.writerows([no_formula(row.get(name)) for name in names] for row in rows)


def _names(records: Sequence[Record], before: str = "") -> Iterator[str]:
    for name in dict.fromkeys(name for record in records for name in record):
        values = [record[name] for record in records if name in record]
        inner = [value for value in values if isinstance(value, Mapping)]
        if len(inner) < len(values):
            yield f"{before}{name}"
        yield from _names(inner, f"{before}{name}.")


def _flat(record: Record, before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in record.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", written(value) if isinstance(value, list) else value


def written(value: Any) -> str:
    """A value as one text: a list's entries with blanks between them, a map as JSON."""
    if isinstance(value, list):
        return " ".join(map(str, value))
    return json.dumps(value) if isinstance(value, Mapping) else str(value)


# --- JSON ---------------------------------------------------------------------------------------------------


def indented(value: Any) -> str:
    """The text of ``json.dumps(value, indent=2)``, in a tenth of the time.

    >>> print(indented({"pods": [{"pod": "a"}], "none": []}))
    {
      "pods": [
        {
          "pod": "a"
        }
      ],
      "none": []
    }
    """
    try:
        return msgspec.json.format(json.dumps(value, allow_nan=False), indent=2)
    except (
        ValueError,
        OverflowError,
        msgspec.DecodeError,
    ):  # only Python's JSON has infinite numbers, huge ones and halves of characters
        return json.dumps(value, indent=2)


def write_rows(document: Mapping[str, Any], stream: IO[str]) -> None:
    """Write a document of long lists as JSON: a line for each entry of a list, which is fast and good to
    search with ``grep``.

    >>> import sys
    >>> write_rows({"pods": [{"pod": "a"}, {"pod": "b"}], "summary": {"placed": 2}}, sys.stdout)
    {
      "pods": [
        {"pod": "a"},
        {"pod": "b"}
      ],
      "summary": {"placed": 2}
    }
    """
    for number, (name, value) in enumerate(document.items()):
        stream.write(f"{',' if number else '{'}\n  {json.dumps(name)}: ")
        if isinstance(value, list | tuple) and value:
            stream.write("[\n    " + ",\n    ".join(map(json.dumps, value)) + "\n  ]")
        else:
            stream.write(json.dumps(value))
    stream.write("\n}\n")
