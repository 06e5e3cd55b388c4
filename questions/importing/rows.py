"""Tables of traces, row by row: CSV files with named columns, whose values are read with errors that say file, line and column."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import attrs

from ...api.reading.formats.files import check_size
from ...api.reading.mismatch import shown
from ...exceptions import ManifestError

PathLike = str | os.PathLike[str]
LONGEST = 80
"""Characters of a list of columns in a message."""
MOST_DIGITS = 15
"""Of a number in a trace: bytes of that many GiB can still be counted."""
A_WHOLE_NUMBER = "a whole number"
MOST_COPIES = 500_000
"""For how many pods or nodes one row can stand."""


@attrs.frozen(repr=False)
class TraceRow:
    """The values of a row by column, and where it is."""

    values: Mapping[str, str]
    """By column, without white space around them."""
    where: str

    def text(self, column: str) -> str:
        """The value of *column*, empty where the row or the table does not have it."""
        return self.values.get(column, "")

    def name(self, column: str) -> str:
        """The value of *column*, which is required."""
        found = self.text(column)
        if not found:
            raise self.error(column, "a name")
        return found

    def number(self, column: str, wanted: str = "a number") -> Decimal | None:
        """The number in *column*, of any sign; None where it is empty, or says that there is none (``null``, ``nan``)."""
        found = self.text(column)
        if found.lower() in ("", "null", "nan", "none"):
            return None
        try:
            number = Decimal(found) if found.isascii() else Decimal("nan")
        except InvalidOperation:
            raise self.error(column, wanted) from None
        if not number.is_finite() or number.adjusted() >= MOST_DIGITS:
            raise self.error(column, f"{wanted} of at most {MOST_DIGITS} digits")
        return number

    def amount(self, column: str) -> Decimal:
        """The number in *column*, 0 or more; 0 where it is empty."""
        found = self.number(column) or Decimal(0)
        if found < 0:
            raise self.error(column, "a number of 0 or more")
        return found

    def whole(self, column: str) -> int:
        """The whole number in *column*, 0 or more; 0 where it is empty."""
        found = self.number(column, A_WHOLE_NUMBER)
        if found is None and self.text(column):
            raise self.error(column, A_WHOLE_NUMBER)
        found = found or Decimal(0)
        if found < 0 or found != found.to_integral_value():
            raise self.error(column, A_WHOLE_NUMBER)
        return int(found)

    def seconds(self, column: str) -> Decimal | None:
        """The whole number of seconds in *column*; None where it is empty."""
        return Decimal(self.whole(column)) if self.text(column) else None

    def copies(self, column: str) -> int:
        """How many pods or nodes the row stands for."""
        if not self.text(column):
            raise self.error(column, A_WHOLE_NUMBER)
        found = self.whole(column)
        if found > MOST_COPIES:
            raise self.error(column, f"{MOST_COPIES:,} at most")
        return found

    def error(self, column: str, wanted: str) -> ManifestError:
        """The error that the value of *column* is not what is wanted."""
        got = shown(self.text(column)) if self.text(column) else "nothing"
        return ManifestError(f"{self.where}: {column}: expected {wanted}, got {got}")


def read_rows(path: PathLike, needed: Sequence[str]) -> Iterator[TraceRow]:
    """The rows of a CSV file, whose first line names the columns. Raises :class:`~kubeclassic.exceptions.ManifestError`.

    Columns that are *needed* must be among these; a row may end early, and lines without anything are skipped.
    """
    with errors_with_path(Path(path)), Path(path).open(newline="", encoding="utf-8-sig") as file:
        check_size(file, str(path))
        yield from _rows(csv.reader(file), str(path), needed)


def _rows(lines: Any, path: str, needed: Sequence[str]) -> Iterator[TraceRow]:
    header = [column.strip() for column in next(lines, [])]
    check_columns(f"{path}, line 1", header, needed)
    for values in lines:
        where = f"{path}, line {lines.line_num}"
        if len(values) > len(header):
            raise ManifestError(f"{where}: expected at most {len(header)} values, got {len(values)}")
        found = list(map(str.strip, values))
        if any(found):
            yield TraceRow(dict(zip(header, found, strict=False)), where)


def check_columns(where: str, header: Iterable[str], needed: Sequence[str]) -> None:
    """Raise :class:`~kubeclassic.exceptions.ManifestError` unless *header* has all columns that are *needed*."""
    there = list(header)
    missing = [column for column in needed if column not in there]
    if missing:
        raise ManifestError(f"{where}: expected the columns {','.join(missing)} too, got {told(there)}")


def told(columns: Sequence[str]) -> str:
    """The names of columns, as messages say them."""
    text = ",".join(columns) or "none"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 4]}..."


def columns_of(path: PathLike) -> list[str]:
    """The columns that the first line of a CSV file names. Raises :class:`~kubeclassic.exceptions.ManifestError`."""
    with errors_with_path(Path(path)), Path(path).open(newline="", encoding="utf-8-sig") as file:
        check_size(file, str(path))
        return [column.strip() for column in next(csv.reader(file), [])]


def each_filled(rows: Iterable[TraceRow], columns: Sequence[str]) -> Iterator[TraceRow]:
    """*rows*, none of which may be empty in one of *columns*. Raises :class:`~kubeclassic.exceptions.ManifestError`."""
    for row in rows:
        for column in columns:
            if not row.text(column):
                raise row.error(column, "a value")
        yield row


def each_once(rows: Iterable[TraceRow], column: str) -> Iterator[TraceRow]:
    """*rows*, whose names in *column* must differ. Raises :class:`~kubeclassic.exceptions.ManifestError`."""
    seen: set[str] = set()
    for row in rows:
        name = row.name(column)
        if name in seen:
            raise ManifestError(f"{row.where}: {column}: expected each name once, got {shown(name)} again")
        seen.add(name)
        yield row


@contextmanager
def errors_with_path(path: Path) -> Iterator[None]:
    """A context in which errors of the system and of CSV become :class:`~kubeclassic.exceptions.ManifestError` with *path*."""
    try:
        yield
    except OSError as error:
        raise ManifestError(f"{path}: {(error.strerror or 'cannot be read').lower()}") from None
    except UnicodeDecodeError:
        raise ManifestError(f"{path}: expected CSV in UTF-8, got bytes that are no text") from None
    except csv.Error as error:
        raise ManifestError(f"{path}: broken CSV: {error}") from None
