"""Keys that an object has twice: readers notice them while they make objects, and here they get their paths."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import attrs


@attrs.define(repr=False)
class Repeats:
    """The keys that objects of one document had more than once. The objects are kept, so that no other object gets their id."""

    _found: dict[int, tuple[Mapping[str, Any], list[str]]] = attrs.field(factory=dict)

    def add(self, made: Mapping[str, Any], key: str) -> None:
        """Remember that *made* had *key* again."""
        self._found.setdefault(id(made), (made, []))[1].append(key)

    def paths(self, value: Any) -> tuple[str, ...]:
        """The paths of these keys in *value*, each once, outer ones first."""
        return tuple(dict.fromkeys(self._paths(value))) if self._found else ()

    def _paths(self, value: Any) -> Iterator[str]:
        level, seen = [("", value)], set()
        while level:
            inner: list[tuple[str, Any]] = []
            for path, item in level:
                if id(item) in seen:
                    continue
                if isinstance(item, (dict, list)):
                    seen.add(id(item))
                if id(item) in self._found:
                    yield from (f"{path}.{key}" if path else key for key in self._found[id(item)][1])
                inner += _parts(path, item)
            level = inner


def _parts(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The values in an object or list, with their paths."""
    if isinstance(value, dict):
        yield from ((f"{path}.{key}" if path else key, item) for key, item in value.items())
    elif isinstance(value, list):
        yield from ((f"{path}[{index}]", item) for index, item in enumerate(value))


_HALF = re.compile("[\ud800-\udfff]")


def without_surrogates(value: Any) -> Any:
    """*value*, read from JSON, with U+FFFD for every half character in its texts and keys.

    >>> without_surrogates({"a": ["x\\ud800"]}) == {"a": ["x\\ufffd"]}
    True
    """
    if isinstance(value, str):
        return _HALF.sub("\ufffd", value)
    if isinstance(value, list):
        value[:] = map(without_surrogates, value)
    elif isinstance(value, dict):
        for key in list(value):
            value[without_surrogates(key)] = without_surrogates(value.pop(key))
    return value
