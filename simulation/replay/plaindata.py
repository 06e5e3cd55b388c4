"""The state of a replay as plain data that JSON can hold, and back.

The data is ``kinds``, what the objects are; ``nodes``, one list for each object, its kind and then what is in it; and ``order``, the
numbers of the nodes, each after those that are in it. A value is null, a truth value, a number or a text; or ``[number]``, an object.

Nothing that the data names is run: objects are made empty and then filled, and only what :mod:`.statekinds` lists is made. Everything is
checked, since anybody can write a file: :class:`~.statekinds.StateError` says what is wrong.
"""

from __future__ import annotations

import base64
import enum
import re
from array import array
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from random import Random
from types import FunctionType, MappingProxyType, MethodType
from typing import Any

import attrs
import numpy as np
from msgspec import Struct

from ...core.arrays.census import Census
from .statekinds import (
    FUNCTIONS,
    MAPPINGS,
    REBUILT,
    StateError,
    class_called,
    fields_of,
    is_allowed,
    is_named_tuple,
    is_record,
    method,
    name_of,
    partly,
)

Data = dict[str, Any]
INLINE = frozenset([type(None), bool, int, float, str])
MISSING = -1
"""The number that stands for an attribute without a value."""
_ABSENT = object()
_PENDING = object()
_DTYPE = re.compile(r"[<>|=](b1|[iu][1248]|f[248])")
Parts = tuple[tuple[str, ...], Iterable[Any]]
"""The kind of an object, as in ``kinds``, and what is in it."""


# --- plain values ---------------------------------------------------------------------------------------------------


@attrs.frozen(repr=False)
class ValueForm:
    """How values *of* a type are written and made: at once from what is in them, or empty and then filled."""

    of: type | None = None
    parts: Callable[[Any], Iterable[Any]] = iter
    """What is in a value."""
    make: Callable[[list[Any]], Any] | None = None
    empty: Callable[[], Any] | None = None
    fill: Callable[[Any, list[Any]], None] | None = None


def _items(values: Mapping[Any, Any]) -> Iterable[Any]:
    return chain.from_iterable(values.items())


def _pairs(values: Sequence[Any]) -> list[tuple[Any, Any]]:
    if len(values) % 2 or any(value is _ABSENT for value in values):
        raise StateError("got a key without a value")
    return list(zip(values[::2], values[1::2], strict=True))


def _fill_mapping(made: dict[Any, Any], values: list[Any]) -> None:
    dict.update(made, _pairs(values))


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


def _array_parts(values: Any) -> Iterable[Any]:
    if values.dtype.kind not in "biuf":
        raise StateError(f"got an array of {values.dtype}, wanted one of numbers")
    return values.dtype.str, _text(np.ascontiguousarray(values).tobytes()), *values.shape


def _flat(values: list[Any]) -> Any:
    """The numbers of an array, in a row."""
    if not isinstance(values[0], str) or not _DTYPE.fullmatch(values[0]):
        raise StateError("got an array of something else, wanted numbers")
    return np.frombuffer(_bytes(values[1]), np.dtype(values[0]))


def _numbers(values: list[Any]) -> Any:
    code, text = values
    if code not in tuple("bBhHiIlLqQfd"):
        raise StateError("got numbers of no known type")
    return array(code, _bytes(text))


def _random_parts(draw: Random) -> Iterable[Any]:
    version, numbers, gauss = draw.getstate()
    return version, gauss, *numbers


def _random(values: list[Any]) -> Random:
    made = Random()
    made.setstate((values[0], tuple(values[2:]), values[1]))
    return made


def _delayed(task: partial[Any]) -> Iterable[Any]:
    if task.keywords:
        raise StateError("got a task with named arguments")
    return task.func, *task.args


def _bound(task: MethodType) -> Iterable[Any]:
    method(task.__self__, task.__name__)
    return task.__self__, task.__name__


def _census(values: list[Any], most: int) -> Census:
    """The census counts again. A row is not beyond the number of all objects, so that wrong data cannot ask for endless memory."""
    labels, present = values
    census = Census(labels)
    for template, row, count in present:
        if not 0 <= row < max(most, 8):
            raise StateError("got a pod on a row that the table does not have")
        census.add(template, row, count)
    return census


def _one_of(known: Mapping[str, Any], name: Any) -> Any:
    if name not in known:
        raise StateError(f"got the name {str(name)[:100]}, wanted one of a part of the scheduler")
    return known[name]


FORMS: Mapping[str, ValueForm] = {
    "list": ValueForm(list, empty=list, fill=list.extend),
    "tuple": ValueForm(tuple, make=tuple),
    "set": ValueForm(set, empty=set, fill=set.update),
    "frozenset": ValueForm(frozenset, make=frozenset),
    "dict": ValueForm(dict, _items, empty=dict, fill=_fill_mapping),
    "counter": ValueForm(Counter, _items, empty=Counter, fill=_fill_mapping),
    "frozendict": ValueForm(MappingProxyType, _items, lambda values: MappingProxyType(dict(_pairs(values)))),
    "deque": ValueForm(deque, lambda value: (value.maxlen, *value), lambda values: deque(values[1:], values[0])),
    "bytes": ValueForm(bytes, lambda value: [_text(value)], lambda values: _bytes(*values)),
    "numbers": ValueForm(array, lambda value: (value.typecode, _text(value.tobytes())), _numbers),
    "array": ValueForm(np.ndarray, _array_parts, lambda values: _flat(values).reshape(values[2:]).copy()),
    "scalar": ValueForm(make=lambda values: _flat(values)[0]),
    "random": ValueForm(Random, _random_parts, _random),
    "partial": ValueForm(partial, _delayed, lambda values: partly(*values)),
    "method": ValueForm(MethodType, _bound, lambda values: method(*values)),
    "function": ValueForm(make=lambda values: _one_of(FUNCTIONS, *values)),
    "census": ValueForm(Census, lambda value: (value.labels, list(value.present()))),
}
"""Kind -> its form. A census needs to know how many objects there are; numpy's single numbers and functions are found otherwise."""
_WORDS = {form.of: (word, form.parts) for word, form in FORMS.items()}


# --- writing --------------------------------------------------------------------------------------------------------


def dumped(state: Any, named: Mapping[str, Any]) -> Data:
    """*state*, in a list of its own, as plain data. *named*: objects that are written as a name only.

    Raises :class:`~.statekinds.StateError` for an object that a checkpoint cannot hold.
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
        for value in values:
            if type(value) in INLINE:
                node.append(value)
                continue
            number = self._numbers.get(id(value))
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
        found = _WORDS.get(type(value))
        return _parts_of_ours(value) if found is None else ((found[0],), found[1](value))


def _parts_of_ours(value: Any) -> Parts:
    kind: type = type(value)
    if isinstance(value, np.generic) and value.dtype.kind in "biuf":
        return ("scalar",), (value.dtype.str, _text(value.tobytes()))
    if isinstance(value, type) and is_allowed(value):
        return ("class", name_of(value)), ()
    if isinstance(value, FunctionType) or not is_allowed(kind):
        is_named = isinstance(value, FunctionType | type)
        told = f"{value.__qualname__} itself" if is_named else f"an object of {kind.__module__}.{kind.__qualname__}"
        raise StateError(f"got {told}, which a checkpoint cannot hold: wanted plain data or an object of the replay")
    if issubclass(kind, enum.Enum):
        return ("enum", name_of(kind)), [value.value]
    if is_named_tuple(kind):
        return ("namedtuple", name_of(kind)), value
    if kind in MAPPINGS:
        return ("mapping", name_of(kind)), _items(value)
    assert is_record(kind), kind
    names = fields_of(kind)
    return ("rebuilt" if kind in REBUILT else "record", name_of(kind), *names), [getattr(value, name, _ABSENT) for name in names]


# --- reading --------------------------------------------------------------------------------------------------------


def restored(data: Any, named: Mapping[str, Any]) -> Any:
    """The state in *data*; *named* gives the objects that were written as a name only. Raises :class:`~.statekinds.StateError`."""
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

    def _kind(self, words: Any) -> ValueForm:
        if not isinstance(words, list) or not words or not all(isinstance(word, str) for word in words):
            raise StateError("got a kind without a name")
        if words[0] == "named":
            return ValueForm(make=lambda values: _one_of(self._named, *values))
        if words[0] == "census":
            return ValueForm(make=lambda values: _census(values, len(self._nodes)))
        return FORMS[words[0]] if len(words) == 1 and words[0] in FORMS else _ours(words)


def _ours(words: list[str]) -> ValueForm:
    word, kind = words[0], class_called(words[1]) if len(words) > 1 else None
    if kind is None:
        raise StateError(f"got an object of {' '.join(words[:2])[:200]}, wanted one of the replay's own classes")
    if word in ("record", "rebuilt") and is_record(kind) and (kind in REBUILT) == (word == "rebuilt"):
        if tuple(words[2:]) != fields_of(kind):
            raise StateError(f"got other attributes of {words[1]} than it has now")
        return _record(kind, fields_of(kind))
    if word == "class":
        return ValueForm(make=lambda values: kind)
    if (word == "enum" and issubclass(kind, enum.Enum)) or (word == "namedtuple" and is_named_tuple(kind)):
        return ValueForm(make=lambda values: kind(*values))
    if word == "mapping" and kind in MAPPINGS:
        return ValueForm(empty=kind, fill=_fill_mapping)
    raise StateError(f"got {word[:100]} for {words[1]}, wanted what it is")


def _record(kind: Any, names: tuple[str, ...]) -> ValueForm:
    if kind in REBUILT or issubclass(kind, Struct):
        return ValueForm(make=lambda values: kind(**{name.lstrip("_"): value for name, value in zip(names, values, strict=True)}))
    # attrs keeps the hash of some classes in an attribute of its own.
    reset = "_attrs_cached_hash" in dir(kind)

    def fill(made: Any, values: list[Any]) -> None:
        for name, value in zip(names, values, strict=True):
            if value is not _ABSENT:
                object.__setattr__(made, name, value)
        if reset:
            object.__setattr__(made, "_attrs_cached_hash", None)

    return ValueForm(empty=lambda: object.__new__(kind), fill=fill)
