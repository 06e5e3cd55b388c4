"""Disks, volumes, claims, storage classes, and the CSI objects of nodes and drivers."""

from __future__ import annotations

from typing import Annotated, ClassVar, TypeAlias

from msgspec import field
from msgspec.structs import replace

from .metadata import (
    NO_QUANTITIES,
    HashedPart,
    KubeObject,
    LabelSelector,
    NodeSelector,
    OneOf,
    Part,
    Quantities,
    TemplateMeta,
    shortcut,
)
from .quantity import Int32, Quantity

# --- disks --------------------------------------------------------------------------------------------------


class GCEPersistentDisk(HashedPart):
    pd_name: str = ""
    read_only: bool = False


class AWSElasticBlockStore(HashedPart):
    volume_id: str = ""
    read_only: bool = False


class ISCSI(HashedPart):
    iqn: str = ""
    target_portal: str = ""
    lun: Int32 = 0
    read_only: bool = False


class RBD(HashedPart):
    """A Ceph block device, of a PersistentVolume or a pod."""

    monitors: tuple[str, ...] = ()
    pool: str = ""
    image: str = ""
    read_only: bool = False


class AzureDisk(HashedPart):
    disk_name: str = ""
    disk_uri: str = ""
    read_only: bool = False


class Cinder(HashedPart):
    volume_id: str = ""
    read_only: bool = False


class PortworxVolume(HashedPart):
    volume_id: str = ""


class CSI(HashedPart):
    """A CSI volume: of a PersistentVolume (driver, volume_handle) or inline (only driver)."""

    driver: str = ""
    volume_handle: str = ""
    read_only: bool = False


class VolumeSource(HashedPart):
    """The disk types that rules look at. At most one is set; for other types all are None."""

    gce_persistent_disk: GCEPersistentDisk | None = None
    aws_elastic_block_store: AWSElasticBlockStore | None = None
    iscsi: ISCSI | None = None
    rbd: RBD | None = None
    azure_disk: AzureDisk | None = None
    cinder: Cinder | None = None
    portworx_volume: PortworxVolume | None = None
    csi: CSI | None = None


# --- volumes ------------------------------------------------------------------------------------------------

BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
"""The annotation that once named the class of a volume or claim, and still counts before the field."""
NO_PROVISIONER = "kubernetes.io/no-provisioner"
"""The provisioner of classes whose volumes are made by hand."""


class ObjectReference(Part):
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""


VolumeMode: TypeAlias = Annotated[str, OneOf("Filesystem", "Block", optional=True)]
AccessMode: TypeAlias = Annotated[
    str, OneOf("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod", optional=True)
]


class VolumeNodeAffinity(Part):
    required: NodeSelector | None = None


class PersistentVolumeSpec(VolumeSource):
    capacity: Quantities = NO_QUANTITIES
    access_modes: tuple[AccessMode, ...] = ()
    storage_class_name: str = ""
    volume_attributes_class_name: str = ""
    volume_mode: VolumeMode | None = None
    claim_ref: ObjectReference | None = None
    reached_from: VolumeNodeAffinity | None = field(default=None, name="nodeAffinity")

    @property
    def node_affinity(self) -> NodeSelector | None:
        """The nodes that reach it; None: all."""
        return None if self.reached_from is None else self.reached_from.required


class VolumeStatus(Part):
    """The phase of a volume or claim: ``Available``, ``Bound``, ..."""

    phase: str = ""


class PersistentVolume(KubeObject):
    """A volume of the cluster."""

    kind = "PersistentVolume"
    namespaced = False

    spec: PersistentVolumeSpec = PersistentVolumeSpec()
    status: VolumeStatus = VolumeStatus()
    phase: ClassVar[str] = shortcut("status.phase")

    def in_phase(self, phase: str) -> PersistentVolume:
        """A copy in *phase*."""
        return replace(self, status=VolumeStatus(phase=phase))


BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
"""The annotation of a claim whose binding the volume controller has finished."""


class ResourceRequirements(HashedPart):
    """The requests and limits of a container, pod or claim."""

    requests: Quantities = NO_QUANTITIES
    limits: Quantities = NO_QUANTITIES


class PersistentVolumeClaimSpec(Part):
    volume_name: str = ""
    storage_class_name: str | None = None
    volume_attributes_class_name: str = ""
    access_modes: tuple[AccessMode, ...] = ()
    resources: ResourceRequirements = ResourceRequirements()
    selector: LabelSelector | None = None
    requests: ClassVar[Quantities] = shortcut("resources.requests")
    volume_mode: VolumeMode | None = None


class PersistentVolumeClaim(KubeObject):
    """A claim to a volume."""

    kind = "PersistentVolumeClaim"

    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()
    status: VolumeStatus = VolumeStatus()
    phase: ClassVar[str] = shortcut("status.phase")

    def in_phase(self, phase: str) -> PersistentVolumeClaim:
        """A copy in *phase*."""
        return replace(self, status=VolumeStatus(phase=phase))

    @property
    def storage_class(self) -> str:
        """The class that the claim asks for, the beta annotation first; empty where it asks for none."""
        return self.metadata.annotations.get(BETA_CLASS, self.spec.storage_class_name or "")


class ClaimTemplate(HashedPart):
    """The template of the claim of a generic ephemeral volume."""

    metadata: TemplateMeta = TemplateMeta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()


class TopologySelectorLabelRequirement(HashedPart):
    key: str = ""
    values: tuple[str, ...] = ()


class TopologySelectorTerm(HashedPart):
    """Label keys with the values allowed for each: all must hold."""

    match_label_expressions: tuple[TopologySelectorLabelRequirement, ...] = ()


class StorageClass(KubeObject):
    kind = "StorageClass"
    namespaced = False

    provisioner: str = ""
    volume_binding_mode: Annotated[str, OneOf("Immediate", "WaitForFirstConsumer", optional=True)] | None = (
        None
    )
    allowed_topologies: tuple[TopologySelectorTerm, ...] = ()


class VolumeNodeResources(Part):
    count: Int32 | None = None
    """The number of volumes that a driver can attach; None: there is no limit."""


class CSINodeDriver(Part):
    """A CSI driver on a node."""

    name: str = ""
    node_id: str = ""
    topology_keys: tuple[str, ...] = ()
    allocatable: VolumeNodeResources = VolumeNodeResources()


class CSINodeSpec(Part):
    drivers: tuple[CSINodeDriver, ...] = ()


class CSINode(KubeObject):
    kind = "CSINode"
    namespaced = False

    spec: CSINodeSpec = CSINodeSpec()


class CSIDriverSpec(Part):
    storage_capacity: bool = False
    prevent_pod_scheduling_if_missing: bool = False
    """Its pods keep off nodes without it, in newer releases."""


class CSIDriver(KubeObject):
    """A CSI driver; releases that look at storage capacity read it."""

    kind = "CSIDriver"
    namespaced = False

    spec: CSIDriverSpec = CSIDriverSpec()


class CSIStorageCapacity(KubeObject):
    """The storage of a class that is left in a part of the cluster; releases from 1.19 on can read it."""

    kind = "CSIStorageCapacity"

    storage_class_name: str = ""
    node_topology: LabelSelector | None = None
    capacity: Quantity | None = None
    maximum_volume_size: Quantity | None = None


class VolumeAttachmentSource(Part):
    persistent_volume_name: str = ""
    """Empty where it attaches a volume that a pod names without a claim."""


class VolumeAttachmentSpec(Part):
    attacher: str = ""
    node_name: str = ""
    source: VolumeAttachmentSource = VolumeAttachmentSource()


class VolumeAttachment(KubeObject):
    """A volume that the driver *attacher* attaches to a node; releases before 1.32 do not read it."""

    kind = "VolumeAttachment"
    namespaced = False

    spec: VolumeAttachmentSpec = VolumeAttachmentSpec()
    node_name: ClassVar[str] = shortcut("spec.node_name")
