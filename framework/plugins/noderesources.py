"""NodeResourcesFit, NodeResourcesBalancedAllocation: is there room for the pod on the node, and how full
would the node be?"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Mapping, Sequence
from functools import cache, cached_property, partial, reduce
from operator import add
from typing import Any

import attrs
import numpy as np

from ...algorithmprovider.cells import rounded_mean_of_positive
from ...api.objects import wrap_int64
from ...core.devices.nodedevices import DeviceTotals
from ...core.release import FrameworkCells, with_gates
from ...predicates.podfitsresources import RequestedAmounts, checked_resources
from ...priorities.balancedresourceallocation import BITS_OF_ONE, VOLUMES_GATE, balance_of_two, fractions
from ...priorities.requestedtocapacityratio import FULL, broken_line
from ...priorities.rule import (
    both_requested_with,
    capacity_of,
    free_share,
    request,
    requested_with,
    used_share,
)
from ..config.args import CPU_AND_MEMORY, NodeResourcesFitArgs, ResourceSpec, ShapePoint
from ..hints import class_gives, node_has_room, pod_leaves_room
from ..plugin import (
    ADD_OR_UPDATE,
    CPU,
    MAX_NODE_SCORE,
    MEMORY,
    NATIVE,
    SKIP,
    Action,
    Batch,
    ClusterEvent,
    Events,
    Failures,
    FrameworkCycle,
    Handle,
    Ints,
    Mask,
    Plugin,
    Reads,
    Reasons,
    Scores,
    StateKey,
    Status,
    Template,
    is_anywhere,
    is_everywhere,
    is_extended_resource,
    is_scalar_resource,
    prepare_nothing,
    reason,
    truncated_div,
    unresolvable,
    whole,
)

SIDECARS_ARE_OFF = unresolvable(
    "Pod has a restartable init container and the SidecarContainers feature is disabled"
)
HALF_SCORE = MAX_NODE_SCORE // 2
CUSTOM_SCORES = 10
"""The highest score in a user's shape."""
EVERYWHERE: Mask = np.ones((1, 1), np.bool_)


@attrs.frozen(eq=False)
class ScoredResources:
    """The R resources that a plugin scores by: their names, and ``weights``: int64[R, 1]."""

    names: tuple[str, ...]
    weights: Ints
    common_weight: bool
    """Whether all resources have the same weight."""
    has_scalars: bool

    @classmethod
    def of(cls, resources: Sequence[ResourceSpec], cells: FrameworkCells) -> ScoredResources:
        """The scored resources of the arguments."""
        if cells.scored_by_name:
            resources = tuple({resource.name: resource for resource in resources}.values())
        names = tuple(resource.name for resource in resources)
        weights = np.array([[resource.weight] for resource in resources], np.int64)
        return cls(
            names,
            weights,
            bool((weights == weights[:1]).all() and (weights > 0).all()),
            any(map(is_scalar_resource, names)),
        )


@attrs.frozen(eq=False)
class Shares:
    """The use of the R resources ``measured`` on n nodes: ``requested``, ``allocatable``: int64[R, n].

    ``counted``: bool[R, n] or bool[1, 1], False where a resource is skipped: the node has none, or it is a
    scalar that the pod does not request.
    """

    requested: Ints
    allocatable: Ints
    counted: Mask
    measured: ScoredResources
    counts_all: bool
    """Whether nothing is skipped, as with cpu and memory on most clusters; that takes half as long."""
    is_proper: bool
    """Whether each of ``allocatable`` is above 0 and not huge."""

    @classmethod
    def of(
        cls,
        pod: Template,
        nodes: Batch,
        measured: ScoredResources,
        asked: Callable[[Template, str], int],
        requested: Callable[[Template, Batch, tuple[str, ...]], Ints],
        devices: DeviceTotals | None = None,
    ) -> Shares:
        """The shares with *pod* on each node. *devices* are counted for resources that they provide and the
        node itself lacks."""
        is_usual = measured.names == (CPU, MEMORY)
        allocatable, is_proper = (
            capacity_of(nodes) if is_usual else (nodes.allocatables(measured.names), False)
        )
        summed = requested(pod, nodes, measured.names)
        for at, name in enumerate(measured.names) if devices is not None else ():
            if name in pod.device_resources and devices is not None:
                total, used = devices.of(name, nodes.indexes)
                counts = (allocatable[at] == 0) & (total > 0)
                allocatable = allocatable.copy()
                summed = summed.copy()
                allocatable[at, counts], summed[at, counts] = total[counts], used[counts] + asked(pod, name)
        counted = EVERYWHERE if is_proper else allocatable != 0
        if measured.has_scalars:
            counted &= np.array(
                [[not is_scalar_resource(name) or asked(pod, name) != 0] for name in measured.names]
            )
        return cls(summed, allocatable, counted, measured, is_proper or bool(counted.all()), is_proper)

    def mean(self, scores: Ints) -> Scores:
        """The weighted mean of *scores*, int64[R, n], over the counted resources, rounded down: int64[n]; 0
        where none is counted."""
        if self.counts_all and self.measured.common_weight:
            # For two resources this takes half as long as numpy's own reduce.
            return truncated_div(reduce(add, scores), len(scores))
        weights = self.measured.weights * self.counted
        return truncated_div(np.add.reduce(scores * weights, axis=0), np.add.reduce(weights, axis=0))


def counted_requests(pod: Template, nodes: Batch, names: tuple[str, ...]) -> Ints:
    """The requested sums with *pod*, as scores count them: int64[R, n]."""
    if names == (CPU, MEMORY):
        return both_requested_with(pod, nodes)
    return np.stack([requested_with(pod, nodes, name) for name in names])


def _overhead(pod: Template, resource: str) -> int:
    return pod.spec.overhead[resource].value() if resource in pod.spec.overhead else 0


def _asked_bare(pod: Template, resource: str) -> int:
    """The request of *pod* for *resource*, without its overhead."""
    # Upstream: the plugin does not tell its score that gate PodOverhead is on.
    return wrap_int64(request(pod, resource) - _overhead(pod, resource))


def _bare_requests(pod: Template, nodes: Batch, names: tuple[str, ...]) -> Ints:
    """As :func:`counted_requests`, without the overhead of *pod*."""
    return counted_requests(pod, nodes, names) - np.array(
        [[_overhead(pod, name)] for name in names], np.int64
    )


# --- strategies ---------------------------------------------------------------------------------------------


def least_allocated(shares: Shares) -> Scores:
    return shares.mean(
        free_share(shares.requested, shares.allocatable, MAX_NODE_SCORE, is_proper=shares.is_proper)
    )


def most_allocated(shares: Shares, *, overfull_is_full: bool = True) -> Scores:
    requested = shares.requested
    if overfull_is_full:
        # Upstream: pods without requests count with the defaults, so more than the allocatable may be
        # requested.
        requested = np.minimum(shares.requested, shares.allocatable)
    return shares.mean(used_share(requested, shares.allocatable, MAX_NODE_SCORE, is_proper=shares.is_proper))


def scaled_line(shape: Sequence[ShapePoint]) -> Ints:
    """The score, 0 to 100, for each utilization from 0 to 100 percent: int64[101]."""
    return broken_line(
        [(point.utilization, point.score * (MAX_NODE_SCORE // CUSTOM_SCORES)) for point in shape]
    )


def utilization(requested: Ints, capacity: Ints) -> Ints:
    """The requested share of *capacity* in percent: int64[n]; 100 where the capacity is 0 or more than all is
    requested."""
    used = used_share(requested, capacity, FULL)
    return np.where((capacity == 0) | (requested > capacity), FULL, used).clip(0, FULL)


def requested_to_capacity_ratio(
    shares: Shares, line: Ints, used: Callable[[Ints, Ints], Ints] = utilization
) -> Scores:
    return rounded_mean_of_positive(
        np.where(shares.counted, line[used(shares.requested, shares.allocatable)], 0),
        shares.measured.weights[:, 0],
    )


_STRATEGIES = {"LeastAllocated": least_allocated, "MostAllocated": most_allocated}


# --- plugins ------------------------------------------------------------------------------------------------


class _ScoresDevices(Plugin):
    """A plugin that scores by resources, some of which devices may provide."""

    _measured: ScoredResources
    _totals: DeviceTotals | None = None

    def score_devices(self, pod: Template) -> bool:
        """Whether the scores of *pod* depend on devices in use."""
        return not pod.device_resources.isdisjoint(self._measured.names)

    def _devices(self, pod: Template, cycle: FrameworkCycle) -> DeviceTotals | None:
        """The devices that count in the scores of *pod*."""
        if not self.score_devices(pod):
            return None
        totals = self._totals
        if totals is None or totals.table is not cycle.table or totals.listings is not cycle.listings:
            totals = self._totals = DeviceTotals(cycle.table, cycle.listings)
        return totals


class NodeResourcesFit(_ScoresDevices):
    """Reject nodes without room for one more pod or its requests; prefer nodes by their use, as the strategy
    says.

    The scores count absent requests of cpu and memory with defaults. Upstream:
    pkg/scheduler/framework/plugins/noderesources/fit.go.
    """

    name = "NodeResourcesFit"
    filter_reads = Reads.NODE | Reads.REQUESTS
    score_reads = Reads.NODE | Reads.REQUESTS
    pre_score_by_class = True
    without_pre_filter = 'error reading "PreFilterNodeResourcesFit" from cycleState: not found'
    pre_filter_by_class = True

    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args or NodeResourcesFitArgs(), handle)
        self.sought_slot: StateKey[RequestedAmounts] = StateKey("NodeResourcesFit sought")
        leaves_out = not handle.cells.fit_scores_overhead and handle.enabled("PodOverhead")
        self._counting = (_asked_bare, _bare_requests) if leaves_out else (request, counted_requests)
        strategy = self.args.scoring_strategy
        self._combine = _STRATEGIES.get(strategy.type) or partial(
            requested_to_capacity_ratio, line=scaled_line(strategy.shape or ())
        )
        self._measured = ScoredResources.of(strategy.resources or CPU_AND_MEMORY, handle.cells)

    def filter_key(self, pod: Template) -> Hashable:
        return frozenset(pod.requests.items()), self._rejects("Filter", pod), pod.device_resources

    def score_key(self, pod: Template) -> Hashable:
        return tuple([self._counting[0](pod, name) for name in self._measured.names])

    def _rejects(self, point: str, pod: Template) -> bool:
        """Whether the plugin rejects *pod* at the extension point *point* because it has a sidecar."""
        if (
            self.cells.rejects_sidecars != point
            or not pod.spec.init_containers
            or self.handle.enabled("SidecarContainers")
        ):
            return False
        return any(container.is_sidecar for container in pod.spec.init_containers)

    def pre_filter(self, pod: Template, cycle: FrameworkCycle) -> Status | None:
        """Reject pods with sidecars where these are off. A profile can disable PreFilter, and then the filter
        fails."""
        return SIDECARS_ARE_OFF if self._rejects("PreFilter", pod) else None

    def filter_without_state(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Failures | None:
        if self._rejects("Filter", pod):
            return Failures.where(SIDECARS_ARE_OFF.as_reasons(), nodes.every())
        return None

    def filter(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Failures | None:
        """Reasons in the order pods, cpu, memory, ephemeral storage, then scalars by name."""
        if self._rejects("Filter", pod):
            return self.filter_without_state(pod, nodes, cycle)
        sought = pod.notes.get(self.sought_slot)
        if sought is None:
            requests = pod.requests
            if not self.cells.requests_wrap:
                requests = {name: max(amount, 0) for name, amount in requests.items()}
            sought = pod.notes[self.sought_slot] = RequestedAmounts.of(
                requests, self._checked(requests), reason(self.cells.too_many_pods_text)
            )
        # Upstream: the amount left is a difference, which does not wrap around with exabytes, unlike the sum
        # up to 1.16.
        limits = nodes.limits_of(sought.resources)
        counted = nodes.counted(sought.resources)
        if self.cells.fit_sums_wrap:
            lacking = counted + sought.amounts > limits
        else:
            lacking = sought.amounts > limits - counted
        for name in pod.device_resources:
            if name in sought.resources:  # a node without this resource may provide devices
                at = sought.resources.index(name)
                lacking[at] &= limits[at] > 0
        if self.cells.one_reason:
            lacking &= np.cumsum(lacking, axis=0) == 1
        if not is_anywhere(lacking):
            return None
        reasons = sought.reasons
        if self.cells.too_small_is_unresolvable:
            # *lacking*: bool[resources, n]. Removing pods cannot help where nodes are *too_small*, except for
            # the number of pods.
            too_small = sought.amounts > limits
            too_small[0] = False
            too_small &= lacking
            if is_anywhere(too_small):
                reasons = [either for found in reasons for either in (found, _lasting(found))]
                split = np.stack([lacking & ~too_small, too_small], axis=1)
                lacking = split.reshape(-1, lacking.shape[1])
        return Failures.by_row(reasons, lacking)

    def _checked(self, requests: Mapping[str, int]) -> tuple[str, ...]:
        # Upstream: a scalar request of 0 is not checked itself, but because of it the native resources are,
        # if they are not left out.
        cells = self.cells
        names = []
        for name in checked_resources(requests):
            if name in NATIVE:
                if not cells.fit_checks_requested or requests.get(name, 0) > 0:
                    names.append(name)
            elif requests[name] != 0 or cells.checks_zero_scalars:
                is_named = name in self.args.ignored_resources
                is_ignored = is_named or name.partition("/")[0] in self.args.ignored_resource_groups
                if not (is_ignored and is_extended_resource(name)):
                    names.append(name)
        return tuple(names)

    pre_score = prepare_nothing

    def score(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Scores:
        return self._combine(
            Shares.of(pod, nodes, self._measured, *self._counting, self._devices(pod, cycle))
        )

    def events_to_register(self) -> Events:
        handle = self.handle
        resizes = handle.enabled("InPlacePodVerticalScaling")
        update = Action.UPDATE_POD_SCALE_DOWN if handle.queueing.pod_changes else Action.UPDATE
        left = partial(
            pod_leaves_room,
            counted=handle.counted if resizes else None,
            nominated=handle.queueing.nomination_ends,
            compares_own=handle.queueing.compares_own_requests,
        )
        room = partial(
            node_has_room, requests=handle.requests, compares=handle.compares(self.name), devices=self._given
        )
        node = handle.node_event(Action.ADD | Action.UPDATE_NODE_ALLOCATABLE, ADD_OR_UPDATE, room)
        pods = ClusterEvent("Pod", Action.DELETE | update if resizes else Action.DELETE, hint=left)
        if not self._reads_devices:
            return pods, node
        gives = partial(class_gives, requests=handle.requests)
        return pods, node, ClusterEvent("DeviceClass", ADD_OR_UPDATE, hint=gives)

    @cached_property
    def _reads_devices(self) -> bool:
        """Whether devices may provide extended resources."""
        return with_gates(self.handle.devices, self.handle.gates).extended_resources

    def _given(self) -> Container[str]:
        """The extended resources that devices provide now."""
        listings = self.handle.listings
        return listings.device_classes.by_resource if listings is not None and self._reads_devices else ()


@cache
def _lasting(reasons: Reasons) -> Reasons:
    """*reasons* that removing pods cannot resolve."""
    return tuple(attrs.evolve(reason, resolvable=False) for reason in reasons)


class NodeResourcesBalancedAllocation(_ScoresDevices):
    """Prefer nodes whose resources would be used in equal shares. Only actual requests count, without
    defaults.

    Upstream: pkg/scheduler/framework/plugins/noderesources/balanced_allocation.go.
    """

    name = "NodeResourcesBalancedAllocation"
    score_reads = Reads.NODE | Reads.REQUESTS
    pre_score_by_class = True

    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args, handle)
        self._counts_volumes = handle.cells.balance_of_two and handle.enabled(VOLUMES_GATE)
        if self._counts_volumes:
            self.score_reads = self.score_reads | Reads.EFFECTS
        self._measured = ScoredResources.of((args and args.resources) or CPU_AND_MEMORY, handle.cells)
        self._skips = self.name in handle.cells.skips_scoring

    def score_key(self, pod: Template) -> Hashable:
        ask = request if self.cells.balance_of_two else _asked
        return tuple([ask(pod, name) for name in self._measured.names])

    def _leaves_out(self, pod: Template) -> bool:
        """Whether *pod* requests none of the resources, and is therefore not scored."""
        return self._skips and not any(map(pod.balanced.get, self._measured.names))

    def pre_score(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Status | None:
        """Skip pods that request nothing, where the release does."""
        return SKIP if self._leaves_out(pod) else None

    def score(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Scores:
        """One minus the standard deviation of the shares, in percent; in some releases 75 plus half of the
        pod's change of that."""
        if self._leaves_out(pod):  # PreScore is disabled
            return nodes.zeros()
        if self.cells.balance_of_two:
            with_volumes = self._counts_volumes and (
                bool(pod.spec.volumes) or self.cells.balances_without_volumes
            )
            return balance_of_two(pod, nodes, MAX_NODE_SCORE, with_volumes=with_volumes)
        shares = Shares.of(pod, nodes, self._measured, _asked, _really_requested, self._devices(pod, cycle))
        balance = _balance(shares.requested, shares)
        if not self.cells.scores_change_of_balance:
            return balance
        own = np.array([[_asked(pod, name)] for name in self._measured.names], np.int64)
        return HALF_SCORE + (HALF_SCORE + balance - _balance(shares.requested - own, shares)) // 2


def _balance(requested: Ints, shares: Shares) -> Scores:
    """The balance of the shares of *requested*, int64[R, n]: one minus their standard deviation, in
    percent."""
    if shares.counts_all and len(requested) == 2:
        used = fractions(requested, shares.allocatable, is_proper=True)
        is_within = is_everywhere(used.view(np.uint64) <= BITS_OF_ONE)
        cpu, memory = used if is_within else np.minimum(used, 1)
        evenness = (1 - np.abs(cpu - memory) / 2) * MAX_NODE_SCORE
        # If 64 bits surely hold the numbers, a plain conversion takes a fifth of the time.
        return evenness.astype(np.int64) if is_within else whole(evenness)
    # A share that is not counted is 0.
    counted = shares.counted
    used = np.divide(requested, shares.allocatable, out=np.zeros(requested.shape), where=counted)
    used = np.minimum(used, 1)
    number = counted.sum(axis=0)
    divisor = np.maximum(number, 1)
    # Upstream: added one resource after the other, which fixes the rounding.
    mean = sum(used, np.zeros(used.shape[1])) / divisor
    squares = np.where(counted, (used - mean) * (used - mean), 0)
    spread = np.sqrt(sum(squares, np.zeros(used.shape[1])) / divisor)
    of_two = (np.where(counted, used, 0).max(axis=0) - np.where(counted, used, 1).min(axis=0)) / 2
    deviation = np.where(number > 2, spread, np.where(number == 2, of_two, 0))
    return whole((1 - deviation) * MAX_NODE_SCORE)


_REALLY_ASKED: StateKey[Ints] = StateKey("cpu and memory without defaults")


def _asked(pod: Template, resource: str) -> int:
    # Upstream: scores count a resized pod by its status, unlike the filter.
    return pod.balanced.get(resource, 0)


def _really_requested(pod: Template, nodes: Batch, names: tuple[str, ...]) -> Ints:
    is_usual = names == (CPU, MEMORY)
    asked = pod.notes.get(_REALLY_ASKED) if is_usual else None
    if asked is None:
        asked = np.array([[_asked(pod, name)] for name in names], np.int64)
        if is_usual:
            pod.notes[_REALLY_ASKED] = asked
    return nodes.requesteds(names) + asked
