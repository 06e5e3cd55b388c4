"""The volumes of claims, bound and provisioned as by the cluster's volume controller and provisioners.

Upstream: pkg/controller/volume/persistentvolume/pv_controller.go syncClaim, syncVolume.
"""

from __future__ import annotations

from functools import partial

from attrs import Factory, define
from msgspec.structs import replace

from ...api.controlplane import admit, bound_to_each_other, new_volume, volume_for
from ...api.meaning import DELAYED, is_bound_to
from ...api.objects import (
    BIND_COMPLETED,
    NO_PROVISIONER,
    KubeObject,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
)
from ...api.record import UNSET
from ...core.pods import not_owned
from ...core.volumes import SELECTED_NODE, is_fully_bound
from ...simulation.evictions import volume_claims
from .journal import VolumeBound, VolumeProvisioned
from .simulatedcluster import SimulatedCluster


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
        engine = self.cluster.engine
        listings = engine.listings
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
            gate = engine.release.volumes.attributes_class_gate
            volume = volume_for(
                claim,
                listings.volumes,
                is_delayed=is_delayed,
                attributes=bool(engine.gates.get(gate)) if gate else None,
            )
            waits = claim.spec.volume_name or (is_delayed and SELECTED_NODE not in claim.annotations)
            if volume is not None:
                self._bind(claim, volume)
            elif kind is not None and kind.provisioner not in ("", NO_PROVISIONER) and not waits:
                self.making[key] = None
                self.cluster.later(self.cluster.delays.provisioning, partial(self._provision, key))

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
