"""Predicates with a labelsPresence argument."""

from __future__ import annotations

import pytest

from kubeclassic.predicates.labelpresence import node_label_presence
from tests.support.build import ask, node, pod

REASON = "node(s) didn't have the requested labels"
ALL = "none", "one", "two"
NODES = node("none"), node("one", labels={"a": "1"}), node("two", labels={"a": "", "b": "2"})


def fitting(*labels: str, presence: bool) -> list[str]:
    """The nodes that fit."""
    found = ask(node_label_presence("Mine", labels, presence), pod("p"), *NODES)
    assert all(reasons in ([], [REASON]) for reasons in found.values())
    return [name for name, reasons in found.items() if not reasons]


class TestNodeLabelPresence:
    @pytest.mark.parametrize(
        ("labels", "presence", "fits"),
        [
            (["a"], True, ["one", "two"]), (["a", "b"], True, ["two"]), (["b"], False, ["none", "one"]), (["a", "b"], False, ["none"]),
            (["nowhere"], True, []), (["nowhere"], False, [*ALL]), ([], True, [*ALL]), ([], False, [*ALL]),
        ],
    )  # fmt: skip
    def test_all_or_none_of_the_labels(self, labels: list[str], presence: bool, fits: list[str]) -> None:
        """With presence all labels must be there, without it none may be; values do not matter."""
        assert fitting(*labels, presence=presence) == fits

    def test_has_the_name_that_the_policy_gives(self) -> None:
        """The user's name is the rule's."""
        assert node_label_presence("Mine", ["a"], True).name == "Mine"
