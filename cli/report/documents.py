"""JSON documents for programs: each says what it is, so that a reader can look for its schema (``kubeclassic schema``)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import IO, Any

import msgspec

from ...api.record import API_VERSION, UNSET, DocumentRecord, Record, as_document, plain


def indented(value: Any) -> str:
    """What ``json.dumps(value, indent=2)`` writes, in a tenth of the time.

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
    except (ValueError, OverflowError, msgspec.DecodeError):  # only Python's JSON has infinite numbers, huge ones and halves of characters
        return json.dumps(value, indent=2)


def document_text(answer: DocumentRecord) -> str:
    """*answer* as :func:`indented` writes its document, without making dicts and lists of it where that can be avoided."""
    parts = ",".join(f"{json.dumps(name)}: {_text(value)}" for name, value in fields_of(answer).items())
    try:
        return msgspec.json.format(f"{{{parts}}}", indent=2)
    except (ValueError, OverflowError, msgspec.DecodeError):
        return indented(as_document(answer))


def line_of(value: Any) -> str:
    """What ``json.dumps`` writes of *value*, records or plain data, in a quarter of the time for records.

    >>> line_of({"pod": "a", "victims": []})
    '{"pod": "a", "victims": []}'
    """
    encoded = _encoded(value)
    return json.dumps(plain(value)) if encoded is None else msgspec.json.format(encoded, indent=0).decode()


def _text(value: Any) -> str:
    encoded = _encoded(value)
    return json.dumps(plain(value)) if encoded is None else encoded.decode()


def _encoded(value: Any) -> bytes | None:
    """A record or a list of them as JSON; None where only Python's JSON writes it so: floats, characters beyond ASCII, huge numbers."""
    kinds = set(map(type, value if isinstance(value, list | tuple) else [value]))
    if not kinds or not all(issubclass(kind, Record) and not _has_floats(kind) for kind in kinds):
        return None
    try:
        encoded = msgspec.json.encode(value)
    except (ValueError, OverflowError):
        return None
    return encoded if encoded.isascii() and b"\x7f" not in encoded else None


@cache
def _has_floats(kind: type[Record]) -> bool:
    return "'number'" in str(msgspec.json.schema(kind))


def fields_of(answer: DocumentRecord) -> dict[str, Any]:
    """*answer* as a document whose fields are still as they are."""
    kind = type(answer)
    fields = ((name, getattr(answer, field)) for name, field in zip(kind.__struct_encode_fields__, kind.__struct_fields__, strict=True))
    return {"apiVersion": API_VERSION, "kind": answer.KIND, **{name: value for name, value in fields if value is not UNSET}}


def write_rows(found: Mapping[str, Any], stream: IO[str]) -> None:
    """Write a document of long lists as JSON: a line for each entry of a list, which is fast and good to search with ``grep``.

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
            stream.write("[\n    " + ",\n    ".join(map(line_of, value)) + "\n  ]")
        else:
            stream.write(line_of(value))
    stream.write("\n}\n")
