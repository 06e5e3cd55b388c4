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
    """Claims without a volume."""
    making: dict[str, None] = Factory(dict)
    """Claims whose volume is being made."""
    for_pods: dict[str, None] = Factory(dict)
    """Claims that were created for pods."""
    _made: dict[str, str] = Factory(dict)
    """Volumes that were made -> the claim that each was made for."""

    def put(self, item: KubeObject) -> None:
        """Create or change *item* in the API; claims are bound by :meth:`reconcile`."""
        self.cluster.put(item)
        if isinstance(item, PersistentVolumeClaim):
            if is_fully_bound(item):
                self._open.pop(item.key, None)
            else:
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
                self.put(self.cluster.written(volume.in_phase("Released")))

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
            kind = listings.classes.get(claim.storage_class)
            chosen = SELECTED_NODE in claim.annotations
            # The volume that the claim names, if it is free or bound to the claim; else one that is bound to
            # it.
            if claim.spec.volume_name:
                volume = listings.volumes.get(claim.spec.volume_name)
                if volume and volume.spec.claim_ref is not None and not is_bound_to(volume, claim):
                    volume = None
            else:
                volume = next(
                    (candidate for candidate in listings.volumes if is_bound_to(candidate, claim)), None
                )
            is_delayed = kind is not None and kind.volume_binding_mode == DELAYED and not chosen
            if volume is None and not claim.spec.volume_name and not is_delayed:
                if not chosen:
                    volume = min(
                        (candidate for candidate in listings.volumes if _satisfies(candidate, claim)),
                        key=lambda candidate: (len(candidate.spec.access_modes), size(candidate)),
                        default=None,
                    )
                if volume is None and kind is not None and kind.provisioner not in ("", NO_PROVISIONER):
                    self.making[key] = None
                    self.cluster.later(self.cluster.delays.provisioning, partial(self._provision, key))
            if volume is not None:
                self._bind(claim, volume)

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
    if (
        volume.spec.claim_ref is not None
        or volume.phase not in ("", "Available")
        or volume.metadata.deletion_timestamp is not None
        or volume_class(volume) != claim.storage_class
        or size(volume) < requested_size(claim)
        or (volume.spec.volume_mode or "Filesystem") != (claim.spec.volume_mode or "Filesystem")
    ):
        return False
    chosen = claim.spec.selector is None or selects(claim.spec.selector, volume.labels)
    return chosen and set(claim.spec.access_modes) <= set(volume.spec.access_modes)
