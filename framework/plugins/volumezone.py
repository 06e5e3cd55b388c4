"""VolumeZone: are the pod's volumes in the node's zone?"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import partial
from typing import ClassVar

import numpy as np

from ...api.objects import PersistentVolume
from ...core.arrays.batch import Batch
from ...core.arrays.types import Mask
from ...core.failures import Failures
from ...core.pods.template import Template
from ...core.rule import Reads
from ...core.volumes.intree import REGION, TOPOLOGY_REGION, TOPOLOGY_ZONE, ZONE
from ...core.volumes.match import claim_class
from ...predicates.reasons import VOLUME_ZONE_CONFLICT
from ...predicates.volumezone import NO_NAME, not_among, zones_of
from ..cycle.state import FrameworkCycle
from ..hints.volumes import claim_is_named, class_waits, volume_moves
from ..plugin import Plugin
from ..queue.events import Action, ClusterEvent
from ..status import SKIP, Status, failing, unresolvable

LABELS = (ZONE, REGION, TOPOLOGY_ZONE, TOPOLOGY_REGION)
NEWER_LABELS = {ZONE: TOPOLOGY_ZONE, REGION: TOPOLOGY_REGION}
Topology = tuple[str, frozenset[str]]
"""A label and the values that a node may have for it."""


class _Refused(Exception):
    """The pod fits on no node, for this reason."""


class VolumeZone(Plugin):
    """Reject nodes outside the zones and regions in the labels of the pod's volumes; nodes without any such label always fit.

    Upstream: pkg/scheduler/framework/plugins/volumezone/volume_zone.go.
    """

    name = "VolumeZone"
    filter_reads: ClassVar[Reads] = Reads.NODE | Reads.VOLUMES

    def concerns(self, pod: Template) -> bool:
        return any(volume.persistent_volume_claim is not None for volume in pod.spec.volumes)

    def filter_key(self, pod: Template) -> Hashable:
        return pod.namespace, pod.spec.volumes

    def pre_filter(self, pod: Template, cycle: FrameworkCycle) -> Status | None:
        try:
            return None if _topologies(pod, cycle) else SKIP
        except _Refused as refused:
            return unresolvable(str(refused))

    def filter(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Failures | None:
        try:
            wanted = _topologies(pod, cycle)
        except _Refused as refused:
            return failing(unresolvable(str(refused)), np.ones(nodes.n, np.bool_))
        labelled, elsewhere = np.zeros((2, nodes.n), np.bool_)
        for label in LABELS:
            labelled |= nodes.label(label).present
        for label, values in wanted:
            elsewhere |= self._elsewhere(label, values, nodes)
        return Failures.where(VOLUME_ZONE_CONFLICT, labelled & elsewhere)

    def _elsewhere(self, label: str, values: frozenset[str], nodes: Batch) -> Mask:
        """The nodes that do not have one of *values* for *label*: bool[n]."""
        there, newer = nodes.label(label), NEWER_LABELS.get(label) if self.handle.cells.zone_labels_match else None
        elsewhere = there.where(partial(not_among, values))
        if newer is None:
            return elsewhere
        # Upstream: not the other way round, a volume's newer label does not match a node's beta label.
        return np.where(there.present, elsewhere, nodes.label(newer).where(partial(not_among, values)))

    def events_to_register(self) -> Sequence[ClusterEvent]:
        own = Action.ADD | Action.UPDATE_NODE_LABEL
        claims = Action.ADD | Action.UPDATE if self.handle.queueing.narrow_claim_events else Action.ADD
        return (
            ClusterEvent("StorageClass", Action.ADD, hint=class_waits),
            self.handle.node_event(own, self.handle.labels_and_taints(own)),
            ClusterEvent("PersistentVolumeClaim", claims, hint=claim_is_named),
            ClusterEvent("PersistentVolume", Action.ADD | Action.UPDATE, hint=partial(volume_moves, labels=LABELS)),
        )


def _topologies(pod: Template, cycle: FrameworkCycle) -> list[Topology]:
    """The labels that a node must have for *pod*'s volumes; raises :class:`_Refused`."""
    written = ((label, volume.labels[label]) for volume in _volumes(pod, cycle) for label in LABELS if label in volume.labels)
    return [(label, zones) for label, text in written if (zones := zones_of(text))]


def _volumes(pod: Template, cycle: FrameworkCycle) -> Iterator[PersistentVolume]:
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is not None:
            found = _bound_volume(pod.namespace, volume.persistent_volume_claim, cycle)
            if found is not None:
                yield found


def _bound_volume(namespace: str, name: str, cycle: FrameworkCycle) -> PersistentVolume | None:
    """The volume of a claim; None if it is bound only after the pod has a node. Raises :class:`_Refused`."""
    claim = cycle.listings.claims.get(f"{namespace}/{name}")
    if claim is None:
        raise _Refused(f'persistentvolumeclaim "{name}" not found' if name else NO_NAME)
    if not claim.spec.volume_name:
        _check_waits(claim_class(claim), cycle)
        return None
    volume = cycle.listings.volumes.get(claim.spec.volume_name)
    if volume is None:
        raise _Refused(f'persistentvolume "{claim.spec.volume_name}" not found')
    return volume


def _check_waits(name: str, cycle: FrameworkCycle) -> None:
    """Raise :class:`_Refused` for an unbound claim whose class does not wait for its first consumer."""
    kind = cycle.listings.classes.get(name)
    if not name:
        raise _Refused("PersistentVolumeClaim had no pv name and storageClass name")
    if kind is None:
        raise _Refused(f'storageclass.storage.k8s.io "{name}" not found')
    if kind.volume_binding_mode is None:
        raise _Refused(f'VolumeBindingMode not set for StorageClass "{name}"')
    if kind.volume_binding_mode != "WaitForFirstConsumer":
        raise _Refused(cycle.release.volumes.unbound_claim_text)
