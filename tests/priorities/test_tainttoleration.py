"""TaintTolerationPriority: the fewer taints to put up with the better."""

from __future__ import annotations

from typing import Any

from kubeclassic.priorities.tainttoleration import taint_toleration
from tests.support.build import engine, node, pod, scored


def taint(key: str, effect: str = "PreferNoSchedule", value: str = "") -> dict[str, Any]:
    """A taint."""
    return {"key": key, "effect": effect, "value": value}


NODES = (
    node("clean"),
    node("one", taints=[taint("a")]),
    node("three", taints=[taint("a"), taint("b"), taint("c", value="v")]),
    node("hard", taints=[taint("a", "NoSchedule"), taint("a", "NoExecute")]),
)


def raw(*tolerations: dict[str, Any]) -> list[int]:
    """The number of taints that count on each of the nodes."""
    return [*scored(taint_toleration, pod("p", tolerations=list(tolerations)), *NODES, reduced=False).values()]


class TestTaintToleration:
    def test_counts_what_is_not_tolerated(self) -> None:
        """Taints of effect PreferNoSchedule count, each by itself; harder ones do not."""
        assert raw() == [0, 1, 3, 0]
        assert raw({"key": "a", "operator": "Exists"}) == [0, 0, 2, 0]
        assert raw({"key": "c", "value": "v", "effect": "PreferNoSchedule"}) == [0, 1, 2, 0]
        assert raw({"operator": "Exists"}) == [0, 0, 0, 0]

    def test_tolerations_of_other_effects_do_not_help(self) -> None:
        """A toleration for NoSchedule does not cover a PreferNoSchedule taint."""
        assert raw({"key": "a", "operator": "Exists", "effect": "NoSchedule"}) == [0, 1, 3, 0]

    def test_a_clean_node_scores_ten(self) -> None:
        """The node with most untolerated taints scores 0, a clean one 10."""
        assert scored(taint_toleration, pod("p"), *NODES) == {"clean": 10, "one": 7, "three": 0, "hard": 10}

    def test_no_taints_at_all(self) -> None:
        """Where nothing is to put up with every node scores 10."""
        assert scored(taint_toleration, pod("p"), node("a"), node("b")) == {"a": 10, "b": 10}

    def test_the_key_leaves_out_other_effects(self) -> None:
        """Pods that differ in tolerations for NoSchedule share scores."""
        begin = engine(node("n")).begin
        lists: list[list[dict[str, Any]]] = [[], [{"key": "x", "effect": "NoSchedule"}], [{"key": "x"}]]
        keys = [taint_toleration.key(begin(pod("p", tolerations=each)).template) for each in lists]
        assert keys[0] == keys[1] != keys[2]
