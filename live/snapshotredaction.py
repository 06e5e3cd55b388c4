"""Renames everything in a snapshot that shows whose cluster it is, so that decisions stay the same but for the names.

A new name is ``r``, the rank of the old name among all of them, ``x``, and a salted hash. Because of the rank new names sort as the old
ones do: some rules and lists go by name.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import attrs

from ..api.objects import KINDS
from ..api.reading.decode import newer
from ..api.reading.mismatch import Mismatch
from .client.replies import Manifest, metadata_of
from .renaming import PUBLIC_FORMS, Names, shape_of

_NUMBERS = r"[-+]?\d{1,19}"


@attrs.frozen
class Redaction:
    """Redacted objects, and what their names were."""

    items: tuple[Manifest, ...]
    salt: str
    names: Mapping[str, str]
    """Old name -> new name."""
    namespaces: Mapping[str, str]
    """The same for namespaces."""

    def map(self) -> dict[str, Any]:
        """The map to keep: who has it can tell the old names."""
        return {"salt": self.salt, "names": dict(self.names), "namespaces": dict(self.namespaces)}


def redact(items: tuple[Manifest, ...], salt: bytes | None = None) -> Redaction:
    """*items* with new names, in their order. Without *salt* it is random, so that names cannot be guessed and tried.

    Label keys, resources, times, sizes, CSI drivers and provisioners stay, and what drivers say of devices; so do numbers as values of
    labels that are compared as numbers.
    Environments, commands, messages, and annotations that no rule reads are left out.
    """
    salt = secrets.token_bytes(16) if salt is None else salt
    found = Names({**dict.fromkeys(_numeric_keys(items), re.compile(_NUMBERS)), **PUBLIC_FORMS})
    for item in items:
        _redacted(item, found)
    found.rank(salt, _claims_of_pods(items))
    return Redaction(tuple(_redacted(item, found) for item in items), salt.hex(), found.names, found.namespaces)


def _redacted(item: Manifest, to: Names) -> Manifest:
    kind: str = item["kind"]
    with suppress(Mismatch):  # what is odd about it is left out
        item = newer(kind, item)
    redacted: Manifest = shape_of(KINDS[kind])(to, item)
    name = str(metadata_of(item).get("name") or "")
    if kind == "Namespace":
        redacted["metadata"] = {**(redacted.get("metadata") or {}), "name": to.namespace(name)}
    if kind == "CSIDriver":  # A driver is known by its name, which the storage classes keep, too.
        redacted["metadata"] = {**(redacted.get("metadata") or {}), "name": name}
    if kind in ("ReplicaSet", "ReplicationController", "StatefulSet"):
        # The names of their pods, some of which are numbers, have changed, so it could not be seen which are missing.
        redacted["spec"] = {**(redacted.get("spec") or {}), "replicas": 0}
    return redacted


def _claims_of_pods(items: tuple[Manifest, ...]) -> dict[str, tuple[str, str]]:
    """The names of claims of generic ephemeral volumes, with pod and volume: rules put them together."""
    found: dict[str, tuple[str, str]] = {}
    for pod in (item for item in items if item["kind"] == "Pod"):
        name = metadata_of(pod).get("name")
        spec = pod.get("spec")
        volumes = spec.get("volumes") if isinstance(spec, dict) else None
        for volume in volumes if isinstance(volumes, list) else ():
            if isinstance(volume, dict) and volume.get("ephemeral") and isinstance(name, str) and isinstance(volume.get("name"), str):
                found[f"{name}-{volume['name']}"] = name, volume["name"]
    return found


def _numeric_keys(value: Any) -> frozenset[str]:
    """The labels that an expression with Gt or Lt names."""
    found: set[str] = set()
    stack = [value]
    while stack:
        top = stack.pop()
        if isinstance(top, dict):
            if top.get("operator") in ("Gt", "Lt") and isinstance(top.get("key"), str):
                found.add(top["key"])
            stack += top.values()
        elif isinstance(top, list | tuple):
            stack += top
    return frozenset(found)
