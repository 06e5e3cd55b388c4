"""Workloads as values, and which pods belong to which of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Annotated, Any

from attrs import Factory, define, frozen
from msgspec.structs import replace

from ...exceptions import ManifestError
from ..meaning import selects_some
from ..objects import (
    MAX_INT64,
    IntOrString,
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
from ..reading import Mismatch, ReadBy, decode_kind, describe, is_built_in, one_of, read, whole
from .defaults import with_defaults
from .disruption import Scales

# A pod belongs to a workload by owner reference, else by selector, as controllers adopt pods without a
# controller. A dump can lack the ReplicaSets between a Deployment and its pods. Pods whose ReplicaSet is
# missing count for the Deployment whose selector matches them, so that they are not made a second time.
# Upstream: pkg/controller/controller_ref_manager.go


def _count(value: Any) -> int:
    number = whole(value)
    if number < 0:
        raise Mismatch(value, "0 or more")
    return number


Count = Annotated[int, ReadBy(_count)]
_Place = tuple[str, str, str]
"""Namespace, kind and name."""
_Status = Annotated[str, ReadBy(one_of(OneOf("True", "False", "Unknown", optional=True)))]
_HASH_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_ENDS = frozenset(["Complete", "Failed", "SuccessCriteriaMet", "FailureTarget"])
"""Conditions of a Job that makes no more pods."""
JOB_CONTROLLER = "kubernetes.io/job-controller"
BACKOFF_LIMIT = 6
"""The default of ``backoffLimit``."""


class Ordinals(Part):
    start: Count = 0


class RollingUpdate(Part):
    partition: Count = 0
    max_surge: IntOrString = 0


class UpdateStrategy(Part):
    type: str = "RollingUpdate"
    rolling_update: RollingUpdate = RollingUpdate()


class WorkloadCondition(Part):
    type: str = ""
    status: _Status = ""


class PodFailurePolicyRule(Part):
    action: str = ""
    on_pod_conditions: tuple[WorkloadCondition, ...] = ()


class PodFailurePolicy(Part):
    rules: tuple[PodFailurePolicyRule, ...] = ()


class WorkloadSpec(Part):
    """The spec of a controller; templates stay in JSON form."""

    replicas: Count = 1
    selector: LabelSelector | None = None
    template: JsonObject | None = None
    volume_claim_templates: tuple[JsonObject, ...] = ()
    ordinals: Ordinals = Ordinals()
    pod_management_policy: str = "OrderedReady"
    update_strategy: UpdateStrategy = UpdateStrategy()
    parallelism: Count | None = None
    completions: Count | None = None
    completion_mode: str = ""
    backoff_limit: Count | None = None
    backoff_limit_per_index: Count | None = None
    active_deadline_seconds: Count | None = None
    managed_by: str = JOB_CONTROLLER
    pod_replacement_policy: str = ""
    pod_failure_policy: PodFailurePolicy | None = None
    paused: bool = False
    suspend: bool = False
    job_template: JsonObject | None = None


class WorkloadStatus(Part):
    succeeded: Count = 0
    failed: Count = 0
    start_time: str = ""
    completed_indexes: str = ""
    failed_indexes: str = ""
    current_revision: str = ""
    update_revision: str = ""
    conditions: tuple[WorkloadCondition, ...] = ()


_VERSIONS = {"ReplicationController": "v1", "Job": "batch/v1"}
"""Kind -> the version by which its controller names it, whatever that of its manifest; others: apps/v1."""


class Workload(Part):
    """A workload, as its controller reads it."""

    kind: str = ""
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
    def place(self) -> _Place:
        return self.namespace, self.kind, self.name

    @property
    def is_finished(self) -> bool:
        """Whether a Job has completed or failed, or will once its last pods are gone, or is another
        controller's."""
        return (
            self.spec.managed_by != JOB_CONTROLLER
            or self.retries < 0
            or any(item.type in _ENDS and item.status == "True" for item in self.status.conditions)
        )

    @property
    def retries(self) -> int:
        """The number of pods of a Job that may still fail until it ends. Upstream: SetDefaults_Job."""
        by_default = BACKOFF_LIMIT if self.spec.backoff_limit_per_index is None else MAX_INT64
        limit = self.spec.backoff_limit
        return (by_default if limit is None else limit) - self.status.failed

    @property
    def replaces_only_failed(self) -> bool:
        """Whether a Job replaces a pod only once it is gone. Upstream: SetDefaults_Job."""
        return self.spec.pod_replacement_policy == "Failed" or self.spec.pod_failure_policy is not None

    @property
    def effective_selector(self) -> LabelSelector | None:
        """The selector, by default the labels of the template; None for a Job without one, whose pods get
        labels of their own."""
        if self.selector is not None or self.kind in ("Job", "CronJob"):
            return self.selector
        metadata = (self.spec.template or {}).get("metadata")
        labels = metadata.get("labels") if isinstance(metadata, Mapping) else None
        where = f"{self.kind} {self.name}: spec.template"
        decoded = labels and decode_kind("Pod", {"metadata": {"labels": labels}}, where, strict=False)
        return LabelSelector(match_labels=decoded.labels) if decoded else None

    def wanted_pods(self, running: int) -> int:
        """The number of pods that its controller wants at a time; *running* is what it has."""
        spec = self.spec
        if self.kind != "Job":
            return spec.replicas
        if self.is_finished:
            return running
        if spec.suspend:
            return 0
        number = 1 if spec.parallelism is None else spec.parallelism
        if spec.completions is not None:
            number = min(number, spec.completions - self.status.succeeded)
        elif self.status.succeeded:
            number = running  # those that run empty the queue
        return number

    def as_owner(self) -> OwnerReference:
        """The owner reference that its controller puts into what it makes."""
        return OwnerReference(
            kind=self.kind,
            name=self.name,
            uid=self.metadata.uid or f"{self.namespace}/{self.name}",
            api_version=_VERSIONS.get(self.kind, "apps/v1"),
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
        pod = replace(decoded, metadata=metadata)
        return with_defaults(pod) if strict else pod

    def claim_templates(self, strict: bool = True) -> list[PersistentVolumeClaim]:
        """A StatefulSet's claims, with the names of the templates."""
        claims = []
        for i, claim in enumerate(self.spec.volume_claim_templates):
            decoded = decode_kind(
                "PersistentVolumeClaim",
                claim,
                f"{self.kind} {self.name}: spec.volumeClaimTemplates[{i}]",
                strict=strict,
            )
            if isinstance(decoded, PersistentVolumeClaim):
                claims.append(with_defaults(decoded) if strict else decoded)
        return claims

    def template_hash(self) -> str:
        """Ten letters and digits, the same for equal templates."""
        import hashlib

        text = json.dumps(self.spec.template, sort_keys=True, default=str)
        number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
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


@frozen(repr=False)
class LostReplicaSet:
    """A ReplicaSet that is not in the input, as its pods show it."""

    name: str
    pods: tuple[Pod, ...]
    hash: str
    """Its value of ``pod-template-hash``; empty if its pods have none."""
    uid: str
    """Its UID as its pods have it."""


@define(repr=False, slots=False)
class Ownership:
    """Control among *workloads*, their live pods, and *replica_sets*, the keys of those that are known in
    another form."""

    workloads: list[Workload]
    replica_sets: frozenset[str] = frozenset()
    _pods_by_owner: dict[_Place, list[Pod]] = Factory(dict)
    """Namespace, kind and name of the controller -> its pods."""
    _leaving: dict[_Place, list[Pod]] = Factory(dict)
    """The same for pods that are being deleted and have not finished."""
    _orphans: dict[str, dict[Map[str], list[Pod]]] = Factory(dict)
    """Namespace -> labels -> pods without a controller."""
    _workloads_by_owner: dict[_Place, list[Workload]] = Factory(dict)
    """Namespace, kind and name of the owner -> the workloads that it controls."""
    _by_key: dict[_Place, Workload] = Factory(dict)
    """Namespace, kind and name -> the workload."""

    def __attrs_post_init__(self) -> None:
        self.workloads = [self._adopted(workload) for workload in self.workloads]
        for workload in self.workloads:
            self._by_key[workload.place] = workload
            owner = workload.metadata.controller
            if owner is not None:
                self._workloads_by_owner.setdefault((workload.namespace, owner.kind, owner.name), []).append(
                    workload
                )

    def _adopted(self, replica_set: Workload) -> Workload:
        """*replica_set*, with the Deployment as its controller whose selector matches it, if it has none."""
        if replica_set.kind != "ReplicaSet" or replica_set.metadata.controller is not None:
            return replica_set
        metadata = replica_set.metadata
        owner = next(
            (
                workload
                for workload in self.workloads
                if workload.kind == "Deployment"
                and workload.namespace == replica_set.namespace
                and workload.metadata.deletion_timestamp is None
                and selects_some(workload.effective_selector, metadata.labels)
            ),
            None,
        )
        references = (*metadata.owner_references, *(() if owner is None else (owner.as_owner(),)))
        return replace(replica_set, metadata=replace(metadata, owner_references=references))

    def take_in(self, pods: Iterable[Pod]) -> None:
        """Remember *pods*, except those that have finished; those that are being deleted, apart."""
        for pod in pods:
            owner = pod.controller
            place = (pod.namespace, owner.kind, owner.name) if owner is not None else None
            if pod.is_terminating and not pod.is_terminal and place is not None:
                self._leaving.setdefault(place, []).append(pod)
            elif pod.is_terminating or pod.is_terminal:
                continue
            elif place is None:
                self._orphans.setdefault(pod.namespace, {}).setdefault(pod.labels, []).append(pod)
            else:
                self._pods_by_owner.setdefault(place, []).append(pod)

    def leaving_pods_of(self, workload: Workload) -> list[Pod]:
        """The pods of a workload that are being deleted and have not finished."""
        pods = self._leaving.get(workload.place, ())
        return [pod for pod in pods if workload.controls(pod.metadata)]

    def pods_of(self, workload: Workload) -> list[Pod]:
        """The live pods of a workload. Those that it adopts, which no other controls and its selector
        matches, are its own from then on."""
        pods = self._pods_by_owner.setdefault(workload.place, [])
        selector = workload.effective_selector
        groups = self._orphans.get(workload.namespace, {})
        for labels in [labels for labels in groups if groups[labels] and selects_some(selector, labels)]:
            pods += groups.pop(labels)
        return [pod for pod in pods if pod.controller is None or workload.controls(pod.metadata)]

    def workloads_of(self, owner: Workload, kind: str) -> list[Workload]:
        """The workloads of one kind that *owner* controls."""
        controlled = self._workloads_by_owner.get(owner.place, ())
        return [
            workload for workload in controlled if workload.kind == kind and owner.controls(workload.metadata)
        ]

    def owner_of(self, workload: Workload) -> Workload | None:
        """The workload that controls *workload*, if it is among them."""
        owner = workload.metadata.controller
        parent = self._by_key.get((workload.namespace, owner.kind, owner.name)) if owner is not None else None
        return parent if parent is not None and parent.controls(workload.metadata) else None

    def has_pods_of_jobs(self, cron_job: Workload) -> bool:
        """Whether pods of a Job that is not in the input show that *cron_job* runs: Jobs are named after
        their CronJob."""
        places = ((namespace, kind, name.rpartition("-")[0]) for namespace, kind, name in self._pods_by_owner)
        return (cron_job.namespace, "Job", cron_job.name) in places

    # --- missing ReplicaSets --------------------------------------------------------------------------------

    def lost_replica_sets(self, deployment: Workload) -> list[LostReplicaSet]:
        """The ReplicaSets of *deployment* that its pods show and the input lacks, the newest last."""

        def youth(lost: LostReplicaSet) -> tuple[str, int, str]:
            # When its last pod was created, then how many it has.
            return max(pod.metadata.creation_timestamp or "" for pod in lost.pods), len(lost.pods), lost.name

        return sorted(self._lost_by_deployment.get((deployment.namespace, deployment.name), ()), key=youth)

    @cached_property
    def _lost_by_deployment(self) -> dict[tuple[str, str], list[LostReplicaSet]]:
        """Namespace and name of a Deployment -> its missing ReplicaSets, as their pods show them."""
        lost_by_deployment: dict[tuple[str, str], list[LostReplicaSet]] = {}
        deployments: dict[str, dict[str, Workload]] = {}
        for workload in self.workloads:
            if workload.kind == "Deployment":
                deployments.setdefault(workload.namespace, {})[workload.name] = workload

        def add(namespace: str, name: str, pods: list[Pod], owner: Workload | None) -> None:
            if owner is not None and (namespace, "ReplicaSet", name) not in self._by_key:
                controller = pods[0].controller
                lost = LostReplicaSet(
                    name,
                    tuple(pods),
                    pods[0].labels.get(HASH_LABEL, ""),
                    controller.uid if controller is not None else "",
                )
                lost_by_deployment.setdefault((namespace, owner.name), []).append(lost)

        for (namespace, kind, name), pods in self._pods_by_owner.items():
            if kind == "ReplicaSet" and namespace in deployments and pods:
                add(namespace, name, pods, _owner_of(pods[0], name, deployments[namespace]))
        for namespace in deployments.keys() & self._orphans.keys():
            for labels, pods in self._orphans[namespace].items():
                owner = _owner_of(pods[0], "", deployments[namespace]) if labels.get(HASH_LABEL) else None
                if owner is not None:
                    add(namespace, f"{owner.name}-{labels[HASH_LABEL]}", pods, owner)
        return lost_by_deployment


def scales_of(workloads: Iterable[JsonObject]) -> Scales:
    """The replicas of *workloads*, manifests in JSON form; those of a Deployment count for its
    ReplicaSets."""
    owners = Ownership([read_workload(document) for document in workloads])
    scales = {}
    for workload in owners.workloads:
        if workload.kind in ("ReplicaSet", "ReplicationController", "StatefulSet"):
            counted = owners.owner_of(workload) or workload
            scales[workload.place] = (counted.place, counted.spec.replicas)
    return scales


def _owner_of(pod: Pod, replica_set: str, deployments: Mapping[str, Workload]) -> Workload | None:
    """The Deployment whose selector matches *pod*; of several the one that *replica_set* is named after, else
    the first."""
    candidates = (deployments.get(replica_set.rpartition("-")[0]), *deployments.values())
    return next(
        (owner for owner in candidates if owner and selects_some(owner.effective_selector, pod.labels)), None
    )
