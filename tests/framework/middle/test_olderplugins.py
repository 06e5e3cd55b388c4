"""The plugins that only the first releases of the framework have, by example."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubeclassic.api.objects import KubeObject, Pod
from kubeclassic.core.arrays.batch import Batch
from kubeclassic.exceptions import PolicyError
from kubeclassic.framework.config.args import NodeLabelArgs, RequestedToCapacityRatioArgs, ServiceAffinityArgs, ShapePoint
from kubeclassic.framework.plugins import older
from tests.support.asking import cycle_of, found_by, handle
from tests.support.build import node, obj, pod

HALF = {"cpu": "2", "memory": "4Gi"}
SERVICE = obj({"kind": "Service", "metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": {"app": "a"}}})
RISING = (ShapePoint(0, 0), ShapePoint(100, 10))


def scores(plugin: Any, new: Pod, *objects: KubeObject, release: str = "1.21", normal: bool = False) -> dict[str, int]:
    """Node -> its score before it is normalized, or after."""
    cycle = cycle_of(new, *objects, release=release)
    batch = Batch(cycle.table)
    found = plugin.score(cycle.template, batch, cycle)
    found = plugin.normalize_score(cycle.template, found, batch, cycle) if normal else found
    return {batch.name(i): int(score) for i, score in enumerate(found)}


def rejections(plugin: Any, new: Pod, *objects: KubeObject, release: str = "1.21") -> dict[str, str | None]:
    """Node -> the reason against it."""
    cycle = cycle_of(new, *objects, release=release)
    return found_by(plugin, cycle, Batch(cycle.table))


class TestAllocation:
    def test_free_and_used_shares(self) -> None:
        """Half of the cpu and of the memory of an empty node is 50 either way."""
        new = pod("new", requests=HALF)
        assert scores(older.NodeResourcesLeastAllocated(None, handle("1.21")), new, node("n", memory="8Gi")) == {"n": 50}
        assert scores(older.NodeResourcesMostAllocated(None, handle("1.21")), new, node("n", memory="8Gi")) == {"n": 50}

    def test_without_resources_all_are_alike(self) -> None:
        """A Policy's argument without resources scores nothing; without any argument the plugin refuses."""
        plugin = older.RequestedToCapacityRatio(RequestedToCapacityRatioArgs(RISING), handle("1.21"))
        assert scores(plugin, pod("new", requests=HALF), node("n")) == {"n": 0}
        with pytest.raises(PolicyError, match="want args to be of type RequestedToCapacityRatioArgs, got <nil>"):
            older.RequestedToCapacityRatio(None, handle("1.22"))

    def test_the_priority_prefers_emptier_nodes(self) -> None:
        """Half a node in use is in the middle of its line."""
        plugin = older.RequestedToCapacityRatioPriority(None, handle("1.17"))
        assert scores(plugin, pod("new", requests=HALF), node("n", memory="8Gi"), release="1.17") == {"n": 50}


class TestPreferences:
    def test_nodes_may_ask_to_avoid_pods(self) -> None:
        """A node that names the pod's replica set scores 0, any other 100."""
        owner = {"kind": "ReplicaSet", "uid": "u", "controller": True, "name": "r", "apiVersion": "apps/v1"}
        wish = {"preferAvoidPods": [{"podSignature": {"podController": owner}}]}
        bad = node("bad", annotations={"scheduler.alpha.kubernetes.io/preferAvoidPods": json.dumps(wish)})
        plugin = older.NodePreferAvoidPods(None, handle("1.21"))
        assert scores(plugin, pod("new", metadata={"ownerReferences": [owner]}), bad, node("good")) == {"bad": 0, "good": 100}

    @pytest.mark.parametrize(("kind", "release"), [(older.NodeResourceLimits, "1.18"), (older.ResourceLimitsPriority, "1.17")])
    def test_limits_are_one_point(self, kind: Any, release: str) -> None:
        """A node whose cpu covers the pod's limit has one point."""
        new = pod("new", containers=[{"name": "c", "resources": {"limits": {"cpu": "3"}}}])
        assert scores(kind(None, handle(release)), new, node("big"), node("small", cpu="2"), release=release) == {"big": 1, "small": 0}


class TestNodeLabel:
    def test_labels_that_must_be_there_and_must_not(self) -> None:
        """A node needs all present labels and none of the absent ones."""
        plugin = older.NodeLabel(NodeLabelArgs(("a",), ("b",)), handle("1.21"))
        found = rejections(plugin, pod("new"), node("x", labels={"a": ""}), node("y"), node("z", labels={"a": "", "b": ""}))
        reason = "node(s) didn't have the requested labels"
        assert found == {"x": None, "y": reason, "z": reason}

    def test_preferences_are_a_mean(self) -> None:
        """Each label that is as preferred counts an equal share."""
        args = NodeLabelArgs(present_labels_preference=("a", "b"), absent_labels_preference=("c",))
        found = scores(older.NodeLabel(args, handle("1.21")), pod("new"), node("x", labels={"a": ""}), node("y", labels={"c": ""}))
        assert found == {"x": 66, "y": 0}


class TestServiceAffinity:
    PLUGIN = older.ServiceAffinityPlugin(ServiceAffinityArgs(("zone",), ("zone", "rack")), handle("1.21"))
    NODES = (node("x", labels={"zone": "1", "rack": "r"}), node("y", labels={"zone": "2"}))

    def test_pods_follow_the_first(self) -> None:
        """A pod goes where the zone is that of the first pod of its service, or of its own node selector."""
        first, reason = pod("first", on="y", labels={"app": "a"}), "node(s) didn't match service affinity"
        new = pod("new", labels={"app": "a"})
        assert rejections(self.PLUGIN, new, *self.NODES, SERVICE, first) == {"x": reason, "y": None}
        chosen = pod("new", labels={"app": "a"}, nodeSelector={"zone": "1"})
        assert rejections(self.PLUGIN, chosen, *self.NODES, SERVICE, first) == {"x": None, "y": reason}

    def test_spreading_is_a_mean_of_labels(self) -> None:
        """The share of pods on other values counts for each label; a label that is not there counts 0."""
        found = scores(
            self.PLUGIN, pod("new", labels={"app": "a"}), *self.NODES, SERVICE, pod("p", on="x", labels={"app": "a"}), normal=True
        )
        assert found == {"x": 0, "y": 50}
