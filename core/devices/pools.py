"""The pools of devices that each node reaches. Nodes whose pools look alike have the same *look*, and searches end alike on them.

Upstream: GatherPools in structured/internal/experimental/pools_experimental.go.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from ...api.objects import Device, DeviceAttribute, Map, NodeSelector, ResourceSlice
from ..arrays.batch import Batch
from ..arrays.table import NodeTable
from ..arrays.types import Ints, Mask
from ..cluster.listings import DeviceId, Listings
from ..matching.nodeselectors import node_selector_mask
from ..rebuilt import rebuilt_from
from ..release import DeviceCells
from .celfunctions import DeviceSelectorError, quantity_value, semver_value

Values = Mapping[str, Any]


@attrs.define(eq=False, repr=False)
class Make:
    """A make of devices. Equal makes are the same object; *number* is its own."""

    number: int
    driver: str
    attributes: Map[DeviceAttribute]
    device: Device
    """One of them."""
    _input: Values | DeviceSelectorError | None = None

    def __repr__(self) -> str:
        return f"<Make {self.number} of {self.driver}>"

    def attribute(self, name: str) -> DeviceAttribute | None:
        """The attribute called *name*, which begins with its domain; None where the device has none.

        Upstream: lookupAttribute.
        """
        found = self.attributes.get(name)
        if found is None:
            domain, slash, short = name.partition("/")
            found = self.attributes.get(short) if slash and domain == self.driver else None
        return found

    def as_input(self) -> Values:
        """The variable ``device`` of an expression. Raises DeviceSelectorError for an attribute that has no value to compare.

        Upstream: DeviceMatches in dynamic-resource-allocation/cel/compile.go.
        """
        if self._input is None:
            try:
                attributes: dict[str, dict[str, Any]] = {}
                for name, attribute in self.attributes.items():
                    domain, short = _split(name, self.driver)
                    attributes.setdefault(domain, {})[short] = _value(name, attribute)
                capacity: dict[str, dict[str, Any]] = {}
                for name, amount in self.device.capacity.items():
                    domain, short = _split(name, self.driver)
                    capacity.setdefault(domain, {})[short] = quantity_value(amount.value)
                self._input = {"driver": self.driver, "attributes": attributes, "capacity": capacity}
            except DeviceSelectorError as error:
                self._input = error
        if isinstance(self._input, DeviceSelectorError):
            raise self._input
        return self._input


def _split(name: str, driver: str) -> tuple[str, str]:
    domain, slash, short = name.partition("/")
    return (domain, short) if slash else (driver, name)


def _value(name: str, attribute: DeviceAttribute) -> Any:
    try:
        if attribute.type == "version":
            return semver_value(str(attribute.value))
    except ValueError as error:
        raise DeviceSelectorError(f"attribute {name}: parse semantic version: {error}") from None
    if not attribute.type:
        raise DeviceSelectorError(f"attribute {name}: unsupported attribute value")
    return attribute.value


@attrs.define(eq=False, repr=False)
class Makes:
    """All makes that were met."""

    _known: dict[Hashable, Make] = attrs.field(factory=dict)

    def of(self, driver: str, device: Device) -> Make:
        """The make of *device*."""
        key = driver, device.attributes, device.capacity, bool(device.binding_conditions), bool(device.consumes_counters)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Make(len(self._known), driver, device.attributes, device)
        return found


MOST_LOOKS = 1 << 18
"""Looks that are known; after that all is begun anew."""


@attrs.frozen(eq=False, repr=False)
class PoolDevice:
    """A device in a pool."""

    id: DeviceId
    make: Make
    slice: ResourceSlice


@attrs.define(eq=False, repr=False)
class Pool:
    """A pool as some nodes reach it."""

    driver: str
    name: str
    devices: Sequence[PoolDevice]
    is_incomplete: bool
    """Not all of its slices are there."""
    invalid: str
    """The name of a device that is in it twice; empty: it is valid."""
    rows: list[int] = attrs.field(factory=list)
    """The rows of the nodes that reach it."""
    kind: int = 0
    """The same for pools whose devices are of the same makes in the same order."""
    used: int = 0
    """Which devices are in use, as bits."""

    @property
    def invalid_text(self) -> str:
        """The error of a search that comes to an invalid pool."""
        return f"pool {self.name} is invalid: duplicate device name {self.invalid}"


@rebuilt_from("table", "listings", "cells")
@attrs.define(eq=False, repr=False)
class Pools:
    """The pools of all rows of a table, brought up to date by :meth:`refresh`.

    ``looks``: int64[rows], equal where searches end alike.
    """

    table: NodeTable
    listings: Listings
    cells: DeviceCells
    makes: Makes = attrs.field(factory=Makes)
    looks: Ints = attrs.field(factory=lambda: np.zeros(0, np.int64))
    epoch: int = 0
    """Moves when looks are numbered anew."""
    of_row: list[tuple[Pool, ...]] = attrs.field(factory=list)
    """Row -> its pools, in order of driver and name."""
    _by_device: dict[DeviceId, list[Pool]] = attrs.field(factory=dict)
    _pools: dict[Hashable, Pool] = attrs.field(factory=dict)
    _kinds: dict[Hashable, int] = attrs.field(factory=dict)
    _known: dict[Hashable, int] = attrs.field(factory=dict)
    """The pools of a row, as kinds with what is in use -> its look."""
    _nodes: list[tuple[str, Map[str]] | None] = attrs.field(factory=list)
    """Row -> the name and labels of its node."""
    _seen: tuple[int, int, int] = (-1, -1, -1)
    """The revisions of slices, of node objects, and of devices in use."""

    def refresh(self) -> None:
        """Bring everything up to date."""
        slices, nodes, used = self.listings.slices.version, self.table.changed.node_revision, self.listings.resource_claims.log.revision
        if self._seen == (slices, nodes, used):
            return
        steps = self.listings.resource_claims.log.steps_since(self._seen[2])
        is_known = self._seen[0] == slices and len(self._known) <= MOST_LOOKS
        if steps is None or not is_known or (self._seen[1] != nodes and self._nodes != self._named()):
            self._begin()
        else:
            self._follow({device for step in steps for device in step})
        self._seen = slices, nodes, used

    def _follow(self, devices: set[DeviceId]) -> None:
        """Some *devices* are in use that were not, or no longer."""
        moved = {id(pool): pool for device in devices for pool in self._by_device.get(device, ())}
        for pool in moved.values():
            self._look_at(pool)
        for row in dict.fromkeys(row for pool in moved.values() for row in pool.rows):
            self.looks[row] = self._look(self.of_row[row])

    def _look_at(self, pool: Pool) -> None:
        holders = self.listings.resource_claims.holders
        pool.used = sum(1 << bit for bit, device in enumerate(pool.devices) if device.id in holders)

    def _look(self, pools: tuple[Pool, ...]) -> int:
        key = tuple([(pool.kind, pool.used) for pool in pools])
        return self._known.setdefault(key, len(self._known))

    def _named(self) -> list[tuple[str, Map[str]] | None]:
        return [None if node is None else (node.name, node.labels) for node in self.table.nodes[: self.table.size]]

    # --- all rows ---------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Gather the pools of each row."""
        self.epoch += 1
        for known in (self._by_device, self._pools, self._known):
            known.clear()
        reach = Reach.of(list(self.listings.slices), self.table, self.cells)
        self._nodes = self._named()
        self.of_row = [() if node is None else self._gather(row, reach.slices(row, node[0])) for row, node in enumerate(self._nodes)]
        for pool in self._pools.values():
            self._look_at(pool)
        self.looks = np.array([self._look(pools) for pools in self.of_row], np.int64)

    def _gather(self, row: int, slices: Sequence[ResourceSlice]) -> tuple[Pool, ...]:
        newest: dict[tuple[str, str], list[ResourceSlice]] = {}
        for one in slices:
            kept = newest.setdefault((one.spec.driver, one.spec.pool.name), [])
            if kept and one.spec.pool.generation > kept[0].spec.pool.generation:
                kept.clear()
            if not kept or one.spec.pool.generation == kept[0].spec.pool.generation:
                kept.append(one)
        found = [self._pool(key, kept) for key, kept in sorted(newest.items())]
        if self.cells.leaves_binding_conditions:
            found.sort(key=lambda pool: any(device.make.device.binding_conditions for device in pool.devices))
        for pool in found:
            pool.rows.append(row)
        return tuple(found)

    def _pool(self, name: tuple[str, str], slices: list[ResourceSlice]) -> Pool:
        key = name, tuple(one.name for one in slices)
        pool = self._pools.get(key)
        if pool is None:
            pool = self._pools[key] = self._make(*name, slices)
        return pool

    def _make(self, driver: str, name: str, slices: list[ResourceSlice]) -> Pool:
        devices = [
            PoolDevice((driver, name, device.name), self.makes.of(driver, device), one) for one in slices for device in one.spec.devices
        ]
        ids: set[DeviceId] = set()
        twice = next((device.id[2] for device in devices if device.id in ids or ids.add(device.id)), "")  # type: ignore[func-returns-value]
        pool = Pool(driver, name, devices, len(slices) != slices[0].spec.pool.resource_slice_count, twice)
        shape = pool.is_incomplete, bool(twice), tuple(device.make.number for device in devices)
        pool.kind = self._kinds.setdefault(shape, len(self._kinds))
        for device in dict.fromkeys(device.id for device in devices):
            self._by_device.setdefault(device, []).append(pool)
        return pool


@attrs.frozen(eq=False, repr=False)
class Reach:
    """Which slices the nodes of a table reach, each in ascending order of name."""

    order: Mapping[str, int]
    """Name of a slice -> its place among all."""
    of_node: Mapping[str, Sequence[ResourceSlice]]
    of_all: Sequence[ResourceSlice]
    selected: Sequence[tuple[ResourceSlice, Mask]]
    """Slices with node selectors, each with the rows that match: bool[rows]."""

    @classmethod
    def of(cls, slices: Sequence[ResourceSlice], table: NodeTable, cells: DeviceCells) -> Reach:
        """That of *slices*, which are in ascending order of name."""
        order: dict[str, int] = {}
        of_node: dict[str, list[ResourceSlice]] = {}
        of_all: list[ResourceSlice] = []
        selected: list[tuple[ResourceSlice, Mask]] = []
        masks: dict[NodeSelector, Mask] = {}
        for one in _in_order(slices, cells):
            order[one.name] = len(order)
            spec = one.spec
            if spec.node_name:
                of_node.setdefault(spec.node_name, []).append(one)
            elif spec.all_nodes:
                of_all.append(one)
            elif spec.node_selector is not None:
                if spec.node_selector not in masks:
                    masks[spec.node_selector] = node_selector_mask(spec.node_selector, Batch.everywhere(table))
                selected.append((one, masks[spec.node_selector]))
        return cls(order, of_node, of_all, selected)

    def slices(self, row: int, name: str) -> Sequence[ResourceSlice]:
        """The slices that the node called *name* reaches, on *row*."""
        own = self.of_node.get(name, ())
        others = [*self.of_all, *(one for one, mask in self.selected if mask[row])]
        return sorted([*own, *others], key=lambda one: self.order[one.name]) if others else own


def _in_order(slices: Sequence[ResourceSlice], cells: DeviceCells) -> list[ResourceSlice]:
    """The slices that count, by name; those with binding conditions come last."""
    found = [one for one in slices if not _is_left_out(one, cells)]
    if cells.leaves_binding_conditions:
        found.sort(key=lambda one: any(device.binding_conditions for device in one.spec.devices))
    return found


def _is_left_out(one: ResourceSlice, cells: DeviceCells) -> bool:
    if cells.leaves_per_device_selection and one.spec.per_device_node_selection is not None:
        return True
    return cells.leaves_counter_slices and bool(one.spec.shared_counters)
