"""What the API knows of a JSON value: which fields an object has, and how large an integer may be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs


@attrs.frozen
class Shape:
    """What is known of a value; by default nothing."""

    fields: Mapping[str, Shape] | None = None
    """The fields of an object, or of each object in a list, by JSON name; None: no object, or one with keys of any name."""
    limits: range | None = None
    """The numbers that an integer may be."""


ANYTHING = Shape()
"""A single value, or an object that is not looked into."""


def named(names: str, **nested: Shape) -> dict[str, Shape]:
    """Fields by name: *names*, separated by blanks, of any shape, and *nested* ones.

    >>> list(named("name weight", tlsConfig=Shape(named("insecure"))))
    ['name', 'weight', 'tlsConfig']
    """
    return {**dict.fromkeys(names.split(), ANYTHING), **nested}


def unknown_fields(value: Any, shape: Shape, path: str = "") -> Iterator[str]:
    """The paths of the fields in *value*, a JSON value, that *shape* does not know.

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
