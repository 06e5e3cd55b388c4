"""The other objects of the cluster, as the scheduler's listers give them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import attrs

from ...api.meaning import seconds_since_1970
from ...api.objects import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    DeviceClass,
    DeviceRequestAllocationResult,
    KubeObject,
    Namespace,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    PodResourceClaim,
    Quantity,
    ReplicaSet,
    ReplicationController,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
    Service,
    StatefulSet,
    StorageClass,
    VolumeAttachment,
    shortcut,
)
from ..arrays import Revisions

Kind = TypeVar("Kind", bound=KubeObject)


@attrs.define(eq=False, repr=False)
class Tick:
    """A revision that several listings share: it moves with a change of any of them."""

    count: int = 0


@attrs.define(eq=False, repr=False)
class Listing(Generic[Kind]):
    """The objects of one kind by key (``namespace/name``, or ``name``). Every change moves *version* and
    *tick*.

    ``group``: the attribute of an object by which :meth:`within` finds it.
    """

    version: int = 0
    tick: Tick = attrs.Factory(Tick)
    group: str = "namespace"
    _objects: dict[str, Kind] = attrs.Factory(dict)
    _sorted: list[Kind] | None = None
    _groups: dict[str, list[Kind]] | None = None

    def __len__(self) -> int:
        return len(self._objects)

    def __iter__(self) -> Iterator[Kind]:
        """All objects in ascending order of their keys."""
        if self._sorted is None:
            self._sorted = [self._objects[key] for key in sorted(self._objects)]
        return iter(self._sorted)

    # Rules ask for objects by the thousand: at run time it is the dict's own method, without a call between.
    if TYPE_CHECKING:

        def get(self, key: str) -> Kind | None:
            """The object called *key*, or None."""

    else:
        get = shortcut("_objects.get")

    def within(self, group: str) -> list[Kind]:
        """The objects of *group*, which is a namespace for most kinds, in ascending order of their keys. Not
        to be changed."""
        if self._groups is None:
            self._groups = {}
            for item in self:
                self._groups.setdefault(getattr(item, self.group), []).append(item)
        return self._groups.get(group, [])

    def groups(self) -> Collection[str]:
        """The groups that have objects."""
        self.within("")
        return () if self._groups is None else self._groups.keys()

    def put(self, item: Kind) -> Kind | None:
        """Add or replace an object; gives the one that was there before."""
        self._touch()
        key = item.key
        previous = self._objects.get(key)
        self._objects[key] = item
        return previous

    def drop(self, key: str) -> Kind | None:
        """Remove an object, if it exists; gives it."""
        previous = self._objects.pop(key, None)
        if previous is not None:
            self._touch()
        return previous

    def _touch(self) -> None:
        self.version += 1
        self.tick.count += 1
        self._sorted = None
        self._groups = None


# --- claims to devices: upstream's dra_manager.go and allocateddevices.go in plugins/dynamicresources ---

DeviceId = tuple[str, str, str]
"""Driver, pool, device."""


def held_by(claim: ResourceClaim | None) -> list[DeviceRequestAllocationResult]:
    """The devices that *claim* has for itself: those with admin access it shares."""
    allocation = None if claim is None else claim.status.allocation
    return [] if allocation is None else [result for result in allocation.results if not result.admin_access]


@attrs.define(eq=False, repr=False)
class DeviceShares:
    """The amounts that claims have of a shared device."""

    count: int = 0
    consumed: Counter[str] = attrs.Factory(Counter)
    """Capacity -> billionths; empty: no claim has said how much."""

    def add(self, amounts: Mapping[str, Quantity], sign: int) -> None:
        """Another claim has *amounts* of it; with *sign* -1 one no longer has them."""
        self.count += sign
        for name, amount in amounts.items():
            self.consumed[name] += sign * amount.nanos
        if sign < 0 and not any(self.consumed.values()):
            self.consumed.clear()


@attrs.frozen
class ClaimWrite:
    """A claim before and after a change by the scheduler; None: it was not there, or is to be deleted."""

    before: ResourceClaim | None
    after: ResourceClaim | None
    told: tuple[Pod, Mapping[str, Any]] | None = None
    """The pod whose status names the claim, and that status."""


@attrs.define(eq=False, repr=False)
class ResourceClaims(Listing[ResourceClaim]):
    """The claims as the API has them, with those that are being allocated."""

    holders: dict[DeviceId, int] = attrs.Factory(dict)
    """Device -> the number of claims that hold it; absent where none does."""
    shares: dict[DeviceId, DeviceShares] = attrs.Factory(dict)
    """Device -> the amounts of the claims that share it; these count among the holders, too."""
    extended: dict[str, str] = attrs.Factory(dict)
    """UID of a pod -> the key of the claim that was made for its extended resources."""
    log: Revisions[tuple[DeviceId, ...]] = attrs.Factory(Revisions)
    """The devices allocated or given back, step by step: others may hold them now, or none."""
    pending: dict[str, ResourceClaim] = attrs.Factory(dict)
    """UID -> a claim with its new devices, until they are written to the API."""
    writes: list[ClaimWrite] | None = None
    """The changes to write to the API, oldest first. Its owner sets a list and takes them out; None: nothing
    is written."""
    _before: dict[str, ResourceClaim | None] | None = None
    """Key -> the claim before the current trial, which is undone in the end; None: no trial runs."""

    def put(self, item: ResourceClaim) -> ResourceClaim | None:
        """Add or replace a claim, unless the known one is newer. A claim just written is newer until the
        watch brings it."""
        current = self.get(item.key)
        if current is not None and _is_older(item, current):
            return current
        self._note(item.key)
        self._count(current, -1)
        self._count(item, 1)
        if (owner := extended_owner(item)) is not None:
            self.extended[owner] = item.key
        return super().put(item)

    def drop(self, key: str) -> ResourceClaim | None:
        """Remove a claim, if it exists."""
        self._note(key)
        current = self.get(key)
        self._count(current, -1)
        if current is not None and (owner := extended_owner(current)) is not None:
            self.extended.pop(owner, None)
        return super().drop(key)

    def write(
        self,
        before: ResourceClaim | None,
        after: ResourceClaim | None,
        pod_status: tuple[Pod, Mapping[str, Any]] | None = None,
    ) -> None:
        """The scheduler changes, makes or deletes a claim; see :attr:`writes` and :class:`ClaimWrite`."""
        if after is not None:
            self.put(after)
        elif before is not None:
            self.drop(before.key)
        if self.writes is not None and self._before is None:
            self.writes.append(ClaimWrite(before, after, pod_status))

    def allocate(self, claim: ResourceClaim) -> None:
        """Count the devices in the status of *claim* as held, before they are written."""
        self.take_back(claim.uid)
        self.pending[claim.uid] = claim
        self._count(claim, 1)

    def take_back(self, uid: str) -> ResourceClaim | None:
        """End the allocation of a claim that is pending. Returns it with the devices it was to have; None if
        there was none."""
        claim = self.pending.pop(uid, None)
        self._count(claim, -1)
        return claim

    def _count(self, claim: ResourceClaim | None, sign: int) -> None:
        results = held_by(claim)
        for result in results:
            device = result.id
            count = self.holders.get(device, 0) + sign
            if count:
                self.holders[device] = count
            else:
                del self.holders[device]
            if result.share_id is not None:
                share = self.shares.setdefault(device, DeviceShares())
                share.add(result.consumed_capacity, sign)
                if not share.count:
                    del self.shares[device]
        if results:
            self.log.extend([tuple([result.id for result in results])])

    def has_whole(self, device: DeviceId, shares: bool) -> bool:
        """Whether a claim has *device* for itself; without *shares* a claim that shares it counts, too."""
        holder_count = self.holders.get(device, 0)
        return bool(holder_count) and not (
            shares and device in self.shares and self.shares[device].count == holder_count
        )

    def consumed(self, device: DeviceId) -> Mapping[str, int] | None:
        """The amounts of a device's capacities that the claims sharing it consume; None: none shares it."""
        device_shares = self.shares.get(device)
        return None if device_shares is None else device_shares.consumed

    # --- trials ---------------------------------------------------------------------------------------------

    @contextmanager
    def undone(self) -> Iterator[None]:
        """A context after which all claims are as they were before it."""
        outer = self._before
        self._before = {}
        try:
            yield
        finally:
            saved = self._before
            self._before = outer
            for key, claim in saved.items():
                if claim is None:
                    self.drop(key)
                else:
                    self.put(claim)

    def _note(self, key: str) -> None:
        if self._before is not None:
            self._before.setdefault(key, self.get(key))

    # --- those of a pod -------------------------------------------------------------------------------------

    def of(self, pod: Pod) -> list[ResourceClaim]:
        """The existing claims of *pod*, in order."""
        names = (claim_name(pod, claim) for claim in pod.spec.resource_claims)
        claims = (self.get(f"{pod.namespace}/{name}") for name in names if name is not None)
        return [claim for claim in (*claims, self.extended_of(pod)) if claim is not None]

    def extended_of(self, pod: Pod) -> ResourceClaim | None:
        """The claim that was made for the extended resources of *pod*."""
        key = self.extended.get(pod.uid)
        return None if key is None else self.get(key)

    def allocations(self, pod: Pod) -> dict[str, list[str]]:
        """The devices of each claim of *pod* that has some, in ascending order: claim ->
        ``driver/pool/device``."""
        return {
            claim.name if extended_owner(claim) is None else EXTENDED: sorted(
                "/".join(result.id) for result in claim.status.allocation.results
            )
            for claim in self.of(pod)
            if claim.status.allocation is not None
        }


EXTENDED = "<extended-resources>"
"""The name of a claim for extended resources before it is written."""
EXTENDED_MARK = "resource.kubernetes.io/extended-resource-claim"


def extended_owner(claim: ResourceClaim) -> str | None:
    """The UID of the pod for whose extended resources *claim* was made; None for all other claims."""
    owner = claim.controller if claim.metadata.annotations.get(EXTENDED_MARK) == "true" else None
    return None if owner is None else owner.uid


def _is_older(claim: ResourceClaim, known: ResourceClaim) -> bool:
    versions = claim.metadata.resource_version, known.metadata.resource_version
    return all(map(str.isdecimal, versions)) and int(versions[0]) < int(versions[1])


def claim_name(pod: Pod, claim: PodResourceClaim) -> str | None:
    """The name of the ResourceClaim for *claim* of *pod*; None: there is none yet, or none is needed."""
    if claim.resource_claim_name is not None:
        return claim.resource_claim_name
    name_by_claim = {
        status.name: status.resource_claim_name for status in reversed(pod.status.resource_claim_statuses)
    }
    return name_by_claim.get(claim.name)


IMPLICIT = "deviceclass.resource.kubernetes.io/"
"""The beginning of the extended resource that each DeviceClass has."""


@attrs.define(eq=False, repr=False)
class DeviceClasses(Listing[DeviceClass]):
    """The classes of devices, and the extended resources that they give.

    Upstream: dynamic-resource-allocation/deviceclass/extendedresourcecache.
    """

    by_resource: dict[str, DeviceClass] = attrs.Factory(dict)
    """Extended resource -> the class of its devices."""

    def put(self, item: DeviceClass) -> DeviceClass | None:
        """Add or replace a class. Of two with one name for an extended resource the newer gives it, else the
        first by name."""
        explicit = item.spec.extended_resource_name
        rival = self.by_resource.get(explicit) if explicit is not None else None
        previous = super().put(item)
        # Upstream: a new class that loses, or a class that changes while it has the name, is not entered at
        # all.
        if rival is not None and (_age(item), item.name) >= (_age(rival), rival.name):
            return previous
        if previous is not None:
            self._leave(previous)
        if explicit is not None:
            self.by_resource[explicit] = item
        self.by_resource[IMPLICIT + item.name] = item
        return previous

    def drop(self, key: str) -> DeviceClass | None:
        """Remove a class, if it exists."""
        current = super().drop(key)
        if current is not None:
            self._leave(current)
        return current

    def restore(self, by_resource: Mapping[str, DeviceClass]) -> None:
        """Restore an earlier :attr:`by_resource`."""
        self.by_resource.clear()
        self.by_resource.update(by_resource)

    def _leave(self, device_class: DeviceClass) -> None:
        for name in (IMPLICIT + device_class.name, device_class.spec.extended_resource_name):
            self.by_resource.pop(name or "", None)


def _age(item: DeviceClass) -> float:
    """The sort key that puts newer classes first."""
    return -seconds_since_1970(item.metadata.creation_timestamp)


def _listed(kind: type[Kind], group: str = "namespace") -> Listing[Kind]:
    """The field of :class:`Listings` for the objects of a class."""
    return attrs.field(factory=partial(Listing, group=group), metadata={"kind": kind})


@attrs.define(eq=False, repr=False)
class Listings:
    """One listing for each kind, without what is assumed of volumes and claims: the volume binder has
    that."""

    volumes: Listing[PersistentVolume] = _listed(PersistentVolume)
    claims: Listing[PersistentVolumeClaim] = _listed(PersistentVolumeClaim)
    classes: Listing[StorageClass] = _listed(StorageClass)
    csi_nodes: Listing[CSINode] = _listed(CSINode)
    csi_drivers: Listing[CSIDriver] = _listed(CSIDriver)
    csi_capacities: Listing[CSIStorageCapacity] = _listed(CSIStorageCapacity)
    attachments: Listing[VolumeAttachment] = _listed(VolumeAttachment, "node_name")
    """Volume attachments; ``within`` gives those of a node."""
    services: Listing[Service] = _listed(Service)
    controllers: Listing[ReplicationController] = _listed(ReplicationController)
    replica_sets: Listing[ReplicaSet] = _listed(ReplicaSet)
    stateful_sets: Listing[StatefulSet] = _listed(StatefulSet)
    budgets: Listing[PodDisruptionBudget] = _listed(PodDisruptionBudget)
    namespaces: Listing[Namespace] = _listed(Namespace)
    resource_claims: ResourceClaims = attrs.field(factory=ResourceClaims, metadata={"kind": ResourceClaim})
    slices: Listing[ResourceSlice] = _listed(ResourceSlice)
    device_classes: DeviceClasses = attrs.field(factory=DeviceClasses, metadata={"kind": DeviceClass})
    claim_templates: Listing[ResourceClaimTemplate] = _listed(ResourceClaimTemplate)
    volume_tick: Tick = attrs.field(init=False, factory=Tick)
    owner_tick: Tick = attrs.field(init=False, factory=Tick)

    def __attrs_post_init__(self) -> None:
        volumes = (
            self.volumes,
            self.claims,
            self.classes,
            self.csi_nodes,
            self.csi_drivers,
            self.csi_capacities,
            self.attachments,
        )
        for listing in volumes:
            listing.tick = self.volume_tick
        for owners in (
            self.services,
            self.controllers,
            self.replica_sets,
            self.stateful_sets,
            self.namespaces,
        ):
            owners.tick = self.owner_tick

    def of(self, item: KubeObject) -> Listing[KubeObject] | None:
        """The listing for objects of *item*'s kind; None for nodes, pods and priority classes."""
        name = LISTED.get(item.kind)
        return None if name is None else getattr(self, name)

    volumes_version: ClassVar[int] = shortcut("volume_tick.count")
    """Moves with every change of a listing that volume rules read."""


LISTED = {field.metadata["kind"].kind: field.name for field in attrs.fields(Listings) if field.metadata}
"""Kind -> attribute of :class:`Listings`."""
