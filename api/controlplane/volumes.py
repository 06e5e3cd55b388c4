"""The volumes of claims: those that the volume controller binds to them, and those that provisioners make.

Upstream: pkg/controller/volume/persistentvolume/{pv_controller,index}.go
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attrs import Factory, define
from msgspec.structs import replace

from ..meaning import (
    BETA_PLACES,
    BOUND_BY_CONTROLLER,
    DELAYED,
    is_bound_to,
    requested_size,
    selects,
    volume_class,
    volume_size,
)
from ..objects import (
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
    Requirement,
    StorageClass,
    VolumeNodeAffinity,
    strings,
)

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


# --- the choice of a volume ---------------------------------------------------------------------------------


def volume_for(
    claim: PersistentVolumeClaim,
    volumes: Iterable[PersistentVolume],
    *,
    is_delayed: bool,
    attributes: bool | None = True,
) -> PersistentVolume | None:
    """The volume of *volumes* that *claim* names, if it suits and is not another's; else the nearest one.

    The scheduler chooses for a claim that *is_delayed*, unless a volume is bound to it. *attributes*: the
    VolumeAttributesClass must be the same; False: there must be none; None: it does not count.
    """

    def suits(volume: PersistentVolume) -> bool:
        classes = {item.spec.volume_attributes_class_name for item in (volume, claim)}
        return (
            volume.metadata.deletion_timestamp is None
            and volume_size(volume) >= requested_size(claim)
            and (volume.spec.volume_mode or "Filesystem") == (claim.spec.volume_mode or "Filesystem")
            and set(claim.spec.access_modes) <= set(volume.spec.access_modes)
            and (attributes is None or (len(classes) == 1 if attributes else classes == {""}))
        )

    def is_free(volume: PersistentVolume) -> bool:
        return volume.spec.claim_ref is None and volume_class(volume) == claim.storage_class

    def is_selected(volume: PersistentVolume) -> bool:
        return claim.spec.selector is None or selects(claim.spec.selector, volume.labels)

    if name := claim.spec.volume_name:
        named = next((volume for volume in volumes if volume.name == name), None)
        if named is None or is_bound_to(named, claim):
            return named
        return named if is_free(named) and suits(named) else None
    candidates = [
        (len({*volume.spec.access_modes}), not is_bound_to(volume, claim), volume_size(volume), at, volume)
        for at, volume in enumerate(volumes)
        if suits(volume)
        and (is_bound_to(volume, claim) or (not is_delayed and is_free(volume) and is_selected(volume)))
    ]
    return min(candidates)[-1] if candidates else None


@define(eq=False, repr=False)
class NewVolumes:
    """The volumes that new claims get at once, beside those of a cluster."""

    classes: dict[str, StorageClass] = Factory(dict)
    _open: dict[str, list[PersistentVolume]] = Factory(lambda: defaultdict(list))
    """StorageClass, or key of a claim -> the volumes that are free, or kept for the claim."""
    unplaced: list[str] = Factory(list)
    """Keys of claims whose volume could be anywhere, as no class says where."""

    @classmethod
    def beside(cls, objects: Iterable[KubeObject]) -> NewVolumes:
        """The free volumes and the classes of a cluster with *objects*."""
        found = cls()
        for item in objects:
            if isinstance(item, StorageClass):
                found.classes[item.name] = item
            elif isinstance(item, PersistentVolume):
                claim = item.spec.claim_ref
                found._open[
                    volume_class(item) if claim is None else f"{claim.namespace}/{claim.name}"
                ].append(item)
        return found

    def of(self, claim: PersistentVolumeClaim) -> tuple[KubeObject, ...]:
        """The new *claim*, with its volume if its class binds at once."""
        kind = self.classes.get(claim.storage_class)
        mode = None if kind is None else kind.volume_binding_mode
        volumes = [*self._open.get(claim.key, ()), *self._open.get(claim.storage_class, ())]
        volume = volume_for(claim, volumes, is_delayed=mode == DELAYED)
        if volume is not None:
            owner = claim.key if volume.spec.claim_ref is not None else claim.storage_class
            self._open[owner] = [item for item in self._open[owner] if item is not volume]
        elif kind is None or mode != "Immediate" or kind.provisioner in ("", NO_PROVISIONER):
            return (claim,)
        elif claim.spec.volume_name:
            return (claim,)  # it waits for the volume that it names
        else:
            volume = new_volume(claim, kind, None, None)
            if not kind.allowed_topologies:
                self.unplaced.append(claim.key)
        return bound_to_each_other(claim, volume)


def with_new_volumes(objects: Sequence[KubeObject]) -> tuple[Sequence[KubeObject], list[str]]:
    """*objects*, with volumes for new claims whose class binds at once, and the keys of claims whose volume
    could be anywhere."""
    new = [
        item
        for item in objects
        if isinstance(item, PersistentVolumeClaim)
        and not item.metadata.creation_timestamp
        and BIND_COMPLETED not in item.annotations
    ]
    if not new:
        return objects, []
    volumes = NewVolumes.beside(objects)
    bound = {item.identity: item for claim in new for item in volumes.of(claim)}
    kept = [bound.pop(item.identity, item) for item in objects]
    return [*kept, *bound.values()], volumes.unplaced
