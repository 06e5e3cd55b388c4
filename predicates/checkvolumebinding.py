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
    """Turn down nodes that cannot reach a volume of *pod*'s claims, or where a claim without volume can
    neither get one nor have one made.

    Upstream: pkg/scheduler/algorithm/predicates/predicates.go NewVolumeBindingPredicate. Before 1.14 it asks
    the binder about pods without claims too, and the binder has nothing against them.
    """
    if not pod.claims or not cycle.binder.enabled:
        return None
    finding = cycle.binder.find(pod.claims, nodes)
    failures = Failures.coded(
        np.where(finding.errors == 0, ~finding.bound + 2 * ~finding.unbound, 0), _REASONS
    )
    return Failures.joined([failures, *finding.failures()])
