"""How full the nodes of a cluster are by what their pods request, for pictures: the scheduler itself counts in core/arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from .controlplane.quotas import usage
from .objects import Node, Pod
from .view import NodeMap

RESOURCES = ("cpu", "memory")
ZONES = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")


def uses_of(nodes: Sequence[Node], pods: Iterable[Pod]) -> NodeMap | None:
    """The nodes with the share of each resource that *pods*, which have a node, request; None without nodes."""
    if not nodes:
        return None
    requested = Counter[tuple[str, str]]()
    for pod in pods:
        used = usage(pod)
        for resource in RESOURCES:
            if f"requests.{resource}" in used:
                requested[pod.spec.node_name, resource] += used[f"requests.{resource}"].milli_value()
    uses = {resource: [_share(node, resource, requested[node.name, resource]) for node in nodes] for resource in RESOURCES}
    return NodeMap([node.name for node in nodes], uses, [_zone(node) for node in nodes])


def _share(node: Node, resource: str, requested: int) -> float | None:
    found = node.status.allocatable.get(resource)
    return requested / found.milli_value() if found is not None and found.milli_value() > 0 else None


def _zone(node: Node) -> str:
    return next((node.labels[label] for label in ZONES if label in node.labels), "")
