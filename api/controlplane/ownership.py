"""Which pods belong to which workload: by owner reference, else by selector, as controllers adopt pods without a controller.

A dump can lack the ReplicaSets between a Deployment and its pods. Pods whose ReplicaSet is missing count for the Deployment whose selector
matches them, so that they are not made a second time.
Upstream: pkg/controller/controller_ref_manager.go
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import attrs

from ..meaning.labels import SelectorError, selector_matches
from ..objects import LabelSelector, Map, Pod, ReplicaSet
from .pod_templates import Workload

HASH_LABEL = "pod-template-hash"
_Place = tuple[str, str]
"""Kind or namespace, and name."""


@attrs.frozen(repr=False)
class LostReplicaSet:
    """A ReplicaSet that is not in the input, as its pods show it."""

    name: str
    pods: tuple[Pod, ...]

    @property
    def hash(self) -> str:
        """Its value of ``pod-template-hash``; empty if its pods have none."""
        return self.pods[0].labels.get(HASH_LABEL, "")

    @property
    def uid(self) -> str:
        """Its UID as its pods have it."""
        owner = self.pods[0].metadata.controller
        return owner.uid if owner is not None else ""

    @property
    def youth(self) -> tuple[str, int, str]:
        """Grows with how new it is: when its last pod was created, then how many it has."""
        return max(pod.metadata.creation_timestamp or "" for pod in self.pods), len(self.pods), self.name


@attrs.define(repr=False)
class Ownership:
    """Who controls whom among *workloads*, their live pods, and *replica_sets*, the keys of those that are known in another form."""

    workloads: list[Workload]
    replica_sets: frozenset[str] = frozenset()
    _by_owner: dict[tuple[str, str, str], list[Pod]] = attrs.field(factory=dict)
    """Namespace, kind and name of the controller -> its pods."""
    _nobodys: dict[str, dict[Map[str], list[Pod]]] = attrs.field(factory=dict)
    """Namespace -> labels -> pods without a controller."""
    _made_by: dict[tuple[str, str, str], list[Workload]] = attrs.field(factory=dict)
    """Namespace, kind and name of the owner -> the workloads that it controls."""
    _named: dict[tuple[str, str, str], Workload] = attrs.field(factory=dict)
    """Namespace, kind and name -> the workload."""
    _lost: dict[_Place, list[LostReplicaSet]] | None = None
    """Namespace and name of a Deployment -> what it has of ReplicaSets that are missing."""

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
                self._nobodys.setdefault(pod.namespace, {}).setdefault(pod.labels, []).append(pod)
            else:
                self._by_owner.setdefault((pod.namespace, owner.kind, owner.name), []).append(pod)

    def pods_of(self, workload: Workload) -> list[Pod]:
        """The live pods of a workload. Those that it adopts belong to it from then on."""
        named = self._by_owner.setdefault((workload.namespace, workload.kind, workload.name), [])
        named += self._adopted(workload)
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
        """Whether pods of a Job that is not in the input show that *cron_job* runs: Jobs are named after their CronJob."""
        places = ((namespace, kind, name.rpartition("-")[0]) for namespace, kind, name in self._by_owner)
        return (cron_job.namespace, "Job", cron_job.name) in places

    def _adopted(self, workload: Workload) -> Iterator[Pod]:
        """Take the pods without a controller and that the selector matches."""
        selector = workload.effective_selector
        groups = self._nobodys.get(workload.namespace, {})
        for labels in [labels for labels in groups if groups[labels] and matches(selector, labels)]:
            yield from groups.pop(labels)

    # --- missing ReplicaSets ----------------------------------------------------------------------------------------

    def lost_replica_sets(self, deployment: Workload) -> list[LostReplicaSet]:
        """The ReplicaSets of *deployment* that its pods show and the input lacks, the newest last."""
        if self._lost is None:
            found: dict[_Place, list[LostReplicaSet]] = {}
            deployments: dict[str, dict[str, Workload]] = {}
            for workload in self.workloads:
                if workload.kind == "Deployment":
                    deployments.setdefault(workload.namespace, {})[workload.name] = workload
            for namespace, name, pods in self._without_replica_set(deployments):
                owner = _owner_of(pods[0], name, deployments[namespace])
                if owner is not None:
                    found.setdefault((namespace, owner.name), []).append(LostReplicaSet(name, tuple(pods)))
            self._lost = found
        return sorted(self._lost.get((deployment.namespace, deployment.name), ()), key=lambda lost: lost.youth)

    def _without_replica_set(self, deployments: Mapping[str, Mapping[str, Workload]]) -> Iterator[tuple[str, str, list[Pod]]]:
        """Namespace and name of each missing ReplicaSet in the namespaces of *deployments*, and its pods."""
        for (namespace, kind, name), pods in self._by_owner.items():
            if kind == "ReplicaSet" and namespace in deployments and pods and (namespace, kind, name) not in self._named:
                yield namespace, name, pods
        for namespace in deployments.keys() & self._nobodys.keys():
            for labels, pods in self._nobodys[namespace].items():
                hashed = labels.get(HASH_LABEL)
                owner = _owner_of(pods[0], "", deployments[namespace]) if hashed else None
                if owner is not None and (namespace, "ReplicaSet", f"{owner.name}-{hashed}") not in self._named:
                    yield namespace, f"{owner.name}-{hashed}", pods

    def is_known(self, namespace: str, replica_set: str) -> bool:
        """Whether a ReplicaSet is there as an object, though not as a manifest."""
        return f"{namespace}/{replica_set}" in self.replica_sets


def _owner_of(pod: Pod, replica_set: str, deployments: Mapping[str, Workload]) -> Workload | None:
    """The Deployment whose selector matches *pod*; of several the one that *replica_set* is named after, else the first."""
    named = deployments.get(replica_set.rpartition("-")[0])
    candidates = ([named] if named is not None else []) + list(deployments.values())
    return next((found for found in candidates if matches(found.effective_selector, pod.labels)), None)


def matches(selector: LabelSelector | None, labels: Mapping[str, str]) -> bool:
    """Whether *selector* is one that says something and matches; an invalid one matches nothing."""
    if selector is None or selector.is_empty:
        return False
    try:
        return selector_matches(selector, labels)
    except SelectorError:
        return False


def keys_of(replica_sets: Iterable[ReplicaSet]) -> frozenset[str]:
    """The keys of ReplicaSets."""
    return frozenset(found.key for found in replica_sets)
