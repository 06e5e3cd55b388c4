"""Long lists of Kubernetes objects in JSON, read item by item: of the text no more is held than a window.

Whatever is odd, such as a key that an object has twice, ends in :class:`Uncertain`: the exact way finds out what it is.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from typing import IO, Any, TypeAlias

import attrs
import msgspec

from .jsonvalues import UNREADABLE, decoded, holds_each_once

_WINDOW = 1 << 20
_ends: Any = msgspec.json.Decoder(msgspec.Raw).decode
_all_parts: Any = msgspec.json.Decoder(list[dict[str, msgspec.Raw]]).decode
_NEXT = re.compile(r"trailing characters \(byte (\d+)\)")
_FIELD = re.compile(rb'\s*[{,]\s*"(?:[^"\\]|\\.)*"\s*:\s*')
_END = re.compile(rb"\s*\}\s*")
_BEGIN = re.compile(rb'\{\s*"[^"\\]*"')
_BLANKS = (b" ", b"\n", b"\r", b"\t")
Parts: TypeAlias = Mapping[str, msgspec.Raw]
"""JSON name -> the text of the value."""
_TAIL = 1 << 16
_KIND_OF_LIST = re.compile(rb'"kind"\s*:\s*"[^"]*List"')
_OUTSIDE = ("apiVersion", "kind", "metadata")


class Uncertain(Exception):
    """The quick way cannot tell what the text holds; the exact one can."""


@attrs.define(repr=False)
class _Window:
    """The part of a text that is held: from the next character on."""

    stream: IO[bytes]
    held: bytes = b""
    at: int = 0
    is_whole: bool = False
    """There is no more in the stream."""
    blank: bytes = b""
    """What stood before the next character."""

    def sign(self, allowed: bytes) -> bytes:
        """Take the next character, which is one of *allowed*."""
        found = self.next()
        if found not in allowed or not found:
            raise Uncertain
        self.at += 1
        return found

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
                if found := _NEXT.search(str(error)):
                    begin, self.at = self.at, self.at + int(found[1]) - 1
                    return self.held[begin : self.at]
            # It goes on after the window, or ends with it, or is broken.
            if not self._more():
                raise Uncertain

    def between(self) -> bytes:
        """What the next item begins with, and what stands between two items."""
        self.next()
        found = _BEGIN.match(self.held, self.at)
        return b"" if found is None else b"}," + self.blank + found[0]

    def items(self, between: bytes = b"") -> list[Parts]:
        """Take the next item; where *between* is known, all that the window has of them as a whole."""
        self.next()
        cut = self.held.rfind(between, self.at) + 1 if between else 0
        if cut > self.at and (found := _items_in(self.held[self.at : cut])) is not None:
            self.at = cut
            return found
        found = _items_in(self.value())
        if found is None:
            raise Uncertain
        return found

    def _more(self) -> bool:
        try:
            piece = b"" if self.is_whole else self.stream.read(max(_WINDOW, len(self.held) - self.at))
        except (OSError, EOFError, ValueError):
            raise Uncertain from None
        self.held, self.at, self.is_whole = self.held[self.at :] + piece, 0, not piece
        return bool(piece)


@attrs.define(repr=False)
class LongList:
    """A list of Kubernetes objects whose items are still text."""

    _window: _Window
    outside: dict[str, Any]
    """What it says of itself before its items; after them, all that it says."""

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
        window, between = self._window, b""
        if window.next() == b"]":
            window.sign(b"]")
        else:
            yield from window.items()
            while window.sign(b",]") == b",":
                between = between or window.between()
                yield from window.items(between)
        while window.sign(b",}") == b",":
            if _note(window, self.outside) in ("items", "apiVersion"):  # items may have been taken for what they are not
                raise Uncertain
        kind = self.outside.get("kind")
        if window.next() or not isinstance(kind, str) or not kind.endswith("List"):
            raise Uncertain


def is_list_without_kind(stream: IO[bytes]) -> bool:
    """Whether a regular file begins as a list that does not say its kind, neither before its items nor at its end."""
    found = long_list(stream)
    if found is None or "kind" in found.outside:
        return False
    stream.seek(-min(_TAIL, stream.seek(0, io.SEEK_END)), io.SEEK_END)
    return _KIND_OF_LIST.search(stream.read()) is None


def long_list(stream: IO[bytes]) -> LongList | None:
    """The list that a text begins with; None if it begins with something else, or has to be looked at more closely."""
    window, outside = _Window(stream), dict[str, Any]()
    try:
        window.sign(b"{")
        while _note(window, outside) != "items":
            window.sign(b",")
        window.sign(b"[")
    except Uncertain:
        return None
    return LongList(window, outside)


def _note(window: _Window, outside: dict[str, Any]) -> str:
    """Take the next key and, unless it is ``items``, its value, which *outside* gets."""
    key: str = whole_value(window.value())
    window.sign(b":")
    if key != "items":
        if key not in _OUTSIDE or key in outside:
            raise Uncertain
        outside[key] = whole_value(window.value())
    return key


def _items_in(text: bytes) -> list[Parts] | None:
    """The fields of the objects in *text*; None if it has something else, or a key twice: then its first value got lost."""
    try:
        items: list[Parts] = _all_parts(b"[%b]" % text)
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
