"""Where the first JSON value of a text ends, or what is wrong with it, in the words of Go's decoder.

Go looks for one whole value, and only then decodes it. What comes after the value is not read.

>>> first_value(b' {"a": true} {"b": 2}')
{'a': True}
>>> first_value(b"not json")
Traceback (most recent call last):
    ...
kubeclassic.api.wire.gosyntax.GoJsonError: invalid character 'o' in literal null (expecting 'u')

Upstream: encoding/json/scanner.go, and Decoder in stream.go.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NoReturn

import attrs

from ...exceptions import KubeclassicError

SPACE = re.compile(rb"[ \t\r\n]*")
MOST_SCANNED = 4 << 20
"""Of a longer text that is no JSON it is not looked for what Go would say, which takes a second for a megabyte."""
DIGITS = b"0123456789"
HEX = b"0123456789abcdefABCDEF"
END = "unexpected EOF"
TOO_DEEP = "exceeded max depth"
_NAMED = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 39: "'", 92: "\\"}


class GoJsonError(KubeclassicError):
    """JSON that Go's decoder refuses, with its text."""


class JsonNumber(str):
    """A number as it was written."""

    __slots__ = ()


def first_value(body: bytes) -> Any:
    """The first JSON value in *body*, with numbers as :class:`JsonNumber`. Raises :class:`GoJsonError`."""
    text = body.decode("utf-8", "replace")
    start = len(text) - len(text.lstrip(" \t\r\n"))
    if text[start : start + 1] in ("{", "["):
        try:
            return _whole(text, start)
        except ValueError:
            pass  # the slow way finds what Go says of it
        except RecursionError:
            raise GoJsonError(TOO_DEEP) from None
    if len(body) > MOST_SCANNED:
        raise GoJsonError(f"got {len(body)} bytes that are no JSON")
    end = _Scanner(body).end()
    return _whole(body[:end].decode("utf-8", "replace"), start)


def _whole(text: str, start: int) -> Any:
    return _DECODER.raw_decode(text, start)[0]


def _refused(name: str) -> NoReturn:
    raise ValueError(name)


_DECODER = json.JSONDecoder(parse_int=JsonNumber, parse_float=JsonNumber, parse_constant=_refused)


def quoted(byte: int) -> str:
    """A byte in a message, as Go quotes it."""
    if byte == 39:
        return "'\\''"
    if byte == 34:
        return "'\"'"
    if byte in _NAMED:
        return f"'\\{_NAMED[byte]}'"
    if chr(byte).isprintable():
        return f"'{chr(byte)}'"
    return f"'\\x{byte:02x}'" if byte < 128 else f"'\\u{byte:04x}'"


@attrs.define
class _Scanner:
    """Goes through a text byte by byte, as Go does."""

    body: bytes
    at: int = 0

    def end(self) -> int:
        """Where the first value ends; raises :class:`GoJsonError`."""
        self._space()
        if self.at >= len(self.body):
            raise GoJsonError("EOF")
        try:
            self._value()
        except RecursionError:
            raise GoJsonError(TOO_DEEP) from None
        return self.at

    def _next(self) -> int:
        """The byte here; raises :class:`GoJsonError` at the end."""
        if self.at >= len(self.body):
            raise GoJsonError(END)
        return self.body[self.at]

    def _space(self) -> None:
        found = SPACE.match(self.body, self.at)
        self.at = found.end() if found is not None else self.at

    def _after_space(self) -> int:
        self._space()
        return self._next()

    def _wrong(self, context: str) -> NoReturn:
        raise GoJsonError(f"invalid character {quoted(self.body[self.at])} {context}")

    def _one_of(self, allowed: bytes, context: str) -> None:
        if self._next() not in allowed:
            self._wrong(context)
        self.at += 1

    # --- values -----------------------------------------------------------------------------------------------------

    def _value(self) -> None:
        byte = self._after_space()
        if byte in b"-0123456789":
            self._number()
            return
        scan = _BY_FIRST.get(byte)
        if scan is None:
            self._wrong("looking for beginning of value")
        self.at += 1
        scan(self)

    def _object(self) -> None:
        if self._after_space() == ord("}"):
            self.at += 1
            return
        while True:
            if self._after_space() != ord('"'):
                self._wrong("looking for beginning of object key string")
            self.at += 1
            self._string()
            self._space()
            self._one_of(b":", "after object key")
            self._value()
            self._space()
            self._one_of(b",}", "after object key:value pair")
            if self.body[self.at - 1] == ord("}"):
                return

    def _array(self) -> None:
        if self._after_space() == ord("]"):
            self.at += 1
            return
        while True:
            self._value()
            self._space()
            self._one_of(b",]", "after array element")
            if self.body[self.at - 1] == ord("]"):
                return

    def _string(self) -> None:
        while (byte := self._next()) != ord('"'):
            if byte < 32:
                self._wrong("in string literal")
            self.at += 1
            if byte == ord("\\"):
                self._escape()
        self.at += 1

    def _escape(self) -> None:
        self._one_of(b'bfnrt\\/"u', "in string escape code")
        if self.body[self.at - 1] == ord("u"):
            for _ in range(4):
                self._one_of(HEX, "in \\u hexadecimal character escape")

    def _number(self) -> None:
        if self.body[self.at] == ord("-"):
            self.at += 1
            if self._next() not in DIGITS:
                self._wrong("in numeric literal")
        self.at += 1
        if self.body[self.at - 1] != ord("0"):
            self._digits()
        if self._is_here(b"."):
            self.at += 1
            self._one_of(DIGITS, "after decimal point in numeric literal")
            self._digits()
        if self._is_here(b"eE"):
            self.at += 1
            if self._next() in b"+-":
                self.at += 1
            self._one_of(DIGITS, "in exponent of numeric literal")
            self._digits()

    def _is_here(self, allowed: bytes) -> bool:
        return self.at < len(self.body) and self.body[self.at] in allowed

    def _digits(self) -> None:
        while self._is_here(DIGITS):
            self.at += 1

    def _rest_of(self, word: str) -> None:
        for letter in word[1:]:
            self._one_of(letter.encode(), f"in literal {word} (expecting '{letter}')")


_BY_FIRST: dict[int, Callable[[_Scanner], None]] = {
    ord("{"): _Scanner._object,
    ord("["): _Scanner._array,
    ord('"'): _Scanner._string,
    ord("t"): lambda scanner: scanner._rest_of("true"),
    ord("f"): lambda scanner: scanner._rest_of("false"),
    ord("n"): lambda scanner: scanner._rest_of("null"),
}
