"""From the API's JSON form to the values of :mod:`..objects`, also from older versions of resource.k8s.io.

A null counts as absent; unknown fields are ignored; no defaults are filled in (see
:mod:`..controlplane.defaults`). Strict decoding refuses unknown words in enumerations as the API server
would; lenient decoding keeps them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache, partial
from typing import Annotated, Any, TypeAlias, TypeVar, get_args, get_origin

import attrs
import msgspec
from msgspec import Raw
from msgspec.structs import force_setattr

from ...exceptions import ManifestError
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
    annotated,
    is_value,
)
from ..objects.quantity import Quantity, notation
from .formats.jsonvalues import UNREADABLE, Parts, encoded, holds_each_once, quick_value
from .mismatch import Mismatch, without_kind
from .typed import entries, read
from .unknownfields import has_only, is_built_in, type_with_all_fields

# --- Quick reading by msgspec -------------------------------------------------------------------------------
# What it refuses is read again value by value, by the module typed.
#
# Equal parts of objects become one object, where many objects have them: labels, amounts, owners, images. Specs
# of pods are read by their text: those of one owner differ in it by the node and the name of the token's
# volume, and share one object.


V = TypeVar("V")
K = TypeVar("K", bound=o.KubeObject)
_REMEMBERED = 1 << 12
_LONGEST = 1 << 10


def quickly(kind: type[V], value: Any, strict: bool = False) -> V:
    """*value* as one of *kind*; as :func:`~.typed.read`, whose errors it has."""
    try:
        found = msgspec.convert(value, kind, dec_hook=other_types)
    except UNREADABLE:
        return read(kind, value, strict)
    return read(kind, value, strict) if strict and not fits(kind, value) else found


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
        own = words.fields if words is not None else {}
        fields = {
            name: own.get(attribute) or _worded(kind) for attribute, name, kind in annotated(annotation)
        }
        return {name: inner for name, inner in fields.items() if inner is not None} or None
    return next((found for part in get_args(annotation) if (found := _worded(part, words)) is not None), None)


def fits(kind: Any, value: Any) -> bool:
    """Whether all texts in *value*, which is read as one of *kind*, are words that they may be."""
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


def _one(value: V, *amounts: Quantities) -> V:
    """The first of all values that are equal to *value*, with *amounts* written as in it."""
    if len(_known) >= _REMEMBERED:
        _known.clear()
    found: V = _known.setdefault((value, notation(*amounts)) if amounts else value, value)
    return found


def shared(found: K) -> K:
    """*found* with the parts that others have too."""
    if found.metadata.owner_references:
        force_setattr(found.metadata, "owner_references", _one(found.metadata.owner_references))
    if isinstance(found, o.Pod) and found.status.container_statuses:
        statuses = found.status.container_statuses
        resources = [one.resources for one in statuses if one.resources is not None]
        amounts = [one.allocated_resources for one in statuses] + [
            held for one in resources for held in (one.requests, one.limits)
        ]
        force_setattr(found.status, "container_statuses", _one(statuses, *amounts))
    if isinstance(found, o.Node):
        force_setattr(found.status, "images", tuple(map(_one, found.status.images)))
        force_setattr(found.spec, "taints", _one(found.spec.taints))
    return found


# --- specs of pods ------------------------------------------------------------------------------------------

# What the name of the volume with a pod's token begins with; five random characters follow, which no rule
# reads.
_TOKEN = re.compile(rb'"kube-api-access-[a-z0-9]{5}"')
_NODE = re.compile(rb'"nodeName"\s*:\s*"([^"\\]*)"')
_MOST_BYTES = 1 << 25


@attrs.frozen(repr=False)
class _KnownSpec:
    spec: o.PodSpec
    is_plain: bool
    """It has only fields that the API has, each once."""
    is_strict: bool
    """Its words are those of the API."""


_specs: dict[bytes, _KnownSpec | None] = {}
# A text without node and token -> what it says; None: it cannot be shared.
_size = [0]


def pod_of_texts(parts: Parts) -> o.Pod | None:
    """The pod with these fields; None: it has to be looked at as a whole."""
    if (
        not parts.keys() <= {"apiVersion", "kind", "metadata", "spec", "status"}
        or bytes(parts.get("apiVersion", b'"v1"')) != b'"v1"'
    ):
        return None
    known, node = _spec_in(bytes(parts.get("spec", b"{}")))
    if known is None or not known.is_plain or not known.is_strict:
        return None
    metadata = _part(o.ObjectMeta, parts.get("metadata"))
    status = _part(o.PodStatus, parts.get("status"))
    if metadata is None or status is None:
        return None
    return shared(o.Pod(metadata=metadata, spec=known.spec.on(node), status=status))


def _part(kind: type[V], text: Raw | None) -> V | None:
    """A part of an object; None if it is wrong, or has a field that the API does not have, or one twice."""
    if text is None:
        return kind()
    part: Any = kind
    said, means = _decoders(part)
    try:
        return means(text) if holds_each_once(bytes(text), said(text)) else None
    except UNREADABLE:
        return None


@cache
def _decoders(kind: Any) -> tuple[Callable[[Raw], Any], Callable[[Raw], Any]]:
    """Two decoders for a type of the API: of all that an object says, and of what rules read."""
    said = msgspec.json.Decoder(type_with_all_fields(kind.__name__))
    return said.decode, msgspec.json.Decoder(kind, dec_hook=other_types).decode


def object_of(kind: type[K], document: Any, strict: bool) -> K:
    """The object of *kind* in JSON form. Raises :class:`~.mismatch.Mismatch`."""
    known = None
    node = ""
    if issubclass(kind, o.Pod) and type(document) is dict and type(spec := document.get("spec")) is dict:
        with suppress(*UNREADABLE):
            known, node = _spec_in(encoded(spec))
    if known is None or (strict and not known.is_strict):
        return shared(quickly(kind, document, strict))
    # Enumerations are in specs alone.
    found = quickly(kind, {name: value for name, value in document.items() if name != "spec"})
    force_setattr(found, "spec", known.spec.on(node))
    return shared(found)


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
    """The spec of a text that did not come before."""
    given = quick_value(text)
    value = quick_value(common)
    if given is None or value is None or type(given[0]) is not dict:
        return None
    # The same text in another place, such as a label of that name, does not differ from pod to pod.
    if (given[0].get("nodeName") or "") != node or (
        token and text.count(token) != _times_in(given[0], token)
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
            one
            for name in ("containers", "initContainers", "ephemeralContainers")
            for one in spec.get(name) or ()
        ]
        named = [
            *(spec.get("volumes") or ()),
            *(mount for one in containers for mount in one.get("volumeMounts") or ()),
        ]
        return sum(encoded(one.get("name")) == token for one in named)
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
    known = KINDS.get(kind)
    if known is None:
        return None
    try:
        found = object_of(known, newer(kind, document), strict)
    except Mismatch as mismatch:
        raise ManifestError(f"{where or describe(document, kind)}: {mismatch}") from None
    force_setattr(found, "manifest", document if keeps_manifest else None)
    return found


# --- older versions -----------------------------------------------------------------------------------------


_EXACT = ("deviceClassName", "selectors", "allocationMode", "count", "adminAccess", "tolerations", "capacity")
"""Fields that a request of v1beta1 has itself."""


def newer(kind: str, document: Any) -> Any:
    """*document* as newer versions of the API have it. Raises :class:`~.mismatch.Mismatch`."""
    changed = _CHANGED.get(kind)
    return _each(document, *changed) if changed is not None else document


def _each(value: Any, path: Sequence[str], change: Callable[[JsonDict], Any]) -> Any:
    """*value* with the objects of the list at *path* changed."""
    if not path:
        if isinstance(value, list):
            return [change(item) if isinstance(item, dict) else item for item in value]
        return value
    name, *rest = path
    if not isinstance(value, dict) or value.get(name) is None:
        return value
    try:
        return {**value, name: _each(value[name], rest, change)}
    except Mismatch as mismatch:
        raise mismatch.under(name) from None


def _unpacked(name: str, value: JsonDict) -> JsonDict:
    """*value* with the fields that are in an inner object *name*."""
    inner = value.get(name)
    if inner is None:
        return value
    return {**{key: item for key, item in value.items() if key != name}, **entries(inner)}


def _exactly(request: JsonDict) -> JsonDict:
    exact = {key: request[key] for key in _EXACT if key in request}
    if not exact.get("deviceClassName") or "exactly" in request:
        return request
    return {**{key: item for key, item in request.items() if key not in exact}, "exactly": exact}


_CHANGED: Mapping[str, tuple[tuple[str, ...], Callable[[JsonDict], JsonDict]]] = {
    "Pod": (("spec", "resourceClaims"), partial(_unpacked, "source")),
    "ResourceClaim": (("spec", "devices", "requests"), _exactly),
    "ResourceClaimTemplate": (("spec", "spec", "devices", "requests"), _exactly),
    "ResourceSlice": (("spec", "devices"), partial(_unpacked, "basic")),
}


def describe(document: object, kind: str = "") -> str:
    """``Node worker-7``: a document's kind and, if it has one, its name."""
    if not isinstance(document, Mapping):
        return kind or "manifest"
    metadata = document.get("metadata")
    given = document.get("kind")
    kind = kind or (given if isinstance(given, str) else "")
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    return f"{kind} {name}".strip() if name and isinstance(name, str) else kind
