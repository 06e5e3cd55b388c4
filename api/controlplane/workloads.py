"""From workloads (Deployment, ReplicaSet, StatefulSet, DaemonSet, Job, CronJob, ReplicationController) to
their pods.

Makes what a workload's controller would still make. Names are counted up instead of random.
Upstream: pkg/controller/{deployment,replicaset,statefulset,daemon,job,cronjob}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import count
from typing import Any

import attrs
from msgspec.structs import replace

from ...exceptions import ManifestError
from ..meaning.labels import Labels, node_selector_matches, set_selector, tolerates
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
    PodSpec,
    ReplicaSet,
    Requirement,
    Toleration,
    claim_volume,
)
from ..reading.notices import Notice
from .ownership import HASH_LABEL, LostReplicaSet, Ownership, Workload, read_workload

MAX_MADE = 500_000
"""How many pods are made at most; the largest clusters that Kubernetes supports have 150,000."""
_MAX_DIGITS = 19
LOST_REPLICA_SETS = "its ReplicaSets are not in the input; the pods that its selector matches count as its own (kubectl get replicasets)"

_REVISION = "deployment.kubernetes.io/revision"


@attrs.frozen(repr=False)
class Made:
    """Additions by controllers to a cluster, and oddities of their workloads."""

    objects: tuple[KubeObject, ...] = ()
    notices: tuple[Notice, ...] = ()


def expand(
    workloads: Iterable[JsonObject],
    known: Iterable[KubeObject] = (),
    *,
    cron_jobs: bool = False,
    strict: bool = True,
) -> Made:
    """The additions by the controllers of *workloads*, manifests in JSON form, to a cluster that has *known*.

    These are pods with owner references, the ReplicaSets of Deployments and the claims of StatefulSets. The
    names are deterministic. Existing pods of a workload count, unless they have finished or are being
    deleted. CronJobs make the pods of one Job with *cron_jobs*. Raises
    :class:`~kubeclassic.exceptions.ManifestError` for a workload that cannot be read.
    """
    read = [read_workload(document) for document in workloads if document.get("kind") in WORKLOADS]
    there = list(known)
    pods = [item for item in there if isinstance(item, Pod)]
    owners = Ownership(read, frozenset(item.key for item in there if isinstance(item, ReplicaSet)))
    owners.take_in(pods)
    expansion = _Expansion([item for item in there if isinstance(item, Node)], owners, cron_jobs, strict)
    expansion.claims.update(item.key for item in there if isinstance(item, PersistentVolumeClaim))
    expansion.taken.update(pod.key for pod in pods)
    for workload in read:
        _MAKERS[workload.kind](expansion, workload)
    return Made(tuple(expansion.made), tuple(expansion.notices))


@attrs.define(repr=False)
class _Expansion:
    nodes: Sequence[Node]
    owners: Ownership
    cron_jobs: bool
    strict: bool
    made: list[KubeObject] = attrs.Factory(list)
    notices: list[Notice] = attrs.Factory(list)
    taken: set[str] = attrs.Factory(set)
    claims: set[str] = attrs.Factory(set)

    def notice(self, workload: Workload, what: str) -> None:
        """Say what is odd about a workload."""
        self.notices.append(Notice(f"{workload.kind} {workload.namespace}/{workload.name}", what))

    def free_names(self, workload: Workload) -> Iterator[str]:
        """``name-0``, ``name-1`` and so on, without names in use."""
        numbered = (f"{workload.name}-{number}" for number in count())
        return (name for name in numbered if f"{workload.namespace}/{name}" not in self.taken)

    def add_pod(self, template: Pod, name: str, **changes: Any) -> None:
        """Make a pod of *template* with *changes* in its ``spec``."""
        pod = replace(
            template,
            metadata=replace(template.metadata, name=name),
            spec=replace(template.spec, **changes) if changes else template.spec,
        )
        self.taken.add(pod.key)
        self.made.append(pod)

    def check_room(self, workload: Workload, wanted: int) -> None:
        """Raise ManifestError if *wanted* more pods are too many."""
        if len(self.made) + wanted > MAX_MADE:
            got = (
                f"expected at most {MAX_MADE:,} pods in all, got {wanted:,} to make after {len(self.made):,}"
            )
            raise ManifestError(f"{workload.kind} {workload.namespace}/{workload.name}: {got}")

    def top_up(self, workload: Workload, wanted: int, labels: Labels | None = None) -> None:
        """Make pods until the workload has *wanted*."""
        self.add_pods(workload, wanted - len(self.owners.pods_of(workload)), labels)

    def add_pods(self, workload: Workload, missing: int, labels: Labels | None = None) -> None:
        """Make *missing* pods, none if it is below 1."""
        if missing <= 0:
            return
        self.check_room(workload, missing)
        template = _labelled(workload.pod(self.strict), labels or {})
        names = self.free_names(workload)
        for _ in range(missing):
            self.add_pod(template, next(names))


def _labelled(pod: Pod, labels: Labels) -> Pod:
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
        found for found in lost if f"{deployment.namespace}/{found.name}" not in expansion.owners.replica_sets
    ]
    for found in unknown:
        # Put a ReplicaSet back that is not in the input, so that its pods, old and new, belong together.
        _add_replica_set(expansion, deployment, _replica_set(deployment, found).metadata, found.hash)
    if unknown:
        expansion.notice(deployment, LOST_REPLICA_SETS)
    lacking = deployment.spec.replicas - sum(len(found.pods) for found in lost)
    if not replica_sets:
        template_hash = lost[-1].hash if lost else deployment.template_hash()
        newest = _replica_set(deployment, lost[-1] if lost else None)
        if not lost:
            _add_replica_set(expansion, deployment, newest.metadata, template_hash)
        expansion.add_pods(newest, lacking, {HASH_LABEL: template_hash} if template_hash else None)
        return
    *older, newest = replica_sets
    for replica_set in older:
        expansion.top_up(replica_set, replica_set.spec.replicas)
    expansion.top_up(
        newest, max(newest.spec.replicas, lacking - sum(replica_set.spec.replicas for replica_set in older))
    )


def _revision(replica_set: Workload) -> int:
    written = replica_set.metadata.annotations.get(_REVISION, "")
    return int(written[:_MAX_DIGITS]) if written.isascii() and written.isdigit() else 0


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
    labelled = replace(metadata, labels=Map({**labels, **hash_label}))
    expansion.made.append(ReplicaSet(metadata=labelled, spec=ControllerSpec(selector=narrowed)))


# --- stateful sets ------------------------------------------------------------------------------------------


def _stateful_set(expansion: _Expansion, workload: Workload) -> None:
    """Pods ``name-0`` to ``name-(replicas-1)``, each with its own claims."""
    expansion.check_room(workload, workload.spec.replicas - len(expansion.owners.pods_of(workload)))
    template = workload.pod(expansion.strict)
    claims = workload.claim_templates(expansion.strict)
    first = workload.spec.ordinals.start
    for ordinal in range(first, first + workload.spec.replicas):
        name = f"{workload.name}-{ordinal}"
        if f"{workload.namespace}/{name}" in expansion.taken:
            continue
        for claim in claims:
            metadata = replace(
                claim.metadata,
                name=f"{claim.name}-{name}",
                namespace=workload.metadata.namespace,
                labels=Map({**claim.labels, **(workload.selector.match_labels if workload.selector else {})}),
            )
            made = replace(claim, metadata=metadata)
            if made.key not in expansion.claims:
                expansion.claims.add(made.key)
                expansion.made.append(made)
        labelled = _labelled(template, {"statefulset.kubernetes.io/pod-name": name})
        # The claims are volumes before the template's own, and replace those of the same name.
        volumes = {claim.name: claim_volume(claim.name, f"{claim.name}-{name}") for claim in claims}
        others = (volume for volume in template.spec.volumes if volume.name not in volumes)
        expansion.add_pod(labelled, name, volumes=(*volumes.values(), *others))


# --- daemon sets and jobs -----------------------------------------------------------------------------------


def _daemon_set(expansion: _Expansion, workload: Workload) -> None:
    """One pod for each node that allows it."""
    template = workload.pod(expansion.strict)
    namespace = workload.namespace
    covered = {target_node(pod) for pod in expansion.owners.pods_of(workload)}
    for node in expansion.nodes:
        host = node.name
        if host in covered or not runs_on(template.spec, node):
            continue
        field = Requirement(key="metadata.name", operator="In", given_values=(host,))
        required = NodeSelector(node_selector_terms=(NodeSelectorTerm(match_fields=(field,)),))
        base = template.spec.affinity or Affinity()
        tied = replace(base, node_affinity=replace(base.node_affinity or NodeAffinity(), required=required))
        name = f"{workload.name}-{host}"
        if f"{namespace}/{name}" in expansion.taken:
            name = next(expansion.free_names(workload))
        expansion.add_pod(template, name, tolerations=daemon_tolerations(template.spec), affinity=tied)


def _job(expansion: _Expansion, workload: Workload) -> None:
    """As many pods as may run in parallel, but not more than still have to complete."""
    if workload.spec.suspend or workload.is_finished:
        return
    parallelism = 1 if workload.spec.parallelism is None else workload.spec.parallelism
    to_complete = workload.spec.completions
    if to_complete is None:
        to_complete = 1 if workload.spec.parallelism is None else parallelism + workload.status.succeeded
    expansion.top_up(
        workload, min(parallelism, to_complete - workload.status.succeeded), {"job-name": workload.name}
    )


def _cron_job(expansion: _Expansion, workload: Workload) -> None:
    """One job if asked for, unless it is suspended or a job exists."""
    owners = expansion.owners
    if workload.spec.suspend or owners.workloads_of(workload, "Job") or owners.has_pods_of_jobs(workload):
        return
    if not expansion.cron_jobs:
        expansion.notice(workload, "a CronJob makes no pods here unless asked (--cron-jobs)")
        return
    metadata = {"name": f"{workload.name}-1", "namespace": workload.metadata.namespace}
    _job(
        expansion,
        read_workload(
            {
                **(workload.spec.job_template or {}),
                "kind": "Job",
                "apiVersion": "batch/v1",
                "metadata": metadata,
            }
        ),
    )


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

_CONDITIONS = {
    "NoExecute": ("not-ready", "unreachable"),
    "NoSchedule": (
        "disk-pressure",
        "memory-pressure",
        "pid-pressure",
        "unschedulable",
        "network-unavailable",
    ),
}
"""Effect -> the conditions of a node whose taints daemons tolerate; the last one on the host's network alone."""
_ON_HOST_NETWORK = tuple(
    Toleration(key=f"node.kubernetes.io/{condition}", operator="Exists", effect=effect)
    for effect, conditions in _CONDITIONS.items()
    for condition in conditions
)
_ALWAYS = _ON_HOST_NETWORK[:-1]


def runs_on(spec: PodSpec, node: Node) -> bool:
    """Whether a DaemonSet makes a pod of *spec* for *node*: name, selector, required affinity and taints must
    allow it."""
    if spec.node_name not in ("", node.name) or not set_selector(spec.node_selector)(node.labels):
        return False
    affinity = (spec.affinity or Affinity()).node_affinity
    required = affinity.required if affinity else None
    if required is not None and not node_selector_matches(required, node.labels, node.name):
        return False
    tolerations = daemon_tolerations(spec)
    return all(
        tolerates(tolerations, taint)
        for taint in node.spec.taints
        if taint.effect in ("NoSchedule", "NoExecute")
    )


def daemon_tolerations(spec: PodSpec) -> tuple[Toleration, ...]:
    """The tolerations of *spec* and those that every daemon gets; an added one replaces an equal one."""
    return _with_added(spec.tolerations, _ON_HOST_NETWORK if spec.host_network else _ALWAYS)


@lru_cache(maxsize=1 << 10)
def _with_added(given: tuple[Toleration, ...], added: tuple[Toleration, ...]) -> tuple[Toleration, ...]:
    return tuple({(t.key, t.effect, t.operator, t.value): t for t in (*given, *added)}.values())


def target_node(pod: Pod) -> str | None:
    """The node that a daemon runs on or is made for; None without one."""
    if pod.spec.node_name:
        return pod.spec.node_name
    affinity = (pod.spec.affinity or Affinity()).node_affinity
    return next(
        (
            f.values[0]
            for term in ((affinity and affinity.required) or NodeSelector()).node_selector_terms
            for f in term.match_fields
            if f.key == "metadata.name" and f.operator == "In" and len(f.values) == 1
        ),
        None,
    )
