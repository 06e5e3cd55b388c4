"""Specs of pods by their text. Pods of one owner differ in it by the node and the name of the token's volume: they share one object."""

from __future__ import annotations

import re
from typing import Any

import attrs

from ..objects import PodSpec
from .apifields import has_only
from .convert import fits, quickly
from .formats.jsonvalues import UNREADABLE, encoded, quick_value
from .mismatch import Mismatch

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


def spec_of_text(text: bytes) -> PodSpec | None:
    """The spec that *text* says; None: the whole pod has to be looked at."""
    known, node = _found(text)
    return known.on(node) if known is not None and known.is_plain and known.is_strict else None


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
