"""Workload manifests as values: how many pods, their template, their owner."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias

from msgspec.structs import replace

from ...exceptions import ManifestError
from ..objects import KubeObject, LabelSelector, Map, ObjectMeta, OwnerReference, Pod
from ..objects.metadata import OneOf, Part
from ..reading.builtin import is_built_in
from ..reading.decode import decode_kind, describe
from ..reading.mismatch import Mismatch
from ..reading.typed import ReadBy, one_of, read, whole
from .defaults import with_defaults


def _count(value: Any) -> int:
    number = whole(value)
    if number < 0:
        raise Mismatch(value, "0 or more")
    return number


Count: TypeAlias = Annotated[int, ReadBy(_count)]
_Status: TypeAlias = Annotated[str, ReadBy(one_of(OneOf("True", "False", "Unknown", optional=True)))]
_HASH_LETTERS = "bcdfghjklmnpqrstvwxz2456789"


class Ordinals(Part, frozen=True, kw_only=True):
    start: Count = 0


class WorkloadSpec(Part, frozen=True, kw_only=True):
    """What a controller is asked for; templates stay in JSON form."""

    replicas: Count = 1
    selector: LabelSelector | None = None
    template: Mapping[str, Any] | None = None
    volume_claim_templates: tuple[Mapping[str, Any], ...] = ()
    ordinals: Ordinals = Ordinals()
    parallelism: Count | None = None
    completions: Count | None = None
    suspend: bool = False
    job_template: Mapping[str, Any] | None = None


class WorkloadCondition(Part, frozen=True, kw_only=True):
    type: str = ""
    status: _Status = ""


class WorkloadStatus(Part, frozen=True, kw_only=True):
    succeeded: Count = 0
    conditions: tuple[WorkloadCondition, ...] = ()


class Workload(Part, frozen=True, kw_only=True):
    """What a controller reads from its object."""

    kind: str = ""
    api_version: str = ""
    metadata: ObjectMeta = ObjectMeta()
    spec: WorkloadSpec = WorkloadSpec()
    status: WorkloadStatus = WorkloadStatus()

    @property
    def replicas(self) -> int:
        return self.spec.replicas

    @property
    def selector(self) -> LabelSelector | None:
        return self.spec.selector

    @property
    def name(self) -> str:
        return self.metadata.name

    @property
    def namespace(self) -> str:
        return self.metadata.namespace or "default"

    @property
    def is_finished(self) -> bool:
        """Whether a Job has completed or failed."""
        return any(one.type in ("Complete", "Failed") and one.status == "True" for one in self.status.conditions)

    @property
    def effective_selector(self) -> LabelSelector | None:
        """The selector, by default the labels of the template; None for a Job without one, whose pods get labels of their own."""
        if self.selector is not None or self.kind in ("Job", "CronJob"):
            return self.selector
        metadata = (self.spec.template or {}).get("metadata")
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
        if not is_built_in(owner.kind, owner.api_version):
            return False
        if owner.uid and self.metadata.uid:
            return owner.uid == self.metadata.uid
        return owner.name == self.name

    def pod(self, strict: bool = True) -> Pod:
        """The pod of the template: in the workload's namespace, owned by it, without a name."""
        decoded = self._decoded("Pod", self.spec.template, "spec.template", strict)
        if not isinstance(decoded, Pod):
            raise ManifestError(f"{self.kind} {self.name}: spec.template: expected a pod template, got nothing")
        metadata = replace(decoded.metadata, namespace=self.metadata.namespace, owner_references=(self.as_owner(),))
        return with_defaults(replace(decoded, metadata=metadata))

    def claim_templates(self, strict: bool = True) -> list[KubeObject]:
        """A StatefulSet's claims, with the names of the templates."""
        where, claims = "spec.volumeClaimTemplates", self.spec.volume_claim_templates
        found = [self._decoded("PersistentVolumeClaim", claim, f"{where}[{i}]", strict) for i, claim in enumerate(claims)]
        return [with_defaults(claim) for claim in found if claim is not None]

    def _decoded(self, kind: str, document: Mapping[str, Any] | None, path: str, strict: bool) -> KubeObject | None:
        if document is None:
            return None
        return decode_kind(kind, document, f"{self.kind} {self.name}: {path}", strict=strict)

    def template_hash(self) -> str:
        """Ten letters and digits, the same for equal templates."""
        written = json.dumps(self.spec.template, sort_keys=True, default=str)
        import hashlib

        number = int.from_bytes(hashlib.sha256(written.encode()).digest()[:8], "big")
        return "".join(_HASH_LETTERS[number // 27**place % 27] for place in range(10))


# --- reading --------------------------------------------------------------------------------------------------------


def read_workload(document: Mapping[str, Any]) -> Workload:
    """The workload in a manifest. Raises :class:`~kubeclassic.exceptions.ManifestError`."""
    kind, spec = str(document.get("kind", "")), document.get("spec")
    if kind == "ReplicationController" and isinstance(spec, dict) and isinstance(spec.get("selector"), dict):
        document = {**document, "spec": {**spec, "selector": {"matchLabels": spec["selector"]}}}
    try:
        return read(Workload, {**document, "kind": kind})
    except Mismatch as mismatch:
        raise ManifestError(f"{describe(document)}: {mismatch}") from None
