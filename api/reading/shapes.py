"""What is known about JSON values: the fields of an object, the range of an integer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from ...exceptions import ManifestError, did_you_mean

_STEP = re.compile(r"[^.\[\]]+")
"""One step of a path such as ``profiles[0].plugins``."""


@attrs.frozen(repr=False)
class Shape:
    """What is known about a value; by default nothing."""

    fields: Mapping[str, Shape] | None = None
    """JSON name -> field of the object (of each object in the list); None: no object, or one with any keys."""
    limits: range | None = None
    """The values that an integer may have."""


ANYTHING = Shape()
"""A single value, or an object with any keys."""


def named(names: str, **nested: Shape) -> dict[str, Shape]:
    """Fields by name: *names*, separated by blanks, with any values, and *nested* ones.

    >>> list(named("name weight", tlsConfig=Shape(named("insecure"))))
    ['name', 'weight', 'tlsConfig']
    """
    return {**dict.fromkeys(names.split(), ANYTHING), **nested}


def unknown_fields(value: Any, shape: Shape, path: str = "") -> Iterator[str]:
    """The paths of the fields in the JSON *value* that *shape* does not have.

    >>> list(unknown_fields({"items": [{"name": 1}, {"nam": 2}]}, Shape({"items": Shape(named("name"))})))
    ['items[1].nam']
    """
    return (path for path, _ in misnamed(value, shape, path))


def misnamed(value: Any, shape: Shape, path: str = "") -> Iterator[tuple[str, str]]:
    """Like :func:`unknown_fields`, with the names that are near.

    >>> list(misnamed({"nam": 2}, Shape(named("name"))))
    [('nam', '; did you mean "name"?')]
    """
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from misnamed(item, shape, f"{path}[{index}]")
    elif isinstance(value, Mapping) and shape.fields is not None:
        for name, item in value.items():
            inner = f"{path}.{name}" if path else str(name)
            if name in shape.fields:
                yield from misnamed(item, shape.fields[name], inner)
            else:
                yield inner, did_you_mean(str(name), shape.fields)


def pruned(value: Any, shape: Shape) -> Any:
    """*value* without the fields that *shape* does not have.

    >>> pruned([{"name": 1, "other": 2}], Shape(named("name")))
    [{'name': 1}]
    """
    if isinstance(value, list):
        return [pruned(item, shape) for item in value]
    if not isinstance(value, Mapping) or shape.fields is None:
        return value
    return {name: pruned(item, shape.fields[name]) for name, item in value.items() if name in shape.fields}


def copied(value: Any) -> Any:
    """*value*, with objects and lists of its own."""
    if isinstance(value, Mapping):
        return {name: copied(item) for name, item in value.items()}
    return [copied(item) for item in value] if isinstance(value, list) else value


def removed(data: dict[str, Any], path: str) -> bool:
    """Whether the field at *path* was there and could be taken out of *data*; its kind and version cannot.

    >>> data = {"a": [{"b": 1, "c": 2}]}
    >>> removed(data, "a[0].b"), removed(data, "a[1].b"), data
    (True, False, {'a': [{'c': 2}]})
    """
    *way, last = _STEP.findall(path) or [""]
    whole: Any = data
    for step in way:
        whole = whole.get(step) if isinstance(whole, dict) else _item(whole, step)
    if not isinstance(whole, dict) or last not in whole or (not way and last in ("kind", "apiVersion")):
        return False
    del whole[last]
    return True


def _item(items: Any, index: str) -> Any:
    return items[int(index)] if isinstance(items, list) and index.isdecimal() and int(index) < len(items) else None


MAX_NESTING = 200
"""How many levels an object may have that is kept in JSON form; the API's own have 20 or so."""


def check_nesting(value: Any, where: object) -> None:
    """Raise :class:`~kubeclassic.exceptions.ManifestError` for objects and lists in one another beyond :data:`MAX_NESTING`."""
    level, depth = [value], 0
    while level := [part for part in level if isinstance(part, (dict, list))]:
        depth += 1
        if depth > MAX_NESTING:
            raise ManifestError(f"{where}: nested too deeply, wanted at most {MAX_NESTING} levels")
        level = [item for part in level for item in (part.values() if isinstance(part, dict) else part)]
