"""A session: steps back and forth, changes of the cluster, differences in words, pins, and what is saved."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kubeclassic.questions.lab.labconfiguration import LabError
from kubeclassic.questions.lab.podquestions import what_helps, why
from tests.conftest import ROOT
from tests.support.labbuild import fates, in_a_terminal, scenario, session
from tests.support.program import FIND, MAIN

REPORT = "analytics/yearly-report"
MOST = {"do": "weight", "rule": "MostRequestedPriority", "weight": 50}
STEPS = (
    {"do": "copy", "node": "gpu-b1", "count": 2}, MOST, {"do": "drain", "node": "general-a1"},
    {"do": "set", "name": "hardPodAffinityWeight", "value": 50}, {"do": "set", "name": "order", "value": "queue"},
    {"do": "release", "value": "1.27"}, {"do": "switch", "rule": "NodeResourcesFit", "on": False},
    {"do": "set", "name": "percentage", "value": 50}, {"do": "edit", "text": "pod shop/* requests.cpu=2"},
)  # fmt: skip


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program called kubeclassic, which is this one."""
    found = tmp_path / "bin" / "kubeclassic"
    found.parent.mkdir()
    found.write_text(f"#!{sys.executable}\n{FIND}{MAIN}")
    found.chmod(0o755)
    return found


class TestSteps:
    def test_undo_and_redo(self) -> None:
        """Undo brings the placement before the step back, redo the one after it; what is done after undo drops what was undone."""
        found = session()
        first = fates(found)
        found.do(MOST)
        second = fates(found)
        found.do({"do": "undo"})
        assert fates(found) == first != second
        found.do({"do": "redo"})
        assert fates(found) == second
        found.do({"do": "undo"})
        found.do({"do": "drain", "node": "general-a1"})
        assert [step["did"] for step in found.record()["history"]] == ["the start", "general-a1 drained"]

    def test_a_slider_that_moves_on_is_one_step(self) -> None:
        """All the weights that a slider passes while it is dragged are one step back; a weight that is what it was is none."""
        found = session()
        for weight, drag in ((1, False), (2, False), (3, True), (4, True)):
            found.do({"do": "weight", "rule": "LeastRequestedPriority", "weight": weight, "drag": drag})
        assert [step["did"] for step in found.record()["history"]] == ["the start", "weight of LeastRequestedPriority to 4"]

    def test_another_release_keeps_what_it_knows(self) -> None:
        """Weights of priorities that the other release has stay; the others fall away."""
        found = session()
        found.do(MOST)
        found.do({"do": "release", "value": "1.12"})
        assert dict(found.state.configuration.weights) == {"MostRequestedPriority": 50}
        found.do({"do": "release", "value": "1.27"})
        assert dict(found.state.configuration.weights) == {}


class TestCluster:
    def test_a_drained_node_is_left_by_all_but_daemons(self) -> None:
        """The pods of a drained node wait and go elsewhere; those of DaemonSets stay."""
        found = session()
        found.do({"do": "drain", "node": "general-a1"})
        answer = found.answer
        there = [pod for at, pod in enumerate(answer.layout.pods) if answer.hosts[at] == answer.layout.node_at["general-a1"]]
        assert all(pod.startswith("kube-system/node-agent") for pod in there)
        assert len(scenario(found).pending) == 23

    def test_new_nodes_take_pods(self) -> None:
        """Copies of a node have names of their own, and DaemonSets make pods for them."""
        found = session()
        found.do({"do": "copy", "node": "gpu-b1", "count": 2})
        names = [node.name for node in scenario(found).nodes]
        assert names[-2:] == ["gpu-b1-1", "gpu-b1-2"]
        assert len(found.difference("start").come) == 2  # type: ignore[union-attr]

    def test_cordon_and_back(self) -> None:
        """A cordoned node that takes pods again is as if nothing had happened; one that was so from the start can be opened too."""
        found = session()
        found.do({"do": "cordon", "node": "general-a1"})
        found.do({"do": "uncordon", "node": "general-a1"})
        assert found.state.changes == found.history[0].changes
        found.do({"do": "uncordon", "node": "general-c2"})
        assert not next(node for node in scenario(found).nodes if node.name == "general-c2").spec.unschedulable

    def test_an_edit_can_be_taken_back(self) -> None:
        """Each edit can be taken back by itself."""
        found = session()
        first = fates(found)
        found.do({"do": "edit", "text": "pod shop/* requests.cpu=2"})
        assert fates(found) != first
        found.do({"do": "unedit", "at": 0})
        assert fates(found) == first


class TestWords:
    def test_differences(self) -> None:
        """What changed is said in a sentence, and pod by pod."""
        found = session()
        found.do(MOST)
        difference = found.difference("step")
        assert difference is not None
        gone = [pod for pod, *_ in difference.lost]
        assert difference.words == f"{len(difference.moved)} pods move, 2 no longer fit: {gone[0]}, {gone[1]}"
        assert all(found.bench.answer(found.history[0]).host_of(pod) == before for pod, before, _ in difference.moved)
        assert all(found.answer.host_of(pod) == after for pod, _, after in difference.moved)

    def test_against_a_pin(self) -> None:
        """A pinned state is what later ones are compared with, also after it was undone."""
        found = session()
        found.do(MOST)
        found.do({"do": "pin", "pin": "A"})
        found.do({"do": "undo"})
        found.do({"do": "drain", "node": "general-a1"})
        difference = found.difference("A")
        assert difference is not None
        assert (len(difference.found), found.record()["pins"]["A"]["weights"]) == (2, {"MostRequestedPriority": 50})
        found.do({"do": "unpin", "pin": "A"})
        assert found.difference("A") is None


class TestWhy:
    def test_a_pod_that_goes_somewhere(self) -> None:
        """The winner of the matrix is where the lab puts the pod."""
        found = session()
        for pod in scenario(found).pending:
            told = why(found.bench, found.state, pod.key)
            assert told["host"] == found.answer.host_of(pod.key)
            assert told["words"].startswith(f"{pod.key} {'goes to' if told['host'] else 'finds no node'}")

    def test_the_list_and_why_say_the_same(self) -> None:
        """Who loses the node again, as the pod that is evicted and the one that ran there before, is told so; what helps has its cost."""
        found = session()
        helps = what_helps(found.bench, found.state, REPORT)["suggestions"]
        costly = next(one for one in helps if one["edits"] == [f"pod {REPORT} requests.memory=28Gi"])
        assert costly["isCostly"]
        assert "nightly-report-1; 19 of 22 pods placed" in costly["effect"]
        found.do({"do": "edit", "texts": costly["edits"]})
        assert found.answer.host_of(REPORT) is None
        told = why(found.bench, found.state, REPORT)
        assert told["words"].endswith(". In the end it has no node: evicted to make room for kube-system/node-agent-gpu-b1")

    def test_why_not_there(self) -> None:
        """Of a node that turns the pod down the sentence names reason and rule; every rule's say is there."""
        told = why(session().bench, session().state, "shop/cache-wkw9cj5hqm-1", "gpu-b1")
        assert told["nodeWords"] == "gpu-b1 does not fit: node(s) had taints that the pod didn't tolerate (PodToleratesNodeTaints)"
        assert [one["rule"] for one in told["closeUp"]["verdicts"] if one["outcome"] == "fails"] == ["PodToleratesNodeTaints"]

    def test_a_pod_with_a_node(self) -> None:
        """A pod that runs is asked about as if it had no node yet."""
        found = session()
        pod = next(item.key for item in scenario(found).objects if item.kind == "Pod")
        assert why(found.bench, found.state, pod)["moment"].startswith("as if it were not on ")

    @pytest.mark.parametrize(("pod", "node"), [("nope", None), ("shop/orders-1", "nope")])
    def test_unknown_names(self, pod: str, node: str | None) -> None:
        """A name that nothing has is told in one line."""
        found = session()
        with pytest.raises(LabError, match=r'expected a pod of the cluster, got "nope"'):
            why(found.bench, found.state, pod, node)


class TestSaved:
    def test_commands_and_files_give_the_same(self, tmp_path: Path, program: Path) -> None:
        """After steps of every kind, what the saved commands print in a terminal is what the lab shows."""
        (tmp_path / "examples").symlink_to(ROOT / "examples")
        found = session()
        for step in STEPS[:5]:
            found.do(dict(step))
        assert in_a_terminal(found, tmp_path, program) == fates(found)
        for step in STEPS[5:]:
            found.do(dict(step))
        assert in_a_terminal(found, tmp_path, program) == fates(found)
