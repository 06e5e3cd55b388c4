"""The volumes that provisioners make: their kind, and which nodes can reach them.

Upstream: the in-tree plugins in pkg/volume, and pkg/controller of sigs.k8s.io/sig-storage-lib-external-provisioner.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....api.meaning.labels import BETA_PLACES
from ....api.objects import (
    CSI,
    AWSElasticBlockStore,
    AzureDisk,
    Cinder,
    CSINode,
    GCEPersistentDisk,
    Map,
    Node,
    NodeSelector,
    NodeSelectorTerm,
    ObjectMeta,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeSpec,
    Requirement,
    StorageClass,
    VolumeSource,
    strings,
)

IN_TREE = ("kubernetes.io/aws-ebs", "kubernetes.io/gce-pd", "kubernetes.io/azure-disk", "kubernetes.io/cinder")
"""Provisioners whose disks are in one zone; their volumes have labels that name it."""


def new_volume(claim: PersistentVolumeClaim, kind: StorageClass, node: Node | None, drivers: CSINode | None) -> PersistentVolume:
    """The volume that the class's provisioner makes for *claim* with a pod on *node*; *drivers* are the CSI drivers there.

    A CSI driver's volume is reached from nodes that agree in the driver's topology keys; a cloud's disk has the node's zone for a label.
    """
    name = f"pvc-{claim.metadata.uid or f'{claim.namespace}-{claim.name}'}"
    capacity = {key: amount for key, amount in claim.spec.requests.items() if key == "storage"}
    spec = PersistentVolumeSpec(
        source=_source(kind.provisioner, name),
        capacity=Map(capacity),
        access_modes=claim.spec.access_modes,
        storage_class_name=kind.name,
        volume_mode=claim.spec.volume_mode,
        node_affinity=_affinity(dict(_reach(kind, node, drivers))),
    )
    labels = strings(_zone(kind, node)) if kind.provisioner in IN_TREE else strings()
    return PersistentVolume(metadata=ObjectMeta(name=name, labels=labels), spec=spec, phase="Available")


def _source(provisioner: str, name: str) -> VolumeSource:
    match provisioner:
        case "kubernetes.io/aws-ebs":
            return VolumeSource(aws_elastic_block_store=AWSElasticBlockStore(volume_id=name))
        case "kubernetes.io/gce-pd":
            return VolumeSource(gce_persistent_disk=GCEPersistentDisk(pd_name=name))
        case "kubernetes.io/azure-disk":
            return VolumeSource(azure_disk=AzureDisk(disk_name=name))
        case "kubernetes.io/cinder":
            return VolumeSource(cinder=Cinder(volume_id=name))
    in_tree = provisioner.startswith("kubernetes.io/")
    return VolumeSource() if in_tree else VolumeSource(csi=CSI(driver=provisioner, volume_handle=name))


def _zone(kind: StorageClass, node: Node | None) -> Iterator[tuple[str, str]]:
    if node is not None:
        yield from ((key, node.labels[key]) for key in BETA_PLACES if key in node.labels)
        return
    yield from ((key, value) for key, value in _first_topology(kind) if key in BETA_PLACES)


def _reach(kind: StorageClass, node: Node | None, drivers: CSINode | None) -> Iterator[tuple[str, str]]:
    """Label keys and values that a node must have to reach the volume."""
    if node is None:
        yield from _first_topology(kind)
        return
    driver = next((driver for driver in drivers.drivers if driver.name == kind.provisioner), None) if drivers is not None else None
    allowed = tuple(expression.key for term in kind.allowed_topologies[:1] for expression in term.match_label_expressions)
    keys = allowed if driver is None else driver.topology_keys
    yield from ((key, node.labels[key]) for key in keys if key in node.labels)


def _first_topology(kind: StorageClass) -> Iterator[tuple[str, str]]:
    for term in kind.allowed_topologies[:1]:
        yield from ((expression.key, expression.values[0]) for expression in term.match_label_expressions if expression.values)


def _affinity(labels: dict[str, str]) -> NodeSelector | None:
    if not labels:
        return None
    terms = tuple(Requirement(key=key, operator="In", values=(value,)) for key, value in sorted(labels.items()))
    return NodeSelector(node_selector_terms=(NodeSelectorTerm(match_expressions=terms),))
