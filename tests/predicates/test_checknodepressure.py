"""The three pressure predicates, and which pods are BestEffort."""

import pytest

from kubeclassic.core.arrays.batch import Batch
from kubeclassic.core.feed import EventFeed
from kubeclassic.predicates.checknodepressure import (
    check_node_disk_pressure,
    check_node_memory_pressure,
    check_node_pid_pressure,
)
from tests.support.build import answers, engine, node, pod

MEMORY = "node(s) had memory pressure"


def under(condition, status="True"):
    """A node ``n`` with one condition."""
    return node("n", conditions=[{"type": condition, "status": status}])


@pytest.mark.parametrize(
    ("rule", "condition", "reason"),
    [
        (check_node_memory_pressure, "MemoryPressure", MEMORY),
        (check_node_disk_pressure, "DiskPressure", "node(s) had disk pressure"),
        (check_node_pid_pressure, "PIDPressure", "node(s) had pid pressure"),
    ],
)
class TestEachPressure:
    def test_a_condition_that_disappears_keeps_its_last_status(self, rule, condition, reason):
        """What the scheduler remembers of a node outlives the condition."""
        scheduler = engine(under(condition))
        EventFeed(scheduler).put(node("n"))
        cycle = scheduler.begin(pod("p"))
        assert answers(rule, cycle, Batch(cycle.table)) == {"n": [reason]}
