"""The resources of an API server that are read and written: where their paths are."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

import attrs


@attrs.frozen
class Resource:
    """A resource in one version of the API.

    >>> resource("PodDisruptionBudget", "policy/v1").path()
    '/apis/policy/v1/poddisruptionbudgets'
    >>> resource("Pod", "v1").path("shop", "web-0", "binding")
    '/api/v1/namespaces/shop/pods/web-0/binding'
    """

    kind: str
    group_version: str
    """``v1``, ``apps/v1`` and so on."""
    plural: str
    is_namespaced: bool = True

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """The path of all objects, of those in *namespace*, of one object, or of a part of it."""
        root = f"/apis/{self.group_version}" if "/" in self.group_version else f"/api/{self.group_version}"
        inside = ("namespaces", namespace) if namespace and self.is_namespaced else ()
        words = [*inside, self.plural, *filter(None, (name, subresource))]
        return "/".join([root, *(quote(word, safe="") for word in words)])


_DEVICES = ("resource.k8s.io/v1", "resource.k8s.io/v1beta2", "resource.k8s.io/v1beta1")
VERSIONS: Mapping[str, tuple[str, ...]] = {
    "Node": ("v1",),
    "Namespace": ("v1",),
    "PriorityClass": ("scheduling.k8s.io/v1", "scheduling.k8s.io/v1beta1"),
    "StorageClass": ("storage.k8s.io/v1",),
    "PersistentVolume": ("v1",),
    "PersistentVolumeClaim": ("v1",),
    "CSINode": ("storage.k8s.io/v1", "storage.k8s.io/v1beta1"),
    "CSIDriver": ("storage.k8s.io/v1", "storage.k8s.io/v1beta1"),
    "CSIStorageCapacity": ("storage.k8s.io/v1", "storage.k8s.io/v1beta1"),
    "VolumeAttachment": ("storage.k8s.io/v1",),
    "ResourceClaim": _DEVICES,
    "ResourceSlice": _DEVICES,
    "DeviceClass": _DEVICES,
    "Service": ("v1",),
    "ReplicationController": ("v1",),
    "ReplicaSet": ("apps/v1",),
    "StatefulSet": ("apps/v1",),
    "PodDisruptionBudget": ("policy/v1", "policy/v1beta1"),
    "Pod": ("v1",),
    "ResourceQuota": ("v1",),
    "LimitRange": ("v1",),
}
"""What decisions read, and what bounds new pods, with the versions of the API that may have it, newest first. A server need not have
every kind."""

KINDS = (*VERSIONS, "ConfigMap", "Endpoints", "Event", "Lease")
"""The kinds that are read or written."""
_WITHOUT_NAMESPACE = frozenset({
    "Node", "Namespace", "PersistentVolume", "StorageClass", "CSINode", "CSIDriver", "PriorityClass", "VolumeAttachment", "ResourceSlice",
    "DeviceClass",
})  # fmt: skip
DEVICE_KINDS = ("ResourceClaim", "ResourceSlice", "DeviceClass")
"""What gate DynamicResourceAllocation adds to what is listed."""


def resource(kind: str, group_version: str = "v1") -> Resource:
    """The resource of a kind in a version of the API.

    Upstream: UnsafeGuessKindToResource in k8s.io/apimachinery/pkg/api/meta/restmapper.go.

    >>> [resource(kind).plural for kind in ("StorageClass", "CSIStorageCapacity", "Endpoints", "Pod")]
    ['storageclasses', 'csistoragecapacities', 'endpoints', 'pods']
    """
    name = kind.lower()
    plural = f"{name}es" if name.endswith("s") else f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"
    return Resource(kind, group_version, name if name == "endpoints" else plural, kind not in _WITHOUT_NAMESPACE)


PODS, NODES = resource("Pod"), resource("Node")
