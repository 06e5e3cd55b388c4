"""Manifests of small nodes and pods for tests, from few words."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def node(
    name: str = "a",
    cpu: object = "4",
    memory: str = "32Gi",
    pods: object = "110",
    *,
    labels: Json | None = None,
    **more: Any,
) -> Json:
    """A node; *more*: ``allocatable`` (added to cpu, memory, pods), ``taints``, ``conditions``, ``images``,
    ``unschedulable`` and so on."""
    allocatable = {"cpu": cpu, "memory": memory, "pods": pods} | more.pop("allocatable", {})
    meta = {"name": name, "labels": labels or {}, "annotations": more.pop("annotations", {})}
    spec = {key: more.pop(key) for key in ("taints", "unschedulable") if key in more}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": meta,
        "spec": spec,
        "status": {"allocatable": allocatable, **more},
    }


def pod(
    name: str = "web",
    cpu: object = None,
    *,
    on: str = "",
    requests: Json | None = None,
    limits: Json | None = None,
    labels: Json | None = None,
    namespace: str = "default",
    **spec: Any,
) -> Json:
    """A pod, bound with *on*; *spec*: further fields of its spec, by the API's names; ``metadata`` and
    ``status`` are merged in."""
    meta = {"name": name, "namespace": namespace, "labels": labels or {}} | spec.pop("metadata", {})
    status = spec.pop("status", {})
    amounts = ({} if cpu is None else {"cpu": cpu}) | (requests or {})
    containers = [
        {
            "name": "c",
            "image": "img",
            "resources": {"requests": amounts, **({"limits": limits} if limits else {})},
        }
    ]
    spec = {"containers": containers, **({"nodeName": on} if on else {}), **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": status}
