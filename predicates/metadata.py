"""Cycles without predicate metadata, in which upstream's predicates take other, slower paths.

Upstream: pkg/scheduler/algorithm/predicates/metadata.go GetMetadata.
"""

from __future__ import annotations

from ..core.cycle import Cycle
from ..core.matching import hard_constraints, is_readable
from ..core.matching import metadata_fails as spread_unreadable
from ..core.pods import REQUIRED_AFFINITY, REQUIRED_ANTI_AFFINITY, StateKey, Unreadable, unreadable

REFUSED_BY = Unreadable((REQUIRED_ANTI_AFFINITY,))
_MAY_FAIL: StateKey[bool] = StateKey("metadata may fail")


def metadata_fails(cycle: Cycle) -> bool:
    """Whether a row without node or an invalid selector keeps upstream from its metadata.

    Upstream: in 1.16 a row without node does no harm here, but from 1.14 on no snapshot has one.
    """
    table = cycle.table
    pod = cycle.template
    if cycle.release.snapshot_keeps_nodeless and table.has_nodeless:
        return True
    census = table.census
    may_fail = pod.notes.get(_MAY_FAIL)
    if may_fail is None:
        # Whether any selector of the pod itself is invalid.
        texts = [unreadable(pod, role) for role in (REQUIRED_AFFINITY, REQUIRED_ANTI_AFFINITY)]
        may_fail = pod.notes[_MAY_FAIL] = texts != [None, None] or not is_readable(hard_constraints(pod))
    if may_fail:
        if unreadable(pod, REQUIRED_AFFINITY) is not None:
            return True
        # Upstream: selectors of the anti-affinity are parsed only if there is a pod to match.
        if unreadable(pod, REQUIRED_ANTI_AFFINITY) is not None and table.pod_count[: table.size].any():
            return True
        if "EvenPodsSpread" in cycle.release.gates and spread_unreadable(pod, table):
            return True
    return census.has_unreadable and bool(census.counter(REFUSED_BY).total)
