"""Kubernetes objects as frozen values: the fields that scheduling reads, named as in the API but in snake_case.

Lists are tuples, maps are :class:`Map` (a hashable dict), quantities are :class:`~kubeclassic.api.objects.quantity.Quantity`.
``None`` occurs only where *absent* and *empty* differ in the API and for a rule.
Nothing here knows about scheduling. The classes are defined in the files of this folder, by subject.
"""

from __future__ import annotations

from collections.abc import Mapping

from .metadata import (
    NO_QUANTITIES,
    NO_STRINGS,
    Condition,
    KubeObject,
    Map,
    ObjectMeta,
    OwnerReference,
    strings,
)
from .nodes import (
    ContainerImage,
    Node,
    NodeSpec,
    NodeStatus,
    Taint,
)
from .owners import (
    Namespace,
    PodDisruptionBudget,
    PriorityClass,
    ReplicaSet,
    ReplicationController,
    Service,
    StatefulSet,
)
from .pods import (
    Container,
    ContainerPort,
    ContainerStatus,
    Pod,
    PodSpec,
    PodStatus,
    Toleration,
    TopologySpreadConstraint,
    Volume,
)
from .quotas import (
    LimitRange,
    LimitRangeItem,
    ResourceQuota,
    ScopedResourceSelectorRequirement,
)
from .selectors import (
    Affinity,
    LabelSelector,
    NodeAffinity,
    NodeSelector,
    NodeSelectorTerm,
    PodAffinity,
    PodAffinityTerm,
    PreferredSchedulingTerm,
    Requirement,
    WeightedPodAffinityTerm,
)
from .storage import (
    CSI,
    ISCSI,
    RBD,
    AWSElasticBlockStore,
    AzureDisk,
    Cinder,
    ClaimTemplate,
    CSIDriver,
    CSINode,
    CSINodeDriver,
    CSIStorageCapacity,
    GCEPersistentDisk,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    PersistentVolumeSpec,
    StorageClass,
    TopologySelectorTerm,
    VolumeSource,
)

__all__ = [
    "CSI",
    "ISCSI",
    "KINDS",
    "NO_QUANTITIES",
    "NO_STRINGS",
    "RBD",
    "AWSElasticBlockStore",
    "Affinity",
    "AzureDisk",
    "CSIDriver",
    "CSINode",
    "CSINodeDriver",
    "CSIStorageCapacity",
    "Cinder",
    "ClaimTemplate",
    "Condition",
    "Container",
    "ContainerImage",
    "ContainerPort",
    "ContainerStatus",
    "GCEPersistentDisk",
    "KubeObject",
    "LabelSelector",
    "LimitRange",
    "LimitRangeItem",
    "Map",
    "Namespace",
    "Node",
    "NodeAffinity",
    "NodeSelector",
    "NodeSelectorTerm",
    "NodeSpec",
    "NodeStatus",
    "ObjectMeta",
    "ObjectReference",
    "OwnerReference",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "PersistentVolumeClaimSpec",
    "PersistentVolumeSpec",
    "Pod",
    "PodAffinity",
    "PodAffinityTerm",
    "PodDisruptionBudget",
    "PodSpec",
    "PodStatus",
    "PreferredSchedulingTerm",
    "PriorityClass",
    "ReplicaSet",
    "ReplicationController",
    "Requirement",
    "ResourceQuota",
    "ScopedResourceSelectorRequirement",
    "Service",
    "StatefulSet",
    "StorageClass",
    "Taint",
    "Toleration",
    "TopologySelectorTerm",
    "TopologySpreadConstraint",
    "Volume",
    "VolumeSource",
    "WeightedPodAffinityTerm",
    "strings",
]

KINDS: Mapping[str, type[KubeObject]] = {
    kind.kind: kind
    for kind in (
        Node, Pod, PersistentVolume, PersistentVolumeClaim, StorageClass, CSINode, CSIDriver, CSIStorageCapacity,
        Service, ReplicationController, ReplicaSet, StatefulSet, PodDisruptionBudget, PriorityClass, Namespace,
        ResourceQuota, LimitRange,
    )
}  # fmt: skip
