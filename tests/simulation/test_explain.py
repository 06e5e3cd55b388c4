"""Explanations say what simulations decide, and why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kubeclassic.cli import run
from kubeclassic.core.feed import Feed
from kubeclassic.simulation.engines import ALL_RELEASES, engine_for
from kubeclassic.simulation.explain import Score, Shortage, explain, explain_in
from kubeclassic.simulation.scenario import read_scenario
from kubeclassic.simulation.simulate import Simulation
from tests.support.build import engine, node, pod

CLUSTER = Path(__file__).resolve().parents[2] / "examples" / "cluster"
SCENARIO = read_scenario(CLUSTER)


def simulation(release: str) -> Simulation:
    """A fresh simulation of the example cluster."""
    return Simulation(SCENARIO, engine_for(release, {}), details=True)


@pytest.mark.parametrize("release", ALL_RELEASES)
def test_totals_are_simulate_s_scores(release: str) -> None:
    """For each pod of the example explain has simulate's host, message, reasons, scores and totals, in every release."""
    for decision in list(simulation(release).decisions()):
        found = explain_in(simulation(release), decision.pod)
        assert (found.decision.host, found.decision.error) == (decision.host, decision.error)
        assert {n.name: list(n.reasons) for n in found.nodes if n.visited and not n.fits} == decision.failed
        if found.was_scored:
            assert {n.name: n.total for n in found.nodes if n.fits and n.visited} == decision.scores
        for name, scores in decision.priorities.items():
            assert {n.name: n.scores[name].reduced for n in found.nodes if n.scores} == scores
        assert all(n.total == sum(score.total for score in n.scores.values()) for n in found.nodes if n.scores)


@pytest.mark.parametrize("release", ALL_RELEASES)
def test_nothing_moves(release: str) -> None:
    """Explaining a pod any number of times changes neither the visiting order nor the next host."""
    looked, plain = (engine_for(release, {"percentageOfNodesToScore": 1}) for _ in range(2))
    for made in (looked, plain):
        feed = Feed(made)
        for number in range(150):
            feed.put(node(f"n{number}"))
    for number in range(6):
        for _ in range(3):
            explain(looked, pod(f"p{number}"))
        ours, theirs = (made.schedule(pod(f"p{number}")) for made in (looked, plain))
        assert (ours.host, ours.feasible) == (theirs.host, theirs.feasible)


class TestReasons:
    def test_what_is_short_and_by_how_much(self) -> None:
        """Each resource that is short is told with what is asked for, what is free, and what is missing."""
        made = engine(node("a", cpu="4", memory="1Gi"), pod("there", on="a", requests={"cpu": 3, "memory": "512Mi"}))
        (found,) = explain(made, pod("p", requests={"cpu": "1500m", "memory": "768Mi"})).nodes
        assert found.reasons == ("Insufficient cpu", "Insufficient memory")
        assert found.shortages == (Shortage("cpu", 1500, 1000), Shortage("memory", 768 * 2**20, 512 * 2**20))
        assert [short.missing for short in found.shortages] == [500, 256 * 2**20]
        assert found.rules == ("GeneralPredicates",)

    def test_too_many_pods(self) -> None:
        """A node that is full of pods is short of one."""
        (found,) = explain(engine(node("a", pods="1"), pod("there", on="a")), pod("p")).nodes
        assert found.shortages == (Shortage("pods", 1, 0),)

    def test_a_nominated_pod_counts(self) -> None:
        """What is promised to a nominated pod of higher priority is not free."""
        made = engine(node("a", cpu="4"))
        made.nominations.add(pod("first", requests={"cpu": 3}, priority=5, status={"nominatedNodeName": "a"}), "a")
        (found,) = explain(made, pod("p", requests={"cpu": 2})).nodes
        assert found.shortages == (Shortage("cpu", 2000, 1000),)


class TestScores:
    def test_a_node_that_is_taken_without_scoring(self) -> None:
        """Where one node fits it is not scored, but what it would score is shown."""
        made = engine(node("a"), node("b", unschedulable=True))
        found = explain(made, pod("p"))
        assert not found.was_scored
        assert found.nodes[0].name == "a"
        assert found.nodes[0].scores["NodePreferAvoidPodsPriority"] == Score(10, 10, 10000)

    def test_nodes_past_the_window(self) -> None:
        """Nodes that the search did not come to are told apart, and not scored."""
        made = engine(*(node(f"n{number}") for number in range(150)), percentage=1)
        found = explain(made, pod("p")).nodes
        assert sum(report.visited for report in found) == 100
        assert all(report.fits and not report.scores for report in found if not report.visited)

    def test_the_best_comes_first(self) -> None:
        """Nodes that fit stand in order of their totals."""
        made = engine(node("full"), node("empty"), pod("there", on="full", requests={"cpu": 3}))
        assert [report.name for report in explain(made, pod("p", requests={"cpu": 1})).nodes] == ["empty", "full"]


class TestCommand:
    def test_json(self, capsys: pytest.CaptureFixture[str]) -> None:
        """``-o json`` has every node with its reasons and shortages."""
        assert run(["explain", str(CLUSTER), "yearly-report", "-o", "json"]) == 1
        found = json.loads(capsys.readouterr().out)
        assert found["host"] is None
        assert len(found["nodes"]) == 11
        gpu = next(report for report in found["nodes"] if report["node"] == "gpu-b1")
        assert gpu["shortages"] == [{"resource": "memory", "asked": 40 * 2**30, "free": 28 * 2**30, "missing": 12 * 2**30}]

    def test_table(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        """The table says what is short and by how much."""
        monkeypatch.setenv("COLUMNS", "200")
        run(["explain", str(CLUSTER), "analytics/yearly-report"])
        told = capsys.readouterr().out
        assert "12.0 GiB memory (asks 40.0 GiB, free 28.0 GiB)" in told
        assert "0/11 nodes are available: " in told

    def test_alone(self, capsys: pytest.CaptureFixture[str]) -> None:
        """``--alone`` explains on the cluster as it stands, without the pods that come before."""
        for arguments, wanted in (([], False), (["--alone"], True)):
            run(["explain", str(CLUSTER), "shop/orders-1", "-o", "json", *arguments])
            reports = json.loads(capsys.readouterr().out)["nodes"]
            assert next(report["fits"] for report in reports if report["node"] == "database-b1") is wanted
