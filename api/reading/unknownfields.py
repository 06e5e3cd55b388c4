"""Fields that a JSON object has beyond those that are known, and other looks at values in JSON form.

The fields that the API has, read here or not, in any release from 1.12 to 1.36, are in ``apifields.txt``,
taken from the JSON tags of upstream's types (k8s.io/api and k8s.io/apimachinery): what else a manifest says
is a mistake.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pkgutil import get_data
from typing import Any, TypeAlias, get_args, get_origin

import msgspec
from msgspec import UNSET, UnsetType

from ...exceptions import ManifestError, did_you_mean
from ..objects import JsonDict, JsonObject, Map, annotated, is_value
from .typed import ReadBy

# --- Kinds by API group -------------------------------------------------------------------------------------
# An object is its group and kind, so that a Node of another group is no node.


_STABLE = "v1alpha1 v1beta1 v1"
_GROUPS: Mapping[str, tuple[str, str]] = {
    "": (
        "v1",
        "ConfigMap LimitRange Namespace Node PersistentVolume PersistentVolumeClaim Pod PodTemplate ReplicationController ResourceQuota"
        " Service",
    ),
    "apps": ("v1beta1 v1beta2 v1", "DaemonSet Deployment ReplicaSet StatefulSet"),
    "batch": ("v2alpha1 v1beta1 v1", "CronJob Job"),
    "extensions": ("v1beta1", "DaemonSet Deployment Job ReplicaSet"),
    "policy": (_STABLE, "PodDisruptionBudget"),
    "resource.k8s.io": (
        "v1alpha3 v1beta1 v1beta2 v1",
        "DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice",
    ),
    "scheduling.k8s.io": (_STABLE, "PriorityClass"),
    "storage.k8s.io": (_STABLE, "CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment"),
}
"""Group -> its versions, and its kinds that are read. Group and version are an apiVersion; that of the first
group has no slash."""
_KNOWN = {
    (kind, f"{group}/{version}".removeprefix("/"))
    for group, (versions, kinds) in _GROUPS.items()
    for kind in kinds.split()
    for version in versions.split()
}
_KINDS = {kind for kind, _ in _KNOWN}


def is_built_in(kind: str, api_version: Any = None) -> bool:
    """Whether *kind* of *api_version* is read here as one of Kubernetes' own; without an apiVersion the kind
    alone decides.

    >>> is_built_in("Deployment", "extensions/v1beta1"), is_built_in("Node", "longhorn.io/v1beta2"), is_built_in("Pod", "v2")
    (True, False, False)
    """
    return (kind, str(api_version)) in _KNOWN if api_version else kind in _KINDS


def kind_with_group(kind: str, api_version: Any = None) -> str:
    """A kind in messages: with its group, unless it is built in; with its version where that alone is not
    known.

    >>> kind_with_group("Node", "longhorn.io/v1beta2"), kind_with_group("Node", "v1"), kind_with_group("Node", "v2")
    ('Node (longhorn.io)', 'Node', 'Node (v2)')
    """
    group = str(api_version or "").rpartition("/")[0]
    shown = api_version if kind in _GROUPS.get(group, ("", ""))[1].split() else group
    return kind if is_built_in(kind, api_version) or not shown else f"{kind} ({shown})"


# --- Unknown fields -----------------------------------------------------------------------------------------


_STEP = re.compile(r"[^.\[\]]+")
"""One step of a path such as ``profiles[0].plugins``."""


Fields: TypeAlias = "Mapping[str, Fields | None]"
"""JSON name -> the fields of the object, or of each object of the list, that the field holds; None: it holds
something else."""


def named(names: str, **nested: Fields) -> dict[str, Fields | None]:
    """Fields by name: *names*, separated by blanks, with any values, and *nested* ones.

    >>> named("name weight", tlsConfig=named("insecure"))
    {'name': None, 'weight': None, 'tlsConfig': {'insecure': None}}
    """
    return {**dict.fromkeys(names.split()), **nested}


TYPE_META = named("kind apiVersion")
"""Fields of every object that become no attribute: the kind picks the class."""


@cache
def fields_of(annotation: Any) -> Fields | None:
    """The fields of a class that is read, or of the class in an annotation; None for what has none."""
    if any(isinstance(note, ReadBy) for note in get_args(annotation)):
        return None
    if is_value(annotation):
        return {name: fields_of(kind) for _, name, kind in annotated(annotation)}
    parts = () if get_origin(annotation) is Map else get_args(annotation)
    return next((found for part in parts if (found := fields_of(part)) is not None), None)


def unknown_fields(
    value: Any, fields: Fields | None, path: str = "", *, any_case: bool = False
) -> Iterator[str]:
    """The paths of the fields in the JSON *value* that *fields* does not have, with *any_case* in any case of
    letters.

    >>> list(unknown_fields({"items": [{"name": 1}, {"nam": 2}]}, named("", items=named("name"))))
    ['items[1].nam']
    """
    return (path for path, _ in misnamed(value, fields, path, any_case))


def misnamed(
    value: Any, fields: Fields | None, path: str = "", any_case: bool = False
) -> Iterator[tuple[str, str]]:
    """Like :func:`unknown_fields`, with the names that are near.

    >>> list(misnamed({"nam": 2}, named("name")))
    [('nam', '; did you mean "name"?')]
    """
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from misnamed(item, fields, f"{path}[{index}]", any_case)
    elif isinstance(value, Mapping) and fields is not None:
        known = {name.lower(): part for name, part in fields.items()} if any_case else fields
        for name, item in value.items():
            inner = f"{path}.{name}" if path else str(name)
            if (key := str(name).lower() if any_case else name) in known:
                yield from misnamed(item, known[key], inner, any_case)
            else:
                yield inner, did_you_mean(str(name), fields)


def pruned(value: Any, fields: Fields | None) -> Any:
    """*value* without the fields that *fields* does not have.

    >>> pruned([{"name": 1, "other": 2}], named("name"))
    [{'name': 1}]
    """
    if isinstance(value, list):
        return [pruned(item, fields) for item in value]
    if not isinstance(value, Mapping) or fields is None:
        return value
    return {name: pruned(item, fields[name]) for name, item in value.items() if name in fields}


def removed(data: JsonDict, path: str) -> bool:
    """Whether the field at *path* was there and could be taken out of *data*; its kind and version cannot.

    >>> data = {"a": [{"b": 1, "c": 2}]}
    >>> removed(data, "a[0].b"), removed(data, "a[1].b"), data
    (True, False, {'a': [{'c': 2}]})
    """
    *way, last = _STEP.findall(path) or [""]
    whole: Any = data
    for step in way:
        if isinstance(whole, list):
            whole = whole[int(step)] if step.isdecimal() and int(step) < len(whole) else None
        else:
            whole = whole.get(step) if isinstance(whole, dict) else None
    if not isinstance(whole, dict) or last not in whole or (not way and last in ("kind", "apiVersion")):
        return False
    del whole[last]
    return True


MAX_NESTING = 200
"""How many levels an object may have that is kept in JSON form; the API's own have 20 or so."""


def check_nesting(value: Any, where: object) -> None:
    """Raise :class:`~kubeclassic.exceptions.ManifestError` for objects and lists in one another beyond
    :data:`MAX_NESTING`."""
    level = [value]
    depth = 0
    while level := [part for part in level if isinstance(part, (dict, list))]:
        depth += 1
        if depth > MAX_NESTING:
            raise ManifestError(f"{where}: nested too deeply, expected at most {MAX_NESTING} levels")
        level = [item for part in level for item in (part.values() if isinstance(part, dict) else part)]


# --- the fields of the API ----------------------------------------------------------------------------------

# The fields that the API has, read here or not, in any release from 1.12 to 1.36: what else a manifest says
# is a mistake. The names are in ``apifields.txt``, taken from the JSON tags of upstream's types (k8s.io/api
# and k8s.io/apimachinery).


def api_fields(kind: str, api_version: Any = "") -> Fields | None:
    """The fields of objects of *kind*; None for a kind of another API group, or one that is not read here.

    >>> "hostNetwork" in api_fields("Pod")["spec"], api_fields("Service", "serving.knative.dev/v1")
    (True, None)
    """
    return _fields(kind) if is_built_in(kind, api_version) and kind in _types() else None


def has_only_api_fields(kind: str, document: JsonObject) -> bool:
    """Whether the API has all fields of *document*, an object of *kind*, at all levels."""
    return not is_built_in(kind, document.get("apiVersion")) or has_only(kind, document)


def has_only(name: str, value: Any) -> bool:
    """Whether *value* has only the fields of the API's type of that name in Go, if that is read, at all
    levels."""
    if name not in _types():
        return True
    try:
        msgspec.convert(value, type_with_all_fields(name))
    except (
        msgspec.ValidationError,
        RecursionError,
        UnicodeEncodeError,
    ):  # other fields, or a single value in place of an object
        return not any(misnamed(value, _fields(name)))
    return True


@cache
def type_with_all_fields(name: str) -> Any:
    """A class that takes these fields and no others, with anything in them."""
    kinds = {
        field: type_with_all_fields(kind) | None | UnsetType if kind else Any
        for field, kind in _types()[name].items()
    }
    attributes = {f"f{number}": field for number, field in enumerate(kinds)}
    one = msgspec.defstruct(
        name,
        [(attribute, kinds[field], UNSET) for attribute, field in attributes.items()],
        rename=attributes,
        forbid_unknown_fields=True,
    )
    return one | list[one]  # type: ignore[valid-type]  # it is a class


# --- the table ----------------------------------------------------------------------------------------------


@cache
def _types() -> Mapping[str, Mapping[str, str]]:
    """Type -> its fields -> their types; empty for single values and for objects with any keys."""
    text = (get_data(__name__.rpartition(".")[0], "apifields.txt") or b"").decode()
    split = (line.split() for line in text.replace("\n  ", " ").splitlines() if not line.startswith("#"))
    return {
        name.rstrip(":"): {field: kind for field, _, kind in (part.partition(":") for part in parts)}
        for name, *parts in split
    }


@cache
def _fields(name: str) -> Fields:
    return {field: _fields(kind) if kind else None for field, kind in _types()[name].items()}
