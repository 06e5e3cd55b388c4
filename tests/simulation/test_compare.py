"""Comparisons find what differs, nothing else, and say why."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubeclassic.api.decode import decode
from kubeclassic.api.objects import KubeObject, Pod
from kubeclassic.core.engine import Engine
from kubeclassic.exceptions import UnknownNameError
from kubeclassic.simulation.causes import ERROR, PREDICATE, SCORE, TIE
from kubeclassic.simulation.compare import LOCKED, MODES, compare
from kubeclassic.simulation.conform import answer_case, find_families, read_items, read_lines
from kubeclassic.simulation.engines import ALL_RELEASES, engine_for
from kubeclassic.simulation.scenario import Scenario
from tests.build import node, pod
from tests.conftest import ROOT
from tests.worldforms import node_form, pod_form

CASES = ROOT / "tests" / "conformance"
PAIR = {"a": "1.12", "b": "1.16"}


def drawn(seed: int) -> Scenario:
    """A small cluster by lot: nodes, pods on them, and pods of unlike priorities that wait."""
    rng = random.Random(seed)
    nodes = [node_form(number, rng.randrange(1024)) for number in range(rng.randrange(1, 6))]
    there = [pod_form("any", rng.randrange(1024), f"t{number}", rng.choice(nodes).name) for number in range(rng.randrange(6))]
    waiting = [pod_form("any", rng.randrange(1024), f"w{number}") for number in range(rng.randrange(1, 8))]
    return Scenario((*nodes, *there), tuple(waiting))


def of(*objects: KubeObject) -> Scenario:
    """A scenario of objects in their order; pods without a node wait."""
    waiting = tuple(item for item in objects if isinstance(item, Pod) and not item.spec.node_name)
    return Scenario(tuple(item for item in objects if item not in waiting), waiting)


def engines(*releases: str, **config: Any) -> dict[str, Engine]:
    """New schedulers named a, b and so on."""
    return {name: engine_for(release, config) for name, release in zip("abcd", releases, strict=False)}


def obj_or_none(document: dict[str, Any]) -> KubeObject | None:
    """The object that a case's document describes; None for what the scheduler does not read, or has finished."""
    item = decode(document, "case", strict=False)
    return None if isinstance(item, Pod) and item.is_terminal else item


class TestItself:
    @settings(max_examples=25, deadline=None)
    @given(seed=st.integers(0, 10**6), release=st.sampled_from(ALL_RELEASES), mode=st.sampled_from(MODES))
    def test_no_difference(self, seed: int, release: str, mode: str) -> None:
        """A configuration beside itself decides alike in every cycle, and its scores go together wholly."""
        found = compare(drawn(seed), engines(release, release), mode=mode).record()
        assert found["same"]
        assert found["differences"] == []
        (against,) = found["against"]
        assert not [*against["elsewhere"], *against["firstAlone"], *against["secondAlone"], *against["causes"]]
        assert {line["correlation"] for line in against["correlation"]} <= {None, 1.0}
        first, second = found["configurations"]
        assert (first["summary"], first["fragmentation"]) == (second["summary"], second["fragmentation"])


class TestLocked:
    @settings(max_examples=15, deadline=None)
    @given(seed=st.integers(0, 10**6), releases=st.permutations(ALL_RELEASES))
    def test_the_state_is_the_first_one_s(self, seed: int, releases: list[str]) -> None:
        """However others decide, their clusters end as the first one's, and the first one goes its own way."""
        scenario, (first, second) = drawn(seed), releases[:2]
        found = compare(scenario, engines(first, second), mode=LOCKED)
        tables = [sorted((e.pod.key, e.pod.spec.node_name) for e in side.engine.cache.pods()) for side in found.sides]
        assert tables[0] == tables[1]
        alone = compare(scenario, engines(first), mode=LOCKED).sides[0].simulation.outcomes
        assert {key: one.host for key, one in found.sides[0].simulation.outcomes.items()} == {k: one.host for k, one in alone.items()}


def mixed(release: str) -> list[dict[str, Any]]:
    """The mixed cases of a release that both old releases take: provider instead of Policy, no gates, pods alone."""
    (family,) = (family for family in find_families([CASES / release]) if family.name == "mixed")
    return [case for case in read_lines(family.cases) if not case["config"]["policy"] and not case.get("nominated")]


def objects_of(case: dict[str, Any]) -> tuple[KubeObject, ...]:
    """What is there at the beginning of a case."""
    return tuple(item for document in case["objects"] if (item := obj_or_none(document)) is not None)


def first_answer(case: dict[str, Any], release: str) -> tuple[str | None, str | None]:
    """Host and place of preemption in the first cycle of *case*, as the conformance runner answers it under *release*."""
    answer = answer_case(case | {"version": release})["cycles"][0]
    return answer["host"], (answer["preemption"] or {}).get("node")


class TestMixed:
    """The mixed cases of conformance: cases differ by release, so both engines answer the same case."""

    @pytest.mark.parametrize("release", ["1.12", "1.16"])
    def test_first_cycles(self, release: str) -> None:
        """In locked mode the first cycle of a case differs between 1.12 and 1.16 exactly where the two answers to the case do."""
        seen = 0
        for case in mixed(release):
            config = case["config"] | {"featureGates": {}}
            for number, (_, waiting) in enumerate(read_items(case)):
                assert isinstance(waiting, Pod)
                one = case | {"config": config, "pending": [case["pending"][number]]}
                wanted = {name: first_answer(one, version) for name, version in PAIR.items()}
                made = {name: engine_for(version, config) for name, version in PAIR.items()}
                differences = compare(Scenario(objects_of(case), (waiting,)), made, mode=LOCKED).record()["differences"]
                found = [{n: (d["host"], d["roomOn"]) for n, d in one["decisions"].items()} for one in differences if not one["retry"]]
                assert found == ([wanted] if wanted["a"] != wanted["b"] else []), case["name"]
                seen += len(found)
        assert seen

    @pytest.mark.parametrize("release", ["1.12", "1.16"])
    def test_the_leader_decides_as_the_original(self, release: str) -> None:
        """The first side's first decisions are those of the original scheduler, whoever follows."""
        (family,) = (family for family in find_families([CASES / release]) if family.name == "mixed")
        assert family.answers is not None
        originals = {answer["name"]: answer["cycles"] for answer in read_lines(family.answers) if "cycles" in answer}
        other = {"1.12": "1.16", "1.16": "1.12"}[release]
        for case in mixed(release):
            waiting = [item for _, item in read_items(case) if isinstance(item, Pod)]
            made = {"a": engine_for(release, case["config"]), "b": engine_for(other, case["config"] | {"featureGates": {}})}
            found = compare(Scenario(objects_of(case), tuple(waiting)), made, mode=LOCKED)
            hosts = {cycle["pod"]: cycle["host"] for cycle in originals[case["name"]]}
            gone = found.sides[0].simulation.evicted
            outcomes = found.sides[0].simulation.outcomes
            assert {key: one.host for key, one in outcomes.items() if key not in gone} == {k: v for k, v in hosts.items() if k not in gone}


class TestCauses:
    """Each cause, on clusters where it alone can be it."""

    def cause(self, scenario: Scenario, made: dict[str, Engine], mode: str = "free") -> dict[str, Any]:
        """The cause of the one difference."""
        (found,) = compare(scenario, made, mode=mode).record()["differences"]
        cause: dict[str, Any] = found["causes"]["b"]
        return cause

    def policy(self, predicates: list[str], priorities: list[str]) -> Engine:
        """A scheduler of 1.15 with these rules."""
        rules = {"predicates": [{"name": n} for n in predicates], "priorities": [{"name": n, "weight": 1} for n in priorities]}
        return engine_for("1.15", {"policy": {"kind": "Policy", "apiVersion": "v1", **rules}})

    def test_a_predicate(self) -> None:
        """A node that one turns down is put down to the predicate, with its reason."""
        scenario = of(node("a", labels={"disk": "hdd"}), pod("p", nodeSelector={"disk": "ssd"}))
        found = self.cause(scenario, {"a": self.policy(["PodFitsResources"], []), "b": self.policy(["MatchNodeSelector"], [])})
        assert (found["kind"], found["rule"], found["side"], found["node"]) == (PREDICATE, "MatchNodeSelector", "b", "a")
        assert found["text"] == "node(s) didn't match node selector"

    def test_a_score(self) -> None:
        """Where both nodes fit in both, the score that tipped it is named, under one name where both sides have it under two."""
        scenario = of(node("a"), node("b"), pod("there", on="a", requests={"cpu": 2}), pod("p", requests={"cpu": 1}))
        one, other = (self.policy(["PodFitsResources"], [name]) for name in ("LeastRequestedPriority", "MostRequestedPriority"))
        found = self.cause(scenario, {"a": one, "b": other})
        assert (found["kind"], found["rule"], found["side"], found["node"]) == (SCORE, "NodeResourcesFit", "b", "a")

    def test_a_tie(self) -> None:
        """Where both see equals, it is the drawing that differs."""
        made = {"a": engine_for("1.16", {}), "b": engine_for("1.16", {}, pick_host=lambda ties, times: (ties - 1, False))}
        assert self.cause(of(node("a"), node("b"), pod("p")), made)["kind"] == TIE

    def test_an_error(self) -> None:
        """Where one cannot answer, its message is the cause."""
        scenario = of(node("a"), pod("p", schedulingGates=[{"name": "later"}]))
        found = self.cause(scenario, engines("1.16", "1.27"))
        assert (found["kind"], found["side"]) == (ERROR, "b")

    def test_preemption(self) -> None:
        """One makes room where the other does not: that cycle differs, and so does who is placed in the end."""
        there = pod("low", on="a", requests={"cpu": 4}, priority=1)
        made = {"a": engine_for("1.16", {}), "b": engine_for("1.16", {"preemption": False})}
        found = compare(of(node("a"), there, pod("high", requests={"cpu": 4}, priority=9)), made).record()
        (difference,) = found["differences"]
        assert difference["decisions"]["a"]["victims"] == ["default/low"]
        assert found["against"][0]["firstAlone"] == [{"pod": "default/high", "first": "a", "second": None}]


class TestNumbers:
    def test_fragmentation(self) -> None:
        """Of 4 free cores on a node where the pod does not fit, and 6 where it does, 40 % are of no use to it."""
        scenario = of(node("a", cpu="4"), node("b", cpu="11"), pod("p", requests={"cpu": 5}))
        made = engines("1.16", "1.16")
        found = compare(scenario, made).record()["configurations"][0]["fragmentation"]["cpu"]
        assert found == pytest.approx(4 / 10)

    def test_opposite_scores(self) -> None:
        """Rules that want the opposite correlate by -1."""
        causes = TestCauses()
        made = {"a": causes.policy([], ["LeastRequestedPriority"]), "b": causes.policy([], ["MostRequestedPriority"])}
        scenario = of(node("a"), node("b"), pod("there", on="a", requests={"cpu": 2, "memory": "16Gi"}), pod("p"))
        lines = compare(scenario, made).record()["against"][0]["correlation"]
        assert {line["rule"]: line["correlation"] for line in lines} == {"NodeResourcesFit": -1.0, "total": -1.0}

    def test_an_unknown_mode(self) -> None:
        """A mode that does not exist is refused."""
        with pytest.raises(UnknownNameError):
            compare(of(node("a")), engines("1.16", "1.16"), mode="loose")
