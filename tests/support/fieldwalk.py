"""Which attribute each JSON field ends up in, found by reading documents that have one field each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias, get_args, get_type_hints

from kubeclassic.api.objects.devices import DeviceAttribute, DeviceSubRequest
from kubeclassic.api.objects.metadata import attributes, is_value
from kubeclassic.api.objects.quantity import Quantity
from kubeclassic.api.objects.selectors import NodeAffinity, Requirement
from kubeclassic.api.reading.derive import Schema
from kubeclassic.api.reading.fields import Mismatch
from kubeclassic.api.reading.shapes import Shape

CANDIDATES = ("True", 7, True, "7s", "eHh4", {"x": "7"}, ["x"], {"x": True}, {"x": {"int": 7, "value": "7"}}, [{"weight": 7}])
"""Of these at least one is right for every single value."""
WITHOUT_FIELD: set[tuple[type[Any], str]] = {
    (Requirement, "has_empty_list"), (NodeAffinity, "has_empty_list"), (DeviceSubRequest, "admin_access"), (DeviceAttribute, "type"),
    (DeviceAttribute, "value"),
}  # fmt: skip
"""Attributes that say how the field of another attribute is written, and those that are no field."""

Path: TypeAlias = "tuple[str, ...]"
Chain: TypeAlias = "tuple[tuple[type[Any], str], ...]"
"""The attributes that lead to a value, from the outside inwards, each with its class."""


def classes_in(kind: Any) -> set[type[Any]]:
    """The attrs classes that values of an annotation are made of."""
    if not is_value(kind) or kind is Quantity:
        return {found for part in get_args(kind) for found in classes_in(part)}
    return {kind}.union(*(classes_in(hint) for hint in get_type_hints(kind).values()))


def attributes_in(kind: type[Any]) -> set[tuple[type[Any], str]]:
    """All attributes of all classes that objects of a class are made of, those without a field left out."""
    return {(owner, attribute) for owner in classes_in(kind) for attribute in attributes(owner)} - WITHOUT_FIELD


def changes(schema: Schema, kind: type[Any]) -> dict[Path, set[Chain]]:
    """Path to a JSON field that holds a single value -> what it changes in the object."""
    found: dict[Path, set[Chain]] = {}
    for path, wraps in _single_values(schema, kind, schema.shape(kind), (), ()):
        without = _read(schema, kind, _document(path[:-1], wraps, {}))
        documents = [_document(path, (*wraps, False), candidate) for candidate in CANDIDATES]
        made = [read for document in documents if (read := _read(schema, kind, document)) is not None]
        found[path] = {chain for read in made for chain in _differences(read, without)}
    return found


def _single_values(schema: Schema, kind: type[Any], shape: Shape, path: Path, wraps: tuple[bool, ...]) -> Iterator[Any]:
    """The paths to single values, each with whether there is a list at every step before the last."""
    for name, inner in (shape.fields or {}).items():
        if inner.fields is None:
            yield (*path, name), wraps
            continue
        is_list = _read(schema, kind, _document((*path, name), (*wraps, False), {})) is None
        yield from _single_values(schema, kind, inner, (*path, name), (*wraps, is_list))


def _document(path: Path, wraps: tuple[bool, ...], value: Any) -> Any:
    """*value* at *path*, in a list where *wraps* says so."""
    for name, is_list in zip(reversed(path), reversed(wraps), strict=True):
        value = {name: [value] if is_list else value}
    return value


def _read(schema: Schema, kind: type[Any], document: Any) -> Any:
    try:
        return schema.reader(kind)(document)
    except Mismatch:
        return None


def _differences(one: Any, other: Any) -> Iterator[Chain]:
    """The attributes in which two values differ."""
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other) == 1:
        yield from _differences(one[0], other[0])
    elif isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for key in one:
            yield from _differences(one[key], other[key])
    elif is_value(type(one)) and type(one) is type(other):
        for attribute in attributes(type(one)):
            here = (type(one), attribute)
            left, right = getattr(one, attribute), getattr(other, attribute)
            if left != right:
                yield from ((here, *rest) for rest in list(_differences(left, right)) or [()])


def documents(schema: Schema, kind: type[Any]) -> Iterator[Any]:
    """Documents of a class with one field each, for each field and each of :data:`CANDIDATES`; some cannot be read."""
    for path, wraps in _single_values(schema, kind, schema.shape(kind), (), ()):
        yield from (_document(path, (*wraps, False), candidate) for candidate in (*CANDIDATES, 0, False, [], {}))
        yield from (_document(path[: len(wraps)], wraps, value) for value in ({}, []) if wraps)
