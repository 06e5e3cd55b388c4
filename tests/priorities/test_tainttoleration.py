"""TaintTolerationPriority: the fewer taints to put up with the better."""

from __future__ import annotations

from typing import Any

from kubeclassic.priorities.tainttoleration import taint_toleration
from tests.support.build import engine, node, pod


def taint(key: str, effect: str = "PreferNoSchedule") -> dict[str, Any]:
    """A taint."""
    return {"key": key, "effect": effect}


class TestTaintToleration:
    def test_the_key_leaves_out_other_effects(self) -> None:
        """Pods that differ in tolerations for NoSchedule share scores."""
        begin = engine(node("n")).begin
        lists: list[list[dict[str, Any]]] = [[], [{"key": "x", "effect": "NoSchedule"}], [{"key": "x"}]]
        keys = [taint_toleration.key(begin(pod("p", tolerations=each)).template) for each in lists]
        assert keys[0] == keys[1] != keys[2]
