"""Specs of pods by their text. Pods of one owner differ in it by the node and the name of the token's volume: they share one object."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

import attrs
import msgspec
from msgspec import Raw

from ..objects import ObjectMeta, Pod, PodSpec, PodStatus
from .apifields import has_only, type_with_all_fields
from .convert import UNREADABLE, fits, other_types, quickly, shared
from .formats.jsonlists import Parts
from .formats.jsonvalues import encoded, holds_each_once, quick_value
from .mismatch import Mismatch

V = TypeVar("V")
TOKEN_VOLUME = "kube-api-access-"
"""What the name of the volume with a pod's token begins with; five random characters follow, which no rule reads."""
_TOKEN = re.compile(rb'"kube-api-access-[a-z0-9]{5}"')
_NODE = re.compile(rb'"nodeName"\s*:\s*"([^"\\]*)"')
_MOST_BYTES = 1 << 25


@attrs.frozen(repr=False)
class _Known:
    spec: PodSpec
    is_plain: bool
    """It has only fields that the API has, each once."""
    is_strict: bool
    """Its words are those of the API."""

    def on(self, node: str) -> PodSpec:
        """The spec of a pod on *node*; empty: on none."""
        return self.spec.on(node) if node else self.spec


_known: dict[bytes, _Known | None] = {}
# A text without node and token -> what it says; None: it cannot be shared.
_size = [0]


def pod_of_texts(parts: Parts) -> Pod | None:
    """The pod with these fields; None: it has to be looked at as a whole."""
    if not parts.keys() <= {"apiVersion", "kind", "metadata", "spec", "status"} or bytes(parts.get("apiVersion", b'"v1"')) != b'"v1"':
        return None
    known, node = _found(bytes(parts.get("spec", b"{}")))
    if known is None or not known.is_plain or not known.is_strict:
        return None
    metadata, status = _part(ObjectMeta, parts.get("metadata")), _part(PodStatus, parts.get("status"))
    return None if metadata is None or status is None else shared(Pod(metadata=metadata, spec=known.on(node), status=status))


def _part(kind: type[V], text: Raw | None) -> V | None:
    """What a part of an object says; None if it is wrong, or has a field that the API does not have, or one twice."""
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
    """What reads all that an object of a type of the API says, and what reads of it what counts."""
    said = msgspec.json.Decoder(type_with_all_fields(kind.__name__))
    return said.decode, msgspec.json.Decoder(kind, dec_hook=other_types).decode


def spec_of(document: Any, strict: bool) -> PodSpec | None:
    """The spec in JSON form; None: the whole pod has to be read."""
    try:
        known, node = _found(encoded(document)) if type(document) is dict else (None, "")
    except UNREADABLE:
        return None
    return known.on(node) if known is not None and (known.is_strict or not strict) else None


def _found(text: bytes) -> tuple[_Known | None, str]:
    """What is known of *text*, and the node in it."""
    common, node = text, ""
    if (at := text.find(b'"nodeName"')) >= 0 and (match := _NODE.match(text, at)):
        common, node = b'%b""%b' % (text[: match.start(1) - 1], text[match.end() :]), match[1].decode()
    token = b""
    if (at := common.find(b'"kube-api-access-')) >= 0 and (match := _TOKEN.match(common, at)) and b'"ephemeral"' not in common:
        token = match[0]
        common = common.replace(token, b'"kube-api-access-"')
    if common not in _known:
        if _size[0] + len(common) > _MOST_BYTES:
            _known.clear()
            _size[0] = 0
        _size[0] += len(common)
        _known[common] = _read(text, common, node, token)
    return _known[common], node


def _read(text: bytes, common: bytes, node: str, token: bytes) -> _Known | None:
    """What a text says that did not come before."""
    given, value = quick_value(text), quick_value(common)
    if given is None or value is None or type(given[0]) is not dict:
        return None
    # The same text in another place, such as a label of that name, does not differ from pod to pod.
    if (given[0].get("nodeName") or "") != node or (token and text.count(token) != _times_in(given[0], token)):
        return None
    try:
        spec = quickly(PodSpec, value[0])
    except Mismatch:
        return None
    return _Known(spec, has_only("PodSpec", value[0]), fits(PodSpec, value[0]))


def _times_in(spec: Any, token: bytes) -> int:
    """How often a volume is named where it is declared and mounted."""
    try:
        containers = [one for name in ("containers", "initContainers", "ephemeralContainers") for one in spec.get(name) or ()]
        named = [*(spec.get("volumes") or ()), *(mount for one in containers for mount in one.get("volumeMounts") or ())]
        return sum(encoded(one.get("name")) == token for one in named)
    except (AttributeError, TypeError):
        return -1
