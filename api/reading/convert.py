"""Quick reading of JSON values into the classes of objects, by msgspec; what it refuses is read again value by value, by :mod:`.typed`.

Equal parts of objects become one object, where many objects have them: labels, amounts, owners, images.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Annotated, Any, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from msgspec.structs import force_setattr

from .. import objects as o
from ..objects.metadata import FieldWords, Map, OneOf, attributes, is_value, json_names
from ..objects.quantity import Quantity, notation
from .typed import read

V = TypeVar("V")
UNREADABLE = (msgspec.MsgspecError, ValueError, TypeError, OverflowError, RecursionError)
"""What msgspec raises."""
_REMEMBERED = 1 << 12
_LONGEST = 1 << 10


def quickly(kind: type[V], value: Any, strict: bool = False) -> V:
    """*value* as one of *kind*; as :func:`~.typed.read`, whose errors it has."""
    try:
        found = msgspec.convert(value, kind, dec_hook=other_types)
    except UNREADABLE:
        return read(kind, value, strict)
    return read(kind, value, strict) if strict and not fits(kind, value) else found


def other_types(kind: Any, value: Any) -> Any:
    """The values of types that msgspec does not know: quantities, and maps of anything."""
    if kind is Quantity:
        return Quantity.parse(value)
    item = kind.__args__[0]
    if type(value) is dict and {str}.issuperset(map(type, value.values())) and sum(map(len, value.values())) < _LONGEST:
        return _shared_map(item, tuple(value.items()))
    return _map(item, value)


@lru_cache(maxsize=_REMEMBERED)
def _shared_map(item: Any, pairs: tuple[tuple[str, str], ...]) -> Map[Any]:
    return _map(item, dict(pairs))


def _map(item: Any, value: Any) -> Map[Any]:
    return Map(msgspec.convert(value, dict[str, item], dec_hook=other_types))


# --- enumerations ---------------------------------------------------------------------------------------------------


Worded: TypeAlias = "OneOf | Mapping[str, Worded] | None"
"""The words of a text, or of the texts in an object by JSON name."""


@cache
def _worded(annotation: Any, words: FieldWords | None = None) -> Worded:
    if get_origin(annotation) is Annotated:
        inner, note, *_ = get_args(annotation)
        return note if isinstance(note, OneOf) else _worded(inner, note if isinstance(note, FieldWords) else None)
    if is_value(annotation):
        hints, names = get_type_hints(annotation, include_extras=True), json_names(annotation)
        own = words.fields if words is not None else {}
        fields = {names[attribute]: own.get(attribute) or _worded(hints[attribute]) for attribute in attributes(annotation)}
        return {name: inner for name, inner in fields.items() if inner is not None} or None
    return next((found for part in get_args(annotation) if (found := _worded(part, words)) is not None), None)


def fits(kind: Any, value: Any) -> bool:
    """Whether all texts in *value*, which is read as one of *kind*, are words that they may be."""
    return _fits(value, _worded(kind))


def _fits(value: Any, words: Worded) -> bool:
    if value is None or words is None:
        return True
    if isinstance(value, list):
        return all(_fits(item, words) for item in value)
    if isinstance(words, OneOf):
        return value in words.words
    return all(_fits(value.get(name), inner) for name, inner in words.items())


# --- what is shared -------------------------------------------------------------------------------------------------


_known: dict[Any, Any] = {}


def _one(value: V, *amounts: Map[Quantity]) -> V:
    """The first of all values that are equal to *value*, with *amounts* written as in it."""
    if len(_known) >= _REMEMBERED:
        _known.clear()
    found: V = _known.setdefault((value, notation(*amounts)) if amounts else value, value)
    return found


def shared(found: V) -> V:
    """*found*, an object, with the parts that others have too."""
    if not isinstance(found, o.KubeObject):
        return found
    if found.metadata.owner_references:
        force_setattr(found.metadata, "owner_references", _one(found.metadata.owner_references))
    if isinstance(found, o.Pod) and found.status.container_statuses:
        statuses = found.status.container_statuses
        resources = [one.resources for one in statuses if one.resources is not None]
        amounts = [one.allocated_resources for one in statuses] + [held for one in resources for held in (one.requests, one.limits)]
        force_setattr(found.status, "container_statuses", _one(statuses, *amounts))
    if isinstance(found, o.Node):
        force_setattr(found.status, "images", tuple(map(_one, found.status.images)))
        force_setattr(found.spec, "taints", _one(found.spec.taints))
    return found
