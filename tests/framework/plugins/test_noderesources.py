"""NodeResourcesFit and NodeResourcesBalancedAllocation: room, and how it would be used, by example and against plain numbers."""

from __future__ import annotations

from typing import Any

import pytest

from kubeclassic.api.objects import Pod
from kubeclassic.core.arrays.batch import Batch
from kubeclassic.framework.config.args import read_args
from kubeclassic.framework.plugins.noderesources import NodeResourcesBalancedAllocation, NodeResourcesFit
from tests.support.asking import cycle_of, found_by, handle, scores
from tests.support.build import node, pod

GPU, TPU = "example.com/gpu", "example.com/tpu"
Json = dict[str, Any]


def fit(**args: Any) -> NodeResourcesFit:
    return NodeResourcesFit(read_args("NodeResourcesFit", args), handle())


def strategy(kind: str, resources: dict[str, int] | None = None, shape: list[tuple[int, int]] | None = None) -> NodeResourcesFit:
    """The plugin with a scoring strategy."""
    found: Json = {"type": kind}
    if resources is not None:
        found["resources"] = [{"name": name, "weight": weight} for name, weight in resources.items()]
    if shape is not None:
        found["requestedToCapacityRatio"] = {"shape": [{"utilization": u, "score": s} for u, s in shape]}
    return fit(scoringStrategy=found)


def balanced(*resources: str) -> NodeResourcesBalancedAllocation:
    args = {"resources": [{"name": name, "weight": 1} for name in resources]} if resources else {}
    return NodeResourcesBalancedAllocation(read_args("NodeResourcesBalancedAllocation", args), handle())


def reasons(new: Pod, *objects: Any, by: NodeResourcesFit | None = None) -> list[str]:
    """The reasons of the node called n."""
    cycle = cycle_of(new, *objects)
    failures = (by or fit()).filter(cycle.template, Batch(cycle.table), cycle)
    return [reason.text for reason in (failures.reasons(cycle.table.row_of["n"]) if failures else ())]


class TestFilter:
    def test_every_shortage_is_named_in_order(self) -> None:
        """Pods, cpu, memory, ephemeral storage, then scalars by name; all are resolvable."""
        small = node("n", cpu="1", memory="1Gi", pods="0", allocatable={"ephemeral-storage": "1Gi"})
        wanted = {"cpu": "2", "memory": "2Gi", "ephemeral-storage": "2Gi", TPU: "1", GPU: "1"}
        texts = ["Too many pods", *(f"Insufficient {name}" for name in ("cpu", "memory", "ephemeral-storage", GPU, TPU))]
        assert reasons(pod("new", requests=wanted), small) == texts

    def test_requests_are_summed_before_they_are_rounded(self) -> None:
        """Three containers of 0.1 millicores each are one millicore, not three."""
        containers = [{"name": f"c{i}", "image": "i", "resources": {"requests": {"cpu": "100u"}}} for i in range(3)]
        assert reasons(pod("new", containers=containers), node("n", cpu="1m")) == []

    def test_a_request_is_held_against_what_is_left(self) -> None:
        """The original compares with allocatable minus requested, which does not wrap around where the sum of two requests does."""
        objects = [node("n", memory="7Ei"), pod("old", on="n", requests={"memory": "6Ei"})]
        assert reasons(pod("new", requests={"memory": "6Ei"}), *objects) == ["Insufficient memory"]
        assert reasons(pod("new", requests={"memory": "1Ei"}), *objects) == []

    def test_a_pod_that_asks_for_nothing_needs_a_place_alone(self) -> None:
        """A pod without requests fits on an overcommitted node."""
        objects = [node("n", cpu="1"), pod("old", on="n", requests={"cpu": "2"})]
        assert reasons(pod("new"), *objects) == []

    @pytest.mark.parametrize("requests", [{"memory": "1"}, {"cpu": "0", GPU: "0"}])
    def test_any_request_makes_overcommitment_count(self, requests: Json) -> None:
        """With any request, even 0 of a scalar, an overcommitted cpu rejects the node."""
        objects = [node("n", cpu="1"), pod("old", on="n", requests={"cpu": "2"})]
        assert reasons(pod("new", requests=requests), *objects) == ["Insufficient cpu"]

    def test_a_scalar_of_zero_is_not_looked_at(self) -> None:
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
    def test_extended_resources_can_be_ignored(self, args: Json, names: list[str]) -> None:
        """Resources are ignored by name or by the part before the slash; others never are."""
        assert reasons(pod("new", requests={GPU: "1", TPU: "1"}), node("n"), by=fit(**args)) == [f"Insufficient {name}" for name in names]

    def test_huge_pages_cannot_be_ignored(self) -> None:
        """Only extended resources can be ignored."""
        args = {"ignoredResources": ["hugepages-2Mi"], "ignoredResourceGroups": ["hugepages-2Mi"]}
        assert reasons(pod("new", requests={"hugepages-2Mi": "2Mi"}), node("n"), by=fit(**args)) == ["Insufficient hugepages-2Mi"]

    def test_a_shortage_may_heal(self) -> None:
        """The reason is resolvable: removing pods helps."""
        cycle = cycle_of(pod("new", requests={"cpu": "9"}), node("n"))
        failures = fit().filter(cycle.template, Batch(cycle.table), cycle)
        assert failures is not None
        assert failures.reasons(0)[0].resolvable
        assert found_by(fit(), cycle, Batch(cycle.table)) == {"n": "Insufficient cpu"}


def raw(plugin: Any, new: Pod, *objects: Any) -> dict[str, int]:
    return scores(plugin, new, *objects, raw=True)


class TestFitScores:
    def test_the_emptier_the_better(self) -> None:
        """1 of 4 cores and 1 of 8 GiB: (75 + 87) / 2, cut."""
        assert raw(fit(), pod("new", requests={"cpu": "1", "memory": "1Gi"}), node("n", cpu="4", memory="8Gi")) == {"n": 81}

    def test_absent_requests_count_with_defaults(self) -> None:
        """100m and 200 MiB, for the pod and for those that are there; an explicit 0 stays 0."""
        objects = [node("n", cpu="1", memory="2000Mi"), pod("old", on="n")]
        assert raw(fit(), pod("new"), *objects) == {"n": 80}
        assert raw(fit(), pod("new", requests={"cpu": "0", "memory": "0"}), *objects) == {"n": 90}

    def test_too_much_is_as_good_as_full(self) -> None:
        """MostAllocated gives a node that would be overcommitted 100, LeastAllocated 0."""
        new, small = pod("new", requests={"cpu": "2", "memory": "2Gi"}), node("n", cpu="1", memory="1Gi")
        assert raw(strategy("MostAllocated"), new, small) == {"n": 100}
        assert raw(strategy("LeastAllocated"), new, small) == {"n": 0}

    def test_scalars_count_where_asked_for(self) -> None:
        """A scalar that the pod does not ask for, or the node does not have, is left out with its weight."""
        plugin = strategy("MostAllocated", {"cpu": 1, GPU: 3})
        nodes = [node("has", cpu="1", allocatable={GPU: "4"}), node("not", cpu="1")]
        assert raw(plugin, pod("new", requests={"cpu": "500m"}), *nodes) == {"has": 50, "not": 50}
        assert raw(plugin, pod("new", requests={"cpu": "500m", GPU: "1"}), *nodes) == {"has": 31, "not": 50}

    def test_nothing_left_scores_nothing(self) -> None:
        """Where no resource counts the node gets 0."""
        for kind in ("LeastAllocated", "MostAllocated"):
            assert raw(strategy(kind, {GPU: 1}), pod("new"), node("n")) == {"n": 0}

    def test_a_line_rounds_halves_up(self) -> None:
        """Scores of 0 do not count, and the mean of the others is rounded, not cut."""
        plugin = strategy("RequestedToCapacityRatio", {"cpu": 1, "memory": 1}, [(0, 0), (100, 10)])
        new = pod("new", requests={"cpu": "500m", "memory": "0"})
        assert raw(plugin, new, node("n", cpu="1", memory="1Gi")) == {"n": 50}
        odd = pod("new", requests={"cpu": "50m", "memory": "2Mi"})
        assert raw(plugin, odd, node("n", cpu="1", memory="100Mi")) == {"n": 4}


class TestBalance:
    def test_equal_shares_are_best(self) -> None:
        """Real requests count, with no defaults; the range of two resources is 50 to 100."""
        nodes = [node("even", cpu="2", memory="2Gi"), node("odd", cpu="1", memory="1000Gi")]
        assert raw(balanced(), pod("new", requests={"cpu": "1", "memory": "1Gi"}), *nodes) == {"even": 100, "odd": 50}
        assert raw(balanced(), pod("new"), *nodes) == {"even": 100, "odd": 100}

    def test_more_than_all_is_all(self) -> None:
        """A share is at most 1, so an overcommitted node does not score less for it."""
        assert raw(balanced(), pod("new", requests={"cpu": "9", "memory": "9Gi"}), node("n", cpu="1", memory="1Gi")) == {"n": 100}
