"""How many devices of a class each node reaches, and how many of them are in use, for scores of extended
resources.

Upstream: calculateDRAResourceTotals in pkg/scheduler/framework/plugins/noderesources/resource_allocation.go.
"""

from __future__ import annotations

from collections.abc import Hashable

import attrs
import numpy as np

from ...api.objects import Device, DeviceClass, ResourceSlice
from ..arrays.table import NodeTable
from ..arrays.types import Ints, Rows
from ..cluster.listings import Listings
from ..rebuilt import rebuilt_from
from .claimjudging import AllocationError, Judge
from .pools import Makes, ReachedRows

Totals = tuple[Ints, Ints]
"""Devices and those in use: int64[rows] each."""


@rebuilt_from("table", "listings")
@attrs.define(eq=False, repr=False)
class DeviceTotals:
    """The devices that give extended resources, counted for all rows of a table. Slices of any generation
    count."""

    table: NodeTable
    listings: Listings
    judge: Judge = attrs.Factory(Judge)
    makes: Makes = attrs.Factory(Makes)
    _known: dict[str, tuple[Hashable, Totals]] = attrs.Factory(dict)

    def of(self, resource: str, rows: Rows) -> Totals:
        """How many devices that give *resource* each of *rows* reaches, and how many of them are in use."""
        found = self.listings.device_classes.by_resource[resource]
        seen = (
            id(found),
            self.listings.slices.version,
            self.listings.resource_claims.log.revision,
            self.table.changed.node_revision,
            self.table.size,
        )
        kept = self._known.get(resource)
        if kept is None or kept[0] != seen:
            kept = self._known[resource] = seen, self._count(found)
        return kept[1][0][rows], kept[1][1][rows]

    def _count(self, device_class: DeviceClass) -> Totals:
        reached = ReachedRows(self.table)
        errs = np.zeros(self.table.size, np.bool_)
        there = np.zeros(self.table.size, np.int64)
        used = np.zeros(self.table.size, np.int64)
        for one in self.listings.slices:
            mask = None if bool(one.spec.per_device_node_selection) else reached.of(one.spec)
            for device in one.spec.devices:
                rows = reached.of(device) if mask is None else mask
                try:
                    if self._matches(device_class, one, device):
                        there[rows] += 1
                        used[rows] += (
                            one.spec.driver,
                            one.spec.pool.name,
                            device.name,
                        ) in self.listings.resource_claims.holders
                except AllocationError:
                    errs |= rows
        there[errs] = 0
        return there, used

    def _matches(self, device_class: DeviceClass, one: ResourceSlice, device: Device) -> bool:
        make = self.makes.of(one.spec.driver, device)
        return self.judge.refusing(make, device_class.spec.selectors, device_class.name) is None
