"""Explanations say what simulations decide, and why."""

from pathlib import Path

import pytest
import yaml

import kubeclassic
from kubeclassic import Framework
from kubeclassic.core.run import EventFeed
from kubeclassic.exceptions import UnknownNameError
from kubeclassic.simulation.conform import ALL_RELEASES, engine_for
from kubeclassic.simulation.explain.explain import explain, explain_in, find_subject
from kubeclassic.simulation.explain.values import (
    NodeReport,
    NodeScore,
    NodeShortage,
    Objection,
    constant_scores,
    leads,
)
from kubeclassic.simulation.simulate import Files, Scenario, Simulation
from tests.support.build import engine, node, obj, pod
from tests.support.drainbuild import budget
from tests.support.examples import ENDS

CLUSTER = Path(__file__).resolve().parents[2] / "examples" / "cluster"
SCENARIO = Files.read(CLUSTER).scenario()


def simulation(release):
    """A fresh simulation of the example cluster."""
    return Simulation(SCENARIO, engine_for(release, {}), details=True)


@pytest.mark.parametrize("release", ENDS)
def test_totals_are_simulate_s_scores(release):
    """For each pod of the example explain has simulate's host, message, reasons, scores and totals."""
    scored = 0
    for decision in list(simulation(release).decisions()):
        found = explain_in(simulation(release), decision.pod).answer
        scored += found.scored
        assert (found.host, found.error) == (decision.host, decision.error)
        assert {n.name: list(n.reasons) for n in found.nodes if n.visited and not n.fits} == decision.failed
        if found.scored:
            assert {n.name: n.total for n in found.nodes if n.fits and n.visited} == decision.scores
        for name, scores in decision.priorities.items():
            assert {n.name: n.scores[name].reduced for n in found.nodes if n.scores} == scores
        assert all(
            n.total == sum(score.total for score in n.scores.values()) for n in found.nodes if n.scores
        )
    assert scored


# --- Reasons ------------------------------------------------------------------------------------------------


def test_what_is_short_and_by_how_much():
    """Each resource that is short is told with what is asked for, what is free, and what is missing."""
    made = engine(
        node("a", cpu="4", memory="1Gi"), pod("there", on="a", requests={"cpu": 3, "memory": "512Mi"})
    )
    (found,) = explain(made, pod("p", requests={"cpu": "1500m", "memory": "768Mi"})).answer.nodes
    assert found.reasons == ("Insufficient cpu", "Insufficient memory")
    assert found.shortages == (
        NodeShortage("cpu", 1500, 1000),
        NodeShortage("memory", 768 * 2**20, 512 * 2**20),
    )
    assert [short.missing for short in found.shortages] == [500, 256 * 2**20]
    assert found.rules == ("GeneralPredicates",)


def test_the_reason_that_alone_keeps_it_from_a_node_comes_first():
    """More cpu would not help: the term of affinity rules out each node, and is all that rules out the
    large one."""
    near = yaml.safe_load("""
        - topologyKey: kubernetes.io/hostname
          labelSelector:
            matchLabels: {app: gone}
        """)
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": near}}
    nodes = [
        node(name, cpu=cpu, labels={"kubernetes.io/hostname": name})
        for name, cpu in (("a", "1"), ("b", "1"), ("c", "8"))
    ]
    cluster = [*nodes, pod("p", cpu=4, affinity=affinity)]
    newest = Framework(release="1.34")
    verdicts = [
        str(found.view().verdict)
        for found in (kubeclassic.explain(cluster, "p", newest), kubeclassic.simulate(cluster, newest))
    ]
    assert verdicts == [
        "default/p finds no node: stopped by pod affinity on 1 node, cpu on 2 nodes.",
        "default/p finds no node, because of pod affinity.",
    ]


def test_nodes_that_the_pod_wants_are_nearer():
    """Of two nodes with one reason each, the one that the pod's selector means comes first, with the reason
    why it rejects the pod."""
    taint = [{"key": "only", "effect": "NoSchedule"}]
    cluster = [
        node("b"),
        node("c"),
        node("a", labels={"pool": "x"}, taints=taint),
        pod("p", nodeSelector={"pool": "x"}),
    ]
    found = kubeclassic.explain(cluster, "p", "1.34")
    assert (
        str(found.view().verdict)
        == "default/p finds no node: stopped by taints on 1 node, its node affinity on 2 nodes."
    )
    assert [one.name for one in found.nodes] == ["a", "b", "c"]


def test_a_nominated_pod_counts():
    """Room for a nominated pod of higher priority is not free."""
    made = engine(node("a", cpu="4"))
    made.nominations.add(pod("first", cpu=3, priority=5, nominated="a"), "a")
    (found,) = explain(made, pod("p", cpu=2)).answer.nodes
    assert found.shortages == (NodeShortage("cpu", 2000, 1000),)


# --- Scores -------------------------------------------------------------------------------------------------


def test_a_node_that_is_taken_without_scoring():
    """Where one node fits it is not scored, but what it would score is shown."""
    made = engine(node("a"), node("b", unschedulable=True))
    found = explain(made, pod("p")).answer
    assert not found.scored
    assert found.nodes[0].name == "a"
    assert found.nodes[0].scores["NodePreferAvoidPodsPriority"] == NodeScore(10, 10, 10000)


def test_nodes_past_the_window():
    """Nodes that the search did not come to are told apart, and not scored."""
    made = engine(*(node(f"n{number}") for number in range(150)), percentage=1)
    found = explain(made, pod("p")).answer.nodes
    assert sum(report.visited for report in found) == 100
    assert all(report.fits and not report.scores for report in found if not report.visited)


def test_the_lead_counts_with_its_weight():
    """The rule that decided is the one with the greatest difference times weight, not the greatest
    difference."""
    here, there = (
        NodeReport(
            name,
            True,
            True,
            scores={
                "light": NodeScore(light, light, 1),
                "heavy": NodeScore(heavy, heavy, 4),
                "same": NodeScore(3, 3, 9),
            },
        )
        for name, light, heavy in (("a", 9, 5), ("b", 4, 3))
    )
    assert [(lead.rule, lead.ahead) for lead in leads(here, there)] == [("heavy", 8), ("light", 5)]
    assert list(constant_scores([here, there])) == ["same"]


def test_the_node_that_a_pod_waits_for():
    """In the framework it is tried first, and no other node is compared with it."""
    made = engine_for("1.27", {})
    EventFeed(made).put_all(node(name) for name in "ab")
    found = explain(made, pod("p", nominated="b")).answer
    assert (found.host, found.choice, [report.name for report in found.nodes if report.visited]) == (
        "b",
        None,
        ["b"],
    )


def test_the_order():
    """Fewer obstacles come first; of equal number a shortage before what is no matter of amount; then
    what is least short."""
    cpu = Objection("r", ("Insufficient cpu",), True)
    taint = Objection("t", ("tainted",), False)
    little, much, tainted, both = (
        NodeReport("n", False, True, objections=objections, shortages=shortages)
        for objections, shortages in (
            ((cpu,), (NodeShortage("cpu", 1000, 900),)),
            ((cpu,), (NodeShortage("cpu", 1000, 0),)),
            ((taint,), ()),
            ((taint, cpu), (NodeShortage("cpu", 1000, 999),)),
        )
    )
    reports = [both, tainted, much, little]
    assert sorted(reports, key=lambda report: report.nearness) == reports[::-1]


# --- Eviction -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("priority", [0, 10])
def test_counts_are_those_of_the_message(priority):
    """On how many nodes evicting is hopeless, and on how many nobody is lower, is what the framework's
    message says."""
    made = engine_for("1.27", {})
    taint = [{"key": "k", "effect": "NoSchedule"}]
    bound = [pod(f"on-{name}", on=name, cpu=3) for name in "abc"]
    nodes = *(node(name) for name in "abc"), node("d", taints=taint), node("e", taints=taint)
    EventFeed(made).put_all((*nodes, *bound))
    found = explain(made, pod("p", cpu=9, priority=priority)).answer
    counts = {
        "Preemption is not helpful": found.eviction.unresolvable,
        "No preemption victims": found.eviction.nobody_lower,
    }
    assert found.eviction.not_enough == (3 if priority else 0)
    for text, count in counts.items():
        assert (f"{count} {text}" in (found.error or "")) is bool(count)


def test_a_pod_that_makes_room_is_said_to():
    """The answer for a pod that makes room is yes, as it will have that node once the victims leave. A higher
    priority is no help to it."""
    low = [
        pod(name, on="a", cpu=1, priority=priority)
        for name, priority in (("low", 0), ("lower", 0), ("peer", 9))
    ]
    cluster = [node("a", cpu="3"), *low, pod("high", cpu=2, priority=9)]
    found = kubeclassic.explain(cluster, "high")
    assert str(found.view().verdict) == "default/high makes room on a: 2 pods have to leave."
    assert found.ok
    helps = kubeclassic.what_if(cluster, "high")
    assert str(helps.view().verdict).startswith("default/high makes room on a; ")
    assert "priority" not in {one.kind for one in helps.suggestions}


def test_a_budget_is_told():
    """Victims that a disruption budget protects are counted."""
    made = engine(node("a"), budget("b", "x", 0), pod("there", on="a", cpu=3, app="x"))
    found = explain(made, pod("p", cpu=2, priority=5)).answer.eviction
    assert (found.node, found.budget_violations, [victim.pod for victim in found.victims]) == (
        "a",
        1,
        ["default/there"],
    )


class TestSubject:
    def scenario(self, *pods, objects=()):
        """A cluster in which *pods* wait or have a node."""
        there = tuple(item for item in pods if item.spec.node_name)
        return Scenario(
            (node("a"), *objects, *there), tuple(item for item in pods if not item.spec.node_name)
        )

    def test_a_namespace_may_be_called_like_a_kind(self):
        """job/x is pod x of namespace job if there is one, else Job x."""
        owner = yaml.safe_load("{metadata: {ownerReferences: [{kind: Job, name: x, controller: true}]}}")
        scenario = self.scenario(pod("x", namespace="job"), pod("x-1", **owner))
        assert find_subject(scenario, "job/x").pod.key == "job/x"
        assert find_subject(scenario, "job/x", "default").pod.key == "default/x-1"

    def test_a_deployment_by_its_replica_set(self):
        """A ReplicaSet of the input says to which Deployment it belongs; without it the hash in its name
        does."""
        owner = yaml.safe_load("""
        metadata:
          ownerReferences:
          - {kind: ReplicaSet, name: odd-name, controller: true}
        """)
        owned = yaml.safe_load("""
        name: odd-name
        namespace: default
        ownerReferences:
        - {kind: Deployment, name: web, controller: true}
        """)
        scenario = self.scenario(pod("p", **owner), objects=(obj({"kind": "ReplicaSet", "metadata": owned}),))
        assert find_subject(scenario, "deployment/web").workload == "Deployment default/web"
        with pytest.raises(UnknownNameError, match="expected a Deployment that has one"):
            find_subject(self.scenario(pod("p", **owner)), "deployment/web")

    def test_a_pod_that_waits_is_meant(self):
        """Of two pods of one name, and of a workload's pods, the pending one is meant."""
        scenario = self.scenario(pod("x", on="a"), pod("x", namespace="shop"))
        assert find_subject(scenario, "x").pod.key == "shop/x"


@pytest.mark.parametrize("release", ALL_RELEASES)
def test_it_is_as_if_it_came_now(release):
    """A pod on a node is decided exactly as the same pod without a node, on the cluster without it."""
    nodes = [node(name) for name in "abc"]
    other = pod("other", on="a", cpu=2)
    placed = pod("p", on="a", cpu=1)
    scenario = Scenario((*nodes, other, placed), (pod("waits"),))
    found = explain_in(Simulation(scenario, engine_for(release, {})), placed).answer
    fresh = engine_for(release, {})
    EventFeed(fresh).put_all((*nodes, other))
    wanted = explain(fresh, pod("p", cpu=1)).answer
    assert found.nodes == wanted.nodes
    assert (found.host, found.placed_on, found.elsewhere) == (wanted.host, "a", ["b", "c"])
