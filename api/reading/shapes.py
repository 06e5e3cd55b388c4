"""What is known about JSON values: the fields of an object, the range of an integer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from ...exceptions import ManifestError, did_you_mean


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
