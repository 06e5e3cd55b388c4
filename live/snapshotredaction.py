"""Renames everything in a snapshot that shows whose cluster it is, so that decisions stay the same but for the names.

A new name is ``r``, the rank of the old name among all of them, ``x``, and a salted hash. Because of the rank new names sort as the old
ones do: some rules and lists go by name.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping
from typing import Any

import attrs

from .client.replies import Manifest, metadata_of
from .snapshotshapes import SHAPES

PUBLIC_NAMESPACES = frozenset({"", "default", "kube-system", "kube-public", "kube-node-lease"})
PUBLIC_NAMES = frozenset({"", "0.0.0.0", "127.0.0.1", "::", "system-cluster-critical", "system-node-critical", "default-scheduler"})
PUBLIC_VALUES = frozenset({"", "true", "false"})
PUBLIC_PARTS = frozenset({"", "aws:", "gce:", "azure:", "openstack:", "projects", "UNSPECIFIED", "zones", "regions", "disks"})
_SYSTEMS, _MACHINES = r"linux|windows", r"amd64|arm64|arm|386|ppc64le|s390x|riscv64"
_INSTANCES = r"[a-z0-9-]+\.(nano|micro|small|medium|metal|\d*x?large)"
_NUMBERS = r"[-+]?\d{1,19}"
PUBLIC_FORMS: Mapping[str, re.Pattern[str]] = {
    f"{prefix}{name}": re.compile(form)
    for name, form in (("os", _SYSTEMS), ("arch", _MACHINES), ("instance-type", _INSTANCES))
    for prefix in ("kubernetes.io/", "beta.kubernetes.io/", "node.kubernetes.io/")
}
"""Labels with values that rules look up, or that tell nothing -> the values that stay: systems, machines, types of a public cloud."""
PLACES = ("/zone", "/region")
"""The ends of labels with zones or regions: releases read the parts of their values."""
_WORDS = re.compile(r"([^-_/]+)")
_DIGITS = 8


class Names:
    """The old names as they are found, before they are ranked: the first of two passes."""

    def __init__(self, public_forms: Mapping[str, re.Pattern[str]] = PUBLIC_FORMS) -> None:
        self.public_forms = public_forms
        self.names: set[str] = set()
        self.namespaces: set[str] = set()

    def name(self, text: str) -> str:
        """Note a name."""
        return text if text in PUBLIC_NAMES else self._name(text)

    def namespace(self, text: str) -> str:
        """Note a namespace."""
        return text if text in PUBLIC_NAMESPACES else self._namespace(text)

    def value(self, key: str, text: str) -> str:
        """Note the value of a label."""
        form = self.public_forms.get(key)
        if text in PUBLIC_VALUES or (form is not None and form.fullmatch(text)):
            return text
        if key == "kubernetes.io/metadata.name":
            return self.namespace(text)
        return self.parts(text) if key.endswith(PLACES) else self._name(text)

    def image(self, text: str) -> str:
        """Note an image. The tag ``latest`` stays, as no tag means the same."""
        base, colon, tag = text.rpartition(":")
        if not colon or "/" in tag:
            return self._name(text)
        return f"{self._name(base)}:{tag if tag == 'latest' else self._name(tag)}"

    def parts(self, text: str) -> str:
        """Note each part of a text between dashes, underscores and slashes."""
        return _WORDS.sub(lambda word: word[0] if word[0] in PUBLIC_PARTS else self._name(word[0]), text)

    def _name(self, text: str) -> str:
        self.names.add(text)
        return text

    def _namespace(self, text: str) -> str:
        self.namespaces.add(text)
        return text


class Renamed(Names):
    """New names for *found* ones: the second pass. *claims* are those of generic ephemeral volumes, with their pod and volume."""

    def __init__(self, found: Names, salt: bytes, claims: Mapping[str, tuple[str, str]]) -> None:
        super().__init__(found.public_forms)
        self.salt = salt
        # Keys are sorted as ``namespace/name``, so a namespace has its slash when it is ranked.
        self.new_namespaces: dict[str, str] = self._ranked(sorted(found.namespaces, key=lambda text: f"{text}/"))
        self.new_names: dict[str, str] = self._ranked(sorted(found.names))
        for claim, (pod, volume) in claims.items():
            self.new_names[claim] = f"{self.name(pod)}-{self.name(volume)}"

    def _ranked(self, texts: list[str]) -> dict[str, str]:
        return {text: f"r{rank:06d}x{self._digest(text)}" for rank, text in enumerate(texts)}

    def _digest(self, text: str) -> str:
        return hmac.new(self.salt, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:_DIGITS]

    def _name(self, text: str) -> str:
        return self.new_names[text]

    def _namespace(self, text: str) -> str:
        return self.new_namespaces[text]


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
    to = Renamed(found, salt, _claims_of_pods(items))
    return Redaction(tuple(_redacted(item, to) for item in items), salt.hex(), to.new_names, to.new_namespaces)


def _redacted(item: Manifest, to: Names) -> Manifest:
    redacted: Manifest = SHAPES[item["kind"]](to, item)
    if item["kind"] == "CSIDriver":  # A driver is known by its name, which the storage classes keep, too.
        redacted["metadata"] = {**(redacted.get("metadata") or {}), "name": str(metadata_of(item).get("name") or "")}
    if item["kind"] in ("ReplicaSet", "ReplicationController", "StatefulSet"):
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
