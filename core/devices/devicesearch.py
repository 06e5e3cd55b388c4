"""The search for devices: claim by claim, request by request, device by device, the first that can be had;
back up where none can.

Upstream: structured/internal/experimental/allocator_experimental.go; up to 1.33 structured/allocator.go.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

from attrs import Factory, define, evolve, field, frozen

from ...api.objects import (
    CapacityRequestPolicy,
    Device,
    DeviceAsk,
    DeviceAttribute,
    DeviceCapacity,
    DeviceClass,
    DeviceConstraint,
    DeviceRequest,
    ExactDeviceRequest,
    Quantity,
    ResourceClaim,
    round_away,
)
from ..cluster.listings import DeviceId, ResourceClaims
from ..release import DeviceCells
from .claimjudging import AllocationError, Judge
from .pools import CounterId, Make, Pool, PoolDevice

# --- The requests of claims, checked before the search ------------------------------------------------------
# Each has its class, its number of devices, and its devices for mode All. Upstream: the first part of
# Allocate, and validateDeviceRequest, in structured/internal/experimental/allocator_experimental.go.


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


@frozen(eq=False, repr=False)
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


Wanted = Sequence[Sequence[Sequence[Option]]]
"""Claim -> request -> its alternatives, to be allocated from the pools of one node."""


@define(eq=False, repr=False)
class DevicePlanner:
    """Checks claims. The same for all nodes but for mode All."""

    class_of: Callable[[str], DeviceClass | None]
    cells: DeviceCells
    judge: Judge
    consumed: Callable[[DeviceId], Amounts | None]
    """How much of a device is in use."""
    _selected: dict[tuple[int, PoolDevice], bool] = Factory(dict)

    def plan(self, claims: Sequence[ResourceClaim], pools: Sequence[Pool]) -> Wanted:
        """The requests of *claims* on a node that reaches *pools*. Raises AllocationError."""
        return [self._claim(claim, pools) for claim in claims]

    def _claim(self, claim: ResourceClaim, pools: Sequence[Pool]) -> list[list[Option]]:
        requests = [self._options(claim, request, pools) for request in claim.spec.devices.requests]
        least = sum(min(option.count for option in options) for options in requests)
        if least > MOST_DEVICES:
            raise AllocationError(
                f"claim {claim.key}: number of requested devices {least} exceeds the claim limit of {MOST_DEVICES}"
            )
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
                raise AllocationError(
                    f"claim {claim.key}, {named[0]}: has capacity requests, but the DRAConsumableCapacity feature is disabled"
                )
        asked: list[tuple[str, str, DeviceAsk]] = [(one.name, request.name, one) for one in alternatives]
        asked = asked or [(request.name, "", request.exactly or ExactDeviceRequest())]
        # Upstream: which devices the second alternative matches is kept under the first one's number, up to
        # 1.35.
        return [
            self._option(claim.key, *one, pools, i if self.cells.alternatives_apart else max(i - 1, 0))
            for i, one in enumerate(asked)
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
            return evolve(option, count=len(found), all_devices=found)
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
            name = request.device_class_name
            raise AllocationError(
                f'{where}: could not retrieve device class {name}: deviceclass.resource.k8s.io "{name}" not found'
            )
        return found

    def _matches(self, option: Option, device: PoolDevice, kept_under: int) -> bool:
        key = kept_under, device
        found = self._selected.get(key)
        if found is None:
            found = option.selects(device.make, self.judge, self.cells) and device.is_reached
            self._selected[key] = found
        return found


# --- The search ---------------------------------------------------------------------------------------------


CLOCK_EVERY = 256
"""Devices that are tried between two looks at the clock."""


@define(eq=False, repr=False)
class Together:
    """A constraint while devices come and go.

    Upstream: matchAttributeConstraint and distinctAttributeConstraint in structured/internal/experimental.
    """

    constraint: DeviceConstraint
    compares_distinct: bool
    _value: DeviceAttribute | None = None
    """The value of those devices that are there."""
    _count: int = 0
    _distinct: dict[str, DeviceAttribute] = Factory(dict)
    """Request -> the value that no other device may have."""

    def add(self, request: str, alternative: str, make: Make) -> bool:
        """Count a device for *request*, or for one of its alternatives, if it may come; gives whether it may."""
        if not self._concerns(request, alternative):
            return True
        value = self.value_of(make)
        if value is None:
            return False
        if self.is_compared:
            if self._count and (not value.type or value in self._distinct.values()):
                return False
            # Upstream: of the devices of one request the latest counts, and once it is given back none does.
            self._distinct[request] = value
        elif not self._count:
            self._value = value
        # Upstream: up to 1.34 a distinct attribute is compared by where values are stored, so that no two
        # devices have the same.
        elif self.constraint.match_attribute is not None and (not value.type or value != self._value):
            return False
        self._count += 1
        return True

    def remove(self, request: str, alternative: str) -> None:
        """Undo an :meth:`add` that counted a device."""
        if self._concerns(request, alternative):
            self._count -= 1
            self._distinct.pop(request, None)

    @property
    def is_compared(self) -> bool:
        """Values have to be distinct. What may come then depends on the order in which devices came."""
        return self.compares_distinct and self.constraint.match_attribute is None

    def value_of(self, make: Make) -> DeviceAttribute | None:
        """The value of devices of *make* that is compared."""
        return make.attribute(self.constraint.match_attribute or self.constraint.distinct_attribute or "")

    def _concerns(self, request: str, alternative: str) -> bool:
        named = self.constraint.requests
        return not named or request in named or (bool(alternative) and f"{request}/{alternative}" in named)


class Taken(NamedTuple):
    """A device that was chosen, and for what; where it is shared, with what is taken of it."""

    device: PoolDevice
    option: Option
    consumed: Amounts | None = None
    has_counters: bool = False
    """Counters were taken for it."""


class DeviceSlot(NamedTuple):
    """The device that is looked for: of which claim, request and alternative, and which one of them."""

    claim: int
    request: int = 0
    option: int = 0
    device: int = 0
    start: int = 0
    """The place among all devices from which on it is looked for."""


class _TooMany(Exception):
    """The claim would have more devices than it may."""


class SearchTimeout(Exception):
    """The search took longer than it may."""


class _Stop(Exception):
    """There is no way to have all devices."""


Outcome = Sequence[Sequence[Taken]]


@define(eq=False, repr=False)
class DeviceSearch:
    """One search, for the devices that one node reaches."""

    asking: Sequence[ResourceClaim]
    wanted: Wanted
    pools: Sequence[Pool]
    claims: ResourceClaims
    cells: DeviceCells
    judge: Judge
    ends_at: float = float("inf")
    """When it ends without an answer, by the monotonic clock."""
    taken: list[list[Taken]] = field(init=False)
    """By claim."""
    _options: Sequence[Option] = field(init=False)
    _together: list[list[Together]] = field(init=False)
    _holders: dict[DeviceId, set[int]] = Factory(dict)
    """Device -> the claims that take it."""
    _may_skip: bool = field(init=False)
    """A device like one that led nowhere leads nowhere too."""
    _dead_ends: set[Hashable] = Factory(set)
    """What was taken where it led nowhere, as :meth:`_state` says it."""
    _kinds: dict[int, Hashable] = Factory(dict)
    """Number of a make -> all that this search reads of its devices."""
    _shared: dict[DeviceId, list[Amounts]] = Factory(dict)
    """Device -> what this search takes of it."""
    _counters: dict[str, dict[CounterId, int]] = Factory(dict)
    """Name of a pool -> what is left of its counters."""
    _devices: Sequence[tuple[Pool, PoolDevice]] = field(init=False)
    """Those that may be taken, in order."""
    _tries: int = 0

    def __attrs_post_init__(self) -> None:
        self._devices = [
            (pool, device) for pool in self.pools if pool.is_whole(self.cells) for device in pool.devices
        ]
        self.taken = [[] for _ in self.asking]
        self._together = [
            [Together(one, self.cells.compares_distinct) for one in claim.spec.devices.constraints]
            for claim in self.asking
        ]
        # Where something leaves its marks, what comes later depends on the way that led there.
        self._options = [option for requests in self.wanted for options in requests for option in options]
        takes_all = any(option.all_devices is not None for option in self._options)
        self._may_skip = not (
            (takes_all and not self.cells.all_gives_back)
            or (self.cells.keeps_counters and any(pool.counters for pool in self.pools))
            or any(one.is_compared for claim in self._together for one in claim)
        )

    def run(self) -> Outcome | None:
        """The devices of each claim; None where they cannot be had. Raises AllocationError, and
        SearchTimeout."""
        try:
            return self.taken if self._go_on(DeviceSlot(0), False) else None
        except _Stop:
            return None
        except _TooMany:
            # Upstream: where that is found in the first claim, it comes out as an error.
            raise AllocationError("allocation max size exceeded") from None

    def _go_on(self, place: DeviceSlot, is_chosen: bool) -> bool:
        """Choose the devices from *place* on; *is_chosen*: which alternative is tried is settled."""
        if place.claim == len(self.wanted):
            return True
        requests = self.wanted[place.claim]
        if place.request == len(requests):
            try:
                return self._go_on(DeviceSlot(place.claim + 1), False)
            except _TooMany:
                return False
        options = requests[place.request]
        option = options[place.option]
        if option.parent and not is_chosen:
            is_too_many = True
            for number in range(len(options)):
                try:
                    if self._go_on(place._replace(option=number), True):
                        return True
                    is_too_many = False
                except _TooMany:
                    continue
            if is_too_many:
                raise _TooMany
            return False
        if option.all_devices is not None and not option.all_devices and self.cells.all_wants_one:
            return False
        if place.device >= option.count:
            return self._go_on(DeviceSlot(place.claim, place.request + 1), False)
        if not self._has_room(place, option):
            return False
        if option.all_devices is not None:
            return self._take_all(place, option, is_chosen)
        return self._take_one(place, option, is_chosen)

    def _has_room(self, place: DeviceSlot, option: Option) -> bool:
        there = len(self.taken[place.claim])
        if self.cells.room == "again":
            # Upstream: the devices of this request that were chosen already count twice.
            return there + option.count <= MOST_DEVICES
        if self.cells.room == "left" and there + option.count - place.device > MOST_DEVICES:
            raise _TooMany
        return True

    # --- one device -----------------------------------------------------------------------------------------

    def _take_all(self, place: DeviceSlot, option: Option, is_chosen: bool) -> bool:
        assert option.all_devices is not None
        device = option.all_devices[place.device]
        before = len(self.taken[place.claim])
        if not self._take(place.claim, option, device, must=True):
            if self.cells.all_stops:
                raise _Stop
            return False
        is_done = False
        try:
            # Upstream: up to 1.35 it goes on with the first alternative from the second device on, whichever
            # was being tried.
            number = place.option if self.cells.alternatives_apart else 0
            is_done = self._go_on(DeviceSlot(place.claim, place.request, number, place.device + 1), is_chosen)
        finally:
            if not is_done and self.cells.all_gives_back:
                self._give_back(place.claim, before)
        return is_done

    def _take_one(self, place: DeviceSlot, option: Option, is_chosen: bool) -> bool:
        led_nowhere = set()
        for at, (pool, device) in enumerate(self._devices[place.start :], place.start):
            if pool.invalid and self.cells.invalid_pool_errs:
                raise AllocationError(pool.invalid_text)
            if not (
                self._is_free(place.claim, option, device)
                and option.selects(device.make, self.judge, self.cells)
                and device.is_reached
                and self._has_capacity(option, device)
            ):
                continue
            if pool.invalid:
                raise AllocationError(pool.invalid_text)
            self._tries += 1
            if not self._tries % CLOCK_EVERY and time.monotonic() > self.ends_at:
                raise SearchTimeout
            alike = (
                self._alike(device),
                frozenset(self._holders.get(device.id, ())),
                tuple(tuple(amounts.items()) for amounts in self._shared.get(device.id, ())),
            )
            if alike in led_nowhere or not self._take(place.claim, option, device):
                continue
            after = place._replace(device=place.device + 1, start=at + 1 if self.cells.one_way else 0)
            # Go on at place with the device that was taken last; else give it back.
            is_done = False
            before = len(self.taken[after.claim]) - 1
            try:
                is_dead = bool(self._dead_ends) and self._state(after) in self._dead_ends
                is_done = not is_dead and self._go_on(after, is_chosen)
                if not is_done and not is_dead and self._may_skip:
                    self._dead_ends.add(self._state(after))
            finally:
                if not is_done:
                    self._give_back(after.claim, before)
            if is_done:
                return True
            if self._may_skip:
                led_nowhere.add(alike)
        return False

    def _alike(self, device: PoolDevice) -> Hashable:
        """Equal for devices that lead to the same end: those that take counters do so from their pool."""
        return (
            self._kind(device.make),
            device.is_reached,
            device.id[1] if device.make.device.consumes_counters else "",
            self.claims.has_whole(device.id, self.cells.shares),
            tuple(sorted((self._consumed(device.id) or {}).items())),
        )

    def _consumed(self, device: DeviceId) -> Amounts | None:
        """The amounts of a shared device that claims have."""
        return self.claims.consumed(device) if self.cells.shares and self.claims.shares else None

    def _kind(self, make: Make) -> Hashable:
        """All that this search reads of devices of *make*. Devices of one kind lead to the same end.

        Drivers give each device an attribute of its own, such as its UUID, which hardly any claim asks for:
        by that alone each device would be of a kind of its own, and n requests that cannot all be met would
        be tried with all orders of the devices.
        """
        found = self._kinds.get(make.number)
        if found is None:
            matches: list[bool | str] = []
            for option in self._options:
                try:
                    matches.append(option.selects(make, self.judge, self.cells))
                except AllocationError as error:
                    matches.append(str(error))
            values = [one.value_of(make) for claim in self._together for one in claim]
            device = make.device
            found = self._kinds[make.number] = (
                tuple(matches),
                tuple(values),
                device.consumes_counters,
                (device.allow_multiple_allocations, device.capacity) if self.cells.shares else None,
                device.taints if self.cells.taints else None,
            )
        return found

    def _state(self, place: DeviceSlot) -> Hashable:
        """*place*, and how many devices of each kind were taken for what. Searches from equal states end
        alike."""
        users: dict[DeviceId, list[tuple[int, str]]] = {}
        kinds: dict[DeviceId, Hashable] = {}
        for claim, found in enumerate(self.taken):
            for one in found:
                users.setdefault(one.device.id, []).append((claim, one.option.result_name))
                kinds[one.device.id] = self._alike(one.device)
        return place, frozenset(
            Counter((kinds[device], tuple(used)) for device, used in users.items()).items()
        )

    def _has_capacity(self, option: Option, device: PoolDevice) -> bool:
        used = (self._consumed(device.id), *self._shared.get(device.id, ()))
        return not self.cells.shares or has_room(device.device, option.request, used)

    def _is_free(self, claim: int, option: Option, device: PoolDevice) -> bool:
        holders = self._holders.get(device.id)
        if option.admin:
            return not (self.cells.admin_takes_once and holders and claim in holders)
        return not holders and not self.claims.has_whole(device.id, self.cells.shares)

    def _take(self, claim: int, option: Option, device: PoolDevice, *, must: bool = False) -> bool:
        """Take *device* if it is free and nothing is against it; gives whether it was taken."""
        found = device.make.device
        if not self._is_free(claim, option, device) or (
            self.cells.leaves_counted_devices and found.consumes_counters
        ):
            return False
        is_shared = self.cells.shares and found.allow_multiple_allocations
        in_use = is_shared and bool(self._consumed(device.id) or self._shared.get(device.id))
        has_counters = bool(found.consumes_counters) and not in_use
        if has_counters and not self._take_counters(device):
            return False
        if not self._may_go_together(claim, option, device, must):
            # Upstream: up to 1.35 a device that is turned down keeps its counters.
            if has_counters and not self.cells.keeps_counters:
                self._add_counters(device, 1)
            return False
        consumed = taken_by(option.request, found) if is_shared else None
        if consumed is not None:
            self._shared.setdefault(device.id, []).append(consumed)
        elif not option.admin or self.cells.admin_takes_once:
            self._holders.setdefault(device.id, set()).add(claim)
        self.taken[claim].append(Taken(device, option, consumed, has_counters))
        return True

    def _may_go_together(self, claim: int, option: Option, device: PoolDevice, must: bool) -> bool:
        """Whether no taint, no constraint and no capacity is against *device*, which is then counted by all
        constraints."""
        if self.cells.taints and not tolerates(option, device.make.device):
            return False
        together = self._together[claim]
        for number, constraint in enumerate(together):
            if constraint.add(option.base, option.alternative, device.make):
                continue
            for before in together[:number]:
                before.remove(option.base, option.alternative)
            if must:
                raise AllocationError(
                    f"claim {option.claim}, request {option.name}: cannot add device {'/'.join(device.id)}"
                    " because a claim constraint would not be satisfied"
                )
            return False
        if self._has_capacity(option, device):
            return True
        for constraint in together if not self.cells.keeps_counters else ():
            constraint.remove(option.base, option.alternative)
        return False

    def _give_back(self, claim: int, before: int) -> None:
        """Undo the last :meth:`_take`, before which the claim had that many devices."""
        # Where mode All leaves its marks, what it took is still on the list.
        device, option, consumed, has_counters = self.taken[claim][before]
        for constraint in self._together[claim]:
            constraint.remove(option.base, option.alternative)
        if consumed is not None:
            self._shared[device.id].pop()
        elif not option.admin or self.cells.admin_takes_once:
            self._holders[device.id].discard(claim)
        if has_counters and not (self.cells.keeps_counters and consumed is not None):
            self._add_counters(device, 1)
        del self.taken[claim][before:]

    # --- counters -------------------------------------------------------------------------------------------

    def _take_counters(self, device: PoolDevice) -> bool:
        """Take what *device* needs of the counters of its pool, if no counter lacks then."""
        name = device.id[1]
        if name not in self._counters:
            # Upstream: pools are told apart by name alone, so that the first of a name gives the counters.
            pool = next(pool for pool in self.pools if pool.name == name and device.id[0] == pool.driver)
            self._counters[name] = dict(pool.counters)
            for one in (*pool.devices, *pool.elsewhere):
                # It takes counters because claims have it.
                if self.claims.has_whole(one.id, self.cells.shares and self.cells.keeps_counters):
                    self._add_counters(one, -1)
        self._add_counters(device, -1)
        if min(self._counters[name].values(), default=0) >= 0:
            return True
        self._add_counters(device, 1)
        return False

    def _add_counters(self, device: PoolDevice, sign: int) -> None:
        left = self._counters[device.id[1]]
        for taken in device.make.device.consumes_counters:
            for name, counter in taken.counters.items():
                if (taken.counter_set, name) in left:
                    left[taken.counter_set, name] += sign * counter.value.nanos


def tolerates(option: Option, device: Device) -> bool:
    """Whether *option* tolerates all taints of *device*."""
    against = (taint for taint in device.taints if taint.effect in ("NoSchedule", "NoExecute"))
    return all(any(one.tolerates(taint) for one in option.request.tolerations) for taint in against)
