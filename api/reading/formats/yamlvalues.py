"""The values of a YAML text, as the API reads it: ``y`` is true, ``08`` is 8, dates stay texts, keys become
texts, and aliases cannot fill the memory.

libyaml parses the text, or PyYAML's own parser where PyYAML was built without it. Here values are made of the
events, so that no tag can call for more than a JSON value. Upstream: sigs.k8s.io/yaml, which turns YAML into
JSON, and go-yaml v2 below it.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from math import inf, isfinite
from typing import Any

import yaml
from attrs import Factory, define, frozen
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
_STRING, _MAPPING, _SEQUENCE, _MERGE = (f"{_TAG}{name}" for name in ("str", "map", "seq", "merge"))
_INTEGER = re.compile(r"[-+]?(?:0[bB][01]+|0[xX][0-9a-fA-F]+|0[oO]?[0-7]+|0|[1-9][0-9]{0,19})\Z")
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?\Z")
_OCTAL = re.compile(r"\b0(?=[0-7])")
_MAX_WHOLE = 10**21
"""The bound from which on JSON has a whole number with an exponent."""

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
    merging: set[int] = Factory(set)
    """Ids of objects with merge keys (``<<``)."""
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
            is_key = key is None and type(container) is dict
            if kind is ScalarEvent:
                value = self._scalar(event, is_key)
            elif kind is AliasEvent:
                value = self._value_of_alias(event)
            else:
                is_mapping = kind is MappingStartEvent
                if event.tag not in (None, "!", _MAPPING if is_mapping else _SEQUENCE):
                    raise _unwanted_tag(event)
                value = {} if is_mapping else []
            if is_key:
                key = _key(value, event)
                if isinstance(key, _Merge):
                    self.merging.add(id(container))
                elif key in container:
                    self.repeats.add(container, key)
                    del container[key]  # the last one counts, also against merge keys between the two
            elif key is None:
                container.append(value)
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

    def _scalar(self, event: Any, is_key: bool) -> Any:
        tag = event.tag
        text = event.value
        if tag is None and not event.implicit[0]:
            return text
        reader = self.plain if tag is None else _SCALARS.get(tag)
        if reader is None:
            raise _unwanted_tag(event)
        try:
            value = reader(text)
            if type(value) is float and not isfinite(value):
                raise ValueError(text)
        except ValueError:
            wanted = "a number of JSON" if tag is None else f"a value for {_short(tag)}"
            raise _ValueError(f"expected {wanted}, got {shown(text)}", event) from None
        is_whole = type(value) is float and value.is_integer() and abs(value) < _MAX_WHOLE
        return int(value) if is_whole and not is_key else value

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
        if id(container) in self.merging:
            self.merging.remove(id(container))
            # Upstream: fields from a merge key win over the object's own fields before it.
            items = container.copy()
            container.clear()
            for key, value in items.items():
                if type(key) is not _Merge:
                    container[key] = value
                    continue
                for part in reversed(value) if isinstance(value, list) else [value]:
                    if not isinstance(part, dict):
                        raise _ValueError(
                            "expected a mapping, or a list of mappings, after a merge key (<<)", key.event
                        )
                    container.update(part)
        if anchor is not None:
            anchor.size = self.own + self.by_aliases - anchor.begin + 1


@frozen(repr=False, eq=False)
class _Merge:
    """A merge key (``<<``), until its object is complete."""

    event: Any


def _key(value: Any, event: Any) -> str | _Merge:
    """A key as JSON has it. Upstream: numbers and booleans become texts, and anything else is refused."""
    if type(value) is str:
        is_merge = value == "<<" and type(event) is ScalarEvent and (event.implicit[0] or event.tag == _MERGE)
        return _Merge(event) if is_merge else value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    # Upstream: with the digits that 32 bits hold, which six or fewer always are.
    if isinstance(value, float) and float(text := f"{value:g}") == value:
        return text
    got = "a list" if isinstance(value, list) else "an object" if isinstance(value, dict) else shown(value)
    raise _ValueError(f"expected a string for a key, got {got}", event)


def _unwanted_tag(event: Any) -> _ValueError:
    return _ValueError(f"expected a value of JSON, got the tag {_short(event.tag)}", event)


def _short(tag: str) -> str:
    return tag.replace(_TAG, "!!")


# --- single values ------------------------------------------------------------------------------------------


def _plain(text: str) -> Any:
    """The value of a text without quotes."""
    if text in _WORDS:
        return _WORDS[text]
    digits = text.replace("_", "") if text[0] in "+-0123456789" else text
    if _INTEGER.match(digits):
        number = int(_OCTAL.sub("0o", digits), 0)
        if -(2**63) <= number < 2 ** (63 if digits[0] == "+" else 64):
            return number
    if _NUMBER.match(digits) and isfinite(decimal := float(digits)):
        return decimal
    return text


def _of_types(types: tuple[type, ...], text: str) -> Any:
    """The value of a text with a tag for these types."""
    value = _plain(text)
    if type(value) not in types:
        raise ValueError(text)
    return value


_WORDS: Mapping[str, bool | float | None] = {
    "": None,
    "~": None,
    **{
        form(word): value
        for value, words in ((None, "null"), (True, "y yes true on"), (False, "n no false off"))
        for word in words.split()
        for form in (str.lower, str.capitalize, str.upper)
    },
    **dict.fromkeys((".nan", ".NaN", ".NAN"), inf),
    **{f"{sign}.{word}": inf for sign in ("", "+", "-") for word in ("inf", "Inf", "INF")},
}
_SCALARS: Mapping[str, Callable[[str], Any]] = {
    **dict.fromkeys(("!", _STRING, _MERGE, f"{_TAG}value", f"{_TAG}timestamp"), str),
    f"{_TAG}null": partial(_of_types, (type(None),)),
    f"{_TAG}bool": partial(_of_types, (bool,)),
    f"{_TAG}int": partial(_of_types, (int,)),
    f"{_TAG}float": partial(_of_types, (int, float)),
    f"{_TAG}binary": lambda text: base64.b64decode(text.replace("\n", ""), validate=True).decode(),
}
"""Tag -> how its text is read."""


# --- writing ------------------------------------------------------------------------------------------------


def yaml_text(value: Any, **style: Any) -> str:
    """*value* as YAML, as it is ordered. Texts that Kubernetes would read as other values are in quotes."""
    dumper: Any = type("AnyText", (getattr(yaml, "CSafeDumper", yaml.SafeDumper),), {})
    dumper.add_representer(str, _represented)
    text: str = yaml.dump(value, Dumper=dumper, sort_keys=False, **style)
    return text


def _represented(dumper: Any, value: str) -> Any:
    # Lone surrogates, which YAML cannot have, are written as a console shows them.
    text = value.encode("utf-8", "backslashreplace").decode("utf-8")
    return dumper.represent_scalar(_STRING, text, None if _plain(text) == text else "'")
