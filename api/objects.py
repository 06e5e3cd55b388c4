"""Kubernetes objects as frozen values: the fields that scheduling reads, named as in the API but in snake_case.

Lists are tuples, maps are :class:`Map` (a hashable dict), quantities are :class:`~kubeclassic.api.quantity.Quantity`.
``None`` is kept only where the API tells *absent* from *empty* and a rule reads the difference.
Nothing here knows about scheduling.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, NoReturn, TypeVar

import attrs

from .quantity import Quantity

V = TypeVar("V")


class Map(dict[str, V]):
    """A dict of strings that is hashable, for use inside frozen values. Do not change it once built.

    >>> Map(a="1") == Map(a="1"), hash(Map(a="1")) == hash(Map({"a": "1"}))
    (True, True)
    """

    __slots__ = ("_hash",)
    _hash: int

    def __hash__(self) -> int:  # type: ignore[override]  # dict says it has none
        try:
            return self._hash
        except AttributeError:
            self._hash = hash(frozenset(self.items()))
            return self._hash

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("a Map cannot be changed")

    __setitem__ = __delitem__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return (Map, (dict(self),))


NO_STRINGS: Map[str] = Map()
NO_QUANTITIES: Map[Quantity] = Map()


# --- metadata -------------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class OwnerReference:
    """Who made an object; *controller* marks the one owner that manages it."""

    kind: str = ""
    name: str = ""
    uid: str = ""
    api_version: str = ""
    controller: bool = False


@attrs.frozen(kw_only=True)
class ObjectMeta:
    """Name, namespace, labels and the like. Timestamps are RFC 3339 texts, None when absent."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    labels: Map[str] = NO_STRINGS
    annotations: Map[str] = NO_STRINGS
    owner_references: tuple[OwnerReference, ...] = ()

    @property
    def controller(self) -> OwnerReference | None:
        """The owner that manages the object: the first with ``controller: true``."""
        return next((owner for owner in self.owner_references if owner.controller), None)


@attrs.frozen(kw_only=True)
class KubeObject:
    """What every kind has: metadata, and shortcuts into it."""

    kind: ClassVar[str] = ""
    namespaced: ClassVar[bool] = True

    metadata: ObjectMeta = ObjectMeta()

    @property
    def name(self) -> str:
        return self.metadata.name

    @property
    def namespace(self) -> str:
        """The namespace, ``default`` where none is given, empty for kinds that have none."""
        return (self.metadata.namespace or "default") if self.namespaced else ""

    @property
    def key(self) -> str:
        """``namespace/name``, or the name alone for kinds without a namespace."""
        return f"{self.namespace}/{self.metadata.name}" if self.namespaced else self.metadata.name

    @property
    def uid(self) -> str:
        """The UID; where none is given the key stands for it."""
        return self.metadata.uid or self.key

    @property
    def labels(self) -> Map[str]:
        return self.metadata.labels

    @property
    def annotations(self) -> Map[str]:
        return self.metadata.annotations


# --- selectors ------------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True, cache_hash=True)
class Requirement:
    """One expression of a label or node selector: key, operator (``In``, ``Exists``, ``Gt``, ...), values."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


@attrs.frozen(kw_only=True, cache_hash=True)
class LabelSelector:
    """Which labels match: all pairs of match_labels and all of match_expressions. Empty matches everything, None nothing."""

    match_labels: Map[str] = NO_STRINGS
    match_expressions: tuple[Requirement, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not self.match_labels and not self.match_expressions


@attrs.frozen(kw_only=True, cache_hash=True)
class NodeSelectorTerm:
    """Expressions over a node's labels and fields, all of which must hold; none at all matches nothing."""

    match_expressions: tuple[Requirement, ...] = ()
    match_fields: tuple[Requirement, ...] = ()


@attrs.frozen(kw_only=True, cache_hash=True)
class NodeSelector:
    """Terms of which at least one must match; no term at all matches nothing."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] = ()


@attrs.frozen(kw_only=True, cache_hash=True)
class PreferredSchedulingTerm:
    """A node selector term with the weight that a matching node gains."""

    weight: int = 0
    preference: NodeSelectorTerm = NodeSelectorTerm()


@attrs.frozen(kw_only=True, cache_hash=True)
class NodeAffinity:
    """Node affinity; *required* and *preferred* stand for the API's ``...DuringSchedulingIgnoredDuringExecution``."""

    required: NodeSelector | None = None
    preferred: tuple[PreferredSchedulingTerm, ...] = ()


@attrs.frozen(kw_only=True, cache_hash=True)
class PodAffinityTerm:
    """Pods (selector, namespaces) in the same topology domain (*topology_key*)."""

    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    topology_key: str = ""
    namespace_selector: LabelSelector | None = None


@attrs.frozen(kw_only=True, cache_hash=True)
class WeightedPodAffinityTerm:
    """A preferred pod affinity term and its weight."""

    weight: int = 0
    pod_affinity_term: PodAffinityTerm = PodAffinityTerm()


@attrs.frozen(kw_only=True, cache_hash=True)
class PodAffinity:
    """Pod affinity or pod anti-affinity: required and preferred terms."""

    required: tuple[PodAffinityTerm, ...] = ()
    preferred: tuple[WeightedPodAffinityTerm, ...] = ()


@attrs.frozen(kw_only=True, cache_hash=True)
class Affinity:
    """A pod's affinities; None where the object is absent, which upstream tells from an empty one."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


# --- pods -----------------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True, cache_hash=True)
class Toleration:
    """Which taints a pod tolerates."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


@attrs.frozen(kw_only=True, cache_hash=True)
class TopologySpreadConstraint:
    """How evenly pods are to be spread over the domains of *topology_key*."""

    max_skew: int = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] = ()


@attrs.frozen(kw_only=True, cache_hash=True)
class ContainerPort:
    """A port of a container; only those with a *host_port* matter here."""

    container_port: int = 0
    host_port: int = 0
    host_ip: str = ""
    protocol: str = ""
    name: str = ""


@attrs.frozen(kw_only=True, cache_hash=True)
class Container:
    """A container (or init container): image, requests, limits, ports."""

    name: str = ""
    image: str = ""
    requests: Map[Quantity] = NO_QUANTITIES
    limits: Map[Quantity] = NO_QUANTITIES
    ports: tuple[ContainerPort, ...] = ()


@attrs.frozen(kw_only=True, cache_hash=True)
class GCEPersistentDisk:
    pd_name: str = ""
    read_only: bool = False


@attrs.frozen(kw_only=True, cache_hash=True)
class AWSElasticBlockStore:
    volume_id: str = ""
    read_only: bool = False


@attrs.frozen(kw_only=True, cache_hash=True)
class ISCSI:
    iqn: str = ""
    target_portal: str = ""
    lun: int = 0
    read_only: bool = False


@attrs.frozen(kw_only=True, cache_hash=True)
class RBD:
    """A Ceph block device; a PersistentVolume's and a pod's have the same fields here."""

    monitors: tuple[str, ...] = ()
    pool: str = ""
    image: str = ""
    read_only: bool = False


@attrs.frozen(kw_only=True, cache_hash=True)
class AzureDisk:
    disk_name: str = ""
    disk_uri: str = ""
    read_only: bool = False


@attrs.frozen(kw_only=True, cache_hash=True)
class Cinder:
    volume_id: str = ""
    read_only: bool = False


@attrs.frozen(kw_only=True, cache_hash=True)
class CSI:
    """A CSI volume: of a PersistentVolume (driver, volume_handle) or inline (driver alone)."""

    driver: str = ""
    volume_handle: str = ""
    read_only: bool = False


@attrs.frozen(kw_only=True, cache_hash=True)
class VolumeSource:
    """The disk types that a rule looks at; at most one is set, all None for every other type."""

    gce_persistent_disk: GCEPersistentDisk | None = None
    aws_elastic_block_store: AWSElasticBlockStore | None = None
    iscsi: ISCSI | None = None
    rbd: RBD | None = None
    azure_disk: AzureDisk | None = None
    cinder: Cinder | None = None
    csi: CSI | None = None


@attrs.frozen(kw_only=True, cache_hash=True)
class Volume(VolumeSource):
    """A volume of a pod: a disk, a claim by name (None: no claim), or a generic ephemeral volume."""

    name: str = ""
    persistent_volume_claim: str | None = None
    ephemeral: bool = False


@attrs.frozen(kw_only=True)
class PodSpec:
    """What a pod asks for."""

    node_name: str = ""
    scheduler_name: str = ""
    priority: int | None = None
    priority_class_name: str = ""
    preemption_policy: str | None = None
    node_selector: Map[str] | None = None
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] = ()
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    overhead: Map[Quantity] = NO_QUANTITIES
    volumes: tuple[Volume, ...] = ()
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    scheduling_gates: tuple[str, ...] = ()
    host_network: bool = False


@attrs.frozen(kw_only=True)
class Condition:
    """A condition of a pod or node; *status* is ``True``, ``False`` or ``Unknown``."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_probe_time: str | None = None
    last_transition_time: str | None = None


@attrs.frozen(kw_only=True)
class PodStatus:
    phase: str = ""
    nominated_node_name: str = ""
    start_time: str | None = None
    conditions: tuple[Condition, ...] = ()


@attrs.frozen(kw_only=True)
class Pod(KubeObject):
    """A pod, bound when ``spec.node_name`` is set."""

    kind: ClassVar[str] = "Pod"

    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def priority(self) -> int:
        """The pod's priority, 0 where none is given."""
        return self.spec.priority or 0

    @property
    def is_terminal(self) -> bool:
        """Whether the pod has finished: phase Succeeded or Failed."""
        return self.status.phase in ("Succeeded", "Failed")

    @property
    def is_terminating(self) -> bool:
        """Whether the pod is being deleted."""
        return self.metadata.deletion_timestamp is not None

    def bound_to(self, node_name: str) -> Pod:
        """A copy of the pod on *node_name*."""
        return attrs.evolve(self, spec=attrs.evolve(self.spec, node_name=node_name))


# --- nodes ----------------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True, cache_hash=True)
class Taint:
    key: str = ""
    value: str = ""
    effect: str = ""


@attrs.frozen(kw_only=True, cache_hash=True)
class ContainerImage:
    names: tuple[str, ...] = ()
    size_bytes: int = 0


@attrs.frozen(kw_only=True)
class NodeSpec:
    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()
    provider_id: str = ""


@attrs.frozen(kw_only=True)
class NodeStatus:
    allocatable: Map[Quantity] = NO_QUANTITIES
    capacity: Map[Quantity] = NO_QUANTITIES
    conditions: tuple[Condition, ...] = ()
    images: tuple[ContainerImage, ...] = ()


@attrs.frozen(kw_only=True)
class Node(KubeObject):
    kind: ClassVar[str] = "Node"
    namespaced: ClassVar[bool] = False

    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


# --- volumes --------------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class ObjectReference:
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""


@attrs.frozen(kw_only=True)
class PersistentVolumeSpec:
    source: VolumeSource = VolumeSource()
    capacity: Map[Quantity] = NO_QUANTITIES
    access_modes: tuple[str, ...] = ()
    storage_class_name: str = ""
    volume_mode: str | None = None
    claim_ref: ObjectReference | None = None
    node_affinity: NodeSelector | None = None


@attrs.frozen(kw_only=True)
class PersistentVolume(KubeObject):
    """A volume of the cluster; *phase* is ``status.phase``."""

    kind: ClassVar[str] = "PersistentVolume"
    namespaced: ClassVar[bool] = False

    spec: PersistentVolumeSpec = PersistentVolumeSpec()
    phase: str = ""


@attrs.frozen(kw_only=True)
class PersistentVolumeClaimSpec:
    volume_name: str = ""
    storage_class_name: str | None = None
    access_modes: tuple[str, ...] = ()
    requests: Map[Quantity] = NO_QUANTITIES
    selector: LabelSelector | None = None
    volume_mode: str | None = None


@attrs.frozen(kw_only=True)
class PersistentVolumeClaim(KubeObject):
    """A claim to a volume; *phase* is ``status.phase``."""

    kind: ClassVar[str] = "PersistentVolumeClaim"

    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()
    phase: str = ""


@attrs.frozen(kw_only=True, cache_hash=True)
class TopologySelectorTerm:
    """Label keys with the values allowed for each: all must hold."""

    match_label_expressions: tuple[Requirement, ...] = ()


@attrs.frozen(kw_only=True)
class StorageClass(KubeObject):
    kind: ClassVar[str] = "StorageClass"
    namespaced: ClassVar[bool] = False

    provisioner: str = ""
    volume_binding_mode: str | None = None
    allowed_topologies: tuple[TopologySelectorTerm, ...] = ()


@attrs.frozen(kw_only=True)
class CSINodeDriver:
    """A CSI driver on a node; *count* is ``allocatable.count``, None where there is no limit."""

    name: str = ""
    node_id: str = ""
    topology_keys: tuple[str, ...] = ()
    count: int | None = None


@attrs.frozen(kw_only=True)
class CSINode(KubeObject):
    kind: ClassVar[str] = "CSINode"
    namespaced: ClassVar[bool] = False

    drivers: tuple[CSINodeDriver, ...] = ()


@attrs.frozen(kw_only=True)
class CSIDriver(KubeObject):
    """A CSI driver; read by release 1.27 alone."""

    kind: ClassVar[str] = "CSIDriver"
    namespaced: ClassVar[bool] = False

    storage_capacity: bool = False


@attrs.frozen(kw_only=True)
class CSIStorageCapacity(KubeObject):
    """How much storage of a class is left in a part of the cluster; read by release 1.27 alone."""

    kind: ClassVar[str] = "CSIStorageCapacity"

    storage_class_name: str = ""
    node_topology: LabelSelector | None = None
    capacity: Quantity | None = None
    maximum_volume_size: Quantity | None = None


# --- what pods belong to --------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Service(KubeObject):
    """A service; a selector of None selects nothing, an empty one everything."""

    kind: ClassVar[str] = "Service"

    selector: Map[str] | None = None


@attrs.frozen(kw_only=True)
class ReplicationController(KubeObject):
    kind: ClassVar[str] = "ReplicationController"

    selector: Map[str] | None = None


@attrs.frozen(kw_only=True)
class ReplicaSet(KubeObject):
    kind: ClassVar[str] = "ReplicaSet"

    selector: LabelSelector | None = None


@attrs.frozen(kw_only=True)
class StatefulSet(KubeObject):
    kind: ClassVar[str] = "StatefulSet"

    selector: LabelSelector | None = None


@attrs.frozen(kw_only=True)
class PodDisruptionBudget(KubeObject):
    """A disruption budget; *disrupted_pods* are the names in ``status.disruptedPods``."""

    kind: ClassVar[str] = "PodDisruptionBudget"

    selector: LabelSelector | None = None
    disruptions_allowed: int = 0
    disrupted_pods: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class PriorityClass(KubeObject):
    """A named priority; *value* shadows nothing here, it is the API's own field name."""

    kind: ClassVar[str] = "PriorityClass"
    namespaced: ClassVar[bool] = False

    value: int = 0
    global_default: bool = False
    preemption_policy: str | None = None


@attrs.frozen(kw_only=True)
class Namespace(KubeObject):
    kind: ClassVar[str] = "Namespace"
    namespaced: ClassVar[bool] = False


KINDS: Mapping[str, type[KubeObject]] = {
    kind.kind: kind
    for kind in (
        Node, Pod, PersistentVolume, PersistentVolumeClaim, StorageClass, CSINode, CSIDriver, CSIStorageCapacity,
        Service, ReplicationController, ReplicaSet, StatefulSet, PodDisruptionBudget, PriorityClass, Namespace,
    )
}  # fmt: skip


def strings(pairs: Mapping[str, str] | Iterable[tuple[str, str]] = ()) -> Map[str]:
    """A :class:`Map` of strings, the shared empty one where there are none."""
    made: Map[str] = Map(pairs)
    return made or NO_STRINGS
