"""NodeResourcesFit and NodeResourcesBalancedAllocation: room, and how it would be used, by example and
against plain numbers."""

import pytest

from kubeclassic.core.arrays.batch import Batch
from kubeclassic.framework.config.args import read_args
from kubeclassic.framework.plugins.noderesources import NodeResourcesBalancedAllocation, NodeResourcesFit
from tests.support.asking import cycle_of, handle, scores
from tests.support.build import node, pod

GPU = "example.com/gpu"
TPU = "example.com/tpu"


def fit(**args):
    return NodeResourcesFit(read_args("NodeResourcesFit", args), handle())


def strategy(kind, resources=None, shape=None):
    """The plugin with a scoring strategy."""
    found = {"type": kind}
    if resources is not None:
        found["resources"] = [{"name": name, "weight": weight} for name, weight in resources.items()]
    if shape is not None:
        found["requestedToCapacityRatio"] = {"shape": [{"utilization": u, "score": s} for u, s in shape]}
    return fit(scoringStrategy=found)


def reasons(new, *objects, by=None):
    """The reasons of the node called n."""
    cycle = cycle_of(new, *objects)
    failures = (by or fit()).filter(cycle.template, Batch(cycle.table), cycle)
    return [reason.text for reason in (failures.reasons(cycle.table.row_of["n"]) if failures else ())]


class TestFilter:
    def test_a_request_is_held_against_what_is_left(self):
        """The original compares with allocatable minus requested, which does not wrap around where the sum of
        two requests does."""
        objects = [node("n", memory="7Ei"), pod("old", on="n", requests={"memory": "6Ei"})]
        assert reasons(pod("new", requests={"memory": "6Ei"}), *objects) == ["Insufficient memory"]
        assert reasons(pod("new", requests={"memory": "1Ei"}), *objects) == []

    def test_a_scalar_of_zero_is_not_looked_at(self):
        """A node that is overcommitted in a scalar takes a pod that asks for 0 of it."""
        objects = [node("n"), pod("old", on="n", requests={GPU: "1"})]
        assert reasons(pod("new", requests={GPU: "0"}), *objects) == []

    @pytest.mark.parametrize(
        ("args", "names"),
        [
            ({"ignoredResources": [GPU]}, [TPU]),
            ({"ignoredResourceGroups": ["example.com"]}, []),
            ({"ignoredResources": ["hugepages-2Mi"]}, [GPU, TPU]),
        ],
    )
    def test_extended_resources_can_be_ignored(self, args, names):
        """Resources are ignored by name or by the part before the slash; others never are."""
        assert reasons(pod("new", requests={GPU: "1", TPU: "1"}), node("n"), by=fit(**args)) == [
            f"Insufficient {name}" for name in names
        ]

    def test_huge_pages_cannot_be_ignored(self):
        """Only extended resources can be ignored."""
        args = {"ignoredResources": ["hugepages-2Mi"], "ignoredResourceGroups": ["hugepages-2Mi"]}
        assert reasons(pod("new", requests={"hugepages-2Mi": "2Mi"}), node("n"), by=fit(**args)) == [
            "Insufficient hugepages-2Mi"
        ]


def raw(plugin, new, *objects):
    return scores(plugin, new, *objects, raw=True)


class TestFitScores:
    def test_too_much_is_as_good_as_full(self):
        """MostAllocated gives a node that would be overcommitted 100, LeastAllocated 0."""
        new = pod("new", requests={"cpu": "2", "memory": "2Gi"})
        small = node("n", cpu="1", memory="1Gi")
        assert raw(strategy("MostAllocated"), new, small) == {"n": 100}
        assert raw(strategy("LeastAllocated"), new, small) == {"n": 0}


def test_a_balance_that_64_bits_do_not_hold():
    """A sum that has wrapped around on a tiny node becomes the least number, as in Go, and numpy warns of
    nothing."""
    balance = NodeResourcesBalancedAllocation(read_args("NodeResourcesBalancedAllocation", {}), handle())
    tiny = [node("n", cpu="4", memory="1"), pod("old", on="n", requests={"memory": "200"})]
    assert scores(balance, pod("new", requests={"cpu": "1", "memory": "9Ei"}), *tiny, raw=True) == {
        "n": -(2**63)
    }
