"""Workloads (Deployment, ReplicaSet, StatefulSet, DaemonSet, Job, CronJob, ReplicationController) and their
pods.

Makes what a workload's controller would still make. Names are counted up instead of random.
Upstream: pkg/controller/{deployment,replicaset,statefulset,daemon,job,cronjob}
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import count
from typing import Annotated, Any

from attrs import Factory, define, frozen
from msgspec.structs import replace

from ...exceptions import ManifestError
from ..meaning import Labels, selects_some
from ..objects import (
    Affinity,
    ControllerSpec,
    JsonObject,
    KubeObject,
    LabelSelector,
    Map,
    Node,
    NodeAffinity,
    NodeSelector,
    NodeSelectorTerm,
    ObjectMeta,
    OneOf,
    OwnerReference,
    Part,
    PersistentVolumeClaim,
    Pod,
    ReplicaSet,
    Requirement,
    claim_volume,
)
from ..reading import Mismatch, Notice, ReadBy, decode_kind, describe, is_built_in, one_of, read, whole
from .daemons import daemon_tolerations, runs_on, target_node
from .defaults import with_defaults

# --- Workloads as values, and which pods belong to which of them --------------------------------------------
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
_Status = Annotated[str, ReadBy(one_of(OneOf("True", "False", "Unknown", optional=True)))]
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
    paused: bool = False
    suspend: bool = False
    job_template: JsonObject | None = None


class WorkloadCondition(Part):
    type: str = ""
    status: _Status = ""


class WorkloadStatus(Part):
    succeeded: Count = 0
    update_revision: str = ""
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
            condition.type in ("Complete", "Failed") and condition.status == "True"
            for condition in self.status.conditions
        )

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
        if spec.suspend:
            return 0
        number = 1 if spec.parallelism is None else spec.parallelism
        if spec.completions is not None:
            number = min(number, spec.completions - self.status.succeeded)
        elif self.status.succeeded:
            number = running  # those that run empty the queue
        return running if self.is_finished else number

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
_Place = tuple[str, str, str]
"""Namespace, kind and name."""


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
    _orphans: dict[str, dict[Map[str], list[Pod]]] = Factory(dict)
    """Namespace -> labels -> pods without a controller."""
    _workloads_by_owner: dict[_Place, list[Workload]] = Factory(dict)
    """Namespace, kind and name of the owner -> the workloads that it controls."""
    _by_key: dict[_Place, Workload] = Factory(dict)
    """Namespace, kind and name -> the workload."""

    def __attrs_post_init__(self) -> None:
        for workload in self.workloads:
            self._by_key[workload.namespace, workload.kind, workload.name] = workload
            owner = workload.metadata.controller
            if owner is not None:
                self._workloads_by_owner.setdefault((workload.namespace, owner.kind, owner.name), []).append(
                    workload
                )

    def take_in(self, pods: Iterable[Pod]) -> None:
        """Remember *pods*, except those that have finished, or are being deleted and replaced already."""
        for pod in pods:
            owner = pod.controller
            if pod.is_terminal or (pod.is_terminating and (owner is None or owner.kind != "DaemonSet")):
                continue
            if owner is None:
                self._orphans.setdefault(pod.namespace, {}).setdefault(pod.labels, []).append(pod)
            else:
                self._pods_by_owner.setdefault((pod.namespace, owner.kind, owner.name), []).append(pod)

    def pods_of(self, workload: Workload) -> list[Pod]:
        """The live pods of a workload. Those that it adopts, which no other controls and its selector
        matches, are its own from then on."""
        pods = self._pods_by_owner.setdefault((workload.namespace, workload.kind, workload.name), [])
        selector = workload.effective_selector
        groups = self._orphans.get(workload.namespace, {})
        for labels in [labels for labels in groups if groups[labels] and selects_some(selector, labels)]:
            pods += groups.pop(labels)
        return [pod for pod in pods if pod.controller is None or workload.controls(pod.metadata)]

    def workloads_of(self, owner: Workload, kind: str) -> list[Workload]:
        """The workloads of one kind that *owner* controls."""
        controlled = self._workloads_by_owner.get((owner.namespace, owner.kind, owner.name), ())
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


def _owner_of(pod: Pod, replica_set: str, deployments: Mapping[str, Workload]) -> Workload | None:
    """The Deployment whose selector matches *pod*; of several the one that *replica_set* is named after, else
    the first."""
    candidates = (deployments.get(replica_set.rpartition("-")[0]), *deployments.values())
    return next(
        (owner for owner in candidates if owner and selects_some(owner.effective_selector, pod.labels)), None
    )


# --- The pods that they would still make --------------------------------------------------------------------


MAX_MADE = 500_000
"""The most pods that are made; the largest clusters that Kubernetes supports have 150,000."""
_MAX_DIGITS = 19
LOST_REPLICA_SETS = "its ReplicaSets are not in the input; the pods that its selector matches count as its own (kubectl get replicasets)"

_REVISION = "deployment.kubernetes.io/revision"


@frozen(repr=False)
class Made:
    """Additions by controllers to a cluster, and oddities of their workloads."""

    objects: tuple[KubeObject, ...] = ()
    notices: tuple[Notice, ...] = ()


def expand(
    workloads: Iterable[JsonObject],
    existing: Iterable[KubeObject] = (),
    *,
    cron_jobs: bool = False,
    strict: bool = True,
) -> Made:
    """The additions by the controllers of *workloads*, manifests in JSON form, to *existing* objects.

    These are pods with owner references, the ReplicaSets of Deployments and the claims of StatefulSets. The
    names are deterministic. Existing pods of a workload count, unless they have finished or are being
    deleted. CronJobs make the pods of one Job with *cron_jobs*. Raises
    :class:`~kubeclassic.exceptions.ManifestError` for a workload that cannot be read.
    """
    parsed = [read_workload(document) for document in workloads if document.get("kind") in WORKLOADS]
    objects = list(existing)
    pods = [item for item in objects if isinstance(item, Pod)]
    owners = Ownership(parsed, frozenset([item.key for item in objects if isinstance(item, ReplicaSet)]))
    owners.take_in(pods)
    expansion = _Expansion([item for item in objects if isinstance(item, Node)], owners, cron_jobs, strict)
    expansion.claims.update([item.key for item in objects if isinstance(item, PersistentVolumeClaim)])
    expansion.used_names.update([pod.key for pod in pods])
    for workload in (item for item in parsed if item.metadata.deletion_timestamp is None):
        _MAKERS[workload.kind](expansion, workload)
    return Made(tuple(expansion.objects), tuple(expansion.notices))


@define(repr=False)
class _Expansion:
    nodes: Sequence[Node]
    owners: Ownership
    cron_jobs: bool
    strict: bool
    objects: list[KubeObject] = Factory(list)
    notices: list[Notice] = Factory(list)
    used_names: set[str] = Factory(set)
    claims: set[str] = Factory(set)

    def notice(self, workload: Workload, text: str) -> None:
        """Say what is odd about a workload."""
        self.notices.append(Notice(f"{workload.kind} {workload.namespace}/{workload.name}", text))

    def free_names(self, workload: Workload) -> Iterator[str]:
        """``name-0``, ``name-1`` and so on, without names in use."""
        numbered = (f"{workload.name}-{number}" for number in count())
        return (name for name in numbered if f"{workload.namespace}/{name}" not in self.used_names)

    def add_pod(self, template: Pod, name: str, **changes: Any) -> None:
        """Make a pod of *template* with *changes* in its ``spec``."""
        pod = replace(
            template,
            metadata=replace(template.metadata, name=name),
            spec=replace(template.spec, **changes) if changes else template.spec,
        )
        self.used_names.add(pod.key)
        self.objects.append(pod)

    def check_room(self, workload: Workload, number: int) -> None:
        """Raise ManifestError if *number* more pods are too many."""
        if len(self.objects) + number > MAX_MADE:
            expectation = f"expected at most {MAX_MADE:,} pods in all, got {number:,} to make after {len(self.objects):,}"
            raise ManifestError(f"{workload.kind} {workload.namespace}/{workload.name}: {expectation}")

    def top_up(self, workload: Workload, number: int, labels: Labels | None = None) -> None:
        """Make pods until the workload has *number*."""
        self.add_pods(workload, number - len(self.owners.pods_of(workload)), labels)

    def add_pods(self, workload: Workload, number: int, labels: Labels | None = None) -> None:
        """Make *number* pods, none if it is below 1."""
        if number <= 0:
            return
        self.check_room(workload, number)
        template = _with_labels(workload.pod(self.strict), labels or {})
        names = self.free_names(workload)
        for _ in range(number):
            self.add_pod(template, next(names))


def _with_labels(pod: Pod, labels: Labels) -> Pod:
    """*pod* with *labels* added."""
    if not labels:
        return pod
    return replace(pod, metadata=replace(pod.metadata, labels=Map({**pod.labels, **labels})))


# --- replicas -----------------------------------------------------------------------------------------------


def _replicas(expansion: _Expansion, workload: Workload) -> None:
    """The pods of a ReplicaSet or ReplicationController; a Deployment among the workloads handles its own
    ReplicaSets."""
    owner = expansion.owners.owner_of(workload)
    if owner is None or owner.kind != "Deployment":
        expansion.top_up(workload, workload.spec.replicas)


def _deployment(expansion: _Expansion, deployment: Workload) -> None:
    """The newest ReplicaSet gets the pods that the others lack; without any, one is made as the controller
    would do it."""
    replica_sets = sorted(expansion.owners.workloads_of(deployment, "ReplicaSet"), key=_revision)
    lost = expansion.owners.lost_replica_sets(deployment)
    unknown = [
        lost_set
        for lost_set in lost
        if f"{deployment.namespace}/{lost_set.name}" not in expansion.owners.replica_sets
    ]
    for lost_set in unknown:
        # Put a ReplicaSet back that is not in the input, so that its pods, old and new, belong together.
        _add_replica_set(expansion, deployment, _replica_set(deployment, lost_set).metadata, lost_set.hash)
    if unknown:
        expansion.notice(deployment, LOST_REPLICA_SETS)
    missing = deployment.spec.replicas - sum(len(lost_set.pods) for lost_set in lost)
    if not replica_sets and (lost or not deployment.spec.paused):
        template_hash = lost[-1].hash if lost else deployment.template_hash()
        newest = _replica_set(deployment, lost[-1] if lost else None)
        if not lost:
            _add_replica_set(expansion, deployment, newest.metadata, template_hash)
        expansion.add_pods(newest, missing, {HASH_LABEL: template_hash} if template_hash else None)
    if not replica_sets:
        return
    *older, newest = replica_sets
    for replica_set in older:
        expansion.top_up(replica_set, replica_set.spec.replicas)
    missing -= sum(replica_set.spec.replicas for replica_set in older)
    # An edited Deployment's template lacks the hash.
    hash_label = {key: value for key, value in newest.metadata.labels.items() if key == HASH_LABEL}
    expansion.top_up(newest, max(newest.spec.replicas, missing), hash_label)


def _revision(replica_set: Workload) -> int:
    text = replica_set.metadata.annotations.get(_REVISION, "")
    return int(text[:_MAX_DIGITS]) if text.isascii() and text.isdigit() else 0


def following(
    deployments: Iterable[tuple[JsonObject, JsonObject]], replica_sets: Iterable[JsonObject]
) -> list[JsonObject]:
    """The manifests of *replica_sets*, with the template and the replicas that *deployments*, each before and
    after a change, now ask for."""
    manifests = [{**manifest, "spec": {**(manifest.get("spec") or {})}} for manifest in replica_sets]
    workloads = list(map(read_workload, manifests))
    specs = {(item.namespace, item.name): at["spec"] for item, at in zip(workloads, manifests, strict=True)}
    owners = Ownership(workloads)
    for documents in deployments:
        before, after = map(read_workload, documents)
        remaining = after.spec.replicas
        oldest_first = sorted(owners.workloads_of(after, "ReplicaSet"), key=_revision)
        if after.spec.template != before.spec.template and not after.spec.paused:
            for newest in oldest_first[-1:]:
                specs[newest.namespace, newest.name]["template"] = after.spec.template
        for replica_set in oldest_first[::-1] if remaining != before.spec.replicas else ():
            # The newest gets what all together lack when pods are made.
            kept = min(replica_set.spec.replicas, remaining)
            specs[replica_set.namespace, replica_set.name]["replicas"] = kept
            remaining -= kept
    return [*manifests]


def _replica_set(deployment: Workload, lost: LostReplicaSet | None) -> Workload:
    """The ReplicaSet of *deployment*: a lost one, or the one that its controller would make."""
    metadata = ObjectMeta(
        name=lost.name if lost is not None else f"{deployment.name}-{deployment.template_hash()}",
        namespace=deployment.metadata.namespace,
        uid=lost.uid if lost is not None else "",
        owner_references=(deployment.as_owner(),),
    )
    return replace(deployment, kind="ReplicaSet", metadata=metadata)


def _add_replica_set(
    expansion: _Expansion, deployment: Workload, metadata: ObjectMeta, template_hash: str
) -> None:
    labels = deployment.pod(expansion.strict).labels
    selector = deployment.selector or LabelSelector(match_labels=labels)
    hash_label = {HASH_LABEL: template_hash} if template_hash else {}
    narrowed = replace(selector, match_labels=Map({**selector.match_labels, **hash_label}))
    expansion.objects.append(
        ReplicaSet(
            metadata=replace(metadata, labels=Map({**labels, **hash_label})),
            spec=ControllerSpec(selector=narrowed),
        )
    )


# --- stateful sets ------------------------------------------------------------------------------------------


def ordinal_labels(name: str, ordinal: int) -> dict[str, str]:
    """The labels of a StatefulSet's pod that tell it from the others."""
    return {"statefulset.kubernetes.io/pod-name": name, "apps.kubernetes.io/pod-index": str(ordinal)}


def _stateful_set(expansion: _Expansion, workload: Workload) -> None:
    """Pods ``name-0`` to ``name-(replicas-1)``, each with its own claims."""
    expansion.check_room(workload, workload.spec.replicas - len(expansion.owners.pods_of(workload)))
    template = workload.pod(expansion.strict)
    claims = workload.claim_templates(expansion.strict)
    start = workload.spec.ordinals.start
    for ordinal in range(start, start + workload.spec.replicas):
        name = f"{workload.name}-{ordinal}"
        if f"{workload.namespace}/{name}" in expansion.used_names:
            continue
        for claim in claims:
            metadata = replace(
                claim.metadata,
                name=f"{claim.name}-{name}",
                namespace=workload.metadata.namespace,
                labels=Map({**claim.labels, **(workload.selector.match_labels if workload.selector else {})}),
            )
            pod_claim = replace(claim, metadata=metadata)
            if pod_claim.key not in expansion.claims:
                expansion.claims.add(pod_claim.key)
                expansion.objects.append(pod_claim)
        labels = ordinal_labels(name, ordinal)
        if revision := workload.status.update_revision:
            labels["controller-revision-hash"] = revision
        labelled = _with_labels(template, labels)
        # The claims are volumes before the template's own, and replace those of the same name.
        volumes = {claim.name: claim_volume(claim.name, f"{claim.name}-{name}") for claim in claims}
        own_volumes = (volume for volume in template.spec.volumes if volume.name not in volumes)
        expansion.add_pod(labelled, name, volumes=(*volumes.values(), *own_volumes))


# --- daemon sets and jobs -----------------------------------------------------------------------------------


def _daemon_set(expansion: _Expansion, workload: Workload) -> None:
    """One pod for each node that allows it."""
    template = workload.pod(expansion.strict)
    covered = {target_node(pod) for pod in expansion.owners.pods_of(workload)}
    for node in expansion.nodes:
        host = node.name
        if host in covered or not runs_on(template.spec, node):
            continue
        field = Requirement(key="metadata.name", operator="In", given_values=(host,))
        required = NodeSelector(node_selector_terms=(NodeSelectorTerm(match_fields=(field,)),))
        base = template.spec.affinity or Affinity()
        tied_affinity = replace(
            base, node_affinity=replace(base.node_affinity or NodeAffinity(), required=required)
        )
        name = f"{workload.name}-{host}"
        if f"{workload.namespace}/{name}" in expansion.used_names:
            name = next(expansion.free_names(workload))
        expansion.add_pod(
            template, name, tolerations=daemon_tolerations(template.spec), affinity=tied_affinity
        )


def _job(expansion: _Expansion, workload: Workload) -> None:
    """As many pods as may run in parallel, but not more than still have to complete."""
    names = ("batch.kubernetes.io/job-name", "job-name")
    expansion.top_up(workload, workload.wanted_pods(0), dict.fromkeys(names, workload.name))


def _cron_job(expansion: _Expansion, workload: Workload) -> None:
    """One job if asked for, unless it is suspended or a job exists."""
    owners = expansion.owners
    if workload.spec.suspend or owners.workloads_of(workload, "Job") or owners.has_pods_of_jobs(workload):
        return
    if not expansion.cron_jobs:
        expansion.notice(workload, "a CronJob makes no pods here unless asked (--cron-jobs)")
        return
    job = {
        **(workload.spec.job_template or {}),
        "kind": "Job",
        "apiVersion": "batch/v1",
        "metadata": {"name": f"{workload.name}-1", "namespace": workload.metadata.namespace},
    }
    _job(expansion, read_workload(job))


_MAKERS: Mapping[str, Callable[[_Expansion, Workload], None]] = {
    "Deployment": _deployment,
    "ReplicaSet": _replicas,
    "StatefulSet": _stateful_set,
    "DaemonSet": _daemon_set,
    "Job": _job,
    "CronJob": _cron_job,
    "ReplicationController": _replicas,
}
WORKLOADS = tuple(_MAKERS)
