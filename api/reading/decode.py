"""From the API's JSON form to the values of :mod:`..objects`, also from older versions of resource.k8s.io.

A null counts as absent; unknown fields are ignored; no defaults are filled in (see
:mod:`..controlplane.defaults`). Strict decoding refuses unknown words in enumerations as the API server
would; lenient decoding keeps them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec.structs import force_setattr

from ...exceptions import ManifestError
from ..objects import KINDS, KubeObject, Pod
from .builtin import is_built_in
from .convert import quickly, shared, spec_of
from .mismatch import Mismatch, without_kind
from .typed import entries


def decode(
    document: Mapping[str, Any], where: str = "", *, strict: bool = True, keeps_manifest: bool = False
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
    kind: str,
    document: Mapping[str, Any],
    where: object = "",
    *,
    strict: bool = True,
    keeps_manifest: bool = False,
) -> KubeObject | None:
    """Like :func:`decode`, for a document of a known *kind*, such as an item of a list; it need not name its
    kind.

    With *keeps_manifest* the object has the document as its ``manifest``.
    """
    known = KINDS.get(kind)
    if known is None:
        return None
    try:
        found = _read(known, newer(kind, document), strict)
    except Mismatch as mismatch:
        raise ManifestError(f"{where or describe(document, kind)}: {mismatch}") from None
    force_setattr(found, "manifest", document if keeps_manifest else None)
    return shared(found)


def _read(kind: type[KubeObject], document: Mapping[str, Any], strict: bool) -> KubeObject:
    found = spec_of(document.get("spec"), strict) if kind is Pod and type(document) is dict else None
    if found is None:
        return quickly(kind, document, strict)
    made = quickly(
        kind, {name: value for name, value in document.items() if name != "spec"}, strict=False
    )  # enumerations are in specs alone
    force_setattr(made, "spec", found)
    return made


# --- older versions -----------------------------------------------------------------------------------------


_EXACT = ("deviceClassName", "selectors", "allocationMode", "count", "adminAccess", "tolerations", "capacity")
"""Fields that a request of v1beta1 has itself."""


def newer(kind: str, document: Any) -> Any:
    """*document* as newer versions of the API have it. Raises :class:`~.mismatch.Mismatch`."""
    changed = _CHANGED.get(kind)
    return _each(document, *changed) if changed is not None else document


def _each(value: Any, path: Sequence[str], change: Callable[[dict[str, Any]], Any]) -> Any:
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


def _unpacked(name: str, value: dict[str, Any]) -> dict[str, Any]:
    """*value* with the fields that are in an inner object *name*."""
    inner = value.get(name)
    if inner is None:
        return value
    return {**{key: item for key, item in value.items() if key != name}, **entries(inner)}


def _exactly(request: dict[str, Any]) -> dict[str, Any]:
    exact = {key: request[key] for key in _EXACT if key in request}
    if not exact.get("deviceClassName") or "exactly" in request:
        return request
    return {**{key: item for key, item in request.items() if key not in exact}, "exactly": exact}


_CHANGED: Mapping[str, tuple[tuple[str, ...], Callable[[dict[str, Any]], dict[str, Any]]]] = {
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
