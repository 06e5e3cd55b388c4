"""Is this the one node that the pod names?"""

from __future__ import annotations

from .rule import POD_NOT_MATCH_HOST_NAME, Batch, Cycle, Failures, Reads, Template, predicate


@predicate(
    "HostName",
    reads=Reads.NODE,
    key=lambda pod: pod.spec.node_name,
    concerns=lambda pod: bool(pod.spec.node_name),
)
def pod_fits_host(pod: Template, nodes: Batch, cycle: Cycle) -> Failures | None:
    """Turn down every node but the one that *pod*'s ``spec.nodeName`` names, if it names one.

    Upstream: pkg/scheduler/algorithm/predicates/predicates.go PodFitsHost.
    """
    name = pod.spec.node_name
    return Failures.where(POD_NOT_MATCH_HOST_NAME, ~nodes.named(name)) if name else None
