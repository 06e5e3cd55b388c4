"""What extenders reply, read by its shape. As in Go, names of fields count in any case, a null is an empty
value, and what comes after the first value is not read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn, TypeAlias, TypeVar

import msgspec

from ..api.objects.quantity import Int64
from ..exceptions import ExtenderError

Json: TypeAlias = Any
T = TypeVar("T")
FAULT = "reply: got "
"""What the text of each fault of a reply begins with."""


class NodeItems(msgspec.Struct):
    """A list of nodes, each as JSON."""

    items: list[dict[str, Any] | None] | None = None


class FilterAnswer(msgspec.Struct):
    """The reply of filter."""

    nodes: NodeItems | None = None
    nodenames: list[str | None] | None = None
    failednodes: dict[str, str | None] | None = None
    failedandunresolvablenodes: dict[str, str | None] | None = None
    error: str | None = None


class ScoreAnswer(msgspec.Struct):
    """A node's score in the reply of prioritize."""

    host: str | None = None
    score: Int64 | None = None


class Named(msgspec.Struct):
    """A victim by its UID."""

    uid: str | None = None


class Chosen(msgspec.Struct):
    """The victims on one node."""

    pods: list[Named | None] | None = None
    numpdbviolations: Int64 | None = None


class PreemptAnswer(msgspec.Struct):
    """The reply of preempt."""

    nodenametometavictims: dict[str, Chosen | None] | None = None


class BindAnswer(msgspec.Struct):
    """The reply of bind."""

    error: str | None = None


def read_reply(body: bytes, kind: type[T]) -> T | None:
    """The first JSON value in *body* as a *kind*; None for a null. Raises
    :class:`~kubeclassic.exceptions.ExtenderError`."""
    try:
        found, _ = _DECODER.raw_decode(body.decode("utf-8", "replace").lstrip(" \t\r\n"))
        return msgspec.convert(_lowered(found), kind | None)
    except RecursionError:
        raise ExtenderError(f"{FAULT}JSON that is nested too deeply, expected an extender's answer") from None
    except msgspec.ValidationError as error:
        raise ExtenderError(f"{FAULT}another form ({error}), expected an extender's answer") from None
    except ValueError as error:
        raise ExtenderError(f"{FAULT}no JSON ({error}), expected an extender's answer") from None


def _refused(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_refused)


def _lowered(value: Json) -> Json:
    """*value* with the names of fields in lower case. What a node's name stands before keeps it."""
    if isinstance(value, list):
        return [_lowered(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    found = {key.lower(): item for key, item in value.items()}
    for name in ("nodes", "pods"):
        if name in found:
            found[name] = _lowered(found[name])
    victims = found.get("nodenametometavictims")
    if isinstance(victims, Mapping):
        found["nodenametometavictims"] = {node: _lowered(chosen) for node, chosen in victims.items()}
    return found
