"""TaintTolerationPriority: the fewer taints to put up with the better."""

from __future__ import annotations

from typing import Any

from kubeclassic.priorities.tainttoleration import taint_toleration
from tests.support.build import engine, node, pod, scored


def taint(key: str, effect: str = "PreferNoSchedule") -> dict[str, Any]:
    """A taint."""
    return {"key": key, "effect": effect}


class TestTaintToleration:
    def test_a_clean_node_scores_ten(self) -> None:
        """The node with most untolerated taints scores 0, a clean one 10; harder taints do not count."""
        taints = {"clean": [], "one": [taint("a")], "three": [taint(key) for key in "abc"], "hard": [taint("a", "NoSchedule")]}
        nodes = [node(name, taints=found) for name, found in taints.items()]
        assert scored(taint_toleration, pod("p"), *nodes) == {"clean": 10, "one": 7, "three": 0, "hard": 10}

    def test_the_key_leaves_out_other_effects(self) -> None:
        """Pods that differ in tolerations for NoSchedule share scores."""
        begin = engine(node("n")).begin
        lists: list[list[dict[str, Any]]] = [[], [{"key": "x", "effect": "NoSchedule"}], [{"key": "x"}]]
        keys = [taint_toleration.key(begin(pod("p", tolerations=each)).template) for each in lists]
        assert keys[0] == keys[1] != keys[2]
