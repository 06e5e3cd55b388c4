"""The fields that the API has, read here or not, in any release from 1.12 to 1.36: what else a manifest says is a mistake.

The names are in ``apifields.txt``, taken from the JSON tags of upstream's types (k8s.io/api and k8s.io/apimachinery).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pkgutil import get_data
from typing import Any, TypeAlias

from .unknownfields import Fields

_REMEMBERED = 1 << 12
_GROUPS = frozenset(["", "apps", "batch", "extensions", "policy", "resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io"])


def api_fields(kind: str, api_version: Any = "") -> Fields | None:
    """The fields of objects of *kind*; None for a kind of another API group, or one that is not read here.

    >>> "hostNetwork" in api_fields("Pod")["spec"], api_fields("Service", "serving.knative.dev/v1")
    (True, None)
    """
    group = api_version.rpartition("/")[0] if isinstance(api_version, str) else ""
    return _fields(kind) if group in _GROUPS and kind in _types() else None


def has_only_api_fields(kind: str, document: Mapping[str, Any]) -> bool:
    """Whether the API has all fields of *document*, an object of *kind*, at all levels."""
    return api_fields(kind, document.get("apiVersion")) is None or has_only(kind, document)


def has_only(name: str, value: Any) -> bool:
    """Whether *value* has only the fields of the API's type of that name in Go, at all levels."""
    return _check(name)(value)


Check: TypeAlias = Callable[[Any], bool]


@cache
def _check(name: str) -> Check:
    """Whether a value (each object, if it is a list) has only the fields of a type."""
    fields = _types()[name]
    plans: dict[tuple[Any, ...], tuple[tuple[str, Check], ...]] = {}
    # The names of an object -> those that hold objects, each with the check of these.

    def check(value: Any) -> bool:
        if type(value) is list:
            return all(map(check, value))
        if type(value) is not dict:
            return True
        names = tuple(value)
        if (plan := plans.get(names)) is None:
            if any(name not in fields for name in names):
                return False
            if len(plans) >= _REMEMBERED:
                plans.clear()
            plan = plans[names] = tuple((name, _check(fields[name])) for name in names if fields[name])
        return all(inner(item) for name, inner in plan if (item := value[name]))

    return check


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
