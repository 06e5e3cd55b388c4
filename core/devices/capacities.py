"""Capacities of devices that several claims share: how much a request takes of each, and whether that is left.

Upstream: consumable_capacity.go in structured/internal/experimental. Amounts are in billionths.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...api.objects import CapacityRequestPolicy, Device, DeviceAsk, DeviceCapacity
from ...api.objects.quantity import Quantity, round_away

Amounts = Mapping[str, int]
"""Capacity -> how much of it."""
_ONE = 10**9


def has_room(device: Device, request: DeviceAsk, used: Iterable[Amounts | None]) -> bool:
    """Whether *device* has as much left as *request* would take, beside what is *used* of it. Without shares nothing else is used."""
    wanted = {} if request.capacity is None else request.capacity.requests
    if not wanted.keys() <= device.capacity.keys():
        return False
    there = [amounts for amounts in used if amounts]
    for name, taken in taken_by(request, device).items():
        capacity = device.capacity[name]
        if _violates(taken, capacity.request_policy) or taken + sum(one.get(name, 0) for one in there) > capacity.value.nanos:
            return False
    return True


def taken_by(request: DeviceAsk, device: Device) -> dict[str, int]:
    """What *request* takes of each capacity of *device*."""
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
    least, step = limits.min.value(), limits.step.value()
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
    return limits.step is not None and bool(limits.step) and (round_away(taken, _ONE) - least) % limits.step.value() != 0
