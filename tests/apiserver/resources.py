"""Which resources a version of the API server has, and what is particular to each."""

from __future__ import annotations

from functools import cached_property

import attrs

from .answers import Json


@attrs.frozen(slots=False)
class Resource:
    """One resource of one API version, such as ``pods`` of ``v1``."""

    group: str
    version: str
    plural: str
    kind: str
    is_namespaced: bool = True
    has_status: bool = False
    """It has a status subresource, so a PUT of the object leaves the status as it was."""
    needs_version: bool = False
    """A PUT without a resourceVersion is refused."""
    is_cached: bool = True
    """Reads with a resourceVersion come from the watch cache, not from etcd."""

    @cached_property
    def api_version(self):
        """``v1``, ``apps/v1``."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @cached_property
    def qualified(self):
        """``pods``, ``leases.coordination.k8s.io``: how messages name the resource."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @cached_property
    def base(self):
        """The path before the resource or its namespace."""
        return f"/apis/{self.group}/{self.version}" if self.group else "/api/v1"

    def path(self, namespace, name=""):
        """The path of the collection or of one object."""
        scope = f"/namespaces/{namespace}" if namespace else ""
        return f"{self.base}{scope}/{self.plural}{'/' + name if name else ''}"

    def details(self, name, kind=None):
        """The details of a Status about an object."""
        named = {"name": name} if name else {}
        return {**named, **({"group": self.group} if self.group else {}), "kind": kind or self.plural}


CORE = (
    Resource("", "v1", "configmaps", "ConfigMap"),
    Resource("", "v1", "endpoints", "Endpoints"),
    Resource("", "v1", "events", "Event", is_cached=False),
    Resource("", "v1", "namespaces", "Namespace", is_namespaced=False, has_status=True),
    Resource("", "v1", "nodes", "Node", is_namespaced=False, has_status=True),
    Resource("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", has_status=True),
    Resource("", "v1", "persistentvolumes", "PersistentVolume", is_namespaced=False, has_status=True),
    Resource("", "v1", "pods", "Pod", has_status=True),
    Resource("", "v1", "replicationcontrollers", "ReplicationController", has_status=True),
    Resource("", "v1", "services", "Service", has_status=True),
    Resource("apps", "v1", "daemonsets", "DaemonSet", has_status=True),
    Resource("apps", "v1", "deployments", "Deployment", has_status=True),
    Resource("apps", "v1", "replicasets", "ReplicaSet", has_status=True),
    Resource("apps", "v1", "statefulsets", "StatefulSet", has_status=True),
    Resource("coordination.k8s.io", "v1", "leases", "Lease", needs_version=True),
    Resource(
        "rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", is_namespaced=False
    ),
    Resource("rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", is_namespaced=False),
    Resource("rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding"),
    Resource("rbac.authorization.k8s.io", "v1", "roles", "Role"),
    Resource("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", is_namespaced=False),
    Resource("storage.k8s.io", "v1", "storageclasses", "StorageClass", is_namespaced=False),
    Resource(
        "storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment", is_namespaced=False, has_status=True
    ),
)
OLD = (
    *CORE,
    Resource("policy", "v1beta1", "poddisruptionbudgets", "PodDisruptionBudget", has_status=True),
    Resource("storage.k8s.io", "v1beta1", "csidrivers", "CSIDriver", is_namespaced=False),
    Resource("storage.k8s.io", "v1beta1", "csinodes", "CSINode", is_namespaced=False),
)
NEW = (
    *CORE,
    Resource("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", has_status=True),
    Resource("storage.k8s.io", "v1", "csidrivers", "CSIDriver", is_namespaced=False),
    Resource("storage.k8s.io", "v1", "csinodes", "CSINode", is_namespaced=False),
    Resource("storage.k8s.io", "v1", "csistoragecapacities", "CSIStorageCapacity"),
)
NEWEST = (
    *NEW,
    Resource(
        "storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment", is_namespaced=False, has_status=True
    ),
    Resource("resource.k8s.io", "v1", "resourceclaims", "ResourceClaim", has_status=True),
    Resource("resource.k8s.io", "v1", "resourceslices", "ResourceSlice", is_namespaced=False),
    Resource("resource.k8s.io", "v1", "deviceclasses", "DeviceClass", is_namespaced=False),
)


@attrs.frozen(slots=False)
class Flavour:
    """One version of the API server: what it has, and in which points it differs."""

    version: str
    resources: tuple[Resource, ...]
    form: str
    """The release whose fields the objects have."""
    has_self_link: bool
    checks_binding: bool
    """A Binding with another UID or another name than the pod's is refused."""
    too_old_reason: str
    """The reason of the 410 that the watch cache answers."""
    shows_removal: bool
    """The answer to the deletion of a pod that goes at once has the revision of its removal, not of its mark.
    """
    counts_remaining: bool
    """A list with ``limit`` says how many are left."""
    pod_defaults: Json

    @cached_property
    def by_path(self):
        """(group, version, plural) -> resource."""
        return {(resource.group, resource.version, resource.plural): resource for resource in self.resources}

    @cached_property
    def groups(self):
        """Group -> its versions; the core group is the empty one."""
        found = {}
        for resource in self.resources:
            found.setdefault(resource.group, {})[resource.version] = None
        return {group: tuple(versions) for group, versions in found.items()}

    def resource(self, plural):
        """The resource with that plural; of ``events``, that of the core group."""
        return next(resource for resource in self.resources if resource.plural == plural)


OLD_SERVER = Flavour("1.15.5", OLD, "1.15", True, False, "Gone", False, False, {})
NEW_SERVER = Flavour(
    "1.28.7", NEW, "1.27", False, True, "Expired", True, True, {"preemptionPolicy": "PreemptLowerPriority"}
)
NEWEST_SERVER = attrs.evolve(NEW_SERVER, version="1.34.1", resources=NEWEST, form="1.34")
FLAVOURS = {flavour.version: flavour for flavour in (OLD_SERVER, NEW_SERVER, NEWEST_SERVER)}
