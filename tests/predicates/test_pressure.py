"""The three pressure predicates, and which pods are BestEffort."""

from __future__ import annotations

from typing import Any

import pytest

from kubeclassic.core.arrays.batch import Batch
from kubeclassic.core.feed import EventFeed
from kubeclassic.core.rule import Predicate
from kubeclassic.predicates.pressure import check_node_disk_pressure, check_node_memory_pressure, check_node_pid_pressure
from tests.support.build import answers, ask, engine, node, pod

MEMORY = "node(s) had memory pressure"
Json = dict[str, Any]


def under(condition: str, status: str = "True") -> Any:
    """A node ``n`` with one condition."""
    return node("n", conditions=[{"type": condition, "status": status}])


def containers(resources: Json) -> list[Json]:
    return [{"name": "plain"}, {"name": "c", "resources": resources}]


@pytest.mark.parametrize(
    ("rule", "condition", "reason"),
    [
        (check_node_memory_pressure, "MemoryPressure", MEMORY),
        (check_node_disk_pressure, "DiskPressure", "node(s) had disk pressure"),
        (check_node_pid_pressure, "PIDPressure", "node(s) had pid pressure"),
    ],
)
class TestEachPressure:
    def test_turns_down_nodes_under_it(self, rule: Predicate, condition: str, reason: str) -> None:
        """Status True is pressure, any other status, no condition at all and other pressures are not."""
        assert ask(rule, pod("p"), under(condition), node("m")) == {"n": [reason], "m": []}
        assert ask(rule, pod("p"), under(condition, "Unknown")) == {"n": []}
        assert ask(rule, pod("p"), under(condition, "False")) == {"n": []}
        others = [{"type": kind, "status": "True"} for kind in ("MemoryPressure", "DiskPressure", "PIDPressure") if kind != condition]
        assert ask(rule, pod("p"), node("n", conditions=others)) == {"n": []}

    def test_a_condition_that_disappears_keeps_its_last_status(self, rule: Predicate, condition: str, reason: str) -> None:
        """What the scheduler remembers of a node outlives the condition."""
        scheduler = engine(under(condition))
        EventFeed(scheduler).put(node("n"))
        cycle = scheduler.begin(pod("p"))
        assert answers(rule, cycle, Batch(cycle.table)) == {"n": [reason]}


class TestBestEffort:
    """Memory pressure concerns BestEffort pods alone."""

    @pytest.mark.parametrize(
        ("resources", "expected"),
        [
            ({}, [MEMORY]),
            ({"requests": {"cpu": "1m"}}, []),
            ({"limits": {"memory": "1"}}, []),
            ({"requests": {"cpu": "0", "memory": "0"}, "limits": {"cpu": "0"}}, [MEMORY]),
            ({"requests": {"example.com/gpu": "1", "ephemeral-storage": "1"}}, [MEMORY]),
            ({"requests": {"cpu": "-1"}}, [MEMORY]),
        ],
    )
    def test_is_a_pod_without_cpu_and_memory(self, resources: Json, expected: list[str]) -> None:
        """A request or limit above zero for cpu or memory, in any container, makes a pod more than BestEffort."""
        assert ask(check_node_memory_pressure, pod("p", containers=containers(resources)), under("MemoryPressure")) == {"n": expected}

    @pytest.mark.parametrize(("release", "expected"), [("1.12", [MEMORY]), ("1.15", [MEMORY]), ("1.16", [])])
    def test_init_containers(self, release: str, expected: list[str]) -> None:
        """Only from 1.16 on what init containers request makes a pod more than BestEffort."""
        incoming = pod("p", initContainers=containers({"requests": {"cpu": "1"}}))
        assert ask(check_node_memory_pressure, incoming, under("MemoryPressure"), release=release) == {"n": expected}

    def test_the_others_look_at_every_pod(self) -> None:
        """A pod that requests memory is turned down for disk pressure all the same."""
        incoming = pod("p", requests={"memory": "1Gi"})
        assert ask(check_node_disk_pressure, incoming, under("DiskPressure")) == {"n": ["node(s) had disk pressure"]}
