"""The values of a YAML text, as the API reads it: dates stay texts, keys become texts, and aliases cannot
fill the memory.

libyaml parses the text, or PyYAML's own parser where PyYAML was built without it. Here values are made of the
events, so that no tag can call for more than a JSON value. Upstream: sigs.k8s.io/yaml, which turns YAML into
JSON.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import yaml
from attrs import Factory, define
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamEndEvent,
)

from ....exceptions import ManifestError
from ..typed import shown
from .jsonvalues import Repeats, without_surrogates

MAX_NESTING = 500
"""The most levels of a document. libyaml itself stops at 1,000, in words that do not name the number."""
MAX_EXPANDED = 1_000_000
"""The most values that the aliases of a document may stand for; or ten times the document's own values, if
that is more."""
_MOST_KNOWN = 1 << 14
_TAG = "tag:yaml.org,2002:"
_STRING, _MAPPING, _SEQUENCE = (f"{_TAG}{name}" for name in ("str", "map", "seq"))
_MERGE = f"{_TAG}merge"
"""The mark for the key ``<<``, compared by identity: equal texts of a document are other objects."""
_INTEGER = re.compile(r"[-+]?(?:0b[01]+|0x[0-9a-fA-F]+|0[0-7]+|0|[1-9][0-9]*)\Z")
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?\Z")
_BASES = {"0b": 2, "0x": 16}
_MAX_DIGITS = 4300

_Loader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _ValueError(yaml.MarkedYAMLError):
    """The value that *event* begins is refused."""

    def __init__(self, problem: str, event: Any) -> None:
        super().__init__(problem=problem, problem_mark=event.start_mark)


def yaml_values(text: str, where: str) -> Iterator[tuple[Any, Repeats]]:
    """Each document of *text* that is not empty. Raises :class:`~kubeclassic.exceptions.ManifestError` with
    line and column."""
    has_escapes = "\\u" in text or "\\U" in text
    try:
        loader = _Loader(text)
        plain = lru_cache(_MOST_KNOWN)(_plain)
        try:
            while type(event := loader.get_event()) is not StreamEndEvent:
                if type(event) is DocumentStartEvent:
                    document = _Document(loader.get_event, plain)
                    value = document.value()
                    if value is not None:
                        yield without_surrogates(value) if has_escapes else value, document.repeats
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise ManifestError(f"{where}{place}: broken YAML: {error.problem or error.context}") from None
    except RecursionError:
        raise ManifestError(f"{where}: YAML nested too deeply") from None
    except (yaml.YAMLError, ValueError) as error:
        raise ManifestError(f"{where}: broken YAML: {str(error).splitlines()[0]}") from None


# --- from events to values ----------------------------------------------------------------------------------


@define(repr=False)
class _Anchor:
    """A value with a name. *size* is how many values are in it, once it is complete."""

    value: Any
    begin: int
    size: int = 0


@define(repr=False)
class _Document:
    """Makes the value of one document, event by event. Parts with an alias are shared."""

    next_event: Callable[[], Any]
    plain: Callable[[str], Any]
    repeats: Repeats = Factory(Repeats)
    anchors: dict[str | None, _Anchor] = Factory(dict)
    merges: dict[int, list[tuple[Any, Any]]] = Factory(dict)
    """Id of an incomplete object -> the values of its merge keys (``<<``), each with its first event."""
    own: int = 0
    by_aliases: int = 0

    def value(self) -> Any:
        """The value of the document, None for an empty one."""
        outer: list[tuple[Any, _Anchor | None]] = []
        container: Any = []
        anchor = None
        key = None
        event = self.next_event()
        while (kind := type(event)) is not DocumentEndEvent:
            if kind is MappingEndEvent or kind is SequenceEndEvent:
                self._close(container, anchor)
                container, anchor = outer.pop()
                event = self.next_event()
                continue
            self.own += 1
            if kind is ScalarEvent:
                value = self._scalar(event)
            elif kind is AliasEvent:
                value = self._value_of_alias(event)
            else:
                is_mapping = kind is MappingStartEvent
                if event.tag not in (None, "!", _MAPPING if is_mapping else _SEQUENCE):
                    raise _unwanted_tag(event)
                value = {} if is_mapping else []
            if type(container) is list:
                container.append(value)
            elif key is None:
                key = _key(value, event)
                if key in container:
                    self.repeats.add(container, key)
            else:
                if key is _MERGE:
                    self.merges.setdefault(id(container), []).append((value, event))
                else:
                    container[key] = value
                key = None
            new_anchor = None
            if kind is not AliasEvent and event.anchor is not None:
                new_anchor = self.anchors[event.anchor] = _Anchor(
                    value, self.own + self.by_aliases, int(kind is ScalarEvent)
                )
            if kind is not ScalarEvent and kind is not AliasEvent:
                outer.append((container, anchor))
                container = value
                anchor = new_anchor
                if len(outer) > MAX_NESTING:
                    raise _ValueError(f"nested too deeply, expected at most {MAX_NESTING} levels", event)
            event = self.next_event()
        return container[0]

    def _scalar(self, event: Any) -> Any:
        tag = event.tag
        text = event.value
        is_plain = tag is None or tag == "!"
        if is_plain and not event.implicit[0]:
            return text
        reader = self.plain if is_plain else _SCALARS.get(tag)
        if reader is None:
            raise _unwanted_tag(event)
        try:
            return reader(text)
        except (ValueError, KeyError):
            tag = ("!!int" if _INTEGER.match(text) else "!!float") if is_plain else tag
            most = f" of at most {_MAX_DIGITS:,} digits" if len(text) > _MAX_DIGITS else ""
            raise _ValueError(f"expected a value for {_short(tag)}{most}, got {shown(text)}", event) from None

    def _value_of_alias(self, event: Any) -> Any:
        """The value of an alias."""
        anchor = self.anchors.get(event.anchor)
        if anchor is None:
            raise _ValueError("found undefined alias", event)
        if not anchor.size:
            raise _ValueError("got a value that holds itself, by an alias", event)
        self.by_aliases += anchor.size
        most = max(MAX_EXPANDED, 10 * self.own)
        if self.by_aliases > most:
            raise _ValueError(f"got aliases that stand for more than {most:,} values", event)
        return anchor.value

    def _close(self, container: Any, anchor: _Anchor | None) -> None:
        """Complete a list or object."""
        if self.merges and (sources := self.merges.pop(id(container), None)):
            # Add the fields from the merge keys. The object's own fields win over them, and earlier ones over
            # later ones.
            own_items = container.copy()
            container.clear()
            for source, event in sources:
                for part in source if isinstance(source, list) else [source]:
                    if not isinstance(part, dict):
                        raise _ValueError(
                            "expected a mapping, or a list of mappings, after a merge key (<<)", event
                        )
                    for key, value in part.items():
                        container.setdefault(key, value)
            container.update(own_items)
        if anchor is not None:
            anchor.size = self.own + self.by_aliases - anchor.begin + 1


def _key(value: Any, event: Any) -> str:
    """A key as JSON has it. Upstream: numbers and booleans become texts, and anything else is refused."""
    if type(value) is str:
        is_merge = value == "<<" and type(event) is ScalarEvent and (event.implicit[0] or event.tag == _MERGE)
        return _MERGE if is_merge else value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    kind = "null" if value is None else "a list" if isinstance(value, list) else "an object"
    raise _ValueError(f"expected a string for a key, got {kind}", event)


def _unwanted_tag(event: Any) -> _ValueError:
    return _ValueError(f"expected a value of JSON, got the tag {_short(event.tag)}", event)


def _short(tag: str) -> str:
    return tag.replace(_TAG, "!!")


# --- single values ------------------------------------------------------------------------------------------


def _plain(text: str) -> Any:
    """The value of a text without quotes."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.match(text):
        return _integer(text)
    return _number(text) if _NUMBER.match(text) else text


def _integer(text: str) -> int:
    if not _INTEGER.match(text) or len(text) > _MAX_DIGITS:
        raise ValueError(text)
    digits = text.lstrip("+-")
    sign = -1 if text.startswith("-") else 1
    base = _BASES.get(digits[:2]) or (8 if digits.startswith("0") else 10)
    return sign * int(digits[2:] if base in (2, 16) else digits, base)


def _number(text: str) -> float:
    number = float(text) if _NUMBER.match(text) or _INTEGER.match(text) else float("inf")
    if number in (float("inf"), float("-inf")):
        raise ValueError(text)
    return number


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text).decode()
    except binascii.Error:
        raise ValueError(text) from None


_TRUTHS = {"yes": True, "no": False, "true": True, "false": False, "on": True, "off": False}
_WORDS: Mapping[str, bool | None] = {
    "": None,
    "~": None,
    **{
        form(word): value
        for word, value in (("null", None), *_TRUTHS.items())
        for form in (str.lower, str.capitalize, str.upper)
    },
}
_SCALARS: Mapping[str, Callable[[str], Any]] = {
    **dict.fromkeys((_STRING, _MERGE, f"{_TAG}value", f"{_TAG}timestamp"), str),
    f"{_TAG}null": lambda text: None,
    f"{_TAG}bool": lambda text: _TRUTHS[text.lower()],
    f"{_TAG}int": _integer,
    f"{_TAG}float": _number,
    f"{_TAG}binary": _decoded,
}
"""Tag -> how its text is read."""
