"""The fields that the API has, read here or not, in any release from 1.12 to 1.36: what else a manifest says is a mistake.

The names are in ``apifields.txt``, taken from the JSON tags of upstream's types (k8s.io/api and k8s.io/apimachinery).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pkgutil import get_data
from typing import Any, TypeAlias

from .fields import UNKNOWN, Reader
from .shapes import ANYTHING, Shape

Check: TypeAlias = Callable[[Any], bool]
_Plan: TypeAlias = "tuple[tuple[str, Check], ...]"
"""The fields that hold objects, each with the check of these."""

_REMEMBERED = 1 << 12
_MADE: dict[int, tuple[Shape, Check]] = {}


def _nothing(value: Any) -> dict[str, Any]:
    return {}


def noting_unknown(shape: Shape, read: Reader[Any] = _nothing) -> Reader[Any]:
    """A reader that reads with *read*, or nothing, and counts values with fields that *shape* does not have."""
    check = has_only(shape)

    def look(value: Any) -> Any:
        if not check(value):
            UNKNOWN.note()
        return read(value)

    return look


def has_only(shape: Shape) -> Check:
    """Whether a value (each object, if it is a list) has only the fields of *shape*, at all levels."""
    if id(shape) not in _MADE:
        _MADE[id(shape)] = (shape, _check(shape.fields or {}))
    return _MADE[id(shape)][1]


def _check(fields: Mapping[str, Shape]) -> Check:
    plans: dict[tuple[Any, ...], _Plan] = {}

    def learn(names: tuple[Any, ...]) -> _Plan | None:
        if any(name not in fields for name in names):
            return None
        if len(plans) >= _REMEMBERED:
            plans.clear()
        plan = plans[names] = tuple((name, has_only(fields[name])) for name in names if fields[name].fields is not None)
        return plan

    def check(value: Any) -> bool:
        if type(value) is list:
            return all(map(check, value))
        if type(value) is dict:
            names = tuple(value)
            if (plan := plans.get(names)) is None and (plan := learn(names)) is None:
                return False
            for name, inner in plan:
                if (item := value[name]) and not inner(item):
                    return False
        return True

    return check


_GROUPS = frozenset(["", "apps", "batch", "extensions", "policy", "resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io"])


def api_shape(kind: str, api_version: Any = "") -> Shape:
    """The fields of objects of *kind*; anything, for a kind of another API group, or one that is not read here.

    >>> "hostNetwork" in api_shape("Pod").fields["spec"].fields, api_shape("Service", "serving.knative.dev/v1").fields
    (True, None)
    """
    group = api_version.rpartition("/")[0] if isinstance(api_version, str) else ""
    return _shapes().get(kind, ANYTHING) if group in _GROUPS else ANYTHING


def has_only_api_fields(kind: str, document: Mapping[str, Any]) -> bool:
    """Whether the API has all fields of *document*, an object of *kind*."""
    shape = api_shape(kind, document.get("apiVersion"))
    return shape.fields is None or has_only(shape)(document)


def type_shape(*names: str) -> Shape:
    """The fields that types of the API have, by the names of these types in Go; those of several together."""
    if len(names) == 1:
        return _shape(names[0])
    return Shape({field: shape for name in names for field, shape in (_shape(name).fields or {}).items()})


# --- the table ------------------------------------------------------------------------------------------------------


@cache
def _types() -> Mapping[str, Mapping[str, str]]:
    """Type -> its fields -> their types; empty for single values and for objects with any keys."""
    text = (get_data(__name__.rpartition(".")[0], "apifields.txt") or b"").decode()
    lines = text.replace("\n  ", " ").splitlines()
    split = (line.split() for line in lines if not line.startswith("#"))
    return {name.rstrip(":"): {field: kind for field, _, kind in (part.partition(":") for part in parts)} for name, *parts in split}


@cache
def _shapes() -> Mapping[str, Shape]:
    return {name: _shape(name) for name in _types()}


@cache
def _shape(name: str) -> Shape:
    return Shape({field: _shape(kind) if kind else ANYTHING for field, kind in _types()[name].items()})
