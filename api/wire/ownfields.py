"""The JSON form of an object as far as its own fields hold it, and the manifest that it came from brought up to date.

An object can differ from its manifest: it got defaults, a node, a nomination. What it says itself counts.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from itertools import zip_longest
from typing import Any, TypeAlias

import attrs

from ...exceptions import QuantityError
from .. import objects as o
from ..objects import KubeObject, Pod
from ..objects.metadata import attributes, is_value
from ..objects.quantity import Quantity
from ..reading.derive import INLINE, UNREAD, Field, json_name
from ..reading.schema import schema

Json: TypeAlias = Any


@attrs.frozen
class Placeholder:
    """A value of which the object knows only that it is there: that of the manifest counts, else *value*."""

    value: Json


_SOME = Placeholder([{}])
_WRITTEN: Mapping[tuple[type[Any], str], Callable[[Any], Json]] = {
    (o.PodSpec, "scheduling_gates"): lambda names: [{"name": name} for name in names],
    (o.Volume, "empty_dir"): lambda held: {},
    (o.PodDisruptionBudget, "disrupted_pods"): lambda names: dict.fromkeys(names, Placeholder("1970-01-01T00:00:00Z")),
    (o.Device, "attributes"): lambda held: {name: {one.type: one.value} if one.type else {} for name, one in held.items()},
    (o.Device, "capacity"): lambda held: {name: {"value": amount} for name, amount in held.items()},
    (o.Device, "consumes_counters"): lambda held: _SOME,
    (o.Device, "taints"): lambda held: _SOME,
    (o.ResourceSliceSpec, "shared_counters"): lambda held: _SOME,
}
"""How attributes are written of which the API has another form than the class: the other way round of their ``read`` in the schema."""
_EMPTY_LISTS: Mapping[type[Any], str] = {o.Requirement: "values", o.NodeAffinity: "preferredDuringSchedulingIgnoredDuringExecution"}
"""Class with ``has_empty_list`` -> the field that is the empty list."""


def compact_json(value: Json) -> bytes:
    """*value* as JSON without spaces, in ASCII: halves of surrogate pairs are no UTF-8."""
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def current_manifest(item: KubeObject) -> dict[str, Json]:
    """The JSON form of *item*: its manifest, if it kept that, with all that the object says otherwise."""
    own = {"metadata": {}, **own_fields(item)}
    own["metadata"]["name"] = item.name
    if item.namespaced:
        own["metadata"] |= {"namespace": item.namespace, "uid": item.uid}
    if isinstance(item, Pod):
        # What the scheduler itself changes, and may take back.
        own["spec"] = own.get("spec", {}) | {"nodeName": item.spec.node_name}
        own["status"] = own.get("status", {}) | {"nominatedNodeName": item.status.nominated_node_name}
    merged: dict[str, Json] = _merged(item.manifest or {}, own)
    return merged


def _merged(given: Json, own: Json) -> Json:
    """*given* with what *own* says otherwise; lists are merged item by item."""
    if isinstance(own, Mapping):
        before = given if isinstance(given, Mapping) else {}
        return {**before, **{key: _merged(before.get(key), value) for key, value in own.items()}}
    if isinstance(own, list):
        items = given if isinstance(given, list) and len(given) <= len(own) else []
        return [_merged(before, now) for before, now in zip_longest(items, own)]
    if isinstance(own, Placeholder):
        return given or own.value
    return _quantity(given, own) if isinstance(own, Quantity) else own


def _quantity(given: Json, own: Quantity) -> Json:
    """*own* in the notation of *given*, if that is the same amount: Go keeps it."""
    if given is not None:
        with suppress(QuantityError):
            if Quantity.parse(given) == own:
                return given
    return str(own)


# --- from values to JSON --------------------------------------------------------------------------------------------


def own_fields(value: Any) -> dict[str, Json]:
    """What the object, or part of one, says that is not the default."""
    found: dict[str, Json] = {}
    for name, default, field in _fields(value.__class__):
        held = getattr(value, name)
        if held is None or held == default:
            continue
        if field is INLINE:
            found |= own_fields(held)
            continue
        place = found
        for outer in field.inside.split(".") if field.inside else ():
            place = place.setdefault(outer, {})
        if field.absent is not None and held == field.absent:
            continue  # the outer object is there, without the field
        write = _WRITTEN.get((value.__class__, name), _json)
        place[field.name or json_name(name)] = write(held)
    if getattr(value, "has_empty_list", False):
        found[_EMPTY_LISTS[value.__class__]] = []
    return found


@cache
def _fields(kind: Hashable) -> list[tuple[str, Any, Field]]:
    return list(_read_fields(kind))


def _read_fields(kind: Any) -> Iterator[tuple[str, Any, Field]]:
    overrides = schema(False).overrides.get(kind, {})
    for attribute, default in attributes(kind).items():
        override = overrides.get(attribute)
        field = override if isinstance(override, Field) else Field()
        if override is not UNREAD and not field.whole:
            yield attribute, default, field


def _json(value: Any) -> Json:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, tuple):
        return [_json(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _json(item) for key, item in value.items()}
    return own_fields(value) if is_value(type(value)) and not isinstance(value, Quantity) else value
