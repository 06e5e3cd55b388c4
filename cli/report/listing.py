"""Records for programs: JSON, and lists that are sorted by a field or written as CSV.

A field is a path into a record, in the form of kubectl's JSONPath: ``.requests.cpu``,
``requests.nvidia\\.com/gpu`` or ``.requests['nvidia.com/gpu']``.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import IO, Any, TypeVar

import attrs
import msgspec

from ...api.record import plain
from ...api.words import no_formula
from ...exceptions import UnknownNameError, did_you_mean

Record = Mapping[str, Any]
Path = tuple[str, ...]
T = TypeVar("T")

_PART = re.compile(r"\[\s*'([^']*)'\s*\]|\[\s*\"([^\"]*)\"\s*\]|((?:\\.|[^.\[\\])+)")


def path_of(field: str) -> Path:
    """The parts of a field.

    >>> path_of(".requests.cpu"), path_of("{.requests['nvidia.com/gpu']}")
    (('requests', 'cpu'), ('requests', 'nvidia.com/gpu'))
    """
    return tuple(
        one or two or re.sub(r"\\(.)", r"\1", bare)
        for one, two, bare in _PART.findall(field.strip().strip("{}"))
    )


def value_at(record: Any, path: Path) -> Any:
    """The value of *record* at *path*; None if there is none."""
    for part in path:
        record = record.get(part) if isinstance(record, Mapping) else None
    return record


# --- sorting ------------------------------------------------------------------------------------------------


@attrs.frozen(repr=False)
class Sorting:
    """The order that ``--sort-by`` asks for: by *path*, the greatest first if *descending*; records without a
    value come last."""

    path: Path
    descending: bool = False

    @classmethod
    def parse(cls, text: str, fields: Collection[str], aliases: Mapping[str, Path]) -> Sorting:
        """Read the name of a column (one of *aliases*) or a field, whose first part is one of *fields*; with
        a minus before it, descending.

        Raises :class:`~kubeclassic.exceptions.UnknownNameError` for another one.
        """
        wanted = text.strip().removeprefix("-")
        path = aliases.get(plain_name(wanted)) or path_of(wanted)
        if not path or (path[0] not in fields and plain_name(wanted) not in aliases):
            names = [*aliases] or [f".{name}" for name in fields]
            hint = did_you_mean(path[0] if path else "", [*fields, *aliases])
            raise UnknownNameError(f'--sort-by: expected one of {", ".join(names)}, got "{wanted}"{hint}')
        return cls(path, text.strip().startswith("-"))

    def sorted(self, records: Sequence[T]) -> list[T]:
        """*records*, typed or plain, in this order; equal ones stay as they are."""
        values = [value_at(plain(record), self.path) for record in records]
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
