"""NodeUnschedulable: nodes that are closed."""

from __future__ import annotations

from kubeclassic.core.arrays.batch import Batch
from kubeclassic.framework.plugins.nodeunschedulable import NodeUnschedulable
from tests.support.asking import cycle_of, found_by, handle
from tests.support.build import node, pod

TAINT = {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"}


class TestNodeUnschedulable:
    def test_a_closed_node_is_turned_down_for_good(self) -> None:
        """A node with spec.unschedulable takes no pod, and removing pods would not help."""
        cycle = cycle_of(pod("new"), node("open"), node("closed", unschedulable=True))
        plugin, nodes = NodeUnschedulable(None, handle()), Batch(cycle.table)
        assert found_by(plugin, cycle, nodes) == {"open": None, "closed": "node(s) were unschedulable"}
        failures = plugin.filter(cycle.template, nodes, cycle)
        assert failures is not None
        assert not any(r.resolvable for reasons in failures.sequences.values() for r in reasons)

    def test_a_toleration_opens_it(self) -> None:
        """A pod that tolerates the unschedulable taint may go to a closed node, even if the node does not have the taint."""
        cycle = cycle_of(pod("new", tolerations=[TAINT]), node("closed", unschedulable=True))
        assert found_by(NodeUnschedulable(None, handle()), cycle, Batch(cycle.table)) == {"closed": None}
