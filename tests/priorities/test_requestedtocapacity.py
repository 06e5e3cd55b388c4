"""RequestedToCapacityRatioPriority: a curve from utilization to score."""

from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.api.objects import Pod
from kubeclassic.exceptions import PolicyError
from kubeclassic.priorities.requestedtocapacity import (
    Point,
    broken_line,
    requested_to_capacity_ratio_of,
)
from tests.reference import resourcescoring
from tests.support.build import node, pod, scored
from tests.support.examples import examples
from tests.support.refusals import refusal_text
from tests.support.scoring import RELEASES, Cluster, clusters, objects, pods

GPU = "example.com/gpu"
RISING = [(0, 0), (100, 10)]
STEPS = st.lists(st.tuples(st.integers(1, 40), st.integers(0, 10)), min_size=1, max_size=4)
SHAPES = STEPS.map(lambda steps: [(min(at, 100), s) for at, s in zip(accumulate(s[0] for s in steps), (s[1] for s in steps), strict=True)])
VALID = SHAPES.filter(lambda shape: len({at for at, _ in shape}) == len(shape))


class TestTheLine:
    @given(shape=VALID)
    def test_is_straight_between_the_points(self, shape: list[Point]) -> None:
        """At every percent the score is that of the plain walk along the points."""
        assert broken_line(shape).tolist() == [resourcescoring.on_line(shape, percent) for percent in range(101)]


class TestRequestedToCapacityRatio:
    def test_a_weight_of_zero_counts_as_one(self) -> None:
        """A resource that is named without a weight counts like one of weight 1."""
        machine, incoming = node("n", cpu="10", memory="10Gi"), pod("p", requests={"cpu": "9", "memory": "1Gi"})
        found = [scored(requested_to_capacity_ratio_of("Mine", RISING, {"cpu": w, "memory": 3}), incoming, machine) for w in (0, 1)]
        assert found[0] == found[1] == {"n": 3}

    def test_a_resource_that_nobody_knows_counts_as_full(self) -> None:
        """A name that the scheduler does not keep has no capacity on any node."""
        rule = requested_to_capacity_ratio_of("Mine", RISING, {"pods": 1})
        assert scored(rule, pod("p"), node("n")) == {"n": 10}

    @examples(0.8)
    @given(
        cluster=clusters(), incoming=pods("p"), release=st.sampled_from(RELEASES), shape=VALID,
        weights=st.dictionaries(st.sampled_from(["cpu", "memory", GPU]), st.integers(1, 5), min_size=1),
    )  # fmt: skip
    def test_is_what_a_loop_over_nodes_finds(
        self, cluster: Cluster, incoming: Pod, release: str, shape: list[Point], weights: dict[str, int]
    ) -> None:
        """On random clusters and lines every score is that of the plain loop."""
        newest = release == "1.16"
        rule = requested_to_capacity_ratio_of("Mine", shape, weights if newest else {})
        wanted = {
            made.name: resourcescoring.capacity_ratio(incoming, made, existing, shape, weights if newest else None, newest)
            for made, existing in cluster
        }
        assert scored(rule, incoming, *objects(cluster), release=release) == wanted


class TestInvalidShapes:
    @pytest.mark.parametrize(
        ("shape", "text"),
        [
            ([], "at least one point must be specified"),
            ([(5, 0), (5, 1)], "utilization values must be sorted. Utilization[0]==5 >= Utilization[1]==5"),
            ([(-1, 11), (-2, 0)], "utilization values must be sorted. Utilization[0]==-1 >= Utilization[1]==-2"),
            ([(-1, 0)], "utilization values must not be less than 0. Utilization[0]==-1"),
            ([(0, 0), (101, 0)], "utilization values must not be greater than 100. Utilization[1]==101"),
            ([(0, -1)], "score values must not be less than 0. Score[0]==-1"),
            ([(0, 11)], "score valuses not be greater than 10. Score[0]==11"),
        ],
    )
    def test_are_refused_in_upstreams_words(self, shape: list[Point], text: str) -> None:
        """The first fault is reported, the order of the points before everything else."""
        told = refusal_text(PolicyError, requested_to_capacity_ratio_of, "Mine", shape)
        assert told == f"invalid RequestedToCapacityRatioPriority arguments: {text}"
