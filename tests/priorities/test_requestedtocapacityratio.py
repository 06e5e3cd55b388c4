"""RequestedToCapacityRatioPriority: a curve from utilization to score."""

import pytest

from kubeclassic.exceptions import PolicyError
from kubeclassic.priorities.requestedtocapacityratio import broken_line, requested_to_capacity_ratio_of
from tests.support.build import node, pod, scored
from tests.support.refusals import refusal_text

RISING = [(0, 0), (100, 10)]


class TestRequestedToCapacityRatio:
    def test_a_weight_of_zero_counts_as_one(self):
        """A resource that is named without a weight counts like one of weight 1."""
        machine = node("n", cpu="10", memory="10Gi")
        incoming = pod("p", requests={"cpu": "9", "memory": "1Gi"})
        found = [
            scored(requested_to_capacity_ratio_of("Mine", RISING, {"cpu": w, "memory": 3}), incoming, machine)
            for w in (0, 1)
        ]
        assert found[0] == found[1] == {"n": 3}

    def test_a_resource_that_nobody_knows_counts_as_full(self):
        """A name that the scheduler does not keep has no capacity on any node."""
        rule = requested_to_capacity_ratio_of("Mine", RISING, {"pods": 1})
        assert scored(rule, pod("p"), node("n")) == {"n": 10}

    def test_a_falling_line_is_rounded_toward_zero(self):
        """The way from the left point is rounded toward zero, so that a falling line stays a little higher."""
        assert broken_line([(0, 10), (100, 0)])[[0, 1, 9, 10, 99, 100]].tolist() == [10, 10, 10, 9, 1, 0]


class TestInvalidShapes:
    @pytest.mark.parametrize(
        ("shape", "text"),
        [
            ([], "at least one point must be specified"),
            ([(5, 0), (5, 1)], "utilization values must be sorted. Utilization[0]==5 >= Utilization[1]==5"),
            (
                [(-1, 11), (-2, 0)],
                "utilization values must be sorted. Utilization[0]==-1 >= Utilization[1]==-2",
            ),
            ([(-1, 0)], "utilization values must not be less than 0. Utilization[0]==-1"),
            ([(0, 0), (101, 0)], "utilization values must not be greater than 100. Utilization[1]==101"),
            ([(0, -1)], "score values must not be less than 0. Score[0]==-1"),
            ([(0, 11)], "score valuses not be greater than 10. Score[0]==11"),
        ],
    )
    def test_are_refused_in_upstreams_words(self, shape, text):
        """The first fault is reported, the order of the points before everything else."""
        told = refusal_text(PolicyError, requested_to_capacity_ratio_of, "Mine", shape)
        assert told == f"invalid RequestedToCapacityRatioPriority arguments: {text}"
