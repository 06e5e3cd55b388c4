"""Readers for JSON values: texts, numbers, lists, maps and records. Their errors have the path to the wrong value.

A reader takes a JSON value that is not null and returns the decoded one, or raises :class:`Mismatch`. As the exception leaves
nested values, each level adds its part of the path; so paths cost nothing without an error.
"""

from __future__ import annotations

import base64
import binascii
import json
import marshal
from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeAlias, TypeVar

import attrs

from ...exceptions import QuantityError, one_line
from ..objects import NO_QUANTITIES, NO_STRINGS, Map
from ..objects.quantity import Quantity
from .secrets import HIDDEN

V = TypeVar("V")
Reader: TypeAlias = Callable[[Any], V]
Table: TypeAlias = Mapping[str, tuple[str, Reader[Any]] | None]
"""JSON name -> attribute and reader; None: not read. With an empty attribute the reader returns a dict of several attributes."""

_REMEMBERED = 1 << 16
_LONGEST_KEY = 1 << 14
_MOST_BYTES = 1 << 25
_CREDIT = 1 << 11
"""How many values may come that have not come before, and two more for each that has."""
_PAUSE = 1 << 14
_PLANS = 1 << 10
_LONGEST_TEXT = 200
_LONGEST_NUMBER = 1 << 12


class FieldTable(dict[str, "tuple[str, Reader[Any]] | None"]):
    """A :data:`Table` to which names can be added; *is_complete*: it has every name that the API has, so that others are noted."""

    is_complete = False

    def __missing__(self, name: str) -> None:
        if self.is_complete:
            UNKNOWN.note()


@attrs.define(repr=False)
class Unknown:
    """How many unknown fields were read so far. Where they are is found in a second look, so that good input costs nothing."""

    seen: int = 0

    def note(self) -> None:
        """Count one more."""
        self.seen += 1


UNKNOWN = Unknown()


class Mismatch(Exception):
    """A value is not of the wanted type; *path* grows from the inside out."""

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
        return f"{self.path}: got {shown(self.got)}, wanted {self.wanted}".removeprefix(": ")


def shown(value: object) -> str:
    """A JSON value in an error message: texts in quotes, long ones cut, objects and lists only named."""
    if isinstance(value, Mapping):
        return "an object" if value else "an empty object"
    if isinstance(value, (list, tuple)):
        return "a list" if value else "an empty list"
    if isinstance(value, int) and value.bit_length() > _LONGEST_NUMBER:
        return "a number of very many digits"
    written = value[:_LONGEST_TEXT] if isinstance(value, str) else value
    text = json.dumps(written, ensure_ascii=False, default=str)
    return one_line(text) if len(text) <= 80 else one_line(f"{text[:76]}...")


def choice(allowed: tuple[str, ...]) -> str:
    """``A, B or C``."""
    return " or ".join(filter(None, (", ".join(allowed[:-1]), allowed[-1])))


# --- single values --------------------------------------------------------------------------------------------------


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


def whole_in(limits: range) -> Reader[int]:
    """A reader for whole numbers within *limits*."""
    low, high = limits.start, limits.stop - 1
    wanted = f"a whole number from {low} to {high}"

    def read(value: Any) -> int:
        if type(value) is int and low <= value <= high:
            return value
        whole(value)
        raise Mismatch(value, wanted)

    return read


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


def content(value: Any) -> bytes:
    """Reads bytes, which JSON has in base64."""
    try:
        return base64.b64decode(text(value), validate=True)
    except binascii.Error:
        raise Mismatch(HIDDEN, "bytes in base64") from None  # it may be a key


def one_of(*allowed: str, optional: bool = True) -> Reader[str]:
    """A reader for an enumeration; if *optional*, an empty text is allowed."""
    wanted = choice(allowed)

    def read(value: Any) -> str:
        if value in allowed or (optional and value == ""):
            return str(value)
        raise Mismatch(value, wanted)

    return read


# --- lists and maps -------------------------------------------------------------------------------------------------


def entries(value: Any) -> Mapping[str, Any]:
    """A reader for objects, which stay as they are."""
    if not isinstance(value, dict):
        raise Mismatch(value, "an object")
    return value


def list_of(read: Reader[V], null: V | None = None) -> Reader[tuple[V, ...]]:
    """A reader for lists; *null* replaces null items, without it they are refused."""

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
        except Mismatch:  # an item is null or wrong: go one by one to find it
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
        if read is text and type(value) is dict and {str}.issuperset(map(type, value.values())) and {str}.issuperset(map(type, value)):
            return Map(value) or empty
        return Map({key: read_entry(key, item) for key, item in entries(value).items()}) or empty

    return read_map


def remembered(read: Reader[V]) -> Reader[V]:
    """The same reader, but equal JSON values (if not too large, and without unknown fields) give one shared object.

    Where hardly any value comes again it pauses, as then looking for them takes longer than reading.
    """
    known: dict[bytes, V] = {}
    credit, size, pause = _CREDIT, 0, 0

    def recall(value: Any) -> V:
        nonlocal credit, size, pause
        if pause:
            pause -= 1
            return read(value)
        try:
            key = marshal.dumps(value, 0)
        except ValueError:  # no JSON value: the reader refuses it
            return read(value)
        if (found := known.get(key)) is not None:
            credit += 2
            return found
        unknown_fields = UNKNOWN.seen
        made = read(value)
        if len(key) <= _LONGEST_KEY and UNKNOWN.seen == unknown_fields:
            credit, size = min(credit, _CREDIT) - 1, size + len(key)
            if credit < 0 or size > _MOST_BYTES or len(known) >= _REMEMBERED:
                pause = 0 if credit >= 0 else _PAUSE
                credit, size = _CREDIT, 0
                known.clear()
            known[key] = made
        return made

    return recall


def shared(read: Reader[V], key: Callable[[V], Hashable] = lambda made: made) -> Reader[V]:
    """The same reader, but results with equal *key* are one shared object."""
    known: dict[Hashable, V] = {}

    def share(value: Any) -> V:
        if len(known) >= _REMEMBERED:
            known.clear()
        made = read(value)
        return known.setdefault(key(made), made)

    return share


def _forms(amounts: Map[Quantity]) -> Hashable:
    """Equal amounts with different notations count as different."""
    return frozenset((name, amount.form) for name, amount in amounts.items())


_TEXTS: Reader[Map[str]] = _map_of(text, "", NO_STRINGS)
texts_unshared = _TEXTS
texts: Reader[Map[str]] = remembered(shared(_TEXTS))
quantities: Reader[Map[Quantity]] = remembered(shared(_map_of(quantity, Quantity(), NO_QUANTITIES), _forms))
text_list: Reader[tuple[str, ...]] = list_of(text, "")


# --- records --------------------------------------------------------------------------------------------------------


_Plan: TypeAlias = "tuple[tuple[str, str, Reader[Any]], ...]"
"""The fields that are read of objects with the same names: name, attribute, reader."""


def within(table: Table) -> Reader[dict[str, Any]]:
    """A reader for the attributes in a JSON object, such as an inner one of another; nulls and unknown fields are ignored."""
    known = table if isinstance(table, FieldTable) else FieldTable(table)
    plans: dict[tuple[str, ...], _Plan] = {}

    def gather(value: Any) -> dict[str, Any]:
        made: dict[str, Any] = {}
        names = tuple(value if type(value) is dict else entries(value))
        if (plan := plans.get(names)) is None:
            plan = _learn(names, known, plans)
        for name, attribute, read in plan:
            if (item := value[name]) is None:
                continue
            try:
                if read is text and type(item) is str:  # most values are, and a call takes time
                    made[attribute] = item
                elif attribute:
                    made[attribute] = read(item)
                else:
                    made.update(read(item))
            except Mismatch as mismatch:
                raise mismatch.under(name) from None
        return made

    return gather


def _learn(names: tuple[str, ...], known: FieldTable, plans: dict[tuple[str, ...], _Plan]) -> _Plan:
    unknown = UNKNOWN.seen
    plan = tuple([(name, *found) for name in names if (found := known[name]) is not None])
    if UNKNOWN.seen == unknown:  # else they are to be counted next time too
        if len(plans) >= _PLANS:
            plans.clear()
        plans[names] = plan
    return plan


def record(kind: Callable[..., V], table: Table, **from_itself: Reader[Any]) -> Reader[V]:
    """A reader for objects of class *kind*; absent and null fields keep the defaults of the class.

    The attributes *from_itself* are read from the same JSON object.
    """
    gather = within(table)

    def read_record(value: Any) -> V:
        return kind(**gather(value))

    def read_both(value: Any) -> V:
        return kind(**gather(value), **{attribute: read(value) for attribute, read in from_itself.items()})

    return read_both if from_itself else read_record


def member(name: str, read: Reader[V], absent: V) -> Reader[V]:
    """A reader for one field of an object; *absent* if it is missing."""

    gather = within({name: (name, read)})

    def read_member(value: Any) -> V:
        found: V = gather(value).get(name, absent)
        return found

    return read_member
