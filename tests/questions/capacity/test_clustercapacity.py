"""The inputs that cluster-capacity's documentation and tests give, and its answers.

Where the documentation says only how many fit on which node, the nodes are as large as it takes. Its messages are of other releases in four
places, which say so. Upstream: kubernetes-sigs/cluster-capacity: README.md and doc/cluster-capacity.md through its history,
pkg/framework/simulator_test.go, test/benchmark/pod_colocation_test.go.
"""

from __future__ import annotations

from typing import Any

import pytest

from kubeclassic import capacity
from tests.conftest import ROOT
from tests.support.manifests import node, pod

Json = dict[str, Any]
SMALL = ROOT / "examples/capacity/small-pod.yaml"
RELEASES = pytest.mark.parametrize("release", ["1.12", "1.16", "1.27"])


KUBE_NODES = [node(f"kube-node-{number}", "2", "4G") for number in range(1, 5)]


@RELEASES
class TestDocumentation:
    def test_four_nodes(self, release: str) -> None:
        """52 instances on four nodes of 2 CPUs, 13 on each. (The reasons are told node by node there, as before 1.8.)"""
        found = capacity(KUBE_NODES, SMALL, scheduler=release)
        assert (found.fits, set(found.nodes.values())) == (52, {13})
        assert found.stop.message.startswith("0/4 nodes are available: 4 Insufficient cpu.")

    def test_four_nodes_with_a_controller(self, release: str) -> None:
        """46 instances beside six pods of nginx, 11 or 12 on each node."""
        bound = [f"kube-node-{number}" for number in (1, 1, 2, 3, 3, 4)]
        there = [
            pod(f"nginx-{number}", requests={"cpu": "150m", "memory": "100Mi"}, labels={"app": "nginx"}, on=name)
            for number, name in enumerate(bound)
        ]
        found = capacity([*KUBE_NODES, *there], SMALL, scheduler=release)
        assert found.fits == 46
        assert found.nodes == {"kube-node-2": 12, "kube-node-4": 12, "kube-node-1": 11, "kube-node-3": 11}

    @pytest.mark.parametrize(
        ("nodes", "fits"),
        [
            ([node("127.0.0.1", "3500m", "4G")], {"127.0.0.1": 23}),
            (
                [node(name, cpu="4", memory="8G") for name in ("192.168.124.214", "192.168.124.120")],
                {"192.168.124.214": 26, "192.168.124.120": 26},
            ),
        ],
    )
    def test_one_node_and_two(self, release: str, nodes: list[Json], fits: Json) -> None:
        """23 instances on a single node; 52 on two nodes, 26 on each. (The messages there are those of 1.7 and before.)"""
        assert capacity(nodes, SMALL, scheduler=release).nodes == fits

    def test_a_quota(self, release: str) -> None:
        """Four instances where a quota allows four pods, and the API server's words."""
        quota = {"pods": "4", "requests.cpu": "1", "requests.memory": "1Gi", "limits.cpu": "2", "limits.memory": "2Gi"}
        there = {"kind": "ResourceQuota", "metadata": {"name": "compute-resources"}, "spec": {"hard": quota}}
        found = capacity([node("127.0.0.1", "8", "4G"), there], SMALL, scheduler=release)
        assert (found.fits, found.nodes) == (4, {"127.0.0.1": 4})
        assert found.stop.message == (
            'pods "small-pod-4" is forbidden: exceeded quota: compute-resources, requested: pods=1, used: pods=4, limited: pods=4'
        )

    def test_the_defaults_of_a_namespace(self, release: str) -> None:
        """Five instances of a pod that says nothing, in a namespace with a LimitRange and on nodes with a selector."""
        items = [
            {"type": "Pod", "max": {"cpu": "2", "memory": "1Gi"}, "min": {"cpu": "200m", "memory": "6Mi"}},
            {
                "type": "Container", "max": {"cpu": "2", "memory": "1Gi"}, "min": {"cpu": "100m", "memory": "4Mi"},
                "default": {"cpu": "300m", "memory": "200Mi"}, "defaultRequest": {"cpu": "200m", "memory": "100Mi"},
            },
        ]  # fmt: skip
        limits = {"kind": "LimitRange", "metadata": {"name": "resource-limits"}, "spec": {"limits": items}}
        labels = {"region": "hpc", "load": "high"}
        nodes = [node("kube-node-1", "2", "4G"), node("kube-node-2", "1100m", "4G", labels=labels)]
        found = capacity([*nodes, limits], pod("cluster-capacity-stub-container", nodeSelector=labels), scheduler=release)
        assert (found.nodes, found.counted.placed[0].requests) == ({"kube-node-2": 5}, {"cpu": 200, "memory": 100 * 2**20})
        assert found.stop.reasons["Insufficient cpu"] == 1
        # There kube-node-1 says MatchNodeSelector, as before 1.8.
        assert sum(found.stop.reasons.values()) == 2


@RELEASES
class TestPrediction:
    """Three nodes that differ, and a pod of 100m and 5e6 bytes."""

    NODES = (
        node("test-node-1", "300m", "1G", "3"), node("test-node-2", "400m", "2G", "3"), node("test-node-3", "1200m", "1G", "3"),
    )  # fmt: skip

    def simulated(self) -> Json:
        """The pod."""
        amounts = {"cpu": "100m", "memory": "5M", "nvidia.com/gpu": "0"}
        return pod("simulated-pod", requests=amounts, limits=amounts)

    def test_with_and_without_a_limit(self, release: str) -> None:
        """With a limit of six the count stops there; without one three fit on each node."""
        found = capacity(self.NODES, self.simulated(), scheduler=release, max_limit=6)
        assert (found.fits, found.stop.kind, found.stop.message) == (6, "LimitReached", "Maximum number of pods simulated: 6")
        found = capacity(self.NODES, self.simulated(), scheduler=release)
        assert (found.stop.kind, found.nodes) == ("Unschedulable", {"test-node-1": 3, "test-node-2": 3, "test-node-3": 3})


@RELEASES
class TestColocation:
    """Pods that want to be beside one another."""

    def pod(self, key: str) -> Json:
        """A pod with affinity to its own label."""
        term = {"topologyKey": key, "labelSelector": {"matchLabels": {"key": "value"}}}
        affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        return pod("pod-affinity", requests={"cpu": "10m", "memory": "10"}, labels={"key": "value"}, affinity=affinity)

    def test_on_a_node(self, release: str) -> None:
        """All are on one node, until it has no room for pods."""
        names = ("node1", "node2", "node3")
        nodes = [node(name, "1", "1000", "30", labels={"kubernetes.io/hostname": name}) for name in names]
        found = capacity(nodes, self.pod("kubernetes.io/hostname"), scheduler=release, max_limit=100)
        assert (found.fits, len(found.nodes)) == (30, 1)

    def test_in_a_zone(self, release: str) -> None:
        """All are in one zone, on all of its nodes."""
        key, places = "topology.domain/zone", [(zone, number) for zone in range(1, 4) for number in range(1, 4)]
        nodes = [node(f"node{zone}-{number}", "1", "1000", "30", labels={key: f"zone{zone}"}) for zone, number in places]
        found = capacity(nodes, self.pod(key), scheduler=release, max_limit=100)
        assert (found.fits, len({name.partition("-")[0] for name in found.nodes})) == (90, 1)
