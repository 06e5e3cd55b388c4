"""The pods of DaemonSets: for which nodes they are made, and what they tolerate there.

Upstream: pkg/controller/daemon.
"""

from __future__ import annotations

from functools import lru_cache

from ..meaning import node_selector_matches, set_selector, tolerates
from ..objects import Affinity, Node, NodeSelector, Pod, PodSpec, Toleration

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
"""Effect -> the conditions of a node whose taints daemons tolerate; the last one on the host's network
alone."""
_ON_HOST_NETWORK = tuple(
    Toleration(key=f"node.kubernetes.io/{condition}", operator="Exists", effect=effect)
    for effect, conditions in _CONDITIONS.items()
    for condition in conditions
)
_ALWAYS = _ON_HOST_NETWORK[:-1]


def runs_on(spec: PodSpec, node: Node) -> bool:
    """Whether a DaemonSet makes a pod of *spec* for *node*: name, selector, required affinity and taints must
    allow it."""
    return stays_on(spec, node) and _tolerates(spec, node, "NoSchedule")


def stays_on(spec: PodSpec, node: Node) -> bool:
    """Whether a DaemonSet leaves a pod of *spec* on *node*, which may have got other labels and taints."""
    if spec.node_name not in ("", node.name) or not set_selector(spec.node_selector)(node.labels):
        return False
    affinity = (spec.affinity or Affinity()).node_affinity
    required = affinity.required if affinity else None
    if required is not None and not node_selector_matches(required, node.labels, node.name):
        return False
    return _tolerates(spec, node, "NoExecute")


def _tolerates(spec: PodSpec, node: Node, effect: str) -> bool:
    tolerations = daemon_tolerations(spec)
    return all(tolerates(tolerations, taint) for taint in node.spec.taints if taint.effect == effect)


def daemon_tolerations(spec: PodSpec) -> tuple[Toleration, ...]:
    """The tolerations of *spec* and those that every daemon gets; an added one replaces an equal one."""
    return _with_added(spec.tolerations, _ON_HOST_NETWORK if spec.host_network else _ALWAYS)


@lru_cache(maxsize=1 << 10)
def _with_added(tolerations: tuple[Toleration, ...], added: tuple[Toleration, ...]) -> tuple[Toleration, ...]:
    return tuple({(t.key, t.effect, t.operator, t.value): t for t in (*tolerations, *added)}.values())


def target_node(pod: Pod) -> str | None:
    """The node that a daemon runs on or is made for; None without one."""
    if pod.node_name:
        return pod.node_name
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
