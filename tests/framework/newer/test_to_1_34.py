"""What 1.34 decides differently from 1.33, a sentence a test; resource claims: ``test_claims.py``."""

from __future__ import annotations

from tests.support.build import node, pod
from tests.support.releasewalk import (
    bound,
    host,
    shows,
)

HUGE = {"resources": {"requests": {"cpu": "3"}}}








class TestPodLevelResources:
    def test_other_resources_stay(self) -> None:
        """Resources that the pod does not name keep the sum of the containers, and extended ones are not read."""
        asked = pod("p", requests={"cpu": "1", "memory": "2Gi"}, resources={"requests": {"cpu": "1", "example.com/card": "9"}})
        shows({"1.34": ["Insufficient memory"]}, lambda found: found["failed"]["n"], [node("n", memory="1Gi")], asked)

    def test_limits_are_not_read(self) -> None:
        """The pod's limits alone change nothing."""
        shows({"1.27": "n"}, host, [node("n", cpu="2")], pod("p", requests={"cpu": "1"}, resources={"limits": {"cpu": "9"}}))


class TestPorts:
    PORT = {"ports": [{"containerPort": 80, "hostPort": 80}]}

    def test_ports_of_init_containers(self) -> None:
        """Host ports of init containers that end never count."""
        there = bound("there", "n", containers=[{"name": "c", "image": "i", **self.PORT}])
        shows({"1.27": "n"}, host, [node("n"), there], pod("p", initContainers=[{"name": "i", "image": "i", **self.PORT}]))


