"""VolumeRestrictions: do other pods use the disks and claims that the pod needs for itself?"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from ...core.volumes import SOLE_USER
from ...predicates.nodiskconflict import has_disks, no_disk_conflict
from ..hints import claim_is_named, pod_leaves_disk
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
    Plugin,
    Reads,
    Reason,
    Status,
    Template,
    unresolvable,
)

_NO_STATE = 'cannot read "PreFilterVolumeRestrictions" from cycleState'


class VolumeRestrictions(Plugin):
    """Reject nodes where another pod uses the pod's disk, and all nodes while one uses its ReadWriteOncePod
    claim.

    Upstream: pkg/scheduler/framework/plugins/volumerestrictions/volume_restrictions.go.
    """

    name = "VolumeRestrictions"
    filter_reads = Reads.PODS | Reads.VOLUMES | Reads.CLUSTER
    pre_filter_reads_volumes = True
    without_pre_filter: str | None = _NO_STATE
    follows_pods: str | None = _NO_STATE

    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args, handle)
        self._in_use = Reason(handle.cells.sole_user_text)
        self._looks_at_claims = handle.enabled("ReadWriteOncePod")
        if not self._looks_at_claims or handle.cells.sole_users_reject:
            self.without_pre_filter = self.follows_pods = None

    def concerns(self, pod: Template) -> bool:
        return bool(pod.volumes) and (has_disks(pod) or bool(_claims(pod)))

    def filter_key(self, pod: Template) -> Hashable:
        return pod.namespace, pod.volumes

    def pre_filter(self, pod: Template, cycle: FrameworkCycle) -> Status | None:
        cells = self.cells
        for name in _claims(pod) if self._looks_at_claims else ():
            claim = cycle.listings.claims.get(f"{pod.namespace}/{name}")
            if claim is None:
                return unresolvable(f'persistentvolumeclaim "{name}" not found')
            rejects = cells.sole_users_reject and not cells.trials_change_users
            if rejects and SOLE_USER in claim.spec.access_modes and _used(frozenset((name,)), pod, cycle):
                return unresolvable(cells.sole_user_text)
        if self._looks_at_claims and cells.trials_change_users and _used(self._sole(pod, cycle), pod, cycle):
            return unresolvable(cells.sole_user_text)
        if not cells.idle_restrictions_skip or has_disks(pod):
            return None
        sole = self._sole(pod, cycle)
        return None if sole and _used(sole, pod, cycle) else SKIP

    def filter_without_state(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Failures | None:
        return no_disk_conflict.check(pod, nodes, cycle)

    def filter(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Failures | None:
        conflict = no_disk_conflict.check(pod, nodes, cycle)
        sole = frozenset[str]() if self.cells.sole_users_reject else self._sole(pod, cycle)
        if not sole:
            return conflict
        free = nodes.every() if conflict is None else conflict.passed
        # For each node the number of conflicting claims: those used in the cluster, changed by the edits of
        # the trial: int64[n].
        count = np.full(nodes.n, len(_used(sole, pod, cycle)), np.int64)
        for edit in nodes.edits:
            # Upstream: for pods added and removed in a trial only the name of the claim is compared, not the
            # namespace.
            count[edit.at] += edit.sign * sum(name in sole for name in _claims(edit.entry.template))
        return Failures.joined([conflict, Failures.where(self._in_use, free & (count > 0))])

    def _sole(self, pod: Template, cycle: FrameworkCycle) -> frozenset[str]:
        """The names of *pod*'s claims that only one pod may use."""
        if not self._looks_at_claims:
            return frozenset()
        claims = (cycle.listings.claims.get(f"{pod.namespace}/{name}") for name in _claims(pod))
        return frozenset(
            claim.name for claim in claims if claim is not None and SOLE_USER in claim.spec.access_modes
        )

    def events_to_register(self) -> Events:
        claims = Action.ADD if self.handle.queueing.narrow_claim_events else ADD_OR_UPDATE
        return (
            ClusterEvent("Pod", Action.DELETE, hint=pod_leaves_disk),
            self.handle.node_event(Action.ADD, Action.ADD),
            ClusterEvent("PersistentVolumeClaim", claims, hint=claim_is_named),
        )


def _claims(pod: Template) -> tuple[str, ...]:
    """The claims that *pod* names, without those of generic ephemeral volumes."""
    return tuple(volume.claim.claim_name for volume in pod.volumes if volume.claim is not None)


def _used(sole: frozenset[str], pod: Template, cycle: FrameworkCycle) -> set[str]:
    """The claims of *sole* that a pod in the cluster uses."""
    if cycle.claim_users is not None:
        return {name for name in sole if cycle.claim_users.in_use(f"{pod.namespace}/{name}")}
    cluster = Batch(cycle.table)
    cluster_pods = (
        entry.template for i in cluster.with_volumes() if cluster.has_node[i] for entry in cluster.pods(i)
    )
    return {
        name
        for pod_template in cluster_pods
        if pod_template.namespace == pod.namespace
        for name in sole.intersection(_claims(pod_template))
    }
