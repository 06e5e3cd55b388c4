"""What 1.32 and 1.33 decide differently from the release before, a sentence a test."""

from __future__ import annotations

from typing import Any

from tests.support.build import node, pod
from tests.support.releasewalk import (
    bound,
    feasible,
    host,
    made,
    only_on,
    preemption,
    shows,
)

DRIVER = "d.example.com"
DRIVER_LIMIT = DRIVER.replace(".", "__")
FULL = {"n": ["node(s) exceed max volume count"]}


def csi(handle: str) -> dict[str, Any]:
    return {"driver": DRIVER, "volumeHandle": handle}


def attachment(name: str, of: str, on: str = "n") -> Any:
    return made("VolumeAttachment", name, spec={"attacher": DRIVER, "nodeName": on, "source": {"persistentVolumeName": of}})




class TestSearch:
    def test_the_next_search(self) -> None:
        """Nodes outside the set of PreFilter do not move the start of the next search."""
        nodes = [node("a"), node("b"), node("c")]
        shows({"1.28": ["b", "c", "a"]}, feasible, nodes, pod("p", affinity=only_on("a")), pod("q"))

    def test_preemption_counts_absent_nodes(self) -> None:
        """What preemption says of all nodes counts those that are not in the set of PreFilter."""
        objects = [node("a", cpu="2"), node("b", cpu="2"), bound("there", "b", requests={"cpu": "2"}, priority=9)]
        told = "0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling."
        shows({"1.29": told}, preemption, objects, pod("p", requests={"cpu": "1"}, affinity=only_on("b")))


class TestRequests:
    def test_allocated_alone_changes_nothing(self) -> None:
        """A status without resources changes nothing, even with allocatedResources."""
        status = {"containerStatuses": [{"name": "c", "allocatedResources": {"cpu": "3"}}]}
        objects = [node("n", cpu="4"), bound("there", "n", requests={"cpu": "1"}, status=status)]
        shows({"1.27": "n"}, host, objects, pod("p", requests={"cpu": "3"}))

    def test_the_incoming_pod_asks_by_its_spec(self) -> None:
        """Whether the pod itself fits is judged by its spec alone."""
        status = {"containerStatuses": [{"name": "c", "resources": {"requests": {"cpu": "9"}}}]}
        shows({"1.27": "n"}, host, [node("n", cpu="4")], pod("p", requests={"cpu": "3"}, status=status))




