"""How the scheduler asked its API server, generation by generation; the tables of releases say which release does what.

Upstream: client-go (tools/cache/reflector.go, rest/request.go), and the informers of cmd/kube-scheduler.
"""

from __future__ import annotations

from types import MappingProxyType

import attrs

from ..core.release import ClientCells

FIRST = ClientCells(
    resources=MappingProxyType(
        {
            "Node": "v1",
            "Pod": "v1",
            "PersistentVolume": "v1",
            "PersistentVolumeClaim": "v1",
            "ReplicationController": "v1",
            "ReplicaSet": "apps/v1",
            "StatefulSet": "apps/v1",
            "Service": "v1",
            "PodDisruptionBudget": "policy/v1beta1",
            "StorageClass": "storage.k8s.io/v1",
        }
    ),
    pod_selector="status.phase!=Failed,status.phase!=Succeeded",
    bookmarks=False,
    sends_duration=False,
    pods_send_duration=False,
    relists_from_last=False,
    pauses=(1.0, 1.0),
    rewatches_refused=False,
    rewatches_limited=False,
    resends_reads=False,
    attempts=10,
)

WITH_DURATIONS = attrs.evolve(FIRST, sends_duration=True)

WITH_BOOKMARKS = attrs.evolve(
    WITH_DURATIONS,
    resources=MappingProxyType({**FIRST.resources, "CSINode": "storage.k8s.io/v1beta1"}),
    bookmarks=True,
    rewatches_refused=True,
)

WITH_GROWING_PAUSES = attrs.evolve(
    WITH_BOOKMARKS,
    resources=MappingProxyType(
        {
            **FIRST.resources,
            "PodDisruptionBudget": "policy/v1",
            "CSINode": "storage.k8s.io/v1",
            "CSIDriver": "storage.k8s.io/v1",
            "CSIStorageCapacity": "storage.k8s.io/v1",
            "Namespace": "v1",
        }
    ),
    pod_selector="status.phase!=Succeeded,status.phase!=Failed",
    pods_send_duration=True,
    relists_from_last=True,
    pauses=(0.8, 30.0),
    rewatches_limited=True,
    resends_reads=True,
    attempts=11,
)
