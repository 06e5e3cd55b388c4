"""Kubernetes objects as frozen values: the fields that scheduling reads, named as in the API but in
snake_case.

Lists are tuples, maps are :class:`Map` (a hashable dict), quantities are
:class:`~kubeclassic.api.objects.quantity.Quantity`. ``None`` occurs only where *absent* and *empty* differ in
the API and for a rule. Nothing here knows how a node is chosen. The classes are defined in the files of this
folder, by subject, whose public names are its own.
"""

from __future__ import annotations

from collections.abc import Mapping

from .devices import *
from .metadata import *
from .owners import *
from .pods import *
from .quantity import *
from .storage import *

KINDS: Mapping[str, type[KubeObject]] = {
    kind.kind: kind
    for kind in (
        Node,
        Pod,
        PersistentVolume,
        PersistentVolumeClaim,
        StorageClass,
        CSINode,
        CSIDriver,
        CSIStorageCapacity,
        VolumeAttachment,
        Service,
        ReplicationController,
        ReplicaSet,
        StatefulSet,
        PodDisruptionBudget,
        PriorityClass,
        RuntimeClass,
        Namespace,
        ResourceQuota,
        LimitRange,
        DeviceClass,
        ResourceClaim,
        ResourceClaimTemplate,
        ResourceSlice,
    )
}
