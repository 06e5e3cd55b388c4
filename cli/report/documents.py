"""JSON documents for programs: each says what it is, so that a reader can look for its schema (``kubeclassic schema``)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import IO, Any

import msgspec

from ...api.record import API_VERSION


def document(kind: str, record: Mapping[str, Any]) -> dict[str, Any]:
    """*record* as a document of *kind*, with ``apiVersion`` and ``kind`` first, as Kubernetes' own objects have them.

    >>> document("Bench", {"nodes": 3})
    {'apiVersion': 'kubeclassic/v1', 'kind': 'Bench', 'nodes': 3}
    """
    return {"apiVersion": API_VERSION, "kind": kind, **record}


def indented(value: Any, *, long: str = "") -> str:
    """What ``json.dumps(value, indent=2)`` writes, in a tenth of the time.

    *long*: the last key of *value*, if what it stands for is long and has no floats; then it takes half of that.

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
        # Python's JSON writes characters beyond ASCII as numbers, and the last of ASCII.
        if long and (encoded := msgspec.json.encode(value[long])).isascii() and b"\x7f" not in encoded:
            text = json.dumps({**value, long: 0}, allow_nan=False).removesuffix("0}") + encoded.decode() + "}"
        else:
            text = json.dumps(value, allow_nan=False)
        return msgspec.json.format(text, indent=2)
    except (ValueError, OverflowError, msgspec.DecodeError):  # only Python's JSON has infinite numbers, huge ones and halves of characters
        return json.dumps(value, indent=2)


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
        if isinstance(value, list) and value:
            stream.write("[\n    " + ",\n    ".join(map(json.dumps, value)) + "\n  ]")
        else:
            stream.write(json.dumps(value))
    stream.write("\n}\n")
