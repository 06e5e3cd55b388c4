"""What rules out each device that a node reaches, for people who want to know why a claim cannot be served there."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

import attrs
import numpy as np

from ...api.objects import Condition, Device, DeviceClass, DeviceSelector, ResourceClaim, ResourceSlice
from ...api.record import Count, Names, Record, field
from ..arrays.table import NodeTable
from ..arrays.types import Ints, Rows
from ..cluster.listings import DeviceId, Listings, held_by
from ..rebuilt import rebuilt_from
from .allocationplan import NodeAllocationPlan, Option, has_room
from .claimjudging import AllocationError, Judge
from .devicesearch import tolerates
from .nodedevices import Devices
from .pools import Makes, Pool, PoolDevice, ReachedRows

USABLE = ""


UNMATCHED = "selector of "
"""How it begins what rules out devices that do not match."""


class RefusedDevices(Record):
    """Devices that are turned down for one reason."""

    why: str
    """The first selector that does not match, the claim that uses them, or what they lack."""
    devices: Names


class DeviceAccount(Record):
    """The devices of a node for one request, or one of its alternatives."""

    claim: str
    request: str
    """request, or request/alternative"""
    device_class: str = field(name="class")
    """The DeviceClass that is asked for."""
    wanted: Count
    takes_all: bool = field(name="all")
    """Every device that matches is wanted, which are as many as said."""
    usable: Names
    """Devices that are free and match: driver/pool/device."""
    refused: tuple[RefusedDevices, ...]

    @property
    def matching(self) -> Names:
        """The devices that match, free or not."""
        others = (one.devices for one in self.refused if not one.why.startswith(UNMATCHED))
        return (*self.usable, *(device for devices in others for device in devices))


def accounts(devices: Devices, claims: Sequence[ResourceClaim], row: int) -> tuple[DeviceAccount, ...]:
    """An account of the devices on *row* for each request of *claims*; none where the requests themselves cannot be tried."""
    devices.pools.refresh()
    pools = devices.pools.of_row[row]
    try:
        plan = devices.planner().plan(claims, pools)
    except AllocationError:
        return ()
    reached = [(pool, device) for pool in pools for device in pool.devices]
    users = _users(devices, {device.id for _, device in reached})
    options = [(claim, option) for claim, requests in zip(claims, plan.requests, strict=True) for found in requests for option in found]
    return tuple(_account(devices, claim, option, reached, users) for claim, option in options)


def _users(devices: Devices, reached: set[DeviceId]) -> dict[DeviceId, str]:
    """Device -> the claim that has it for itself."""
    claims = devices.listings.resource_claims
    return {device: claim.key for claim in (*claims, *claims.pending.values()) for device in held_by(claim) if device in reached}


def _account(
    devices: Devices, claim: ResourceClaim, option: Option, reached: Sequence[tuple[Pool, PoolDevice]], users: dict[DeviceId, str]
) -> DeviceAccount:
    refused: dict[str, list[str]] = {}
    usable: list[str] = []
    for pool, device in reached:
        why = next(_objections(devices, claim, option, device, users), USABLE)
        if devices.cells.whole_pools and (pool.is_incomplete or pool.invalid) and not why.startswith(UNMATCHED):
            why = f"its pool is {'incomplete' if pool.is_incomplete else 'invalid'}"
        (refused.setdefault(why, []) if why else usable).append("/".join(device.id))
    return DeviceAccount(
        claim=claim.name, request=option.result_name, device_class=option.device_class.name, wanted=option.count,
        takes_all=option.all_devices is not None, usable=tuple(usable),
        refused=tuple(RefusedDevices(why, tuple(found)) for why, found in refused.items()),
    )  # fmt: skip


def _objections(devices: Devices, claim: ResourceClaim, option: Option, device: PoolDevice, users: dict[DeviceId, str]) -> Iterator[str]:
    """What rules out *device*, what counts first."""
    make = device.make
    # The selector of the class, and that of the request, that does not match *device*.
    yield from _unmatched(devices, device, option.device_class.spec.selectors, f"class {option.device_class.name}")
    yield from _unmatched(devices, device, option.request.selectors, "request")
    if not NodeAllocationPlan.is_selectable(option, make, devices.judge, devices.cells):
        yield "it has binding conditions"
    if devices.cells.leaves_counted_devices and make.device.consumes_counters:
        yield "it consumes counters"
    if not device.is_reached:
        yield "the node does not reach it"
    if devices.cells.taints and not tolerates(option, make.device):
        yield "it has a taint that the request does not tolerate"
    is_shared = devices.cells.shares and make.device.allow_multiple_allocations
    if device.id in users and not option.admin and not is_shared:
        yield f"used by claim {users[device.id]}"
    if devices.cells.shares and not has_room(make.device, option.request, (devices.consumed(device.id),)):
        yield "it has not as much capacity left"
    for constraint in claim.spec.devices.constraints:
        attribute = constraint.match_attribute or constraint.distinct_attribute or ""
        concerned = not constraint.requests or {option.base, option.result_name} & set(constraint.requests)
        if concerned and make.attribute(attribute) is None:
            yield f"it has no attribute {attribute}, which a constraint compares"


def _unmatched(devices: Devices, device: PoolDevice, selectors: Sequence[DeviceSelector], where: str) -> Iterator[str]:
    try:
        number = devices.judge.refusing(device.make, selectors, where)
    except AllocationError as error:
        yield str(error)
        return
    if number is not None:
        yield f"{UNMATCHED}{where}: {selectors[number].expression}"


# --- devices that give extended resources -----------------------------------------------------------------------------


Totals = tuple[Ints, Ints]
"""Devices and those in use: int64[rows] each."""


@rebuilt_from("table", "listings")
@attrs.define(eq=False, repr=False)
class DeviceTotals:
    """The devices that give extended resources, counted for all rows of a table. Slices of any generation count."""

    table: NodeTable
    listings: Listings
    judge: Judge = attrs.Factory(Judge)
    makes: Makes = attrs.Factory(Makes)
    _known: dict[str, tuple[Hashable, Totals]] = attrs.Factory(dict)

    def of(self, resource: str, rows: Rows) -> Totals:
        """How many devices that give *resource* each of *rows* reaches, and how many of them are in use."""
        found, log = self.listings.device_classes.by_resource[resource], self.listings.resource_claims.log
        seen = id(found), self.listings.slices.version, log.revision, self.table.changed.node_revision, self.table.size
        kept = self._known.get(resource)
        if kept is None or kept[0] != seen:
            kept = self._known[resource] = seen, self._count(found)
        return kept[1][0][rows], kept[1][1][rows]

    def _count(self, device_class: DeviceClass) -> Totals:
        reached, errs = ReachedRows(self.table), np.zeros(self.table.size, np.bool_)
        there, used = np.zeros(self.table.size, np.int64), np.zeros(self.table.size, np.int64)
        for one in self.listings.slices:
            apart = bool(one.spec.per_device_node_selection)
            mask = None if apart else reached.of(one.spec)
            for device in one.spec.devices:
                rows = reached.of(device) if mask is None else mask
                try:
                    if self._matches(device_class, one, device):
                        there[rows] += 1
                        used[rows] += (one.spec.driver, one.spec.pool.name, device.name) in self.listings.resource_claims.holders
                except AllocationError:
                    errs |= rows
        there[errs] = 0
        return there, used

    def _matches(self, device_class: DeviceClass, one: ResourceSlice, device: Device) -> bool:
        make = self.makes.of(one.spec.driver, device)
        return self.judge.refusing(make, device_class.spec.selectors, device_class.name) is None


class BindingFailed(Exception):
    """A device cannot become ready; *condition* says why."""

    def __init__(self, condition: Condition) -> None:
        super().__init__(condition.message)
        self.condition = condition


def are_true(claim: ResourceClaim) -> bool:
    """Whether all binding conditions of the devices of *claim* are true. Raises BindingFailed."""
    results = claim.status.allocation.results if claim.status.allocation is not None else ()
    said = {(one.driver, one.pool, one.device): one.conditions for one in reversed(claim.status.devices)}
    for one in results:
        if not one.binding_conditions:
            continue
        if one.id not in said:
            return False
        holding = {condition.type: condition for condition in reversed(said[one.id]) if condition.status == "True"}
        for name in one.binding_failure_conditions:
            if name in holding:
                raise BindingFailed(holding[name])
        if not holding.keys() >= set(one.binding_conditions):
            return False
    return True
