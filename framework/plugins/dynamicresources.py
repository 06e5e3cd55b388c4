"""DynamicResources: claims to devices."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial
from typing import Any, ClassVar

import attrs
import numpy as np
from msgspec.structs import replace

from ...api.objects import AllocationResult, DeviceClass, DeviceRequest, Pod, ResourceClaim, ResourceClaimConsumerReference
from ...core.arrays.batch import Batch
from ...core.arrays.types import Ints, Mask, Scores
from ...core.cluster.listings import Listing, ResourceClaims, claim_name
from ...core.cycle import constant_array
from ...core.devices.accounts import DeviceAccount, accounts
from ...core.devices.claimjudging import AllocationError
from ...core.devices.nodedevices import ERROR, FOUND, MOST_SECONDS, NONE, TOO_LATE, Devices
from ...core.failures import Failures, Reason
from ...core.matching.nodeselectors import node_selector_mask
from ...core.pods.notes import StateKey
from ...core.pods.template import Template
from ...core.rule import Reads, Reduction
from ...priorities.reduce import normalize_reduce
from ..cycle.diagnosis import Diagnosis
from ..cycle.state import FrameworkCycle
from ..hints import claim_changes, claims_are_made
from ..plugin import MAX_NODE_SCORE, Handle, Plugin
from ..queue.events import Action, ClusterEvent
from ..status import SKIP, Status, error, unresolvable, unschedulable

NOT_AVAILABLE = Reason("resourceclaim not available on the node", resolvable=False)
CANNOT_ALLOCATE = Reason("cannot allocate all claims", resolvable=False)
TIMED_OUT = Reason("timed out trying to allocate devices", resolvable=False)
FINALIZER = "resource.kubernetes.io/delete-protection"
DISABLED = "plugin disabled"
NO_CLAIMS = "no new claims to deallocate"
_NO_STATE = "not found"
_LISTS = "has subrequests, but the DRAPrioritizedList feature is disabled"


@attrs.define(eq=False, repr=False)
class _State:
    """What the plugin knows of the pod's claims in a cycle. ``claims`` is empty if the pod needs none."""

    claims: Sequence[ResourceClaim] = ()
    wanted: Sequence[ResourceClaim] = ()
    """Those of the claims that have no devices yet."""


_STATE: StateKey[_State] = StateKey("DynamicResources")


class DynamicResources(Plugin):
    """Reject nodes from which the devices of a claim cannot be reached, or where those that it asks for cannot be had.

    Upstream: pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go.
    """

    name = "DynamicResources"
    filter_reads: ClassVar[Reads] = Reads.NODE | Reads.DEVICES
    without_pre_filter: str | None = _NO_STATE
    score_reads: Reads = Reads.NODE
    scores_after: ClassVar[str] = "preFilter"
    normalize_score: Reduction = normalize_reduce(MAX_NODE_SCORE)

    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args, handle)
        self.enabled = handle.enabled("DynamicResourceAllocation")
        self._devices: Devices | None = None
        self.without_pre_score = _NO_STATE if self.enabled and handle.enabled("DRAPrioritizedList") else None

    def concerns(self, pod: Template) -> bool:
        return self.enabled and bool(pod.spec.resource_claims)

    def filter_key(self, pod: Template) -> Hashable:
        """Nothing of the template: answers depend on the claims of the very pod, and are not kept."""
        return ()

    # --- before the pod has a node ----------------------------------------------------------------------------------

    def pre_enqueue(self, pod: Pod) -> Status | None:
        """Every claim of the pod has to exist, and be its own if it was made from a template."""
        if not pod.spec.resource_claims or not self.enabled or self.handle.listings is None:
            return None
        found = claims_of(pod, self.handle.listings.resource_claims)
        return unresolvable(found) if isinstance(found, str) else None

    def pre_filter(self, pod: Template, cycle: FrameworkCycle) -> Status | None:
        """Find the claims of the pod, and the classes of those that have no devices yet."""
        state = cycle.notes[_STATE] = _State()
        found = claims_of(cycle.pod, cycle.listings.resource_claims)
        if isinstance(found, str):
            return unresolvable(found)
        if not found:
            return SKIP
        wanted = [claim for claim in found if claim.status.allocation is None]
        for claim in wanted:
            if claim.key in cycle.listings.resource_claims.pending:
                return unresolvable(f"resource claim {claim.key} is in the process of being allocated")
            for request in claim.spec.devices.requests:
                if fault := self._fault(claim, request, cycle.listings.device_classes):
                    return fault
        state.claims, state.wanted = found, wanted
        return None

    def _fault(self, claim: ResourceClaim, request: DeviceRequest, classes: Listing[DeviceClass]) -> Status | None:
        """Why *request* cannot be tried; None where it can."""
        named = {request.name: request.exactly.device_class_name if request.exactly is not None else ""}
        if request.first_available and request.exactly is None and self.handle.devices.alternatives:
            if not self.handle.enabled("DRAPrioritizedList"):
                return unresolvable(f"resource claim {claim.key}, request {request.name}: {_LISTS}")
            named = {f"{request.name}/{one.name}": one.device_class_name for one in request.first_available}
        for name, class_name in named.items():
            if not class_name:
                return error(f"request {name}: unsupported request type")
            if classes.get(class_name) is None:
                return unresolvable(f"request {name}: device class {class_name} does not exist")
        return None

    def filter(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Failures | None:
        state = cycle.notes.get(_STATE)
        if state is None:
            return Failures.error(_NO_STATE, nodes.has_node)
        available = _available(state.claims, nodes)
        if not state.wanted:
            return Failures.where(NOT_AVAILABLE, ~available)
        devices = self.devices(cycle)
        found = devices.outcomes(state.wanted, nodes.indexes)
        masks = {CANNOT_ALLOCATE: found == NONE, TIMED_OUT: found == TOO_LATE, NOT_AVAILABLE: (found == FOUND) & ~available}
        parts = [Failures.where(why, mask) for why, mask in masks.items()]
        return Failures.joined([*parts, *self._errors(state, found, nodes, devices)])

    def score_concerns(self, pod: Template) -> bool:
        return self.concerns(pod)

    def score(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Scores:
        return constant_array(0, nodes.n)

    @staticmethod
    def _errors(state: _State, found: Ints, nodes: Batch, devices: Devices) -> list[Failures | None]:
        texts: dict[str, list[int]] = {}
        for i in np.flatnonzero((found == ERROR) & nodes.has_node).tolist():
            texts.setdefault(devices.error(state.wanted, nodes.row(i)), []).append(i)
        parts = []
        for text, places in texts.items():
            mask = np.zeros(nodes.n, np.bool_)
            mask[places] = True
            parts.append(Failures.error(text, mask))
        return parts

    def devices(self, cycle: FrameworkCycle) -> Devices:
        """The devices of the cluster of *cycle*."""
        found = self._devices
        if found is None or found.table is not cycle.table or found.listings is not cycle.listings:
            admin = self.handle.enabled("DRAAdminAccess")
            seconds = min(getattr(self.args, "filter_timeout", None) or MOST_SECONDS, MOST_SECONDS)
            found = self._devices = Devices(cycle.table, cycle.listings, self.handle.devices, admin, seconds)
        return found

    def accounts(self, cycle: FrameworkCycle, row: int) -> tuple[DeviceAccount, ...]:
        """What rules out each device on *row* for the pod's claims; none for claims that cannot be used, or have devices."""
        found = claims_of(cycle.pod, cycle.listings.resource_claims)
        wanted = [] if isinstance(found, str) else [claim for claim in found if claim.status.allocation is None]
        return accounts(self.devices(cycle), wanted, row) if wanted and self.enabled else ()

    # --- if it fits nowhere -----------------------------------------------------------------------------------------

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
        for claim in self._unreachable(state, found, cycle):
            if all(one.uid == cycle.pod.uid for one in claim.status.reserved_for) and len(claim.status.reserved_for) <= 1:
                status = replace(claim.status, allocation=None, reserved_for=())
                cycle.listings.resource_claims.write(claim, replace(claim, status=status))
                return unschedulable("deallocation of ResourceClaim completed")
        return unschedulable("still not schedulable")

    @property
    def idle_text(self) -> str:
        """What :meth:`post_filter` says of a pod without claims, where PreFilter came to the plugin; empty: nothing."""
        if not self.enabled:
            return DISABLED
        return NO_CLAIMS if self.handle.devices.speaks_without_claims else ""

    def _unreachable(self, state: _State, found: Diagnosis, cycle: FrameworkCycle) -> list[ResourceClaim]:
        """The claims that the plugin noted to be out of reach of some node that was visited."""
        if found.search is None:
            return []
        verdict = found.search.verdict
        rows = [row for row in found.search.visited.tolist() if NOT_AVAILABLE in verdict.reasons(row)]
        nodes = Batch(cycle.table, np.array(rows, np.intp))
        return [claim for claim in state.claims if rows and not _available([claim], nodes).all()]

    # --- once it has a node -----------------------------------------------------------------------------------------

    def reserve(self, pod: Pod, node_name: str, cycle: FrameworkCycle) -> Status | None:
        """Give the pod's claims their devices; they are written with :meth:`pre_bind`."""
        state = cycle.notes.get(_STATE)
        if state is None and cycle.pod.spec.resource_claims and self.enabled:
            return error(_NO_STATE)
        if state is None or not state.wanted:
            return None
        try:
            found = self.devices(cycle).allocate(state.wanted, cycle.table.row_of[node_name])
        except AllocationError as failure:
            return error(str(failure))
        if found is None:
            return error("claim allocation not found for node")
        for claim, allocation in zip(state.wanted, found, strict=True):
            cycle.listings.resource_claims.allocate(_allocated(claim, allocation))
        return None

    def unreserve(self, pod: Pod, node_name: str, cycle: FrameworkCycle) -> None:
        state, claims = cycle.notes.get(_STATE), cycle.listings.resource_claims
        for claim in state.claims if state is not None else ():
            claims.take_back(claim.key)
            current = claims.get(claim.key)
            if current is not None and current.status.allocation is not None and _is_reserved_for(current, pod):
                left = tuple(one for one in current.status.reserved_for if one.uid != pod.uid)
                claims.write(current, replace(current, status=replace(current.status, reserved_for=left)))

    def pre_bind(self, pod: Pod, node_name: str, cycle: FrameworkCycle) -> Status | None:
        """Write the devices to the claims, and that the pod uses them."""
        state, claims = cycle.notes.get(_STATE), cycle.listings.resource_claims
        for claim in state.claims if state is not None else ():
            if not _is_reserved_for(claim, pod):
                fault = self._write(claim, claims, pod)
                if fault is not None:
                    return error(fault)
        return None

    @staticmethod
    def _write(claim: ResourceClaim, claims: ResourceClaims, pod: Pod) -> str | None:
        allocated, before = claims.take_back(claim.key), claims.get(claim.key)
        if before is None:
            return f'get updated claim {claim.key} after conflict: resourceclaims.resource.k8s.io "{claim.name}" not found'
        if before.metadata.deletion_timestamp is not None:
            return f"claim {claim.key} got deleted in the meantime"
        if allocated is not None and before.status.allocation is not None:
            return f"claim {claim.key} got allocated elsewhere in the meantime"
        after = before if allocated is None else _allocated(before, allocated.status.allocation)
        user = ResourceClaimConsumerReference(resource="pods", name=pod.name, uid=pod.uid)
        status = replace(after.status, reserved_for=(*after.status.reserved_for, user))
        claims.write(before, replace(after, status=status))
        return None

    def events_to_register(self) -> Sequence[ClusterEvent]:
        if not self.enabled:
            return ()
        own, both = Action.ADD | Action.UPDATE_NODE_LABEL, Action.ADD | Action.UPDATE
        if self.handle.queueing.amounts_wake_claims:
            own |= Action.UPDATE_NODE_ALLOCATABLE
        nodes = own if self.handle.gives_hints else self.handle.labels_and_taints(own)
        return (
            ClusterEvent("Node", nodes),
            ClusterEvent("ResourceClaim", both, hint=partial(claim_changes, claims=self._claims)),
            ClusterEvent("Pod", Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM, hint=partial(claims_are_made, claims=self._claims)),
            ClusterEvent("DeviceClass", both),
            ClusterEvent("ResourceSlice", both),
        )

    def _claims(self, pod: Pod) -> list[ResourceClaim] | str:
        listings = self.handle.listings
        return [] if listings is None else claims_of(pod, listings.resource_claims)


def claims_of(pod: Pod, claims: ResourceClaims) -> list[ResourceClaim] | str:
    """The claims of *pod* in order, or why one cannot be used. Upstream: foreachPodResourceClaim."""
    found = []
    for wanted in pod.spec.resource_claims:
        name = claim_name(pod, wanted)
        if name is None:
            if wanted.resource_claim_template_name is None:
                return f'pod "{pod.key}", spec.resourceClaim "{wanted.name}": none of the supported fields are set'
            if any(one.name == wanted.name for one in pod.status.resource_claim_statuses):
                continue
            return f'pod "{pod.key}": ResourceClaim not created yet'
        claim = claims.get(f"{pod.namespace}/{name}")
        if claim is None:
            return f'could not find ResourceClaim "{pod.namespace}/{name}"'
        if claim.metadata.deletion_timestamp is not None:
            return f'resourceclaim "{claim.name}" is being deleted'
        if wanted.resource_claim_name is None and not _is_made_for(claim, pod):
            return f"ResourceClaim {claim.key} was not created for pod {pod.key} (pod is not owner)"
        found.append(claim)
    return found


def _is_made_for(claim: ResourceClaim, pod: Pod) -> bool:
    owner = claim.metadata.controller
    return owner is not None and owner.uid == pod.uid


def _is_reserved_for(claim: ResourceClaim, pod: Pod) -> bool:
    return any(one.uid == pod.uid for one in claim.status.reserved_for)


def _allocated(claim: ResourceClaim, allocation: AllocationResult | None) -> ResourceClaim:
    finalizers = claim.metadata.finalizers
    if FINALIZER not in finalizers:
        finalizers = (*finalizers, FINALIZER)
    metadata = replace(claim.metadata, finalizers=finalizers)
    return replace(claim, metadata=metadata, status=replace(claim.status, allocation=allocation))


def _available(claims: Sequence[ResourceClaim], nodes: Batch) -> Mask:
    """The nodes that reach the devices of all *claims* that have some: bool[n]."""
    mask = np.ones(nodes.n, np.bool_)
    for claim in claims:
        allocation = claim.status.allocation
        if allocation is not None and allocation.node_selector is not None:
            mask &= node_selector_mask(allocation.node_selector, nodes)
    return mask
