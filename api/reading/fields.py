"""Readers for JSON values: texts, numbers, lists, maps and records, which know the path to a value that is not as wanted.

A reader takes a JSON value that is not null and returns the decoded one, or raises :class:`Mismatch`. On the way out of
nested values each level adds its part of the path, so that nothing is spent on paths while all goes well.
"""

from __future__ import annotations

import base64
import binascii
import json
import marshal
from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeAlias, TypeVar

from ...exceptions import QuantityError
from ..objects import NO_QUANTITIES, NO_STRINGS, Map
from ..objects.quantity import Quantity

V = TypeVar("V")
Reader: TypeAlias = Callable[[Any], V]
Table: TypeAlias = Mapping[str, tuple[str, Reader[Any]]]  # JSON name -> attribute and reader; "" as attribute: a dict of several

_REMEMBERED = 1 << 16
_LONGEST_KEY = 1 << 12


class Mismatch(Exception):
    """A value is not as wanted; *path* is built from the inside outwards."""

    def __init__(self, got: object, wanted: str) -> None:
        super().__init__(got, wanted)
        self.path = ""
        self.got = got
        self.wanted = wanted

    def under(self, part: str) -> Mismatch:
        """The same, one level further out: *part* is a field's name or ``[index]``."""
        glue = "." if self.path and not self.path.startswith("[") else ""
        self.path = f"{part}{glue}{self.path}"
        return self

    def __str__(self) -> str:
        return f"{self.path}: got {shown(self.got)}, wanted {self.wanted}".removeprefix(": ")


def shown(value: object) -> str:
    """A JSON value in an error message: texts in quotes, big ones only named."""
    if isinstance(value, Mapping):
        return "an object" if value else "an empty object"
    if isinstance(value, (list, tuple)):
        return "a list" if value else "an empty list"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else f"{text[:76]}..."


def choice(allowed: tuple[str, ...]) -> str:
    """``A, B or C``."""
    return " or ".join(filter(None, (", ".join(allowed[:-1]), allowed[-1])))


# --- single values --------------------------------------------------------------------------------------------------


def text(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise Mismatch(value, "a string")


def whole(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise Mismatch(value, "a whole number")


def flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise Mismatch(value, "true or false")


def quantity(value: Any) -> Quantity:
    try:
        return Quantity.parse(value)
    except QuantityError:
        raise Mismatch(value, "a quantity such as 500m, 2 or 1.5Gi") from None


def content(value: Any) -> bytes:
    try:
        return base64.b64decode(text(value), validate=True)
    except binascii.Error:
        raise Mismatch(value, "bytes in base64") from None


def one_of(*allowed: str, optional: bool = True) -> Reader[str]:
    """A reader for an enumeration; an empty text passes where it is *optional*."""
    wanted = choice(allowed)

    def read(value: Any) -> str:
        if value in allowed or (optional and value == ""):
            return str(value)
        raise Mismatch(value, wanted)

    return read


# --- lists and maps -------------------------------------------------------------------------------------------------


def entries(value: Any) -> Mapping[str, Any]:
    """The value itself, which must be an object with texts for keys."""
    if not isinstance(value, dict):
        raise Mismatch(value, "an object")
    return value


def list_of(read: Reader[V], null: V | None = None) -> Reader[tuple[V, ...]]:
    """A reader for lists; *null* stands for a null item, which is refused without it."""

    def read_item(index: int, item: Any) -> V:
        if item is None and null is not None:
            return null
        try:
            return read(item)
        except Mismatch as mismatch:
            raise mismatch.under(f"[{index}]") from None

    def read_list(value: Any) -> tuple[V, ...]:
        if not isinstance(value, list):
            raise Mismatch(value, "a list")
        try:
            return tuple(map(read, value))
        except Mismatch:  # an item is null, or not as wanted: go slowly, to know which
            return tuple([read_item(index, item) for index, item in enumerate(value)])

    return read_list


def _map_of(read: Reader[V], null: V, empty: Map[V]) -> Reader[Map[V]]:
    def read_entry(key: Any, item: Any) -> V:
        if not isinstance(key, str):
            raise Mismatch(key, "a string for a key")
        try:
            return null if item is None else read(item)
        except Mismatch as mismatch:
            raise mismatch.under(f"[{key}]" if "." in key or "/" in key else key) from None

    def read_map(value: Any) -> Map[V]:
        return Map({key: read_entry(key, item) for key, item in entries(value).items()}) or empty

    return read_map


def remembered(read: Reader[V]) -> Reader[V]:
    """The same reader, giving one shared object for equal JSON values (those of moderate size)."""
    known: dict[bytes, V] = {}

    def recall(value: Any) -> V:
        try:
            key = marshal.dumps(value, 0)
        except ValueError:  # not a JSON value: the reader says so
            return read(value)
        if (found := known.get(key)) is not None:
            return found
        made = read(value)
        if len(key) <= _LONGEST_KEY:
            if len(known) >= _REMEMBERED:
                known.clear()
            known[key] = made
        return made

    return recall


def shared(read: Reader[V], key: Callable[[V], Hashable] = lambda made: made) -> Reader[V]:
    """The same reader, giving one shared object for results of equal *key*, whatever else the JSON values hold."""
    known: dict[Hashable, V] = {}

    def share(value: Any) -> V:
        if len(known) >= _REMEMBERED:
            known.clear()
        made = read(value)
        return known.setdefault(key(made), made)

    return share


def _forms(amounts: Map[Quantity]) -> Hashable:
    """Equal amounts are not alike where they are written differently."""
    return frozenset((name, amount.form) for name, amount in amounts.items())


_TEXTS: Reader[Map[str]] = _map_of(text, "", NO_STRINGS)
texts_unshared = _TEXTS
texts: Reader[Map[str]] = remembered(shared(_TEXTS))
quantities: Reader[Map[Quantity]] = remembered(shared(_map_of(quantity, Quantity(), NO_QUANTITIES), _forms))
text_list: Reader[tuple[str, ...]] = list_of(text, "")


# --- records --------------------------------------------------------------------------------------------------------


def _gather(table: Table, value: Any) -> dict[str, Any]:
    """The attributes that a JSON object gives; nulls and unknown fields are passed over."""
    made: dict[str, Any] = {}
    for name, item in (value if type(value) is dict else entries(value)).items():
        known = table.get(name)
        if known is None or item is None:
            continue
        attribute, read = known
        try:
            if attribute:
                made[attribute] = read(item)
            else:
                made.update(read(item))
        except Mismatch as mismatch:
            raise mismatch.under(name) from None
    return made


def record(kind: Callable[..., V], table: Table, **from_itself: Reader[Any]) -> Reader[V]:
    """A reader for an object of class *kind*; what is absent or null keeps the class's default.

    The attributes *from_itself* are read from the same JSON object.
    """

    def read_record(value: Any) -> V:
        return kind(**_gather(table, value))

    def read_both(value: Any) -> V:
        return kind(**_gather(table, value), **{attribute: read(value) for attribute, read in from_itself.items()})

    return read_both if from_itself else read_record


def within(table: Table) -> Reader[dict[str, Any]]:
    """A reader for an inner object whose fields are attributes of the outer one."""
    return lambda value: _gather(table, value)


def member(name: str, read: Reader[V], absent: V) -> Reader[V]:
    """A reader for one field of an object, *absent* where it is not there."""

    table: Table = {name: (name, read)}

    def read_member(value: Any) -> V:
        found: V = _gather(table, value).get(name, absent)
        return found

    return read_member
