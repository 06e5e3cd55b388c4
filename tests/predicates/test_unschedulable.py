"""CheckNodeUnschedulable: closed nodes, and who may enter all the same."""

from __future__ import annotations

from typing import Any

import pytest

from kubeclassic.predicates.unschedulable import check_node_unschedulable
from tests.support.build import ask, node, pod

REASON = "node(s) were unschedulable"
KEY = "node.kubernetes.io/unschedulable"


class TestCheckNodeUnschedulable:
    def test_turns_down_a_closed_node(self) -> None:
        """A node with spec.unschedulable fails, others do not."""
        assert ask(check_node_unschedulable, pod("p"), node("n", unschedulable=True), node("m")) == {"n": [REASON], "m": []}

    @pytest.mark.parametrize(
        ("toleration", "expected"),
        [
            ({"key": KEY, "operator": "Exists"}, []),
            ({"key": KEY, "effect": "NoSchedule"}, []),
            ({"operator": "Exists"}, []),
            ({"key": KEY, "operator": "Exists", "effect": "NoExecute"}, [REASON]),
            ({"key": KEY, "value": "true"}, [REASON]),
        ],
    )
    def test_a_toleration_of_the_taint_opens_it(self, toleration: dict[str, Any], expected: list[str]) -> None:
        """A pod that tolerates the taint unschedulable, of empty value and effect NoSchedule, may enter."""
        assert ask(check_node_unschedulable, pod("p", tolerations=[toleration]), node("n", unschedulable=True)) == {"n": expected}

    def test_does_not_look_at_taints(self) -> None:
        """The taint alone does not close a node for this rule."""
        tainted = node("n", taints=[{"key": KEY, "effect": "NoSchedule"}])
        assert ask(check_node_unschedulable, pod("p"), tainted) == {"n": []}
