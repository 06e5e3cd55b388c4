"""The Go types of the objects that are sent: which fields each release has, in their order on the wire.

The table is ``gotypes.txt``, taken from the JSON tags of upstream's types (k8s.io/api/core/v1, k8s.io/apimachinery/pkg/apis/meta/v1).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import attrs

_WORD = re.compile(r"(?P<name>\w+):(?P<kind>[^!@]+)(?P<always>!?)(?:@(?P<since>[\d.]*)-?(?P<until>[\d.]*))?")


@attrs.frozen
class GoField:
    """A field of a Go struct."""

    name: str
    kind: str
    """``s``, ``[]s``, ``*ObjectMeta`` and so on; the head of the table explains the letters."""
    is_always_written: bool
    """It is written without a value, too: its tag has no ``omitempty``."""


@cache
def go_type(name: str, version: str) -> tuple[GoField, ...]:
    """The fields of a type in release *version*, such as ``1.15``, in their order.

    >>> [field.name for field in go_type("Taint", "1.15")]
    ['key', 'value', 'effect', 'timeAdded']
    """
    found = (_WORD.fullmatch(word) for word in _lines()[name])
    return tuple(GoField(word["name"], word["kind"], bool(word["always"])) for word in found if word and _has(word, version))


def _has(word: re.Match[str], version: str) -> bool:
    since, until = word["since"], word["until"]
    return not (since and _number(version) < _number(since)) and not (until and _number(version) > _number(until))


def _number(version: str) -> int:
    return int(version.partition(".")[2])


@cache
def _lines() -> Mapping[str, list[str]]:
    text = files(__package__).joinpath("gotypes.txt").read_text(encoding="utf-8")
    lines = (line.split() for line in text.replace("\n  ", " ").splitlines() if not line.startswith("#"))
    return {name.rstrip(":"): words for name, *words in lines}
