"""From the API's JSON form to the values of :mod:`..objects`, also from older versions of resource.k8s.io;
and which fields the API has.

A null counts as absent; unknown fields are ignored; no defaults are filled in (see
:mod:`..controlplane.defaults`). Strict decoding refuses unknown words in enumerations as the API server
would; lenient decoding keeps them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache, partial
from pkgutil import get_data
from typing import Annotated, Any, TypeAlias, TypeVar, get_args, get_origin

import attrs
import msgspec
from msgspec import UNSET, Raw, UnsetType
from msgspec.structs import force_setattr

from ...exceptions import ManifestError, did_you_mean
from .. import objects as o
from ..objects import (
    KINDS,
    FieldWords,
    JsonDict,
    JsonObject,
    KubeObject,
    Map,
    OneOf,
    Quantities,
    Quantity,
    annotated,
    is_value,
    notation,
)
from .formats.jsonvalues import UNREADABLE, Parts, encoded, holds_each_once, quick_value
from .typed import Mismatch, ReadBy, entries, read, without_kind

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
    "node.k8s.io": ("v1beta1 v1", "RuntimeClass"),
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

    >>> [kind_with_group("Node", version) for version in ("longhorn.io/v1beta2", "v1", "v2")]
    ['Node (longhorn.io)', 'Node', 'Node (v2)']
    >>> kind_with_group("Deployment", "v1"), kind_with_group("Event", "v1")
    ('Deployment (v1)', 'Event')
    """
    group = str(api_version or "").rpartition("/")[0]
    built_in = _GROUPS.get(group, ("", ""))[1].split() if group else _KINDS
    group_text = api_version if kind in built_in else group
    return kind if is_built_in(kind, api_version) or not group_text else f"{kind} ({group_text})"


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
    return next((fields for part in parts if (fields := fields_of(part)) is not None), None)


def unknown_fields(
    value: Any, fields: Fields | None, path: str = "", *, any_case: bool = False
) -> Iterator[str]:
    """The paths of the fields in the JSON *value* that *fields* lacks. With *any_case* names count in any
    case of letters.

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
        part_by_name = {name.lower(): part for name, part in fields.items()} if any_case else fields
        for name, item in value.items():
            inner = f"{path}.{name}" if path else str(name)
            if (key := str(name).lower() if any_case else name) in part_by_name:
                yield from misnamed(item, part_by_name[key], inner, any_case)
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
    holder: Any = data
    for step in way:
        if isinstance(holder, list):
            holder = holder[int(step)] if step.isdecimal() and int(step) < len(holder) else None
        else:
            holder = holder.get(step) if isinstance(holder, dict) else None
    if not isinstance(holder, dict) or last not in holder or (not way and last in ("kind", "apiVersion")):
        return False
    del holder[last]
    return True


MAX_NESTING = 200
"""The most levels of an object that is kept in JSON form; the API's own have 20 or so."""


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
    return _fields(kind) if is_built_in(kind, api_version) and kind in api_types() else None


def has_only_api_fields(kind: str, document: JsonObject) -> bool:
    """Whether the API has all fields of *document*, an object of *kind*, at all levels."""
    return not is_built_in(kind, document.get("apiVersion")) or has_only(kind, document)


def has_only(name: str, value: Any) -> bool:
    """Whether *value* has only fields of the API type that Go calls *name*, at all levels; true for a type
    that is not read."""
    if name not in api_types():
        return True
    try:
        msgspec.convert(value, type_with_all_fields(name))
    except (msgspec.ValidationError, RecursionError, UnicodeEncodeError):
        # Other fields, or a single value in place of an object.
        return not any(misnamed(value, _fields(name)))
    return True


@cache
def type_with_all_fields(name: str) -> Any:
    """A class with the fields of the API type *name* and no others, of any type."""
    kinds = {
        field: type_with_all_fields(kind) | None | UnsetType if kind else Any
        for field, kind in api_types()[name].items()
    }
    attributes = {f"f{number}": field for number, field in enumerate(kinds)}
    struct_type = msgspec.defstruct(
        name,
        [(attribute, kinds[field], UNSET) for attribute, field in attributes.items()],
        rename=attributes,
        forbid_unknown_fields=True,
    )
    return struct_type | list[struct_type]  # type: ignore[valid-type]  # it is a class


# --- the table ----------------------------------------------------------------------------------------------


@cache
def api_types() -> Mapping[str, Mapping[str, str]]:
    """Type -> its fields -> their types; empty for single values and for objects with any keys."""
    text = (get_data(__name__.rpartition(".")[0], "apifields.txt") or b"").decode()
    split = (line.split() for line in text.replace("\n  ", " ").splitlines() if not line.startswith("#"))
    return {
        name.rstrip(":"): {field: kind for field, _, kind in (part.partition(":") for part in parts)}
        for name, *parts in split
    }


@cache
def _fields(name: str) -> Fields:
    return {field: _fields(kind) if kind else None for field, kind in api_types()[name].items()}


# --- Quick reading by msgspec -------------------------------------------------------------------------------
# What it refuses is read again value by value, by the module typed.
#
# Equal parts of objects become one object, where many objects have them: labels, amounts, owners, images.
# Specs of pods are read by their text: those of one owner differ in it by the node and the name of the
# token's volume, and share one object.


_V = TypeVar("_V")
K = TypeVar("K", bound=o.KubeObject)
_REMEMBERED = 1 << 12
_LONGEST = 1 << 10


def quickly(kind: type[_V], value: Any, strict: bool = False) -> _V:
    """*value* as one of *kind*; as :func:`~.typed.read`, whose errors it has."""
    try:
        converted = msgspec.convert(value, kind, dec_hook=other_types)
    except UNREADABLE:
        return read(kind, value, strict)
    return read(kind, value, strict) if strict and not fits(kind, value) else converted


def other_types(kind: Any, value: Any) -> Any:
    """The values of types that msgspec does not know: quantities, and maps of anything."""
    if kind is Quantity:
        return Quantity.parse(value)
    item = kind.__args__[0]
    if (
        type(value) is dict
        and {str}.issuperset(map(type, value.values()))
        and sum(map(len, value.values())) < _LONGEST
    ):
        return _shared_map(item, tuple(value.items()))
    return _map(item, value)


@lru_cache(maxsize=_REMEMBERED)
def _shared_map(item: Any, pairs: tuple[tuple[str, str], ...]) -> Map[Any]:
    return _map(item, dict(pairs))


def _map(item: Any, value: Any) -> Map[Any]:
    return Map(msgspec.convert(value, dict[str, item], dec_hook=other_types))


# --- enumerations -------------------------------------------------------------------------------------------


Worded: TypeAlias = "OneOf | Mapping[str, Worded] | None"
"""The words of a text, or of the texts in an object by JSON name."""


@cache
def _worded(annotation: Any, words: FieldWords | None = None) -> Worded:
    if get_origin(annotation) is Annotated:
        inner, note, *_ = get_args(annotation)
        if isinstance(note, OneOf):
            return note
        return _worded(inner, note if isinstance(note, FieldWords) else None)
    if is_value(annotation):
        words_by_attribute = words.fields if words is not None else {}
        fields = {
            name: words_by_attribute.get(attribute) or _worded(kind)
            for attribute, name, kind in annotated(annotation)
        }
        return {name: inner for name, inner in fields.items() if inner is not None} or None
    return next(
        (worded for part in get_args(annotation) if (worded := _worded(part, words)) is not None), None
    )


def fits(kind: Any, value: Any) -> bool:
    """Whether all enumerations in *value*, which is read as one of *kind*, have words of the API."""
    return _fits(value, _worded(kind))


def _fits(value: Any, words: Worded) -> bool:
    if value is None or words is None:
        return True
    if isinstance(value, list):
        return all(_fits(item, words) for item in value)
    if isinstance(words, OneOf):
        return value in words.words
    return all(_fits(value.get(name), inner) for name, inner in words.items())


# --- what is shared -----------------------------------------------------------------------------------------


_known: dict[Any, Any] = {}


def _first_equal(value: _V, *amounts: Quantities) -> _V:
    """The first of all values that are equal to *value*, with *amounts* written as in it."""
    if len(_known) >= _REMEMBERED:
        _known.clear()
    remembered: _V = _known.setdefault((value, notation(*amounts)) if amounts else value, value)
    return remembered


def shared(item: K) -> K:
    """*item* with parts that it shares with equal objects."""
    if item.metadata.owner_references:
        force_setattr(item.metadata, "owner_references", _first_equal(item.metadata.owner_references))
    if isinstance(item, o.Pod) and item.status.container_statuses:
        statuses = item.status.container_statuses
        resources = [status.resources for status in statuses if status.resources is not None]
        amounts = [status.allocated_resources for status in statuses] + [
            quantities
            for resources_of_status in resources
            for quantities in (resources_of_status.requests, resources_of_status.limits)
        ]
        force_setattr(item.status, "container_statuses", _first_equal(statuses, *amounts))
    if isinstance(item, o.Node):
        force_setattr(item.status, "images", tuple(map(_first_equal, item.status.images)))
        force_setattr(item.spec, "taints", _first_equal(item.spec.taints))
    return item


# --- specs of pods ------------------------------------------------------------------------------------------

# The name of the volume with a pod's token: this prefix, and five random characters, which no rule reads.
_TOKEN = re.compile(rb'"kube-api-access-[a-z0-9]{5}"')
_NODE = re.compile(rb'"nodeName"\s*:\s*"([^"\\]*)"')
_NULL = re.compile(rb"[:,\[]null[,\]}]")
"""A null in a spec that was encoded: an infinite number, or one that is none, becomes one too."""
_MOST_BYTES = 1 << 25


@attrs.frozen(repr=False)
class _KnownSpec:
    spec: o.PodSpec
    is_plain: bool
    """Whether it has only fields that the API has, each once."""
    is_strict: bool
    """Whether its enumerations have words of the API."""


_specs: dict[bytes, _KnownSpec | None] = {}
# A text without node and token -> its spec; None: it cannot be shared.
_size = [0]


def pod_of_texts(parts: Parts) -> o.Pod | None:
    """The pod with these fields; None: it has to be looked at as a whole."""
    if (
        not parts.keys() <= {"apiVersion", "kind", "metadata", "spec", "status"}
        or bytes(parts.get("apiVersion", b'"v1"')) != b'"v1"'
    ):
        return None
    known_spec, node = _spec_in(bytes(parts.get("spec", b"{}")))
    if known_spec is None or not known_spec.is_plain or not known_spec.is_strict:
        return None
    metadata = _part(o.ObjectMeta, parts.get("metadata"))
    status = _part(o.PodStatus, parts.get("status"))
    if metadata is None or status is None:
        return None
    return shared(o.Pod(metadata=metadata, spec=known_spec.spec.on(node), status=status))


def _part(kind: type[_V], text: Raw | None) -> _V | None:
    """A part of an object; None if it is wrong, or has a field that the API does not have, or one twice."""
    if text is None:
        return kind()
    part: Any = kind
    decode_all, decode_read = _decoders(part)
    try:
        return decode_read(text) if holds_each_once(bytes(text), decode_all(text)) else None
    except UNREADABLE:
        return None


@cache
def _decoders(kind: Any) -> tuple[Callable[[Raw], Any], Callable[[Raw], Any]]:
    """Two decoders for a type of the API: of all that an object says, and of what rules read."""
    decoder = msgspec.json.Decoder(type_with_all_fields(kind.__name__))
    return decoder.decode, msgspec.json.Decoder(kind, dec_hook=other_types).decode


def object_of(kind: type[K], document: Any, strict: bool) -> K:
    """The object of *kind* in JSON form. Raises :class:`~.mismatch.Mismatch`."""
    known_spec = None
    node = ""
    if issubclass(kind, o.Pod) and type(document) is dict and type(spec := document.get("spec")) is dict:
        with suppress(*UNREADABLE):
            if not _NULL.search(text := encoded(spec)):
                known_spec, node = _spec_in(text)
    if known_spec is None or (strict and not known_spec.is_strict):
        return shared(quickly(kind, document, strict))
    # Enumerations are in specs alone.
    item = quickly(kind, {name: value for name, value in document.items() if name != "spec"})
    force_setattr(item, "spec", known_spec.spec.on(node) if node else known_spec.spec)
    return shared(item)


def _spec_in(text: bytes) -> tuple[_KnownSpec | None, str]:
    """The known spec of *text*, and the node in it."""
    common = text
    node = ""
    if (at := text.find(b'"nodeName"')) >= 0 and (match := _NODE.match(text, at)):
        common = b'%b""%b' % (text[: match.start(1) - 1], text[match.end() :])
        node = match[1].decode()
    token = b""
    if (
        (at := common.find(b'"kube-api-access-')) >= 0
        and (match := _TOKEN.match(common, at))
        and b'"ephemeral"' not in common
    ):
        token = match[0]
        common = common.replace(token, b'"kube-api-access-"')
    if common not in _specs:
        if _size[0] + len(common) > _MOST_BYTES:
            _specs.clear()
            _size[0] = 0
        _size[0] += len(common)
        _specs[common] = _read_spec(text, common, node, token)
    return _specs[common], node


def _read_spec(text: bytes, common: bytes, node: str, token: bytes) -> _KnownSpec | None:
    """The spec of a text that was not seen before."""
    whole_value = quick_value(text)
    value = quick_value(common)
    if whole_value is None or value is None or type(whole_value[0]) is not dict:
        return None
    # The same text in another place, such as a label of that name, does not differ from pod to pod.
    if (whole_value[0].get("nodeName") or "") != node or (
        token and text.count(token) != _times_in(whole_value[0], token)
    ):
        return None
    try:
        spec = quickly(o.PodSpec, value[0])
    except Mismatch:
        return None
    return _KnownSpec(spec, has_only("PodSpec", value[0]), fits(o.PodSpec, value[0]))


def _times_in(spec: Any, token: bytes) -> int:
    """The number of times that a volume is named where it is declared and mounted."""
    try:
        containers = [
            container
            for name in ("containers", "initContainers", "ephemeralContainers")
            for container in spec.get(name) or ()
        ]
        named_objects = [
            *(spec.get("volumes") or ()),
            *(mount for container in containers for mount in container.get("volumeMounts") or ()),
        ]
        return sum(encoded(named_object.get("name")) == token for named_object in named_objects)
    except (AttributeError, TypeError):
        return -1


# --- Objects of any kind ------------------------------------------------------------------------------------


def decode(
    document: JsonObject, where: str = "", *, strict: bool = True, keeps_manifest: bool = False
) -> KubeObject | None:
    """The object in *document*; None for a kind, or an API group, that scheduling does not read.

    Raises :class:`~kubeclassic.exceptions.ManifestError` with *where* (file, document, kind and name; if
    empty, kind and name) and the path to the wrong field.
    """
    kind = document.get("kind") if isinstance(document, Mapping) else None
    if not isinstance(kind, str):
        raise without_kind(where or "manifest", document)
    if not is_built_in(kind, document.get("apiVersion")):
        return None
    return decode_kind(kind, document, where, strict=strict, keeps_manifest=keeps_manifest)


def decode_kind(
    kind: str, document: JsonObject, where: object = "", *, strict: bool = True, keeps_manifest: bool = False
) -> KubeObject | None:
    """Like :func:`decode`, for a document of a known *kind*, such as an item of a list; it need not name its
    kind.

    With *keeps_manifest* the object has the document as its ``manifest``.
    """
    object_class = KINDS.get(kind)
    if object_class is None:
        return None
    try:
        item = object_of(object_class, newer(kind, document), strict)
    except Mismatch as mismatch:
        raise ManifestError(f"{where or describe(document, kind)}: {mismatch}") from None
    force_setattr(item, "manifest", document if keeps_manifest else None)
    return item


# --- older versions -----------------------------------------------------------------------------------------


_EXACT = ("deviceClassName", "selectors", "allocationMode", "count", "adminAccess", "tolerations", "capacity")
"""Fields that a request of v1beta1 has itself."""


def newer(kind: str, document: Any) -> Any:
    """*document* as newer versions of the API have it. Raises :class:`~.mismatch.Mismatch`."""
    change = _CHANGED.get(kind)
    return _change_each(document, *change) if change is not None else document


def _change_each(value: Any, path: Sequence[str], change: Callable[[JsonDict], Any]) -> Any:
    """*value* with the objects of the list at *path* changed."""
    if not path:
        if isinstance(value, list):
            return [change(item) if isinstance(item, dict) else item for item in value]
        return value
    name, *rest = path
    if not isinstance(value, dict) or value.get(name) is None:
        return value
    try:
        return {**value, name: _change_each(value[name], rest, change)}
    except Mismatch as mismatch:
        raise mismatch.under(name) from None


def _unpack(name: str, value: JsonDict) -> JsonDict:
    """*value* with the fields that are in an inner object *name*."""
    inner = value.get(name)
    if inner is None:
        return value
    return {**{key: item for key, item in value.items() if key != name}, **entries(inner)}


def _with_exactly(request: JsonDict) -> JsonDict:
    exact = {key: request[key] for key in _EXACT if key in request}
    if not exact.get("deviceClassName") or "exactly" in request:
        return request
    return {**{key: item for key, item in request.items() if key not in exact}, "exactly": exact}


_CHANGED: Mapping[str, tuple[tuple[str, ...], Callable[[JsonDict], JsonDict]]] = {
    "Pod": (("spec", "resourceClaims"), partial(_unpack, "source")),
    "ResourceClaim": (("spec", "devices", "requests"), _with_exactly),
    "ResourceClaimTemplate": (("spec", "spec", "devices", "requests"), _with_exactly),
    "ResourceSlice": (("spec", "devices"), partial(_unpack, "basic")),
}


def describe(document: object, kind: str = "") -> str:
    """``Node worker-7``: a document's kind and, if it has one, its name."""
    if not isinstance(document, Mapping):
        return kind or "manifest"
    metadata = document.get("metadata")
    value = document.get("kind")
    kind = kind or (value if isinstance(value, str) else "")
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    return f"{kind} {name}".strip() if name and isinstance(name, str) else kind
