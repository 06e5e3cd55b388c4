"""Decodes JSON into the Go types of ``gotypes.txt``, as Go does: names in any case, nulls, and errors in Go's words.

>>> decode("MetaPod", b'{"uid": "a", "other": 1}', GoNames("v1"), "1.27")
{'UID': 'a'}

Upstream: encoding/json/decode.go.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import attrs

from ...exceptions import QuantityError
from ..objects.quantity import Quantity
from .gosyntax import GoJsonError, JsonNumber, first_value

_WORD = re.compile(r"(?P<name>\w+):(?P<kind>[^!@]+)(?P<always>!?)(?:@(?P<since>[\d.]*)-?(?P<until>[\d.]*))?")


@attrs.frozen
class GoField:
    """A field of a Go struct."""

    name: str
    kind: str
    """``s``, ``[]s``, ``*ObjectMeta`` and so on; the head of the table explains the letters."""
    is_always_written: bool
    """It is written without a value, too: its tag has no ``omitempty``."""


@cache
def go_type(name: str, version: str) -> tuple[GoField, ...]:
    """The fields of a type in release *version*, such as ``1.15``, in their order.

    >>> [field.name for field in go_type("Taint", "1.15")]
    ['key', 'value', 'effect', 'timeAdded']
    """
    found = (_WORD.fullmatch(word) for word in _lines()[name])
    return tuple(GoField(word["name"], word["kind"], bool(word["always"])) for word in found if word and _has(word, version))


def _has(word: re.Match[str], version: str) -> bool:
    since, until = word["since"], word["until"]
    return not (since and _number(version) < _number(since)) and not (until and _number(version) > _number(until))


def _number(version: str) -> int:
    return int(version.partition(".")[2])


@cache
def _lines() -> Mapping[str, list[str]]:
    text = files(__package__).joinpath("gotypes.txt").read_text(encoding="utf-8")
    lines = (line.split() for line in text.replace("\n  ", " ").splitlines() if not line.startswith("#"))
    return {name.rstrip(":"): words for name, *words in lines}


INT64 = 2**63
_LEAVES = {"s": "string", "b": "bool", "q": "resource.Quantity", "t": "v1.Time", "u": "v1.MicroTime", "x": "intstr.IntOrString"}
_SHAPES: Mapping[str, tuple[type, ...]] = {"s": (str,), "b": (bool,), "t": (str,), "u": (str,)}


@attrs.frozen
class GoNames:
    """How messages name types: the package of the outer types, and the type of whole numbers in them."""

    package: str
    integer: str = "int64"


Known = Callable[[Any], Any]
"""(JSON of a node) -> the same if it is known to need no decoding, else None."""


def decode(kind: str, body: bytes, names: GoNames, version: str, known: Known | None = None) -> Any:
    """The first value in *body* as a value of *kind*, with the names of Go's fields; what is absent is left out.

    *known* may recognise nodes that are in Go's form already. Raises :class:`~.gosyntax.GoJsonError`.
    """
    decoder = _Decoder(names, version, known)
    found = decoder.value(kind, first_value(body))
    if decoder.error is not None:
        raise GoJsonError(decoder.error)
    return found


@attrs.define
class _Decoder:
    names: GoNames
    version: str
    known: Known | None
    error: str | None = None
    """The first error; Go goes on after it, and returns it in the end."""
    _struct: str = ""
    _path: list[str] = attrs.field(factory=list)

    def value(self, kind: str, given: Any) -> Any:
        """*given* as a value of *kind*; None for a null."""
        if kind.startswith("*"):
            return self.value(kind[1:], given)
        if given is None or kind == "r":
            return given
        if kind.startswith("[]"):
            return self._list(kind, given)
        if kind.startswith("{}"):
            return self._map(kind, given)
        return self._leaf(kind, given) if kind[0].islower() else self._object(kind, given)

    def _list(self, kind: str, given: Any) -> Any:
        if not isinstance(given, list):
            return self._mismatch(kind, given)
        return [self._item(kind[2:], item) for item in given]

    def _item(self, kind: str, given: Any) -> Any:
        found = self.value(kind, given)
        return _ZERO.get(kind, dict)() if found is None and not kind.startswith("*") else found

    def _map(self, kind: str, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return self._mismatch(kind, given)
        return {_text(key): self._item(kind[2:], item) for key, item in given.items()}

    def _object(self, kind: str, given: Any) -> Any:
        if kind == "Node" and self.known is not None and (same := self.known(given)) is not None:
            return same
        if not isinstance(given, Mapping):
            return self._mismatch(kind, given)
        before, found = self._struct, dict[str, Any]()
        for field, item in _fields_of(kind, self.version, given):
            self._struct = kind
            self._path.append(field.name)
            decoded = self.value(field.kind, item)
            if decoded is not None or field.kind[0] in "*[{":
                found[field.name] = decoded
            self._path.pop()
        self._struct = before
        return found

    def _leaf(self, kind: str, given: Any) -> Any:
        if kind in ("i", "f"):
            return self._number(kind, given)
        if kind == "q":
            return self._quantity(given)
        if kind == "x" and isinstance(given, JsonNumber):
            return int(given) if given.lstrip("-").isdigit() else self._mismatch(kind, given)
        if isinstance(given, JsonNumber) or not isinstance(given, _SHAPES.get(kind, (str,))):
            return self._mismatch(kind, given)
        return _text(given) if isinstance(given, str) else given

    def _number(self, kind: str, given: Any) -> Any:
        if not isinstance(given, JsonNumber):
            return self._mismatch(kind, given)
        try:
            found = int(given)
        except ValueError:
            return self._mismatch(kind, given, f"number {given}")
        return found if -INT64 <= found < INT64 else self._mismatch(kind, given, f"number {given}")

    def _quantity(self, given: Any) -> Any:
        try:
            return Quantity.parse(given).written if isinstance(given, str) else self._mismatch("q", given)
        except QuantityError:
            self.error = self.error or "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
            return None

    def _mismatch(self, kind: str, given: Any, shown: str = "") -> None:
        if self.error is None:
            got, wanted = shown or _word(given), self._type(kind)
            field = f"struct field {self._struct}.{'.'.join(self._path)} of" if self._path else "value of"
            self.error = f"json: cannot unmarshal {got} into Go {field} type {wanted}"

    def _type(self, kind: str) -> str:
        if kind.startswith("*"):
            return f"*{self._type(kind[1:])}"
        if kind == "[]HostPriority":
            return f"{self.names.package}.HostPriorityList"
        if kind.startswith("[]"):
            return f"[]{self._type(kind[2:])}"
        if kind.startswith("{}"):
            return f"map[string]{self._type(kind[2:])}"
        if kind == "i":
            return self.names.integer if len(self._path) < 3 else "int64"
        return _LEAVES.get(kind) or f"{self.names.package if _is_reply(kind) else 'v1'}.{kind}"


_ZERO: Mapping[str, Callable[[], Any]] = {"s": str, "b": bool, "i": int, "f": int, "q": lambda: "0"}


def _is_reply(kind: str) -> bool:
    return kind.startswith(("Extender", "Host", "Meta"))


def _word(given: Any) -> str:
    if isinstance(given, JsonNumber):
        return "number"
    if isinstance(given, bool):
        return "bool"
    return "string" if isinstance(given, str) else "array" if isinstance(given, list) else "object"


def _text(given: str) -> str:
    """A text without halves of surrogate pairs, for which Go puts U+FFFD."""
    if given.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in given):
        return given
    return given.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@cache
def _by_name(kind: str, version: str) -> tuple[Mapping[str, GoField], Mapping[str, GoField]]:
    fields = go_type(kind, version)
    return {field.name: field for field in fields}, {field.name.casefold(): field for field in reversed(fields)}


def _fields_of(kind: str, version: str, given: Mapping[str, Any]) -> Iterator[tuple[GoField, Any]]:
    """The fields of *kind* that *given* has, in its order, by their exact names or by names in another case."""
    exact, folded = _by_name(kind, version)
    for key, item in given.items():
        field = exact.get(key) or folded.get(key.casefold())
        if field is not None:
            yield field, item
