"""A small cluster of 1.34, as kubectl dumps one: sidecars, pod-level requests, a resize, claims to GPUs, and a driver with a limit."""

from __future__ import annotations

from typing import Any

from tests.support.admitted import admitted

Json = dict[str, Any]
VERSION = "v1.34.1"
CLASS, DRIVER = "gpu.example.com", "gpu.example.com"
CSI = "block.csi.example.com"


def dump() -> list[Json]:
    """All objects of the cluster."""
    return [*_nodes(), *_devices(), *_volumes(), *_pods()]


def _object(kind: str, name: str, version: str = "v1", /, **fields: Any) -> Json:
    meta = {"name": name, **fields.pop("metadata", {})}
    return {"apiVersion": version, "kind": kind, "metadata": meta, **fields}


def _nodes() -> list[Json]:
    found = []
    for name, cpu, memory in (("gpu-a", "16", "64Gi"), ("gpu-b", "16", "64Gi"), ("cpu-a", "4", "16Gi"), ("cpu-b", "4", "16Gi")):
        labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": f"zone-{name[-1]}"}
        amounts = {"cpu": cpu, "memory": memory, "pods": "110"}
        status = {"allocatable": amounts, "capacity": amounts, "nodeInfo": {"kubeletVersion": VERSION}}
        found.append(_object("Node", name, metadata={"labels": labels}, spec={}, status=status))
    return found


def _devices() -> list[Json]:
    """Two GPUs of 40Gi on one node, two of 80Gi on another, and what asks for them."""
    group = "resource.k8s.io/v1"
    found = [
        _object("DeviceClass", CLASS, group, spec={"selectors": [{"cel": {"expression": f'device.driver == "{DRIVER}"'}}]}),
        _object("ResourceClaim", "shared", group, metadata={"namespace": "ml"}, spec=_claim(1)),
        _object("ResourceClaimTemplate", "big", group, metadata={"namespace": "ml"}, spec={"spec": _claim(1, "80Gi")}),
    ]
    for node, memory in (("gpu-a", "40Gi"), ("gpu-b", "80Gi")):
        about = {"attributes": {"model": {"string": "x"}}, "capacity": {"memory": {"value": memory}}}
        devices = [{"name": f"gpu-{number}", **about} for number in (0, 1)]
        pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
        spec = {"driver": DRIVER, "nodeName": node, "pool": pool, "devices": devices}
        found.append(_object("ResourceSlice", f"{node}-gpus", group, spec=spec))
    return found


def _claim(count: int, memory: str = "") -> Json:
    exactly: Json = {"deviceClassName": CLASS, "allocationMode": "ExactCount", "count": count}
    if memory:
        wanted = f'device.capacity["{DRIVER}"].memory.compareTo(quantity("{memory}")) >= 0'
        exactly["selectors"] = [{"cel": {"expression": wanted}}]
    return {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}}


def _volumes() -> list[Json]:
    names = ("data-0", "data-1")
    found = [_object("CSIDriver", CSI, "storage.k8s.io/v1", spec={"attachRequired": True})]
    for node in ("cpu-a", "cpu-b"):
        drivers = [{"name": CSI, "nodeID": node, "allocatable": {"count": 1}, "topologyKeys": []}]
        found.append(_object("CSINode", node, "storage.k8s.io/v1", spec={"drivers": drivers}))
    for name in names:
        claimed = {"accessModes": ["ReadWriteOnce"], "storageClassName": "block", "volumeMode": "Filesystem"}
        size = {"storage": "10Gi"}
        meta = {"namespace": "shop", "annotations": {"pv.kubernetes.io/bind-completed": "yes"}}
        spec = {**claimed, "volumeName": f"pv-{name}", "resources": {"requests": size}}
        found.append(_object("PersistentVolumeClaim", name, metadata=meta, spec=spec, status={"phase": "Bound"}))
        ref = {"kind": "PersistentVolumeClaim", "namespace": "shop", "name": name}
        source = {"csi": {"driver": CSI, "volumeHandle": name}}
        spec = {**claimed, **source, "capacity": size, "claimRef": ref, "persistentVolumeReclaimPolicy": "Delete"}
        found.append(_object("PersistentVolume", f"pv-{name}", spec=spec, status={"phase": "Bound"}))
    return found


def _pods() -> list[Json]:
    asks = {"resources": {"requests": {"cpu": "500m", "memory": "256Mi"}}}
    mesh = {"name": "proxy", "image": "mesh/proxy:1", "restartPolicy": "Always", **asks}
    claims = [{"name": "gpu", "resourceClaimTemplateName": "big"}]
    ready = {"ready": True, "restartCount": 0, "image": "a:1", "imageID": ""}
    resized = {"containerStatuses": [{"name": "main", **ready, "resources": {"requests": {"cpu": "3"}}}]}
    volume = [{"name": "data", "persistentVolumeClaim": {"claimName": "data-1"}}]
    return [
        _pod("shop", "db-0", "cpu-a", "1", volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data-0"}}]),
        _pod("shop", "resized", "cpu-b", "1", status=resized),
        _pod("shop", "db-1", "", "500m", volumes=volume),
        *(_pod("shop", f"web-{number}", "", "1", initContainers=[mesh]) for number in range(3)),
        _pod("ml", "batch", "", "1", resources={"requests": {"cpu": "10", "memory": "20Gi"}}),
        _pod("ml", "notebook", "", "1", resourceClaims=[{"name": "gpu", "resourceClaimName": "shared"}]),
        *(
            _pod("ml", f"train-{number}", "", "2", resourceClaims=claims, status=_made(f"train-{number}-gpu"))
            for number in range(3)
        ),
        *(
            _object(
                "ResourceClaim", f"train-{number}-gpu", "resource.k8s.io/v1", spec=_claim(1, "80Gi"),
                metadata={"namespace": "ml", "ownerReferences": [_owner(f"train-{number}")]},
            )
            for number in range(3)
        ),
    ]  # fmt: skip


def _made(claim: str) -> Json:
    return {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": claim}]}


def _owner(pod: str) -> Json:
    return {"apiVersion": "v1", "kind": "Pod", "name": pod, "uid": f"uid-{pod}", "controller": True}


def _pod(namespace: str, name: str, node: str, cpu: str, *, status: Json | None = None, **spec: Any) -> Json:
    container = {"name": "main", "image": "a:1", "resources": {"requests": {"cpu": cpu, "memory": "512Mi"}}}
    phase = {"phase": "Running" if node else "Pending"}
    meta = {"namespace": namespace, "uid": f"uid-{name}", "labels": {"app": name.rpartition("-")[0] or name}}
    bound = {"nodeName": node} if node else {}
    made = _object("Pod", name, metadata=meta, spec={"containers": [container], **bound, **spec}, status={**phase, **(status or {})})
    return admitted(made)
