"""Workload manifests as values, and which pods belong to which of them.

A pod belongs to a workload by owner reference, else by selector, as controllers adopt pods without a
controller. A dump can lack the ReplicaSets between a Deployment and its pods. Pods whose ReplicaSet is
missing count for the Deployment whose selector matches them, so that they are not made a second time.
Upstream: pkg/controller/controller_ref_manager.go
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Annotated, Any, TypeAlias

import attrs
from msgspec.structs import replace

from ...exceptions import ManifestError
from ..meaning.labels import SelectorError, selector_matches
from ..objects import (
    JsonObject,
    LabelSelector,
    Map,
    ObjectMeta,
    OneOf,
    OwnerReference,
    Part,
    PersistentVolumeClaim,
    Pod,
)
from ..reading.decode import decode_kind, describe
from ..reading.mismatch import Mismatch
from ..reading.typed import ReadBy, one_of, read, whole
from ..reading.unknownfields import is_built_in
from .defaults import with_defaults


def _count(value: Any) -> int:
    number = whole(value)
    if number < 0:
        raise Mismatch(value, "0 or more")
    return number


Count: TypeAlias = Annotated[int, ReadBy(_count)]
_Status: TypeAlias = Annotated[str, ReadBy(one_of(OneOf("True", "False", "Unknown", optional=True)))]
_HASH_LETTERS = "bcdfghjklmnpqrstvwxz2456789"


class Ordinals(Part):
    start: Count = 0


class WorkloadSpec(Part):
    """The spec of a controller; templates stay in JSON form."""

    replicas: Count = 1
    selector: LabelSelector | None = None
    template: JsonObject | None = None
    volume_claim_templates: tuple[JsonObject, ...] = ()
    ordinals: Ordinals = Ordinals()
    parallelism: Count | None = None
    completions: Count | None = None
    suspend: bool = False
    job_template: JsonObject | None = None


class WorkloadCondition(Part):
    type: str = ""
    status: _Status = ""


class WorkloadStatus(Part):
    succeeded: Count = 0
    conditions: tuple[WorkloadCondition, ...] = ()


class Workload(Part):
    """A workload, as its controller reads it."""

    kind: str = ""
    api_version: str = ""
    metadata: ObjectMeta = ObjectMeta()
    spec: WorkloadSpec = WorkloadSpec()
    status: WorkloadStatus = WorkloadStatus()

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
        return any(
            one.type in ("Complete", "Failed") and one.status == "True" for one in self.status.conditions
        )

    @property
    def effective_selector(self) -> LabelSelector | None:
        """The selector, by default the labels of the template; None for a Job without one, whose pods get
        labels of their own."""
        if self.selector is not None or self.kind in ("Job", "CronJob"):
            return self.selector
        metadata = (self.spec.template or {}).get("metadata")
        labels = metadata.get("labels") if isinstance(metadata, Mapping) else None
        return LabelSelector(match_labels=Map(labels)) if isinstance(labels, Mapping) else None

    def as_owner(self) -> OwnerReference:
        """The owner reference that its controller puts into what it makes."""
        return OwnerReference(
            kind=self.kind,
            name=self.name,
            uid=self.metadata.uid or f"{self.namespace}/{self.name}",
            api_version=self.api_version,
            controller=True,
        )

    def controls(self, metadata: ObjectMeta) -> bool:
        """Whether an object with this *metadata* belongs to the workload: by UID if both are known, else by
        kind and name."""
        owner = metadata.controller
        if owner is None or (metadata.namespace or "default") != self.namespace or owner.kind != self.kind:
            return False
        by_uid = owner.uid and self.metadata.uid
        is_same = owner.uid == self.metadata.uid if by_uid else owner.name == self.name
        return is_same and is_built_in(owner.kind, owner.api_version)

    def pod(self, strict: bool = True) -> Pod:
        """The pod of the template: in the workload's namespace, owned by it, without a name."""
        where = f"{self.kind} {self.name}: spec.template"
        template = self.spec.template
        decoded = None if template is None else decode_kind("Pod", template, where, strict=strict)
        if not isinstance(decoded, Pod):
            raise ManifestError(f"{where}: expected a pod template, got nothing")
        metadata = replace(
            decoded.metadata, namespace=self.metadata.namespace, owner_references=(self.as_owner(),)
        )
        return with_defaults(replace(decoded, metadata=metadata))

    def claim_templates(self, strict: bool = True) -> list[PersistentVolumeClaim]:
        """A StatefulSet's claims, with the names of the templates."""
        found = []
        for i, claim in enumerate(self.spec.volume_claim_templates):
            decoded = decode_kind(
                "PersistentVolumeClaim",
                claim,
                f"{self.kind} {self.name}: spec.volumeClaimTemplates[{i}]",
                strict=strict,
            )
            if isinstance(decoded, PersistentVolumeClaim):
                found.append(with_defaults(decoded))
        return found

    def template_hash(self) -> str:
        """Ten letters and digits, the same for equal templates."""
        import hashlib

        written = json.dumps(self.spec.template, sort_keys=True, default=str)
        number = int.from_bytes(hashlib.sha256(written.encode()).digest()[:8], "big")
        return "".join(_HASH_LETTERS[number // 27**place % 27] for place in range(10))


def read_workload(document: JsonObject) -> Workload:
    """The workload in a manifest. Raises :class:`~kubeclassic.exceptions.ManifestError`."""
    kind = str(document.get("kind", ""))
    spec = document.get("spec")
    if kind == "ReplicationController" and isinstance(spec, dict) and isinstance(spec.get("selector"), dict):
        document = {**document, "spec": {**spec, "selector": {"matchLabels": spec["selector"]}}}
    try:
        return read(Workload, {**document, "kind": kind})
    except Mismatch as mismatch:
        raise ManifestError(f"{describe(document)}: {mismatch}") from None


# --- whose a pod is -----------------------------------------------------------------------------------------

HASH_LABEL = "pod-template-hash"
_Place: TypeAlias = tuple[str, str, str]
"""Namespace, kind and name."""


@attrs.frozen(repr=False)
class LostReplicaSet:
    """A ReplicaSet that is not in the input, as its pods show it."""

    name: str
    pods: tuple[Pod, ...]
    hash: str
    """Its value of ``pod-template-hash``; empty if its pods have none."""
    uid: str
    """Its UID as its pods have it."""


@attrs.define(repr=False, slots=False)
class Ownership:
    """Control among *workloads*, their live pods, and *replica_sets*, the keys of those that are known in
    another form."""

    workloads: list[Workload]
    replica_sets: frozenset[str] = frozenset()
    _by_owner: dict[_Place, list[Pod]] = attrs.Factory(dict)
    """Namespace, kind and name of the controller -> its pods."""
    _orphans: dict[str, dict[Map[str], list[Pod]]] = attrs.Factory(dict)
    """Namespace -> labels -> pods without a controller."""
    _made_by: dict[_Place, list[Workload]] = attrs.Factory(dict)
    """Namespace, kind and name of the owner -> the workloads that it controls."""
    _named: dict[_Place, Workload] = attrs.Factory(dict)
    """Namespace, kind and name -> the workload."""

    def __attrs_post_init__(self) -> None:
        for workload in self.workloads:
            self._named[workload.namespace, workload.kind, workload.name] = workload
            owner = workload.metadata.controller
            if owner is not None:
                self._made_by.setdefault((workload.namespace, owner.kind, owner.name), []).append(workload)

    def take_in(self, pods: Iterable[Pod]) -> None:
        """Remember *pods*, except those that have finished or are being deleted."""
        for pod in pods:
            if pod.is_terminal or pod.is_terminating:
                continue
            owner = pod.metadata.controller
            if owner is None:
                self._orphans.setdefault(pod.namespace, {}).setdefault(pod.labels, []).append(pod)
            else:
                self._by_owner.setdefault((pod.namespace, owner.kind, owner.name), []).append(pod)

    def pods_of(self, workload: Workload) -> list[Pod]:
        """The live pods of a workload. Those that it adopts, which no other controls and its selector
        matches, are its own from then on."""
        named = self._by_owner.setdefault((workload.namespace, workload.kind, workload.name), [])
        selector = workload.effective_selector
        groups = self._orphans.get(workload.namespace, {})
        for labels in [labels for labels in groups if groups[labels] and matches(selector, labels)]:
            named += groups.pop(labels)
        return [pod for pod in named if pod.metadata.controller is None or workload.controls(pod.metadata)]

    def workloads_of(self, owner: Workload, kind: str) -> list[Workload]:
        """The workloads of one kind that *owner* controls."""
        named = self._made_by.get((owner.namespace, owner.kind, owner.name), ())
        return [workload for workload in named if workload.kind == kind and owner.controls(workload.metadata)]

    def owner_of(self, workload: Workload) -> Workload | None:
        """The workload that controls *workload*, if it is among them."""
        owner = workload.metadata.controller
        found = self._named.get((workload.namespace, owner.kind, owner.name)) if owner is not None else None
        return found if found is not None and found.controls(workload.metadata) else None

    def has_pods_of_jobs(self, cron_job: Workload) -> bool:
        """Whether pods of a Job that is not in the input show that *cron_job* runs: Jobs are named after
        their CronJob."""
        places = ((namespace, kind, name.rpartition("-")[0]) for namespace, kind, name in self._by_owner)
        return (cron_job.namespace, "Job", cron_job.name) in places

    # --- missing ReplicaSets --------------------------------------------------------------------------------

    def lost_replica_sets(self, deployment: Workload) -> list[LostReplicaSet]:
        """The ReplicaSets of *deployment* that its pods show and the input lacks, the newest last."""

        def youth(lost: LostReplicaSet) -> tuple[str, int, str]:
            # When its last pod was created, then how many it has.
            return max(pod.metadata.creation_timestamp or "" for pod in lost.pods), len(lost.pods), lost.name

        return sorted(self._lost.get((deployment.namespace, deployment.name), ()), key=youth)

    @cached_property
    def _lost(self) -> dict[tuple[str, str], list[LostReplicaSet]]:
        """Namespace and name of a Deployment -> what it has of ReplicaSets that are missing."""
        found: dict[tuple[str, str], list[LostReplicaSet]] = {}
        deployments: dict[str, dict[str, Workload]] = {}
        for workload in self.workloads:
            if workload.kind == "Deployment":
                deployments.setdefault(workload.namespace, {})[workload.name] = workload

        def add(namespace: str, name: str, pods: list[Pod], owner: Workload | None) -> None:
            if owner is not None and (namespace, "ReplicaSet", name) not in self._named:
                controller = pods[0].metadata.controller
                lost = LostReplicaSet(
                    name,
                    tuple(pods),
                    pods[0].labels.get(HASH_LABEL, ""),
                    controller.uid if controller is not None else "",
                )
                found.setdefault((namespace, owner.name), []).append(lost)

        for (namespace, kind, name), pods in self._by_owner.items():
            if kind == "ReplicaSet" and namespace in deployments and pods:
                add(namespace, name, pods, _owner_of(pods[0], name, deployments[namespace]))
        for namespace in deployments.keys() & self._orphans.keys():
            for labels, pods in self._orphans[namespace].items():
                owner = _owner_of(pods[0], "", deployments[namespace]) if labels.get(HASH_LABEL) else None
                if owner is not None:
                    add(namespace, f"{owner.name}-{labels[HASH_LABEL]}", pods, owner)
        return found


def _owner_of(pod: Pod, replica_set: str, deployments: Mapping[str, Workload]) -> Workload | None:
    """The Deployment whose selector matches *pod*; of several the one that *replica_set* is named after, else
    the first."""
    candidates = (deployments.get(replica_set.rpartition("-")[0]), *deployments.values())
    return next(
        (found for found in candidates if found and matches(found.effective_selector, pod.labels)), None
    )


def matches(selector: LabelSelector | None, labels: Mapping[str, str]) -> bool:
    """Whether *selector* is one that says something and matches; an invalid one matches nothing."""
    if selector is None or selector.is_empty:
        return False
    try:
        return selector_matches(selector, labels)
    except SelectorError:
        return False
