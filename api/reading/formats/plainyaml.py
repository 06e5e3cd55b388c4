"""The values of a YAML text of the form that tools write, read line by line: in a third of the time that libyaml's events take.

Only lines whose meaning is beyond doubt are read here. An entry or item of another form, such as ``a: {b: c}``, is cut out with all lines
that are indented deeper, and PyYAML reads it as a text of its own. Everything that PyYAML could refuse or read in another way raises
:class:`~.yamlevents.Uncommon`: a line that is not where its neighbours want it, a key given twice, anchors, tags.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import attrs
import yaml.reader

from .yamlevents import PlainScalars, Uncommon
from .yamllines import BLANK, EMPTY, ITEM, ITEM_EMPTY, ITEM_OPEN, ITEM_OTHER, LAST, OPEN, OTHER, VALUE, Lines, beside
from .yamltexts import text_below

Reader: TypeAlias = Callable[[str], Iterator[tuple[Any, Any]]]
"""Reads the documents of a text in the usual way: values, and which keys they have twice."""

_NOT_PLAIN = ("\r", "\x85", "\u2028", "\u2029", "\ufeff")
"""What PyYAML takes for the end of a line too, or for nothing."""
_REFUSED: re.Pattern[str] = yaml.reader.Reader.NON_PRINTABLE
START = "\n---\n"
"""What stands between documents."""

_FEW, _LINES_EACH = 20, 16
"""PyYAML may be asked so often, and once more for that many lines: it takes as long for one entry as line by line for that many."""


def documents(text: str, plain: PlainScalars, read: Reader) -> Iterator[Any]:
    """The value of each document, None for an empty one. Raises :class:`~.yamlevents.Uncommon`, and what *read* raises."""
    check_line_ends(text)
    parts, lines, others = f"\n{text}".split(START), Lines(plain), Others(read)
    last = len(parts) - 1
    if last and _REFUSED.search(text):
        raise Uncommon  # PyYAML may refuse the text before it tells the first document
    for number, part in enumerate(parts):
        value = document(part if number == last else f"{part}\n", lines, others)
        if value is not None or number:
            yield value


def check_line_ends(text: str) -> None:
    """Raise :class:`~.yamlevents.Uncommon` if anything but line feeds may end lines."""
    if any(mark in text for mark in _NOT_PLAIN):
        raise Uncommon


@attrs.define
class Others:
    """Entries and items of other forms, which PyYAML reads one by one: that is slow, so there may be few of them among many lines."""

    read: Reader
    asked: int = 0
    done: int = 0
    """How many lines there were in the documents that are done."""

    def value(self, text: str, line: int) -> list[Any]:
        """The value, in a list, of the one entry or item in *text*, which begins in a *line* of a document."""
        self.asked += 1
        if self.asked > _FEW + (self.done + line) // _LINES_EACH:
            raise Uncommon
        ((value, repeats),) = self.read(text)
        if not isinstance(value, (dict, list)) or repeats.paths(value):
            raise Uncommon
        return list(value.values()) if isinstance(value, dict) else value


def document(text: str, lines: Lines, others: Others) -> Any:
    """The value of one document, None for an empty one. Raises as :func:`documents`."""
    found = Block([*text.split("\n"), LAST], lines, others)
    last, at = len(found.texts) - 1, found.following(-1)
    if at == last:
        return None
    column, kind, _, _ = lines[found.texts[at]]
    if column:
        raise Uncommon
    value, at = found.mapping(at, 0) if kind <= OTHER else found.sequence(at, 0)
    if at != last:
        raise Uncommon
    others.done += last
    return value


@attrs.frozen
class Block:
    """The lines of one document. Its methods answer with a value and the number of the line after it, which is never blank."""

    texts: list[str]
    lines: Lines
    others: Others

    def mapping(self, at: int, column: int) -> tuple[dict[str, Any], int]:
        """The mapping whose keys stand at *column*; the first one is in the line *at*."""
        made: dict[str, Any] = {}
        texts, lines = self.texts, self.lines
        while True:
            found, kind, key, value = lines[texts[at]]
            if found == column and kind <= OTHER:
                if key in made:
                    raise Uncommon
                if kind == VALUE:
                    made[key] = value
                    at += 1
                elif kind == OPEN:
                    made[key], at = self._below(at, column)
                elif kind == EMPTY:
                    made[key] = value()
                    at += 1
                else:
                    (made[key],), at = self._cut_out(at, column)
            elif found < column:
                return made, at
            elif kind == BLANK:
                at += 1
            else:
                (made[next(reversed(made))],), at = self._continued(at, column)

    def sequence(self, at: int, column: int) -> tuple[list[Any], int]:
        """The sequence whose dashes stand at *column*; the first one is in the line *at*."""
        items: list[Any] = []
        texts, lines = self.texts, self.lines
        while True:
            found, kind, _, value = lines[texts[at]]
            if found == column and kind == ITEM_OPEN:
                texts[at] = value
                made, at = self.mapping(at, lines[value].column)
                items.append(made)
            elif found == column and ITEM <= kind <= ITEM_OTHER:
                if kind == ITEM_OTHER:
                    (value,), at = self._cut_out(at, column)
                else:
                    at += 1
                items.append(value() if kind == ITEM_EMPTY else value)
            elif found <= column:
                return items, at
            elif kind == BLANK:
                at += 1
            else:
                (items[-1],), at = self._continued(at, column)

    def _below(self, at: int, column: int) -> tuple[Any, int]:
        """The value of the key in the line *at*, which has none beside it."""
        texts, lines = self.texts, self.lines
        after = at + 1
        found, kind, _, _ = lines[texts[after]]
        if kind == BLANK:
            after = self.following(after)
            found, kind, _, _ = lines[texts[after]]
        if found >= column and ITEM <= kind <= ITEM_OTHER:
            return self.sequence(after, found)
        if found <= column:
            return None, after
        if kind <= OTHER:
            return self.mapping(after, found)
        (value,), after = self._cut_out(at, column)
        return value, after

    def _continued(self, at: int, column: int) -> tuple[list[Any], int]:
        """The value, in a list, of the entry or item that goes on in the line *at*."""
        start = at - 1
        while self.lines[self.texts[start]].kind == BLANK:
            start -= 1
        if self.lines[self.texts[start]].column != column:
            raise Uncommon
        value, end = self._cut_out(start, column)
        if end <= at:
            raise Uncommon
        return value, end

    def _cut_out(self, start: int, column: int) -> tuple[list[Any], int]:
        """The value, in a list, of the entry or item in the line *start* and all lines after it that are indented deeper."""
        texts, end, last = self.texts, start + 1, len(self.texts) - 1
        while end < last and _indent(texts[end]) > column:
            end += 1
        found = None
        if end < last or not texts[end - 1]:
            found = text_below(beside(texts[start]), texts[start + 1 : end], self.lines.plain)
        if found is None:
            found = self.others.value("\n".join(texts[start:end]) + ("\n" if end < last else ""), start)
        return found, self.following(end - 1)

    def following(self, at: int) -> int:
        """The number of the first line after *at* that is not blank."""
        at += 1
        while self.lines[self.texts[at]].kind == BLANK:
            at += 1
        return at


def _indent(text: str) -> int:
    inner = text.lstrip(" ")
    return len(text) - len(inner) if inner else len(text) + (1 << 20)
