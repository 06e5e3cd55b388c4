"""The volumes of claims, bound and provisioned as by the cluster's volume controller and provisioners.

Upstream: pkg/controller/volume/persistentvolume/pv_controller.go syncClaim, syncVolume.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from attrs import Factory, define
from msgspec.structs import replace

from ...api.controlplane import admit, claims_of_volumes
from ...api.meaning import BETA_PLACES, selects
from ...api.objects import (
    BIND_COMPLETED,
    CSI,
    NO_PROVISIONER,
    AWSElasticBlockStore,
    AzureDisk,
    Cinder,
    CSINode,
    GCEPersistentDisk,
    KubeObject,
    Map,
    Node,
    NodeSelector,
    NodeSelectorTerm,
    ObjectMeta,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeSpec,
    Pod,
    Requirement,
    StorageClass,
    VolumeNodeAffinity,
    strings,
)
from ...api.record import UNSET
from ...core.engine import Engine
from ...core.pods import not_owned
from ...core.volumes import (
    BOUND_BY_CONTROLLER,
    SELECTED_NODE,
    is_bound_to,
    is_fully_bound,
    requested_size,
    size,
    volume_class,
)
from .journal import VolumeBound, VolumeProvisioned
from .simulatedcluster import SimulatedCluster

IN_TREE: Mapping[str, tuple[str, type, str]] = {
    "kubernetes.io/aws-ebs": ("aws_elastic_block_store", AWSElasticBlockStore, "volume_id"),
    "kubernetes.io/gce-pd": ("gce_persistent_disk", GCEPersistentDisk, "pd_name"),
    "kubernetes.io/azure-disk": ("azure_disk", AzureDisk, "disk_name"),
    "kubernetes.io/cinder": ("cinder", Cinder, "volume_id"),
}
"""Provisioner -> field of its disk in a volume, type of the disk, and field of its name. Each disk is in one
zone, which a label of the volume names."""


def new_volume(
    claim: PersistentVolumeClaim, kind: StorageClass, node: Node | None, drivers: CSINode | None
) -> PersistentVolume:
    """The volume that the class's provisioner makes for *claim* with a pod on *node*; *drivers*: the CSI
    drivers there.

    A CSI driver's volume is reached from nodes that agree in the driver's topology keys; a cloud's disk has
    the node's zone as a label.
    """
    name = f"pvc-{claim.metadata.uid or f'{claim.namespace}-{claim.name}'}"
    provisioner = kind.provisioner
    places = [
        expression for term in kind.allowed_topologies[:1] for expression in term.match_label_expressions
    ]
    if node is None:
        reach = {expression.key: expression.values[0] for expression in places if expression.values}
        zone = {key: value for key, value in reach.items() if key in BETA_PLACES}
    else:
        node_drivers = () if drivers is None else drivers.spec.drivers
        driver = next((candidate for candidate in node_drivers if candidate.name == provisioner), None)
        keys = tuple(expression.key for expression in places) if driver is None else driver.topology_keys
        reach, zone = (
            {key: node.labels[key] for key in label_keys if key in node.labels}
            for label_keys in (keys, BETA_PLACES)
        )
    terms = tuple(
        Requirement(key=key, operator="In", given_values=(value,)) for key, value in sorted(reach.items())
    )
    affinity = (
        NodeSelector(node_selector_terms=(NodeSelectorTerm(match_expressions=terms),)) if terms else None
    )
    source = dict[str, Any]()
    if provisioner in IN_TREE:
        field, disk, called = IN_TREE[provisioner]
        source = {field: disk(**{called: name})}
    elif not provisioner.startswith("kubernetes.io/"):
        source = {"csi": CSI(driver=provisioner, volume_handle=name)}
    spec = PersistentVolumeSpec(
        **source,
        capacity=Map({key: amount for key, amount in claim.spec.requests.items() if key == "storage"}),
        access_modes=claim.spec.access_modes,
        storage_class_name=kind.name,
        volume_mode=claim.spec.volume_mode,
        reached_from=VolumeNodeAffinity(required=affinity),
    )
    labels = strings(zone if provisioner in IN_TREE else {})
    return PersistentVolume(metadata=ObjectMeta(name=name, labels=labels), spec=spec).in_phase("Available")


DELAYED = "WaitForFirstConsumer"


@define(eq=False, repr=False)
class VolumeController:
    """The volume controller and provisioners. :meth:`put` and :meth:`delete` make changes,
    :meth:`reconcile` acts on them."""

    cluster: SimulatedCluster
    _open: dict[str, None] = Factory(dict)
    """Claims that are not known to have their volumes."""
    making: dict[str, None] = Factory(dict)
    """Claims whose volume is being made."""
    for_pods: dict[str, None] = Factory(dict)
    """Claims that were created for pods."""
    _made: dict[str, str] = Factory(dict)
    """Volumes that were made -> the claim that each was made for."""

    def put(self, item: KubeObject) -> None:
        """Create or change *item* in the API; claims are bound by :meth:`reconcile`. A volume of no claim is
        available."""
        if isinstance(item, PersistentVolume) and item.spec.claim_ref is None:
            item = item.in_phase("Available")
        self.cluster.put(item)
        if isinstance(item, PersistentVolumeClaim):
            self._open[item.key] = None

    def delete(self, item: KubeObject) -> None:
        """Delete *item*. The volume of a deleted claim is deleted too if it was provisioned for it, else
        released."""
        listings = self.cluster.listings
        old = listings.claims.get(item.key) if isinstance(item, PersistentVolumeClaim) else None
        self.cluster.delete(item)
        if old is None:
            return
        self._open.pop(item.key, None)
        volume = listings.volumes.get(old.spec.volume_name)
        if volume is not None and is_bound_to(volume, old):
            if self._made.pop(volume.key, None) is not None:
                self.cluster.delete(volume)
            else:
                # A claim has a UID in a cluster, so that a later one of its name is another one.
                uid = old.metadata.uid or f"{old.key} deleted"
                reference = replace(volume.spec.claim_ref or ObjectReference(), uid=uid)
                spec = replace(volume.spec, claim_ref=reference)
                self.put(self.cluster.written(replace(volume, spec=spec).in_phase("Released")))

    def make_claims(self, pod: Pod) -> None:
        """Create the claims of *pod*'s generic ephemeral volumes, if the release has such volumes; existing
        claims stay."""
        listings = self.cluster.listings
        claims = volume_claims(pod, self.cluster.engine)
        new = [claim for claim in claims if listings.claims.get(claim.key) is None]
        if not new:
            return
        for claim in admit(new, listings.classes, server=self.cluster.engine.release.server).objects:
            self.for_pods[claim.key] = None
            self.put(claim)
        self.reconcile()

    def drop_claims(self, pod: Pod) -> None:
        """A pod is gone: delete the claims that were created for it."""
        for claim in volume_claims(pod, self.cluster.engine):
            current = self.cluster.listings.claims.get(claim.key)
            if current is not None and not_owned(pod, current) is None:
                self.for_pods.pop(claim.key, None)
                self.delete(current)

    def is_bound(self, key: str) -> bool:
        """Whether the claim *key* has its volume."""
        claim = self.cluster.listings.claims.get(key)
        return claim is not None and is_fully_bound(claim)

    # --- claims ---------------------------------------------------------------------------------------------

    def reconcile(self) -> None:
        """Bind each open claim if a volume fits, or have one provisioned."""
        listings = self.cluster.listings
        for key in sorted(self._open):
            claim = listings.claims.get(key)
            if claim is None or claim.metadata.deletion_timestamp is not None or key in self.making:
                continue
            if BIND_COMPLETED in claim.annotations:
                bound = listings.volumes.get(claim.spec.volume_name)
                if bound is not None and bound.spec.claim_ref is None:
                    self.put(self.cluster.written(bound_to_each_other(claim, bound)[0]))
                if bound is not None:
                    self._open.pop(key)
                continue
            kind = listings.classes.get(claim.storage_class)
            is_delayed = kind is not None and kind.volume_binding_mode == DELAYED
            volume = self._volume_for(claim, is_delayed)
            waits = claim.spec.volume_name or (is_delayed and SELECTED_NODE not in claim.annotations)
            if volume is not None:
                self._bind(claim, volume)
            elif kind is not None and kind.provisioner not in ("", NO_PROVISIONER) and not waits:
                self.making[key] = None
                self.cluster.later(self.cluster.delays.provisioning, partial(self._provision, key))

    def _volume_for(self, claim: PersistentVolumeClaim, is_delayed: bool) -> PersistentVolume | None:
        """The volume that *claim* names, if it suits and is not another's; else the nearest one. The
        scheduler chooses for a claim that *is_delayed*, unless a volume is bound to it."""
        name = claim.spec.volume_name
        if name:
            named = self.cluster.listings.volumes.get(name)
            if named is None or is_bound_to(named, claim):
                return named
            is_free = named.spec.claim_ref is None and volume_class(named) == claim.storage_class
            return named if is_free and self._suits(named, claim) else None
        candidates = [
            (len({*volume.spec.access_modes}), not is_bound_to(volume, claim), size(volume), at, volume)
            for at, volume in enumerate(self.cluster.listings.volumes)
            if (is_bound_to(volume, claim) or (not is_delayed and _satisfies(volume, claim)))
            and self._suits(volume, claim)
        ]
        return min(candidates)[-1] if candidates else None

    def _suits(self, volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
        """Whether size, modes and attributes of *volume* are those that *claim* asks for."""
        gate = self.cluster.engine.release.volumes.attributes_class_gate
        attributes = {item.spec.volume_attributes_class_name for item in (volume, claim)}
        return (
            volume.metadata.deletion_timestamp is None
            and size(volume) >= requested_size(claim)
            and (volume.spec.volume_mode or "Filesystem") == (claim.spec.volume_mode or "Filesystem")
            and set(claim.spec.access_modes) <= set(volume.spec.access_modes)
            and (
                not gate
                or (len(attributes) == 1 if self.cluster.engine.gates.get(gate) else attributes == {""})
            )
        )

    def _bind(self, claim: PersistentVolumeClaim, volume: PersistentVolume) -> None:
        for item in bound_to_each_other(claim, volume):
            self.put(self.cluster.written(item))
        self.cluster.note(VolumeBound(claim=claim.key, volume=volume.name))

    # --- provisioning ---------------------------------------------------------------------------------------

    def _provision(self, key: str) -> None:
        self.making.pop(key, None)
        listings = self.cluster.listings
        claim = listings.claims.get(key)
        kind = None if claim is None else listings.classes.get(claim.storage_class)
        if claim is None or kind is None or key not in self._open:
            return
        name = claim.annotations.get(SELECTED_NODE, "")
        volume = new_volume(claim, kind, self.cluster.node(name), listings.csi_nodes.get(name))
        self._made[volume.key] = key
        self.put(volume)
        self.cluster.note(VolumeProvisioned(volume=volume.name, claim=key, node=name or UNSET))
        self._bind(claim, volume)


def bound_to_each_other(
    claim: PersistentVolumeClaim, volume: PersistentVolume
) -> tuple[KubeObject, KubeObject]:
    """*volume* and *claim*, bound as the volume controller leaves them."""
    reference = ObjectReference(
        kind=claim.kind, namespace=claim.namespace, name=claim.name, uid=claim.metadata.uid
    )
    annotations = Map({**claim.annotations, BIND_COMPLETED: "yes", BOUND_BY_CONTROLLER: "yes"})
    metadata = replace(claim.metadata, annotations=annotations)
    spec = replace(claim.spec, volume_name=volume.name)
    return (
        replace(volume, spec=replace(volume.spec, claim_ref=volume.spec.claim_ref or reference)).in_phase(
            "Bound"
        ),
        replace(claim, metadata=metadata, spec=spec).in_phase("Bound"),
    )


def volume_claims(pod: Pod, engine: Engine) -> list[PersistentVolumeClaim]:
    """The claims of *pod*'s generic ephemeral volumes, as they are made, if the release has such volumes."""
    return claims_of_volumes(pod) if engine.release.volumes.ephemeral_claims else []


def _satisfies(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Whether *volume* is free, and has the class and the labels that *claim* asks for."""
    if volume.spec.claim_ref is not None or volume_class(volume) != claim.storage_class:
        return False
    return claim.spec.selector is None or selects(claim.spec.selector, volume.labels)
