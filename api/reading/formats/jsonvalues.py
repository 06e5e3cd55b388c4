"""The values of a JSON text, one or several, with the keys that they have twice.

The standard library reads exactly what is there, but reports repeated keys only one object at a time, which is slow. msgspec is quicker
and says nothing of them, so what it made is written again without blanks and its commas are counted: a key that got lost took one along.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import msgspec

from ....exceptions import ManifestError
from .files import as_text
from .repeats import Repeats, without_surrogates

_START_OF_LOGS = "==== START logs"
_LOGS = re.compile(rf"^{_START_OF_LOGS}.*?(?:^==== END logs[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_BLANK = re.compile(r"[ \t\r\n]*")
_LAST_WORD = re.compile(r"[\s,]*[\w.+-]*\s*")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
Parsed = tuple[Any, Repeats]

decoded: Callable[[bytes | str], Any] = msgspec.json.Decoder().decode
encoded: Callable[[Any], bytes] = msgspec.json.Encoder().encode
UNREADABLE = (ValueError, TypeError, OverflowError, RecursionError)
"""What these two raise."""


def json_values(content: bytes, where: str, line: int | None = None) -> Iterator[Parsed]:
    """Each value in *content*, which can be one *line* of a file; log blocks of ``kubectl cluster-info dump`` are skipped.

    Raises :class:`~kubeclassic.exceptions.ManifestError` with line and column.
    """
    found = quick_value(content)
    if found is not None:
        yield found[0], Repeats()
        return
    place = where if line is None else f"{where}, line {line}"
    text = as_text(content, place)
    yield from _stream(_LOGS.sub(_blank_lines, text) if _START_OF_LOGS in text else text, place, line is None)


def quick_value(content: bytes) -> tuple[Any] | None:
    """The one value in *content*, if no object in it has a key twice; None too where that cannot be decided quickly."""
    if may_hide_commas(content):
        return None
    try:
        value = decoded(content)
        return (value,) if content.count(b",") == _commas(value) else None
    except UNREADABLE:
        return None  # several values, or broken: the standard library finds out


def holds_each_once(content: bytes, value: Any) -> bool:
    """Whether *value*, which was read of *content*, has all that this says: no object in it has a key twice."""
    return not may_hide_commas(content) and content.count(b",") == encoded(value).count(b",")


def may_hide_commas(content: bytes) -> bool:
    """Whether *content* may have commas that are written in another way."""
    return b"\\" in content and b"\\u002" in content  # \u002c is a comma too


def _commas(value: Any) -> int:
    """How many commas *value* has in JSON. Long lists are written item by item, which takes less memory."""
    items = value.get("items") if isinstance(value, dict) else value
    parts: list[Any] = items if isinstance(items, list) else []
    outside = {**value, "items": None} if isinstance(value, dict) and parts else None if parts else value
    return encoded(outside).count(b",") + max(len(parts) - 1, 0) + sum(encoded(part).count(b",") for part in parts)


def _blank_lines(logs: re.Match[str]) -> str:
    """The line ends of *logs*, so that later lines keep their numbers."""
    return "\n" * logs.group().count("\n")


def _stream(text: str, where: str, has_lines: bool) -> Iterator[Parsed]:
    has_surrogates = _SURROGATE.search(text) is not None
    position = _end_of_blank(text, 0)
    while position < len(text):
        repeats = Repeats()
        value, position = _value_at(text, position, repeats, where, has_lines)
        yield _cleaned(value, where) if has_surrogates else value, repeats
        position = _end_of_blank(text, position)


def _value_at(text: str, position: int, repeats: Repeats, where: str, has_lines: bool) -> tuple[Any, int]:
    def mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen:
                    repeats.add(made, key)
                seen.add(key)
        return made

    def refused(constant: str) -> NoReturn:
        raise ManifestError(f"{where}: broken JSON: expected a number, got {constant}")

    try:
        return json.JSONDecoder(object_pairs_hook=mapping, parse_constant=refused).raw_decode(text, position)
    except json.JSONDecodeError as error:
        message = _fault(text[error.pos :], error.msg[:1].lower() + error.msg[1:])
        line = f", line {error.lineno}" if has_lines else ""
        raise ManifestError(f"{where}{line}, column {error.colno}: broken JSON: {message}") from None
    except RecursionError:
        raise _too_deep(where) from None
    except ValueError:  # Python reads no number of more digits
        raise ManifestError(f"{where}: broken JSON: got a number of more than 4,300 digits") from None


def _fault(rest: str, message: str) -> str:
    """What is wrong where *rest* is what cannot be read, and *message* is what Python says."""
    if rest.startswith(("//", "/*", "#")):
        return "got a comment, which JSON does not have"
    ends = message.startswith("unterminated string") or _LAST_WORD.fullmatch(rest)
    return f"it ends in the middle ({message})" if ends else message


def _cleaned(value: Any, where: str) -> Any:
    try:
        return without_surrogates(value)
    except RecursionError:
        raise _too_deep(where) from None


def _too_deep(where: str) -> ManifestError:
    return ManifestError(f"{where}: JSON nested too deeply")


def _end_of_blank(text: str, position: int) -> int:
    matched = _BLANK.match(text, position)
    return matched.end() if matched else position
