"""The items of a long list in JSON, one after another: the list as a whole would take four times the memory of its text.

The text is split at its items first, which also finds syntax errors. Each item is read when it is its turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs
import msgspec

from .jsonvalues import UNREADABLE, decoded, encoded, may_hide_commas


class Uncertain(Exception):
    """The quick way cannot tell what the text holds; the exact one can."""


class _Split(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    items: list[msgspec.Raw]
    kind: msgspec.Raw
    api_version: msgspec.Raw = msgspec.Raw()
    metadata: msgspec.Raw = msgspec.Raw()


_SPLITTER = msgspec.json.Decoder(_Split)


@attrs.frozen(repr=False)
class SplitList:
    """A list of Kubernetes objects whose items are still text."""

    kind: str
    _items: list[msgspec.Raw]
    _commas: int
    """How many commas the items have."""

    def items(self) -> Iterator[Any]:
        """The values of the items. Raises :class:`Uncertain` for one that is broken, and at the end if an object had a key twice."""
        commas = 0
        try:
            for text in self._items:
                value = decoded(text)
                commas += encoded(value).count(b",")
                yield value
        except UNREADABLE:
            raise Uncertain from None
        if commas != self._commas:
            raise Uncertain


def split_list(content: bytes) -> SplitList | None:
    """The list that *content* is; None if it is something else, or has to be looked at more closely."""
    if may_hide_commas(content):
        return None
    try:
        found = _SPLITTER.decode(content)
        outside = [decoded(part) for part in (found.kind, found.api_version, found.metadata) if part]
        commas = sum(encoded(value).count(b",") for value in outside) + len(outside) + max(len(found.items) - 1, 0)
    except UNREADABLE:
        return None
    kind = outside[0]
    is_list = isinstance(kind, str) and kind.endswith("List")
    return SplitList(kind, found.items, content.count(b",") - commas) if is_list else None
