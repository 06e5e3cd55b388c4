"""The values of a JSON text, one or several, with their repeated keys; and long lists of objects, read item
by item.

The standard library reads exactly what is there, but reports repeated keys only one object at a time, which
is slow. msgspec is faster, but does not report them. So its result is encoded again without blanks, and the
commas are counted: a key that got lost took one along.

Only a window of a long list's text is kept in memory. Anything odd, such as a key that an object has twice,
raises :class:`Uncertain`: the exact way finds out what it is.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any, NoReturn

import msgspec
from attrs import Factory, define

from ....exceptions import ManifestError
from ...objects import JsonDict, JsonObject
from .files import as_text


@define(repr=False)
class Repeats:
    """The keys that objects of one document had more than once. The objects are kept, so that no other object
    gets their id."""

    found: dict[int, tuple[JsonObject, list[str]]] = Factory(dict)

    def add(self, mapping: JsonObject, key: str) -> None:
        """Remember that *mapping* had *key* again."""
        self.found.setdefault(id(mapping), (mapping, []))[1].append(key)

    def paths(self, value: Any) -> tuple[str, ...]:
        """The paths of these keys in *value*, each once, outer ones first."""
        paths = dict[str, None]()
        level = [("", value)]
        visited = set[int]()
        while level:
            inner: list[tuple[str, Any]] = []
            for path, item in level:
                if id(item) in visited:
                    continue
                dot = f"{path}." if path else ""
                paths |= dict.fromkeys(f"{dot}{key}" for key in self.found.get(id(item), (item, ()))[1])
                if isinstance(item, dict):
                    visited.add(id(item))
                    inner += ((f"{dot}{key}", part) for key, part in item.items())
                elif isinstance(item, list):
                    visited.add(id(item))
                    inner += ((f"{path}[{index}]", part) for index, part in enumerate(item))
            level = inner
        return tuple(paths)


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


# --- values -------------------------------------------------------------------------------------------------

_START_OF_LOGS = "==== START logs"
_LOGS = re.compile(rf"^{_START_OF_LOGS}.*?(?:^==== END logs[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_BLANK = re.compile(r"[ \t\r\n]*")
_LAST_WORD = re.compile(r"[\s,]*[\w.+-]*\s*")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
Parsed = tuple[Any, Repeats]

decoded: Callable[[bytes | str], Any] = msgspec.json.Decoder().decode
encoded: Callable[[Any], bytes] = msgspec.json.Encoder().encode
UNREADABLE = (msgspec.MsgspecError, ValueError, TypeError, OverflowError, RecursionError)
"""The errors of decoder and encoder; older versions of msgspec have errors of their own, newer ones
ValueErrors."""


def json_values(content: bytes, where: str, line: int | None = None) -> Iterator[Parsed]:
    """Each value in *content*, which can be one *line* of a file; log blocks of ``kubectl cluster-info dump``
    are skipped.

    Raises :class:`~kubeclassic.exceptions.ManifestError` with line and column.
    """
    parsed = quick_value(content)
    if parsed is not None:
        yield parsed[0], Repeats()
        return
    place = where if line is None else f"{where}, line {line}"
    text = as_text(content, place)
    if _START_OF_LOGS in text:  # the line ends stay, so that later lines keep their numbers
        text = _LOGS.sub(lambda logs: "\n" * logs[0].count("\n"), text)
    has_surrogates = _SURROGATE.search(text) is not None
    position = _end_of_blank(text, 0)
    while position < len(text):
        repeats = Repeats()
        value, position = _value_at(text, position, repeats, place, line is None)
        if has_surrogates:
            try:
                value = without_surrogates(value)
            except RecursionError:
                raise _too_deep(place) from None
        yield value, repeats
        position = _end_of_blank(text, position)


def quick_value(content: bytes) -> tuple[Any] | None:
    """The only value in *content*, in a tuple; None if an object in it has a key twice, or if that cannot be
    decided quickly."""
    if may_hide_commas(content):
        return None
    try:
        value = decoded(content)
        return (value,) if content.count(b",") == _commas(value) else None
    except UNREADABLE:
        return None  # several values, or broken: the standard library finds out


def holds_each_once(content: bytes, value: Any) -> bool:
    """Whether *value*, read from *content*, lost nothing of it: no object in it has a key twice."""
    return not may_hide_commas(content) and content.count(b",") == encoded(value).count(b",")


def may_hide_commas(content: bytes) -> bool:
    """Whether *content* may have commas that are written in another way."""
    return b"\\" in content and b"\\u002" in content  # \u002c is a comma too


def _commas(value: Any) -> int:
    """The number of commas of *value* in JSON. Long lists are written item by item, which takes less
    memory."""
    items = value.get("items") if isinstance(value, dict) else value
    parts = items if isinstance(items, list) else []
    outside = {**value, "items": None} if isinstance(value, dict) and parts else None if parts else value
    return (
        encoded(outside).count(b",")
        + max(len(parts) - 1, 0)
        + sum(encoded(part).count(b",") for part in parts)
    )


def _value_at(text: str, position: int, repeats: Repeats, where: str, has_lines: bool) -> tuple[Any, int]:
    def mapping(pairs: list[tuple[str, Any]]) -> JsonDict:
        items = dict(pairs)
        if len(items) != len(pairs):
            earlier = set()
            for key, _ in pairs:
                if key in earlier:
                    repeats.add(items, key)
                earlier.add(key)
        return items

    def refuse_constant(constant: str) -> NoReturn:
        raise ManifestError(f"{where}: broken JSON: expected a number, got {constant}")

    try:
        return json.JSONDecoder(object_pairs_hook=mapping, parse_constant=refuse_constant).raw_decode(
            text, position
        )
    except json.JSONDecodeError as error:
        rest = text[error.pos :]
        message = error.msg[:1].lower() + error.msg[1:]
        if rest.startswith(("//", "/*", "#")):
            message = "got a comment, which JSON does not have"
        elif message.startswith("unterminated string") or _LAST_WORD.fullmatch(rest):
            message = f"it ends in the middle ({message})"
        line = f", line {error.lineno}" if has_lines else ""
        raise ManifestError(f"{where}{line}, column {error.colno}: broken JSON: {message}") from None
    except RecursionError:
        raise _too_deep(where) from None
    except ValueError:  # Python reads no number of more digits
        raise ManifestError(f"{where}: broken JSON: got a number of more than 4,300 digits") from None


def _too_deep(where: str) -> ManifestError:
    return ManifestError(f"{where}: JSON nested too deeply")


def _end_of_blank(text: str, position: int) -> int:
    matched = _BLANK.match(text, position)
    return matched.end() if matched else position


# --- long lists ---------------------------------------------------------------------------------------------

_WINDOW = 1 << 20
_ends: Any = msgspec.json.Decoder(msgspec.Raw).decode
_all_parts: Any = msgspec.json.Decoder(list[dict[str, msgspec.Raw]]).decode
_NEXT = re.compile(r"trailing characters \(byte (\d+)\)")
_FIELD = re.compile(rb'\s*[{,]\s*"(?:[^"\\]|\\.)*"\s*:\s*')
_END = re.compile(rb"\s*\}\s*")
_BEGIN = re.compile(rb'\{\s*"[^"\\]*"')
_BLANKS = (b" ", b"\n", b"\r", b"\t")
Parts = Mapping[str, msgspec.Raw]
"""JSON name -> the text of the value."""
_TAIL = 1 << 16
_KIND_OF_LIST = re.compile(rb'"kind"\s*:\s*"[^"]*List"')
_OUTSIDE = ("apiVersion", "kind", "metadata")


class Uncertain(Exception):
    """The quick way cannot tell what the text holds; the exact one can."""


@define(repr=False)
class _Window:
    """The part of a text that is in memory: from the next character on."""

    stream: IO[bytes]
    held: bytes = b""
    at: int = 0
    is_whole: bool = False
    """There is no more in the stream."""
    blank: bytes = b""
    """The white space before the next character."""

    def sign(self, allowed: bytes) -> bytes:
        """Take the next character, which is one of *allowed*."""
        sign = self.next()
        if sign not in allowed or not sign:
            raise Uncertain
        self.at += 1
        return sign

    def next(self) -> bytes:
        """The next character that is no blank; empty at the end."""
        while True:
            begin = self.at
            while self.held[self.at : self.at + 1] in _BLANKS:
                self.at += 1
            self.blank = self.held[begin : self.at]
            if self.at < len(self.held) or not self._more():
                return self.held[self.at : self.at + 1]

    def value(self) -> bytes:
        """Take the text of the next value."""
        self.next()
        while True:
            try:
                _ends(memoryview(self.held)[self.at :])
            except UNREADABLE as error:
                if match := _NEXT.search(str(error)):
                    begin = self.at
                    self.at = self.at + int(match[1]) - 1
                    return self.held[begin : self.at]
            # It goes on after the window, or ends with it, or is broken.
            if not self._more():
                raise Uncertain

    def between(self) -> bytes:
        """The text before the next item: the beginning of the list, or a comma."""
        self.next()
        match = _BEGIN.match(self.held, self.at)
        return b"" if match is None else b"}," + self.blank + match[0]

    def items(self, between: bytes = b"") -> list[Parts]:
        """Take the next item or, if *between* is known, all whole items in the window."""
        self.next()
        cut = self.held.rfind(between, self.at) + 1 if between else 0
        if cut > self.at and (items := _items_in(self.held[self.at : cut])) is not None:
            self.at = cut
            return items
        items = _items_in(self.value())
        if items is None:
            raise Uncertain
        return items

    def _more(self) -> bool:
        try:
            piece = b"" if self.is_whole else self.stream.read(max(_WINDOW, len(self.held) - self.at))
        except (OSError, EOFError, ValueError):
            raise Uncertain from None
        self.held = self.held[self.at :] + piece
        self.at = 0
        self.is_whole = not piece
        return bool(piece)


@define(repr=False)
class LongList:
    """A list of Kubernetes objects whose items are still text."""

    _window: _Window
    outside: JsonDict
    """The fields of the list itself: at first those before its items, at the end all."""

    @property
    def kind(self) -> str:
        """The kind of its items; empty: they say it themselves, or the list does at its end."""
        return str(self.outside.get("kind", "")).removesuffix("List")

    @property
    def api_version(self) -> Any:
        """The apiVersion of items that say neither it nor their kind."""
        return self.outside.get("apiVersion") if self.kind else None

    def items(self) -> Iterator[Parts]:
        """The fields of each item, still text. Raises :class:`Uncertain`, also at the end."""
        window = self._window
        between = b""
        if window.next() == b"]":
            window.sign(b"]")
        else:
            yield from window.items()
            while window.sign(b",]") == b",":
                between = between or window.between()
                yield from window.items(between)
        while window.sign(b",}") == b",":
            # Items may have been taken for what they are not.
            if _note(window, self.outside) in ("items", "apiVersion"):
                raise Uncertain
        kind = self.outside.get("kind")
        if window.next() or not isinstance(kind, str) or not kind.endswith("List"):
            raise Uncertain


def is_list_without_kind(stream: IO[bytes]) -> bool:
    """Whether a regular file begins as a list, and gives no kind before its items or at its end."""
    beginning = long_list(stream)
    if beginning is None or "kind" in beginning.outside:
        return False
    stream.seek(-min(_TAIL, stream.seek(0, io.SEEK_END)), io.SEEK_END)
    return _KIND_OF_LIST.search(stream.read()) is None


def long_list(stream: IO[bytes]) -> LongList | None:
    """The list that a text begins with; None if it begins with something else, or has to be looked at more
    closely."""
    window = _Window(stream)
    outside = JsonDict()
    try:
        window.sign(b"{")
        while _note(window, outside) != "items":
            window.sign(b",")
        window.sign(b"[")
    except Uncertain:
        return None
    return LongList(window, outside)


def _note(window: _Window, outside: JsonDict) -> str:
    """Take the next key and, unless it is ``items``, its value, which is added to *outside*."""
    key: str = whole_value(window.value())
    window.sign(b":")
    if key != "items":
        if key not in _OUTSIDE or key in outside:
            raise Uncertain
        outside[key] = whole_value(window.value())
    return key


def _items_in(text: bytes) -> list[Parts] | None:
    """The fields of the objects in *text*; None if it has something else, or a key twice, as its first value
    is lost then."""
    try:
        items = _all_parts(b"[%b]" % text)
    except UNREADABLE:
        return None
    at = 0
    for number, item in enumerate(items):
        if number:  # after the comma between two
            at += 1
        for part in item.values():
            if (before := _FIELD.match(text, at)) is None or not text.startswith(part, before.end()):
                return None
            at = before.end() + len(memoryview(part))
        if not item or not (after := _END.match(text, at)):
            return None
        at = after.end()
    return items if at == len(text) else None


def whole_value(text: bytes | msgspec.Raw) -> Any:
    """The value of a text. Raises :class:`Uncertain` if an object in it has a key twice."""
    try:
        text, value = bytes(text), decoded(text)
        if b"," not in text or holds_each_once(text, value):
            return value
    except UNREADABLE:
        pass
    raise Uncertain
