"""What 1.34 decides differently from 1.33, a sentence a test; resource claims: ``test_claims.py``."""

from __future__ import annotations

from typing import Any, ClassVar

from tests.support.build import node, pod
from tests.support.releasewalk import (
    bound,
    host,
    shows,
)

HUGE = {"resources": {"requests": {"cpu": "3"}}}






class TestPreemption:
    def test_leaving_victims(self) -> None:
        """Where all victims are being deleted already, lower nominations of the node are kept."""
        leaving = bound("there", "n", requests={"cpu": "2"}, priority=1, metadata={"deletionTimestamp": "2024-01-01T00:00:00Z"})
        low = pod("low", requests={"cpu": "1"}, priority=2)
        shows(
            {"1.27": ["default/low"], "1.34": []}, lambda found: found["preemption"]["clearNominations"], [node("n", cpu="2"), leaving],
            pod("p", requests={"cpu": "2"}, priority=9), nominated=[(low, "n")],
        )  # fmt: skip


class TestPodLevelResources:
    def test_other_resources_stay(self) -> None:
        """Resources that the pod does not name keep the sum of the containers, and extended ones are not read."""
        asked = pod("p", requests={"cpu": "1", "memory": "2Gi"}, resources={"requests": {"cpu": "1", "example.com/card": "9"}})
        shows({"1.34": ["Insufficient memory"]}, lambda found: found["failed"]["n"], [node("n", memory="1Gi")], asked)

    def test_limits_are_not_read(self) -> None:
        """The pod's limits alone change nothing."""
        shows({"1.27": "n"}, host, [node("n", cpu="2")], pod("p", requests={"cpu": "1"}, resources={"limits": {"cpu": "9"}}))


class TestPorts:
    PORT: ClassVar[dict[str, Any]] = {"ports": [{"containerPort": 80, "hostPort": 80}]}

    def test_ports_of_init_containers(self) -> None:
        """Host ports of init containers that end never count."""
        there = bound("there", "n", containers=[{"name": "c", "image": "i", **self.PORT}])
        shows({"1.27": "n"}, host, [node("n"), there], pod("p", initContainers=[{"name": "i", "image": "i", **self.PORT}]))


