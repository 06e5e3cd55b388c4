"""The requests of claims, checked before the search: each with its class, its number of devices, and its
devices for mode All.

Upstream: the first part of Allocate, and validateDeviceRequest, in
structured/internal/experimental/allocator_experimental.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import attrs

from ...api.objects import (
    CapacityRequestPolicy,
    Device,
    DeviceAsk,
    DeviceCapacity,
    DeviceClass,
    DeviceRequest,
    ExactDeviceRequest,
    ResourceClaim,
)
from ...api.objects.quantity import Quantity, round_away
from ..cluster.listings import DeviceId
from ..release import DeviceCells
from .claimjudging import AllocationError, Judge
from .pools import Make, Pool, PoolDevice

# --- shared capacities --------------------------------------------------------------------------------------

# Capacities of devices that several claims share: how much a request takes of each, and whether that is left.
# Upstream: consumable_capacity.go in structured/internal/experimental. Amounts are in billionths.

Amounts = Mapping[str, int]
"""Capacity -> how much of it."""
_ONE = 10**9


def has_room(device: Device, request: DeviceAsk, used: Iterable[Amounts | None]) -> bool:
    """Whether *device* has as much left as *request* would take, beside what is *used* of it. Without shares
    nothing else is used."""
    wanted = {} if request.capacity is None else request.capacity.requests
    if not wanted.keys() <= device.capacity.keys():
        return False
    there = [amounts for amounts in used if amounts]
    for name, taken in taken_by(request, device).items():
        capacity = device.capacity[name]
        if (
            _violates(taken, capacity.request_policy)
            or taken + sum(one.get(name, 0) for one in there) > capacity.value.nanos
        ):
            return False
    return True


def taken_by(request: DeviceAsk, device: Device) -> dict[str, int]:
    """The amounts of each capacity of *device* that *request* takes."""
    wanted = {} if request.capacity is None else request.capacity.requests
    return {name: _taken(wanted.get(name), capacity) for name, capacity in device.capacity.items()}


def _taken(wanted: Quantity | None, capacity: DeviceCapacity) -> int:
    policy = capacity.request_policy
    if wanted is None:
        return (capacity.value if policy is None or policy.default is None else policy.default).nanos
    if policy is None:
        return wanted.nanos
    limits = policy.valid_range
    if limits is None or limits.min is None:
        return next((value.nanos for value in policy.valid_values if wanted <= value), wanted.nanos)
    if wanted < limits.min:
        return limits.min.nanos
    if not limits.step:
        return wanted.nanos
    least = limits.min.value()
    step = limits.step.value()
    return (least - (least - wanted.value()) // step * step) * _ONE


def _violates(taken: int, policy: CapacityRequestPolicy | None) -> bool:
    if policy is None or (policy.default is not None and taken == policy.default.nanos):
        return False
    limits = policy.valid_range
    if limits is None:
        return bool(policy.valid_values) and all(taken != value.nanos for value in policy.valid_values)
    if limits.max is not None and taken > limits.max.nanos:
        return True
    least = 0 if limits.min is None else limits.min.value()
    return (
        limits.step is not None
        and bool(limits.step)
        and (round_away(taken, _ONE) - least) % limits.step.value() != 0
    )


MOST_DEVICES = 32
"""The devices that a claim may have."""


@attrs.frozen(eq=False, repr=False)
class Option:
    """A request, or one of its alternatives, with what is to be taken for it."""

    claim: str
    """The claim, as ``namespace/name``."""
    name: str
    parent: str
    """The request of which it is an alternative; empty if it is none."""
    request: DeviceAsk
    device_class: DeviceClass
    count: int
    all_devices: Sequence[PoolDevice] | None = None
    """With mode All: the devices that match."""

    @property
    def admin(self) -> bool:
        """Devices in use may be taken."""
        return bool(self.request.admin_access)

    @property
    def base(self) -> str:
        """The name of the request."""
        return self.parent or self.name

    @property
    def alternative(self) -> str:
        """The name of the alternative; empty if it is none."""
        return self.name if self.parent else ""

    @property
    def result_name(self) -> str:
        """The request as the result names it."""
        return f"{self.parent}/{self.name}" if self.parent else self.name

    def selects(self, make: Make, judge: Judge, cells: DeviceCells) -> bool:
        """Whether the selectors of the class and of the request match *make*. Raises AllocationError."""
        if cells.leaves_binding_conditions and make.device.binding_conditions:
            return False
        of_class = judge.refusing(make, self.device_class.spec.selectors, f"class {self.device_class.name}")
        return (
            of_class is None and judge.refusing(make, self.request.selectors, f"claim {self.claim}") is None
        )


@attrs.frozen(eq=False, repr=False)
class NodeAllocationPlan:
    """The requests to be allocated from the pools of one node."""

    claims: Sequence[ResourceClaim]
    requests: Sequence[Sequence[Sequence[Option]]]
    """Claim -> request -> its alternatives."""

    @property
    def options(self) -> list[Option]:
        """The options of all requests."""
        return [option for requests in self.requests for options in requests for option in options]


@attrs.define(eq=False, repr=False)
class DevicePlanner:
    """Checks claims. The same for all nodes but for mode All."""

    class_of: Callable[[str], DeviceClass | None]
    cells: DeviceCells
    judge: Judge
    consumed: Callable[[DeviceId], Amounts | None]
    """How much of a device is in use."""
    _selected: dict[tuple[int, PoolDevice], bool] = attrs.Factory(dict)

    def plan(self, claims: Sequence[ResourceClaim], pools: Sequence[Pool]) -> NodeAllocationPlan:
        """The plan for *claims* on a node that reaches *pools*. Raises AllocationError."""
        return NodeAllocationPlan(claims, [self._claim(claim, pools) for claim in claims])

    def _claim(self, claim: ResourceClaim, pools: Sequence[Pool]) -> list[list[Option]]:
        requests = [self._options(claim, request, pools) for request in claim.spec.devices.requests]
        least = sum(min(option.count for option in options) for options in requests)
        if least > MOST_DEVICES:
            told = f"number of requested devices {least} exceeds the claim limit of {MOST_DEVICES}"
            raise AllocationError(f"claim {claim.key}: {told}")
        for number, constraint in enumerate(claim.spec.devices.constraints):
            if constraint.match_attribute is None and not (
                self.cells.distinct_attribute and constraint.distinct_attribute is not None
            ):
                raise AllocationError(
                    f"claim {claim.key}, constraint #{number}: empty constraint (unsupported constraint type?)"
                )
        return requests

    def _options(self, claim: ResourceClaim, request: DeviceRequest, pools: Sequence[Pool]) -> list[Option]:
        self._selected.clear()
        alternatives = request.first_available if self.cells.alternatives else ()
        if self.cells.refuses_capacity and not self.cells.shares:
            named = [f"subrequest {one.name}" for one in alternatives if one.capacity is not None]
            if request.exactly is not None and request.exactly.capacity is not None:
                named.insert(0, f"request {request.name}")
            if named:
                told = "has capacity requests, but the DRAConsumableCapacity feature is disabled"
                raise AllocationError(f"claim {claim.key}, {named[0]}: {told}")
        asked: list[tuple[str, str, DeviceAsk]] = [(one.name, request.name, one) for one in alternatives]
        asked = asked or [(request.name, "", request.exactly or ExactDeviceRequest())]
        # Upstream: which devices the second alternative matches is kept under the first one's number, up to
        # 1.35.
        apart = self.cells.alternatives_apart
        return [
            self._option(claim.key, *one, pools, i if apart else max(i - 1, 0)) for i, one in enumerate(asked)
        ]

    def _option(
        self, claim: str, name: str, parent: str, request: DeviceAsk, pools: Sequence[Pool], kept_under: int
    ) -> Option:
        where = f"claim {claim}, request {name}"
        option = Option(claim, name, parent, request, self._class_of(request, where), request.count)
        if request.allocation_mode == "All":
            found: list[PoolDevice] = []
            for pool in pools:
                told = "being updated" if pool.is_incomplete else "invalid" if pool.invalid else ""
                if told:
                    raise AllocationError(
                        f"{where}: asks for all devices, but resource pool {pool.driver}/{pool.name} is currently {told}"
                    )
                found += (
                    device
                    for device in pool.devices
                    if self._matches(option, device, kept_under)
                    and (
                        not self.cells.shares or has_room(device.device, request, (self.consumed(device.id),))
                    )
                )
            return attrs.evolve(option, count=len(found), all_devices=found)
        if request.allocation_mode != "ExactCount":
            raise AllocationError(f"{where}: unsupported count mode {request.allocation_mode}")
        return option

    def _class_of(self, request: DeviceAsk, where: str) -> DeviceClass:
        """The class of *request*, which is fit to be tried."""
        for number, selector in enumerate(request.selectors):
            if selector.expression is None:
                raise AllocationError(
                    f"{where}, selector #{number}: CEL expression empty (unsupported selector type?)"
                )
        if request.admin_access is not None and not self.cells.admin_access:
            raise AllocationError(f"{where}: admin access is requested, but the feature is disabled")
        if not request.device_class_name:
            raise AllocationError(f"{where}: missing device class name (unsupported request type?)")
        found = self.class_of(request.device_class_name)
        if found is None:
            missing = f'deviceclass.resource.k8s.io "{request.device_class_name}" not found'
            raise AllocationError(
                f"{where}: could not retrieve device class {request.device_class_name}: {missing}"
            )
        return found

    def _matches(self, option: Option, device: PoolDevice, kept_under: int) -> bool:
        key = kept_under, device
        found = self._selected.get(key)
        if found is None:
            matches = option.selects(device.make, self.judge, self.cells)
            found = self._selected[key] = matches and device.is_reached
        return found
