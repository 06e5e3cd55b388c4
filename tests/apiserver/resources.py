"""The resources of each version of the API server, and the properties of each."""

from functools import cached_property

import attrs


@attrs.frozen(slots=False)
class Resource:
    """One resource of one API version, such as ``pods`` of ``v1``."""

    group: str
    version: str
    plural: str
    kind: str
    is_namespaced: bool = True
    has_status: bool = False
    """Whether it has a status subresource, so that a PUT of the object leaves the status as it was."""
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


def resources_of(table):
    """The resources of a table: API version, plural, kind, and words for what is particular."""
    found = []
    for api_version, plural, kind, *words in map(str.split, table.strip().splitlines()):
        group, _, version = api_version.rpartition("/")
        is_namespaced = "cluster" not in words
        has_status = "status" in words
        found.append(
            Resource(
                group,
                version,
                plural,
                kind,
                is_namespaced,
                has_status,
                "versioned" in words,
                "uncached" not in words,
            )
        )
    return tuple(found)


CORE = resources_of("""
v1 configmaps ConfigMap
v1 endpoints Endpoints
v1 events Event uncached
v1 namespaces Namespace cluster status
v1 nodes Node cluster status
v1 persistentvolumeclaims PersistentVolumeClaim status
v1 persistentvolumes PersistentVolume cluster status
v1 pods Pod status
v1 replicationcontrollers ReplicationController status
v1 services Service status
apps/v1 daemonsets DaemonSet status
apps/v1 deployments Deployment status
apps/v1 replicasets ReplicaSet status
apps/v1 statefulsets StatefulSet status
coordination.k8s.io/v1 leases Lease versioned
rbac.authorization.k8s.io/v1 clusterrolebindings ClusterRoleBinding cluster
rbac.authorization.k8s.io/v1 clusterroles ClusterRole cluster
rbac.authorization.k8s.io/v1 rolebindings RoleBinding
rbac.authorization.k8s.io/v1 roles Role
scheduling.k8s.io/v1 priorityclasses PriorityClass cluster
storage.k8s.io/v1 storageclasses StorageClass cluster
storage.k8s.io/v1 volumeattachments VolumeAttachment cluster status
""")
OLD = CORE + resources_of("""
policy/v1beta1 poddisruptionbudgets PodDisruptionBudget status
storage.k8s.io/v1beta1 csidrivers CSIDriver cluster
storage.k8s.io/v1beta1 csinodes CSINode cluster
""")
NEW = CORE + resources_of("""
policy/v1 poddisruptionbudgets PodDisruptionBudget status
storage.k8s.io/v1 csidrivers CSIDriver cluster
storage.k8s.io/v1 csinodes CSINode cluster
storage.k8s.io/v1 csistoragecapacities CSIStorageCapacity
""")
NEWEST = NEW + resources_of("""
storage.k8s.io/v1 volumeattachments VolumeAttachment cluster status
resource.k8s.io/v1 resourceclaims ResourceClaim status
resource.k8s.io/v1 resourceslices ResourceSlice cluster
resource.k8s.io/v1 deviceclasses DeviceClass cluster
""")


@attrs.frozen(slots=False)
class Flavour:
    """One version of the API server: what it has, and in which points it differs."""

    version: str
    resources: tuple
    form: str
    """The release whose fields the objects have."""
    has_self_link: bool
    checks_binding: bool
    """A Binding with another UID or another name than the pod's is refused."""
    too_old_reason: str
    """The reason of the 410 that the watch cache answers."""
    shows_removal: bool
    """The answer to the deletion of a pod that goes at once has the revision of its removal, not of its
    mark."""
    counts_remaining: bool
    """A list with ``limit`` says how many are left."""
    pod_defaults: object

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
