"""From plain data back to the state of a replay. Nothing that the data names is run: objects are made empty and then filled.

Only what :mod:`.kinds` lists is made. Everything is checked, since anybody can write a file: :class:`~.kinds.StateError` says what is
wrong.
"""

from __future__ import annotations

import base64
import enum
import re
from array import array
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from random import Random
from types import MappingProxyType
from typing import Any

import attrs
import numpy as np
from msgspec import Struct

from ....core.arrays.census import Census
from .dump import MISSING
from .kinds import FUNCTIONS, MAPPINGS, REBUILT, StateError, class_called, fields_of, is_named_tuple, is_record, method, partly

_DTYPE = re.compile(r"[<>|=](b1|[iu][1248]|f[248])")
_PENDING = object()
_ABSENT = object()
Make = Callable[[list[Any]], Any]
Fill = Callable[[Any, list[Any]], None]


@attrs.frozen(repr=False)
class _Kind:
    """How objects of one kind are made: at once from what is in them, or empty and then filled."""

    make: Make | None = None
    empty: Callable[[], Any] | None = None
    fill: Fill | None = None


def restored(data: Any, named: Mapping[str, Any]) -> Any:
    """The state in *data*; *named* gives the objects that were written as a name only. Raises :class:`~.kinds.StateError`."""
    try:
        return _Giver(data, named).give()
    except StateError:
        raise
    except Exception as error:  # whatever wrong data leads to in constructors
        raise StateError(f"got data that makes no sense: {type(error).__name__}: {str(error)[:200]}") from None


class _Giver:
    def __init__(self, data: Any, named: Mapping[str, Any]) -> None:
        if not isinstance(data, dict) or not all(isinstance(data.get(key), list) for key in ("kinds", "nodes", "order")):
            raise StateError("got no kinds, nodes and order")
        self._named = named
        self._nodes: list[Any] = data["nodes"]
        self._order: list[Any] = data["order"]
        self._texts: dict[str, str] = {}
        self._kinds = [self._kind(words) for words in data["kinds"]]
        self._made: list[Any] = []

    def give(self) -> Any:
        """What is in the first node, which is a list of one."""
        count = len(self._nodes)
        if not count or any(type(number) is not int for number in self._order) or sorted(self._order) != list(range(count)):
            raise StateError("got an order that does not have each node once")
        # One more, for the number that stands for no value at all.
        self._made = [*(self._shell(node) for node in self._nodes), _ABSENT]
        late = [number for number in self._order if not self._finish(number)]
        for number in late:
            if not self._finish(number):
                raise StateError("got an object that is in itself")
        (state,) = self._made[0]
        return state

    def _shell(self, node: Any) -> Any:
        if not isinstance(node, list) or not node or type(node[0]) is not int or not 0 <= node[0] < len(self._kinds):
            raise StateError("got a node that is not of any kind")
        empty = self._kinds[node[0]].empty
        return _PENDING if empty is None else empty()

    def _finish(self, number: int) -> bool:
        """Fill or make an object; False if something in it is not made yet."""
        node = self._nodes[number]
        kind, values = self._kinds[node[0]], [self._value(value) for value in node[1:]]
        if any(value is _PENDING for value in values):
            return False
        if kind.fill is not None:
            kind.fill(self._made[number], values)
        elif kind.make is not None:
            self._made[number] = kind.make(values)
        return True

    def _value(self, value: Any) -> Any:
        if type(value) is str:
            return self._texts.setdefault(value, value)
        if type(value) is not list:
            if type(value) is dict:
                raise StateError("got an object as a value")
            return value
        if len(value) != 1 or type(value[0]) is not int or not MISSING <= value[0] < len(self._nodes):
            raise StateError("got a reference to no object")
        return self._made[value[0]]

    def _kind(self, words: Any) -> _Kind:
        if not isinstance(words, list) or not words or not all(isinstance(word, str) for word in words):
            raise StateError("got a kind without a name")
        if words[0] == "named":
            return _Kind(make=lambda values: _one_of(self._named, *values))
        if words[0] == "census":
            return _Kind(make=lambda values: _census(values, len(self._nodes)))
        if len(words) == 1 and words[0] in PLAIN:
            return PLAIN[words[0]]
        return _ours(words)


def _one_of(known: Mapping[str, Any], name: Any) -> Any:
    if name not in known:
        raise StateError(f"got the name {str(name)[:100]}, wanted one of a part of the scheduler")
    return known[name]


# --- plain values ---------------------------------------------------------------------------------------------------


def _pairs(values: Sequence[Any]) -> list[tuple[Any, Any]]:
    if len(values) % 2 or any(value is _ABSENT for value in values):
        raise StateError("got a key without a value")
    return list(zip(values[::2], values[1::2], strict=True))


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


def _dtype(text: Any) -> np.dtype[Any]:
    if not isinstance(text, str) or not _DTYPE.fullmatch(text):
        raise StateError("got an array of something else, wanted numbers")
    return np.dtype(text)


def _array(values: list[Any]) -> Any:
    return np.frombuffer(_bytes(values[1]), _dtype(values[0])).reshape(values[2:]).copy()


def _numbers(values: list[Any]) -> Any:
    code, text = values
    if code not in tuple("bBhHiIlLqQfd"):
        raise StateError("got numbers of no known type")
    return array(code, _bytes(text))


def _random(values: list[Any]) -> Random:
    made = Random()
    made.setstate((values[0], tuple(values[2:]), values[1]))
    return made


def _census(values: list[Any], most: int) -> Census:
    """The census counts again. A row is not beyond the number of all objects, so that wrong data cannot ask for endless memory."""
    labels, present = values
    census = Census(labels)
    for template, row, count in present:
        if not 0 <= row < max(most, 8):
            raise StateError("got a pod on a row that the table does not have")
        census.add(template, row, count)
    return census


PLAIN: Mapping[str, _Kind] = {
    "list": _Kind(empty=list, fill=lambda made, values: made.extend(values)),
    "tuple": _Kind(make=tuple),
    "set": _Kind(empty=set, fill=lambda made, values: made.update(values)),
    "frozenset": _Kind(make=frozenset),
    "dict": _Kind(empty=dict, fill=lambda made, values: made.update(_pairs(values))),
    "counter": _Kind(empty=Counter, fill=lambda made, values: dict.update(made, _pairs(values))),
    "frozendict": _Kind(make=lambda values: MappingProxyType(dict(_pairs(values)))),
    "deque": _Kind(make=lambda values: deque(values[1:], values[0])),
    "bytes": _Kind(make=lambda values: _bytes(*values)),
    "numbers": _Kind(make=_numbers),
    "array": _Kind(make=_array),
    "scalar": _Kind(make=lambda values: np.frombuffer(_bytes(values[1]), _dtype(values[0]))[0]),
    "random": _Kind(make=_random),
    "partial": _Kind(make=lambda values: partly(*values)),
    "method": _Kind(make=lambda values: method(*values)),
    "function": _Kind(make=lambda values: _one_of(FUNCTIONS, *values)),
}


# --- our own classes ------------------------------------------------------------------------------------------------


def _ours(words: list[str]) -> _Kind:
    word, kind = words[0], class_called(words[1]) if len(words) > 1 else None
    if kind is None:
        raise StateError(f"got an object of {' '.join(words[:2])[:200]}, wanted one of the replay's own classes")
    if word in ("record", "rebuilt") and is_record(kind) and (kind in REBUILT) == (word == "rebuilt"):
        if tuple(words[2:]) != fields_of(kind):
            raise StateError(f"got other attributes of {words[1]} than it has now")
        return _record(kind, fields_of(kind))
    if word == "class":
        return _Kind(make=lambda values: kind)
    if word == "enum" and issubclass(kind, enum.Enum):
        return _Kind(make=lambda values: kind(*values))
    if word == "namedtuple" and is_named_tuple(kind):
        return _Kind(make=lambda values: kind(*values))
    if word == "mapping" and kind in MAPPINGS:
        return _Kind(empty=kind, fill=lambda made, values: dict.update(made, _pairs(values)))
    raise StateError(f"got {word[:100]} for {words[1]}, wanted what it is")


def _record(kind: Any, names: tuple[str, ...]) -> _Kind:
    if kind in REBUILT or issubclass(kind, Struct):
        return _Kind(make=lambda values: kind(**{name.lstrip("_"): value for name, value in zip(names, values, strict=True)}))
    # attrs keeps the hash of some classes in an attribute of its own.
    reset = "_attrs_cached_hash" in dir(kind)

    def fill(made: Any, values: list[Any]) -> None:
        for name, value in zip(names, values, strict=True):
            if value is not _ABSENT:
                object.__setattr__(made, name, value)
        if reset:
            object.__setattr__(made, "_attrs_cached_hash", None)

    return _Kind(empty=lambda: object.__new__(kind), fill=fill)
