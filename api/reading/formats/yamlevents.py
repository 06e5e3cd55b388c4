"""The values of a YAML text, made of the events that libyaml tells: without nodes, which takes half the time.

What is rare in manifests (anchors, tags, merge keys) and what is wrong is left to :mod:`.yamlvalues`, which makes nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from .repeats import Repeats

NextEvent: TypeAlias = Callable[[], Any]

_DEEPEST = 500
_MOST_KNOWN = 1 << 14
_MERGE = "<<"


class Uncommon(Exception):
    """A node has to be looked at."""


class PlainScalars(dict[str, Any]):
    """What texts without quotes stand for; *read* says it, once for each. Raises :class:`Uncommon` for what it refuses."""

    def __init__(self, read: Callable[[str], Any]) -> None:
        super().__init__()
        self.read = read

    def __missing__(self, text: str) -> Any:
        try:
            value = self.read(text)
        except (ValueError, KeyError):
            raise Uncommon from None
        if len(self) >= _MOST_KNOWN:
            self.clear()
        self[text] = value
        return value


def document_values(next_event: NextEvent, plain: PlainScalars) -> Iterator[tuple[Any, Repeats]]:
    """The value of each document, None for an empty one. Raises :class:`Uncommon`, and what *next_event* raises."""
    while type(event := next_event()) is not StreamEndEvent:
        if type(event) is DocumentStartEvent:
            repeats = Repeats()
            value = _value(next_event(), next_event, plain, repeats, 0)
            next_event()  # the document's end, where an error may be
            yield value, repeats


def _value(event: Any, next_event: NextEvent, plain: PlainScalars, repeats: Repeats, depth: int) -> Any:
    kind = type(event)
    if kind is AliasEvent or event.anchor is not None or event.tag is not None or depth > _DEEPEST:
        raise Uncommon
    if kind is ScalarEvent:
        return plain[event.value] if event.implicit[0] else event.value
    if kind is MappingStartEvent:
        return _mapping(next_event, plain, repeats, depth + 1)
    assert kind is SequenceStartEvent
    items = []
    while type(event := next_event()) is not SequenceEndEvent:
        items.append(_value(event, next_event, plain, repeats, depth + 1))
    return items


def _mapping(next_event: NextEvent, plain: PlainScalars, repeats: Repeats, depth: int) -> dict[str, Any]:
    made: dict[str, Any] = {}
    while type(event := next_event()) is not MappingEndEvent:
        key = _key(event, plain)
        if key in made:
            repeats.add(made, key)
        event = next_event()
        if type(event) is ScalarEvent and event.anchor is None and event.tag is None:
            made[key] = plain[event.value] if event.implicit[0] else event.value
        else:
            made[key] = _value(event, next_event, plain, repeats, depth)
    return made


def _key(event: Any, plain: PlainScalars) -> str:
    """The key that *event* tells; one that is no text counts as uncommon."""
    if type(event) is not ScalarEvent or event.anchor is not None or event.tag is not None:
        raise Uncommon
    text: str = event.value
    if event.implicit[0] and (text == _MERGE or type(plain[text]) is not str):
        raise Uncommon
    return text
