"""Records for programs: JSON, and lists that are sorted by a column or written as CSV."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any, TypeVar

import attrs
import msgspec

from ...api.record import plain
from ...api.words import no_formula
from ...exceptions import UnknownNameError, did_you_mean

Record = Mapping[str, Any]
Path = tuple[str, ...]
T = TypeVar("T")


# --- sorting ------------------------------------------------------------------------------------------------


@attrs.frozen(repr=False)
class Sorting:
    """The order that ``--sort-by`` asks for: by *path*, the greatest first if *descending*; records without a
    value come last."""

    path: Path
    descending: bool = False

    @classmethod
    def parse(cls, text: str, columns: Mapping[str, Path]) -> Sorting:
        """Read the name of one of *columns*; with a minus before it, descending.

        Raises :class:`~kubeclassic.exceptions.UnknownNameError` for another one.
        """
        wanted = text.strip().removeprefix("-")
        name = plain_name(wanted)
        if name not in columns:
            hint = did_you_mean(name, columns)
            raise UnknownNameError(f'--sort-by: expected one of {", ".join(columns)}, got "{wanted}"{hint}')
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


def write_rows(found: Mapping[str, Any], stream: IO[str]) -> None:
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
    for number, (name, value) in enumerate(found.items()):
        stream.write(f"{',' if number else '{'}\n  {json.dumps(name)}: ")
        if isinstance(value, list | tuple) and value:
            stream.write("[\n    " + ",\n    ".join(map(json.dumps, value)) + "\n  ]")
        else:
            stream.write(json.dumps(value))
    stream.write("\n}\n")
