"""EqualPriority: no preference."""

from __future__ import annotations

from kubeclassic.priorities.equal import equal
from tests.support.build import node, pod, scored


class TestEqual:
    def test_every_node_scores_one(self) -> None:
        """Whatever the nodes and the pod are."""
        assert scored(equal, pod("p"), node("a", cpu="0"), node("b", unschedulable=True)) == {"a": 1, "b": 1}
