"""The search for devices: claim by claim, request by request, device by device, the first that is possible;
it backs up where none is.

Upstream: structured/internal/experimental/allocator_experimental.go; up to 1.33 structured/allocator.go.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

from attrs import Factory, define, evolve, field, frozen

from ...api.objects import (
    Device,
    DeviceAsk,
    DeviceAttribute,
    DeviceClass,
    DeviceConstraint,
    DeviceRequest,
    ExactDeviceRequest,
    ResourceClaim,
)
from ..cluster.listings import DeviceId, ResourceClaims
from ..release import DeviceCells
from .claimjudging import AllocationError, Judge
from .pools import Amounts, CounterId, DeviceModel, Pool, PoolDevice, has_room, taken_by

# --- The requests of claims, checked before the search ------------------------------------------------------
# Each has its class, its number of devices, and its devices for mode All. Upstream: the first part of
# Allocate, and validateDeviceRequest, in structured/internal/experimental/allocator_experimental.go.


MOST_DEVICES = 32
"""The most devices of a claim."""


@frozen(eq=False, repr=False)
class Option:
    """A request, or one of its alternatives, with the devices to take for it."""

    claim: str
    """The claim, as ``namespace/name``."""
    name: str
    parent: str
    """The request that it is an alternative of; empty if it is none."""
    request: DeviceAsk
    device_class: DeviceClass
    count: int
    all_devices: Sequence[PoolDevice] | None = None
    """With mode All: the devices that match."""

    @property
    def admin(self) -> bool:
        """Whether devices in use may be taken."""
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
        """The name of the request in the result."""
        return f"{self.parent}/{self.name}" if self.parent else self.name

    def selects(self, model: DeviceModel, judge: Judge, cells: DeviceCells) -> bool:
        """Whether the selectors of the class and of the request match *model*. Raises AllocationError."""
        if cells.leaves_binding_conditions and model.device.binding_conditions:
            return False
        of_class = judge.first_mismatch(
            model, self.device_class.spec.selectors, f"class {self.device_class.name}"
        )
        return (
            of_class is None
            and judge.first_mismatch(model, self.request.selectors, f"claim {self.claim}") is None
        )


OptionsByClaim = Sequence[Sequence[Sequence[Option]]]
"""Claim -> request -> its alternatives, to be allocated from the pools of one node."""


@define(eq=False, repr=False)
class DevicePlanner:
    """The check of claims. It is the same for all nodes except with mode All."""

    class_of: Callable[[str], DeviceClass | None]
    cells: DeviceCells
    judge: Judge
    consumed: Callable[[DeviceId], Amounts | None]
    """The amounts of a device that are in use."""
    _matches_by_device: dict[tuple[int, PoolDevice], bool] = Factory(dict)

    def plan(self, claims: Sequence[ResourceClaim], pools: Sequence[Pool]) -> OptionsByClaim:
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
        self._matches_by_device.clear()
        alternatives = request.first_available if self.cells.alternatives else ()
        asks: list[tuple[str, str, DeviceAsk]] = [(sub.name, request.name, sub) for sub in alternatives]
        asks = asks or [(request.name, "", request.exactly or ExactDeviceRequest())]
        refused = [f"{'sub' if parent else ''}request {name}" for name, parent, ask in asks if ask.capacity]
        if refused and self.cells.refuses_capacity and not self.cells.shares:
            where = refused[0] if self.cells.refuses_capacity == "alternative" else f"request {request.name}"
            raise AllocationError(
                f"claim {claim.key}, {where}: has capacity requests, but the DRAConsumableCapacity feature is disabled"
            )
        # Upstream: up to 1.35 the matches of the second alternative are kept under the first one's number.
        return [
            self._option(claim.key, *ask, pools, i if self.cells.alternatives_apart else max(i - 1, 0))
            for i, ask in enumerate(asks)
        ]

    def _option(
        self, claim: str, name: str, parent: str, request: DeviceAsk, pools: Sequence[Pool], kept_under: int
    ) -> Option:
        where = f"claim {claim}, request {name}"
        option = Option(claim, name, parent, request, self._class_of(request, where), request.count)
        if request.allocation_mode == "All":
            matching: list[PoolDevice] = []
            for pool in pools:
                state = "being updated" if pool.is_incomplete else "invalid" if pool.invalid else ""
                if state:
                    raise AllocationError(
                        f"{where}: asks for all devices, but resource pool {pool.driver}/{pool.name} is currently {state}"
                    )
                matching += (
                    device
                    for device in pool.devices
                    if self._matches(option, device, kept_under)
                    and (
                        not self.cells.shares or has_room(device.device, request, (self.consumed(device.id),))
                    )
                )
            return evolve(option, count=len(matching), all_devices=matching)
        if request.allocation_mode != "ExactCount":
            raise AllocationError(f"{where}: unsupported count mode {request.allocation_mode}")
        return option

    def _class_of(self, request: DeviceAsk, where: str) -> DeviceClass:
        """The class of *request*, which is checked to be fit for a search."""
        for number, selector in enumerate(request.selectors):
            if selector.expression is None:
                raise AllocationError(
                    f"{where}, selector #{number}: CEL expression empty (unsupported selector type?)"
                )
        if request.admin_access is not None and not self.cells.admin_access:
            raise AllocationError(f"{where}: admin access is requested, but the feature is disabled")
        if not request.device_class_name:
            raise AllocationError(f"{where}: missing device class name (unsupported request type?)")
        device_class = self.class_of(request.device_class_name)
        if device_class is None:
            name = request.device_class_name
            raise AllocationError(
                f'{where}: could not retrieve device class {name}: deviceclass.resource.k8s.io "{name}" not found'
            )
        return device_class

    def _matches(self, option: Option, device: PoolDevice, kept_under: int) -> bool:
        key = kept_under, device
        matches = self._matches_by_device.get(key)
        if matches is None:
            matches = option.selects(device.model, self.judge, self.cells) and device.is_reached
            self._matches_by_device[key] = matches
        return matches


# --- The search ---------------------------------------------------------------------------------------------


CLOCK_EVERY = 256
"""The number of devices tried between two looks at the clock."""


@define(eq=False, repr=False)
class ConstraintState:
    """A constraint while devices come and go.

    Upstream: matchAttributeConstraint and distinctAttributeConstraint in structured/internal/experimental.
    """

    constraint: DeviceConstraint
    compares_distinct: bool
    _value: DeviceAttribute | None = None
    """The value of the devices counted so far."""
    _count: int = 0
    _distinct: dict[str, DeviceAttribute] = Factory(dict)
    """Request -> the value that no other device may have."""

    def add(self, request: str, alternative: str, model: DeviceModel) -> bool:
        """Count a device for *request*, or one of its alternatives, if the constraint allows it. Returns
        whether it does."""
        if not self._concerns(request, alternative):
            return True
        value = self.value_of(model)
        if value is None:
            return False
        if self.is_compared:
            if self._count and (not value.type or value in self._distinct.values()):
                return False
            # Upstream: of several devices of one request the latest counts, and none does once it is given
            # back.
            self._distinct[request] = value
        elif not self._count:
            self._value = value
        # Upstream: up to 1.34 a distinct attribute is compared by the addresses of its values, so that no two
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
        """Whether values have to be distinct. Which devices may follow then depends on the order of the
        earlier ones."""
        return self.compares_distinct and self.constraint.match_attribute is None

    def value_of(self, model: DeviceModel) -> DeviceAttribute | None:
        """The value to compare, of devices of *model*."""
        return model.attribute(self.constraint.match_attribute or self.constraint.distinct_attribute or "")

    def _concerns(self, request: str, alternative: str) -> bool:
        names = self.constraint.requests
        return not names or request in names or (bool(alternative) and f"{request}/{alternative}" in names)


class TakenDevice(NamedTuple):
    """A chosen device with the request that it is for; where it is shared, also the amounts taken of it."""

    device: PoolDevice
    option: Option
    consumed: Amounts | None = None
    has_counters: bool = False
    """Whether counters were taken for it."""


class DeviceSlot(NamedTuple):
    """The device to find: its claim, request and alternative, and its number among the devices of these."""

    claim: int
    request: int = 0
    option: int = 0
    device: int = 0
    start: int = 0
    """The place among all devices where the search for it starts."""


class _TooMany(Exception):
    """The claim would exceed the limit of devices."""


class SearchTimeout(Exception):
    """The search exceeded its time limit."""


class _Stop(Exception):
    """No choice gives all devices."""


Outcome = Sequence[Sequence[TakenDevice]]


@define(eq=False, repr=False)
class DeviceSearch:
    """One search, for the devices that one node reaches."""

    asking: Sequence[ResourceClaim]
    wanted: OptionsByClaim
    pools: Sequence[Pool]
    claims: ResourceClaims
    cells: DeviceCells
    judge: Judge
    ends_at: float = float("inf")
    """The time limit by the monotonic clock, at which it ends without an answer."""
    taken: list[list[TakenDevice]] = field(init=False)
    """Claim's place -> its chosen devices."""
    _options: Sequence[Option] = field(init=False)
    _constraints: list[list[ConstraintState]] = field(init=False)
    _holders: dict[DeviceId, set[int]] = Factory(dict)
    """Device -> the claims that take it."""
    _may_skip: bool = field(init=False)
    """Whether a device like one that led nowhere leads nowhere too."""
    _dead_ends: set[Hashable] = Factory(set)
    """States of the search that led nowhere: see :meth:`_state`."""
    _kind_by_model: dict[int, Hashable] = Factory(dict)
    """Number of a model -> all that this search reads of its devices."""
    _shared: dict[DeviceId, list[Amounts]] = Factory(dict)
    """Device -> the amounts that this search takes of it."""
    _counters: dict[str, dict[CounterId, int]] = Factory(dict)
    """Name of a pool -> the amounts left of its counters."""
    _devices: Sequence[tuple[Pool, PoolDevice]] = field(init=False)
    """The devices that may be taken, in order."""
    _tries: int = 0

    def __attrs_post_init__(self) -> None:
        self._devices = [
            (pool, device) for pool in self.pools if pool.is_whole(self.cells) for device in pool.devices
        ]
        self.taken = [[] for _ in self.asking]
        self._constraints = [
            [
                ConstraintState(constraint, self.cells.compares_distinct)
                for constraint in claim.spec.devices.constraints
            ]
            for claim in self.asking
        ]
        self._options = [option for requests in self.wanted for options in requests for option in options]
        # Where a search leaves marks behind, its outcome depends on the way that led to a state. Mode All
        # takes its devices in order, so it also counts which of them were taken before.
        self._may_skip = not (
            any(
                option.all_devices is not None
                and (
                    constraints
                    or not self.cells.all_gives_back
                    or (len(options) > 1 and not self.cells.alternatives_apart)
                )
                for constraints, requests in zip(self._constraints, self.wanted, strict=True)
                for options in requests
                for option in options
            )
            or (self.cells.keeps_counters and any(pool.counters for pool in self.pools))
            or any(constraint.is_compared for claim in self._constraints for constraint in claim)
        )

    def run(self) -> Outcome | None:
        """The devices of each claim; None where not all are possible. Raises AllocationError, and
        SearchTimeout."""
        # Every claim, request and device is up to two calls deeper. The limit is not lowered again, as
        # another thread may be searching, too.
        depth = 4 * sum(MOST_DEVICES + len(requests) for requests in self.wanted)
        sys.setrecursionlimit(max(sys.getrecursionlimit(), 500 + depth))
        try:
            return self.taken if self._allocate_from(DeviceSlot(0), False) else None
        except _Stop:
            return None
        except _TooMany:
            # Upstream: if the first claim exceeds it, that becomes an error.
            raise AllocationError("allocation max size exceeded") from None

    def _allocate_from(self, place: DeviceSlot, is_chosen: bool) -> bool:
        """Choose the devices from *place* on; *is_chosen*: the alternative is already chosen."""
        if place.claim == len(self.wanted):
            return True
        requests = self.wanted[place.claim]
        if place.request == len(requests):
            try:
                return self._allocate_from(DeviceSlot(place.claim + 1), False)
            except _TooMany:
                return False
        options = requests[place.request]
        option = options[place.option]
        if option.parent and not is_chosen:
            is_too_many = True
            for number in range(len(options)):
                try:
                    if self._allocate_from(place._replace(option=number), True):
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
            return self._allocate_from(DeviceSlot(place.claim, place.request + 1), False)
        if not self._has_room(place, option):
            return False
        if option.all_devices is not None:
            return self._take_all(place, option, is_chosen)
        return self._take_one(place, option, is_chosen)

    def _has_room(self, place: DeviceSlot, option: Option) -> bool:
        taken_count = len(self.taken[place.claim])
        if self.cells.room == "again":
            # Upstream: devices of this request that are already chosen count twice.
            return taken_count + option.count <= MOST_DEVICES
        if self.cells.room == "left" and taken_count + option.count - place.device > MOST_DEVICES:
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
            # Upstream: up to 1.35 the search goes on with the first alternative from the second device on,
            # whichever was being tried.
            number = place.option if self.cells.alternatives_apart else 0
            is_done = self._allocate_from(
                DeviceSlot(place.claim, place.request, number, place.device + 1), is_chosen
            )
        finally:
            if not is_done and self.cells.all_gives_back:
                self._give_back(place.claim, before)
        return is_done

    def _take_one(self, place: DeviceSlot, option: Option, is_chosen: bool) -> bool:
        dead_kinds = set()
        for at, (pool, device) in enumerate(self._devices[place.start :], place.start):
            if pool.invalid and self.cells.invalid_pool_errs:
                raise AllocationError(pool.invalid_text)
            if not (
                self._is_free(place.claim, option, device)
                and option.selects(device.model, self.judge, self.cells)
                and device.is_reached
                and self._has_capacity(option, device)
            ):
                continue
            if pool.invalid:
                raise AllocationError(pool.invalid_text)
            self._tries += 1
            if not self._tries % CLOCK_EVERY and time.monotonic() > self.ends_at:
                raise SearchTimeout
            kind = (
                self._device_kind(device),
                frozenset(self._holders.get(device.id, ())),
                tuple(tuple(amounts.items()) for amounts in self._shared.get(device.id, ())),
            )
            if kind in dead_kinds or not self._take(place.claim, option, device):
                continue
            after = place._replace(device=place.device + 1, start=at + 1 if self.cells.one_way else 0)
            # Go on at *place* with the device that was taken last, or give it back.
            is_done = False
            before = len(self.taken[after.claim]) - 1
            try:
                is_dead = bool(self._dead_ends) and self._state(after) in self._dead_ends
                is_done = not is_dead and self._allocate_from(after, is_chosen)
                if not is_done and not is_dead and self._may_skip:
                    self._dead_ends.add(self._state(after))
            finally:
                if not is_done:
                    self._give_back(after.claim, before)
            if is_done:
                return True
            if self._may_skip:
                dead_kinds.add(kind)
        return False

    def _device_kind(self, device: PoolDevice) -> Hashable:
        """A key that is equal for devices with the same end: those that take counters do so from their
        pool."""
        return (
            self._model_kind(device.model),
            device.is_reached,
            device.id[1] if device.model.device.consumes_counters else "",
            self.claims.has_whole(device.id, self.cells.shares),
            tuple(sorted((self._consumed_amounts(device.id) or {}).items())),
        )

    def _consumed_amounts(self, device: DeviceId) -> Amounts | None:
        """The amounts of a shared device that claims consume."""
        return self.claims.consumed(device) if self.cells.shares and self.claims.shares else None

    def _model_kind(self, model: DeviceModel) -> Hashable:
        """A key of all that this search reads of devices of *model*. Devices of one kind lead to the same
        end.

        Drivers give each device an attribute of its own, such as its UUID, which hardly any claim asks for.
        By that alone each device would be of a kind of its own, and n requests that cannot all be met would
        be tried with all orders of the devices.
        """
        kind = self._kind_by_model.get(model.number)
        if kind is None:
            matches: list[bool | str] = []
            for option in self._options:
                try:
                    matches.append(option.selects(model, self.judge, self.cells))
                except AllocationError as error:
                    matches.append(str(error))
            values = [constraint.value_of(model) for claim in self._constraints for constraint in claim]
            device = model.device
            kind = self._kind_by_model[model.number] = (
                tuple(matches),
                tuple(values),
                device.consumes_counters,
                (device.allow_multiple_allocations, device.capacity) if self.cells.shares else None,
                device.taints if self.cells.taints else None,
            )
        return kind

    def _state(self, place: DeviceSlot) -> Hashable:
        """A key of *place* and the devices taken so far: their numbers by kind and use. Searches from equal
        states end alike."""
        users: dict[DeviceId, list[tuple[int, str]]] = {}
        kinds: dict[DeviceId, Hashable] = {}
        for claim, devices in enumerate(self.taken):
            for taken_device in devices:
                users.setdefault(taken_device.device.id, []).append((claim, taken_device.option.result_name))
                kinds[taken_device.device.id] = self._device_kind(taken_device.device)
        return place, frozenset(
            Counter((kinds[device], tuple(used)) for device, used in users.items()).items()
        )

    def _has_capacity(self, option: Option, device: PoolDevice) -> bool:
        amounts_in_use = (self._consumed_amounts(device.id), *self._shared.get(device.id, ()))
        return not self.cells.shares or has_room(device.device, option.request, amounts_in_use)

    def _is_free(self, claim: int, option: Option, device: PoolDevice) -> bool:
        holders = self._holders.get(device.id)
        if option.admin:
            return not (self.cells.admin_takes_once and holders and claim in holders)
        return not holders and not self.claims.has_whole(device.id, self.cells.shares)

    def _take(self, claim: int, option: Option, device: PoolDevice, *, must: bool = False) -> bool:
        """Take *device* if it is free and nothing is against it. Returns whether it was taken."""
        spec = device.model.device
        if not self._is_free(claim, option, device) or (
            self.cells.leaves_counted_devices and spec.consumes_counters
        ):
            return False
        is_shared = self.cells.shares and spec.allow_multiple_allocations
        in_use = is_shared and bool(self._consumed_amounts(device.id) or self._shared.get(device.id))
        has_counters = bool(spec.consumes_counters) and not in_use
        if has_counters and not self._take_counters(device):
            return False
        if not self._add_to_constraints(claim, option, device, must):
            # Upstream: up to 1.35 a rejected device keeps its counters.
            if has_counters and not self.cells.keeps_counters:
                self._add_counters(device, 1)
            return False
        consumed = taken_by(option.request, spec) if is_shared else None
        if consumed is not None:
            self._shared.setdefault(device.id, []).append(consumed)
        elif not option.admin or self.cells.admin_takes_once:
            self._holders.setdefault(device.id, set()).add(claim)
        self.taken[claim].append(TakenDevice(device, option, consumed, has_counters))
        return True

    def _add_to_constraints(self, claim: int, option: Option, device: PoolDevice, must: bool) -> bool:
        """Whether no taint, constraint or capacity is against *device*; if so, all constraints count it."""
        if self.cells.taints and not tolerates(option, device.model.device):
            return False
        constraints = self._constraints[claim]
        for number, constraint in enumerate(constraints):
            if constraint.add(option.base, option.alternative, device.model):
                continue
            for earlier in constraints[:number]:
                earlier.remove(option.base, option.alternative)
            if must:
                raise AllocationError(
                    f"claim {option.claim}, request {option.name}: cannot add device {'/'.join(device.id)}"
                    " because a claim constraint would not be satisfied"
                )
            return False
        if self._has_capacity(option, device):
            return True
        for constraint in constraints if not self.cells.keeps_counters else ():
            constraint.remove(option.base, option.alternative)
        return False

    def _give_back(self, claim: int, before: int) -> None:
        """Undo the last :meth:`_take`; *before*: the claim's number of devices before it."""
        # Where mode All leaves marks, the devices that it took are still on the list.
        device, option, consumed, has_counters = self.taken[claim][before]
        for constraint in self._constraints[claim]:
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
        """Take the amounts that *device* needs from the counters of its pool, if there is enough in each."""
        name = device.id[1]
        if name not in self._counters:
            # Upstream: pools are distinguished by name alone, so the first of a name gives the counters.
            pool = next(pool for pool in self.pools if pool.name == name and device.id[0] == pool.driver)
            self._counters[name] = dict(pool.counters)
            for pool_device in (*pool.devices, *pool.elsewhere):
                # The device takes counters because claims have it.
                if self.claims.has_whole(pool_device.id, self.cells.shares and self.cells.keeps_counters):
                    self._add_counters(pool_device, -1)
        self._add_counters(device, -1)
        if min(self._counters[name].values(), default=0) >= 0:
            return True
        self._add_counters(device, 1)
        return False

    def _add_counters(self, device: PoolDevice, sign: int) -> None:
        counters = self._counters[device.id[1]]
        for consumption in device.model.device.consumes_counters:
            for name, counter in consumption.counters.items():
                if (consumption.counter_set, name) in counters:
                    counters[consumption.counter_set, name] += sign * counter.value.nanos


def tolerates(option: Option, device: Device) -> bool:
    """Whether *option* tolerates all taints of *device*."""
    against = (taint for taint in device.taints if taint.effect in ("NoSchedule", "NoExecute"))
    return all(
        any(toleration.tolerates(taint) for toleration in option.request.tolerations) for taint in against
    )
