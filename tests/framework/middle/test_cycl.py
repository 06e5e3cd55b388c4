"""The cycle, preemption and the order of nodes in 1.17 to 1.26."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kubeclassic.api.objects import KubeObject, Pod, PodDisruptionBudget
from kubeclassic.core.decision.decision import Decision
from kubeclassic.core.engine import Engine
from kubeclassic.core.failures import Failures, Reason
from kubeclassic.core.feed import EventFeed
from kubeclassic.exceptions import PolicyError
from kubeclassic.framework.config.configuration import read_configuration
from kubeclassic.framework.flow import framework_engine
from kubeclassic.framework.profile import build_profiles
from kubeclassic.framework.registry import registry_of
from kubeclassic.framework.releases import FRAMEWORK_RELEASES
from tests.support.build import node, obj, pod

GROUP = "kubescheduler.config.k8s.io"


def engine(release: str, *objects: KubeObject) -> Engine:
    """A scheduler of *release* that has *objects*."""
    made = framework_engine(read_configuration(release=FRAMEWORK_RELEASES[release]), shortlists=False)
    feed = EventFeed(made)
    for item in objects:
        feed.put(item)
    return made


def named(*names: str) -> dict[str, Any]:
    """A required node affinity by the names of nodes."""
    fields = [{"key": "metadata.name", "operator": "In", "values": [name]} for name in names]
    terms = [{"matchFields": [field]} for field in fields]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def decided(release: str, incoming: Pod, *objects: KubeObject) -> Decision:
    """The decision on *incoming*."""
    return engine(release, *objects).schedule(incoming)


class TestNodesOfPreFilter:
    def test_outside(self) -> None:
        """A node that PreFilter leaves out has a status in 1.27 and none in 1.26; in 1.23 it is filtered as any other."""
        nodes = node("n1", cpu="1"), node("n2", cpu="1")
        incoming = pod("p", requests={"cpu": "2"}, affinity=named("n1"))
        found = {release: decided(release, incoming, *nodes).record(details=True)["failed"] for release in ("1.23", "1.26", "1.27")}
        assert [set(failed) for failed in found.values()] == [{"n1", "n2"}, {"n1"}, {"n1", "n2"}]

    def test_unknown_name(self) -> None:
        """A name that no node has ends the cycle until 1.26."""
        incoming = pod("p", affinity=named("gone"))
        assert decided("1.26", incoming, node("n1")).error == 'nodeinfo not found for node name "gone"'
        assert decided("1.23", incoming, node("n1")).is_fit_error


class TestErrors:
    def test_post_filter(self) -> None:
        """Preemption is part of the error since 1.24, with a full stop of its own since 1.26."""
        errors = [
            decided(release, pod("p", requests={"cpu": "9"}), node("n1", cpu="1")).error or "" for release in ("1.23", "1.25", "1.26")
        ]
        assert [error.partition("cpu.")[2][:13] for error in errors] == ["", " preemption: ", " preemption: "]
        assert [error.endswith("..") for error in errors] == [False, False, True]


class TestNominations:
    def test_in_vain(self) -> None:
        """A nomination outlasts an attempt in vain until 1.22."""
        found = [decided(release, pod("p", requests={"cpu": "9"}), node("n1", cpu="1")).nominated for release in ("1.22", "1.23")]
        assert found == [None, ""]

    def test_itself(self) -> None:
        """Where no node can be helped the pod itself is told to lose its nomination until 1.21."""
        closed = node("n1", unschedulable=True)
        plans = [decided(release, pod("p"), closed).preemption for release in ("1.21", "1.22")]
        assert [[pod.name for pod in plan.clear_nominations] for plan in plans if plan is not None] == [["p"], []]


class TestDeletedNodes:
    @pytest.mark.parametrize(("release", "left"), [("1.17", 1), ("1.18", 0), ("1.19", 0), ("1.20", 1)])
    def test_pods(self, release: str, left: int) -> None:
        """In 1.18 and 1.19 a node that comes back has lost its pods."""
        made = engine(release, node("n1"), pod("e", on="n1"))
        made.cache.remove_node(node("n1"))
        made.cache.add_node(node("n1"))
        assert len(made.cache.infos["n1"].pods) == left


class TestOrder:
    def test_cursor(self) -> None:
        """Until 1.18 the list of nodes is read on from the cursor of the node tree."""
        for release, wanted in (("1.18", ["c", "a", "d"]), ("1.19", ["a", "d", "c"])):
            made = engine(release, node("a"), node("d"))
            made.schedule(pod("p"))
            EventFeed(made).put(node("c"))
            assert made.schedule(pod("q")).record(details=True)["feasible"] == wanted


class TestReasons:
    def test_one_reason(self) -> None:
        """The first reason that removing pods cannot resolve stands for all, else the first."""
        found = Failures.all_of([(Reason("a"), np.array([True, True])), (Reason("b", resolvable=False), np.array([False, True]))])
        assert found is not None
        assert [found.with_one_reason().reasons(i)[0].text for i in (0, 1)] == ["a", "b"]


class TestMultiPoint:
    @pytest.mark.parametrize(
        ("release", "wanted"),
        [
            ("1.23", ["ImageLocality", "NodeAffinity", "TaintToleration"]),
            ("1.25", ["ImageLocality", "TaintToleration", "TaintToleration"]),
            ("1.26", ["ImageLocality", "NodeAffinity", "TaintToleration"]),
        ],
    )
    def test_three(self, release: str, wanted: list[str]) -> None:
        """Of three plugins that are configured at a point and in multiPoint, 1.24 and 1.25 run the last one twice."""
        own = {"score": {"enabled": [{"name": name} for name in ("ImageLocality", "NodeAffinity", "TaintToleration")]}}
        found = FRAMEWORK_RELEASES[release]
        head = {"apiVersion": f"{GROUP}/{found.configuration.default_version}", "kind": "KubeSchedulerConfiguration"}
        config = read_configuration({**head, "profiles": [{"plugins": own}]}, release=found)
        (profile,) = build_profiles(config, registry_of(found)).values()
        assert [plugin.name for plugin in profile.points.score][:3] == wanted


class TestRefusals:
    def test_beginning(self) -> None:
        """1.22 and 1.23 put a beginning before the refusal of a profile; strategies are found at their place since 1.25."""
        strategy = {"type": "LeastAllocated", "resources": [{"name": "cpu", "weight": 101}]}
        texts = []
        for release in ("1.23", "1.24", "1.25"):
            found = FRAMEWORK_RELEASES[release]
            head = {"apiVersion": f"{GROUP}/{found.configuration.default_version}", "kind": "KubeSchedulerConfiguration"}
            args = {"name": "NodeResourcesFit", "args": {"scoringStrategy": strategy}}
            config = read_configuration({**head, "profiles": [{"pluginConfig": [args]}]}, release=found)
            with pytest.raises(PolicyError) as refused:
                build_profiles(config, registry_of(found))
            texts.append(str(refused.value))
        assert [text.startswith("couldn't create scheduler: ") for text in texts] == [True, False, False]
        assert ["scoringStrategy.resources" in text for text in texts] == [False, False, True]

    def test_removed(self) -> None:
        """v1beta2 refuses in 1.22 the plugins that became strategies; in 1.23 they do not exist, and no version refuses any."""
        cells = {release: FRAMEWORK_RELEASES[release].configuration for release in ("1.21", "1.22", "1.24", "1.25")}
        assert [bool(found.refused_plugins) for found in cells.values()] == [False, True, False, True]
        head = {"apiVersion": f"{GROUP}/v1beta2", "kind": "KubeSchedulerConfiguration"}
        own = {"score": {"enabled": [{"name": "NodeLabel"}]}}
        with pytest.raises(PolicyError, match=f'was removed in version "{GROUP}/v1beta2" .KubeSchedulerConfiguration is'):
            read_configuration({**head, "profiles": [{"plugins": own}]}, release=FRAMEWORK_RELEASES["1.22"])


class TestBudgets:
    def test_budget_object(self) -> None:
        """A budget without a disruption left protects its pods in every release."""
        spec = {"selector": {"matchLabels": {"app": "a"}}}
        made = obj({"kind": "PodDisruptionBudget", "metadata": {"name": "b"}, "spec": spec, "status": {"disruptionsAllowed": 0}})
        assert isinstance(made, PodDisruptionBudget)
        victim = pod("v", on="n1", requests={"cpu": "1"}, labels={"app": "a"})
        for release in ("1.17", "1.18", "1.19"):
            plan = decided(release, pod("p", requests={"cpu": "1"}, priority=9), node("n1", cpu="1"), victim, made).preemption
            assert plan is not None
            assert plan.candidates["n1"].violations == 1
