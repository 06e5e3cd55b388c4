"""What one line of a YAML text says, if it says it in the form that tools write: a key, an item, a value that is not folded.

Lines of other forms are told apart by what they begin with. PyYAML reads these, together with the lines that belong to them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from .yamlevents import PlainScalars, Uncommon

VALUE, OPEN, EMPTY, OTHER = range(4)
"""Lines with a key: with a single value, without any, with ``{}`` or ``[]``, and with anything else."""
ITEM, ITEM_OPEN, ITEM_EMPTY, ITEM_OTHER = range(4, 8)
"""Lines with a dash: before a single value, a key, ``{}`` or ``[]``, and anything else."""
BLANK, END, UNKNOWN = range(8, 11)
"""Lines with nothing or a comment, the end of the document, and lines that begin with something else."""

LAST = "..."
"""The line that ends a document."""
_MOST_KNOWN = 1 << 15
_LONGEST_KEY = 1000
_DEEPEST = 200
_BEYOND = 1 << 20

_INNER = "[^ :]"
_KEY = rf"[A-Za-z0-9_./]{_INNER}*+(?::++(?![ ]|\Z){_INNER}++)*+|'[^']*+'|\"[^\"\\]*+\""
_LINE = re.compile(rf"([ ]*+)(-(?:[ ]++|\Z))?+(?:({_KEY}):(?:[ ]++|\Z))?+(.*+)")
"""The groups are the indentation, a dash, a key, and the rest."""
_REST = rf"{_INNER}*+(?:(?:[ ]++(?!\#)|:++){_INNER}++)*+"
_PLAIN = re.compile(rf"(?:[A-Za-z0-9_./+<(=$^;~\\]|-(?={_INNER})){_REST}")
PLAIN_GOES_ON = re.compile(rf"[ ]++(?![ :\#]){_REST}")
"""A further line of a text without quotes."""
SINGLE = re.compile("'(?:[^']|'')*+'")
"""A text in single quotes."""
_DOUBLE = re.compile(r'"(?:[^"\\]|\\["\\nrtbf])*+"')
_EMPTIES: dict[str, Callable[[], Any]] = {"{}": dict, "[]": list}


def beside(text: str) -> str:
    """What stands beside the key or the dash of a line."""
    matched = _LINE.fullmatch(text)
    return matched[4] if matched else ""


def is_plain(text: str) -> bool:
    """Whether *text* is one without quotes."""
    return _PLAIN.fullmatch(text) is not None


class Line(NamedTuple):
    """A line. *key* is its key; *value* a single value, the class of an empty one, or of an item with a key the line without its dash."""

    column: int
    """Where it begins. Blank lines begin beyond all others, and the end before them."""
    kind: int
    key: str = ""
    value: Any = None


class Lines(dict[str, Line]):
    """What lines say, worked out once for each. Raises :class:`~.yamlevents.Uncommon` for keys that are no texts."""

    def __init__(self, plain: PlainScalars) -> None:
        super().__init__()
        self.plain = plain

    def __missing__(self, text: str) -> Line:
        found = self._read(text)
        if len(self) >= _MOST_KNOWN:
            self.clear()
        self[text] = found
        return found

    def _read(self, text: str) -> Line:
        matched = _LINE.fullmatch(text)
        if matched is None or text == LAST:
            return Line(-1, END if text == LAST else UNKNOWN)
        indent, dash, key, rest = matched.groups()
        column = len(indent)
        if column > _DEEPEST:
            raise Uncommon
        if dash is not None and key is not None:
            return Line(column, ITEM_OPEN, value=text.replace("-", " ", 1))
        if dash is not None:
            return self._with_value(column, "", rest, ITEM)
        if key is not None:
            return self._with_value(column, self._key(key), rest, VALUE)
        is_blank = not rest or (rest.startswith("#") and rest.isprintable())
        return Line(_BEYOND, BLANK) if is_blank else Line(column, UNKNOWN)

    def _with_value(self, column: int, key: str, text: str, kind: int) -> Line:
        """The line with the value *text*. *kind* is that of single values; the others come after it in the same order."""
        if not text:
            return Line(column, kind + (OPEN if kind == VALUE else OTHER), key)
        if (made := _EMPTIES.get(text)) is not None:
            return Line(column, kind + EMPTY, key, made)
        if not text.isprintable():
            return Line(column, kind + OTHER, key)
        if is_plain(text):
            return Line(column, kind, key, self.plain[text])
        if SINGLE.fullmatch(text):
            return Line(column, kind, key, text[1:-1].replace("''", "'"))
        if _DOUBLE.fullmatch(text):
            return Line(column, kind, key, json.loads(text))
        return Line(column, kind + OTHER, key)

    def _key(self, text: str) -> str:
        if len(text) > _LONGEST_KEY or not text.isprintable():
            raise Uncommon
        if text[0] in "'\"":
            return text[1:-1]
        if type(self.plain[text]) is not str:
            raise Uncommon
        return text
