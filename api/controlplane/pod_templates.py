"""Workload manifests as values: how many pods, their template, their owner."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias

import attrs
from msgspec.structs import replace

from ...exceptions import ManifestError
from ..objects import KubeObject, LabelSelector, Map, ObjectMeta, OwnerReference, Pod, Requirement
from ..reading.decode import decode_kind, describe
from ..reading.derive import UNREAD, Field, Form
from ..reading.fields import Mismatch, one_of, texts, whole
from ..reading.schema import schema
from ..reading.shapes import Shape
from .defaults import with_defaults

COUNTS = range(2**31)
Count: TypeAlias = Annotated[int, COUNTS]

_NAMELESS = ObjectMeta()
_HASH_LETTERS = "bcdfghjklmnpqrstvwxz2456789"


@attrs.frozen(kw_only=True, repr=False)
class Workload:
    """What a controller reads from its object; *template*, *claims* and *job* stay in JSON form."""

    kind: str = ""
    api_version: str = ""
    metadata: ObjectMeta = _NAMELESS
    replicas: Count = 1
    selector: LabelSelector | None = None
    template: Mapping[str, Any] | None = None
    claims: tuple[Mapping[str, Any], ...] = ()
    first_ordinal: Count = 0
    parallelism: Count | None = None
    completions: Count | None = None
    suspend: bool = False
    job: Mapping[str, Any] | None = None
    succeeded: Count = 0
    conditions: tuple[Requirement, ...] = ()

    @property
    def name(self) -> str:
        return self.metadata.name

    @property
    def namespace(self) -> str:
        return self.metadata.namespace or "default"

    @property
    def is_finished(self) -> bool:
        """Whether a Job has completed or failed."""
        return any(condition.key in ("Complete", "Failed") and condition.operator == "True" for condition in self.conditions)

    @property
    def effective_selector(self) -> LabelSelector | None:
        """The selector, by default the labels of the template; None for a Job without one, whose pods get labels of their own."""
        if self.selector is not None or self.kind in ("Job", "CronJob"):
            return self.selector
        metadata = self.template.get("metadata") if isinstance(self.template, Mapping) else None
        labels = metadata.get("labels") if isinstance(metadata, Mapping) else None
        return LabelSelector(match_labels=Map(labels)) if isinstance(labels, Mapping) else None

    def as_owner(self) -> OwnerReference:
        """The owner reference that its controller puts into what it makes."""
        uid = self.metadata.uid or f"{self.namespace}/{self.name}"
        return OwnerReference(kind=self.kind, name=self.name, uid=uid, api_version=self.api_version, controller=True)

    def controls(self, metadata: ObjectMeta) -> bool:
        """Whether an object with this *metadata* belongs to the workload: by UID if both are known, else by kind and name."""
        owner = metadata.controller
        if owner is None or (metadata.namespace or "default") != self.namespace or owner.kind != self.kind:
            return False
        if owner.uid and self.metadata.uid:
            return owner.uid == self.metadata.uid
        return owner.name == self.name

    def pod(self, strict: bool = True) -> Pod:
        """The pod of the template: in the workload's namespace, owned by it, without a name."""
        decoded = self._decoded("Pod", self.template, "spec.template", strict)
        if not isinstance(decoded, Pod):
            raise ManifestError(f"{self.kind} {self.name}: spec.template: got nothing, wanted a pod template")
        metadata = replace(decoded.metadata, namespace=self.metadata.namespace, owner_references=(self.as_owner(),))
        return with_defaults(replace(decoded, metadata=metadata))

    def claim_templates(self, strict: bool = True) -> list[KubeObject]:
        """A StatefulSet's claims, with the names of the templates."""
        where = "spec.volumeClaimTemplates"
        found = [self._decoded("PersistentVolumeClaim", claim, f"{where}[{i}]", strict) for i, claim in enumerate(self.claims)]
        return [with_defaults(claim) for claim in found if claim is not None]

    def _decoded(self, kind: str, document: Mapping[str, Any] | None, path: str, strict: bool) -> KubeObject | None:
        if document is None:
            return None
        return decode_kind(kind, document, f"{self.kind} {self.name}: {path}", strict=strict)

    def template_hash(self) -> str:
        """Ten letters and digits, the same for equal templates."""
        written = json.dumps(self.template, sort_keys=True, default=str)
        import hashlib

        number = int.from_bytes(hashlib.sha256(written.encode()).digest()[:8], "big")
        return "".join(_HASH_LETTERS[number // 27**place % 27] for place in range(10))


# --- reading --------------------------------------------------------------------------------------------------------


def read_workload(document: Mapping[str, Any]) -> Workload:
    """The workload in a manifest. Raises :class:`~kubeclassic.exceptions.ManifestError`."""
    kind = str(document.get("kind", ""))
    forms = _WITH_PAIRS if kind == "ReplicationController" else SCHEMA
    try:
        return attrs.evolve(forms.reader(Workload)(document), kind=kind)
    except Mismatch as mismatch:
        raise ManifestError(f"{describe(document)}: {mismatch}") from None


def _count(value: Any) -> int:
    number = whole(value)
    if number < 0:
        raise Mismatch(value, "0 or more")
    return number


_IN_SPEC, _IN_STATUS = Field(inside="spec"), Field(inside="status")
_CONDITION = {"key": Field("type"), "operator": Field("status", read=one_of("True", "False", "Unknown")), "values": UNREAD}
SCHEMA = schema(strict=False).extended(
    {
        Workload: {
            "kind": UNREAD,
            **dict.fromkeys(("replicas", "selector", "template", "parallelism", "completions", "suspend"), _IN_SPEC),
            "claims": Field("volumeClaimTemplates", inside="spec"),
            "job": Field("jobTemplate", inside="spec"),
            "first_ordinal": Field("start", inside="spec.ordinals"),
            "succeeded": _IN_STATUS,
            "conditions": Field(inside="status", fields=_CONDITION),
        }
    },
    leaves={Count: Form(_count, Shape(limits=COUNTS))},
)
_WITH_PAIRS = SCHEMA.extended({Workload: {"selector": Field(inside="spec", read=lambda value: LabelSelector(match_labels=texts(value)))}})
"""For a ReplicationController, whose selector is a map."""
