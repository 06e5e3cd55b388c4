"""Cycles without predicate metadata, in which upstream's predicates take other, slower paths.

Upstream: pkg/scheduler/algorithm/predicates/metadata.go GetMetadata.
"""

from __future__ import annotations

from ..core.cycle import Cycle
from ..core.matching.spread import hard_constraints, selector_error
from ..core.matching.spread import metadata_fails as spread_unreadable
from ..core.pods.template import StateKey, Template
from ..core.pods.terms import REQUIRED_AFFINITY, REQUIRED_ANTI_AFFINITY, Unreadable, unreadable

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
        may_fail = pod.notes[_MAY_FAIL] = _may_fail(pod)
    if may_fail and _own_fail(pod, cycle):
        return True
    return census.has_unreadable and bool(census.counter(REFUSED_BY).total)


def _may_fail(pod: Template) -> bool:
    """Whether any selector of *pod* itself is invalid."""
    if pod.has_pod_affinity and any(
        unreadable(pod, role) is not None for role in (REQUIRED_AFFINITY, REQUIRED_ANTI_AFFINITY)
    ):
        return True
    return any(selector_error(constraint.label_selector) is not None for constraint in hard_constraints(pod))


def _own_fail(pod: Template, cycle: Cycle) -> bool:
    table = cycle.table
    if unreadable(pod, REQUIRED_AFFINITY) is not None:
        return True
    # Upstream: selectors of the anti-affinity are parsed only if there is a pod to match.
    if unreadable(pod, REQUIRED_ANTI_AFFINITY) is not None and bool(table.pod_count[: table.size].any()):
        return True
    return "EvenPodsSpread" in cycle.release.gates and spread_unreadable(pod, table)
