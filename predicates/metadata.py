"""When upstream has no predicate metadata for a cycle, so that predicates take their slow paths.

Upstream: pkg/scheduler/algorithm/predicates/metadata.go GetMetadata.
"""

from __future__ import annotations

from ..core.cycle import Cycle
from ..core.podterms import REQUIRED_AFFINITY, REQUIRED_ANTI_AFFINITY, Unreadable, unreadable
from ..core.spread import metadata_fails as spread_unreadable
from ..core.table import NodeTable
from ..core.template import Template


def metadata_fails(cycle: Cycle) -> bool:
    """Whether a row without a node, where the release minds, or an invalid selector keeps upstream from its metadata."""
    table, release = cycle.table, cycle.release
    if release.nodeless_breaks_metadata and bool((table.used & ~table.has_node)[: table.size].any()):
        return True
    if _affinity_unreadable(cycle.template, table):
        return True
    return "EvenPodsSpread" in release.gates and spread_unreadable(cycle.template, table)


def _affinity_unreadable(pod: Template, table: NodeTable) -> bool:
    if table.census.counter(Unreadable(REQUIRED_ANTI_AFFINITY)).total:
        return True
    if not pod.has_pod_affinity:
        return False
    if unreadable(pod, REQUIRED_AFFINITY) is not None:
        return True
    # Upstream: selectors of the anti-affinity are parsed only where there is a pod to match.
    return unreadable(pod, REQUIRED_ANTI_AFFINITY) is not None and bool(table.pod_count[: table.size].any())
