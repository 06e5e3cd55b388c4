"""CheckNodeCondition: conditions in the node's own order."""

from __future__ import annotations

import pytest

from kubeclassic.predicates.conditions import check_node_condition
from tests.support.build import ask, node, pod

NOT_READY, NO_NETWORK = "node(s) were not ready", "node(s) had unavailable network"
OUT_OF_DISK, UNSCHEDULABLE = "node(s) were out of disk space", "node(s) were unschedulable"


def reasons(*conditions: tuple[str, str], unschedulable: bool = False, release: str = "1.16") -> list[str] | str:
    """What stands against a node with these (type, status)."""
    made = node("n", conditions=[{"type": kind, "status": status} for kind, status in conditions], unschedulable=unschedulable)
    return ask(check_node_condition, pod("p"), made, release=release)["n"]


class TestCheckNodeCondition:
    @pytest.mark.parametrize(("release", "expected"), [("1.12", [OUT_OF_DISK]), ("1.13", [OUT_OF_DISK]), ("1.14", []), ("1.16", [])])
    def test_out_of_disk(self, release: str, expected: list[str]) -> None:
        """Up to 1.13 a node that is not certainly in disk space fails; later releases do not look."""
        assert reasons(("OutOfDisk", "Unknown"), release=release) == expected
        assert reasons(("OutOfDisk", "False"), release=release) == []

    def test_all_reasons_in_the_nodes_own_order(self) -> None:
        """Reasons follow the order of the node's conditions, unschedulable comes last."""
        assert reasons(("Ready", "False"), ("NetworkUnavailable", "True"), unschedulable=True) == [NOT_READY, NO_NETWORK, UNSCHEDULABLE]
        assert reasons(("NetworkUnavailable", "True"), ("Ready", "False"), unschedulable=True) == [NO_NETWORK, NOT_READY, UNSCHEDULABLE]

    def test_a_condition_that_stands_twice_counts_twice(self) -> None:
        """Each failing condition gives a reason, be it of a type that was there before."""
        assert reasons(("Ready", "False"), ("Ready", "Unknown")) == [NOT_READY, NOT_READY]
