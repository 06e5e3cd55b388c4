"""Readers of JSON values into classes, whose annotations say which fields there are, and of what type.

Values are read one by one, and errors have the path to the wrong one. A null counts as absent, in maps and
lists of texts as empty; unknown fields are ignored. With *strict* words that
:class:`~..objects.metadata.OneOf` does not have are refused as the API server would, else kept.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Generic, TypeVar, Union, get_args, get_origin

import attrs
from msgspec import Meta

from ...exceptions import ManifestError, QuantityError, one_line
from .. import objects as o
from ..objects import FieldWords, IntOrString, JsonObject, Map, OneOf, Quantity, annotated, is_value
from .secrets import HIDDEN

# --- Faults of JSON values in words -------------------------------------------------------------------------


_LONGEST_TEXT = 200
_LONGEST_NUMBER = 1 << 12


class Mismatch(Exception):
    """A value does not have the expected type; *path* grows from the inside out."""

    def __init__(self, got: object, wanted: str) -> None:
        super().__init__(got, wanted)
        self.path: str = ""
        self.got = got
        self.wanted = wanted

    def under(self, part: str) -> Mismatch:
        """The same, one level further out; *part* is a field name or ``[index]``."""
        glue = "." if self.path and not self.path.startswith("[") else ""
        self.path = f"{one_line(part, _LONGEST_TEXT)}{glue}{self.path}"
        return self

    def __str__(self) -> str:
        is_word = isinstance(self.got, bool) and self.wanted == "a string"
        hint = "; in YAML, y, n, yes, no, on and off need quotes" if is_word else ""
        return f"{self.path}: expected {self.wanted}, got {shown(self.got)}{hint}".removeprefix(": ")


def without_kind(where: object, document: object = None) -> ManifestError:
    """The error about a document that does not say its kind."""
    kind = shown(document["kind"]) if isinstance(document, Mapping) and "kind" in document else "nothing"
    return ManifestError(f"{where}: kind: expected the kind of a Kubernetes object, got {kind}")


def shown(value: object) -> str:
    """A JSON value in an error message: texts in quotes, long ones cut, objects and lists only named."""
    if isinstance(value, Mapping):
        return "an object" if value else "an empty object"
    if isinstance(value, (list, tuple)):
        return "a list" if value else "an empty list"
    if isinstance(value, int) and value.bit_length() > _LONGEST_NUMBER:
        return "a number of very many digits"
    text = json.dumps(
        value[:_LONGEST_TEXT] if isinstance(value, str) else value, ensure_ascii=False, default=str
    )
    return one_line(text) if len(text) <= 80 else one_line(f"{text[:76]}...")


# --- Readers ------------------------------------------------------------------------------------------------


_TIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:[.,][0-9]+)?(Z|[-+][0-9]{2}:[0-9]{2})"
)
_V = TypeVar("_V")
Reader = Callable[[Any], _V]
"""Takes a JSON value that is not null and returns the decoded one, or raises :class:`Mismatch`."""

_NEVER_NULL = (
    o.Container,
    o.Volume,
    o.Requirement,
    o.TopologySelectorLabelRequirement,
    o.OwnerReference,
    o.CSINodeDriver,
)
"""Items that the API server refuses if they are empty, so null there is never on purpose; other null items
have the defaults."""


@attrs.frozen
class ReadBy(Generic[_V]):
    """In an annotation: the reader of values that JSON has in another form than the class."""

    read: Reader[_V]


def read(kind: type[_V], value: Any, strict: bool = False) -> _V:
    """*value* as one of *kind*. Raises :class:`Mismatch`."""
    untyped_kind: Any = kind
    result: _V = reader(untyped_kind, strict)(value)
    return result


@cache
def reader(annotation: Any, strict: bool = False, words: FieldWords | None = None) -> Reader[Any]:
    """The reader of values of a type; *words*: what its fields may be in this place."""
    origin = get_origin(annotation)
    parts = [part for part in get_args(annotation) if part not in (NoneType, ...)]
    if annotation in _LEAVES:
        return _LEAVES[annotation]
    if origin is Annotated:
        return _noted(parts[0], parts[1:], strict)
    if origin in (Union, UnionType):
        return _LEAVES[parts[0] | parts[1]] if len(parts) == 2 else reader(parts[0], strict, words)
    if origin is tuple:
        item = parts[0]
        is_text = item is str or (get_origin(item) is Annotated and get_args(item)[0] is str)
        null = "" if is_text else item() if is_value(item) and item not in _NEVER_NULL else None
        return list_of(reader(item, strict, words), null)
    if origin is Map:
        return _map_of(reader(parts[0], strict), _NULLS.get(parts[0]))
    if is_value(annotation):
        return record(annotation, table_of(annotation, strict, words))
    raise TypeError(f"got the annotation {annotation}, which has no reader")


def _noted(annotation: Any, notes: list[Any], strict: bool) -> Reader[Any]:
    for note in notes:
        match note:
            case ReadBy():
                return note.read
            case OneOf():
                return one_of(note) if strict else text
            case FieldWords():
                return reader(annotation, strict, note)
            case Meta(ge=int(least), le=int(most)):
                return whole_in(least, most)
            case Meta(pattern=str()):
                return time
    return reader(annotation, strict)


def table_of(kind: Any, strict: bool = False, words: FieldWords | None = None) -> Table:
    """The fields of a class that is read."""
    worded = words.fields if words is not None else {}
    return {
        name: (attribute, reader(Annotated[str, worded[attribute]] if attribute in worded else inner, strict))
        for attribute, name, inner in annotated(kind)
    }


Table = Mapping[str, tuple[str, Reader[Any]]]
"""JSON name -> attribute and reader; where the attribute is empty the reader gives several by name."""


def record(kind: Callable[..., _V], table: Table) -> Reader[_V]:
    """A reader for objects of class *kind*; absent and null fields keep the defaults of the class."""

    def read_record(value: Any) -> _V:
        arguments: dict[str, Any] = {}
        for name, item in entries(value).items():
            if item is not None and name in table:
                attribute, read_item = table[name]
                try:
                    arguments |= {attribute: read_item(item)} if attribute else read_item(item)
                except Mismatch as mismatch:
                    raise mismatch.under(name) from None
        return kind(**arguments)

    return read_record


# --- lists and maps -----------------------------------------------------------------------------------------


def entries(value: Any) -> JsonObject:
    """A reader for objects, which stay as they are."""
    if not isinstance(value, dict):
        raise Mismatch(value, "an object")
    return value


def list_of(read_item: Reader[_V], null: _V | None = None) -> Reader[tuple[_V, ...]]:
    """A reader for lists; *null* replaces null items, without it they are refused."""

    def read_list(value: Any) -> tuple[_V, ...]:
        if not isinstance(value, list):
            raise Mismatch(value, "a list")
        items: list[_V] = []
        for index, item in enumerate(value):
            try:
                items.append(null if item is None and null is not None else read_item(item))
            except Mismatch as mismatch:
                raise mismatch.under(f"[{index}]") from None
        return tuple(items)

    return read_list


def _map_of(read_item: Reader[_V], null: _V | None) -> Reader[Map[_V]]:
    def read_map(value: Any) -> Map[_V]:
        items: dict[str, _V] = {}
        for key, item in entries(value).items():
            if not isinstance(key, str):
                raise Mismatch(key, "a string for a key")
            try:
                items[key] = null if item is None and null is not None else read_item(item)
            except Mismatch as mismatch:
                raise mismatch.under(f"[{key}]" if "." in key or "/" in key else key) from None
        return Map(items)

    return read_map


# --- single values ------------------------------------------------------------------------------------------


def text(value: Any) -> str:
    """Reads a text."""
    if isinstance(value, str):
        return value
    raise Mismatch(value, "a string")


def whole(value: Any) -> int:
    """Reads a whole number."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise Mismatch(value, "a whole number")


def whole_in(least: int, most: int) -> Reader[int]:
    """A reader for whole numbers within bounds."""

    def read_whole(value: Any) -> int:
        if not least <= whole(value) <= most:
            raise Mismatch(value, f"a whole number from {least} to {most}")
        return whole(value)

    return read_whole


def flag(value: Any) -> bool:
    """Reads true or false."""
    if isinstance(value, bool):
        return value
    raise Mismatch(value, "true or false")


def quantity(value: Any) -> Quantity:
    """Reads an amount of a resource, a text or a number."""
    try:
        return Quantity.parse(value)
    except QuantityError:
        raise Mismatch(value, "a quantity such as 500m, 2 or 1.5Gi") from None


def time(value: Any) -> str:
    """Reads a time of RFC 3339, in UTC and without the fraction of the second."""
    with suppress(ValueError, OverflowError):
        if match := _TIME.fullmatch(text(value)):
            return datetime.fromisoformat(match[1] + match[2]).astimezone(UTC).isoformat()[:19] + "Z"
    raise Mismatch(value, "a time such as 2026-01-31T12:00:00Z")


def content(value: Any) -> bytes:
    """Reads bytes, which JSON has in base64."""
    encoded = text(value)
    try:
        return base64.b64decode(encoded, validate=True)
    except ValueError:  # also of characters that are not ASCII
        raise Mismatch(HIDDEN, "bytes in base64") from None  # it may be a key


def one_of(allowed: OneOf) -> Reader[str]:
    """A reader for an enumeration."""

    def read_word(value: Any) -> str:
        if value in allowed.words:
            return str(value)
        raise Mismatch(value, allowed.told)

    return read_word


_LEAVES: Mapping[Any, Reader[Any]] = {
    str: text,
    bool: flag,
    int: whole_in(-(2**63), 2**63 - 1),
    bytes: content,
    Quantity: quantity,
    IntOrString: lambda value: value if isinstance(value, str) else whole(value),
    JsonObject: entries,
    Any: lambda value: value,
}
_NULLS: Mapping[Any, Any] = {str: "", Quantity: Quantity()}
"""The values of maps that may be null -> what they are then."""
