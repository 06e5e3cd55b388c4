"""The pod behind a name, waiting or on a node, or as one of a workload; and why a pod is not scheduled."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from ...api.controlplane.ownership import HASH_LABEL
from ...api.inventory import ON_A_NODE, REFUSED, why_not_waiting
from ...api.objects import Pod, PriorityClass, ReplicaSet, of_kind
from ...api.objects.pods import DEFAULT_SCHEDULER
from ...api.record import UNSET
from ...exceptions import UnknownNameError, did_you_mean
from ..drainrules import MIRROR, is_daemon
from ..simulate import Scenario, Simulation
from .faileddemands import node_terms

_WORDS = {
    "Pod": "po pod pods",
    "Deployment": "deploy deployment deployments",
    "ReplicaSet": "rs replicaset replicasets",
    "StatefulSet": "sts statefulset statefulsets",
    "DaemonSet": "ds daemonset daemonsets",
    "Job": "job jobs",
    "CronJob": "cj cronjob cronjobs",
    "ReplicationController": "rc replicationcontroller replicationcontrollers",
}
KINDS: Mapping[str, str] = {word: kind for kind, words in _WORDS.items() for word in words.split()}
"""kubectl's names of kinds -> kind."""

_WHY = {
    "finished": "it has finished (phase {phase}), so no scheduler considers it",
    "being deleted": "it is being deleted, so it gets no node",
    "for another scheduler": 'its schedulerName is "{scheduler}", and this run schedules for {names}',
}


# Which pod a name means: a pod, waiting or on a node, or a workload of which one pod stands for all; and why
# a pod is not scheduled.


@attrs.frozen
class Subject:
    """The pod that a question is about."""

    pod: Pod
    workload: str | None = None
    """The workload that was named, as ``Deployment shop/web``; None if a pod was."""
    pods: tuple[Pod, ...] = ()
    """All pods of that workload."""
    refused: str | None = None
    """Why the API server would refuse the pod."""
    waiting: tuple[Pod, ...] = ()
    """Those of the workload's pods that find no node when all have had their turn, the first one first."""

    @property
    def concerns(self) -> frozenset[str]:
        """The objects that bear on the pod besides the cluster as a whole: itself, its owners and its claims,
        by kind and key."""
        pod = self.pod
        claims = (
            f"PersistentVolumeClaim {pod.namespace}/{volume.persistent_volume_claim}"
            for volume in pod.spec.volumes
        )
        resources = (
            f"ResourceClaim {pod.namespace}/{claim.resource_claim_name}" for claim in pod.spec.resource_claims
        )
        owners = (f"{kind} {pod.namespace}/{name}" for kind, name in _owners(pod, {}))
        return frozenset(
            [f"Pod {pod.key}", *owners, *([self.workload] if self.workload else ()), *claims, *resources]
        )

    def question(self, scheduler_names: Collection[str]) -> dict[str, Any]:
        """The fields of the answer that say what is asked; *scheduler_names*: those whose pods are scheduled."""
        why = why_not_waiting(self.pod, scheduler_names)
        node = self.pod.spec.node_name
        asked = self.pod.spec.scheduler_name or DEFAULT_SCHEDULER
        if why == ON_A_NODE:
            why = "for another scheduler" if asked not in scheduler_names else None
        ignored = None
        if why is not None:
            names = ", ".join(sorted(scheduler_names))
            ignored = _WHY[why].format(phase=self.pod.status.phase, scheduler=asked, names=names)
            ignored = f"it is on node {node}; {ignored}" if node else ignored
        if self.refused is not None:
            ignored = f"{REFUSED}: {self.refused}"
        if node and MIRROR in self.pod.metadata.annotations:
            ignored = (
                f"it is a static pod of node {node}: the node itself runs it, and no scheduler placed it"
            )
        # The nodes that a DaemonSet made its pods for.
        nodes = (
            name
            for pod in filter(is_daemon, self.waiting)
            for term in node_terms(pod)
            for field in term.match_fields
            if field.key == "metadata.name"
            for name in field.values
        )
        return {
            "placed_on": node or None,
            "ignored": ignored,
            "workload": self.workload,
            "workload_pods": tuple(pod.key for pod in self.pods),
            "workload_waiting": tuple(pod.key for pod in self.waiting) or UNSET,
            "waiting_nodes": tuple(nodes) or UNSET,
        }

    def after(self, simulation: Simulation) -> Subject:
        """The same about the first pod of the workload that finds no node in a new *simulation* of the whole
        input, if one does not."""
        alive = [pod for pod in self.pods if _rank(pod) < OVER]
        if len(alive) < 2 or all(pod.spec.node_name for pod in alive):
            return self
        outcomes = simulation.finish()
        words = {key: outcome.word for key, outcome in outcomes.items() if not outcome.has_successor}
        refused = {pod.key: why for pod, why in refusals(simulation.scenario)}
        lost = {
            key: word for key, word in words.items() if word not in ("placed", "waiting")
        } | dict.fromkeys(refused, "refused")
        place = {key: at for at, key in enumerate(sorted(lost, key=lambda key: lost[key] == "evicted"))}
        waiting = sorted((pod for pod in alive if pod.key in lost), key=lambda pod: place[pod.key])
        if not waiting:
            return self
        first = waiting[0]
        return attrs.evolve(
            self, pod=first, pods=tuple(alive), waiting=tuple(waiting), refused=refused.get(first.key)
        )


def find_subject(scenario: Scenario, name: str, namespace: str | None = None) -> Subject:
    """The pod that *name* means: ``name``, ``namespace/name``, ``kind/name`` or ``kind/namespace/name``, with
    kubectl's names of kinds.

    Of several pods of one name, and of a workload's, one that waits is meant. Raises
    :class:`~kubeclassic.exceptions.UnknownNameError` for a name that nothing has, or several.
    """
    there = of_kind(Pod, scenario.objects)
    everyone = [*scenario.pending, *there, *scenario.set_aside, *(pod for pod, _ in scenario.refused_pods)]
    head, slash, tail = name.partition("/")
    exact = [pod for pod in everyone if pod.key == name] if slash and namespace is None else []
    kind = KINDS.get(head.lower(), "") if slash else "Pod"
    if exact:
        found = Subject(exact[0])
    elif not kind:
        kinds = () if any(pod.namespace == head for pod in everyone) else KINDS
        raise _unknown(name, everyone, [f"{word}/{tail}" for word in kinds])
    else:
        if namespace is None and "/" in tail:
            namespace, _, tail = tail.partition("/")
        inside = [pod for pod in everyone if namespace is None or pod.namespace == namespace]
        one = Subject(_one(name, tail or head, inside, namespace)) if kind == "Pod" else None
        found = one or _of_workload(name, kind, tail, inside, scenario)
    return attrs.evolve(
        found, refused=next((why for pod, why in refusals(scenario) if pod is found.pod), None)
    )


def refusals(scenario: Scenario) -> Iterator[tuple[Pod, str]]:
    """The pods that the API server would refuse, and why."""
    classes = [item.name for item in of_kind(PriorityClass, scenario.objects)]
    for pod, why in scenario.refused_pods:
        lacks = "no PriorityClass with name" in why
        near = did_you_mean(pod.spec.priority_class_name or "", classes) if lacks else ""
        yield pod, f"{why}; create it, or add it to the input{near}" if lacks else why


def _one(given: str, name: str, everyone: Sequence[Pod], namespace: str | None) -> Pod:
    named = [pod for pod in everyone if pod.name == name]
    found = [pod for pod in named if not pod.spec.node_name and not pod.is_terminal] or named
    if not found:
        where = "" if namespace is None else f" in namespace {namespace}"
        raise _unknown(given, everyone, where=where)
    if len(found) > 1:
        raise UnknownNameError(f'pod: expected one of {", ".join(pod.key for pod in found)}, got "{given}"')
    return found[0]


def _unknown(name: str, pods: Iterable[Pod], more: Iterable[str] = (), where: str = "") -> UnknownNameError:
    names = [*more]
    for pod in pods:
        workloads = [f"{_WORDS[kind].split()[0]}/{of}" for kind, of in _owners(pod, {}) if kind in _WORDS]
        names += [pod.key, pod.name, *workloads]
    return UnknownNameError(
        f'pod: expected a pod of the input{where}, got "{name}"{did_you_mean(name, names)}'
    )


# --- workloads ----------------------------------------------------------------------------------------------


def _of_workload(given: str, kind: str, name: str, pods: list[Pod], scenario: Scenario) -> Subject:
    deployments = {
        item.key: item.metadata.controller.name
        for item in of_kind(ReplicaSet, scenario.objects)
        if item.metadata.controller is not None
    }
    owners = {pod.key: dict(_owners(pod, deployments)) for pod in pods}
    found = [pod for pod in pods if owners[pod.key].get(kind) == name]
    namespaces = sorted({pod.namespace for pod in found})
    if not found:
        word = given.partition("/")[0]
        near = did_you_mean(
            given, sorted({f"{word}/{names[kind]}" for names in owners.values() if kind in names})
        )
        raise UnknownNameError(
            f'{kind}: expected a {kind} that has one, got "{given}", which has no pod in the input{near}'
        )
    if len(namespaces) > 1:
        raise UnknownNameError(
            f'{kind}: expected -n with one of them, got "{given}", which namespaces {", ".join(namespaces)} have'
        )
    ours = sorted(found, key=_rank)
    return Subject(ours[0], f"{kind} {namespaces[0]}/{name}", tuple(ours))


OVER = 2


def _rank(pod: Pod) -> int:
    """0 for a pod that waits, then those on nodes, then those that are over."""
    if pod.is_terminal or pod.is_terminating:
        return OVER
    return 1 if pod.spec.node_name else 0


def _owners(pod: Pod, deployments: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Kind and name of the pod's controller, and of the Deployment or CronJob behind it."""
    owner = pod.metadata.controller
    if owner is None:
        return
    yield owner.kind, owner.name
    if owner.kind == "ReplicaSet":
        key = f"{pod.namespace}/{owner.name}"
        ending = f"-{pod.labels.get(HASH_LABEL)}"
        behind = deployments.get(key, owner.name.removesuffix(ending) if owner.name.endswith(ending) else "")
        if behind:
            yield "Deployment", behind
    elif owner.kind == "Job":
        yield "CronJob", owner.name.rpartition("-")[0]
