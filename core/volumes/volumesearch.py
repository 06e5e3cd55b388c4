"""Nodes and a pod's claims: bound volumes within reach, free volumes that match, or new ones to provision.

Upstream: pkg/controller/volume/scheduling/scheduler_binder.go FindPodVolumes (before 1.15 in
pkg/controller/volume/persistentvolume).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs
import numpy as np

from ...api.objects import PersistentVolume, PersistentVolumeClaim, StorageClass
from ...api.objects.storage import BIND_COMPLETED
from ..arrays.batch import Batch
from ..arrays.types import Mask
from ..binding import Finding, PodClaims
from ..cluster.listings import Listings
from ..matching.nodeselectors import node_selector_mask
from ..release import VolumeCells
from .assumecache import AssumeCache, VolumeError
from .intree import MIGRATED_PLUGINS, PLUGINS, may_migrate, plugin_of, translated_affinity
from .match import VolumeMatcher, can_provision, requested_size, storage_left

SELECTED_NODE = "volume.kubernetes.io/selected-node"
UNBOUND_IMMEDIATE = "pod has unbound immediate PersistentVolumeClaims"


def is_fully_bound(claim: PersistentVolumeClaim) -> bool:
    """Whether *claim* has a volume and the volume controller has finished binding it."""
    return bool(claim.spec.volume_name) and BIND_COMPLETED in claim.annotations


def delays_binding(kind: StorageClass) -> bool:
    """Whether volumes of class *kind* are bound only when a pod has a node. Raises :class:`VolumeError`."""
    if kind.volume_binding_mode is None:
        raise VolumeError(f'VolumeBindingMode not set for StorageClass "{kind.name}"')
    return kind.volume_binding_mode == "WaitForFirstConsumer"


@attrs.define(eq=False, repr=False)
class VolumeSearch:
    """Answers from the volumes and claims as they are assumed to be; it stores nothing."""

    cells: VolumeCells
    gates: Mapping[str, bool]
    listings: Listings
    volumes: AssumeCache[PersistentVolume]
    claims: AssumeCache[PersistentVolumeClaim]

    def find(self, claims: Sequence[str], nodes: Batch) -> Finding:
        """The volumes of each of *nodes* for the claims with these keys."""
        finding = Finding.of(nodes.n)
        gates = self.gates
        classes = self.cells.attributes_class_gate
        matcher = VolumeMatcher(
            nodes, self.cells, bool(gates.get("BlockVolume", False)), bool(gates.get(classes, False))
        )
        try:
            needs = self.needs(claims)
            if needs.immediate:
                raise VolumeError(UNBOUND_IMMEDIATE)
        except VolumeError as error:
            finding.fail(str(error), nodes.every())
            return finding
        for claim in needs.bound:
            # Upstream: the first volume that the node cannot reach ends the check, so a missing one after it
            # is not noticed.
            try:
                volume = self.volumes.get(claim.spec.volume_name)
            except VolumeError as error:
                if self.cells.missing_volume_is_reason:
                    finding.exists &= ~finding.bound
                    break
                finding.fail(str(error), finding.bound)
                continue
            finding.bound &= self._reach(volume, matcher, finding)
        if needs.delayed:
            self._find_unbound(needs, matcher, finding)
        return finding

    def needs(self, claims: Sequence[str]) -> PodClaims:
        """The needs of the claims with these keys; raises :class:`VolumeError` for a claim without an answer.
        Upstream: GetPodVolumeClaims."""
        needs = PodClaims()
        for key in claims:
            try:
                claim = self.claims.get(key)
            except VolumeError as error:
                name = key if self.cells.claim_text_has_namespace else key.partition("/")[2]
                raise VolumeError(f'error getting PVC "{name}": {error}') from error
            if is_fully_bound(claim):
                needs.bound.append(claim)
                continue
            kind = self.listings.classes.get(claim.storage_class)
            if self.cells.selected_node_is_immediate and SELECTED_NODE in claim.annotations:
                kind = None
            if kind is not None and delays_binding(kind) and not claim.spec.volume_name:
                needs.delayed.append((claim, kind))
            else:
                needs.immediate.append(claim)
        return needs

    def _reach(self, volume: PersistentVolume, matcher: VolumeMatcher, finding: Finding) -> Mask:
        """The nodes that can reach a bound volume: bool[n]."""
        nodes = matcher.nodes
        found: Mask = np.isin(np.arange(nodes.n), matcher.reach(volume))
        plugin = plugin_of(volume.spec) if self.cells.translates_bound_volumes else None
        replaced = self._replaced(plugin, nodes) if plugin is not None else None
        if plugin is None or replaced is None:
            return found
        affinity = volume.spec.node_affinity
        try:
            PLUGINS[plugin].handle(volume, self.cells.zone_labels)
            affinity = translated_affinity(plugin, volume, self.cells.beta_zones_alone)
        except VolumeError as error:
            finding.fail(f"could not translate pv: {error}", replaced & finding.bound)
        if affinity is None:
            by_driver = nodes.every()
        else:
            by_driver = node_selector_mask(affinity, nodes, fields=False)
        return np.where(replaced, by_driver, found)

    def _replaced(self, plugin: str, nodes: Batch) -> Mask | None:
        """The nodes whose CSINode says that a driver has taken over *plugin*: bool[n]; None where none does."""
        if not may_migrate(plugin, self.cells, self.gates):
            return None
        saying = [
            found.name
            for found in self.listings.csi_nodes
            if plugin in found.annotations.get(MIGRATED_PLUGINS, "").split(",")
        ]
        rows = [nodes.table.row_of.get(name, -1) for name in saying]
        return np.isin(nodes.indexes, rows) if rows else None

    def _find_unbound(self, needs: PodClaims, matcher: VolumeMatcher, finding: Finding) -> None:
        nodes = matcher.nodes
        finding.decided = finding.errors == 0
        selected = [(claim, kind) for claim, kind in needs.delayed if SELECTED_NODE in claim.annotations]
        for claim, _ in selected:
            here = nodes.named(claim.annotations[SELECTED_NODE])
            finding.unbound &= here
            finding.decided &= here
        others = [(claim, kind) for claim, kind in needs.delayed if SELECTED_NODE not in claim.annotations]
        # Upstream: the sort is unstable, which makes no difference below twelve claims.
        others.sort(key=lambda pair: requested_size(pair[0]))
        for claim, _ in others:
            if self.cells.matches_by_beta_class:
                name = claim.storage_class
            else:
                name = claim.spec.storage_class_name or ""
            try:
                numbers, failed = matcher.match(claim, self.volumes.within(name))
            except VolumeError as error:
                finding.fail(str(error), finding.decided)
                numbers = np.full(nodes.n, -1, np.int64)
                failed = None
            if failed is not None:
                finding.fail(
                    "error checking if volumeMode was a mismatch: api defaulting for volumeMode failed",
                    failed & finding.decided,
                )
            finding.matches.append((claim, numbers))
            finding.volumes = matcher.volumes
        kinds = [kind for _, kind in (*selected, *others)]
        everywhere = nodes.every()
        finding.provisions = [(claim, everywhere) for claim, _ in selected]
        finding.provisions += [(claim, numbers < 0) for claim, numbers in finding.matches]
        # Where volumes can be provisioned for all claims that need one; the first claim that fails gives the
        # reason.
        pending = everywhere.copy()
        for kind, (claim, needed) in zip(kinds, finding.provisions, strict=True):
            if needed.any():
                made = ~needed | can_provision(kind, nodes)
                finding.unbound &= made | ~pending
                pending &= made
                gate = self.cells.storage_capacity_gate
                if self.cells.checks_storage_capacity and (not gate or bool(self.gates.get(gate))):
                    left = storage_left(kind, claim, nodes, self.listings, self.cells.reads_maximum_size)
                    enough = ~needed | (True if left is None else left[0])
                    finding.enough &= enough | ~pending | ~finding.decided
                    pending &= enough
        finding.provided = pending
