"""The pods that controllers delete when a workload is scaled down or suspended.

Upstream: ActivePodsWithRanks in pkg/controller/controller_utils.go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from operator import itemgetter

from ..objects import JsonObject, Pod
from .disruption import MOST_DIGITS, is_ready
from .ownership import Ownership, Workload, read_workload
from .workloads import completion_index, is_next_due

SCALES = ("replicas", "parallelism", "suspend")
"""The fields that say how many pods a workload has."""
_COST = "controller.kubernetes.io/pod-deletion-cost"
_STATEFUL = "StatefulSet"
_PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}


def surplus(scaled: Iterable[JsonObject], workloads: Iterable[JsonObject], pods: Iterable[Pod]) -> list[Pod]:
    """The *pods* that the controllers of *scaled*, manifests among *workloads*, have too many of; those of a
    Deployment's ReplicaSets count."""
    owners = Ownership(list(map(read_workload, workloads)))
    owners.take_in(pods)
    gone = list[Pod]()
    changed = list(map(read_workload, scaled))
    for workload in (
        *changed,
        *(item for each in changed for item in owners.workloads_of(each, "ReplicaSet")),
    ):
        if workload.kind == "Deployment":  # its ReplicaSets have their own, unless they are not in the input
            own = [pod for lost in owners.lost_replica_sets(workload) for pod in lost.pods]
            replica_sets = owners.workloads_of(workload, "ReplicaSet")
            wanted = workload.spec.replicas - sum(item.spec.replicas for item in replica_sets)
        else:
            own = owners.pods_of(workload)
            wanted = workload.wanted_pods(len(own))
        if workload.kind == _STATEFUL:
            gone += _beyond(workload, [*own, *owners.leaving_pods_of(workload)])
            continue
        ordered = _first_to_go(workload, own, _together(owners, workload, own))
        ordered = (
            _repeated_first(workload, ordered) if workload.spec.completion_mode == "Indexed" else ordered
        )
        gone += ordered[: max(len(own) - max(wanted, 0), 0)]
    return gone


def _beyond(workload: Workload, pods: Iterable[Pod]) -> list[Pod]:
    """The pods that a StatefulSet deletes of its *pods*: those whose numbers it does not have any more. In
    order, none while one that stays is not ready, nor after another such pod but the last."""
    start = workload.spec.ordinals.start
    numbered = [(int(tail), pod) for pod in pods if (tail := pod.name.rpartition("-")[2]).isdecimal()]
    beyond = dict[int, Pod]()
    for ordinal, pod in sorted(numbered, key=itemgetter(0), reverse=True):
        if ordinal not in range(start, start + workload.spec.replicas):
            beyond[ordinal] = pod
        elif not is_next_due(workload, pod):
            return []
    lowest = min((ordinal for ordinal, pod in beyond.items() if not is_next_due(workload, pod)), default=None)
    gone = list[Pod]()
    for ordinal, pod in beyond.items():
        if not is_next_due(workload, pod) and (pod.is_terminating or ordinal != lowest):
            break
        gone += [] if pod.is_terminating else [pod]
    return gone


def _together(owners: Ownership, workload: Workload, own: Sequence[Pod]) -> Counter[str]:
    """Node -> how many pods of *workload*, and of the other ReplicaSets of its controller, it has; none for a
    ReplicaSet of its own."""
    deployment = owners.owner_of(workload)
    siblings = owners.workloads_of(deployment, "ReplicaSet") if deployment is not None else ()
    related = [pod for item in siblings for pod in owners.pods_of(item)]
    is_alone = workload.kind != "Deployment" and workload.metadata.controller is None
    return Counter[str]() if is_alone else Counter(pod.node_name for pod in related or own)


def _first_to_go(workload: Workload, pods: Iterable[Pod], together: Counter[str]) -> list[Pod]:
    """*pods* in the order in which their controller deletes them, those that would be missed least first."""
    is_job = workload.kind == "Job"

    def ready_since(pod: Pod) -> tuple[bool, str]:
        times = (item.last_transition_time for item in pod.status.conditions if item.type == "Ready")
        return _latest_first(next(times, None) if is_ready(pod) else None)

    def rank(pod: Pod) -> tuple[bool, int, bool, int, int]:
        return (
            bool(pod.node_name),
            _PHASES.get(pod.status.phase, 0),
            is_ready(pod),
            0 if is_job else _cost(pod.annotations.get(_COST, "")),
            0 if is_job else -together[pod.node_name],
        )

    latest_first = sorted(pods, key=lambda pod: _latest_first(pod.metadata.creation_timestamp), reverse=True)
    return sorted(sorted(latest_first, key=ready_since, reverse=True), key=rank)


def _latest_first(time: str | None) -> tuple[bool, str]:
    """A key for the reverse order of times, in which none comes first."""
    return time is None, time or ""


def _cost(text: str) -> int:
    """The cost of deleting a pod; 0 for a text that is no int32 in its shortest form."""
    digits = text.removeprefix("-")
    is_number = digits.isascii() and digits.isdecimal() and len(digits) <= MOST_DIGITS
    cost = int(text) if is_number and (text == "0" or text[0] != "0") else 0
    return cost if -(2**31) <= cost < 2**31 else 0


def _repeated_first(job: Workload, ordered: Iterable[Pod]) -> list[Pod]:
    """*ordered* pods of an indexed Job; those go first whose index it does not have, or another one has."""
    last = {completion_index(pod): pod for pod in ordered}
    indexes = range(job.spec.completions or 0)
    return sorted(ordered, key=lambda pod: (i := completion_index(pod)) in indexes and last[i] is pod)
