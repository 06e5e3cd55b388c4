"""Pods that wait on Permit where there is no clock: in simulations, for Python programs, and beside other
schedulers."""

import json

import pytest

from kubeclassic import Cluster, Scheduler
from kubeclassic.api.record import UNSET
from kubeclassic.framework.options import Framework
from kubeclassic.framework.plugin import wait
from kubeclassic.questions.compare.comparison import compare
from kubeclassic.questions.simulate.ask import summary_lines
from kubeclassic.questions.simulate.pods import PodRecord
from kubeclassic.simulation.explain.explain import explain
from kubeclassic.simulation.nodesbyuse import summarise
from kubeclassic.simulation.simulate import WAITS, Simulation
from tests.support import replaybuild
from tests.support.build import node, pod, scenario
from tests.support.frameworkbuild import enabled, scheduler
from tests.support.permitbuild import Doorman, names, waits_of
from tests.support.program import ran


class Keyholder(Doorman):
    """Makes pods wait until one with an annotation ``allows`` or ``rejects`` names them."""

    name = "Keyholder"

    def permit(self, pod, node_name, cycle):
        """Say what the annotations say."""
        said = pod.metadata.annotations
        for other in self.handle.iterate_over_waiting_pods():
            if other.pod.name in said.get("allows", ""):
                other.allow(self.name)
            if other.pod.name in said.get("rejects", ""):
                other.reject(self.name, f"{pod.name} does not want it")
        return wait() if "waits" in said else None

    def post_filter(self, pod, found, cycle):
        """Reject all."""
        for other in self.handle.iterate_over_waiting_pods():
            other.reject(self.name, "somebody fits nowhere")


def asking(name, cpu="1", priority=0, **annotations):
    """A pod that asks for cpu."""
    return pod(name, cpu=cpu, priority=priority, metadata={"annotations": annotations})


def engine():
    """A new scheduler with the plugin."""
    return scheduler(profile={"plugins": {"multiPoint": enabled("Keyholder")}}, plugins=(Keyholder,))


def simulated(*objects):
    """A finished simulation."""
    made = Simulation(scenario(*objects), engine())
    for _ in made.decisions():
        continue
    return made


def words(made):
    """The outcome of each pod."""
    return {outcome.pod.name: outcome.word for outcome in made.outcomes.values()}


def told(made, name):
    """Where a pod is, and what is said of it."""
    outcome = made.outcomes[f"default/{name}"]
    return outcome.host, outcome.error


# --- Outcomes -----------------------------------------------------------------------------------------------


def test_who_waits_at_the_end_waits():
    """Nobody's time is ever up: a pod that no other pod's cycle ends the wait of has an outcome of its
    own, and keeps its node."""
    made = simulated(node("a", cpu="1"), asking("one", waits="yes"), asking("two"))
    assert words(made) == {"one": "unschedulable", "two": "unschedulable"}
    made = simulated(node("a", cpu="1"), asking("one", waits="yes"))
    assert (words(made), told(made, "one")) == ({"one": "waiting"}, ("a", WAITS.format("one")))
    assert not made.all_placed
    counts = summarise(made)
    assert (counts.placed, counts.waiting, counts.unschedulable) == (0, 1, 0)
    assert "0 unschedulable, 1 waiting for Permit plugins" in summary_lines(counts)[0]


OUTCOMES = {
    "a later pod's cycle lets it be bound": (
        [node("a"), asking("one", waits="yes"), asking("two", allows="one")],
        {"one": "placed", "two": "placed"},
        ("a", None),
    ),
    "a later pod takes the room of one that was rejected": (
        [node("a", cpu="2"), asking("one", waits="yes"), asking("two", rejects="one"), asking("three")],
        {"one": "unschedulable", "two": "placed", "three": "placed"},
        (None, "two does not want it"),
    ),
    "a PostFilter plugin ends waits, and the room is there for the next one": (
        [node("a", cpu="1"), asking("one", waits="yes"), asking("large", cpu="9"), asking("three")],
        {"one": "unschedulable", "large": "unschedulable", "three": "placed"},
        (None, "somebody fits nowhere"),
    ),
    "a PreBind plugin can still refuse": (
        [node("a"), asking("one", waits="yes", preBind="no"), asking("two", allows="one")],
        {"one": "unschedulable", "two": "placed"},
        (None, "not bound"),
    ),
    "a pod that waits and is preempted is rejected, not evicted": (
        [node("a", cpu="1"), asking("one", waits="yes"), asking("high", priority=5)],
        {"one": "unschedulable", "high": "placed"},
        (None, "preempted"),
    ),
}
"""How a wait ends -> the cluster, the outcome of each pod, and host and error of the one that waited."""


@pytest.mark.parametrize("how", OUTCOMES)
def test_how_a_wait_ends(how):
    """The pod that waited gets its node or loses it, and those after it find the cluster so."""
    cluster, wanted, said = OUTCOMES[how]
    made = simulated(*cluster)
    assert (words(made), told(made, "one"), made.evictions) == (wanted, said, [])
    assert made.all_placed == (set(wanted.values()) == {"placed"})


def test_records():
    """A line says of a cycle that its pod waits; the pod's record says it in the end."""
    made = Simulation(scenario(node("a"), asking("one", waits="yes"), asking("two")), engine())
    assert [decision.cycle().waiting for decision in made.decisions()] == [True, UNSET]
    assert PodRecord.of(made, made.outcomes["default/one"]).outcome == "waiting"


# --- Python -------------------------------------------------------------------------------------------------


def test_the_pods_that_wait():
    """A program is told of a decision that is not final, who waits, and who waits no more."""
    ours = Scheduler(
        Cluster([node("a"), asking("one", waits="yes"), asking("two")]),
        Framework(release="1.27", plugins=[Keyholder]),
    )
    assert [decision.is_waiting for decision in ours.run()] == [True, False]
    assert [held.name for held in ours.waiting_on_permit] == ["one"]
    assert ours.waiting == ()
    ours.schedule(asking("three", rejects="one"))
    assert ours.waiting_on_permit == ()
    assert [waiting.name for waiting in ours.waiting] == ["one"]


def test_a_waiting_pod_that_is_deleted():
    """The node of a deleted waiting pod is free again, and its reservations are undone."""
    cluster = Cluster([node("a", cpu="1"), asking("one", waits="yes")])
    ours = Scheduler(cluster, Framework(release="1.27", plugins=[Keyholder]))
    ours.schedule("one")
    cluster.delete(asking("one"))
    assert (ours.waiting_on_permit, Keyholder.seen[-1]) == ((), "Keyholder unreserve one")
    assert ours.schedule(asking("two")).host == "a"


def test_asking_ends_no_wait():
    """Actions of a plugin during an evaluation do not count."""
    made = engine()
    simulation = Simulation(scenario(node("a", cpu="1"), asking("one", waits="yes")), made)
    list(simulation.decisions())
    assert explain(made, asking("large", cpu="9")).decision.host is None
    assert not next(iter(waits_of(made))).is_over
    assert simulation.outcomes["default/one"].word == "waiting"


@pytest.mark.parametrize("ends", ["allows", "rejects"])
def test_a_follower_does_not_wait(ends):
    """Beside a leader whose plugins make pods wait, the others take its decisions, and take them back
    when it does."""
    waiting = (asking("one", waits="yes"), asking("two", **{ends: "one"}), asking("three"))
    comparison = compare(
        scenario(node("a", cpu="2"), *waiting), {"a": engine(), "b": engine()}, mode="locked"
    )
    caches = [one.engine.cache for one in comparison.sides]
    there = [
        [name for name in ("one", "three", "two") if cache.state(pod(name)) is not None] for cache in caches
    ]
    assert there[0] == there[1] == (["one", "two"] if ends == "allows" else ["three", "two"])
    assert names(waits_of(comparison.sides[1].engine)) == []


# --- Gang ---------------------------------------------------------------------------------------------------


ARGUMENTS = ("--profile", "examples/gang/profile.yaml", "--rules", "examples/gang/gang.py:Gang")


def test_all_or_none(at_the_root):
    """A gang of which one pod fits nowhere gets nothing, the next one takes its room, and an incomplete
    one waits."""
    found = ran("simulate", "examples/gang/cluster.yaml", *ARGUMENTS, "-o", "json", status=1).document
    gangs = {}
    for record in found["pods"]:
        gangs.setdefault(record["name"].partition("-")[0], []).append((record["outcome"], record["host"]))
    assert gangs["train"] == [("unschedulable", None)] * 4
    assert sorted(gangs["render"]) == [("placed", f"worker-{number}") for number in (1, 2, 3)]
    assert {outcome for outcome, _ in gangs["report"]} == {"waiting"}


def test_on_the_clock(at_the_root):
    """In a replay the gang is bound at once when it is complete; one that stays incomplete is rejected
    when its time is up."""
    out = ran("replay", "examples/gang/day.yaml", *ARGUMENTS, "--release", "1.27").out
    records = [json.loads(line) for line in out.splitlines()]
    assert sorted(replaybuild.told(records, "Bound")) == [
        *((25, f"default/train-{i}") for i in range(4)),
        *((70, f"default/{name}") for name in ("late-report-0", "report-0", "report-1")),
    ]
    failed = replaybuild.of_event(records, "FailedScheduling")
    late = [record["message"] for record in failed if "report" in record["pod"]]
    assert late == ["rejected due to timeout after waiting 30s at plugin Gang"] * 2
