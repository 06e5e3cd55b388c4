"""From the API's JSON form to the values of :mod:`..objects`, as :mod:`.schema` says.

A null counts as absent; unknown fields are counted, but ignored; no defaults are filled in (see :mod:`..controlplane.defaults`).
Strict decoding refuses unknown words in enumerations as the API server would; lenient decoding keeps them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from ...exceptions import ManifestError
from ..objects import KINDS, KubeObject
from .fields import Mismatch, shown
from .schema import schema

__all__ = ["decode", "decode_kind", "describe"]


def decode(document: Mapping[str, Any], where: str = "", *, strict: bool = True, keeps_manifest: bool = False) -> KubeObject | None:
    """The object in *document*; None for a kind that scheduling does not read.

    *kind* alone picks the class; the API group does not count. Raises :class:`~kubeclassic.exceptions.ManifestError` with *where*
    (file, document, kind and name; if empty, kind and name) and the path to the wrong field.
    """
    kind = document.get("kind") if isinstance(document, Mapping) else None
    if not isinstance(kind, str):
        raise ManifestError(f"{where or 'manifest'}: kind: got {shown(kind)}, wanted the kind of a Kubernetes object")
    return decode_kind(kind, document, where, strict=strict, keeps_manifest=keeps_manifest)


def decode_kind(
    kind: str, document: Mapping[str, Any], where: object = "", *, strict: bool = True, keeps_manifest: bool = False
) -> KubeObject | None:
    """Like :func:`decode`, for a document of a known *kind*, such as an item of a list; it need not name its kind.

    With *keeps_manifest* the object has the document as its ``manifest``.
    """
    known = KINDS.get(kind)
    if known is None:
        return None
    try:
        found = schema(strict).reader(known)(document)
    except Mismatch as mismatch:
        raise ManifestError(f"{where or describe(document, kind)}: {mismatch}") from None
    return replace(found, manifest=document) if keeps_manifest else found


def describe(document: object, kind: str = "") -> str:
    """``Node worker-7``: a document's kind and, if it has one, its name."""
    if not isinstance(document, Mapping):
        return kind or "manifest"
    metadata = document.get("metadata")
    kind, name = kind or _text(document.get("kind")), _text(metadata.get("name")) if isinstance(metadata, Mapping) else ""
    return f"{kind} {name}" if kind and name else kind or name


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
