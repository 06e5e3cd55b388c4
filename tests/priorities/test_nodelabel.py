"""Priorities with a labelPreference argument."""

from __future__ import annotations

from kubeclassic.priorities.nodelabel import node_label
from tests.support.build import node, pod, scored

NODES = node("none"), node("empty", labels={"a": ""}), node("some", labels={"a": "1", "b": "2"})


class TestNodeLabel:
    def test_with_presence_nodes_that_have_the_label_score_ten(self) -> None:
        """The value does not matter."""
        assert scored(node_label("Mine", "a", True), pod("p"), *NODES) == {"none": 0, "empty": 10, "some": 10}

    def test_without_presence_nodes_that_lack_the_label_score_ten(self) -> None:
        """The others score 0."""
        assert scored(node_label("Mine", "b", False), pod("p"), *NODES) == {"none": 10, "empty": 10, "some": 0}

    def test_a_label_that_no_node_has(self) -> None:
        """All nodes lack it."""
        assert scored(node_label("Mine", "x", True), pod("p"), *NODES) == {"none": 0, "empty": 0, "some": 0}

    def test_has_the_name_that_the_policy_gives(self) -> None:
        """The user's name is the rule's."""
        assert node_label("Mine", "a", True).name == "Mine"
