"""What 1.32 and 1.33 decide differently from the release before, a sentence a test."""

from __future__ import annotations

from typing import Any

from tests.support.build import node, pod
from tests.support.releasewalk import (
    bound,
    claim,
    claims,
    csi_node,
    failed,
    feasible,
    has,
    host,
    made,
    only_on,
    preemption,
    profile,
    shows,
    sidecar,
    volume,
)

DRIVER = "d.example.com"
DRIVER_LIMIT = DRIVER.replace(".", "__")
FULL = {"n": ["node(s) exceed max volume count"]}


def csi(handle: str) -> dict[str, Any]:
    return {"driver": DRIVER, "volumeHandle": handle}


def attachment(name: str, of: str, on: str = "n") -> Any:
    return made("VolumeAttachment", name, spec={"attacher": DRIVER, "nodeName": on, "source": {"persistentVolumeName": of}})


class TestVolumeLimits:
    WANTED = (claim("data", "v"), volume("v", "data", csi=csi("h")))
    ASKED = pod("p", volumes=claims("data"))

    def test_attachments_count(self) -> None:
        """A volume that is attached to a node counts there, even if no pod of the node uses it."""
        objects = [node("n"), csi_node("n", **{DRIVER_LIMIT: 1}), *self.WANTED, volume("w", csi=csi("other")), attachment("a", "w")]
        shows({"1.27": {}, "1.32": FULL}, failed, objects, self.ASKED)

    def test_attachments_elsewhere_do_not_count(self) -> None:
        """A volume that is attached to another node counts there alone."""
        objects = [node("n"), csi_node("n", **{DRIVER_LIMIT: 1}), *self.WANTED, volume("w", csi=csi("other")), attachment("a", "w", "m")]
        shows({"1.27": {}}, failed, objects, self.ASKED)

    def test_attached_and_used_counts_once(self) -> None:
        """An attached volume that a pod of the node uses counts once."""
        objects = [
            node("n"), csi_node("n", **{DRIVER_LIMIT: 2}), *self.WANTED, claim("more", "w"), volume("w", "more", csi=csi("other")),
            attachment("a", "w"), bound("there", "n", volumes=claims("more")),
        ]  # fmt: skip
        shows({"1.27": {}}, failed, objects, self.ASKED)

    def test_attached_and_wanted_counts_twice(self) -> None:
        """The volume that the pod wants counts as attached and again as wanted, where only an attachment has it."""
        objects = [node("n"), csi_node("n", **{DRIVER_LIMIT: 1}), *self.WANTED, attachment("a", "v")]
        shows({"1.27": {}, "1.32": FULL}, failed, objects, self.ASKED)

    def test_node_limits_do_not_count(self) -> None:
        """What a node's allocatable says of attachable volumes limits nothing any more."""
        ebs = [{"name": f"v{number}", "awsElasticBlockStore": {"volumeID": f"vol-{number}"}} for number in range(2)]
        objects = [node("n", allocatable={"attachable-volumes-aws-ebs": "1"}), bound("there", "n", volumes=ebs[:1])]
        given = profile(plugins={"multiPoint": {"enabled": [{"name": "EBSLimits"}]}})
        shows({"1.27": FULL, "1.31": {}}, failed, objects, pod("p", volumes=ebs[1:]))
        shows({"1.31": True, "1.32": False}, lambda found: "refused" not in found, objects, pod("p"), profile=given)


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
    def test_defaults_of_sidecars(self) -> None:
        """A sidecar on a node counts with the default of cpu and memory where it names none, so scores fall."""
        lean = [{"name": name, "image": "s", "restartPolicy": "Always"} for name in "stu"]
        objects = [node("a", cpu="1", memory="2Gi"), node("b", cpu="1", memory="2Gi"), bound("there", "a", initContainers=lean)]
        asked = pod("p", requests={"cpu": "1m", "memory": "1Mi"})
        shows({"1.29": 89, "1.32": 59}, lambda found: found["priorities"]["NodeResourcesFit"]["a"], objects, asked)

    def test_resize_in_1_32(self) -> None:
        """With the gate on, a container asks for what its status has in resources from 1.32 on, and for allocatedResources before."""
        status = {"containerStatuses": [{"name": "c", "allocatedResources": {"cpu": "2"}, "resources": {"requests": {"cpu": "3"}}}]}
        objects = [node("n", cpu="4"), bound("there", "n", requests={"cpu": "1"}, status=status)]
        gates = {"InPlacePodVerticalScaling": True}
        shows({"1.27": "n", "1.32": None}, host, objects, pod("p", requests={"cpu": "2"}), gates=gates)

    def test_resize_is_on(self) -> None:
        """From 1.33 on a container that is being resized asks for the largest of spec, status and allocated."""
        status = {"containerStatuses": [{"name": "c", "allocatedResources": {"cpu": "1"}, "resources": {"requests": {"cpu": "3"}}}]}
        objects = [node("n", cpu="4"), bound("there", "n", requests={"cpu": "1"}, status=status)]
        shows({"1.27": "n", "1.33": None}, host, objects, pod("p", requests={"cpu": "2"}))

    def test_resize_that_cannot_be(self) -> None:
        """Where a resize is infeasible the spec does not count."""
        pending = {"type": "PodResizePending", "status": "True", "reason": "Infeasible"}
        status = {"containerStatuses": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}], "conditions": [pending]}
        objects = [node("n", cpu="4"), bound("there", "n", requests={"cpu": "3"}, status=status)]
        shows({"1.27": None, "1.33": "n"}, host, objects, pod("p", requests={"cpu": "3"}))

    def test_allocated_alone_changes_nothing(self) -> None:
        """A status without resources changes nothing, even with allocatedResources."""
        status = {"containerStatuses": [{"name": "c", "allocatedResources": {"cpu": "3"}}]}
        objects = [node("n", cpu="4"), bound("there", "n", requests={"cpu": "1"}, status=status)]
        shows({"1.27": "n"}, host, objects, pod("p", requests={"cpu": "3"}))

    def test_sidecars_resize_too(self) -> None:
        """A sidecar is resized by its own status."""
        status = {"initContainerStatuses": [{"name": "sidecar", "resources": {"requests": {"cpu": "3"}}}]}
        objects = [node("n", cpu="4"), bound("there", "n", initContainers=[sidecar("1")], status=status)]
        shows({"1.29": "n", "1.33": None}, host, objects, pod("p", requests={"cpu": "2"}))

    def test_the_incoming_pod_asks_by_its_spec(self) -> None:
        """Whether the pod itself fits is judged by its spec alone."""
        status = {"containerStatuses": [{"name": "c", "resources": {"requests": {"cpu": "9"}}}]}
        shows({"1.27": "n"}, host, [node("n", cpu="4")], pod("p", requests={"cpu": "3"}, status=status))


class TestScores:
    def test_balance_of_nothing(self) -> None:
        """NodeResourcesBalancedAllocation gives no scores to a pod that asks for nothing."""
        shows({"1.27": True, "1.33": False}, has("NodeResourcesBalancedAllocation"), [node("a"), node("b")], pod("p"))
        shows({"1.27": True}, has("NodeResourcesBalancedAllocation"), [node("a"), node("b")], pod("p", requests={"cpu": "1"}))


class TestSpreading:
    def test_counts_by_constraint(self) -> None:
        """Two constraints with one key count their own pods, where up to 1.32 the pods of the last one count for both."""

        def constraint(app: str) -> dict[str, Any]:
            return {"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": app}}}

        objects = [node("a", labels={"z": "1"}), node("b", labels={"z": "2"}), bound("y", "a", labels={"app": "y"})]
        asked = pod("x", labels={"app": "x"}, topologySpreadConstraints=[constraint("x"), constraint("y")])
        shows({"1.27": ["b"], "1.33": ["a", "b"]}, feasible, objects, asked)
