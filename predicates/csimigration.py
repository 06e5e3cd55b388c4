"""CSI migration: drivers that have taken over old in-tree plugins. Upstream:
pkg/scheduler/algorithm/predicates/utils.go isCSIMigrationOn."""

from __future__ import annotations

from ..api.objects import CSINode
from ..core.cycle import Cycle
from ..core.volumes import MIGRATED_PLUGINS, PLUGINS


def migrated_plugins(csi_node: CSINode | None, cycle: Cycle) -> frozenset[str]:
    """The in-tree plugins that drivers have taken over on a node: the gates must allow it and its CSINode
    must name them."""
    cells = cycle.release.volumes
    gates = cycle.algorithm.gates
    if csi_node is None or (cells.migration_gate and not gates.get(cells.migration_gate)):
        return frozenset()
    listed = csi_node.annotations.get(MIGRATED_PLUGINS, "").split(",")
    return cells.always_migrated | {
        name for name in listed if name in PLUGINS and gates.get(PLUGINS[name].gate)
    }
