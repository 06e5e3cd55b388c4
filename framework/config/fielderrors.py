"""Upstream's texts for invalid fields. Upstream: apimachinery pkg/util/validation/field."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ...api.meaning.labels import quoted


def shown(value: Any, *, as_json: bool = False) -> str:
    """A value as field errors print it, lists as in Go or *as_json*; ``()`` is a list that is absent, ``[]`` one that is empty."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        if as_json:
            return "null" if value == () else f"[{','.join(map(shown, value))}]"
        if value == ():
            return "[]string(nil)"  # Upstream: as Go prints a nil slice.
        return f"[]string{{{', '.join(map(shown, value))}}}"
    return str(value)


def invalid(path: str, value: Any, message: str, *, as_json: bool = False) -> str:
    return f"{path}: Invalid value: {shown(value, as_json=as_json)}: {message}"


def required(path: str, message: str = "") -> str:
    return f"{path}: Required value: {message}" if message else f"{path}: Required value"


def duplicate(path: str, value: Any) -> str:
    return f"{path}: Duplicate value: {shown(value)}"


def forbidden(path: str, message: str) -> str:
    return f"{path}: Forbidden: {message}"


def unsupported(path: str, value: str, allowed: Sequence[str] = ()) -> str:
    known = f": supported values: {', '.join(map(shown, allowed))}" if allowed else ""
    return f"{path}: Unsupported value: {shown(value)}{known}"


def aggregated(texts: Iterable[str]) -> str:
    """Several errors as one text, without duplicates; empty without errors."""
    found = list(dict.fromkeys(texts))
    return f"[{', '.join(found)}]" if len(found) > 1 else "".join(found)


def unknown(paths: Iterable[str]) -> str:
    """The text of strict decoding about unknown fields; empty without any."""
    return ", ".join(f'unknown field "{path}"' for path in paths)
