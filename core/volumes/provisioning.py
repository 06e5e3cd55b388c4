"""Where volumes can be provisioned for claims. Upstream: pkg/scheduler/framework/plugins/volumebinding/binder.go checkVolumeProvisions."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import or_

import numpy as np

from ...api.meaning.labels import SelectorError
from ...api.objects import CSIStorageCapacity, PersistentVolumeClaim, Requirement, StorageClass, TopologySelectorTerm
from ..arrays.batch import Batch
from ..arrays.types import Ints, Mask
from ..cluster.listings import Listings
from ..matching.nodeselectors import expressions_mask, selector_mask

NO_PROVISIONER = "kubernetes.io/no-provisioner"


def can_provision(kind: StorageClass, nodes: Batch) -> Mask:
    """The nodes for which volumes of class *kind* can be provisioned: bool[n]."""
    if kind.provisioner in ("", NO_PROVISIONER):
        return np.zeros(nodes.n, np.bool_)
    if not kind.allowed_topologies:
        return np.ones(nodes.n, np.bool_)
    return _any_of((_topology_mask(term, nodes) for term in kind.allowed_topologies), nodes)


def _topology_mask(term: TopologySelectorTerm, nodes: Batch) -> Mask:
    wanted = tuple(Requirement(key=e.key, operator="In", values=e.values) for e in term.match_label_expressions)
    try:
        return expressions_mask(wanted, nodes)
    except SelectorError:
        return np.zeros(nodes.n, np.bool_)


def storage_left(kind: StorageClass, claim: PersistentVolumeClaim, nodes: Batch, listings: Listings) -> tuple[Mask, Ints] | None:
    """Where a CSIStorageCapacity has room for *claim*, and how much the first of them has, in bytes: bool[n] and int64[n].

    None if the driver does not report capacities. Upstream: hasEnoughCapacity, which takes them in no order; here they are sorted by name.
    """
    size, driver = claim.spec.requests.get("storage"), listings.csi_drivers.get(kind.provisioner)
    if size is None or driver is None or not driver.storage_capacity:
        return None
    found, amount = np.zeros(nodes.n, np.bool_), np.zeros(nodes.n, np.int64)
    for item in listings.csi_capacities:
        if item.storage_class_name == kind.name and _holds(item, size.value()):
            here = _access(item, nodes) & ~found
            found[here], amount[here] = True, 0 if item.capacity is None else item.capacity.value()
    return found, amount


def has_capacity(kind: StorageClass, claim: PersistentVolumeClaim, nodes: Batch, listings: Listings) -> Mask:
    """The nodes where a CSIStorageCapacity has room for *claim*; all nodes if the driver does not report capacities: bool[n]."""
    left = storage_left(kind, claim, nodes, listings)
    return np.ones(nodes.n, np.bool_) if left is None else left[0]


def _holds(item: CSIStorageCapacity, size: int) -> bool:
    limit = item.capacity if item.maximum_volume_size is None else item.maximum_volume_size
    return limit is not None and limit.value() >= size


def _access(item: CSIStorageCapacity, nodes: Batch) -> Mask:
    """The nodes of a capacity's topology; none where it is absent or invalid: bool[n]."""
    try:
        return np.zeros(nodes.n, np.bool_) if item.node_topology is None else selector_mask(item.node_topology, nodes)
    except SelectorError:
        return np.zeros(nodes.n, np.bool_)


def _any_of(masks: Iterable[Mask], nodes: Batch) -> Mask:
    return reduce(or_, masks, np.zeros(nodes.n, np.bool_))
