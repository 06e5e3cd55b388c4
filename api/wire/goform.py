"""A pod, node or volume as JSON, field by field as the original of a release writes it.

Go decodes an object into a struct and writes the struct. So fields that the release does not know are lost, quantities and times get
their canonical form, maps are sorted, and some fields are written even if they are empty: ``"creationTimestamp": null``.

>>> from json import dumps
>>> dumps(go_form("Taint", {"effect": "NoSchedule", "key": "gpu", "color": "red"}, "1.15"))
'{"key": "gpu", "effect": "NoSchedule"}'

Upstream: encoding/json, and Quantity and Time in k8s.io/apimachinery.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from ..objects.quantity import Quantity
from .godecode import GoField, go_type

Json: TypeAlias = Any
Write: TypeAlias = Callable[[Any], Json]


class Writer(NamedTuple):
    """How values of a kind are written. An absent value is None."""

    write: Write
    zero: Callable[[], Json]
    """What is written for an absent value."""
    is_empty: Callable[[Json], bool]
    """Whether ``omitempty`` leaves out a written value."""


def go_form(kind: str, manifest: Mapping[str, Any], version: str) -> dict[str, Any]:
    """*manifest* as an object of *kind* in the form of release *version*, such as ``1.15``; without ``kind`` and ``apiVersion``."""
    written: dict[str, Any] = _struct(kind, version).write(manifest)
    return written


def go_json(value: Json) -> bytes:
    """*value* as Go writes JSON: compact, in UTF-8, with ``<``, ``>`` and ``&`` escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.encode("utf-8", "replace")


# --- kinds ----------------------------------------------------------------------------------------------------------


@cache
def _writer(kind: str, version: str) -> Writer:
    """The writer of *kind*, in the letters of the table."""
    if kind.startswith("*"):
        return Writer(_writer(kind[1:], version).write, _nothing, _is_none)
    if kind.startswith("[]"):
        item = _writer(kind[2:], version)
        return Writer(lambda values: [_written(item, value) for value in values], _nothing, _is_blank)
    if kind.startswith("{}"):
        item = _writer(kind[2:], version)
        return Writer(lambda values: {key: _written(item, values[key]) for key in sorted(values)}, _nothing, _is_blank)
    return _SINGLE[kind] if kind in _SINGLE else _struct(kind, version)


def _written(item: Writer, value: Any) -> Json:
    return item.zero() if value is None else item.write(value)


@cache
def _struct(name: str, version: str) -> Writer:
    fields = go_type(name, version)
    writers: list[tuple[str, Writer, bool]] = []

    def write(value: Mapping[str, Any]) -> Json:
        if not writers:  # Only now, as types refer to themselves.
            writers.extend(_field(field, version) for field in fields)
        found: dict[str, Json] = {}
        for key, writer, leaves_out in writers:
            given = value.get(key)
            written = writer.zero() if given is None else writer.write(given)
            if not (leaves_out and writer.is_empty(written)):
                found[key] = written
        return found

    return Writer(write, lambda: write({}), _never)


def _field(field: GoField, version: str) -> tuple[str, Writer, bool]:
    return field.name, _writer(field.kind, version), not field.is_always_written


def _nothing() -> None:
    return None


def _is_none(written: Json) -> bool:
    return written is None


def _is_blank(written: Json) -> bool:
    return not written


def _never(written: Json) -> bool:
    """Upstream: ``omitempty`` never leaves out a struct, and times and quantities are structs."""
    return False


# --- single values --------------------------------------------------------------------------------------------------


def _same(value: Any) -> Json:
    return value


def _quantity(value: Any) -> str:
    return Quantity.parse(str(value)).written


def _moment(text: Any) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)


def _time(text: Any) -> str | None:
    found = _moment(text)
    return None if found is None else found.strftime("%Y-%m-%dT%H:%M:%SZ")


def _micro_time(text: Any) -> str | None:
    found = _moment(text)
    return None if found is None else found.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _bytes(value: Any) -> str:
    return base64.b64encode(value).decode("ascii") if isinstance(value, bytes) else str(value)


_SINGLE: Mapping[str, Writer] = {
    "s": Writer(_same, str, _is_blank),
    "b": Writer(_same, bool, _is_blank),
    "i": Writer(_same, int, _is_blank),
    "f": Writer(_same, int, _is_blank),
    "q": Writer(_quantity, lambda: "0", _never),
    "t": Writer(_time, _nothing, _never),
    "u": Writer(_micro_time, _nothing, _never),
    "x": Writer(_same, int, _never),
    "r": Writer(_same, _nothing, _never),
    "y": Writer(_bytes, _nothing, _is_blank),
}
