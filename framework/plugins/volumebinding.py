"""VolumeBinding: can the pod's claims be served on the node, and how full would the volumes be?"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import reduce
from operator import and_
from typing import Any

import attrs
import numpy as np

from ...algorithmprovider.cells import rounded_mean
from ...api.objects import ZERO, PersistentVolumeClaim, Pod, Volume
from ...core.binding import Finding, VolumeError
from ...core.volumes import UNBOUND_IMMEDIATE, storage_left
from ...predicates.rule import VOLUME_BIND_CONFLICT
from ..config.args import WHOLE_RANGE
from ..hints import capacity_grows, claim_is_used, class_changes, driver_stops_reporting, migration_changes
from ..plugin import (
    ADD_OR_UPDATE,
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
    PreFilterResult,
    Reads,
    Reason,
    Scores,
    Status,
    Template,
    claim_name,
    error,
    has_ephemeral_claims,
    is_made_for_pod,
    not_owned,
    unresolvable,
)
from .noderesources import scaled_line, utilization

HOSTNAME = "kubernetes.io/hostname"
TOO_LITTLE_STORAGE = Reason("node(s) did not have enough free storage", resolvable=False)
_NO_STATE = "not found"


class VolumeBinding(Plugin):
    """Reject nodes that cannot reach a bound volume, or where an unbound claim can neither be matched nor
    provisioned.

    With gate VolumeCapacityPriority it prefers nodes by how full the matched volumes would be; with
    StorageCapacityScoring also by the share that new volumes would use of the storage that is left. Upstream:
    pkg/scheduler/framework/plugins/volumebinding/volume_binding.go.
    """

    name = "VolumeBinding"
    filter_reads = Reads.NODE | Reads.VOLUMES
    pre_filter_reads_volumes = True
    score_reads = Reads.NODE | Reads.VOLUMES
    without_pre_filter: str | None = _NO_STATE
    pre_score_skips = True

    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args, handle)
        self._line: Ints | None = None
        self._scores_provisioning = handle.enabled("StorageCapacityScoring")
        if self._scores_provisioning or handle.enabled("VolumeCapacityPriority"):
            self._line = scaled_line((args and args.shape) or WHOLE_RANGE)
        if (self.name, "preFilter") in handle.cells.points_lacked:
            self.without_pre_filter = None
        self.binds_without_pre_filter = self.without_pre_filter
        unreachable = Reason(handle.cells.volume_node_text, resolvable=False)
        missing_volume = Reason(handle.cells.missing_volume_text, resolvable=False)
        self._reasons = (unreachable, VOLUME_BIND_CONFLICT, TOO_LITTLE_STORAGE, missing_volume)

    def concerns(self, pod: Template) -> bool:
        return bool(pod.claims)

    def filter_key(self, pod: Template) -> Hashable:
        return pod.claims

    def score_concerns(self, pod: Template) -> bool:
        return self._line is not None and bool(pod.claims)

    def score_key(self, pod: Template) -> Hashable:
        return pod.claims if self._line is not None else ()

    # --- before the pod has a node --------------------------------------------------------------------------

    def pre_filter(self, pod: Template, cycle: FrameworkCycle) -> PreFilterResult | Status | None:
        fault = next((fault for volume in pod.volumes if (fault := self._fault(pod, volume, cycle))), None)
        if fault is not None:
            return unresolvable(fault)
        off = self.cells.ephemeral_off_text
        if off and not has_ephemeral_claims(cycle.release.volumes, self.handle.gates):
            name = next((volume.name for volume in pod.volumes if is_made_for_pod(volume)), None)
            if name is not None:
                return error(off.format(name))
        try:
            needs = cycle.binder.needs(pod.claims)
        except VolumeError as failure:
            return error(str(failure))
        if needs.immediate:
            return unresolvable(UNBOUND_IMMEDIATE)
        names = _local_nodes(needs.bound, cycle) if self.cells.narrows_to_local_volumes else None
        return None if names is None else PreFilterResult(names)

    def _fault(self, pod: Template, volume: Volume, cycle: FrameworkCycle) -> str | None:
        """The reason why the claim of *volume* makes the pod unschedulable; None if it does not."""
        cells = self.cells
        name = claim_name(pod.pod, volume, has_ephemeral_claims(cycle.release.volumes, self.handle.gates))
        if name is None:
            return None
        claim = cycle.listings.claims.get(f"{pod.namespace}/{name}")
        is_ephemeral = is_made_for_pod(volume)
        if claim is None:
            if is_ephemeral:
                return cells.awaited_claim_text.format(name)
            return f'persistentvolumeclaim "{name}" not found'
        if cells.lost_claims_reject and claim.phase == "Lost":
            return f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{claim.spec.volume_name}"'
        if claim.metadata.deletion_timestamp is not None:
            return f'persistentvolumeclaim "{name}" is being deleted'
        return not_owned(pod.pod, claim, cells.foreign_claim_text) if is_ephemeral else None

    def filter(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Failures | None:
        finding = cycle.binder.find(pod.claims, nodes)
        unbound = finding.unbound | ~finding.bound if self.cells.one_reason else finding.unbound
        masks = (finding.bound, unbound, finding.enough, finding.exists)
        fine = finding.errors == 0
        failures = Failures.all_of(
            [(reason, ~mask & fine) for reason, mask in zip(self._reasons, masks, strict=True)]
        )
        return Failures.joined([failures, *finding.failures()])

    def pre_score(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Status | None:
        """Skip where no volume is matched to a claim, in releases where provisioned ones are not scored."""
        if self._scores_provisioning or VolumeBinding.name not in self.cells.skips_scoring:
            return None
        return None if self.score_concerns(pod) and _uses(cycle.binder.find(pod.claims, nodes)) else SKIP

    def score(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Scores:
        """The fit of volumes to claims, by storage class: int64[n]; 0 where there are none, or without the
        gate."""
        if self._line is None or not pod.claims:
            return nodes.zeros()
        finding = cycle.binder.find(pod.claims, nodes)
        uses = _uses(finding)
        if self._scores_provisioning:
            uses += _provisions(finding, nodes, cycle)
        if not uses:
            return nodes.zeros()
        return rounded_mean(
            np.stack([self._line[utilization(use.requested, use.capacity)] for use in uses]),
            np.stack([use.offered for use in uses]).astype(np.int64),
        )

    # --- once it has one ------------------------------------------------------------------------------------

    def reserve(self, pod: Pod, node_name: str, cycle: FrameworkCycle) -> Status | None:
        """Assume the volumes that the filter found for the pod."""
        return assume_volumes(pod, node_name, cycle)

    def unreserve(self, pod: Pod, node_name: str, cycle: FrameworkCycle) -> None:
        cycle.binder.revert(pod, node_name)

    def pre_bind(self, pod: Pod, node_name: str, cycle: FrameworkCycle) -> Status | None:
        """Nothing to do: the caller writes what :meth:`~...core.volumes.binder.VolumeBinder.bind` returns to
        the API."""
        return None

    def events_to_register(self) -> Events:
        node_actions = Action.ADD | Action.UPDATE_NODE_LABEL
        any_change = ADD_OR_UPDATE
        narrow = self.handle.queueing.narrow_events
        if self.handle.queueing.binding_waits_for_nodes:
            node_actions = any_change
        drivers = (Action.UPDATE, driver_stops_reporting) if narrow else (any_change, None)
        return (
            self.handle.node_event(node_actions, self.handle.labels_and_taints(node_actions)),
            ClusterEvent("StorageClass", any_change, hint=class_changes),
            ClusterEvent("PersistentVolumeClaim", any_change, hint=claim_is_used),
            ClusterEvent("PersistentVolume", any_change),
            ClusterEvent("CSINode", any_change, hint=migration_changes),
            ClusterEvent("CSIDriver", drivers[0], hint=drivers[1]),
            ClusterEvent("CSIStorageCapacity", any_change, hint=capacity_grows),
        )


def assume_volumes(pod: Pod, node_name: str, cycle: FrameworkCycle) -> Status | None:
    """Assume the volumes that the filter found for *pod* on the node; there are none where the filter is not
    enabled."""
    if cycle.template.claims and any(rule.name == VolumeBinding.name for rule in cycle.algorithm.predicates):
        binder = cycle.binder
        rows = np.array([cycle.table.row_of[node_name]], np.intp)
        try:
            binder.remember(pod, cycle.template.claims, Batch(cycle.table, rows))
            binder.assume(pod, node_name)
        except VolumeError as failure:
            return error(str(failure))
    return None


# --- local volumes ------------------------------------------------------------------------------------------


def _local_nodes(claims: Iterable[PersistentVolumeClaim], cycle: FrameworkCycle) -> frozenset[str] | None:
    """The only nodes that can reach the volumes of *claims*; None if no volume names nodes.

    Upstream: GetEligibleNodes, which uses values of the hostname label as names of nodes.
    """
    try:
        volumes = [cycle.binder.volume(claim.spec.volume_name) for claim in claims]
    except VolumeError:
        return None
    name_sets = []
    for affinity in (volume.spec.node_affinity for volume in volumes):
        # A term without hostnames adds none, although it can match any node.
        names = set()
        for term in affinity.node_selector_terms if affinity is not None else ():
            hosts = [
                set(e.values) for e in term.match_expressions if e.key == HOSTNAME and e.operator == "In"
            ]
            names |= reduce(and_, hosts) if hosts else set()
        if names:
            name_sets.append(names)
    return frozenset(reduce(and_, name_sets)) if name_sets else None


# --- how full volumes would be ------------------------------------------------------------------------------


@attrs.frozen(eq=False)
class _Use:
    """The volumes of one storage class on n nodes, matched or to be provisioned.

    ``offered``: bool[n]; ``requested`` and ``capacity`` in bytes: int64[n].
    """

    offered: Mask
    requested: Ints
    capacity: Ints

    @classmethod
    def none(cls, n: int) -> _Use:
        zeros = np.zeros(n, np.int64)
        return cls(np.zeros(n, np.bool_), zeros, zeros)


def _uses(finding: Finding) -> list[_Use]:
    """The matched volumes of the pod's claims, by storage class."""
    sizes = np.array(
        [volume.spec.capacity.get("storage", ZERO).value() for volume in finding.volumes], np.int64
    )
    kinds = [volume.spec.storage_class_name for volume in finding.volumes]
    use_by_class: dict[str, _Use] = {}
    for claim, numbers in finding.matches:
        size = claim.spec.requests.get("storage", ZERO).value()
        for kind in dict.fromkeys(kinds):
            matched = (numbers >= 0) & np.array([matched_class == kind for matched_class in kinds])[numbers]
            use = use_by_class.get(kind) or _Use.none(len(matched))
            use_by_class[kind] = _Use(
                use.offered | matched,
                use.requested + size * matched,
                use.capacity + np.where(matched, sizes[numbers], 0),
            )
    return list(use_by_class.values())


def _provisions(finding: Finding, nodes: Batch, cycle: FrameworkCycle) -> list[_Use]:
    """The storage left and requested where no volume is matched and new ones are provisioned, by storage
    class."""
    unmatched = reduce(and_, (numbers < 0 for _, numbers in finding.matches), nodes.every())
    use_by_class: dict[str, _Use] = {}
    for claim, where_needed in finding.provisions:
        kind = cycle.listings.classes.get(claim.storage_class)
        size = claim.spec.requests.get("storage", ZERO).value()
        storage = None if kind is None else storage_left(kind, claim, nodes, cycle.listings)
        if storage is None:
            continue
        has_capacity, amount = storage
        mask = unmatched & where_needed & has_capacity
        name = claim.spec.storage_class_name or ""
        use = use_by_class.get(name) or _Use.none(nodes.n)
        # Upstream: all claims of a class share one capacity, that of the last.
        use_by_class[name] = _Use(
            use.offered | mask, use.requested + size * mask, np.where(mask, amount, use.capacity)
        )
    return list(use_by_class.values())
