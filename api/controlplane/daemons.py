"""The pods of a DaemonSet: which nodes get one, their tolerations, and the affinity to the one node.

Upstream: pkg/controller/daemon/util/daemonset_util.go, pkg/controller/daemon/daemon_controller.go
"""

from __future__ import annotations

from functools import lru_cache

from msgspec.structs import replace

from ..meaning.labels import node_selector_matches, set_selector, tolerates
from ..objects import (
    Affinity,
    Node,
    NodeAffinity,
    NodeSelector,
    NodeSelectorTerm,
    Pod,
    PodSpec,
    Requirement,
    Toleration,
)


def _exists(condition: str, effect: str) -> Toleration:
    return Toleration(key=f"node.kubernetes.io/{condition}", operator="Exists", effect=effect)


_ALWAYS = (
    _exists("not-ready", "NoExecute"),
    _exists("unreachable", "NoExecute"),
    _exists("disk-pressure", "NoSchedule"),
    _exists("memory-pressure", "NoSchedule"),
    _exists("pid-pressure", "NoSchedule"),
    _exists("unschedulable", "NoSchedule"),
)
_ON_HOST_NETWORK = (_exists("network-unavailable", "NoSchedule"),)


def runs_on(spec: PodSpec, node: Node) -> bool:
    """Whether a DaemonSet makes a pod of *spec* for *node*: name, selector, required affinity and taints must allow it."""
    if spec.node_name and spec.node_name != node.name:
        return False
    if not set_selector(spec.node_selector)(node.labels):
        return False
    required = spec.affinity.node_affinity.required if spec.affinity and spec.affinity.node_affinity else None
    if required is not None and not node_selector_matches(required, node.labels, node.name):
        return False
    tolerations = daemon_tolerations(spec)
    return all(tolerates(tolerations, taint) for taint in node.spec.taints if taint.effect in ("NoSchedule", "NoExecute"))


def daemon_tolerations(spec: PodSpec) -> tuple[Toleration, ...]:
    """The tolerations of *spec* and those that every daemon gets; an added one replaces an equal one."""
    added = _ALWAYS + _ON_HOST_NETWORK if spec.host_network else _ALWAYS
    return _merged(spec.tolerations, added)


@lru_cache(maxsize=1 << 10)
def _merged(given: tuple[Toleration, ...], added: tuple[Toleration, ...]) -> tuple[Toleration, ...]:
    by_identity = {(t.key, t.effect, t.operator, t.value): t for t in (*given, *added)}
    return tuple(by_identity.values())


def daemon_spec(spec: PodSpec, node_name: str) -> PodSpec:
    """The specification of the daemon for one node: its required node affinity names only that node."""
    return replace(spec, tolerations=daemon_tolerations(spec), affinity=_tied(spec.affinity, node_name))


def _tied(affinity: Affinity | None, node_name: str) -> Affinity:
    field = Requirement(key="metadata.name", operator="In", values=(node_name,))
    required = NodeSelector(node_selector_terms=(NodeSelectorTerm(match_fields=(field,)),))
    base = affinity or Affinity()
    return replace(base, node_affinity=replace(base.node_affinity or NodeAffinity(), required=required))


def target_node(pod: Pod) -> str | None:
    """The node that a daemon runs on or is made for; None without one."""
    if pod.spec.node_name:
        return pod.spec.node_name
    affinity = pod.spec.affinity and pod.spec.affinity.node_affinity
    terms = affinity.required.node_selector_terms if affinity and affinity.required else ()
    fields = (field for term in terms for field in term.match_fields)
    return next((f.values[0] for f in fields if f.key == "metadata.name" and f.operator == "In" and len(f.values) == 1), None)
