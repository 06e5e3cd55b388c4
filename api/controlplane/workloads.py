"""Workloads (Deployment, ReplicaSet, StatefulSet, DaemonSet, Job, CronJob, ReplicationController) and their
pods.

Makes what a workload's controller would still make. Names are counted up instead of random.
Upstream: pkg/controller/{deployment,replicaset,statefulset,daemon,job,cronjob}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count, islice
from typing import Any

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
    PersistentVolumeClaim,
    Pod,
    ReplicaSet,
    Requirement,
    claim_volume,
)
from ..reading import Notice
from .daemons import daemon_tolerations, runs_on, target_node
from .disruption import is_ready
from .ownership import HASH_LABEL, LostReplicaSet, Ownership, Workload, read_workload

MAX_MADE = 500_000
"""The most pods that are made; the largest clusters that Kubernetes supports have 150,000."""
_MAX_DIGITS = 19
LOST_REPLICA_SETS = "its ReplicaSets are not in the input; the pods that its selector matches count as its own (kubectl get replicasets)"

_REVISION = "deployment.kubernetes.io/revision"
_INDEX = "batch.kubernetes.io/job-completion-index"


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
    expansion.pods.update([(pod.key, pod) for pod in pods])
    for workload in (item for item in owners.workloads if item.metadata.deletion_timestamp is None):
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
    pods: dict[str, Pod] = Factory(dict)
    """Key -> pod that exists or is made."""
    claims: set[str] = Factory(set)

    def notice(self, workload: Workload, text: str) -> None:
        """Say what is odd about a workload."""
        self.notices.append(Notice(f"{workload.kind} {workload.namespace}/{workload.name}", text))

    def free_names(self, workload: Workload) -> Iterator[str]:
        """``name-0``, ``name-1`` and so on, without names in use."""
        numbered = (f"{workload.name}-{number}" for number in count())
        return (name for name in numbered if f"{workload.namespace}/{name}" not in self.pods)

    def add_claims(self, workload: Workload, claims: Iterable[PersistentVolumeClaim], name: str) -> None:
        """Make what is missing of the *claims* of the StatefulSet's pod *name*."""
        selected = workload.selector.match_labels if workload.selector else {}
        for claim in claims:
            metadata = replace(
                claim.metadata,
                name=f"{claim.name}-{name}",
                namespace=workload.metadata.namespace,
                labels=Map({**claim.labels, **selected}),
            )
            pod_claim = replace(claim, metadata=metadata)
            if pod_claim.key not in self.claims:
                self.claims.add(pod_claim.key)
                self.objects.append(pod_claim)

    def add_pod(self, template: Pod, name: str, **changes: Any) -> None:
        """Make a pod of *template* with *changes* in its ``spec``."""
        pod = replace(
            template,
            metadata=replace(template.metadata, name=name),
            spec=replace(template.spec, **changes) if changes else template.spec,
        )
        self.pods[pod.key] = pod
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
    """The newest ReplicaSet with its template gets the pods that the others lack; without any, one is made as
    the controller would do it."""
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
    pods = sum(len(expansion.owners.pods_of(replica_set)) for replica_set in replica_sets)
    if deployment.spec.paused or missing <= pods or deployment.spec.template is None:
        current = replica_sets[-1] if replica_sets else None
    else:
        current = _current(deployment, replica_sets, expansion.strict)
    for replica_set in replica_sets:
        if replica_set is not current:
            expansion.top_up(replica_set, replica_set.spec.replicas)
            missing -= replica_set.spec.replicas
    if current is not None:
        # An edited Deployment's template lacks the hash.
        hash_label = {key: value for key, value in current.metadata.labels.items() if key == HASH_LABEL}
        number = max(current.spec.replicas, missing)
        if not deployment.spec.paused or missing == deployment.spec.replicas:
            number = min(number, deployment.spec.replicas)
        expansion.top_up(current, number, hash_label)
    elif lost and not replica_sets:
        hash_label = {HASH_LABEL: lost[-1].hash} if lost[-1].hash else {}
        expansion.add_pods(_replica_set(deployment, lost[-1]), missing, hash_label)
    elif not deployment.spec.paused:
        template_hash = deployment.template_hash()
        new = _replica_set(deployment, None)
        _add_replica_set(expansion, deployment, new.metadata, template_hash)
        expansion.add_pods(new, missing, {HASH_LABEL: template_hash})


def _current(deployment: Workload, oldest_first: Sequence[Workload], strict: bool) -> Workload | None:
    """The newest ReplicaSet of *deployment* with its template; None if a new one is made."""

    def template(workload: Workload) -> Pod:
        pod = replace(workload, metadata=deployment.metadata).pod(strict)
        labels = Map({key: value for key, value in pod.labels.items() if key != HASH_LABEL})
        return replace(pod, metadata=replace(pod.metadata, labels=labels, owner_references=()))

    wanted = template(deployment)
    candidates = (item for item in reversed(oldest_first) if item.spec.template is not None)
    return next((item for item in candidates if template(item) == wanted), None)


def _revision(replica_set: Workload) -> int:
    text = replica_set.metadata.annotations.get(_REVISION, "")
    return int(text[:_MAX_DIGITS]) if text.isascii() and text.isdigit() else 0


def following(
    deployments: Iterable[tuple[JsonObject, JsonObject]], replica_sets: Iterable[JsonObject]
) -> list[JsonObject]:
    """The manifests of *replica_sets*, with the template and the replicas that *deployments*, each before and
    after a change, now ask for."""
    pairs = [tuple(map(read_workload, documents)) for documents in deployments]
    manifests = [{**manifest, "spec": {**(manifest.get("spec") or {})}} for manifest in replica_sets]
    workloads = list(map(read_workload, manifests))
    specs = {(item.namespace, item.name): at["spec"] for item, at in zip(workloads, manifests, strict=True)}
    owners = Ownership([*workloads, *(after for _, after in pairs)])
    for before, after in pairs:
        remaining = after.spec.replicas
        oldest_first = sorted(owners.workloads_of(after, "ReplicaSet"), key=_revision)
        if after.spec.template != before.spec.template and not after.spec.paused:
            for newest in oldest_first[-1:]:
                specs[newest.namespace, newest.name]["template"] = after.spec.template
        if remaining == before.spec.replicas:
            continue
        for replica_set in oldest_first[::-1]:
            kept = min(replica_set.spec.replicas, remaining)
            specs[replica_set.namespace, replica_set.name]["replicas"] = kept
            remaining -= kept
        for newest in oldest_first[-1:]:
            specs[newest.namespace, newest.name]["replicas"] += remaining
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
    """Pods ``name-0`` to ``name-(replicas-1)``, each with its own claims, also in place of those that have
    finished; in order, none after one that is on a node and not ready."""
    spec = workload.spec
    expansion.check_room(workload, spec.replicas - len(expansion.owners.pods_of(workload)))
    template = workload.pod(expansion.strict)
    claims = workload.claim_templates(expansion.strict)
    start = spec.ordinals.start
    ordinals = range(start, start + spec.replicas)
    for ordinal in ordinals:
        name = f"{workload.name}-{ordinal}"
        there = expansion.pods.get(f"{workload.namespace}/{name}")
        is_own = there is not None and _is_own(workload, there)
        is_over = there is not None and is_own and there.is_terminal and not there.is_terminating
        if there is None or not is_own or is_over or there.status.phase == "Pending":
            expansion.add_claims(workload, claims, name)
        if there is None or is_over:
            _add_numbered(expansion, workload, template, claims, ordinal)
        elif not is_next_due(workload, there):
            later = (
                f"{workload.namespace}/{workload.name}-{number}" for number in range(ordinal, ordinals.stop)
            )
            if not expansion.pods.keys() >= {*later}:
                expansion.notice(workload, f"it makes no pods after {name} until that is ready")
            break


def is_next_due(workload: Workload, pod: Pod) -> bool:
    """Whether a StatefulSet goes on to other pods with *pod* there; one without a node is expected to find
    one, unless a scheduler has said that there is none."""
    is_leaving = pod.is_terminal or pod.is_terminating
    is_tried = any(
        condition.type == "PodScheduled" and condition.status == "False"
        for condition in pod.status.conditions
    )
    is_well = is_ready(pod) if pod.node_name else not is_tried
    is_next = is_well and not is_leaving and _is_own(workload, pod)
    return is_next or workload.spec.pod_management_policy == "Parallel"


def _is_own(workload: Workload, pod: Pod) -> bool:
    """Whether *workload* controls *pod*, or adopts it."""
    is_alone = pod.controller is None and selects_some(workload.effective_selector, pod.labels)
    return is_alone or workload.controls(pod.metadata)


def _add_numbered(
    expansion: _Expansion,
    workload: Workload,
    template: Pod,
    claims: Sequence[PersistentVolumeClaim],
    ordinal: int,
) -> None:
    """Make the pod with *ordinal* of a StatefulSet."""
    name = f"{workload.name}-{ordinal}"
    labels = ordinal_labels(name, ordinal)
    first_updated = workload.spec.ordinals.start + workload.spec.update_strategy.rolling_update.partition
    status = workload.status
    if revision := status.current_revision if ordinal < first_updated else status.update_revision:
        labels["controller-revision-hash"] = revision
    # The claims are volumes before the template's own, and replace those of the same name.
    volumes = {claim.name: claim_volume(claim.name, f"{claim.name}-{name}") for claim in claims}
    own_volumes = (volume for volume in template.spec.volumes if volume.name not in volumes)
    expansion.add_pod(_with_labels(template, labels), name, volumes=(*volumes.values(), *own_volumes))


# --- daemon sets and jobs -----------------------------------------------------------------------------------


def _daemon_set(expansion: _Expansion, workload: Workload) -> None:
    """One pod for each node that allows it."""
    template = workload.pod(expansion.strict)
    strategy = workload.spec.update_strategy
    surges = strategy.type == "RollingUpdate" and strategy.rolling_update.max_surge not in (0, "0", "0%")
    leaving = () if surges else expansion.owners.leaving_pods_of(workload)
    covered = {target_node(pod) for pod in (*expansion.owners.pods_of(workload), *leaving)}
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
        if f"{workload.namespace}/{name}" in expansion.pods:
            name = next(expansion.free_names(workload))
        expansion.add_pod(
            template, name, tolerations=daemon_tolerations(template.spec), affinity=tied_affinity
        )


def _job(expansion: _Expansion, workload: Workload) -> None:
    """As many pods as may run in parallel, but not more than still have to complete; in an indexed Job one
    for each of the first open indexes."""
    owners = expansion.owners
    spec = workload.spec
    pods = owners.pods_of(workload)
    leaving = owners.leaving_pods_of(workload) if workload.replaces_only_failed else []
    labels = dict.fromkeys(("batch.kubernetes.io/job-name", "job-name"), workload.name)
    wanted = workload.wanted_pods(0) - len(leaving)
    if spec.completion_mode != "Indexed":
        expansion.add_pods(workload, wanted - len(pods), labels)
        return
    completions = spec.completions or 0
    active = {index for pod in pods if (index := completion_index(pod)) in range(completions)}
    status = f"{workload.status.completed_indexes},{workload.status.failed_indexes}"
    going = set(map(completion_index, leaving))
    done = [range(index, index + 1) for index in active | going] + _ranges(status)
    missing = max(wanted - len(active), 0)
    expansion.check_room(workload, missing)
    template = _with_labels(workload.pod(expansion.strict), labels)
    for index in islice(_between(done, completions), missing):
        numbered = with_completion_index(template, index)
        name = f"{workload.name}-{index}"
        is_taken = f"{workload.namespace}/{name}" in expansion.pods
        expansion.add_pod(numbered, next(expansion.free_names(workload)) if is_taken else name)


def with_completion_index(pod: Pod, index: int) -> Pod:
    """*pod* as that of an indexed Job for *index*."""
    annotations = Map({**pod.annotations, _INDEX: str(index)})
    labels = Map({**pod.labels, _INDEX: str(index)})
    return replace(pod, metadata=replace(pod.metadata, annotations=annotations, labels=labels))


def completion_index(pod: Pod) -> int:
    """The index of a pod of an indexed Job; -1 for none."""
    text = pod.annotations.get(_INDEX, "")[:_MAX_DIGITS]
    return int(text) if text.isascii() and text.isdecimal() else -1


def _ranges(text: str) -> list[range]:
    """The indexes in a text such as ``0,2-4``."""
    ends = (item.partition("-") for item in text.split(","))
    numbers = ((first[:_MAX_DIGITS], (last or first)[:_MAX_DIGITS]) for first, _, last in ends)
    return [
        range(int(first), int(last) + 1)
        for first, last in numbers
        if (first + last).isascii() and first.isdecimal() and last.isdecimal()
    ]


def _between(done: Iterable[range], end: int) -> Iterator[int]:
    """The numbers below *end* that none of *done* has."""
    at = 0
    for numbers in sorted(done, key=lambda numbers: numbers.start):
        yield from range(at, min(numbers.start, end))
        at = max(at, numbers.stop)
    yield from range(at, end)


def _cron_job(expansion: _Expansion, workload: Workload) -> None:
    """One job if asked for, unless it is suspended or a job exists."""
    owners = expansion.owners
    if workload.spec.suspend or owners.workloads_of(workload, "Job") or owners.has_pods_of_jobs(workload):
        return
    if not expansion.cron_jobs:
        expansion.notice(workload, "a CronJob makes no pods here unless asked (--cron-jobs)")
        return
    _job(expansion, read_workload(first_job(workload)))


def first_job(cron_job: Workload) -> JsonObject:
    """The manifest of the Job that a CronJob makes."""
    return {
        **(cron_job.spec.job_template or {}),
        "kind": "Job",
        "apiVersion": "batch/v1",
        "metadata": {"name": f"{cron_job.name}-1", "namespace": cron_job.metadata.namespace},
    }


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
