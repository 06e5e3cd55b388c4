"""What is known about JSON values: the fields of an object, the range of an integer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs


@attrs.frozen
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
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from unknown_fields(item, shape, f"{path}[{index}]")
    elif isinstance(value, Mapping) and shape.fields is not None:
        for name, item in value.items():
            inner = f"{path}.{name}" if path else str(name)
            if name in shape.fields:
                yield from unknown_fields(item, shape.fields[name], inner)
            else:
                yield inner
