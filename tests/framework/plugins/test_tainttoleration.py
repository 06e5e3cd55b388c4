"""TaintToleration: which taint the reason names, and how many soft taints are not tolerated."""

from __future__ import annotations

from typing import Any

import pytest

from kubeclassic.core.arrays.batch import Batch
from kubeclassic.framework.plugins.tainttoleration import TaintToleration
from tests.support.asking import cycle_of, found_by, handle, scores
from tests.support.build import node, pod

PLUGIN = TaintToleration(None, handle())


def taint(key: str, value: str = "", effect: str = "NoSchedule") -> dict[str, str]:
    return {"key": key, "value": value, "effect": effect}


def text(key: str, value: str = "") -> str:
    return f"node(s) had untolerated taint {{{key}: {value}}}"


class TestFilter:
    @pytest.mark.parametrize(
        ("taints", "found"),
        [
            ([], None),
            ([taint("a", "x")], text("a", "x")),
            ([taint("a")], text("a")),
            ([taint("soft", effect="PreferNoSchedule"), taint("b", effect="NoExecute"), taint("a")], text("b")),
            ([taint("fine"), taint("a")], text("a")),
            ([taint("fine")], None),
        ],
    )
    def test_the_first_taint_that_is_not_tolerated_is_named(self, taints: Any, found: str | None) -> None:
        """In the node's own order, passing over PreferNoSchedule; a taint without value leaves a blank behind its key."""
        cycle = cycle_of(pod("new", tolerations=[{"key": "fine", "operator": "Exists"}]), node("n", taints=taints))
        assert found_by(PLUGIN, cycle, Batch(cycle.table)) == {"n": found}

    def test_nodes_are_told_apart_by_their_taints(self) -> None:
        """Each node gets the reason of its own taint, and none can be resolved."""
        objects = [node("a", taints=[taint("a")]), node("b", taints=[taint("b")]), node("c", taints=[taint("a"), taint("b")])]
        cycle = cycle_of(pod("new"), *objects)
        assert found_by(PLUGIN, cycle, Batch(cycle.table)) == {"a": text("a"), "b": text("b"), "c": text("a")}
        failures = PLUGIN.filter(cycle.template, Batch(cycle.table), cycle)
        assert failures is not None
        assert not failures.reasons(0)[0].resolvable


class TestScore:
    def test_fewer_preferred_taints_are_better(self) -> None:
        """The node with the most intolerable PreferNoSchedule taints gets 0, one without any 100."""
        soft = [taint(key, effect="PreferNoSchedule") for key in "abc"]
        nodes = [node("none"), node("one", taints=soft[:1]), node("three", taints=soft)]
        assert scores(PLUGIN, pod("new"), *nodes) == {"none": 100, "one": 67, "three": 0}

    def test_without_any_all_are_best(self) -> None:
        """Where no node has such a taint every node gets 100."""
        assert scores(PLUGIN, pod("new"), node("a"), node("b", taints=[taint("hard")])) == {"a": 100, "b": 100}
