"""The pools of devices that each node reaches. Nodes whose pools look alike have the same *look*, and
searches end alike on them.

Upstream: GatherPools in structured/internal/experimental/pools_experimental.go.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import Factory, define, frozen

from ...api.objects import (
    Device,
    DeviceAttribute,
    JsonDict,
    Map,
    NodeSelector,
    ResourceSlice,
    ResourceSliceSpec,
)
from ..arrays import NO_INTS, Batch, Ints, Mask, NodeTable
from ..cluster.listings import DeviceId, Listings
from ..matching import node_selector_mask
from ..pods import rebuilt_from
from ..release import DeviceCells
from .celfunctions import DeviceSelectorError, quantity_value, semver_value

Values = Mapping[str, Any]


@define(eq=False, repr=False)
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
        """The variable ``device`` of an expression. Raises DeviceSelectorError for an attribute that has no
        value to compare.

        Upstream: DeviceMatches in dynamic-resource-allocation/cel/compile.go.
        """
        if self._input is None:
            try:
                attributes: dict[str, JsonDict] = {}
                for name, attribute in self.attributes.items():
                    domain, short = _split(name, self.driver)
                    attributes.setdefault(domain, {})[short] = _value(name, attribute)
                capacity: dict[str, JsonDict] = {}
                for name, amount in self.device.capacity.items():
                    domain, short = _split(name, self.driver)
                    capacity.setdefault(domain, {})[short] = quantity_value(amount.value)
                self._input = {
                    "driver": self.driver,
                    "attributes": attributes,
                    "capacity": capacity,
                    "allowMultipleAllocations": self.device.allow_multiple_allocations,
                }
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


@define(eq=False, repr=False)
class Makes:
    """All makes that were met."""

    _known: dict[Hashable, Make] = Factory(dict)

    def of(self, driver: str, device: Device) -> Make:
        """The make of *device*."""
        key = (
            driver,
            device.attributes,
            device.capacity,
            bool(device.binding_conditions),
            device.consumes_counters,
            device.taints,
            device.allow_multiple_allocations,
        )
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Make(len(self._known), driver, device.attributes, device)
        return found


PoolId = tuple[str, str]
"""A driver, and the name of a pool."""
CounterId = tuple[str, str]
"""A set of counters, and a counter of it."""
MOST_LOOKS = 1 << 18
"""Looks that are known; after that all is begun anew."""


@frozen(eq=False, repr=False)
class PoolDevice:
    """A device in a pool."""

    id: DeviceId
    make: Make
    device: Device
    slice: ResourceSlice
    is_reached: bool = True
    """The node reaches it: each device of some slices says itself which do."""

    def own(self, name: str) -> Any:
        """The field *name* among those that decide which nodes reach it: the device's own, or its slice's."""
        return getattr(self.device if self.slice.spec.per_device_node_selection else self.slice.spec, name)


@define(eq=False, repr=False)
class Pool:
    """A pool as some nodes reach it."""

    driver: str
    name: str
    devices: Sequence[PoolDevice]
    is_incomplete: bool
    """Not all of its slices are there."""
    invalid: str
    """The name of a device that is in it twice, or another fault; empty: it is valid."""
    counters: Mapping[CounterId, int] = Factory(dict)
    """How much there is of each counter, in billionths."""
    elsewhere: Sequence[PoolDevice] = ()
    """Its devices in slices that these nodes do not reach, which take counters too."""
    rows: list[int] = Factory(list)
    """The rows of the nodes that reach it."""
    kind: int = 0
    """The same for pools whose devices are of the same makes in the same order."""
    used: Hashable = 0
    """Which devices are in use, as bits, and what is in use of those that are shared."""

    def is_whole(self, cells: DeviceCells) -> bool:
        """Whether it may give devices; in the releases that do not ask for *whole_pools* each may."""
        return not (cells.whole_pools and (self.is_incomplete or self.invalid))

    @property
    def invalid_text(self) -> str:
        """The error of a search that comes to an invalid pool."""
        return f"pool {self.name} is invalid: duplicate device name {self.invalid}"


@rebuilt_from("table", "listings", "cells")
@define(eq=False, repr=False)
class Pools:
    """The pools of all rows of a table, brought up to date by :meth:`refresh`.

    ``looks``: int64[rows], equal where searches end alike.
    """

    table: NodeTable
    listings: Listings
    cells: DeviceCells
    makes: Makes = Factory(Makes)
    looks: Ints = NO_INTS
    epoch: int = 0
    """Moves when looks are numbered anew."""
    of_row: list[tuple[Pool, ...]] = Factory(list)
    """Row -> its pools, in order of driver and name."""
    _by_device: dict[DeviceId, list[Pool]] = Factory(dict)
    _pools: dict[Hashable, Pool | None] = Factory(dict)
    _faulty: dict[PoolId, Pool] = Factory(dict)
    """Pools with counters that something is wrong with. All nodes reach the counters, and so learn of
    that."""
    _kinds: dict[Hashable, int] = Factory(dict)
    _known: dict[Hashable, int] = Factory(dict)
    """The pools of a row, as kinds with what is in use -> its look."""
    _nodes: list[tuple[str, Map[str]] | None] = Factory(list)
    """Row -> the name and labels of its node."""
    _seen: tuple[int, int, int] = (-1, -1, -1)
    """The revisions of slices, of node objects, and of devices in use."""

    def refresh(self) -> None:
        """Bring everything up to date."""
        slices = self.listings.slices.version
        nodes = self.table.changed.node_revision
        used = self.listings.resource_claims.log.revision
        if self._seen == (slices, nodes, used):
            return
        steps = self.listings.resource_claims.log.steps_since(self._seen[2])
        is_known = self._seen[0] == slices and len(self._known) <= MOST_LOOKS
        if steps is None or not is_known or (self._seen[1] != nodes and self._nodes != self._named()):
            # Gather the pools of each row.
            self.epoch += 1
            for known in (self._by_device, self._pools, self._known):
                known.clear()
            reach = Reach.of(list(self.listings.slices), self.table, self.cells)
            alone = {
                name: self._pool(name, _newest(found), 0, reach) for name, found in reach.counters.items()
            }
            self._faulty = {
                name: pool
                for name, pool in alone.items()
                if pool is not None and (pool.is_incomplete or pool.invalid)
            }
            self._nodes = self._named()
            self.of_row = [
                () if node is None else self._gather(row, reach.slices(row, node[0]), reach)
                for row, node in enumerate(self._nodes)
            ]
            for made in self._pools.values():
                if made is not None:
                    self._look_at(made)
            self.looks = np.array([self._look(pools) for pools in self.of_row], np.int64)
        else:
            # Some devices are in use that were not, or no longer.
            devices = {device for step in steps for device in step}
            moved = {id(pool): pool for device in devices for pool in self._by_device.get(device, ())}
            for pool in moved.values():
                self._look_at(pool)
            for row in dict.fromkeys(row for pool in moved.values() for row in pool.rows):
                self.looks[row] = self._look(self.of_row[row])
        self._seen = slices, nodes, used

    def _look_at(self, pool: Pool) -> None:
        claims = self.listings.resource_claims
        ids = [device.id for device in (*pool.devices, *pool.elsewhere)]
        pool.used = sum(1 << bit for bit, one in enumerate(ids) if one in claims.holders)
        if self.cells.shares and (shared := [bit for bit, one in enumerate(ids) if one in claims.shares]):
            consumed = {bit: tuple(sorted(claims.shares[ids[bit]].consumed.items())) for bit in shared}
            pool.used = (
                pool.used,
                tuple((bit, claims.has_whole(ids[bit], True), found) for bit, found in consumed.items()),
            )

    def _look(self, pools: tuple[Pool, ...]) -> int:
        key: Hashable = tuple([(pool.kind, pool.used) for pool in pools])
        if len(named := [pool.name for pool in pools if pool.counters]) > 1:
            # Upstream: the counters of pools with one name are taken for the same.
            key = key, tuple(map(named.index, named))
        return self._known.setdefault(key, len(self._known))

    def _named(self) -> list[tuple[str, Map[str]] | None]:
        return [
            None if node is None else (node.name, node.labels) for node in self.table.nodes[: self.table.size]
        ]

    # --- all rows -------------------------------------------------------------------------------------------

    def _gather(self, row: int, slices: Sequence[ResourceSlice], reach: Reach) -> tuple[Pool, ...]:
        listed: dict[PoolId, list[ResourceSlice]] = {}
        for one in slices:
            listed.setdefault((one.spec.driver, one.spec.pool.name), []).append(one)
        for name in listed.keys() & reach.counters.keys():
            listed[name] = sorted(
                [*listed[name], *reach.counters[name]], key=lambda one: reach.order[one.name]
            )
        pools = {
            **self._faulty,
            **{name: self._pool(name, _newest(found), row, reach) for name, found in listed.items()},
        }
        found = [pool for name in sorted(pools) if (pool := pools[name]) is not None]
        if self.cells.conditions_last:
            found.sort(key=self._has_conditions)
        for pool in found:
            pool.rows.append(row)
        return tuple(found)

    def _has_conditions(self, pool: Pool) -> bool:
        return pool.is_whole(self.cells) and any(
            device.make.device.binding_conditions for device in pool.devices
        )

    def _pool(self, name: PoolId, slices: list[ResourceSlice], row: int, reach: Reach) -> Pool | None:
        """The pool called *name* of *slices*; None where it has newer ones elsewhere."""
        unreached = reach.unreached(slices, row)
        key = name, tuple(one.name for one in slices), unreached
        if key not in self._pools:
            self._pools[key] = self._make(name, slices, unreached, reach)
        return self._pools[key]

    def _make(
        self, name: PoolId, slices: list[ResourceSlice], unreached: Sequence[tuple[str, int]], reach: Reach
    ) -> Pool | None:
        wanted = slices[0].spec.pool
        others = list[ResourceSlice]()
        whole = self.cells.whole_pools
        if whole and len(slices) != wanted.resource_slice_count:
            # Newer slices may be out of reach of this node.
            everywhere = reach.of_pool[name]
            if any(one.spec.pool.generation > wanted.generation for one in everywhere):
                return None
            names = {one.name for one in slices}
            others = [
                one
                for one in everywhere
                if one.spec.pool.generation == wanted.generation and one.name not in names
            ]
        is_incomplete = len(slices) + len(others) != wanted.resource_slice_count
        devices = [
            self._device(name, one, device, (one.name, at) not in unreached)
            for one in slices
            if not (whole and one.spec.shared_counters)
            for at, device in enumerate(one.spec.devices)
        ]
        fault = _repeated(device.id[2] for device in devices)
        counters = dict[CounterId, int]()
        elsewhere = list[PoolDevice]()
        if not self.cells.leaves_counted_devices and whole and not is_incomplete and not fault:
            elsewhere = [
                self._device(name, one, device)
                for one in others
                for device in one.spec.devices
                if device.consumes_counters
            ]
            fault, counters = _counters(slices, [*devices, *elsewhere])
        pool = Pool(*name, devices, is_incomplete, fault, counters, elsewhere)
        pool.kind = self._kinds.setdefault(_shape(pool), len(self._kinds))
        for found in dict.fromkeys(device.id for device in (*devices, *elsewhere)):
            self._by_device.setdefault(found, []).append(pool)
        return pool

    def _device(
        self, pool: PoolId, one: ResourceSlice, device: Device, is_reached: bool = True
    ) -> PoolDevice:
        return PoolDevice((*pool, device.name), self.makes.of(pool[0], device), device, one, is_reached)


def _newest(slices: Sequence[ResourceSlice]) -> list[ResourceSlice]:
    newest = max(one.spec.pool.generation for one in slices)
    return [one for one in slices if one.spec.pool.generation == newest]


def _shape(pool: Pool) -> Hashable:
    """Equal for pools in which searches cannot tell the devices apart."""
    devices = tuple((device.make.number, device.is_reached) for device in pool.devices)
    return (
        pool.is_incomplete,
        bool(pool.invalid),
        devices,
        tuple(sorted(pool.counters.items())),
        tuple(device.make.number for device in pool.elsewhere),
    )


def _repeated(names: Iterable[str]) -> str:
    """The first of *names* that is there twice; empty: none is."""
    seen = set()
    return next((name for name in names if name in seen or seen.add(name)), "")  # type: ignore[func-returns-value]


def _counters(
    slices: Sequence[ResourceSlice], devices: Sequence[PoolDevice]
) -> tuple[str, dict[CounterId, int]]:
    """The fault of a pool's counters, empty if there is none; and the amount of each."""
    sets = [one for found in slices for one in found.spec.shared_counters]
    counters = {
        (one.name, name): counter.value.nanos for one in sets for name, counter in one.counters.items()
    }
    names = {one.name for one in sets}
    for device in devices:
        for taken in device.device.consumes_counters:
            if taken.counter_set not in names or any(
                (taken.counter_set, name) not in counters for name in taken.counters
            ):
                return taken.counter_set or "a set of counters", {}
    return _repeated(one.name for one in sets), counters


@frozen(eq=False, repr=False)
class Reach:
    """The slices that the nodes of a table reach, each in ascending order of name."""

    order: dict[str, int] = Factory(dict)
    """Name of a slice -> its place among all."""
    of_node: dict[str, list[ResourceSlice]] = Factory(dict)
    of_all: list[ResourceSlice] = Factory(list)
    selected: list[tuple[ResourceSlice, Mask]] = Factory(list)
    """Slices with node selectors, each with the rows that match: bool[rows]."""
    of_devices: dict[str, list[Mask]] = Factory(dict)
    """Name of a slice in which each device says its nodes -> for each of them the rows."""
    of_pool: dict[PoolId, list[ResourceSlice]] = Factory(dict)
    """All slices of each pool."""
    counters: dict[PoolId, list[ResourceSlice]] = Factory(dict)
    """Those that have counters."""

    @classmethod
    def of(cls, slices: Sequence[ResourceSlice], table: NodeTable, cells: DeviceCells) -> Reach:
        """The reach of *slices*, which are in ascending order of name."""
        reach = cls()
        mask_of = ReachedRows(table).of
        for one in slices:
            reach.of_pool.setdefault((one.spec.driver, one.spec.pool.name), []).append(one)
        # The slices that count, by name; those with binding conditions may come last.
        found = [
            one
            for one in slices
            if not (cells.leaves_per_device_selection and one.spec.per_device_node_selection is not None)
            and not (cells.leaves_counter_slices and one.spec.shared_counters)
        ]
        if cells.conditions_last == "slices and pools":
            found.sort(key=lambda one: any(device.binding_conditions for device in one.spec.devices))
        for one in found:
            reach.order[one.name] = len(reach.order)
            spec = one.spec
            if spec.shared_counters and cells.whole_pools:
                reach.counters.setdefault((spec.driver, spec.pool.name), []).append(one)
            elif spec.node_name:
                reach.of_node.setdefault(spec.node_name, []).append(one)
            elif spec.all_nodes:
                reach.of_all.append(one)
            elif spec.node_selector is not None:
                reach.selected.append((one, mask_of(spec)))
            elif spec.per_device_node_selection and cells.whole_pools:
                masks = reach.of_devices[one.name] = [mask_of(device) for device in spec.devices]
                nowhere = np.zeros(table.size, np.bool_)
                reach.selected.append((one, np.any(masks, axis=0) if masks else nowhere))
        return reach

    def unreached(self, slices: Sequence[ResourceSlice], row: int) -> tuple[tuple[str, int], ...]:
        """The devices of *slices* that the node on *row* does not reach: slice and place."""
        masks = ((one.name, self.of_devices.get(one.name, ())) for one in slices) if self.of_devices else ()
        return tuple((name, at) for name, found in masks for at, mask in enumerate(found) if not mask[row])

    def slices(self, row: int, name: str) -> Sequence[ResourceSlice]:
        """The slices that the node called *name* reaches, on *row*."""
        own = self.of_node.get(name, ())
        others = [*self.of_all, *(one for one, mask in self.selected if mask[row])]
        return sorted([*own, *others], key=lambda one: self.order[one.name]) if others else own


@frozen(eq=False, repr=False)
class ReachedRows:
    """The rows of a table that slices and devices can be reached from."""

    table: NodeTable
    _known: dict[NodeSelector, Mask] = Factory(dict)

    def of(self, where: ResourceSliceSpec | Device) -> Mask:
        """The rows of the nodes that *where* names, by name, all, or by a selector: bool[rows]."""
        size = self.table.size
        selector = where.node_selector
        if where.node_name or where.all_nodes or selector is None:
            mask = np.full(size, where.all_nodes and not where.node_name, np.bool_)
            if where.node_name in self.table.row_of:
                mask[self.table.row_of[where.node_name]] = True
            return mask
        if selector not in self._known:
            self._known[selector] = node_selector_mask(selector, Batch.everywhere(self.table))
        return self._known[selector]
