"""The pods that lose a place, with reasons, and the sentence about them."""

import pytest
import yaml

from kubeclassic.core.decision.verdict import reasons_in
from kubeclassic.predicates import rule
from kubeclassic.questions.compare.comparison import Losses, compare, label, main_reason, verdict
from kubeclassic.simulation.conform import engine_for
from kubeclassic.simulation.reasons import about
from tests.support.build import node, pod, policy_of, scenario


def policy(*predicates):
    """A scheduler of 1.16 with these predicates and no priority."""
    rules = {"predicates": [{"name": name} for name in predicates], "priorities": []}
    return engine_for("1.16", {"policy": policy_of(**rules)})


def compared(objects, engines, mode="free"):
    """A comparison; pods without a node wait."""
    return compare(scenario(*objects), engines, mode=mode).document()


TAINT = yaml.safe_load("[{key: gpu, value: x, effect: NoSchedule}]")
SMALL = [node("a", cpu="2", taints=TAINT), node("b", cpu="2", labels={"disk": "ssd"})]
FOUR = [pod(f"p{at}", cpu=1) for at in range(4)]
WAITING = [pod("big", cpu=9), *FOUR, pod("ssd", nodeSelector={"disk": "hdd"})]


# --- Who loses ----------------------------------------------------------------------------------------------


def test_each_reason_is_counted():
    """Each pod that one side alone places has what keeps the other one from it, and reasons are counted,
    the most frequent first."""
    lax = policy("HostName")
    strict = policy("PodFitsResources", "MatchNodeSelector", "PodToleratesNodeTaints")
    (against,) = compared([*SMALL, *WAITING], {"a": lax, "b": strict}).against
    lost = {loss.pod: loss.reason for loss in against.lost.pods}
    assert lost.keys() == {moved.pod for moved in against.first_alone}
    assert lost["default/big"] == "cpu"
    counts = [reason.pods for reason in against.lost.reasons]
    assert counts == sorted(counts, reverse=True)
    assert sum(counts) == len(lost) > 2
    assert all(loss.node in ("a", "b") and "nodes are available" in loss.text for loss in against.lost.pods)


def test_gains_are_losses_the_other_way():
    """The losses of one configuration beside another are the other's gains, for the same reasons."""
    sides = [("HostName",), ("PodFitsResources", "MatchNodeSelector")]
    one, other = (
        compared([*SMALL, *WAITING], {"a": policy(*first), "b": policy(*second)})
        for first, second in (sides, sides[::-1])
    )
    assert one.against[0].lost == other.against[0].gained
    assert one.against[0].gained == other.against[0].lost == Losses((), ())


def test_evicted():
    """A pod that one side evicts is lost to the pod that takes its place."""
    objects = [node("n"), pod("low", cpu=4, priority=1), pod("high", cpu=4, priority=9)]
    made = {"a": engine_for("1.16", {"preemption": False}), "b": engine_for("1.16", {})}
    (against,) = compared(objects, made).against
    assert [(loss.pod, loss.reason) for loss in against.lost.pods] == [("default/low", "eviction")]
    assert against.lost.pods[0].text == "evicted to make room for default/high"


def test_every_reason_of_the_predicates_is_about_something():
    """No reason of a predicate is left without a word or two."""
    texts = [found.text for found in vars(rule).values() if isinstance(found, rule.Reason)]
    assert texts
    assert [text for text in texts if about(text) == text] == []


def test_the_reason_of_most_nodes_counts():
    """Of several reasons at one node the one counts for which most nodes were rejected."""
    error = "0/9 nodes are available: 3 Insufficient cpu, 8 Insufficient memory. preemption: 0/9 nodes are available: 9 x."
    assert reasons_in(error) == {"Insufficient cpu": 3, "Insufficient memory": 8}
    assert main_reason(["Insufficient cpu", "Insufficient memory"], error) == "memory"
    assert reasons_in("no such thing.") == {"no such thing": 0}


# --- Sentence -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["free", "locked"])
def test_fewer_pods(mode):
    """The sentence says how many pods lose their place."""
    lax = policy("HostName")
    strict = policy("PodFitsResources", "MatchNodeSelector", "PodToleratesNodeTaints")
    found = compared([*SMALL, *WAITING], {"a": lax, "b": strict}, mode)
    lost = len(found.against[0].lost.pods)
    assert str(verdict(found)).startswith(f"{lost} pods fewer find a place under b: ")


def test_who_loses_and_why():
    """The sentence says how many pods lose their place and why; one reason for all has no count."""
    record = compared([node("n", cpu="2"), *FOUR], {"a": policy("HostName"), "b": policy("PodFitsResources")})
    assert str(verdict(record)) == "2 pods fewer find a place under b: all because of cpu"
    found = compared(
        [node("n", cpu="2"), pod("p", cpu=3)], {"a": engine_for("1.16", {}), "b": policy("HostName")}
    )
    assert (
        str(verdict(found))
        == "1 pod more finds a place under b, default/p; under a there is none: because of cpu"
    )


def test_nothing_lost():
    """Where no pod loses a place it says how many decisions are other ones, or that all are the same."""
    same = compared([node("n"), pod("p")], {"a": engine_for("1.16", {}), "b": engine_for("1.15", {})})
    assert str(verdict(same)) == "The only decision is the same"
    objects = [node("a", labels={"d": "h"}), node("b", labels={"d": "s"}), pod("p", nodeSelector={"d": "s"})]
    moved = compared(objects, {"a": engine_for("1.16", {}), "b": policy("HostName")})
    assert str(verdict(moved)) == "The same pods find a place under a and b, 1 of them on another node"


def test_releases_name_the_sides():
    """Sides are called by their releases where these tell all apart."""
    record = compared([node("n"), pod("p")], {"a": engine_for("1.16", {}), "b": engine_for("1.15", {})})
    assert [label(record, at) for at in range(2)] == ["1.16", "1.15"]
