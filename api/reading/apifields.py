"""The fields that the API has, read here or not, in any release from 1.12 to 1.36: what else a manifest says is a mistake.

The names are in ``apifields.txt``, taken from the JSON tags of upstream's types (k8s.io/api and k8s.io/apimachinery).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pkgutil import get_data
from typing import Any

from .shapes import ANYTHING, Shape
from .unread import has_only

_GROUPS = frozenset(["", "apps", "batch", "extensions", "policy", "resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io"])


def api_shape(kind: str, api_version: Any = "") -> Shape:
    """The fields of objects of *kind*; anything, for a kind of another API group, or one that is not read here.

    >>> "hostNetwork" in api_shape("Pod").fields["spec"].fields, api_shape("Service", "serving.knative.dev/v1").fields
    (True, None)
    """
    group = api_version.rpartition("/")[0] if isinstance(api_version, str) else ""
    return _shapes().get(kind, ANYTHING) if group in _GROUPS else ANYTHING


def has_only_api_fields(kind: str, document: Mapping[str, Any]) -> bool:
    """Whether the API has all fields of *document*, an object of *kind*."""
    shape = api_shape(kind, document.get("apiVersion"))
    return shape.fields is None or has_only(shape)(document)


def type_shape(*names: str) -> Shape:
    """The fields that types of the API have, by the names of these types in Go; those of several together."""
    if len(names) == 1:
        return _shape(names[0])
    return Shape({field: shape for name in names for field, shape in (_shape(name).fields or {}).items()})


# --- the table ------------------------------------------------------------------------------------------------------


@cache
def _types() -> Mapping[str, Mapping[str, str]]:
    """Type -> its fields -> their types; empty for single values and for objects with any keys."""
    text = (get_data(__name__.rpartition(".")[0], "apifields.txt") or b"").decode()
    lines = text.replace("\n  ", " ").splitlines()
    split = (line.split() for line in lines if not line.startswith("#"))
    return {name.rstrip(":"): {field: kind for field, _, kind in (part.partition(":") for part in parts)} for name, *parts in split}


@cache
def _shapes() -> Mapping[str, Shape]:
    return {name: _shape(name) for name in _types()}


@cache
def _shape(name: str) -> Shape:
    return Shape({field: _shape(kind) if kind else ANYTHING for field, kind in _types()[name].items()})
