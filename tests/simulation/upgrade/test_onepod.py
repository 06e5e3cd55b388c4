"""One pod in two releases: what differs is found for each node, with the fact that causes it."""

from __future__ import annotations

import pytest

import kubeclassic
from kubeclassic.framework.facts.facttable import facts_between
from kubeclassic.simulation.upgrade.onepod import differences, explain_both
from kubeclassic.simulation.upgrade.stages import StartedWith, stages_of
from kubeclassic.simulation.upgrade.way import Way
from tests.conftest import ROOT
from tests.support.manifests import node, pod
from tests.support.worldforms import drawn

CLUSTER = str(ROOT / "examples" / "cluster")
STEPS = [("1.16", "1.17"), ("1.21", "1.22"), ("1.23", "1.24"), ("1.28", "1.29"), ("1.18", "1.30")]


class TestFacts:
    """Each difference has the fact that makes it."""

    def test_a_reason_in_other_words(self) -> None:
        """The text about a taint is new in 1.24: the decision is the same, and the node differs by that fact."""
        nodes = [node("free"), node("taken", taints=[{"key": "gpu", "value": "yes", "effect": "NoSchedule"}])]
        found = kubeclassic.explain_releases([*nodes, pod("web", 1)], "web", "1.23", "1.24")
        assert found.ok
        assert found.hosts == {"1.23": "free", "1.24": "free"}
        assert [(one.node, one.differences[0].what, one.differences[0].fact) for one in found.document.nodes] == [
            ("taken", "reasons", "texts-of-1.24")
        ]

    def test_a_node_that_fits_no_more(self) -> None:
        """A pod with a sidecar fits in 1.27, which does not read that, and nowhere in 1.28."""
        sidecar = {"name": "log", "image": "log", "restartPolicy": "Always"}
        found = kubeclassic.explain_releases([node("a"), pod("web", 1, initContainers=[sidecar])], "web", "1.27", "1.28")
        assert not found.ok
        assert found.hosts == {"1.27": "a", "1.28": None}
        assert found.why == "1.28: a pod with sidecars fits nowhere while gate SidecarContainers is off"
        assert [(one.what, one.rule, one.fact, one.nodes) for one in found.document.causes] == [
            ("fits", "NodeResourcesFit", "sidecars-are-refused", 1)
        ]

    def test_a_score(self) -> None:
        """Points of a rule are compared by weight: TaintToleration weighs 3 in place of 1 from 1.23 on."""
        avoided = node("avoided", taints=[{"key": "old", "value": "", "effect": "PreferNoSchedule"}])
        found = kubeclassic.explain_releases([node("a"), avoided, pod("web", 1)], "web", "1.22", "1.23")
        told = {one.node: [(each.rule, each.points, each.fact) for each in one.differences] for one in found.document.nodes}
        assert told == {"a": [("TaintToleration", 200, "weights-of-v1beta3")]}

    def test_the_same_points_everywhere_decide_nothing(self) -> None:
        """Without such a taint all nodes gain the same by that weight, which is no difference."""
        found = kubeclassic.explain_releases([node("a"), node("b"), pod("web", 1)], "web", "1.22", "1.23")
        assert found.document.nodes == ()
        assert "0 of 2 nodes differ" in str(found.view().verdict)

    def test_only_the_message(self) -> None:
        """1.29 ends the message with one full stop: no node differs, and the fact is that of the message."""
        found = kubeclassic.explain_releases([node("a"), pod("web", 1, nodeSelector={"disk": "ssd"})], "web", "1.28", "1.29")
        assert found.document.nodes == ()
        assert [(one.what, one.nodes, one.fact) for one in found.document.causes] == [("message", 0, "one-full-stop")]

    def test_one_reason_a_node(self) -> None:
        """1.17 says one reason where 1.16 says all: what no cell of the table says is found, too."""
        big = {"name": "c", "resources": {"requests": {"cpu": "100", "memory": "100Gi"}}}
        found = kubeclassic.explain_releases([node("a"), pod("web", 1, containers=[big])], "web", "1.16", "1.17")
        assert [one.fact for one in found.document.causes] == ["first-reason-alone"]

    @pytest.mark.parametrize(("before", "after"), STEPS)
    @pytest.mark.parametrize("seed", range(4))
    def test_the_facts_are_of_the_releases_between(self, before: str, after: str, seed: int) -> None:
        """On drawn clusters each fact is one between the two releases, and what differs is what a look at both shows."""
        scenario = drawn(seed)
        way = Way.of(scenario, stages_of([before, after], StartedWith()), until=scenario.pending[-1].key)
        found = explain_both(way)
        assert {fact for fact in found.facts.values() if fact is not None} <= set(facts_between(before, after))
        assert list(found.facts) == list(differences(found.first, found.second))
        assert (found.why is None) == (found.first.host == found.second.host) or found.first.host is None


class TestTheState:
    """Both releases decide on the same state of the cluster."""

    @pytest.mark.parametrize("order", ["input", "priority", "queue"])
    def test_the_older_release_decides_as_explain_says(self, order: str) -> None:
        """The pods that come before are scheduled by the older release, so that it decides as `explain` says."""
        for name in ("shop/orders-1", "analytics/yearly-report", "deploy/storefront"):
            found = kubeclassic.explain_releases(CLUSTER, name, "1.28", "1.34", order=order)
            alone = kubeclassic.explain(CLUSTER, name, "1.28", order=order)
            assert found.hosts["1.28"] == alone.host
            assert found.document.decisions[0].fit == sum(one.fits and one.visited for one in alone.nodes)

    def test_a_pod_that_has_a_node(self) -> None:
        """A pod on a node is decided as if it were not there, as `explain` does it."""
        placed = next(one for one in kubeclassic.Cluster.load(CLUSTER).pods if one.spec.node_name)
        found = kubeclassic.explain_releases(CLUSTER, placed.key, "1.28", "1.34")
        both = [kubeclassic.explain(CLUSTER, placed.key, release).host for release in ("1.28", "1.34")]
        assert list(found.hosts.values()) == both
        assert found.document.placed_on == placed.spec.node_name

    def test_alone(self) -> None:
        """With *alone* the pods that come before do not take the room."""
        cluster = [node("a"), *(pod(f"early-{at}", 1) for at in range(4)), pod("web", 1)]
        assert kubeclassic.explain_releases(cluster, "web", "1.28", "1.34").hosts["1.34"] is None
        assert kubeclassic.explain_releases(cluster, "web", "1.28", "1.34", alone=True).hosts["1.34"] == "a"

    def test_a_pod_for_another_scheduler(self) -> None:
        """A pod that is not scheduled has no decisions, and the answer says why."""
        found = kubeclassic.explain_releases([node("a"), pod("web", 1, schedulerName="mine")], "web", "1.28", "1.34")
        assert found.document.decisions == ()
        assert 'its schedulerName is "mine"' in str(found.view().verdict)

    def test_a_policy_is_carried_over(self) -> None:
        """The older release runs the Policy, the newer one what `policy migrate` makes of it."""
        policy = {"kind": "Policy", "apiVersion": "v1", "predicates": [{"name": "PodFitsResources"}], "priorities": []}
        found = kubeclassic.explain_releases([node("a"), pod("web", 1)], "web", "1.16", "1.27", policy=policy)
        assert [one.runs for one in found.document.decisions] == ["the Policy", "the Policy, migrated to a profile"]
