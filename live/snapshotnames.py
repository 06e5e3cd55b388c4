"""The names in a snapshot: as they are found, and the new ones that take their places."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Mapping

PUBLIC_NAMESPACES = frozenset({"", "default", "kube-system", "kube-public", "kube-node-lease"})
PUBLIC_NAMES = frozenset({"", "0.0.0.0", "127.0.0.1", "::", "system-cluster-critical", "system-node-critical", "default-scheduler"})
PUBLIC_VALUES = frozenset({"", "true", "false"})
PUBLIC_PARTS = frozenset({"", "aws:", "gce:", "azure:", "openstack:", "projects", "UNSPECIFIED", "zones", "regions", "disks"})
_SYSTEMS, _MACHINES = r"linux|windows", r"amd64|arm64|arm|386|ppc64le|s390x|riscv64"
_INSTANCES = r"[a-z0-9-]+\.(nano|micro|small|medium|metal|\d*x?large)"
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
    """New names for old ones. Until :meth:`rank` has been called names are only noted, and stay as they are."""

    def __init__(self, public_forms: Mapping[str, re.Pattern[str]] = PUBLIC_FORMS) -> None:
        self.public_forms = public_forms
        self.names: dict[str, str] = {}
        self.namespaces: dict[str, str] = {}
        self._is_ranked = False

    def name(self, text: str) -> str:
        """The name of an object or anything else that is only compared."""
        return text if text in PUBLIC_NAMES else self._new(self.names, text)

    def namespace(self, text: str) -> str:
        """The name of a namespace."""
        return text if text in PUBLIC_NAMESPACES else self._new(self.namespaces, text)

    def value(self, key: str, text: str) -> str:
        """The value of the label or taint *key*."""
        form = self.public_forms.get(key)
        if text in PUBLIC_VALUES or (form is not None and form.fullmatch(text)):
            return text
        if key == "kubernetes.io/metadata.name":
            return self.namespace(text)
        return self.parts(text) if key.endswith(PLACES) else self._new(self.names, text)

    def image(self, text: str) -> str:
        """The name of an image. The tag ``latest`` stays, as no tag means the same."""
        base, colon, tag = text.rpartition(":")
        if not colon or "/" in tag:
            return self._new(self.names, text)
        return f"{self._new(self.names, base)}:{tag if tag == 'latest' else self._new(self.names, tag)}"

    def parts(self, text: str) -> str:
        """The name of a disk or zone, whose parts between dashes, underscores and slashes have a meaning."""
        return _WORDS.sub(lambda word: word[0] if word[0] in PUBLIC_PARTS else self._new(self.names, word[0]), text)

    def _new(self, known: dict[str, str], text: str) -> str:
        return known[text] if self._is_ranked else known.setdefault(text, text)

    def rank(self, salt: bytes, claims: Mapping[str, tuple[str, str]]) -> None:
        """Give all that was noted new names. *claims* are those of generic ephemeral volumes, with their pod and volume."""
        self._is_ranked = True
        # Keys are sorted as ``namespace/name``, so a namespace has its slash when it is ranked.
        self.namespaces = _ranked(sorted(self.namespaces, key=lambda text: f"{text}/"), salt)
        self.names = _ranked(sorted(self.names), salt)
        for claim, (pod, volume) in claims.items():
            self.names[claim] = f"{self.name(pod)}-{self.name(volume)}"


def _ranked(texts: Iterable[str], salt: bytes) -> dict[str, str]:
    digests = ((text, hmac.new(salt, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()) for text in texts)
    return {text: f"r{rank:06d}x{digest[:_DIGITS]}" for rank, (text, digest) in enumerate(digests)}
