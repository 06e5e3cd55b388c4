"""A run on a scheduler that knows the cluster already comes to what a new scheduler comes to, whatever was moved before."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.exceptions import KubeclassicError
from kubeclassic.simulation.lab.source import LabError
from tests.support.examples import examples
from tests.support.labbuild import MOVES, by_function, fates, move, session, simulated, town

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
            found.do(move(found, one))
        assert fates(found) == by_function(found)

    def test_back_and_forth(self) -> None:
        """The same configuration gives the same placement again after other ones ran."""
        found = session()
        first = fates(found)
        for weight in (5, 0, 7):
            found.do({"do": "weight", "rule": "LeastRequestedPriority", "weight": weight})
        found.do({"do": "weight", "rule": "LeastRequestedPriority", "weight": 1})
        assert fates(found) == first

    @pytest.mark.parametrize("release", ["1.12", "1.15", "1.27"])
    def test_a_second_run_begins_with_what_is_known(self, release: str) -> None:
        """The scheduler of the second run has the table of the first."""
        found = session(release=release)
        spec = found.state.configuration.spec()
        warm = found.bench.engines(found.state, spec)
        tables = []
        for _ in range(2):
            with warm.simulation(spec, "input") as simulation:
                assert len(list(simulation.decisions())) == 22
                tables.append(simulation.engine.table)
        assert tables[0] is tables[1]

    def test_pods_that_wait_are_edited_quickly(self) -> None:
        """An edit of a pod that waits lets the scheduler be used on, and the answer is that of a new one."""
        found = session()
        spec = found.state.configuration.spec()
        before = found.bench.engines(found.state, spec)
        for text in ("pod shop/orders-1 requests.cpu=1", "pod shop/cache* requests.memory=3Gi", "pod analytics/yearly* requests.cpu=1"):
            found.do({"do": "edit", "text": text})
            assert found.bench.engines(found.state, spec).knows(before.scenario)
            assert fates(found) == simulated(found)

    def test_evictions_are_not_taken_back(self) -> None:
        """Where pods had to leave, the next run begins with a new scheduler, and finds them there again."""
        found = session()
        found.do({"do": "edit", "text": "pod analytics/yearly-report priority=2000 priorityClassName- requests.cpu=3 requests.memory=1Gi"})
        found.do({"do": "edit", "text": "node general-* unschedulable=true"})
        found.do({"do": "edit", "text": "pod analytics/yearly-report 'tolerations=[{operator: Exists}]'"})
        for _ in range(2):
            assert fates(found) == simulated(found)
            found.do({"do": "set", "name": "percentage", "value": 100})


class TestRefusals:
    @pytest.mark.parametrize(
        ("action", "text", "field"),
        [
            ({"do": "weight", "rule": "Nope", "weight": 3}, 'got the rule "Nope", wanted one of 1.15', "weight:Nope"),
            ({"do": "weight", "rule": "LeastRequestedPriority", "weight": -1}, "LeastRequestedPriority: got -1, wanted", WEIGHT),
            ({"do": "weight", "rule": "LeastRequestedPriority", "weight": "3"}, "got '3', wanted a whole number", WEIGHT),
            ({"do": "switch", "rule": "CheckNodeUnschedulable", "on": 1}, "on: got 1, wanted true or false", SWITCH),
            ({"do": "release", "value": "1.35"}, 'release: got "1.35", wanted one of 1.12', "release"),
            ({"do": "set", "name": "percentage", "value": 101}, "percentage: got 101, wanted a whole number from 0 to 100", "percentage"),
            ({"do": "set", "name": "hardPodAffinityWeight", "value": 0}, "got 0, wanted a whole number from 1 to 100", HARD),
            ({"do": "set", "name": "order", "value": "age"}, "order: got 'age', wanted one of input", "order"),
            ({"do": "edit", "text": "pod nope/* requests.cpu=1"}, "got no Pod that it is about", "edit"),
            ({"do": "edit", "text": "pod shop/* requests.cpu=x"}, "wanted", "edit"),
            ({"do": "copy", "node": "nope", "count": 1}, 'got "like:nope", wanted the name of a node', "copy"),
            ({"do": "copy", "node": "gpu-b1", "count": 6000}, "count: got 6000, wanted a whole number from 1 to 5000", "count"),
            ({"do": "drain", "node": "nope"}, 'node: got "nope", wanted a node of the cluster', "node"),
            ({"do": "source", "key": "policy:x"}, 'source: got "policy:x", wanted one of provider:', "source"),
            ({"do": "load", "name": "p.json", "text": "{"}, "p.json", "source"),
            ({"do": "load", "name": "p.json", "text": "kind: Pod"}, 'p.json: got kind "Pod", wanted Policy', "source"),
            ({"do": "load", "name": "p.json", "text": '{"predicates": [{"name": "Nope"}]}'}, "Predicate type not found for Nope", "load"),
            ({"do": "undo"}, "nothing to undo", "undo"),
            ({"do": "goto", "at": 7}, "at: got 7, wanted a step of the history", "goto"),
            ({"do": "fly"}, 'do: got "fly", wanted one of undo', ""),
            ({}, "do: got None, wanted a text", ""),
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
