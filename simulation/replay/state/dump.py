"""From the state of a replay to plain data that JSON can hold.

The data is ``kinds``, what the objects are; ``nodes``, one list for each object, its kind and then what is in it; and ``order``, the
numbers of the nodes, each after those that are in it. A value is null, a truth value, a number or a text; or ``[number]``, an object.
"""

from __future__ import annotations

import base64
import enum
from array import array
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from random import Random
from types import FunctionType, MappingProxyType, MethodType
from typing import Any

import numpy as np

from ....core.arrays.census import Census
from .kinds import FUNCTIONS, MAPPINGS, REBUILT, StateError, fields_of, is_allowed, is_named_tuple, is_record, method, name_of

Data = dict[str, Any]
INLINE = frozenset([type(None), bool, int, float, str])
MISSING = -1
"""The number that stands for an attribute without a value."""
_ABSENT = object()
Parts = tuple[tuple[str, ...], Iterable[Any]]
"""The kind of an object, as in ``kinds``, and what is in it."""


def dumped(state: Any, named: Mapping[str, Any]) -> Data:
    """*state*, in a list of its own, as plain data. *named*: objects that are written as a name only.

    Raises :class:`~.kinds.StateError` for an object that a checkpoint cannot hold.
    """
    return _Taker({id(part): name for name, part in named.items()}).take([state])


class _Taker:
    def __init__(self, named: Mapping[int, str]) -> None:
        self._named = named
        self._functions = {id(function): name for name, function in FUNCTIONS.items()}
        self._numbers = {id(_ABSENT): MISSING}
        self._kept: list[Any] = []
        """Every object, so that no two of them have the same id."""
        self._kinds: dict[tuple[str, ...], int] = {}
        self._nodes: list[list[Any]] = []
        self._open: list[tuple[int, Iterator[Any]]] = []

    def take(self, root: Any) -> Data:
        """Everything that can be reached from *root*; without recursion, since the chains are long."""
        order: list[int] = []
        self._visit(root)
        while self._open:
            number, values = self._open[-1]
            if self._goes_on(self._nodes[number], values):
                continue
            self._open.pop()
            order.append(number)
        return {"kinds": [list(kind) for kind in self._kinds], "nodes": self._nodes, "order": order}

    def _goes_on(self, node: list[Any], values: Iterator[Any]) -> bool:
        """Write values into *node* up to the first object that was not seen before, whose turn it is then."""
        numbers = self._numbers
        for value in values:
            if type(value) in INLINE:
                node.append(value)
                continue
            number = numbers.get(id(value))
            if number is None:
                node.append([self._visit(value)])
                return True
            node.append([number])
        return False

    def _visit(self, value: Any) -> int:
        kind, values = self._parts(value)
        number = self._numbers[id(value)] = len(self._nodes)
        self._kept.append(value)
        self._nodes.append([self._kinds.setdefault(kind, len(self._kinds))])
        self._open.append((number, iter(values)))
        return number

    def _parts(self, value: Any) -> Parts:
        for names, word in ((self._named, "named"), (self._functions, "function")):
            if (name := names.get(id(value))) is not None:
                return (word,), [name]
        found = PLAIN.get(type(value))
        if found is None:
            return _parts_of_ours(value)
        return (found[0],), found[1](value)


def _items(values: Mapping[Any, Any]) -> Iterable[Any]:
    return chain.from_iterable(values.items())


def _random(draw: Random) -> Iterable[Any]:
    version, numbers, gauss = draw.getstate()
    return version, gauss, *numbers


def _array(values: Any) -> Iterable[Any]:
    if values.dtype.kind not in "biuf":
        raise StateError(f"got an array of {values.dtype}, wanted one of numbers")
    return values.dtype.str, as_text(np.ascontiguousarray(values).tobytes()), *values.shape


def _delayed(task: partial[Any]) -> Iterable[Any]:
    if task.keywords:
        raise StateError("got a task with named arguments")
    return task.func, *task.args


def _bound(task: MethodType) -> Iterable[Any]:
    method(task.__self__, task.__name__)
    return task.__self__, task.__name__


def as_text(content: bytes) -> str:
    """Bytes as a text, in base64."""
    return base64.b64encode(content).decode("ascii")


PLAIN: Mapping[type, tuple[str, Callable[[Any], Iterable[Any]]]] = {
    list: ("list", iter),
    tuple: ("tuple", iter),
    set: ("set", iter),
    frozenset: ("frozenset", iter),
    dict: ("dict", _items),
    Counter: ("counter", _items),
    MappingProxyType: ("frozendict", _items),
    deque: ("deque", lambda value: (value.maxlen, *value)),
    bytes: ("bytes", lambda value: [as_text(value)]),
    array: ("numbers", lambda value: (value.typecode, as_text(value.tobytes()))),
    np.ndarray: ("array", _array),
    Random: ("random", _random),
    partial: ("partial", _delayed),
    MethodType: ("method", _bound),
    Census: ("census", lambda value: (value.labels, list(value.present()))),
}
"""Type -> its kind, and what is in a value of it."""


def _parts_of_ours(value: Any) -> Parts:
    kind: type = type(value)
    if isinstance(value, np.generic) and value.dtype.kind in "biuf":
        return ("scalar",), (value.dtype.str, as_text(value.tobytes()))
    if isinstance(value, type) and is_allowed(value):
        return ("class", name_of(value)), ()
    if isinstance(value, FunctionType) or not is_allowed(kind):
        raise StateError(f"got {_told(value)}, which a checkpoint cannot hold: wanted plain data or an object of the replay")
    if issubclass(kind, enum.Enum):
        return ("enum", name_of(kind)), [value.value]
    if is_named_tuple(kind):
        return ("namedtuple", name_of(kind)), value
    if kind in MAPPINGS:
        return ("mapping", name_of(kind)), _items(value)
    assert is_record(kind), kind
    names = fields_of(kind)
    return ("rebuilt" if kind in REBUILT else "record", name_of(kind), *names), [getattr(value, name, _ABSENT) for name in names]


def _told(value: Any) -> str:
    kind = type(value)
    is_named = isinstance(value, FunctionType | type)
    return f"{value.__qualname__} itself" if is_named else f"an object of {kind.__module__}.{kind.__qualname__}"
