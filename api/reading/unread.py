"""A look at what is not read, for unknown fields only. It is quick: objects of one kind mostly have the same few sets of names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from .fields import UNKNOWN, Reader
from .shapes import Shape

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
