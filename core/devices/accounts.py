"""The reason against each device that a node reaches, for people who ask why a claim cannot be served
there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...api.objects import DeviceSelector, ResourceClaim
from ...api.record import Count, Names, Record, field
from ..cluster.listings import DeviceId, held_by
from .allocationplan import Option, has_room
from .claimjudging import AllocationError
from .devicesearch import tolerates
from .nodedevices import Devices
from .pools import Pool, PoolDevice

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
    """An account of the devices on *row* for each request of *claims*; none where the requests themselves
    cannot be tried."""
    devices.pools.refresh()
    pools = devices.pools.of_row[row]
    try:
        plan = devices.planner().plan(claims, pools)
    except AllocationError:
        return ()
    reached = [(pool, device) for pool in pools for device in pool.devices]
    ids = {device.id for _, device in reached}
    known = devices.listings.resource_claims
    # Device -> the claim that has it for itself.
    users = {
        one.id: claim.key
        for claim in (*known, *known.pending.values())
        for one in held_by(claim)
        if one.id in ids
    }
    return tuple(
        _account(devices, claim, option, reached, users)
        for claim, requests in zip(claims, plan.requests, strict=True)
        for options in requests
        for option in options
    )


def _account(
    devices: Devices,
    claim: ResourceClaim,
    option: Option,
    reached: Sequence[tuple[Pool, PoolDevice]],
    users: dict[DeviceId, str],
) -> DeviceAccount:
    refused: dict[str, list[str]] = {}
    usable: list[str] = []
    for pool, device in reached:
        why = next(_objections(devices, claim, option, device, users), "")
        if not pool.is_whole(devices.cells) and not why.startswith(UNMATCHED):
            why = f"its pool is {'incomplete' if pool.is_incomplete else 'invalid'}"
        (refused.setdefault(why, []) if why else usable).append("/".join(device.id))
    return DeviceAccount(
        claim=claim.name,
        request=option.result_name,
        device_class=option.device_class.name,
        wanted=option.count,
        takes_all=option.all_devices is not None,
        usable=tuple(usable),
        refused=tuple(RefusedDevices(why, tuple(found)) for why, found in refused.items()),
    )


def _objections(
    devices: Devices, claim: ResourceClaim, option: Option, device: PoolDevice, users: dict[DeviceId, str]
) -> Iterator[str]:
    """The reasons against *device*, the first to count first."""
    make = device.make
    # The selector of the class, and that of the request, that does not match *device*.
    yield from _unmatched(
        devices, device, option.device_class.spec.selectors, f"class {option.device_class.name}"
    )
    yield from _unmatched(devices, device, option.request.selectors, "request")
    if not option.selects(make, devices.judge, devices.cells):
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
    consumed = devices.listings.resource_claims.consumed(device.id)
    if devices.cells.shares and not has_room(make.device, option.request, (consumed,)):
        yield "it has not as much capacity left"
    for constraint in claim.spec.devices.constraints:
        attribute = constraint.match_attribute or constraint.distinct_attribute or ""
        concerned = not constraint.requests or {option.base, option.result_name} & set(constraint.requests)
        if concerned and make.attribute(attribute) is None:
            yield f"it has no attribute {attribute}, which a constraint compares"


def _unmatched(
    devices: Devices, device: PoolDevice, selectors: Sequence[DeviceSelector], where: str
) -> Iterator[str]:
    try:
        number = devices.judge.refusing(device.make, selectors, where)
    except AllocationError as error:
        yield str(error)
        return
    if number is not None:
        yield f"{UNMATCHED}{where}: {selectors[number].expression}"
