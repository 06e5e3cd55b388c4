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
    CapacityRequestPolicy,
    Device,
    DeviceAsk,
    DeviceAttribute,
    DeviceCapacity,
    JsonDict,
    Map,
    NodeSelector,
    Quantity,
    ResourceSlice,
    ResourceSliceSpec,
    round_away,
)
from ..arrays import NO_INTS, Batch, Ints, Mask, NodeTable
from ..cluster.listings import DeviceId, Listings
from ..matching import node_selector_mask
from ..pods import rebuilt_from
from ..release import DeviceCells
from .celfunctions import DeviceSelectorError, quantity_value, semver_value

Values = Mapping[str, Any]


@define(eq=False, repr=False)
class DeviceModel:
    """A model of devices. Equal models are the same object; *number* is its own."""

    number: int
    driver: str
    attributes: Map[DeviceAttribute]
    device: Device
    """A device of this model."""
    _input: Values | DeviceSelectorError | None = None

    def __repr__(self) -> str:
        return f"<DeviceModel {self.number} of {self.driver}>"

    def attribute(self, name: str) -> DeviceAttribute | None:
        """The attribute called *name*, which begins with its domain; None where the device has none.

        Upstream: lookupAttribute.
        """
        attribute = self.attributes.get(name)
        if attribute is None:
            domain, slash, short = name.partition("/")
            attribute = self.attributes.get(short) if slash and domain == self.driver else None
        return attribute

    def as_input(self) -> Values:
        """The variable ``device`` of an expression. Raises DeviceSelectorError for an attribute without a
        comparable value.

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
class DeviceModels:
    """The models of all known devices."""

    _models: dict[Hashable, DeviceModel] = Factory(dict)

    def of(self, driver: str, device: Device) -> DeviceModel:
        """The model of *device*."""
        key = (
            driver,
            device.attributes,
            device.capacity,
            bool(device.binding_conditions),
            device.consumes_counters,
            device.taints,
            device.allow_multiple_allocations,
        )
        model = self._models.get(key)
        if model is None:
            model = self._models[key] = DeviceModel(len(self._models), driver, device.attributes, device)
        return model


PoolId = tuple[str, str]
"""A driver, and the name of a pool."""
CounterId = tuple[str, str]
"""A set of counters, and a counter of it."""
MOST_LOOKS = 1 << 18
"""The most looks that are kept; with more all are numbered anew."""


@frozen(eq=False, repr=False)
class PoolDevice:
    """A device in a pool."""

    id: DeviceId
    model: DeviceModel
    device: Device
    slice: ResourceSlice
    is_reached: bool = True
    """Whether the node reaches it; in some slices each device names its own nodes."""

    def own(self, name: str) -> Any:
        """A field that decides which nodes reach it, called *name*: the device's own, or its slice's."""
        return getattr(self.device if self.slice.spec.per_device_node_selection else self.slice.spec, name)


@define(eq=False, repr=False)
class Pool:
    """A pool as some nodes reach it."""

    driver: str
    name: str
    devices: Sequence[PoolDevice]
    is_incomplete: bool
    """Whether some of its slices are missing."""
    invalid: str
    """The name of a device that is in it twice, or another fault; empty: it is valid. In releases with cell
    *whole_pools* incomplete pools are not checked."""
    counters: Mapping[CounterId, int] = Factory(dict)
    """The amount of each counter, in billionths."""
    elsewhere: Sequence[PoolDevice] = ()
    """Its devices in slices that these nodes do not reach; they take counters too."""
    rows: list[int] = Factory(list)
    """The rows of the nodes that reach it."""
    kind: int = 0
    """A number that is equal for pools with devices of the same models in the same order."""
    used: Hashable = 0
    """The devices in use, as bits, and the amounts in use of shared ones."""

    def is_whole(self, cells: DeviceCells) -> bool:
        """Whether it may give devices; in releases without cell *whole_pools* each pool may."""
        return not (cells.whole_pools and (self.is_incomplete or self.invalid))

    @property
    def invalid_text(self) -> str:
        """The error of a search that reaches an invalid pool."""
        return f"pool {self.name} is invalid: duplicate device name {self.invalid}"


@rebuilt_from("table", "listings", "cells")
@define(eq=False, repr=False)
class Pools:
    """The pools of all rows of a table, updated by :meth:`refresh`.

    ``looks``: int64[rows], equal where searches end alike.
    """

    table: NodeTable
    listings: Listings
    cells: DeviceCells
    models: DeviceModels = Factory(DeviceModels)
    looks: Ints = NO_INTS
    epoch: int = 0
    """Moves when looks are numbered anew."""
    of_row: list[tuple[Pool, ...]] = Factory(list)
    """Row -> its pools, in order of driver and name."""
    _by_device: dict[DeviceId, list[Pool]] = Factory(dict)
    _pools: dict[Hashable, Pool | None] = Factory(dict)
    _faulty: dict[PoolId, Pool] = Factory(dict)
    """The pools with faulty counters. All nodes reach counters, and so see the fault."""
    _kinds: dict[Hashable, int] = Factory(dict)
    _look_numbers: dict[Hashable, int] = Factory(dict)
    """The pools of a row, by kind and use -> its look."""
    _nodes: list[tuple[str, Map[str]] | None] = Factory(list)
    """Row -> the name and labels of its node."""
    _revisions: tuple[int, int, int] = (-1, -1, -1)
    """The revisions of slices, of node objects, and of devices in use."""

    def refresh(self) -> None:
        """Update everything."""
        slices = self.listings.slices.version
        nodes = self.table.changed.node_revision
        claims = self.listings.resource_claims.log.revision
        if self._revisions == (slices, nodes, claims):
            return
        steps = self.listings.resource_claims.log.steps_since(self._revisions[2])
        is_known = self._revisions[0] == slices and len(self._look_numbers) <= MOST_LOOKS
        if steps is None or not is_known or (self._revisions[1] != nodes and self._nodes != self._labels()):
            # Gather the pools of each row.
            self.epoch += 1
            for cache in (self._by_device, self._pools, self._look_numbers):
                cache.clear()
            reach = ReachableSlices.of(list(self.listings.slices), self.table, self.cells)
            counter_pools = {
                name: self._pool(name, _newest_generation(pool_slices), 0, reach)
                for name, pool_slices in reach.counters.items()
            }
            self._faulty = {
                name: pool
                for name, pool in counter_pools.items()
                if pool is not None and (pool.is_incomplete or pool.invalid)
            }
            self._nodes = self._labels()
            self.of_row = [
                () if node is None else self._gather(row, reach.slices(row, node[0]), reach)
                for row, node in enumerate(self._nodes)
            ]
            for new_pool in self._pools.values():
                if new_pool is not None:
                    self._update_use(new_pool)
            self.looks = np.array([self._look_number(pools) for pools in self.of_row], np.int64)
        else:
            # Some devices came into use, or out of use.
            devices = {device for step in steps for device in step}
            touched = {id(pool): pool for device in devices for pool in self._by_device.get(device, ())}
            for pool in touched.values():
                self._update_use(pool)
            for row in dict.fromkeys(row for pool in touched.values() for row in pool.rows):
                self.looks[row] = self._look_number(self.of_row[row])
        self._revisions = slices, nodes, claims

    def _update_use(self, pool: Pool) -> None:
        claims = self.listings.resource_claims
        ids = [device.id for device in (*pool.devices, *pool.elsewhere)]
        pool.used = sum(1 << bit for bit, device in enumerate(ids) if device in claims.holders)
        if self.cells.shares and (
            shared := [bit for bit, device in enumerate(ids) if device in claims.shares]
        ):
            consumed = {bit: tuple(sorted(claims.shares[ids[bit]].consumed.items())) for bit in shared}
            pool.used = (
                pool.used,
                tuple((bit, claims.has_whole(ids[bit], True), amounts) for bit, amounts in consumed.items()),
            )

    def _look_number(self, pools: tuple[Pool, ...]) -> int:
        key: Hashable = tuple([(pool.kind, pool.used) for pool in pools])
        if len(names := [pool.name for pool in pools if pool.counters]) > 1:
            # Upstream: the counters of pools with the same name count as the same.
            key = key, tuple(map(names.index, names))
        return self._look_numbers.setdefault(key, len(self._look_numbers))

    def _labels(self) -> list[tuple[str, Map[str]] | None]:
        return [
            None if node is None else (node.name, node.labels) for node in self.table.nodes[: self.table.size]
        ]

    # --- all rows -------------------------------------------------------------------------------------------

    def _gather(self, row: int, slices: Sequence[ResourceSlice], reach: ReachableSlices) -> tuple[Pool, ...]:
        slices_by_pool: dict[PoolId, list[ResourceSlice]] = {}
        for device_slice in slices:
            slices_by_pool.setdefault((device_slice.spec.driver, device_slice.spec.pool.name), []).append(
                device_slice
            )
        for name in slices_by_pool.keys() & reach.counters.keys():
            slices_by_pool[name] = sorted(
                [*slices_by_pool[name], *reach.counters[name]], key=lambda item: reach.order[item.name]
            )
        pools = {
            **self._faulty,
            **{
                name: self._pool(name, _newest_generation(pool_slices), row, reach)
                for name, pool_slices in slices_by_pool.items()
            },
        }
        reached = [pool for name in sorted(pools) if (pool := pools[name]) is not None]
        if self.cells.conditions_last:
            reached.sort(key=self._has_conditions)
        for pool in reached:
            pool.rows.append(row)
        return tuple(reached)

    def _has_conditions(self, pool: Pool) -> bool:
        return pool.is_whole(self.cells) and any(
            device.model.device.binding_conditions for device in pool.devices
        )

    def _pool(
        self, name: PoolId, slices: list[ResourceSlice], row: int, reach: ReachableSlices
    ) -> Pool | None:
        """The pool called *name* of *slices*; None where there are newer slices elsewhere."""
        unreached = reach.unreached(slices, row)
        key = name, tuple(device_slice.name for device_slice in slices), unreached
        if key not in self._pools:
            self._pools[key] = self._make(name, slices, unreached, reach)
        return self._pools[key]

    def _make(
        self,
        name: PoolId,
        slices: list[ResourceSlice],
        unreached: Sequence[tuple[str, int]],
        reach: ReachableSlices,
    ) -> Pool | None:
        expected = slices[0].spec.pool
        unreached_slices = list[ResourceSlice]()
        whole_pools = self.cells.whole_pools
        if whole_pools and len(slices) != expected.resource_slice_count:
            # Newer slices may be out of reach of this node.
            everywhere = reach.of_pool[name]
            if any(device_slice.spec.pool.generation > expected.generation for device_slice in everywhere):
                return None
            names = {device_slice.name for device_slice in slices}
            unreached_slices = [
                device_slice
                for device_slice in everywhere
                if device_slice.spec.pool.generation == expected.generation and device_slice.name not in names
            ]
        is_incomplete = len(slices) + len(unreached_slices) != expected.resource_slice_count
        devices = [
            self._device(name, device_slice, device, (device_slice.name, at) not in unreached)
            for device_slice in slices
            if not (whole_pools and device_slice.spec.shared_counters)
            for at, device in enumerate(device_slice.spec.devices)
        ]
        fault = ""
        if not (whole_pools and is_incomplete):
            fault = _first_repeated(device.id[2] for device in devices)
        if fault:
            # Upstream: whether a device matches is remembered by its name.
            first = {device.id: device for device in reversed(devices)}
            devices = [device for device in devices if device is first[device.id]]
        counters = dict[CounterId, int]()
        elsewhere = list[PoolDevice]()
        if not self.cells.leaves_counted_devices and whole_pools and not is_incomplete and not fault:
            elsewhere = [
                self._device(name, device_slice, device)
                for device_slice in unreached_slices
                for device in device_slice.spec.devices
                if device.consumes_counters
            ]
            fault, counters = _counters(slices, [*devices, *elsewhere])
        pool = Pool(*name, devices, is_incomplete, fault, counters, elsewhere)
        pool.kind = self._kinds.setdefault(_shape(pool), len(self._kinds))
        for device_id in dict.fromkeys(device.id for device in (*devices, *elsewhere)):
            self._by_device.setdefault(device_id, []).append(pool)
        return pool

    def _device(
        self, pool: PoolId, device_slice: ResourceSlice, device: Device, is_reached: bool = True
    ) -> PoolDevice:
        return PoolDevice(
            (*pool, device.name), self.models.of(pool[0], device), device, device_slice, is_reached
        )


def _newest_generation(slices: Sequence[ResourceSlice]) -> list[ResourceSlice]:
    newest = max(device_slice.spec.pool.generation for device_slice in slices)
    return [device_slice for device_slice in slices if device_slice.spec.pool.generation == newest]


def _shape(pool: Pool) -> Hashable:
    """A key that is equal for pools whose devices searches cannot tell apart."""
    devices = tuple((device.model.number, device.is_reached) for device in pool.devices)
    return (
        pool.is_incomplete,
        bool(pool.invalid),
        devices,
        tuple(sorted(pool.counters.items())),
        tuple(device.model.number for device in pool.elsewhere),
    )


def _first_repeated(names: Iterable[str]) -> str:
    """The first of *names* that occurs twice; empty: none does."""
    earlier = set()
    return next((name for name in names if name in earlier or earlier.add(name)), "")  # type: ignore[func-returns-value]


def _counters(
    slices: Sequence[ResourceSlice], devices: Sequence[PoolDevice]
) -> tuple[str, dict[CounterId, int]]:
    """The fault of a pool's counters, empty if there is none; and the amount of each."""
    sets = [counter_set for device_slice in slices for counter_set in device_slice.spec.shared_counters]
    counters = {
        (counter_set.name, name): counter.value.nanos
        for counter_set in sets
        for name, counter in counter_set.counters.items()
    }
    names = {counter_set.name for counter_set in sets}
    for device in devices:
        for consumption in device.device.consumes_counters:
            if consumption.counter_set not in names or any(
                (consumption.counter_set, name) not in counters for name in consumption.counters
            ):
                return consumption.counter_set or "a set of counters", {}
    return _first_repeated(counter_set.name for counter_set in sets), counters


@frozen(eq=False, repr=False)
class ReachableSlices:
    """The slices that the nodes of a table reach, each in ascending order of name."""

    order: dict[str, int] = Factory(dict)
    """Name of a slice -> its place among all."""
    of_node: dict[str, list[ResourceSlice]] = Factory(dict)
    of_all: list[ResourceSlice] = Factory(list)
    selected: list[tuple[ResourceSlice, Mask]] = Factory(list)
    """Slices with node selectors, each with the rows that match: bool[rows]."""
    of_devices: dict[str, list[Mask]] = Factory(dict)
    """Name of a slice in which each device names its nodes -> the rows of each device."""
    of_pool: dict[PoolId, list[ResourceSlice]] = Factory(dict)
    """All slices of each pool."""
    counters: dict[PoolId, list[ResourceSlice]] = Factory(dict)
    """The slices with counters, by pool."""

    @classmethod
    def of(cls, slices: Sequence[ResourceSlice], table: NodeTable, cells: DeviceCells) -> ReachableSlices:
        """The reach of *slices*, which are in ascending order of name."""
        reach = cls()
        mask_of = ReachedRows(table).of
        for device_slice in slices:
            reach.of_pool.setdefault((device_slice.spec.driver, device_slice.spec.pool.name), []).append(
                device_slice
            )
        # The slices that count, by name; those with binding conditions may come last.
        counting = [
            device_slice
            for device_slice in slices
            if not (
                cells.leaves_per_device_selection and device_slice.spec.per_device_node_selection is not None
            )
            and not (cells.leaves_counter_slices and device_slice.spec.shared_counters)
        ]
        if cells.conditions_last == "slices and pools":
            counting.sort(
                key=lambda device_slice: any(
                    device.binding_conditions for device in device_slice.spec.devices
                )
            )
        for device_slice in counting:
            reach.order[device_slice.name] = len(reach.order)
            spec = device_slice.spec
            if spec.shared_counters and cells.whole_pools:
                reach.counters.setdefault((spec.driver, spec.pool.name), []).append(device_slice)
            elif spec.node_name:
                reach.of_node.setdefault(spec.node_name, []).append(device_slice)
            elif spec.all_nodes:
                reach.of_all.append(device_slice)
            elif spec.node_selector is not None:
                reach.selected.append((device_slice, mask_of(spec)))
            elif spec.per_device_node_selection and cells.whole_pools:
                masks = reach.of_devices[device_slice.name] = [mask_of(device) for device in spec.devices]
                nowhere = np.zeros(table.size, np.bool_)
                reach.selected.append((device_slice, np.any(masks, axis=0) if masks else nowhere))
        return reach

    def unreached(self, slices: Sequence[ResourceSlice], row: int) -> tuple[tuple[str, int], ...]:
        """The devices of *slices* that the node on *row* does not reach, each by slice and place."""
        masks = ((s.name, self.of_devices.get(s.name, ())) for s in slices) if self.of_devices else ()
        return tuple(
            (name, at)
            for name, device_masks in masks
            for at, mask in enumerate(device_masks)
            if not mask[row]
        )

    def slices(self, row: int, name: str) -> Sequence[ResourceSlice]:
        """The slices that the node called *name* reaches, on *row*."""
        local = self.of_node.get(name, ())
        shared = [*self.of_all, *(device_slice for device_slice, mask in self.selected if mask[row])]
        return sorted([*local, *shared], key=lambda item: self.order[item.name]) if shared else local


@frozen(eq=False, repr=False)
class ReachedRows:
    """The rows of a table that reach slices and devices."""

    table: NodeTable
    _masks: dict[NodeSelector, Mask] = Factory(dict)

    def of(self, where: ResourceSliceSpec | Device) -> Mask:
        """The rows of the nodes that *where* names, by name, all, or by a selector: bool[rows]."""
        size = self.table.size
        selector = where.node_selector
        if where.node_name or where.all_nodes or selector is None:
            mask = np.full(size, where.all_nodes and not where.node_name, np.bool_)
            if where.node_name in self.table.row_of:
                mask[self.table.row_of[where.node_name]] = True
            return mask
        if selector not in self._masks:
            self._masks[selector] = node_selector_mask(selector, Batch.everywhere(self.table))
        return self._masks[selector]


# --- shared capacities --------------------------------------------------------------------------------------

# Capacities of devices that several claims share: the amount of each that a request takes, and whether that
# is left. Upstream: consumable_capacity.go in structured/internal/experimental. Amounts are in billionths.

Amounts = Mapping[str, int]
"""Capacity -> amount."""
_ONE = 10**9


def has_room(device: Device, request: DeviceAsk, used: Iterable[Amounts | None]) -> bool:
    """Whether *device* has enough left for *request*, beside what is *used* of it. Without shares nothing
    else is used."""
    requested = {} if request.capacity is None else request.capacity.requests
    if not requested.keys() <= device.capacity.keys():
        return False
    users = [amounts for amounts in used if amounts]
    for name, amount in taken_by(request, device).items():
        capacity = device.capacity[name]
        if (
            _violates(amount, capacity.request_policy)
            or amount + sum(amounts.get(name, 0) for amounts in users) > capacity.value.nanos
        ):
            return False
    return True


def taken_by(request: DeviceAsk, device: Device) -> dict[str, int]:
    """The amounts of each capacity of *device* that *request* takes."""
    requested = {} if request.capacity is None else request.capacity.requests
    return {
        name: _consumed_amount(requested.get(name), capacity) for name, capacity in device.capacity.items()
    }


def _consumed_amount(requested: Quantity | None, capacity: DeviceCapacity) -> int:
    policy = capacity.request_policy
    if requested is None:
        return (capacity.value if policy is None or policy.default is None else policy.default).nanos
    if policy is None:
        return requested.nanos
    limits = policy.valid_range
    if limits is None or limits.min is None:
        return next((value.nanos for value in policy.valid_values if requested <= value), requested.nanos)
    if requested < limits.min:
        return limits.min.nanos
    if not limits.step:
        return requested.nanos
    least = limits.min.value()
    step = limits.step.value()
    return (least - (least - requested.value()) // step * step) * _ONE


def _violates(amount: int, policy: CapacityRequestPolicy | None) -> bool:
    if policy is None or (policy.default is not None and amount == policy.default.nanos):
        return False
    limits = policy.valid_range
    if limits is None:
        return bool(policy.valid_values) and all(amount != value.nanos for value in policy.valid_values)
    if limits.max is not None and amount > limits.max.nanos:
        return True
    least = 0 if limits.min is None else limits.min.value()
    return (
        limits.step is not None
        and bool(limits.step)
        and (round_away(amount, _ONE) - least) % limits.step.value() != 0
    )
