"""The best volume for a claim, on every node of a batch at once.

Upstream: pkg/controller/volume/persistentvolume/util/util.go FindMatchingVolume (before 1.15 in index.go
beside it).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, reduce
from operator import or_

import numpy as np
from attrs import Factory, define

from ...api.meaning import (
    Matcher,
    SelectorError,
    compile_node_term,
    compile_selector,
    everything,
    is_bound_to,
    requested_size,
    volume_class,
    volume_size,
)
from ...api.objects import (
    NO_PROVISIONER,
    CSIStorageCapacity,
    LabelSelector,
    NodeSelector,
    PersistentVolume,
    PersistentVolumeClaim,
    Requirement,
    StorageClass,
    TopologySelectorTerm,
)
from ..arrays import NO_ROWS, Batch, Ints, Mask, Rows
from ..binding import VolumeError
from ..cluster.listings import Listings
from ..matching import expressions_mask, node_selector_mask, selector_mask
from ..release import VolumeCells


@define(eq=False, repr=False)
class VolumeMatcher:
    """Finds volumes for one pod's claims, one claim after the other; a volume goes to at most one claim of
    the pod."""

    nodes: Batch
    cells: VolumeCells
    block_volumes: bool
    """Gate BlockVolume."""
    attributes_classes: bool
    """Gate VolumeAttributesClass."""
    selector_fault: Callable[[LabelSelector], str | None]
    """The error of an invalid selector of a claim."""
    volumes: list[PersistentVolume] = Factory(list)
    """All chosen volumes; arrays hold indexes into this list."""
    _numbers: dict[str, int] = Factory(dict)
    _numbers_by_claim: list[Ints] = Factory(list)
    _rows_of: dict[NodeSelector | None, Rows] = Factory(dict)
    _rows_by_label: dict[str, dict[str | None, Rows]] = Factory(dict)
    """Label key -> value -> the nodes with it."""

    def reach(self, volume: PersistentVolume) -> Rows:
        """The nodes that the volume's node affinity allows, by index: intp[k]."""
        affinity = volume.spec.node_affinity
        rows = self._rows_of.get(affinity)
        if rows is None:
            everywhere = np.arange(self.nodes.n)
            rows = self._rows_of[affinity] = everywhere if affinity is None else self._matching(affinity)
        return rows

    def _matching(self, affinity: NodeSelector) -> Rows:
        single = _single_value(affinity)
        if single is None:
            # Upstream: a node's fields are not passed on, so matchFields of a volume see empty texts.
            return np.flatnonzero(node_selector_mask(affinity, self.nodes, fields=False))
        key, value = single
        if key not in self._rows_by_label:
            label = self.nodes.label(key)
            order = np.argsort(label.codes, kind="stable")
            codes, starts = np.unique(label.codes[order], return_index=True)
            self._rows_by_label[key] = {
                label.values[code]: rows
                for code, rows in zip(codes, np.split(order, starts[1:]), strict=True)
            }
        return self._rows_by_label[key].get(value, NO_ROWS)

    def match(
        self, claim: PersistentVolumeClaim, volumes: Sequence[PersistentVolume]
    ) -> tuple[Ints, Mask | None]:
        """The index of the best of *volumes* for each node, -1 for none, and the nodes where the search
        fails.

        Raises :class:`VolumeError` where it fails on all nodes.
        """
        if (
            self.cells.attributes_class_gate
            and not self.attributes_classes
            and claim.spec.volume_attributes_class_name
        ):
            raise VolumeError(
                f"unsupported volumeAttributesClassName is set on claim {claim.key} when"
                f" the feature-gate {self.cells.attributes_class_gate} is disabled"
            )
        usable = [volume for volume in volumes if self._is_usable(volume, claim)]
        bound = [
            volume
            for volume in usable
            if is_bound_to(volume, claim) and volume_size(volume) >= requested_size(claim)
        ]
        failed = (
            self._unreadable(claim, volumes, bound)
            if self.cells.volume_mode == "strict" and self.block_volumes
            else None
        )
        numbers = np.full(self.nodes.n, -1, np.int64)
        wanting = self.nodes.every()
        for volume in bound:
            # Upstream: a volume that is bound to the claim and that the node cannot reach ends the search
            # without a volume.
            free = self._free_nodes(volume)
            self._assign(numbers, volume, wanting & free)
            wanting &= ~free
        open_count = np.count_nonzero(wanting)
        labels = self._selector(claim)
        least = requested_size(claim)
        kind = claim.storage_class
        modes = frozenset(claim.spec.access_modes)
        # The volumes that are large enough and allowed for a claim like this one.
        large = [
            volume
            for volume in usable
            if volume.spec.claim_ref is None
            and (volume.phase == "Available" or not self.cells.checks_phase)
            and volume_size(volume) >= least
            and volume_class(volume) == kind
            and modes.issubset(volume.spec.access_modes)
            and (labels is everything or labels(volume.labels))
        ]
        for volume in sorted(large, key=volume_size):
            if not open_count:
                break
            assigned = self._assign(numbers, volume, wanting)
            wanting[assigned] = False
            open_count -= len(assigned)
        self._numbers_by_claim.append(numbers)
        return numbers, failed

    def _assign(self, numbers: Ints, volume: PersistentVolume, wanting: Mask) -> Rows:
        """Give *volume* to the claim on the nodes of *wanting* where that is possible. Returns those
        nodes."""
        places = self.reach(volume)
        places = places[wanting[places]]
        if not len(places):
            return places
        number = self._numbers.get(volume.name)
        if number is None:
            number = self._numbers[volume.name] = len(self.volumes)
            self.volumes.append(volume)
        for earlier_numbers in self._numbers_by_claim:
            places = places[earlier_numbers[places] != number]
        numbers[places] = number
        return places

    def _free_nodes(self, volume: PersistentVolume) -> Mask:
        """The nodes on which no earlier claim of the pod has the volume: bool[n]."""
        number = self._numbers.get(volume.name)
        free = self.nodes.every()
        if number is not None:
            for earlier_numbers in self._numbers_by_claim:
                free &= earlier_numbers != number
        return free

    def _is_usable(self, volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
        if volume.metadata.deletion_timestamp is not None:
            return False
        if self.cells.attributes_class_gate:
            attributes = claim.spec.volume_attributes_class_name if self.attributes_classes else ""
            if volume.spec.volume_attributes_class_name != attributes:
                return False
        mode = claim.spec.volume_mode
        volume_mode = volume.spec.volume_mode
        if not self.block_volumes and self.cells.volume_mode != "always":
            return self.cells.volume_mode != "reject" or "Block" not in (mode, volume_mode)
        return (mode or "Filesystem") == (volume_mode or "Filesystem")

    def _selector(self, claim: PersistentVolumeClaim) -> Matcher:
        selector = claim.spec.selector
        if selector is None:
            return everything
        try:
            return compile_selector(selector)
        except SelectorError as error:
            fault = self.selector_fault(selector)
            raise VolumeError(
                f"error creating internal label selector for claim: {claim.key}: {fault}"
            ) from error

    def _unreadable(
        self, claim: PersistentVolumeClaim, volumes: Sequence[PersistentVolume], bound: list[PersistentVolume]
    ) -> Mask | None:
        """The nodes where the search meets a volume without volumeMode before it ends: bool[n].

        Upstream: the API's default was not applied, which is an error in 1.12.
        """
        failed = self.nodes.none()
        bad = [
            volume for volume in volumes if claim.spec.volume_mode is None or volume.spec.volume_mode is None
        ]
        for volume in bad:
            failed |= self._free_nodes(volume)
        names = [volume.name for volume in volumes]
        for volume in bound:
            if bad and names.index(volume.name) < names.index(bad[0].name):
                failed &= ~self._free_nodes(volume)
        return failed if failed.any() else None


@lru_cache(maxsize=1 << 16)
def _single_value(affinity: NodeSelector) -> tuple[str, str] | None:
    """(label key, value) of an affinity that requires only this label, as that of a local volume does; None
    for any other."""
    terms = affinity.node_selector_terms
    if len(terms) != 1 or terms[0].match_fields or len(terms[0].match_expressions) != 1:
        return None
    (requirement,) = terms[0].match_expressions
    if (
        requirement.operator != "In"
        or len(requirement.values) != 1
        or not compile_node_term(terms[0])({requirement.key: requirement.values[0]}, "")
    ):
        return None
    return requirement.key, requirement.values[0]


def can_provision(kind: StorageClass, nodes: Batch) -> Mask:
    """The nodes for which volumes of class *kind* can be provisioned: bool[n]."""
    if kind.provisioner in ("", NO_PROVISIONER):
        return nodes.none()
    if not kind.allowed_topologies:
        return nodes.every()
    return reduce(or_, (_topology_mask(term, nodes) for term in kind.allowed_topologies), nodes.none())


def _topology_mask(term: TopologySelectorTerm, nodes: Batch) -> Mask:
    requirements = tuple(
        Requirement(key=e.key, operator="In", given_values=e.values) for e in term.match_label_expressions
    )
    try:
        return expressions_mask(requirements, nodes)
    except SelectorError:
        return nodes.none()


def storage_left(
    kind: StorageClass,
    claim: PersistentVolumeClaim,
    nodes: Batch,
    listings: Listings,
    by_maximum: bool = True,
) -> tuple[Mask, Ints] | None:
    """The nodes where a CSIStorageCapacity has room for *claim*, and the bytes in the first of them: bool[n]
    and int64[n].

    *by_maximum*: the largest volume that it allows counts before its capacity. None if the driver does not
    report capacities. Upstream: hasEnoughCapacity, which takes them in no order; here they are sorted by
    name.
    """
    size = claim.spec.requests.get("storage")
    driver = listings.csi_drivers.get(kind.provisioner)
    if size is None or driver is None or not driver.spec.storage_capacity:
        return None
    mask = nodes.none()
    amount = nodes.zeros()
    for item in listings.csi_capacities:
        limit = item.maximum_volume_size if by_maximum else None
        limit = item.capacity if limit is None else limit
        if item.storage_class_name == kind.name and limit is not None and limit.value() >= size.value():
            with_room = _accessible_nodes(item, nodes) & ~mask
            mask[with_room], amount[with_room] = True, 0 if item.capacity is None else item.capacity.value()
    return mask, amount


def _accessible_nodes(item: CSIStorageCapacity, nodes: Batch) -> Mask:
    """The nodes of a capacity's topology; none where it is absent or invalid: bool[n]."""
    try:
        if item.node_topology is None:
            return nodes.none()
        return selector_mask(item.node_topology, nodes)
    except SelectorError:
        return nodes.none()
