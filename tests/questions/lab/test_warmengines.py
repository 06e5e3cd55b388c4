"""A run on a scheduler that knows the cluster already comes to what a new scheduler comes to, whatever was moved before."""

from __future__ import annotations

import contextlib
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.exceptions import KubeclassicError
from kubeclassic.questions.lab.labconfiguration import LabError
from kubeclassic.questions.lab.questions import LabQuestions
from tests.support.examples import examples
from tests.support.labbuild import EDITS, MOVES, by_function, edit, engine_of, fates, move, session, simulated, town

Drawn = tuple[int, int, int]
WEIGHT, HARD, SWITCH = "weight:LeastRequestedPriority", "hardPodAffinityWeight", "switch:CheckNodeUnschedulable"
NODES = st.lists(st.integers(0, 63), min_size=2, max_size=10)
VARIANTS = st.lists(st.integers(0, 63), min_size=1, max_size=12)


class TestMoves:
    @examples(0.6)
    @given(nodes=NODES, placed=VARIANTS, waiting=VARIANTS, drawn=st.lists(MOVES, max_size=6))
    def test_any_moves(self, nodes: list[int], placed: list[int], waiting: list[int], drawn: list[Drawn]) -> None:
        """After each of some random moves every pod is where a new scheduler puts it, with the same reason if that is nowhere."""
        found = town(nodes, placed, waiting)
        for one in drawn:
            try:
                found.do(move(found, one))
            except KubeclassicError:
                continue  # the release refuses such a configuration; the session stays as it is
            assert fates(found) == simulated(found)

    @examples(0.4)
    @given(drawn=st.lists(MOVES, min_size=1, max_size=4))
    def test_the_saved_policy_says_the_same(self, drawn: list[Drawn]) -> None:
        """``simulate`` with the Policy or the profile that the lab saves places every pod of the example as the lab does."""
        found = session()
        for one in drawn:
            with contextlib.suppress(LabError):  # 1.17 moves no rules
                found.do(move(found, one))
        assert fates(found) == by_function(found)

    @pytest.mark.parametrize("release", ["1.12", "1.15", "1.27", "1.34"])
    def test_a_second_run_begins_with_what_is_known(self, release: str) -> None:
        """The scheduler of a run is used again after an edit, its table after a weight, and no longer after a node has gone."""
        found = session(release=release)
        found.do({"do": "copy", "node": "gpu-b1", "count": 1})
        first = engine_of(found)
        rule = found.record()["scorers"][0]["name"]
        found.do({"do": "edit", "text": "node general-a1 allocatable.cpu=9"})
        assert engine_of(found) is first
        found.do({"do": "weight", "rule": rule, "weight": 7})
        assert engine_of(found) is not first
        assert engine_of(found).table is first.table
        found.do({"do": "uncopy", "node": "gpu-b1"})
        assert engine_of(found).table is not first.table
        assert fates(found) == simulated(found)

    def test_evictions_are_taken_back(self) -> None:
        """Where pods had to leave, the next run finds them there again, host ports and all."""
        found, last = session(), "kube-system/node-agent-gpu-b1"
        found.do({"do": "edit", "text": f"pod {last} priority=2000000 priorityClassName- requests.cpu=7"})
        assert found.answer.summary["evicted"] == 2
        for percentage in (100, 90, 100):
            assert fates(found) == simulated(found)
            found.do({"do": "set", "name": "percentage", "value": percentage})

    def test_huge_requests(self) -> None:
        """A pod that asks for more than sums can hold is judged as by a new scheduler, whenever its turn comes."""
        found = session(release="1.27")
        pod = "pod shop/orders-1 requests.memory"
        for text in (f"{pod}=9E", f"{pod}=1Gi", "node general-a1 allocatable.memory=4Ei"):
            found.do({"do": "edit", "text": text})
            assert fates(found) == simulated(found)


class TestEdits:
    @examples(0.6)
    @given(nodes=NODES, placed=VARIANTS, waiting=VARIANTS, drawn=st.lists(EDITS, min_size=1, max_size=6))
    def test_any_edits(self, nodes: list[int], placed: list[int], waiting: list[int], drawn: list[Drawn]) -> None:
        """After each of some random edits of nodes and pods, among moves, every pod is where a new scheduler puts it."""
        found = town(nodes, placed, waiting)
        for one in drawn:
            try:
                found.do(edit(found, one))
            except KubeclassicError:
                continue
            assert fates(found) == simulated(found)

    def test_fifty_moves_and_edits(self) -> None:
        """Fifty random moves and edits of the example, each equal to ``simulate`` with the same edits and rules."""
        found, draw = session(), random.Random(28)
        for _ in range(50):
            drawn = draw.randrange(12), draw.randrange(1000), draw.randrange(13)
            with contextlib.suppress(KubeclassicError):
                found.do(edit(found, drawn))
            assert fates(found) == by_function(found)

    def test_what_an_edit_sends(self) -> None:
        """After an edit of a node or a pod a page gets what differs of the layout, and only the pods that moved."""
        found = session()
        questions = LabQuestions(found)
        first = questions.look({})
        seen = {"seen": first["session"]["number"], "plot": first["plot"]["number"]}
        second = questions.do({"do": "cordon", "node": "general-a1", **seen})
        assert (second["plot"]["since"], list(second["plot"]["nodes"]), second["plot"]["pods"]) == (first["plot"]["number"], [1], {})
        assert not second["placement"]["whole"]
        seen = {"seen": second["session"]["number"], "plot": second["plot"]["number"]}
        third = questions.do({"do": "edit", "text": "pod shop/orders-1 priority=7", **seen})
        assert [pod[0] for pod in third["plot"]["pods"].values()] == ["shop/orders-1"]


class TestRefusals:
    @pytest.mark.parametrize(
        ("action", "text", "field"),
        [
            ({"do": "weight", "rule": "Nope", "weight": 3}, 'expected one of 1.15, got the rule "Nope"', "weight:Nope"),
            ({"do": "weight", "rule": "LeastRequestedPriority", "weight": -1}, "LeastRequestedPriority: got -1, wanted", WEIGHT),
            ({"do": "weight", "rule": "LeastRequestedPriority", "weight": "3"}, "expected a whole number, got '3'", WEIGHT),
            ({"do": "switch", "rule": "CheckNodeUnschedulable", "on": 1}, "on: expected true or false, got 1", SWITCH),
            ({"do": "release", "value": "1.37"}, 'release: expected one of 1.12, got "1.37"', "release"),
            ({"do": "set", "name": "percentage", "value": 101}, "percentage: expected a whole number from 0 to 100, got 101", "percentage"),
            ({"do": "set", "name": "hardPodAffinityWeight", "value": 0}, "expected a whole number from 1 to 100, got 0", HARD),
            ({"do": "set", "name": "order", "value": "age"}, "order: expected one of input, got 'age'", "order"),
            ({"do": "edit", "text": "pod nope/* requests.cpu=1"}, "got no Pod that it is about", "edit"),
            ({"do": "edit", "text": "pod shop/* requests.cpu=x"}, "wanted", "edit"),
            ({"do": "copy", "node": "nope", "count": 1}, 'expected the name of a node after like:, got "like:nope"', "copy"),
            ({"do": "copy", "node": "gpu-b1", "count": 6000}, "count: expected a whole number from 1 to 5000, got 6000", "count"),
            ({"do": "drain", "node": "nope"}, 'node: expected a node of the cluster, got "nope"', "node"),
            ({"do": "source", "key": "policy:x"}, 'source: expected one of provider:, got "policy:x"', "source"),
            ({"do": "load", "name": "p.json", "text": "{"}, "p.json", "source"),
            ({"do": "load", "name": "p.json", "text": "kind: Pod"}, 'p.json: expected Policy, got kind "Pod"', "source"),
            ({"do": "load", "name": "p.json", "text": '{"predicates": [{"name": "Nope"}]}'}, "Predicate type not found for Nope", "load"),
            ({"do": "undo"}, "nothing to undo", "undo"),
            ({"do": "goto", "at": 7}, "at: expected a step of the history, got 7", "goto"),
            ({"do": "fly"}, 'do: expected one of undo, got "fly"', ""),
            ({}, "do: expected a text, got None", ""),
        ],
    )  # fmt: skip
    def test_one_clear_line(self, action: dict[str, object], text: str, field: str) -> None:
        """What cannot be done is told in one line with the field that it is about, and nothing changes."""
        found = session()
        before = found.record()
        with pytest.raises(LabError) as refused:
            found.do(dict(action))
        assert text in str(refused.value)
        assert "\n" not in str(refused.value)
        assert refused.value.field == field
        assert found.record() == before
