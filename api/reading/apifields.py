"""The fields that the API has, read here or not, in any release from 1.12 to 1.36: what else a manifest says is a mistake.

The names are in ``apifields.txt``, taken from the JSON tags of upstream's types (k8s.io/api and k8s.io/apimachinery).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pkgutil import get_data
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from .builtin import is_built_in
from .unknownfields import Fields, misnamed


def api_fields(kind: str, api_version: Any = "") -> Fields | None:
    """The fields of objects of *kind*; None for a kind of another API group, or one that is not read here.

    >>> "hostNetwork" in api_fields("Pod")["spec"], api_fields("Service", "serving.knative.dev/v1")
    (True, None)
    """
    return _fields(kind) if is_built_in(kind, api_version) and kind in _types() else None


def has_only_api_fields(kind: str, document: Mapping[str, Any]) -> bool:
    """Whether the API has all fields of *document*, an object of *kind*, at all levels."""
    return api_fields(kind, document.get("apiVersion")) is None or has_only(kind, document)


def has_only(name: str, value: Any) -> bool:
    """Whether *value* has only the fields of the API's type of that name in Go, at all levels."""
    try:
        msgspec.convert(value, type_with_all_fields(name))
    except (msgspec.ValidationError, RecursionError, UnicodeEncodeError):  # other fields, or a single value in place of an object
        return not any(misnamed(value, _fields(name)))
    return True


@cache
def type_with_all_fields(name: str) -> Any:
    """A class that takes these fields and no others, with anything in them."""
    kinds = {field: type_with_all_fields(kind) | None | UnsetType if kind else Any for field, kind in _types()[name].items()}
    attributes = {f"f{number}": field for number, field in enumerate(kinds)}
    fields = [(attribute, kinds[field], UNSET) for attribute, field in attributes.items()]
    one = msgspec.defstruct(name, fields, rename=attributes, forbid_unknown_fields=True)
    return one | list[one]  # type: ignore[valid-type]  # it is a class


# --- the table ------------------------------------------------------------------------------------------------------


@cache
def _types() -> Mapping[str, Mapping[str, str]]:
    """Type -> its fields -> their types; empty for single values and for objects with any keys."""
    text = (get_data(__name__.rpartition(".")[0], "apifields.txt") or b"").decode()
    lines = text.replace("\n  ", " ").splitlines()
    split = (line.split() for line in lines if not line.startswith("#"))
    return {name.rstrip(":"): {field: kind for field, _, kind in (part.partition(":") for part in parts)} for name, *parts in split}


@cache
def _fields(name: str) -> Fields:
    return {field: _fields(kind) if kind else None for field, kind in _types()[name].items()}
