"""Predicates with a labelsPresence argument."""

from __future__ import annotations

from kubeclassic.predicates.labelpresence import node_label_presence
from tests.support.build import ask, node, pod

REASON = "node(s) didn't have the requested labels"
NODES = node("none"), node("one", labels={"a": "1"}), node("two", labels={"a": "", "b": "2"})


def fitting(*labels: str, presence: bool) -> list[str]:
    """The nodes that fit."""
    found = ask(node_label_presence("Mine", labels, presence), pod("p"), *NODES)
    assert all(reasons in ([], [REASON]) for reasons in found.values())
    return [name for name, reasons in found.items() if not reasons]


class TestNodeLabelPresence:
    def test_with_presence_all_labels_must_be_there(self) -> None:
        """A node that lacks one of the labels fails; the values do not matter."""
        assert fitting("a", presence=True) == ["one", "two"]
        assert fitting("a", "b", presence=True) == ["two"]

    def test_without_presence_no_label_may_be_there(self) -> None:
        """A node with one of the labels fails."""
        assert fitting("b", presence=False) == ["none", "one"]
        assert fitting("a", "b", presence=False) == ["none"]

    def test_a_label_that_no_node_has(self) -> None:
        """Asked for, it turns all nodes down; forbidden, none."""
        assert fitting("nowhere", presence=True) == []
        assert fitting("nowhere", presence=False) == ["none", "one", "two"]

    def test_no_labels_ask_for_nothing(self) -> None:
        """An empty list of labels fits every node."""
        assert fitting(presence=True) == fitting(presence=False) == ["none", "one", "two"]

    def test_has_the_name_that_the_policy_gives(self) -> None:
        """The user's name is the rule's."""
        assert node_label_presence("Mine", ["a"], True).name == "Mine"
