"""VolumeZone: are the pod's volumes in the node's zone?"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ...api.meaning import BETA_REGION, BETA_ZONE, TOPOLOGY_REGION, TOPOLOGY_ZONE
from ...api.objects import PersistentVolume
from ...core.binding import VolumeError
from ...core.volumes import delays_binding
from ...predicates.novolumezoneconflict import not_among, volume_of, zones_of
from ...predicates.rule import VOLUME_ZONE_CONFLICT
from ..hints import claim_is_named, class_waits, volume_moves
from ..plugin import (
    ADD_OR_UPDATE,
    SKIP,
    Action,
    Batch,
    ClusterEvent,
    Events,
    Failures,
    FrameworkCycle,
    Handle,
    Plugin,
    Reads,
    Status,
    Template,
    error,
    failing,
    unresolvable,
)

BETA_LABELS = (BETA_ZONE, BETA_REGION)
LABELS = (*BETA_LABELS, TOPOLOGY_ZONE, TOPOLOGY_REGION)
NEWER_LABELS = {BETA_ZONE: TOPOLOGY_ZONE, BETA_REGION: TOPOLOGY_REGION}


class VolumeZone(Plugin):
    """Reject nodes outside the zones and regions in the labels of the pod's volumes; nodes without any such
    label always fit.

    Upstream: pkg/scheduler/framework/plugins/volumezone/volume_zone.go.
    """

    name = "VolumeZone"
    filter_reads = Reads.NODE | Reads.VOLUMES
    pre_filter_reads_volumes = True

    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args, handle)
        self._labels = LABELS if handle.cells.newer_zone_labels else BETA_LABELS
        self._refuse = error if handle.cells.zone_faults_are_errors else unresolvable

    def concerns(self, pod: Template) -> bool:
        return any(volume.persistent_volume_claim is not None for volume in pod.volumes)

    def filter_key(self, pod: Template) -> Hashable:
        return pod.namespace, pod.volumes

    def pre_filter(self, pod: Template, cycle: FrameworkCycle) -> Status | None:
        try:
            topologies = [self._topologies(volume) for volume in _volumes(pod, cycle)]
            return None if any(topologies) else SKIP
        except VolumeError as problem:
            return self._refuse(str(problem))

    def filter(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Failures | None:
        labelled, misplaced = np.zeros((2, nodes.n), np.bool_)
        for label in self._labels:
            labelled |= nodes.label(label).present
        fault = None
        try:
            for volume in _volumes(pod, cycle):
                for label, values in self._topologies(volume):
                    node_label = nodes.label(label)
                    outside = node_label.where(partial(not_among, values))
                    newer = NEWER_LABELS.get(label) if self.cells.zone_labels_match else None
                    if newer is not None:
                        # Upstream: not the other way round: a volume's newer label does not match a node's
                        # beta label.
                        outside_newer = nodes.label(newer).where(partial(not_among, values))
                        outside = np.where(node_label.present, outside, outside_newer)
                    misplaced |= outside
        except VolumeError as problem:
            status = self._refuse(str(problem))
            conflict = labelled & misplaced
            if not self.cells.zones_one_by_one:
                return failing(status, nodes.every())
            # Upstream: a volume in another zone ends the check, so faults of later claims are not noticed.
            fault = failing(status, labelled & ~conflict)
        return Failures.joined([Failures.where(VOLUME_ZONE_CONFLICT, labelled & misplaced), fault])

    def _topologies(self, volume: PersistentVolume) -> list[tuple[str, frozenset[str]]]:
        """The labels that a node must have for *volume*, each with its possible values."""
        label_texts = ((label, volume.labels[label]) for label in self._labels if label in volume.labels)
        return [(label, zones) for label, text in label_texts if (zones := zones_of(text))]

    def events_to_register(self) -> Events:
        node_actions = Action.ADD | Action.UPDATE_NODE_LABEL
        claims = ADD_OR_UPDATE if self.handle.queueing.narrow_claim_events else Action.ADD
        return (
            ClusterEvent("StorageClass", Action.ADD, hint=class_waits),
            self.handle.node_event(node_actions, self.handle.labels_and_taints(node_actions)),
            ClusterEvent("PersistentVolumeClaim", claims, hint=claim_is_named),
            ClusterEvent("PersistentVolume", ADD_OR_UPDATE, hint=partial(volume_moves, labels=LABELS)),
        )


def _volumes(pod: Template, cycle: FrameworkCycle) -> Iterator[PersistentVolume]:
    """The volumes that *pod*'s claims are bound to, in order; raises :class:`VolumeError` for an unbound
    claim whose class does not wait for its first consumer."""
    cells = cycle.release.framework
    for name in (volume.persistent_volume_claim for volume in pod.volumes):
        if name is None:
            continue
        claim = volume_of(f"{pod.namespace}/{name}", cycle)
        if isinstance(claim, PersistentVolume):
            yield claim
            continue
        class_name = claim.storage_class
        kind = cycle.listings.classes.get(class_name)
        if not class_name:
            raise VolumeError(cells.zone_without_class_text.format(claim=claim.name))
        if kind is None:
            raise VolumeError(cells.zone_missing_class_text.format(claim=claim.name, kind=class_name))
        if not delays_binding(kind):
            raise VolumeError(cycle.release.volumes.unbound_claim_text.format(f'"{claim.name}"'))
