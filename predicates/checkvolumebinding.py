"""Can the pod's volume claims be satisfied on the node?"""

from __future__ import annotations

import numpy as np

from .rule import (
    VOLUME_BIND_CONFLICT,
    VOLUME_NODE_CONFLICT,
    Batch,
    Cycle,
    Failures,
    Reads,
    Template,
    has_volumes,
    predicate,
)

_REASONS = ((VOLUME_NODE_CONFLICT,), (VOLUME_BIND_CONFLICT,), (VOLUME_NODE_CONFLICT, VOLUME_BIND_CONFLICT))


def _remember(pod: Template, nodes: Batch, cycle: Cycle) -> None:
    if pod.claims and cycle.binder.enabled:
        cycle.binder.remember(cycle.pod, pod.claims, nodes)


@predicate(
    "CheckVolumeBinding",
    reads=Reads.NODE | Reads.VOLUMES,
    key=lambda pod: pod.claims,
    effect=_remember,
    concerns=has_volumes,
)
def check_volume_binding(pod: Template, nodes: Batch, cycle: Cycle) -> Failures | None:
    """Turn down nodes where a volume claim of *pod* cannot be satisfied.

    A bound claim needs its volume in reach, an unbound one a volume to bind or to provision.

    Upstream: pkg/scheduler/algorithm/predicates/predicates.go NewVolumeBindingPredicate. Before 1.14 the
    binder is asked about pods without claims too, and never objects.
    """
    if not pod.claims or not cycle.binder.enabled:
        return None
    finding = cycle.binder.find(pod.claims, nodes)
    failures = Failures.coded(
        np.where(finding.errors == 0, ~finding.bound + 2 * ~finding.unbound, 0), _REASONS
    )
    return Failures.joined([failures, *finding.failures()])
