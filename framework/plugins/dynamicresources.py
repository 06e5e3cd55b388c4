"""DynamicResources: claims to devices."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cached_property, partial
from math import inf
from typing import Any

import attrs
import numpy as np
from msgspec.structs import replace

from ...api.meaning import seconds_since_1970
from ...api.objects import AllocationResult, Condition, Pod, ResourceClaim, ResourceClaimConsumerReference
from ...core.cluster.listings import ResourceClaims, claim_name
from ...core.devices.claimjudging import AllocationError
from ...core.devices.extendedresources import (
    as_written,
    is_device_resource,
    is_in_memory,
    mappings_of,
    special_claim,
    status_of,
    with_requests,
)
from ...core.devices.nodedevices import (
    ERROR,
    FOUND,
    INVALID,
    MOST_SECONDS,
    NONE,
    TOO_LATE,
    DeviceAccount,
    Devices,
    accounts,
    score_of,
)
from ...core.matching import node_selector_mask
from ...core.release import DeviceCells, with_gates
from ...priorities.rule import normalize_reduce
from ..cycle.feasible import Diagnosis
from ..hints import claim_changes, claims_are_made
from ..plugin import (
    ADD_OR_UPDATE,
    MAX_NODE_SCORE,
    SKIP,
    Action,
    Batch,
    ClusterEvent,
    Events,
    Failures,
    FrameworkCycle,
    Handle,
    Mask,
    Plugin,
    Reads,
    Reason,
    Rows,
    Scores,
    StateKey,
    Status,
    Template,
    error,
    unresolvable,
    unschedulable,
)

# --- Binding conditions -------------------------------------------------------------------------------------
# Drivers set them in the status of a claim. Upstream: isClaimReadyForBinding.


class BindingFailed(Exception):
    """A device cannot become ready; *condition* has the reason."""

    def __init__(self, condition: Condition) -> None:
        super().__init__(condition.message)
        self.condition = condition


def are_true(claim: ResourceClaim) -> bool:
    """Whether all binding conditions of the devices of *claim* are true. Raises BindingFailed."""
    results = claim.status.allocation.results if claim.status.allocation is not None else ()
    conditions_by_device = {
        (device.driver, device.pool, device.device): device.conditions
        for device in reversed(claim.status.devices)
    }
    for result in results:
        if not result.binding_conditions:
            continue
        if result.id not in conditions_by_device:
            return False
        true_conditions = {
            condition.type: condition
            for condition in reversed(conditions_by_device[result.id])
            if condition.status == "True"
        }
        for name in result.binding_failure_conditions:
            if name in true_conditions:
                raise BindingFailed(true_conditions[name])
        if not true_conditions.keys() >= set(result.binding_conditions):
            return False
    return True


# --- DynamicResources ---------------------------------------------------------------------------------------


NOT_AVAILABLE = Reason("resourceclaim not available on the node", resolvable=False)
CANNOT_ALLOCATE = Reason("cannot allocate all claims", resolvable=False)
TIMED_OUT = Reason("timed out trying to allocate devices", resolvable=False)
INVALID_POOLS = Reason("invalid resource pools were encountered", resolvable=False)
CANNOT_FIT = Reason("cannot fit resource", resolvable=False)
OLD_CLAIM = Reason("cannot schedule extended resource claim", resolvable=False)
FINALIZER = "resource.kubernetes.io/delete-protection"
BINDING_SECONDS = 600.0
"""The longest wait for a device to become ready, in seconds, without an argument for it."""
DISABLED = "plugin disabled"
NO_CLAIMS = "no new claims to deallocate"
_NO_STATE = "not found"
_LISTS = "has subrequests, but the DRAPrioritizedList feature is disabled"


@attrs.define(eq=False, repr=False)
class _State:
    """The plugin's state in a cycle, about the pod's claims. ``claims`` is empty if the pod needs none."""

    claims: Sequence[ResourceClaim] = ()
    """The claims that users made; a special one for the extended resources of the pod may come last."""
    unallocated: Sequence[ResourceClaim] = ()
    """The users' claims without devices."""
    special: ResourceClaim | None = None
    variants: dict[frozenset[str], ResourceClaim] = attrs.Factory(dict)
    """Extended resources that a node provides as devices -> the special claim for them."""
    device_resources: frozenset[str] = frozenset()
    """The extended resources that the chosen node provides as devices."""


_STATE: StateKey[_State] = StateKey("DynamicResources")


class DynamicResources(Plugin):
    """Reject nodes that cannot reach the devices of a claim, or that cannot provide the devices it requests.

    Upstream: pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go.
    """

    name = "DynamicResources"
    filter_reads = Reads.NODE | Reads.DEVICES
    without_pre_filter = _NO_STATE
    score_reads = Reads.NODE
    scores_after = "preFilter"
    normalize_score = normalize_reduce(MAX_NODE_SCORE)

    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args, handle)
        self.late_text: str = handle.devices.conditions_late_text
        self.enabled = handle.enabled("DynamicResourceAllocation")
        self._devices: Devices | None = None
        self.binds_without_pre_filter = _NO_STATE if self.enabled else None
        self.without_pre_score = _NO_STATE if self.enabled and handle.enabled("DRAPrioritizedList") else None

    def concerns(self, pod: Template) -> bool:
        return self.enabled and bool(pod.spec.resource_claims or pod.device_resources)

    def filter_key(self, pod: Template) -> Hashable:
        """A key of no template part: answers depend on the claims of the pod itself, and are not kept."""
        return ()

    # --- before the pod has a node --------------------------------------------------------------------------

    def pre_enqueue(self, pod: Pod) -> Status | None:
        """Hold the pod back until every claim exists, and is its own if it was made from a template."""
        if not pod.spec.resource_claims or not self.enabled:
            return None
        claims = self._claims(pod)
        return unresolvable(claims) if isinstance(claims, str) else None

    def pre_filter(self, pod: Template, cycle: FrameworkCycle) -> Status | None:
        """Find the claims of the pod, and the classes of those that have no devices yet."""
        state = _State()
        claims = cycle.listings.resource_claims
        cycle.notes[_STATE] = state
        user_claims = self._claims_of(cycle.pod, claims)
        if isinstance(user_claims, str):
            return unresolvable(user_claims)
        if pod.device_resources:
            state.special = claims.extended_of(cycle.pod) or special_claim(cycle.pod)
        if not user_claims and state.special is None:
            return SKIP
        unallocated = [claim for claim in user_claims if claim.status.allocation is None]
        for claim in unallocated:
            if claim.uid in claims.pending:
                return unresolvable(f"resource claim {claim.key} is in the process of being allocated")
            for request in claim.spec.devices.requests:
                class_by_request = {
                    request.name: request.exactly.device_class_name if request.exactly is not None else ""
                }
                if request.first_available and request.exactly is None and self.handle.devices.alternatives:
                    if not self.handle.enabled("DRAPrioritizedList"):
                        return unresolvable(f"resource claim {claim.key}, request {request.name}: {_LISTS}")
                    class_by_request = {
                        f"{request.name}/{alternative.name}": alternative.device_class_name
                        for alternative in request.first_available
                    }
                for name, class_name in class_by_request.items():
                    if not class_name:
                        return error(f"request {name}: unsupported request type")
                    if cycle.listings.device_classes.get(class_name) is None:
                        return unresolvable(f"request {name}: device class {class_name} does not exist")
        state.claims = [*user_claims, *([state.special] if state.special is not None else ())]
        state.unallocated = unallocated
        return None

    def filter(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Failures | None:
        state = cycle.notes.get(_STATE)
        if state is None:
            return Failures.error(_NO_STATE, nodes.has_node)
        if state.special is not None and not is_in_memory(state.special):
            return Failures.where(OLD_CLAIM, nodes.every())
        available = self._available(state.claims, nodes)
        unfit = nodes.none()
        outcomes = np.full(nodes.n, FOUND, np.int8)
        devices = self.devices(cycle)
        timeout_errs = devices.cells.timeout_errs
        errors: dict[str, Mask] = {}
        for searched_claims, places in self._claims_by_node_group(pod, nodes, cycle, state):
            if searched_claims is None:
                unfit[places] = True
            elif searched_claims:
                outcomes[places] = devices.outcomes(searched_claims, nodes.indexes[places])
                for i in places[outcomes[places] >= ERROR].tolist():
                    row = nodes.row(i)
                    text = devices.error(searched_claims, row) if outcomes[i] == ERROR else ""
                    if outcomes[i] == TOO_LATE and timeout_errs:
                        text = f"node {devices.table.names[row]}: {TIMED_OUT.text}"
                    if text:
                        errors.setdefault(text, nodes.none())[i] = True
        masks = {
            CANNOT_FIT: unfit,
            CANNOT_ALLOCATE: outcomes == NONE,
            INVALID_POOLS: outcomes == INVALID,
            TIMED_OUT: (outcomes == TOO_LATE) & (not timeout_errs),
            NOT_AVAILABLE: (outcomes == FOUND) & ~available & ~unfit,
        }
        failures = [Failures.where(reason, mask) for reason, mask in masks.items()]
        return Failures.joined([*failures, *(Failures.error(text, mask) for text, mask in errors.items())])

    def _claims_by_node_group(
        self, pod: Template, nodes: Batch, cycle: FrameworkCycle, state: _State
    ) -> Iterator[tuple[Sequence[ResourceClaim] | None, Rows]]:
        """The claims to find devices for, with the places of the nodes to search; None: these nodes lack a
        resource."""
        everywhere = np.flatnonzero(nodes.has_node)
        if state.special is None:
            yield state.unallocated, everywhere
            return
        device_masks = {name: nodes.allocatables((name,))[0] == 0 for name in sorted(pod.device_resources)}
        # The node itself must have a resource that no DeviceClass provides.
        requested = {name for name, amount in pod.requests.items() if amount and is_device_resource(name)}
        node_resources = requested - pod.device_resources
        lacks = nodes.none()
        for i in range(nodes.n if node_resources else 0):
            node = nodes.node(i)
            lacks[i] = node is not None and not node_resources <= node.status.allocatable.keys()
        yield None, np.flatnonzero(lacks)
        kinds = sum(
            (mask.astype(np.int64) << bit for bit, mask in enumerate(device_masks.values())), nodes.zeros()
        )
        for kind in np.unique(kinds[~lacks & nodes.has_node]).tolist():
            names = frozenset(name for bit, name in enumerate(device_masks) if kind >> bit & 1)
            yield self._needs(state, names, cycle), np.flatnonzero((kinds == kind) & ~lacks & nodes.has_node)

    @staticmethod
    def _needs(
        state: _State, device_resources: frozenset[str], cycle: FrameworkCycle
    ) -> Sequence[ResourceClaim]:
        """The claims to find devices for on a node with *device_resources*."""
        if state.special is None or (not device_resources and len(state.claims) == 1):
            return state.unallocated
        if device_resources not in state.variants:
            classes = cycle.listings.device_classes.by_resource
            state.variants[device_resources] = with_requests(
                state.special, cycle.pod, device_resources, lambda name: classes[name].name
            )
        return [*state.unallocated, state.variants[device_resources]]

    score_concerns = score_devices = concerns

    def score(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Scores:
        """Prefer nodes where the first alternatives of requests are free."""
        state = cycle.notes.get(_STATE)
        scores = nodes.zeros()
        if state is None or not state.claims or not self.handle.enabled("DRAPrioritizedList"):
            return scores
        claim_allocations = [(claim, claim.status.allocation) for claim in state.claims]
        base_score = sum(
            score_of(claim, {result.request for result in allocation.results})
            for claim, allocation in claim_allocations
            if allocation is not None
        )
        for searched_claims, places in self._claims_by_node_group(pod, nodes, cycle, state):
            if searched_claims:
                scores[places] = base_score + self.devices(cycle).scores(
                    searched_claims, nodes.indexes[places]
                )
        return scores

    def devices(self, cycle: FrameworkCycle) -> Devices:
        """The devices of the cluster of *cycle*."""
        devices = self._devices
        if devices is None or devices.table is not cycle.table or devices.listings is not cycle.listings:
            devices = self._devices = Devices(
                cycle.table,
                cycle.listings,
                self.device_cells,
                min(getattr(self.args, "filter_timeout", None) or MOST_SECONDS, MOST_SECONDS),
            )
        return devices

    def accounts(self, cycle: FrameworkCycle, row: int) -> tuple[DeviceAccount, ...]:
        """The reasons against each device on *row* for the pod's claims; none for claims that cannot be used,
        or have devices."""
        user_claims = self._claims_of(cycle.pod, cycle.listings.resource_claims)
        if isinstance(user_claims, str) or not self.enabled:
            return ()
        special = special_claim(cycle.pod) if cycle.template.device_resources else None
        state = _State(
            [*user_claims, *([special] if special is not None else ())],
            [claim for claim in user_claims if not claim.status.allocation],
            special,
        )
        searched_claims = self._needs(state, self._device_resources_of(cycle.template, row, cycle), cycle)
        return accounts(self.devices(cycle), searched_claims, row) if searched_claims else ()

    @staticmethod
    def _device_resources_of(pod: Template, row: int, cycle: FrameworkCycle) -> frozenset[str]:
        """The extended resources of *pod* that the node on *row* provides as devices."""
        nodes = Batch(cycle.table, np.array([row], np.intp))
        return frozenset(name for name in pod.device_resources if not nodes.allocatables((name,))[0][0])

    # --- if it fits nowhere ---------------------------------------------------------------------------------

    def post_filter(self, pod: Template, found: Diagnosis, cycle: FrameworkCycle) -> Status:
        """Take the devices from a claim that the pod cannot reach and no other pod uses."""
        if not self.enabled:
            return unschedulable(DISABLED)
        if not cycle.pod.spec.resource_claims and not self.handle.devices.speaks_without_claims:
            return unschedulable()
        if self.name not in cycle.pre_filtered | cycle.skipped and cycle.notes.get(_STATE) is None:
            return error(_NO_STATE)
        state = cycle.notes.get(_STATE) or _State()
        if not state.claims:
            return unschedulable(NO_CLAIMS)
        assert cycle.post_filter is not None
        claims = cycle.listings.resource_claims
        # Upstream: plugins that come later see the devices as they were in PreFilter.
        afterwards = cycle.post_filter.afterwards
        rows: list[int] = []
        if found.search is not None:
            verdict = found.search.verdict
            rows = [row for row in found.search.visited.tolist() if NOT_AVAILABLE in verdict.reasons(row)]
        nodes = Batch(cycle.table, np.array(rows, np.intp))
        for claim in state.claims if rows else ():
            # Some visited node cannot reach the devices.
            if claim is state.special or self._available([claim], nodes).all():
                continue
            users = claim.status.reserved_for
            if not users or (len(users) == 1 and users[0].uid == cycle.pod.uid):
                status = replace(claim.status, allocation=None, reserved_for=(), devices=())
                afterwards.append(partial(claims.write, claim, replace(claim, status=status)))
                return unschedulable("deallocation of ResourceClaim completed")
        if state.special is not None and not is_in_memory(state.special):
            afterwards.append(partial(claims.write, state.special, None))
            return unschedulable("deletion of ResourceClaim completed")
        return unschedulable("still not schedulable")

    @property
    def idle_text(self) -> str:
        """The text of :meth:`post_filter` for a pod without claims, where PreFilter came to the plugin;
        empty: none."""
        if not self.enabled:
            return DISABLED
        return NO_CLAIMS if self.handle.devices.speaks_without_claims else ""

    def _available(self, claims: Sequence[ResourceClaim], nodes: Batch) -> Mask:
        """The nodes that reach the devices of all allocated *claims*, as far as these can still be used:
        bool[n]."""
        mask = nodes.every()
        for claim in claims:
            allocation = claim.status.allocation
            if allocation is None:
                continue
            if allocation.node_selector is not None:
                mask &= node_selector_mask(allocation.node_selector, nodes)
            if any(result.binding_conditions for result in allocation.results):
                try:
                    # The binding conditions are true or may still become so.
                    if self.device_cells.waits_for_conditions and not are_true(claim):
                        mask &= not self._is_late(allocation)
                except BindingFailed:
                    mask[:] = False
        return mask

    def _is_late(self, allocation: AllocationResult) -> bool:
        """Whether the time for the devices of *allocation* to become ready is over."""
        since = allocation.allocation_timestamp
        return since is not None and seconds_since_1970(since) + self.binding_seconds < self.handle.now()

    # --- once it has a node ---------------------------------------------------------------------------------

    def reserve(self, pod: Pod, node_name: str, cycle: FrameworkCycle) -> Status | None:
        """Allocate devices to the pod's claims; :meth:`pre_bind` writes them."""
        state = cycle.notes.get(_STATE)
        if state is None and self.concerns(cycle.template):
            return error(_NO_STATE)
        if state is None or not state.claims:
            return None
        row = cycle.table.row_of[node_name]
        state.device_resources = self._device_resources_of(cycle.template, row, cycle)
        searched_claims = self._needs(state, state.device_resources, cycle)
        if not searched_claims:
            return None
        try:
            allocations = self.devices(cycle).allocate(searched_claims, row)
        except AllocationError as failure:
            return error(str(failure))
        if allocations is None:
            return error("claim allocation not found for node")
        for claim, allocation in zip(searched_claims, allocations, strict=True):
            cycle.listings.resource_claims.allocate(_allocated(claim, allocation))
        return None

    def unreserve(self, pod: Pod, node_name: str, cycle: FrameworkCycle) -> None:
        state = cycle.notes.get(_STATE)
        claims = cycle.listings.resource_claims
        for claim in state.claims if state is not None else ():
            claims.take_back(claim.uid)
            if claim is (state and state.special):
                if (extended := claims.extended_of(pod)) is not None:
                    claims.write(extended, None)
                continue
            current = claims.get(claim.key)
            if (
                current is not None
                and current.status.allocation is not None
                and _is_reserved_for(current, pod)
            ):
                users = tuple(user for user in current.status.reserved_for if user.uid != pod.uid)
                claims.write(current, replace(current, status=replace(current.status, reserved_for=users)))

    def pre_bind(self, pod: Pod, node_name: str, cycle: FrameworkCycle) -> Status | None:
        """Write the devices to the claims, and the pod as their user."""
        state = cycle.notes.get(_STATE)
        claims = cycle.listings.resource_claims
        for claim in state.claims if state is not None else ():
            if state is not None and claim is state.special:
                fault = self._create_special_claim(state, claims, pod)
            else:
                fault = None if _is_reserved_for(claim, pod) else self._write(claim, claims, pod)
            if fault is not None:
                return error(fault)
        return None

    def _create_special_claim(self, state: _State, claims: ResourceClaims, pod: Pod) -> str | None:
        """Make the special claim, if it got devices."""
        pending = claims.take_back(state.special.uid) if state.special is not None else None
        if pending is None:
            return None
        mappings = mappings_of(pod, state.device_resources)
        if not mappings:
            return f"nil or empty request mappings, no update of pod {pod.key} ExtendedResourceClaimStatus"
        special = self._used_by(as_written(pending, pod), pod)
        claims.write(None, special, (pod, status_of(special, mappings)))
        return None

    def _write(self, claim: ResourceClaim, claims: ResourceClaims, pod: Pod) -> str | None:
        pending = claims.take_back(claim.uid)
        current = claims.get(claim.key)
        if current is None:
            return f'get updated claim {claim.key} after conflict: resourceclaims.resource.k8s.io "{claim.name}" not found'
        if current.metadata.deletion_timestamp is not None:
            return f"claim {claim.key} got deleted in the meantime"
        if pending is not None and current.status.allocation is not None:
            return f"claim {claim.key} got allocated elsewhere in the meantime"
        updated = current if pending is None else _allocated(current, pending.status.allocation)
        if updated.status.allocation is None and self.device_cells.waits_for_conditions:
            return f"claim {claim.key} got deallocated elsewhere in the meantime"
        claims.write(current, self._used_by(updated, pod))
        return None

    def _used_by(self, claim: ResourceClaim, pod: Pod) -> ResourceClaim:
        """*claim* with *pod* among its users; where binding conditions count, also with the time at which
        their wait begins."""
        user = ResourceClaimConsumerReference(resource="pods", name=pod.name, uid=pod.uid)
        allocation = claim.status.allocation
        now = self.handle.now()
        if (
            allocation is not None
            and allocation.allocation_timestamp is None
            and now > -inf
            and self.device_cells.waits_for_conditions
        ):
            allocation = replace(
                allocation,
                allocation_timestamp=datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            )
        return replace(
            claim,
            status=replace(
                claim.status, allocation=allocation, reserved_for=(*claim.status.reserved_for, user)
            ),
        )

    # --- until its devices are ready ------------------------------------------------------------------------

    def waits(self, pod: Pod) -> bool:
        """Whether devices of *pod* have to be ready before it is bound."""
        allocations = (claim.status.allocation for claim in self._used_claims(pod))
        return any(
            result.binding_conditions
            for allocation in allocations
            if allocation is not None
            for result in allocation.results
        )

    def _used_claims(self, pod: Pod) -> list[ResourceClaim]:
        """The claims of *pod* whose binding conditions count."""
        listings = self.handle.listings
        if listings is not None and self.enabled and self.device_cells.waits_for_conditions:
            return listings.resource_claims.of(pod)
        return []

    def readiness(self, pod: Pod) -> str | None:
        """The reason why the devices of *pod* cannot be used; empty: they are ready; None: not known yet."""
        cells = self.device_cells
        for claim in self._used_claims(pod):
            try:
                if are_true(claim):
                    continue
            except BindingFailed as failed:
                return cells.condition_failed_text.format(
                    claim=claim.name,
                    reason=failed.condition.reason,
                    message=json.dumps(failed.condition.message, ensure_ascii=False),
                )
            allocation = claim.status.allocation
            is_late = allocation is not None and self._is_late(allocation)
            return cells.condition_late_text.format(claim=claim.name) if is_late else None
        return ""

    @property
    def binding_seconds(self) -> float:
        """The longest time that a device may take to become ready."""
        return getattr(self.args, "binding_timeout", None) or BINDING_SECONDS

    @cached_property
    def device_cells(self) -> DeviceCells:
        """The cells of device allocation with the gates that are on."""
        return with_gates(self.handle.devices, self.handle.gates)

    def events_to_register(self) -> Events:
        if not self.enabled:
            return ()
        node = Action.ADD | Action.UPDATE_NODE_LABEL
        any_change = ADD_OR_UPDATE
        if self.handle.queueing.amounts_wake_claims:
            node |= Action.UPDATE_NODE_ALLOCATABLE
        return (
            ClusterEvent("Node", node if self.handle.gives_hints else self.handle.labels_and_taints(node)),
            ClusterEvent("ResourceClaim", any_change, hint=partial(claim_changes, claims=self._claims)),
            ClusterEvent(
                "Pod",
                Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM,
                hint=partial(claims_are_made, claims=self._claims),
            ),
            ClusterEvent("DeviceClass", any_change),
            ClusterEvent("ResourceSlice", any_change),
        )

    def _claims(self, pod: Pod) -> list[ResourceClaim] | str:
        listings = self.handle.listings
        return [] if listings is None else self._claims_of(pod, listings.resource_claims)

    def _claims_of(self, pod: Pod, claims: ResourceClaims) -> list[ResourceClaim] | str:
        """The claims of *pod* in order, or the reason why one cannot be used. Upstream:
        foreachPodResourceClaim."""
        used_claims = []
        for pod_claim in pod.spec.resource_claims:
            name = claim_name(pod, pod_claim)
            if name is None:
                if pod_claim.resource_claim_template_name is None:
                    return f'pod "{pod.key}", spec.resourceClaim "{pod_claim.name}": none of the supported fields are set'
                if any(status.name == pod_claim.name for status in pod.status.resource_claim_statuses):
                    continue
                return f'pod "{pod.key}": ResourceClaim not created yet'
            claim = claims.get(f"{pod.namespace}/{name}")
            if claim is None:
                return f'could not find ResourceClaim "{pod.namespace}/{name}"'
            if claim.metadata.deletion_timestamp is not None:
                return f'resourceclaim "{claim.name}" is being deleted'
            owner = claim.controller
            if pod_claim.resource_claim_name is None and (owner is None or owner.uid != pod.uid):
                return self.handle.devices.other_owner_text.format(claim=claim.key, pod=pod.key)
            used_claims.append(claim)
        return used_claims


def _is_reserved_for(claim: ResourceClaim, pod: Pod) -> bool:
    return any(user.uid == pod.uid for user in claim.status.reserved_for)


def _allocated(claim: ResourceClaim, allocation: AllocationResult | None) -> ResourceClaim:
    finalizers = claim.metadata.finalizers
    if FINALIZER not in finalizers:
        finalizers = (*finalizers, FINALIZER)
    return replace(
        claim,
        metadata=replace(claim.metadata, finalizers=finalizers),
        status=replace(claim.status, allocation=allocation),
    )
