"""The short names of fields: ``requests.cpu`` of a pod is ``spec.containers[*].resources.requests.cpu``."""

from __future__ import annotations

from collections.abc import Mapping

from .paths import EVERY, EditError, Path, Step, parse_path, text_of

TOP = ("metadata", "spec", "status")
FIXED = ("apiVersion", "kind", "metadata.name", "metadata.namespace", "metadata.uid", "name", "namespace", "uid")
"""These say which object it is, and stay."""
POD_TEMPLATES: Mapping[str, str] = {
    **dict.fromkeys(("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "ReplicationController"), "spec.template.spec"),
    "Pod": "spec",
    "CronJob": "spec.jobTemplate.spec.template.spec",
}
"""Kind -> where the spec of its pods is."""
OF_PODS = frozenset([
    "affinity", "containers", "hostNetwork", "initContainers", "nodeName", "nodeSelector", "overhead", "preemptionPolicy", "priority",
    "priorityClassName", "schedulerName", "schedulingGates", "terminationGracePeriodSeconds", "tolerations",
    "topologySpreadConstraints", "volumes",
])  # fmt: skip
"""Fields of the spec of pods."""
OF_NODE_STATUS = frozenset(["allocatable", "capacity", "conditions", "images", "nodeInfo", "volumesAttached", "volumesInUse"])
SINGULAR: Mapping[str, str] = {
    name: f"{name}s" for name in ("request", "limit", "label", "annotation", "toleration", "taint")
}  # fmt: skip
"""What one may write for a short name that has an s."""
WITHOUT_SPEC = ("StorageClass", "PriorityClass", "CSINode", "CSIDriver", "CSIStorageCapacity", "ConfigMap")


def path_for(kind: str, text: str) -> Path:
    """The path that *text* means for objects of *kind*. Raises :class:`EditError`.

    >>> text_of(path_for("Pod", "requests.cpu")), text_of(path_for("Node", "taints")), text_of(path_for("Deployment", "replicas"))
    ('spec.containers[*].resources.requests.cpu', 'spec.taints', 'spec.replicas')
    """
    path = parse_path(text)
    if (meant := SINGULAR.get(path[0].name)) is not None:
        raise EditError(f'got the field "{text}", wanted one that there is; did you mean "{meant}{text.removeprefix(path[0].name)}"?')
    found = (*_before(kind, path[0].name), *path)
    if text_of(found) in FIXED:
        raise EditError(f'got the field "{text}", which says which object it is, wanted another one')
    return found


def _before(kind: str, first: str) -> Path:
    """The steps before a short path that begins with *first*."""
    pods = POD_TEMPLATES.get(kind)
    if first in TOP or first in FIXED:
        return ()
    if first in ("labels", "annotations"):
        return (Step("metadata"),)
    if pods is not None and first in ("requests", "limits"):
        return (*parse_path(pods), Step("containers"), Step(EVERY, is_item=True), Step("resources"))
    if pods is not None and first in OF_PODS:
        return parse_path(pods)
    if kind == "Node" and first in OF_NODE_STATUS:
        return (Step("status"),)
    if kind == "PersistentVolumeClaim" and first == "requests":
        return parse_path("spec.resources")
    return () if kind in WITHOUT_SPEC else (Step("spec"),)
