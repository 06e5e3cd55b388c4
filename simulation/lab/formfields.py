"""What the forms of a page show of a pod or a node: its fields as short texts, in the words that edits take."""

from __future__ import annotations

from typing import Any

from ...api.objects import Node, Pod, Taint, Toleration
from ...api.wire.ownfields import current_manifest
from ...core.pods.requests import CPU, MEMORY, PODS
from ..scenario import Scenario
from .labinput import check_node
from .why import found_pod


def form_of(scenario: Scenario, kind: str, name: str) -> dict[str, Any]:
    """The fields of the pod or node *name* as plain data. Raises :class:`~.source.LabError` for a name that nothing has."""
    if kind == "pod":
        return {"kind": kind, "name": name, **_of_pod(found_pod(scenario, name))}
    return {"kind": "node", "name": name, **_of_node(check_node(name, scenario, "node"))}


def _of_pod(pod: Pod) -> dict[str, Any]:
    containers = current_manifest(pod).get("spec", {}).get("containers") or [{}]
    first = containers[0].get("resources", {}).get("requests", {})
    spread = [f"{one.topology_key}:{one.max_skew}:{one.when_unsatisfiable}" for one in pod.spec.topology_spread_constraints]
    return {
        "containers": len(containers), "labels": dict(pod.labels),
        "fields": {
            "requests.cpu": str(first.get("cpu", "")), "requests.memory": str(first.get("memory", "")), "priority": str(pod.priority),
            "nodeSelector": _pairs(pod.spec.node_selector or {}), "tolerations": [_toleration(one) for one in pod.spec.tolerations],
            "topologySpreadConstraints": spread,
        },
    }  # fmt: skip


def _of_node(node: Node) -> dict[str, Any]:
    had = current_manifest(node).get("status", {}).get("allocatable", {})
    return {
        "fields": {
            **{f"allocatable.{name}": str(had.get(name, "")) for name in (CPU, MEMORY, PODS)},
            "taints": [_taint(one) for one in node.spec.taints], "labels": _pairs(node.labels),
        }
    }  # fmt: skip


def _pairs(found: Any) -> list[str]:
    return [f"{key}={value}" for key, value in found.items()]


def _taint(taint: Taint) -> str:
    return f"{taint.key}{f'={taint.value}' if taint.value else ''}:{taint.effect}"


def _toleration(found: Toleration) -> str:
    if not found.key:
        return "*"
    value = f"={found.value}" if found.operator != "Exists" else ""
    return f"{found.key}{value}{f':{found.effect}' if found.effect else ''}"
