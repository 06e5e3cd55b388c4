"""Comparisons find what differs, nothing else, and say why."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.algorithmprovider import RELEASES, resolve
from kubeclassic.algorithmprovider.catalogue import CATALOGUE
from kubeclassic.algorithmprovider.cells import first_best
from kubeclassic.api.record import plain
from kubeclassic.core.classic import classic_engine
from kubeclassic.core.run import EventFeed
from kubeclassic.exceptions import UnknownNameError
from kubeclassic.predicates.rule import predicate
from kubeclassic.questions.compare.comparison import compare
from kubeclassic.simulation.conform import ALL_RELEASES, engine_for
from kubeclassic.simulation.sides import MODES, decided
from tests.support.build import node, pod, policy_of
from tests.support.build import scenario as of
from tests.support.examples import examples
from tests.support.worldforms import drawn


def engines(*releases):
    """New schedulers named a, b and so on."""
    return {name: engine_for(release, {}) for name, release in zip("abcd", releases, strict=False)}


@examples(0.25)
@given(seed=st.integers(0, 10**6), release=st.sampled_from(ALL_RELEASES), mode=st.sampled_from(MODES))
def test_no_difference(seed, release, mode):
    """A configuration beside itself decides alike in every cycle."""
    found = plain(compare(drawn(seed), engines(release, release), mode=mode).document())
    assert found["same"]
    assert found["differences"] == []
    (against,) = found["against"]
    assert not [*against["elsewhere"], *against["firstAlone"], *against["secondAlone"], *against["causes"]]
    agreement = against["agreement"]
    assert (
        agreement["same"]
        == agreement["sameFeasible"]
        == agreement["sameBest"]
        == agreement["bestWithin"]
        == agreement["decisions"]
    )
    first, second = found["configurations"]
    assert (first["hosts"], first["nodesByUse"]) == (second["hosts"], second["nodesByUse"])
    assert (first["summary"], first["fragmentation"]) == (second["summary"], second["fragmentation"])


@examples(0.15)
@given(seed=st.integers(0, 10**6), releases=st.permutations(ALL_RELEASES))
def test_the_state_is_the_first_one_s(seed, releases):
    """However others decide, their clusters end as the first one's, and the first one goes its own way."""
    scenario = drawn(seed)
    (first, second) = releases[:2]
    found = compare(scenario, engines(first, second), mode="locked")
    infos = [one.engine.cache.infos.values() for one in found.sides]
    tables = [sorted((e.pod.key, info.name) for info in there for e in info.pods) for there in infos]
    assert tables[0] == tables[1]
    alone = compare(scenario, engines(first), mode="locked").sides[0].simulation.outcomes
    led = found.sides[0].simulation.outcomes
    assert {key: one.host for key, one in led.items()} == {key: one.host for key, one in alone.items()}


def settled(version):
    """A scheduler that looks at all nodes and takes the first of the best, so that its answer hangs on the
    state alone."""
    return engine_for(version, {"percentageOfNodesToScore": 100}, tie_break=first_best)


def asked_afresh(version, objects, waiting):
    """The decision of a new scheduler that knows only *objects*."""
    made = settled(version)
    EventFeed(made).put_all(objects)
    return decided(made.schedule(waiting))


@pytest.mark.parametrize("pair", [("1.12", "1.27"), ("1.16", "1.27"), ("1.27", "1.14")])
def test_the_differences_are_the_cycles_that_differ(pair):
    """In locked mode those cycles differ, and no others, in which two schedulers that are made anew for
    the state decide otherwise."""
    seen = 0
    for scenario in map(drawn, range(25)):
        made = {name: settled(version) for name, version in zip("ab", pair, strict=True)}
        found = compare(scenario, made, mode="locked")
        state = list(scenario.objects)
        wanted = []
        for cycle, waiting in enumerate(scenario.pending):
            first, second = (asked_afresh(version, state, waiting) for version in pair)
            if first != second:
                wanted.append((cycle, first[0], second[0]))
            if first[0] is not None:
                state.append(waiting.bound_to(first[0]))
        assert [(d.number, d.decisions["a"].host, d.decisions["b"].host) for d in found.differences] == wanted
        seen += len(wanted)
    assert seen


class TestVerdicts:
    """The verdicts: the same, another of the first side's best nodes, and different."""

    EQUAL, LEAST, MOST = (
        (f"{name}Priority", first_best) for name in ("Equal", "LeastRequested", "MostRequested")
    )
    OTHER_DRAW = ("EqualPriority", lambda ties, times: (ties - 1, False))

    @pytest.mark.parametrize(
        "one, other, wanted",
        [
            (EQUAL, OTHER_DRAW, {"equallyGood", "equalForBoth", "sameBest", "bestWithin"}),
            (EQUAL, LEAST, {"equallyGood", "bestWithin"}),
            (LEAST, EQUAL, {"different", "equalForSecondAlone"}),
            (LEAST, MOST, {"different"}),
            (MOST, EQUAL, {"same"}),
        ],
        ids=["another draw", "the second sees more", "the first sees more", "opposites", "the same by luck"],
    )
    def test_of_one_decision(self, one, other, wanted):
        """On a full and an empty node, a decision counts by what either side sees of both nodes."""
        made = {}
        for name, (rule, draw) in {"a": one, "b": other}.items():
            document = policy_of(predicates=[], priorities=[{"name": rule, "weight": 1}])
            made[name] = engine_for("1.16", {"policy": document}, tie_break=draw)
        scenario = of(
            node("a"), node("b"), pod("there", on="a", requests={"cpu": 2, "memory": "16Gi"}), pod("p")
        )
        found = plain(compare(scenario, made, mode="locked").document())["against"][0]["agreement"]
        assert found == {name: int(name in {"decisions", "sameFeasible", *wanted}) for name in found}

    @examples(0.15)
    @given(seed=st.integers(0, 10**6), releases=st.permutations(ALL_RELEASES), mode=st.sampled_from(MODES))
    def test_counts_add_up(self, seed, releases, mode):
        """The three verdicts add up to the cycles of both, those that are not the same are the differences,
        and causes add up to them."""
        found = plain(compare(drawn(seed), engines(*releases[:2]), mode=mode).document())
        (against,) = found["against"]
        agreement = against["agreement"]
        told = [
            difference["causes"]["b"]["verdict"]
            for difference in found["differences"]
            if "b" in difference["causes"]
        ]
        assert agreement["same"] + len(told) == agreement["decisions"]
        assert (agreement["equallyGood"], agreement["different"]) == (
            told.count("equally good"),
            told.count("different"),
        )
        assert sum(cause["decisions"] for cause in against["causes"]) == len(told)


# --- Causes -------------------------------------------------------------------------------------------------

# Each cause, on clusters where it alone can be it.


def cause(scenario, made):
    """The cause of the one difference."""
    (found,) = plain(compare(scenario, made).document())["differences"]
    return found["causes"]["b"]


def policy(predicates, priorities):
    """A scheduler of 1.15 with these rules."""
    rules = {
        "predicates": [{"name": n} for n in predicates],
        "priorities": [{"name": n, "weight": 1} for n in priorities],
    }
    return engine_for("1.15", {"policy": policy_of(**rules)})


def test_a_score_under_a_name_of_its_own():
    """A priority that a Policy makes by arguments is set beside the plugin that took its place."""
    ratio = yaml.safe_load("{shape: [{utilization: 0, score: 0}, {utilization: 100, score: 10}]}")
    entry = {"name": "FillUp", "weight": 1, "argument": {"requestedToCapacityRatioArguments": ratio}}
    older = engine_for("1.16", {"policy": policy_of(predicates=[], priorities=[entry])})
    scenario = of(node("a"), node("b"), pod("there", on="a", requests={"cpu": 2, "memory": "16Gi"}), pod("p"))
    found = cause(scenario, {"a": older, "b": engine_for("1.27", {})})
    assert (found["kind"], found["rule"]) == ("score", "NodeResourcesFit")


def test_an_error():
    """Where one cannot answer, its message is the cause."""
    broken = predicate.each_node("Broken")(lambda pod, nodes, i, cycle: "the rack is on fire")
    failing = resolve(RELEASES["1.16"], catalogue=CATALOGUE.with_(broken))
    made = {"a": engine_for("1.16", {}), "b": classic_engine(failing)}
    found = cause(of(node("a"), pod("p")), made)
    assert (found["kind"], found["side"]) == ("error", "b")
    assert "the rack is on fire" in found["text"]


# --- Numbers ------------------------------------------------------------------------------------------------


def test_fragmentation():
    """With 4 free cores on a node where the pod does not fit, and 6 where it does, 40 % are of no use to
    it."""
    scenario = of(node("a", cpu="4"), node("b", cpu="11"), pod("p", cpu=5))
    made = engines("1.16", "1.16")
    found = plain(compare(scenario, made).document())["configurations"][0]["fragmentation"]["cpu"]
    assert found == pytest.approx(4 / 10)


def test_nodes_by_use():
    """Nodes are counted by tenths of their use: one empty, one half full, one full."""
    there = (pod("half", on="b", cpu=2), pod("full", on="c", cpu=4))
    scenario = of(node("a"), node("b"), node("c"), *there, pod("p", nodeSelector={"no": "where"}))
    found = plain(compare(scenario, engines("1.16", "1.27")).document())["configurations"]
    assert found[0]["nodesByUse"]["cpu"] == found[1]["nodesByUse"]["cpu"] == [1, 0, 0, 0, 0, 1, 0, 0, 0, 1]


def test_an_unknown_mode():
    """A mode that does not exist is refused."""
    with pytest.raises(UnknownNameError):
        compare(of(node("a")), engines("1.16", "1.16"), mode="loose")
