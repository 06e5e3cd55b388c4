"""Volumes, claims, classes, pods that use them, and binders for tests."""

from __future__ import annotations

from typing import Any

from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.api.objects import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    StorageClass,
)
from kubeclassic.core.arrays.batch import Batch
from kubeclassic.core.arrays.table import NodeTable
from kubeclassic.core.cluster.listings import Listings
from kubeclassic.core.volumes.binder import VolumeBinder
from tests.support import build
from tests.support.build import obj

Json = dict[str, Any]
WAIT = {"volumeBindingMode": "WaitForFirstConsumer"}
BOUND = {"pv.kubernetes.io/bind-completed": "yes"}
SELECTED = "volume.kubernetes.io/selected-node"
MIGRATED = "storage.alpha.kubernetes.io/migrated-plugins"


def node(name: str, **labels: str) -> Node:
    return obj({"kind": "Node", "metadata": {"name": name, "labels": labels}})  # type: ignore[no-any-return]  # an object of any kind


def storage_class(name: str, **fields: Any) -> StorageClass:
    return obj({"kind": "StorageClass", "metadata": {"name": name}, **fields})  # type: ignore[no-any-return]  # as above


def claim(
    name: str, kind: str | None = "wait", size: str = "1Gi", *, annotations: Json | None = None, **spec: Any
) -> PersistentVolumeClaim:
    meta = {"name": name, "namespace": "default", "resourceVersion": "7", "annotations": annotations or {}}
    spec = {"storageClassName": kind, "resources": {"requests": {"storage": size}}, **spec}
    return obj({"kind": "PersistentVolumeClaim", "metadata": meta, "spec": spec})  # type: ignore[no-any-return]  # as above


def volume(
    name: str,
    kind: str = "wait",
    size: str = "1Gi",
    *,
    phase: str = "Available",
    meta: Json | None = None,
    **spec: Any,
) -> PersistentVolume:
    metadata = {"name": name, "resourceVersion": "7", **(meta or {})}
    spec = {"storageClassName": kind, "capacity": {"storage": size}, **spec}
    document = {"kind": "PersistentVolume", "metadata": metadata, "spec": spec, "status": {"phase": phase}}
    return obj(document)  # type: ignore[no-any-return]  # as above


def on(**labels: str) -> Json:
    """A volume's node affinity for nodes with these labels."""
    expressions = [{"key": key, "operator": "In", "values": [value]} for key, value in labels.items()]
    return {"nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": expressions}]}}}


def pod(*claims: str, name: str = "p") -> Pod:
    volumes = [
        {"name": f"v{i}", "persistentVolumeClaim": {"claimName": claim}} for i, claim in enumerate(claims)
    ]
    return obj({"kind": "Pod", "metadata": {"name": name}, "spec": {"volumes": volumes}})  # type: ignore[no-any-return]  # as above


def binder(*objects: Any, release: str = "1.16", **gates: bool) -> VolumeBinder:
    listings = Listings()
    for item in objects:
        listing = listings.of(item)
        assert listing is not None
        listing.put(item)
    defaults = {name: gate.default for name, gate in RELEASES[release].gates.items()}
    return VolumeBinder(RELEASES[release], {**defaults, **gates}, listings)


def batch(*nodes: Node) -> Batch:
    table = NodeTable(lambda labels: "")
    table.set_nodes({table.row(item.name): (item, {}) for item in nodes})
    return Batch(table)


def flags(found: VolumeBinder, nodes: Batch, *claims: str) -> list[tuple[bool, bool] | str]:
    """(unbound, bound) of each node, or the text of its error."""
    finding = found.find([f"default/{name}" for name in claims], nodes)
    return [
        finding.texts[finding.errors[i] - 1]
        if finding.errors[i]
        else (bool(finding.unbound[i]), bool(finding.bound[i]))
        for i in range(nodes.n)
    ]


# --- what plugins look at -----------------------------------------------------------------------------------


def using(name: str, *volumes: Json | str, **more: Any) -> Pod:
    """A pod with these volumes; a text is the name of a claim."""
    written = [{"persistentVolumeClaim": {"claimName": v}} if isinstance(v, str) else v for v in volumes]
    return build.pod(name, volumes=[{"name": f"v{i}", **volume} for i, volume in enumerate(written)], **more)


def ebs(identity: str) -> Json:
    return {"awsElasticBlockStore": {"volumeID": identity}}


def gce(name: str, *, read_only: bool = False) -> Json:
    return {"gcePersistentDisk": {"pdName": name, "readOnly": read_only}}


EPHEMERAL: Json = {"ephemeral": {"volumeClaimTemplate": {"spec": {}}}}


def bound(name: str, volume: str, kind: str | None = "wait", **spec: Any) -> PersistentVolumeClaim:
    """A claim that the volume controller is done with."""
    return claim(name, kind, annotations=BOUND, volumeName=volume, **spec)


def made_for(owner: str, name: str, **spec: Any) -> PersistentVolumeClaim:
    """A claim with a pod of this UID for an owner."""
    reference = {"apiVersion": "v1", "kind": "Pod", "name": "new", "uid": owner, "controller": True}
    document = {
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default", "ownerReferences": [reference]},
    }
    found: PersistentVolumeClaim = obj(document | {"spec": {"storageClassName": "wait", **spec}})
    return found


def csi_node(name: str, migrated: str = "", **counts: int) -> CSINode:
    """A CSINode; *counts*: driver -> how many volumes it attaches at most."""
    drivers = [
        {"name": driver, "nodeID": name, "allocatable": {"count": count}} for driver, count in counts.items()
    ]
    meta = {"name": name, "annotations": {MIGRATED: migrated} if migrated else {}}
    found: CSINode = obj({"kind": "CSINode", "metadata": meta, "spec": {"drivers": drivers}})
    return found


def csi_driver(name: str, *, reports: bool = True) -> CSIDriver:
    """A driver that reports, or does not, how much storage is left."""
    found: CSIDriver = obj(
        {"kind": "CSIDriver", "metadata": {"name": name}, "spec": {"storageCapacity": reports}}
    )
    return found


def storage_left(name: str, kind: str, topology: Json | None, **sizes: str) -> CSIStorageCapacity:
    """How much storage of a class is left where *topology* selects; *sizes*: ``capacity``,
    ``maximumVolumeSize``."""
    document: Json = {
        "kind": "CSIStorageCapacity",
        "metadata": {"name": name, "namespace": "default"},
        "storageClassName": kind,
        **sizes,
    }
    found: CSIStorageCapacity = obj(document if topology is None else document | {"nodeTopology": topology})
    return found
