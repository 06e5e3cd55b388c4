"""The items of a long list in YAML, one after another: the list as a whole would take many times the memory of its text.

``kubectl`` writes the dashes of the items at the beginning of lines, where nothing else of the list has any. What is around the items is
read first, each item when it is its turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import attrs

from .jsonlists import Uncertain
from .plainyaml import START, Block, Others, Reader, check_line_ends, document
from .yamlevents import PlainScalars
from .yamllines import LAST, Lines

_ITEMS = "\nitems:\n"
_ITEM = "\n- "
_AROUND = {"apiVersion", "kind", "metadata"}
_NEXT_KEY = re.compile(r"\n(?![ \n])")


@attrs.frozen
class PlainList:
    """A list of Kubernetes objects whose items are still text: those of *text* from *begin* to *end*."""

    kind: str
    text: str = attrs.field(repr=False)
    begin: int
    end: int
    lines: Lines = attrs.field(repr=False)
    others: Others
    unreadable: tuple[type[Exception], ...]

    def items(self) -> Iterator[Any]:
        """The values of the items. Raises :class:`~.jsonlists.Uncertain` for one that has to be looked at more closely."""
        at = self.begin
        while at < self.end:
            after = self.text.find(_ITEM, at, self.end) + 1 or self.end
            yield self._item(self.text[at:after])
            at = after

    def _item(self, text: str) -> Any:
        block = Block([*text.split("\n"), LAST], self.lines, self.others)
        try:
            (value,), at = block.sequence(0, 0)
        except self.unreadable:
            raise Uncertain from None
        if at != len(block.texts) - 1:
            raise Uncertain
        self.others.done += at
        return value


def plain_list(text: str, plain: PlainScalars, read: Reader, unreadable: tuple[type[Exception], ...]) -> PlainList | None:
    """The list that *text* is, if ``kubectl`` could have written it so; *unreadable* is what *read* raises."""
    begin = text.find(_ITEMS + _ITEM[1:])
    if begin < 0 or START in text:
        return None
    found = _NEXT_KEY.search(text, text.rfind(_ITEM) + 1)
    end = found.end() if found else len(text)
    lines, others = Lines(plain), Others(read)
    try:
        check_line_ends(text)
        around = document(text[: begin + 1] + text[end:], lines, others)
    except unreadable:
        return None
    kind = around.get("kind") if isinstance(around, dict) and around.keys() <= _AROUND else None
    if not isinstance(kind, str) or not kind.endswith("List"):
        return None
    return PlainList(kind, text, begin + len(_ITEMS), end, lines, others, unreadable)
