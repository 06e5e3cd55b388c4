"""Faults of JSON values in words: ``spec.containers[0].name: expected a string, got 5``."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ...exceptions import ManifestError, one_line

_LONGEST_TEXT = 200
_LONGEST_NUMBER = 1 << 12


class Mismatch(Exception):
    """A value is not of the wanted type; *path* grows from the inside out."""

    def __init__(self, got: object, wanted: str) -> None:
        super().__init__(got, wanted)
        self.path: str = ""
        self.got = got
        self.wanted = wanted

    def under(self, part: str) -> Mismatch:
        """The same, one level further out; *part* is a field name or ``[index]``."""
        glue = "." if self.path and not self.path.startswith("[") else ""
        self.path = f"{one_line(part, _LONGEST_TEXT)}{glue}{self.path}"
        return self

    def __str__(self) -> str:
        return f"{self.path}: expected {self.wanted}, got {shown(self.got)}".removeprefix(": ")


def without_kind(where: object, document: object = None) -> ManifestError:
    """The error about a document that does not say its kind."""
    got = shown(document["kind"]) if isinstance(document, Mapping) and "kind" in document else "nothing"
    return ManifestError(f"{where}: kind: expected the kind of a Kubernetes object, got {got}")


def shown(value: object) -> str:
    """A JSON value in an error message: texts in quotes, long ones cut, objects and lists only named."""
    if isinstance(value, Mapping):
        return "an object" if value else "an empty object"
    if isinstance(value, (list, tuple)):
        return "a list" if value else "an empty list"
    if isinstance(value, int) and value.bit_length() > _LONGEST_NUMBER:
        return "a number of very many digits"
    text = json.dumps(
        value[:_LONGEST_TEXT] if isinstance(value, str) else value, ensure_ascii=False, default=str
    )
    return one_line(text) if len(text) <= 80 else one_line(f"{text[:76]}...")
