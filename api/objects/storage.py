"""Disks, volumes, claims, storage classes, and the CSI objects of nodes and drivers."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from .metadata import NO_QUANTITIES, NO_STRINGS, KubeObject, Map
from .quantity import Int32, Quantity
from .selectors import LabelSelector, NodeSelector, Requirement

# --- disks ----------------------------------------------------------------------------------------------------------


class GCEPersistentDisk(Struct, frozen=True, kw_only=True, cache_hash=True):
    pd_name: str = ""
    read_only: bool = False


class AWSElasticBlockStore(Struct, frozen=True, kw_only=True, cache_hash=True):
    volume_id: str = ""
    read_only: bool = False


class ISCSI(Struct, frozen=True, kw_only=True, cache_hash=True):
    iqn: str = ""
    target_portal: str = ""
    lun: Int32 = 0
    read_only: bool = False


class RBD(Struct, frozen=True, kw_only=True, cache_hash=True):
    """A Ceph block device, of a PersistentVolume or a pod."""

    monitors: tuple[str, ...] = ()
    pool: str = ""
    image: str = ""
    read_only: bool = False


class AzureDisk(Struct, frozen=True, kw_only=True, cache_hash=True):
    disk_name: str = ""
    disk_uri: str = ""
    read_only: bool = False


class Cinder(Struct, frozen=True, kw_only=True, cache_hash=True):
    volume_id: str = ""
    read_only: bool = False


class PortworxVolume(Struct, frozen=True, kw_only=True, cache_hash=True):
    volume_id: str = ""


class CSI(Struct, frozen=True, kw_only=True, cache_hash=True):
    """A CSI volume: of a PersistentVolume (driver, volume_handle) or inline (only driver)."""

    driver: str = ""
    volume_handle: str = ""
    read_only: bool = False


class VolumeSource(Struct, frozen=True, kw_only=True, cache_hash=True):
    """The disk types that rules look at. At most one is set; for other types all are None."""

    gce_persistent_disk: GCEPersistentDisk | None = None
    aws_elastic_block_store: AWSElasticBlockStore | None = None
    iscsi: ISCSI | None = None
    rbd: RBD | None = None
    azure_disk: AzureDisk | None = None
    cinder: Cinder | None = None
    portworx_volume: PortworxVolume | None = None
    csi: CSI | None = None


# --- volumes --------------------------------------------------------------------------------------------------------

BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
"""The annotation that once named the class of a volume or claim, and still counts before the field."""
NO_PROVISIONER = "kubernetes.io/no-provisioner"
"""The provisioner of classes whose volumes are made by hand."""


class ObjectReference(Struct, frozen=True, kw_only=True):
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""


class PersistentVolumeSpec(Struct, frozen=True, kw_only=True):
    source: VolumeSource = VolumeSource()
    capacity: Map[Quantity] = NO_QUANTITIES
    access_modes: tuple[str, ...] = ()
    storage_class_name: str = ""
    volume_attributes_class_name: str = ""
    volume_mode: str | None = None
    claim_ref: ObjectReference | None = None
    node_affinity: NodeSelector | None = None


class PersistentVolume(KubeObject, frozen=True, kw_only=True):
    """A volume of the cluster; *phase* is ``status.phase``."""

    kind: ClassVar[str] = "PersistentVolume"
    namespaced: ClassVar[bool] = False

    spec: PersistentVolumeSpec = PersistentVolumeSpec()
    phase: str = ""


BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
"""The annotation of a claim whose binding the volume controller has finished."""


class PersistentVolumeClaimSpec(Struct, frozen=True, kw_only=True):
    volume_name: str = ""
    storage_class_name: str | None = None
    volume_attributes_class_name: str = ""
    access_modes: tuple[str, ...] = ()
    requests: Map[Quantity] = NO_QUANTITIES
    selector: LabelSelector | None = None
    volume_mode: str | None = None


class PersistentVolumeClaim(KubeObject, frozen=True, kw_only=True):
    """A claim to a volume; *phase* is ``status.phase``."""

    kind: ClassVar[str] = "PersistentVolumeClaim"

    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()
    phase: str = ""

    @property
    def storage_class(self) -> str:
        """The class that the claim asks for, the beta annotation first; empty where it asks for none."""
        return self.annotations.get(BETA_CLASS, self.spec.storage_class_name or "")


class ClaimTemplate(Struct, frozen=True, kw_only=True, cache_hash=True):
    """The template of the claim of a generic ephemeral volume."""

    labels: Map[str] = NO_STRINGS
    annotations: Map[str] = NO_STRINGS
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()


class TopologySelectorTerm(Struct, frozen=True, kw_only=True, cache_hash=True):
    """Label keys with the values allowed for each: all must hold."""

    match_label_expressions: tuple[Requirement, ...] = ()


class StorageClass(KubeObject, frozen=True, kw_only=True):
    kind: ClassVar[str] = "StorageClass"
    namespaced: ClassVar[bool] = False

    provisioner: str = ""
    volume_binding_mode: str | None = None
    allowed_topologies: tuple[TopologySelectorTerm, ...] = ()


class CSINodeDriver(Struct, frozen=True, kw_only=True):
    """A CSI driver on a node; *count* is ``allocatable.count``, None without a limit."""

    name: str = ""
    node_id: str = ""
    topology_keys: tuple[str, ...] = ()
    count: Int32 | None = None


class CSINode(KubeObject, frozen=True, kw_only=True):
    kind: ClassVar[str] = "CSINode"
    namespaced: ClassVar[bool] = False

    drivers: tuple[CSINodeDriver, ...] = ()


class CSIDriver(KubeObject, frozen=True, kw_only=True):
    """A CSI driver; releases that look at storage capacity read it."""

    kind: ClassVar[str] = "CSIDriver"
    namespaced: ClassVar[bool] = False

    storage_capacity: bool = False


class CSIStorageCapacity(KubeObject, frozen=True, kw_only=True):
    """How much storage of a class is left in a part of the cluster; releases from 1.19 on can read it."""

    kind: ClassVar[str] = "CSIStorageCapacity"

    storage_class_name: str = ""
    node_topology: LabelSelector | None = None
    capacity: Quantity | None = None
    maximum_volume_size: Quantity | None = None


class VolumeAttachment(KubeObject, frozen=True, kw_only=True):
    """A volume that the driver *attacher* attaches to a node; releases before 1.32 do not read it."""

    kind: ClassVar[str] = "VolumeAttachment"
    namespaced: ClassVar[bool] = False

    attacher: str = ""
    node_name: str = ""
    persistent_volume_name: str = ""
    """Its volume; empty where it attaches a volume that a pod names without a claim."""
