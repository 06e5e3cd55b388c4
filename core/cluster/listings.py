"""The other objects of the cluster, as the scheduler's listers give them."""

from __future__ import annotations

import attrs

from ...api.objects import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    DeviceClass,
    KubeObject,
    Namespace,
    PersistentVolume,
    PersistentVolumeClaim,
    PodDisruptionBudget,
    ReplicaSet,
    ReplicationController,
    ResourceClaimTemplate,
    ResourceSlice,
    Service,
    StatefulSet,
    StorageClass,
    VolumeAttachment,
)
from .listing import Listing, Tick
from .resourceclaims import ResourceClaims


@attrs.define(eq=False, repr=False)
class Listings:
    """One listing for each kind, without what is assumed of volumes and claims: the volume binder has that."""

    volumes: Listing[PersistentVolume] = attrs.field(factory=Listing)
    claims: Listing[PersistentVolumeClaim] = attrs.field(factory=Listing)
    classes: Listing[StorageClass] = attrs.field(factory=Listing)
    csi_nodes: Listing[CSINode] = attrs.field(factory=Listing)
    csi_drivers: Listing[CSIDriver] = attrs.field(factory=Listing)
    csi_capacities: Listing[CSIStorageCapacity] = attrs.field(factory=Listing)
    attachments: Listing[VolumeAttachment] = attrs.field(factory=lambda: Listing(group="node_name"))
    """Volume attachments; ``within`` gives those of a node."""
    services: Listing[Service] = attrs.field(factory=Listing)
    controllers: Listing[ReplicationController] = attrs.field(factory=Listing)
    replica_sets: Listing[ReplicaSet] = attrs.field(factory=Listing)
    stateful_sets: Listing[StatefulSet] = attrs.field(factory=Listing)
    budgets: Listing[PodDisruptionBudget] = attrs.field(factory=Listing)
    namespaces: Listing[Namespace] = attrs.field(factory=Listing)
    resource_claims: ResourceClaims = attrs.field(factory=ResourceClaims)
    slices: Listing[ResourceSlice] = attrs.field(factory=Listing)
    device_classes: Listing[DeviceClass] = attrs.field(factory=Listing)
    claim_templates: Listing[ResourceClaimTemplate] = attrs.field(factory=Listing)
    volume_tick: Tick = attrs.field(init=False, factory=Tick)
    owner_tick: Tick = attrs.field(init=False, factory=Tick)

    def __attrs_post_init__(self) -> None:
        volumes = (self.volumes, self.claims, self.classes, self.csi_nodes, self.csi_drivers, self.csi_capacities, self.attachments)
        for listing in volumes:
            listing.tick = self.volume_tick
        for owners in (self.services, self.controllers, self.replica_sets, self.stateful_sets, self.namespaces):
            owners.tick = self.owner_tick

    def of(self, item: KubeObject) -> Listing[KubeObject] | None:
        """The listing for objects of *item*'s kind; None for nodes, pods and priority classes."""
        name = LISTED.get(item.kind)
        return None if name is None else getattr(self, name)

    @property
    def volumes_version(self) -> int:
        """Moves with every change of a listing that volume rules read."""
        return self.volume_tick.count

    @property
    def owners_version(self) -> int:
        """Moves when a service, a controller or a namespace changes."""
        return self.owner_tick.count


LISTED = {
    "PersistentVolume": "volumes",
    "PersistentVolumeClaim": "claims",
    "StorageClass": "classes",
    "CSINode": "csi_nodes",
    "CSIDriver": "csi_drivers",
    "CSIStorageCapacity": "csi_capacities",
    "VolumeAttachment": "attachments",
    "Service": "services",
    "ReplicationController": "controllers",
    "ReplicaSet": "replica_sets",
    "StatefulSet": "stateful_sets",
    "PodDisruptionBudget": "budgets",
    "Namespace": "namespaces",
    "ResourceClaim": "resource_claims",
    "ResourceSlice": "slices",
    "DeviceClass": "device_classes",
    "ResourceClaimTemplate": "claim_templates",
}
"""Kind -> attribute of :class:`Listings`."""
