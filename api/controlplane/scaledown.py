"""The pods that controllers delete when a workload is scaled down or suspended.

Upstream: ActivePodsWithRanks in pkg/controller/controller_utils.go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ..objects import JsonObject, Pod
from .disruption import is_ready
from .workloads import Ownership, read_workload

SCALES = ("replicas", "parallelism", "suspend")
"""The fields that say how many pods a workload has."""
_COST = "controller.kubernetes.io/pod-deletion-cost"
_STATEFUL = "StatefulSet"


def surplus(scaled: Iterable[JsonObject], workloads: Iterable[JsonObject], pods: Iterable[Pod]) -> list[Pod]:
    """The *pods* that the controllers of *scaled*, manifests among *workloads*, have too many of."""
    owners = Ownership(list(map(read_workload, workloads)))
    owners.take_in(pods)
    gone = list[Pod]()
    for workload in map(read_workload, scaled):
        own = owners.pods_of(workload)
        wanted = workload.wanted_pods(len(own))
        if workload.kind == "Deployment":  # its ReplicaSets have their own, unless they are not in the input
            own = [pod for lost in owners.lost_replica_sets(workload) for pod in lost.pods]
            wanted -= sum(item.spec.replicas for item in owners.workloads_of(workload, "ReplicaSet"))
        if workload.kind == _STATEFUL:
            start = workload.spec.ordinals.start
            ordinals = range(start, start + wanted)
            tails = [(pod, pod.name.rpartition("-")[2]) for pod in own]
            gone += [pod for pod, tail in tails if tail.isdecimal() and int(tail) not in ordinals]
            continue
        together = Counter(pod.node_name for pod in own)

        def rank(pod: Pod, together: Counter[str] = together) -> tuple[bool, bool, bool, int, int]:
            # Those that would be missed least come first.
            cost = pod.annotations.get(_COST, "")
            return (
                bool(pod.node_name),
                pod.status.phase != "Pending",
                is_ready(pod),
                int(cost) if cost.removeprefix("-").isdecimal() else 0,
                -together[pod.node_name],
            )

        own.sort(key=lambda pod: pod.metadata.creation_timestamp or "", reverse=True)
        gone += sorted(own, key=rank)[: max(len(own) - max(wanted, 0), 0)]
    return gone
