"""Searches for devices for all nodes at once. Nodes whose pools look alike are searched once.

Upstream: pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go, structured Allocate.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Hashable, Iterator, Sequence
from uuid import NAMESPACE_OID, uuid5

import attrs
import numpy as np

from ...api.objects import (
    AllocationResult,
    DeviceAllocationResult,
    DeviceClass,
    DeviceRequestAllocationResult,
    DeviceSelector,
    Map,
    NodeSelector,
    NodeSelectorTerm,
    Quantity,
    Requirement,
    ResourceClaim,
)
from ...api.record import Count, Names, Record, field
from ..arrays import Ints, NodeTable, Rows
from ..cluster.listings import DeviceId, Listings, held_by
from ..pods import rebuilt_from
from ..release import DeviceCells
from .claimjudging import AllocationError, Judge
from .devicesearch import DevicePlanner, DeviceSearch, Option, Outcome, SearchTimeout, TakenDevice, tolerates
from .pools import DeviceModels, Pool, PoolDevice, Pools, ReachedRows, has_room

UNKNOWN = -1
NONE = 0
FOUND = 1
ERROR = 2
TOO_LATE = 3
INVALID = 4
"""The outcomes of a search. INVALID: it found nothing, and a pool is invalid."""
MOST_SECONDS = 10.0
"""The time limit of searches. Upstream: the default of filterTimeout from 1.34 on. Here it holds for all
releases, as no input may take time without a limit."""
MOST_KEPT = 1 << 10
"""The most kinds of claims whose outcomes of searches are kept."""


@attrs.define(eq=False, repr=False)
class _Outcomes:
    """The outcomes of searches for some claims, by look: int8[looks]."""

    by_look: Ints
    revisions: Hashable
    """The revisions of looks and of classes."""
    scores: dict[int, int] = attrs.Factory(dict)
    """Look -> the score of the devices found, where it is above 0."""


BEST_ALTERNATIVE = 8
"""The score of a request's first alternative; each one after it has one less. Upstream:
FirstAvailableDeviceRequestMaxSize."""


@rebuilt_from("table", "listings", "cells")
@attrs.define(eq=False, repr=False)
class Devices:
    """The devices of a cluster, and their allocation to claims."""

    table: NodeTable
    listings: Listings
    cells: DeviceCells
    seconds: float = MOST_SECONDS
    """The time for all searches of a cycle, in seconds; searches that have not ended then are TOO_LATE."""
    judge: Judge = attrs.Factory(Judge)
    pools: Pools = attrs.field(init=False)
    _outcomes_by_claims: dict[Hashable, _Outcomes] = attrs.Factory(dict)

    def __attrs_post_init__(self) -> None:
        self.pools = Pools(self.table, self.listings, self.cells)

    def outcomes(self, claims: Sequence[ResourceClaim], rows: Rows) -> Ints:
        """The outcome of a search for all *claims* on each of *rows*: NONE, FOUND, ERROR, TOO_LATE or
        INVALID."""
        return self._outcomes_of(claims, rows).by_look[self.pools.looks[rows]]

    def scores(self, claims: Sequence[ResourceClaim], rows: Rows) -> Ints:
        """The scores of the alternatives that a search for all *claims* finds on each of *rows*:
        int64[len(rows)]."""
        scores = self._outcomes_of(claims, rows).scores
        if not scores:
            return np.zeros(len(rows), np.int64)
        return np.array([scores.get(look, 0) for look in self.pools.looks[rows].tolist()], np.int64)

    def _outcomes_of(self, claims: Sequence[ResourceClaim], rows: Rows) -> _Outcomes:
        """The outcomes of searches for *claims*, at least on *rows*."""
        pools = self.pools
        pools.refresh()
        key = tuple([claim.spec for claim in claims])
        revisions = pools.epoch, self.listings.device_classes.version
        cached = self._outcomes_by_claims.get(key)
        size = int(pools.looks.max(initial=0)) + 1
        if cached is None or cached.revisions != revisions:
            if len(self._outcomes_by_claims) >= MOST_KEPT:
                self._outcomes_by_claims.clear()
            cached = self._outcomes_by_claims[key] = _Outcomes(np.full(size, UNKNOWN, np.int8), revisions)
        elif len(cached.by_look) < size:
            unknown_outcomes = np.full(
                max(size, 2 * len(cached.by_look)) - len(cached.by_look), UNKNOWN, np.int8
            )
            cached.by_look = np.concatenate([cached.by_look, unknown_outcomes])
        outcomes = cached.by_look[pools.looks[rows]]
        if (outcomes == UNKNOWN).any():
            # Search on one of the rows for each look.
            unknown = rows[outcomes == UNKNOWN]
            looks, first_places = np.unique(pools.looks[unknown], return_index=True)
            ends_at = time.monotonic() + self.seconds
            for look, at in zip(looks.tolist(), first_places.tolist(), strict=True):
                row = int(unknown[at])
                try:
                    plan = self._search(claims, row, ends_at)
                    if plan is None:
                        is_invalid = self.cells.whole_pools and any(
                            pool.invalid for pool in pools.of_row[row]
                        )
                        cached.by_look[look] = INVALID if is_invalid else NONE
                        continue
                    cached.by_look[look] = FOUND
                    names = ({device.option.result_name for device in devices} for devices in plan)
                    score = sum(map(score_of, claims, names))
                    if score:
                        cached.scores[look] = score
                except AllocationError:
                    cached.by_look[look] = ERROR
                except SearchTimeout:
                    cached.by_look[look] = TOO_LATE
        return cached

    def error(self, claims: Sequence[ResourceClaim], row: int) -> str:
        """The error of a search on *row*."""
        try:
            self._search(claims, row)
        except AllocationError as error:
            return str(error)
        return ""

    def allocate(self, claims: Sequence[ResourceClaim], row: int) -> list[AllocationResult] | None:
        """The allocation of each of *claims* on *row*; None where not all devices are possible. Raises
        AllocationError."""
        self.pools.refresh()
        plan = self._search(claims, row)
        if plan is None:
            return None
        return [
            AllocationResult(
                devices=DeviceAllocationResult(
                    results=tuple(
                        self._allocation_result(claim, number, device)
                        for number, device in enumerate(devices)
                    )
                ),
                node_selector=_node_selector(devices, self.table.names[row]),
            )
            for claim, devices in zip(claims, plan, strict=True)
        ]

    def _search(
        self, claims: Sequence[ResourceClaim], row: int, ends_at: float = float("inf")
    ) -> Outcome | None:
        pools = self.pools.of_row[row]
        return DeviceSearch(
            claims,
            self.planner().plan(claims, pools),
            pools,
            self.listings.resource_claims,
            self.cells,
            self.judge,
            ends_at,
        ).run()

    def planner(self) -> DevicePlanner:
        """A planner of the requests of claims."""
        listings = self.listings
        return DevicePlanner(
            listings.device_classes.get, self.cells, self.judge, listings.resource_claims.consumed
        )

    def _allocation_result(
        self, claim: ResourceClaim, number: int, taken_device: TakenDevice
    ) -> DeviceRequestAllocationResult:
        driver, pool, name = taken_device.device.id
        device = taken_device.device.device
        waits = self.cells.waits_for_conditions
        share = None
        if taken_device.consumed is not None:
            share = str(uuid5(NAMESPACE_OID, f"{claim.uid} {number} {'/'.join(taken_device.device.id)}"))
        return DeviceRequestAllocationResult(
            request=taken_device.option.result_name,
            driver=driver,
            pool=pool,
            device=name,
            admin_access=True if taken_device.option.admin else None,
            tolerations=taken_device.option.request.tolerations if self.cells.taints else (),
            share_id=share,
            consumed_capacity=Map(
                {name: Quantity.parse(f"{nanos}n") for name, nanos in (taken_device.consumed or {}).items()}
            ),
            binding_conditions=device.binding_conditions if waits else (),
            binding_failure_conditions=device.binding_failure_conditions if waits else (),
        )


def score_of(claim: ResourceClaim, names: Collection[str]) -> int:
    """The score of the allocated alternatives of *claim*. Upstream: computeScore of the plugin."""
    alternatives = (
        (f"{request.name}/{alternative.name}", at)
        for request in claim.spec.devices.requests
        if request.exactly is None
        for at, alternative in enumerate(request.first_available)
    )
    return sum(BEST_ALTERNATIVE - at for name, at in alternatives if name in names)


def _node_selector(taken_devices: Sequence[TakenDevice], node_name: str) -> NodeSelector | None:
    """The nodes that reach all devices; None: all nodes. Upstream: createNodeSelector."""
    fields: list[Requirement] = []
    expressions: list[Requirement] = []
    for device in taken_devices:
        selector = device.device.own("node_selector")
        if device.device.own("node_name") or device.device.device.binds_to_node:
            field = Requirement(key="metadata.name", operator="In", given_values=(node_name,))
            return NodeSelector(node_selector_terms=(NodeSelectorTerm(match_fields=(field,)),))
        # A slice's node selector has one term: the API server enforces that.
        for term in selector.node_selector_terms if selector is not None else ():
            _add(fields, term.match_fields)
            _add(expressions, term.match_expressions)
    if not fields and not expressions:
        return None
    return NodeSelector(
        node_selector_terms=(
            NodeSelectorTerm(match_expressions=tuple(expressions), match_fields=tuple(fields)),
        )
    )


def _add(requirements: list[Requirement], new_requirements: Sequence[Requirement]) -> None:
    for requirement in new_requirements:
        if not any(
            (requirement.key, requirement.operator, set(requirement.values))
            == (existing.key, existing.operator, set(existing.values))
            for existing in requirements
        ):
            requirements.append(requirement)


# --- Devices of a class by node -----------------------------------------------------------------------------
# The numbers of devices that each node reaches and that are in use, for scores of extended resources.
# Upstream: calculateDRAResourceTotals in
# pkg/scheduler/framework/plugins/noderesources/resource_allocation.go.


Totals = tuple[Ints, Ints]
"""The numbers of devices and of those in use: int64[rows] each."""


@rebuilt_from("table", "listings")
@attrs.define(eq=False, repr=False)
class DeviceTotals:
    """The devices that provide extended resources, counted for all rows of a table. Slices of any generation
    count."""

    table: NodeTable
    listings: Listings
    judge: Judge = attrs.Factory(Judge)
    models: DeviceModels = attrs.Factory(DeviceModels)
    _totals: dict[str, tuple[Hashable, Totals]] = attrs.Factory(dict)

    def of(self, resource: str, rows: Rows) -> Totals:
        """The number of devices that provide *resource* on each of *rows*, and of those in use."""
        device_class = self.listings.device_classes.by_resource[resource]
        revisions = (
            id(device_class),
            self.listings.slices.version,
            self.listings.resource_claims.log.revision,
            self.table.changed.node_revision,
            self.table.size,
        )
        cached = self._totals.get(resource)
        if cached is None or cached[0] != revisions:
            cached = self._totals[resource] = revisions, self._count(device_class)
        return cached[1][0][rows], cached[1][1][rows]

    def _count(self, device_class: DeviceClass) -> Totals:
        size = self.table.size
        reached = ReachedRows(self.table)
        errs = np.zeros(size, np.bool_)
        counts = np.zeros(size, np.int64)
        used_counts = np.zeros(size, np.int64)
        for device_slice in self.listings.slices:
            mask = None if device_slice.spec.per_device_node_selection else reached.of(device_slice.spec)
            for device in device_slice.spec.devices:
                rows = reached.of(device) if mask is None else mask
                try:
                    model = self.models.of(device_slice.spec.driver, device)
                    selectors = device_class.spec.selectors
                    if self.judge.first_mismatch(model, selectors, device_class.name) is None:
                        counts[rows] += 1
                        used_counts[rows] += (
                            device_slice.spec.driver,
                            device_slice.spec.pool.name,
                            device.name,
                        ) in self.listings.resource_claims.holders
                except AllocationError:
                    errs |= rows
        counts[errs] = 0
        return counts, used_counts


# --- The reason against each device that a node reaches -----------------------------------------------------
# For users who ask why a claim cannot be served there.


UNMATCHED = "selector of "
"""The beginning of the reason against devices that do not match."""


class RefusedDevices(Record):
    """Devices that are rejected for one reason."""

    why: str
    """The reason: the first selector that does not match, the claim that uses them, or what they lack."""
    devices: Names


class DeviceAccount(Record):
    """The devices of a node for one request, or one of its alternatives."""

    claim: str
    request: str
    """The request, or request/alternative."""
    device_class: str = field(name="class")
    """The requested DeviceClass."""
    wanted: Count
    takes_all: bool = field(name="all")
    """Whether every matching device is requested; ``wanted`` is then their number."""
    usable: Names
    """The devices that are free and match: driver/pool/device."""
    refused: tuple[RefusedDevices, ...]

    @property
    def matching(self) -> Names:
        """The devices that match, free or not."""
        unavailable = (refusal.devices for refusal in self.refused if not refusal.why.startswith(UNMATCHED))
        return (*self.usable, *(device for devices in unavailable for device in devices))


def accounts(devices: Devices, claims: Sequence[ResourceClaim], row: int) -> tuple[DeviceAccount, ...]:
    """An account of the devices on *row* for each request of *claims*; none where the requests themselves are
    invalid."""
    devices.pools.refresh()
    pools = devices.pools.of_row[row]
    try:
        options_by_claim = devices.planner().plan(claims, pools)
    except AllocationError:
        return ()
    reached_devices = [(pool, device) for pool in pools for device in pool.devices]
    ids = {device.id for _, device in reached_devices}
    resource_claims = devices.listings.resource_claims
    # Device -> the claim that has it for itself.
    users = {
        device.id: claim.key
        for claim in (*resource_claims, *resource_claims.pending.values())
        for device in held_by(claim)
        if device.id in ids
    }
    return tuple(
        _account(devices, claim, option, reached_devices, users)
        for claim, requests in zip(claims, options_by_claim, strict=True)
        for options in requests
        for option in options
    )


def _account(
    devices: Devices,
    claim: ResourceClaim,
    option: Option,
    reached_devices: Sequence[tuple[Pool, PoolDevice]],
    users: dict[DeviceId, str],
) -> DeviceAccount:
    refused: dict[str, list[str]] = {}
    usable: list[str] = []
    for pool, device in reached_devices:
        reason = next(_objections(devices, claim, option, device, users), "")
        if not pool.is_whole(devices.cells) and not reason.startswith(UNMATCHED):
            reason = f"its pool is {'incomplete' if pool.is_incomplete else 'invalid'}"
        (refused.setdefault(reason, []) if reason else usable).append("/".join(device.id))
    return DeviceAccount(
        claim=claim.name,
        request=option.result_name,
        device_class=option.device_class.name,
        wanted=option.count,
        takes_all=option.all_devices is not None,
        usable=tuple(usable),
        refused=tuple(RefusedDevices(reason, tuple(device_ids)) for reason, device_ids in refused.items()),
    )


def _objections(
    devices: Devices, claim: ResourceClaim, option: Option, device: PoolDevice, users: dict[DeviceId, str]
) -> Iterator[str]:
    """The reasons against *device*, the first one that counts first."""
    cells = devices.cells
    model = device.model
    # The selector of the class, and that of the request, that does not match *device*.
    yield from _unmatched(
        devices, device, option.device_class.spec.selectors, f"class {option.device_class.name}"
    )
    yield from _unmatched(devices, device, option.request.selectors, "request")
    if not option.selects(model, devices.judge, cells):
        yield "it has binding conditions"
    if cells.leaves_counted_devices and model.device.consumes_counters:
        yield "it consumes counters"
    if not device.is_reached:
        yield "the node does not reach it"
    if cells.taints and not tolerates(option, model.device):
        yield "it has a taint that the request does not tolerate"
    is_shared = cells.shares and model.device.allow_multiple_allocations
    if device.id in users and not option.admin and not is_shared:
        yield f"used by claim {users[device.id]}"
    used = (devices.listings.resource_claims.consumed(device.id),)
    if cells.shares and not has_room(model.device, option.request, used):
        yield "it has not as much capacity left"
    for constraint in claim.spec.devices.constraints:
        attribute = constraint.match_attribute or constraint.distinct_attribute or ""
        is_concerned = not constraint.requests or {option.base, option.result_name} & set(constraint.requests)
        if is_concerned and model.attribute(attribute) is None:
            yield f"it has no attribute {attribute}, which a constraint compares"


def _unmatched(
    devices: Devices, device: PoolDevice, selectors: Sequence[DeviceSelector], where: str
) -> Iterator[str]:
    try:
        number = devices.judge.first_mismatch(device.model, selectors, where)
    except AllocationError as error:
        yield str(error)
        return
    if number is not None:
        yield f"{UNMATCHED}{where}: {selectors[number].expression}"
