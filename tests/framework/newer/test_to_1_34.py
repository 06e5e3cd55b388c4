"""What 1.34 decides differently from 1.33, a sentence a test; resource claims: ``test_claims.py``."""

from __future__ import annotations

from typing import Any, ClassVar

from tests.support.build import node, pod
from tests.support.releasewalk import (
    bound,
    claim,
    claims,
    error,
    failed,
    host,
    made,
    preemption,
    profile,
    shows,
    sidecar,
    volume,
)

HUGE = {"resources": {"requests": {"cpu": "3"}}}


class TestMessages:
    def test_claims_are_spoken_of(self) -> None:
        """Each pod that fails is told that there are no claims to deallocate, before what preemption says."""
        shows(
            {"1.29": ". preemption: ", "1.34": ". no new claims to deallocate, preemption: "},
            lambda found: found["error"].partition("cpu")[2].partition("0/")[0], [node("n", cpu="1")], pod("p", requests={"cpu": "2"}),
        )  # fmt: skip

    def test_early_rejection_ends_in_an_error(self) -> None:
        """Where an earlier plugin rejects the pod for all nodes, PostFilter ends in an error, and preemption does not run."""
        objects, asked = [node("n")], pod("p", volumes=claims("gone"))
        told = '0/1 nodes are available: persistentvolumeclaim "gone" not found.'
        after = " preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
        shows({"1.29": told + after, "1.34": f"{told} not found"}, error, objects, asked)
        # What ended in an error ran all the same: there is a plan, without a node.
        shows({"1.29": True}, lambda found: found["preemption"] is not None and found["preemption"]["node"] is None, objects, asked)

    def test_claims_of_one_pod_alone(self) -> None:
        """The reason where another pod uses a ReadWriteOncePod claim has new words."""
        only = {"accessModes": ["ReadWriteOncePod"]}
        objects = [
            node("n"), claim("data", "v", **only), volume("v", "data", **only, csi={"driver": "d", "volumeHandle": "h"}),
            bound("there", "n", volumes=claims("data")),
        ]  # fmt: skip
        old = "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode"
        new = "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
        shows({"1.27": {"n": [old]}, "1.34": {"n": [new]}}, failed, objects, pod("p", volumes=claims("data")))


class TestNamespaces:
    def test_selectors_match_no_labels(self) -> None:
        """A term's namespaceSelector that an object without labels satisfies matches pods of every namespace."""
        selector = {"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]}
        term = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "z", "namespaceSelector": selector}
        objects = [
            made("Namespace", "default", meta={"labels": {"team": "a"}}), made("Namespace", "other", meta={"labels": {"team": "b"}}),
            node("n", labels={"z": "1"}), bound("there", "n", namespace="other", labels={"app": "x"}),
        ]  # fmt: skip
        asked = pod("p", affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}})
        shows({"1.27": "n", "1.34": None}, host, objects, asked)


class TestPreemption:
    def test_too_small_nodes_are_left_out(self) -> None:
        """Removing pods is not tried on a node that is too small for the pod even when empty."""
        objects, none = [node("n", cpu="1"), bound("there", "n", requests={"cpu": "1"})], "0/1 nodes are available"
        shows(
            {"1.29": f"{none}: 1 Insufficient cpu.", "1.34": f"{none}: 1 Preemption is not helpful for scheduling."}, preemption,
            objects, pod("p", requests={"cpu": "2"}, priority=9),
        )  # fmt: skip

    def test_leaving_victims(self) -> None:
        """Where all victims are being deleted already, lower nominations of the node are kept."""
        leaving = bound("there", "n", requests={"cpu": "2"}, priority=1, metadata={"deletionTimestamp": "2024-01-01T00:00:00Z"})
        low = pod("low", requests={"cpu": "1"}, priority=2)
        shows(
            {"1.27": ["default/low"], "1.34": []}, lambda found: found["preemption"]["clearNominations"], [node("n", cpu="2"), leaving],
            pod("p", requests={"cpu": "2"}, priority=9), nominated=[(low, "n")],
        )  # fmt: skip


class TestPodLevelResources:
    def test_they_replace_the_sum(self) -> None:
        """The pod's own requests count in place of those of its containers, up or down."""
        shows({"1.27": "n", "1.34": None}, host, [node("n", cpu="2")], pod("p", requests={"cpu": "1"}, **HUGE))
        less = {"resources": {"requests": {"cpu": "1"}}}
        shows({"1.27": None, "1.34": "n"}, host, [node("n", cpu="2")], pod("p", requests={"cpu": "3"}, **less))

    def test_bound_pods_too(self) -> None:
        """So they do for pods on nodes."""
        objects = [node("n", cpu="4"), bound("there", "n", requests={"cpu": "1"}, **HUGE)]
        shows({"1.27": "n", "1.34": None}, host, objects, pod("p", requests={"cpu": "2"}))

    def test_with_the_gate(self) -> None:
        """1.32 and 1.33 read them with their gate."""
        asked = pod("p", requests={"cpu": "1"}, **HUGE)
        shows({"1.32": None}, host, [node("n", cpu="2")], asked, gates={"PodLevelResources": True})

    def test_other_resources_stay(self) -> None:
        """Resources that the pod does not name keep the sum of the containers, and extended ones are not read."""
        asked = pod("p", requests={"cpu": "1", "memory": "2Gi"}, resources={"requests": {"cpu": "1", "example.com/card": "9"}})
        shows({"1.34": ["Insufficient memory"]}, lambda found: found["failed"]["n"], [node("n", memory="1Gi")], asked)

    def test_limits_are_not_read(self) -> None:
        """The pod's limits alone change nothing."""
        shows({"1.27": "n"}, host, [node("n", cpu="2")], pod("p", requests={"cpu": "1"}, resources={"limits": {"cpu": "9"}}))

    def test_overhead_is_added(self) -> None:
        """Overhead comes on top of the pod's own requests."""
        asked = pod("p", requests={"cpu": "9"}, resources={"requests": {"cpu": "2"}}, overhead={"cpu": "1"})
        shows({"1.34": None}, host, [node("n", cpu="2500m")], asked)
        shows({"1.34": "n"}, host, [node("n", cpu="3")], asked)

    def test_hugepages(self) -> None:
        """Huge pages of the pod count from 1.33 on."""
        asked = pod("p", resources={"requests": {"hugepages-2Mi": "4Mi"}})
        big = node("n", allocatable={"hugepages-2Mi": "2Mi"})
        shows({"1.32": "n", "1.33": None}, host, [big], asked, gates={"PodLevelResources": True})


class TestPorts:
    PORT: ClassVar[dict[str, Any]] = {"ports": [{"containerPort": 80, "hostPort": 80}]}

    def test_ports_of_sidecars(self) -> None:
        """Host ports of sidecars count, of the pod and of pods on nodes."""
        there = bound("there", "n", initContainers=[sidecar("0", **self.PORT)])
        asked = pod("p", initContainers=[sidecar("0", **self.PORT)])
        plain = pod("p", containers=[{"name": "c", "image": "i", **self.PORT}])
        shows({"1.29": "n", "1.34": None}, host, [node("n"), there], asked)
        shows({"1.29": "n", "1.34": None}, host, [node("n"), there], plain)

    def test_ports_of_init_containers(self) -> None:
        """Host ports of init containers that end never count."""
        there = bound("there", "n", containers=[{"name": "c", "image": "i", **self.PORT}])
        shows({"1.27": "n"}, host, [node("n"), there], pod("p", initContainers=[{"name": "i", "image": "i", **self.PORT}]))


class TestConfiguration:
    def test_utilization(self) -> None:
        """Points of a shape that are not in order are refused in fewer words."""
        shape = [{"utilization": 100, "score": 0}, {"utilization": 0, "score": 10}]
        cpu = {"resources": [{"name": "cpu", "weight": 1}], "requestedToCapacityRatio": {"shape": shape}}
        strategy = {"type": "RequestedToCapacityRatio", **cpu}
        given, short = profile(args={"NodeResourcesFit": {"scoringStrategy": strategy}}), "values must be sorted in increasing order"
        shows({"1.27": True, "1.34": False}, lambda found: f"utilization {short}" in found["refused"], [node("n")], pod("p"), profile=given)
        shows({"1.27": True}, lambda found: short in found["refused"], [node("n")], pod("p"), profile=given)

    def test_queue_sort(self) -> None:
        """Profiles with different queue sorts are refused in other words."""
        other = {"enabled": [{"name": "Other"}], "disabled": [{"name": "*"}]}
        given = {"profiles": [{"schedulerName": "a"}, {"schedulerName": "b", "plugins": {"queueSort": other}}]}
        last = lambda found: found["refused"].rpartition(": ")[2]  # noqa: E731
        told = {"1.33": "queueSort must be the same for all profiles", "1.34": "must be the same for all profiles"}
        shows(told, last, [node("n")], pod("p"), profile=given)
