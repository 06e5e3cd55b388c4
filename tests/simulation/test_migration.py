"""The old release and the profile on one state: where they differ, and that the deviations from upstream's translation pay."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from kubeclassic.algorithmprovider.policy import read_policy
from kubeclassic.algorithmprovider.providers import resolve
from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.api.decode import decode
from kubeclassic.api.objects import KubeObject, Node, Pod
from kubeclassic.core.engine import Engine
from kubeclassic.core.feed import Feed
from kubeclassic.framework.config import read_configuration
from kubeclassic.framework.engine import FrameworkEngine
from kubeclassic.framework.migrate import migrate
from kubeclassic.simulation.migration import DIFFERENT, SAME, Judged, LockedRun
from kubeclassic.simulation.scenario import Scenario

Json = dict[str, Any]


def read(document: Json) -> KubeObject:
    """The object that *document* describes."""
    found = decode(document, "test")
    assert found is not None
    return found


def node(name: str, cpu: str = "8", memory: str = "16Gi", **labels: str) -> Node:
    """A node of that size."""
    allocatable = {"cpu": cpu, "memory": memory, "pods": "110"}
    found = read({"kind": "Node", "apiVersion": "v1", "metadata": {"name": name, "labels": labels}, "status": {"allocatable": allocatable}})
    assert isinstance(found, Node)
    return found


def pod(name: str, cpu: str = "100m", memory: str = "100Mi", **spec: Any) -> Pod:
    """A pod that asks for that much."""
    containers = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu, "memory": memory}}}]
    found = read({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name}, "spec": {"containers": containers, **spec}})
    assert isinstance(found, Pod)
    return found


def judged(objects: list[KubeObject], pending: list[Pod], changes: dict[str, int] | None = None, **policy: Any) -> list[Judged]:
    """Each cycle under a Policy on 1.16 and under its profile, some of whose plugins weigh otherwise."""
    written, release = read_policy({"kind": "Policy", "apiVersion": "v1", **policy}), RELEASES["1.16"]
    document = migrate(written, release).document
    for plugin in document["profiles"][0]["plugins"]["score"]["enabled"]:
        plugin["weight"] = (changes or {}).get(plugin["name"], plugin["weight"])
    new = FrameworkEngine.of(read_configuration(document), shortlists=False)
    return list(LockedRun(Scenario(tuple(objects), tuple(pending)), Engine(resolve(release, policy=written)), new).judged())


class TestLocked:
    def test_the_old_release_leads(self) -> None:
        """The profile judges on the state that the old release's decisions lead to."""
        objects: list[KubeObject] = [node("a", "1"), node("b", "1")]
        found = judged(objects, [pod(f"p{i}", "600m") for i in range(3)])
        assert [(one.old, one.outcome) for one in found] == [("a", SAME), ("b", SAME), (None, SAME)]

    def test_a_predicate_that_is_gone(self) -> None:
        """Where the old release turns the other node down, its predicate and reason are told."""
        objects: list[KubeObject] = [node("a", region="x"), node("b", "64", "128Gi", region="y"), node("c", region="x")]
        service = {"kind": "Service", "apiVersion": "v1", "metadata": {"name": "s"}, "spec": {"selector": {"app": "web"}}}
        objects.append(read(service))
        labelled = [read(document) for document in (_web("there", nodeName="a"), _web("new"))]
        objects.append(labelled[0])
        predicates = [{"name": "CheckServiceAffinity", "argument": {"serviceAffinity": {"labels": ["region"]}}}]
        waiting = labelled[1]
        assert isinstance(waiting, Pod)
        (found,) = judged(objects, [waiting], predicates=predicates, priorities=[{"name": "LeastRequestedPriority", "weight": 1}])
        assert (found.new, found.outcome) == ("b", DIFFERENT)
        assert found.why == "the old release turns b down: CheckServiceAffinity: node(s) didn't match service affinity"

    def test_a_score_that_tips(self) -> None:
        """Where both nodes fit, the scores that count most for either are told."""
        objects: list[KubeObject] = [node("a"), node("b"), node("c")]
        objects += [pod("o1", "4", "8Gi", nodeName="a"), pod("o2", "4", "8Gi", nodeName="b"), pod("o3", "7", "1Gi", nodeName="c")]
        entries = [{"name": "LeastRequestedPriority", "weight": 1}, {"name": "BalancedResourceAllocation", "weight": 1}]
        pending = [pod("p", "1m", "1Mi")]
        (same,) = judged(objects, pending, priorities=entries)
        (found,) = judged(objects, pending, {"NodeResourcesBalancedAllocation": 1, "NodeResourcesFit": 90}, priorities=entries)
        assert same.outcome == SAME
        assert found.new == "c"
        assert "the profile prefers c: NodeResourcesFit +" in found.why

    def test_those_that_preempt(self) -> None:
        """Who is evicted leaves both, the preemptor waits in both, and its retry is judged too."""
        objects: list[KubeObject] = [node("a", "1"), pod("low", "800m", nodeName="a", priority=0)]
        found = judged(objects, [pod("high", "800m", priority=10)])
        assert [(one.old, one.new, one.outcome) for one in found] == [(None, None, SAME), ("a", "a", SAME)]


def _web(name: str, **spec: Any) -> Json:
    metadata = {"name": name, "labels": {"app": "web"}}
    return {"kind": "Pod", "apiVersion": "v1", "metadata": metadata, "spec": {"containers": [{"name": "c", "image": "i"}], **spec}}


class TestDeviations:
    @pytest.mark.parametrize("other", ["LeastRequestedPriority", "MostRequestedPriority"])
    def test_doubled_balance_decides_more_alike(self, other: str) -> None:
        """On random clusters a doubled weight of balance leaves less than half of the differences that the weight as it was leaves."""
        entries = [{"name": other, "weight": 1}, {"name": "BalancedResourceAllocation", "weight": 1}]
        differences: Counter[int] = Counter()
        for seed in range(6):
            for weight in (1, 2):
                found = judged(*_random_cluster(seed), {"NodeResourcesBalancedAllocation": weight}, priorities=entries)
                differences[weight] += sum(one.outcome == DIFFERENT for one in found)
        assert differences[2] * 2 < differences[1]

    def test_a_hopeless_node_is_no_candidate(self) -> None:
        """A node that has neither the label nor room is beyond eviction for the profile, as for the old release."""
        wanted = pod("high", "800m", priority=10, nodeSelector={"disk": "ssd"})
        document = migrate(read_policy({}), RELEASES["1.16"]).document
        engine = FrameworkEngine.of(read_configuration(document), shortlists=False)
        feed = Feed(engine)
        for item in (node("a", "1"), pod("low", "800m", nodeName="a", priority=0)):
            feed.put(item)
        assert "Preemption is not helpful" in str(engine.schedule(wanted).error)


def _random_cluster(seed: int) -> tuple[list[KubeObject], list[Pod]]:
    draw = random.Random(seed)

    def some(name: str, **spec: Any) -> Pod:
        return pod(name, f"{draw.randrange(100, 2500)}m", f"{draw.randrange(100, 9000)}Mi", **spec)

    objects: list[KubeObject] = [node(f"n{i}", str(draw.choice([4, 8, 16])), f"{draw.choice([8, 16, 32, 64])}Gi") for i in range(10)]
    objects += [some(f"o{i}", nodeName=f"n{draw.randrange(10)}") for i in range(12)]
    return objects, [some(f"p{i}") for i in range(20)]
