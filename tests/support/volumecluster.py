"""Volumes, claims and pods that use them, for the tests of the volume plugins."""

from __future__ import annotations

from typing import Any

from kubeclassic.api.objects import CSIDriver, CSINode, CSIStorageCapacity, PersistentVolumeClaim, Pod
from tests.support.build import obj, pod
from tests.support.volumebuild import BOUND, claim

Json = dict[str, Any]
MIGRATED = "storage.alpha.kubernetes.io/migrated-plugins"


def using(name: str, *volumes: Json | str, **more: Any) -> Pod:
    """A pod with these volumes; a text is the name of a claim."""
    written = [{"persistentVolumeClaim": {"claimName": v}} if isinstance(v, str) else v for v in volumes]
    return pod(name, volumes=[{"name": f"v{i}", **volume} for i, volume in enumerate(written)], **more)


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
    document = {"kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": "default", "ownerReferences": [reference]}}
    found: PersistentVolumeClaim = obj(document | {"spec": {"storageClassName": "wait", **spec}})
    return found


def csi_node(name: str, migrated: str = "", **counts: int) -> CSINode:
    """A CSINode; *counts*: driver -> how many volumes it attaches at most."""
    drivers = [{"name": driver, "nodeID": name, "allocatable": {"count": count}} for driver, count in counts.items()]
    meta = {"name": name, "annotations": {MIGRATED: migrated} if migrated else {}}
    found: CSINode = obj({"kind": "CSINode", "metadata": meta, "spec": {"drivers": drivers}})
    return found


def csi_driver(name: str, *, reports: bool = True) -> CSIDriver:
    """A driver that reports, or does not, how much storage is left."""
    found: CSIDriver = obj({"kind": "CSIDriver", "metadata": {"name": name}, "spec": {"storageCapacity": reports}})
    return found


def storage_left(name: str, kind: str, topology: Json | None, **sizes: str) -> CSIStorageCapacity:
    """How much storage of a class is left where *topology* selects; *sizes*: ``capacity``, ``maximumVolumeSize``."""
    document: Json = {"kind": "CSIStorageCapacity", "metadata": {"name": name, "namespace": "default"}, "storageClassName": kind, **sizes}
    found: CSIStorageCapacity = obj(document if topology is None else document | {"nodeTopology": topology})
    return found
