"""What stands against each device that a node reaches, for people who want to know why a claim cannot be served there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from ...api.objects import DeviceSelector, ResourceClaim
from ..cluster.resourceclaims import DeviceId, held_by
from .devices import Devices
from .judging import AllocationError
from .plan import DevicePlanner, NodeAllocationPlan, Option
from .pools import PoolDevice

USABLE = ""


@attrs.frozen
class DeviceAccount:
    """The devices of a node for one request, or one of its alternatives."""

    claim: str
    request: str
    device_class: str
    wanted: int
    """How many devices are asked for; with mode All every one that matches."""
    takes_all: bool
    matching: tuple[str, ...]
    """The devices that match, free or not, as ``driver/pool/device``."""
    usable: tuple[str, ...]
    """Those of them that can be had."""
    refused: dict[str, tuple[str, ...]]
    """Why -> the devices that are turned down for it: the first selector that does not match, who uses them, what they lack."""

    def record(self) -> dict[str, object]:
        """As plain data."""
        refused = [{"why": why, "devices": list(devices)} for why, devices in self.refused.items()]
        return {
            "claim": self.claim, "request": self.request, "class": self.device_class, "wanted": self.wanted, "all": self.takes_all,
            "usable": list(self.usable), "refused": refused,
        }  # fmt: skip


def accounts(devices: Devices, claims: Sequence[ResourceClaim], row: int) -> tuple[DeviceAccount, ...]:
    """An account of the devices on *row* for each request of *claims*; none where the requests themselves cannot be tried."""
    devices.pools.refresh()
    pools = devices.pools.of_row[row]
    try:
        plan = DevicePlanner(devices.listings.device_classes.get, devices.cells, devices.admin_access, devices.judge).plan(claims, pools)
    except AllocationError:
        return ()
    users = _users(devices, {device.id for pool in pools for device in pool.devices})
    reached = [device for pool in pools for device in pool.devices]
    options = [(claim, option) for claim, requests in zip(claims, plan.requests, strict=True) for found in requests for option in found]
    return tuple(_account(devices, claim, option, reached, users) for claim, option in options)


def _users(devices: Devices, reached: set[DeviceId]) -> dict[DeviceId, str]:
    """Device -> the claim that has it for itself."""
    claims = devices.listings.resource_claims
    return {device: claim.key for claim in (*claims, *claims.pending.values()) for device in held_by(claim) if device in reached}


def _account(
    devices: Devices, claim: ResourceClaim, option: Option, reached: Sequence[PoolDevice], users: dict[DeviceId, str]
) -> DeviceAccount:
    refused: dict[str, list[str]] = {}
    usable: list[str] = []
    matching: list[str] = []
    for device in reached:
        if not any(_mismatches(devices, option, device)):
            matching.append("/".join(device.id))
        why = next(_objections(devices, claim, option, device, users), USABLE)
        (refused.setdefault(why, []) if why else usable).append("/".join(device.id))
    named = {why: tuple(found) for why, found in refused.items()}
    return DeviceAccount(
        claim=claim.name, request=option.result_name, device_class=option.device_class.name, wanted=option.count,
        takes_all=option.all_devices is not None, matching=tuple(matching), usable=tuple(usable), refused=named,
    )  # fmt: skip


def _objections(devices: Devices, claim: ResourceClaim, option: Option, device: PoolDevice, users: dict[DeviceId, str]) -> Iterator[str]:
    """What stands against *device*, what counts first."""
    make = device.make
    yield from _mismatches(devices, option, device)
    if not NodeAllocationPlan.is_selectable(option, device, devices.judge, devices.cells):
        yield "it has binding conditions"
    if devices.cells.leaves_counted_devices and make.device.consumes_counters:
        yield "it consumes counters"
    if device.id in users and not option.admin:
        yield f"used by claim {users[device.id]}"
    for constraint in claim.spec.devices.constraints:
        attribute = constraint.match_attribute or constraint.distinct_attribute or ""
        concerned = not constraint.requests or {option.base, option.result_name} & set(constraint.requests)
        if concerned and make.attribute(attribute) is None:
            yield f"it has no attribute {attribute}, which a constraint compares"


def _mismatches(devices: Devices, option: Option, device: PoolDevice) -> Iterator[str]:
    """The selector of the class, and that of the request, that does not match *device*."""
    yield from _unmatched(devices, device, option.device_class.spec.selectors, f"class {option.device_class.name}")
    yield from _unmatched(devices, device, option.request.selectors, "request")


def _unmatched(devices: Devices, device: PoolDevice, selectors: Sequence[DeviceSelector], where: str) -> Iterator[str]:
    try:
        number = devices.judge.refusing(device.make, selectors, where)
    except AllocationError as error:
        yield str(error)
        return
    if number is not None:
        yield f"selector of {where}: {selectors[number].expression}"
