"""PodToleratesNodeTaints and its NoExecute twin."""

from __future__ import annotations

from typing import Any

import pytest

from kubeclassic.predicates.taints import pod_tolerates_node_no_execute_taints, pod_tolerates_node_taints
from tests.support.build import ask, node, pod

REASON = "node(s) had taints that the pod didn't tolerate"
Json = dict[str, Any]
DEDICATED = {"key": "dedicated", "value": "db", "effect": "NoSchedule"}


def turned_down(taints: list[Json], tolerations: list[Json], rule: Any = pod_tolerates_node_taints) -> bool:
    found = ask(rule, pod("p", tolerations=tolerations), node("n", taints=taints), node("m"))
    assert found["m"] == []
    assert found["n"] in ([], [REASON])
    return bool(found["n"])


class TestPodToleratesNodeTaints:
    @pytest.mark.parametrize(
        ("toleration", "tolerated"),
        [
            ({"key": "dedicated", "value": "db"}, True),
            ({"key": "dedicated", "operator": "Equal", "value": "db", "effect": "NoSchedule"}, True),
            ({"key": "dedicated", "value": "web"}, False),
            ({"key": "other", "value": "db"}, False),
            ({"key": "dedicated", "value": "db", "effect": "NoExecute"}, False),
            ({"key": "dedicated", "operator": "Exists"}, True),
            ({"operator": "Exists"}, True),
            ({"operator": "Exists", "effect": "NoExecute"}, False),
            ({"value": "db"}, True),
            ({"key": "dedicated", "operator": "Like", "value": "db"}, False),
            ({"key": "dedicated", "operator": "Exists", "tolerationSeconds": 0}, True),
        ],
    )
    def test_tolerations(self, toleration: Json, tolerated: bool) -> None:
        """An empty key or effect covers any, Exists any value; an empty key with Equal covers every key of that value."""
        assert turned_down([DEDICATED], [toleration]) is not tolerated


class TestPodToleratesNodeNoExecuteTaints:
    def test_looks_at_no_execute_alone(self) -> None:
        """A NoSchedule taint is no objection here."""
        assert not turned_down([DEDICATED], [], pod_tolerates_node_no_execute_taints)
        assert turned_down([DEDICATED | {"effect": "NoExecute"}], [], pod_tolerates_node_no_execute_taints)
