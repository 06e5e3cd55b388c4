"""The other objects of the cluster, as the scheduler's listers give them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

import attrs

from ...api.objects import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    KubeObject,
    Namespace,
    PersistentVolume,
    PersistentVolumeClaim,
    PodDisruptionBudget,
    ReplicaSet,
    ReplicationController,
    Service,
    StatefulSet,
    StorageClass,
)

Kind = TypeVar("Kind", bound=KubeObject)


@attrs.define(eq=False, repr=False)
class Tick:
    """A revision that several listings share: it moves with a change of any of them."""

    count: int = 0


@attrs.define(eq=False, repr=False)
class Listing(Generic[Kind]):
    """The objects of one kind by key (``namespace/name``, or ``name``). Every change moves *version* and *tick*."""

    version: int = 0
    tick: Tick = attrs.field(factory=Tick)
    _objects: dict[str, Kind] = attrs.field(factory=dict)
    _sorted: list[Kind] | None = None
    _by_namespace: dict[str, list[Kind]] = attrs.field(factory=dict)

    def __len__(self) -> int:
        return len(self._objects)

    def __iter__(self) -> Iterator[Kind]:
        """All objects in ascending order of their keys."""
        if self._sorted is None:
            self._sorted = [self._objects[key] for key in sorted(self._objects)]
        return iter(self._sorted)

    def get(self, key: str) -> Kind | None:
        """The object called *key*, or None."""
        return self._objects.get(key)

    def within(self, namespace: str) -> list[Kind]:
        """The objects of *namespace* in ascending order of name. Not to be changed."""
        found = self._by_namespace.get(namespace)
        if found is None:
            found = self._by_namespace[namespace] = [item for item in self if item.namespace == namespace]
        return found

    def put(self, item: Kind) -> None:
        """Add or replace an object."""
        self._objects[item.key] = item
        self._touch()

    def drop(self, key: str) -> None:
        """Remove an object, if it exists."""
        if self._objects.pop(key, None) is not None:
            self._touch()

    def _touch(self) -> None:
        self.version += 1
        self.tick.count += 1
        self._sorted = None
        self._by_namespace.clear()


@attrs.define(eq=False, repr=False)
class Listings:
    """One listing for each kind, without what is assumed of volumes and claims: the volume binder has that."""

    volumes: Listing[PersistentVolume] = attrs.field(factory=Listing)
    claims: Listing[PersistentVolumeClaim] = attrs.field(factory=Listing)
    classes: Listing[StorageClass] = attrs.field(factory=Listing)
    csi_nodes: Listing[CSINode] = attrs.field(factory=Listing)
    csi_drivers: Listing[CSIDriver] = attrs.field(factory=Listing)
    csi_capacities: Listing[CSIStorageCapacity] = attrs.field(factory=Listing)
    services: Listing[Service] = attrs.field(factory=Listing)
    controllers: Listing[ReplicationController] = attrs.field(factory=Listing)
    replica_sets: Listing[ReplicaSet] = attrs.field(factory=Listing)
    stateful_sets: Listing[StatefulSet] = attrs.field(factory=Listing)
    budgets: Listing[PodDisruptionBudget] = attrs.field(factory=Listing)
    namespaces: Listing[Namespace] = attrs.field(factory=Listing)
    volume_tick: Tick = attrs.field(init=False, factory=Tick)
    owner_tick: Tick = attrs.field(init=False, factory=Tick)

    def __attrs_post_init__(self) -> None:
        for listing in (self.volumes, self.claims, self.classes, self.csi_nodes, self.csi_drivers, self.csi_capacities):
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
    "Service": "services",
    "ReplicationController": "controllers",
    "ReplicaSet": "replica_sets",
    "StatefulSet": "stateful_sets",
    "PodDisruptionBudget": "budgets",
    "Namespace": "namespaces",
}
"""Kind -> attribute of :class:`Listings`."""
