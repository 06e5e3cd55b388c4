"""Simulations: who is tried when, what becomes of whom, and the summary."""

import yaml

from kubeclassic.algorithmprovider.cells import TIE_BREAKS
from kubeclassic.simulation.nodesbyuse import summarise
from kubeclassic.simulation.simulate import Simulation
from tests.support.build import engine, node, pod, scenario


def simulation(*objects, tie_break="release", seed=0):
    """A simulation of the pods of *objects* that have no node on everything else."""
    made = engine()
    made.ties.pick = TIE_BREAKS[tie_break](made.algorithm.release, seed)
    return Simulation(scenario(*objects), made)


def hosts(run):
    """The host of each cycle."""
    return [decision.host for decision in run.decisions()]


# --- Decisions ----------------------------------------------------------------------------------------------


def test_the_cluster_fills_up():
    """Each pod finds the cluster as the pods before it left it."""
    run = simulation(node("a", cpu="2"), pod("p", cpu="1500m"), pod("q", cpu=1))
    assert hosts(run) == ["a", None]
    assert run.outcomes["default/q"].error == "0/1 nodes are available: 1 Insufficient cpu."
    assert not run.all_placed


def test_a_preemptor_is_tried_as_long_as_it_makes_room():
    """Where the room that it made is not enough, as its constraint rules that node out by then, it makes
    room elsewhere."""
    nodes = [node(name, cpu="4", labels={"zone": name[0]}) for name in ("a1", "a2", "b1")]
    low = [pod(f"low-{one.name}", on=one.name, cpu=3, priority=int(one.name == "b1")) for one in nodes]
    apart = yaml.safe_load("[{topologyKey: zone, labelSelector: {matchLabels: {app: x}}}]")
    away = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": apart}}
    high = [pod(name, app="x", cpu=3, priority=100, affinity=away) for name in "pq"]
    run = simulation(*nodes, *low, *high)
    assert hosts(run) == [None, None, "a1", None, "b1"]
    assert run.outcomes["default/q"].tries == 3
    assert run.all_placed


def test_a_nomination_of_before_holds():
    """A waiting pod's ``status.nominatedNodeName`` keeps its place from pods of lower priority."""
    nominated = pod("first", cpu=2, priority=5, nominated="a")
    run = simulation(node("a", cpu="2"), pod("low", cpu=2), nominated)
    assert hosts(run) == [None, "a"]


class TestTieBreak:
    NODES = tuple(node(name) for name in "abc")
    PODS = tuple(pod(name) for name in "pqrstuvwxyz")

    def test_random(self):
        """``random`` depends on the seed alone, and comes to every one of the best."""
        drawn = {
            seed: tuple(hosts(simulation(*self.NODES, *self.PODS, tie_break="random", seed=seed)))
            for seed in range(8)
        }
        assert len(set(drawn.values())) > 1
        assert {hosts_of[0] for hosts_of in drawn.values()} == {"a", "b", "c"}
        assert drawn[3] == tuple(hosts(simulation(*self.NODES, *self.PODS, tie_break="random", seed=3)))


def test_use_and_imbalance():
    """Use is the share requested of what there is; imbalance is told as deviation and as fullest less
    emptiest."""
    run = simulation(node("a", cpu="4"), node("b", cpu="4"), pod("on-a", on="a", cpu=2))
    assert hosts(run) == []
    cpu = summarise(run).resources[0]
    assert (cpu.resource, cpu.allocatable, cpu.requested, cpu.use) == ("cpu", 8000, 2000, 0.25)
    assert (cpu.imbalance.standard_deviation, cpu.imbalance.max_min) == (0.25, 0.5)
