"""The behaviours in cells."""

import numpy as np
import pytest

from kubeclassic.algorithmprovider import cells


def ints(*values):
    """An int64 array."""
    return np.array(values, np.int64)


class TestNodesToFind:
    @pytest.mark.parametrize(
        ("nodes", "percentage", "found"),
        [
            (99, 10, 99),
            (1000, 0, 1000),
            (1000, -1, 1000),
            (1000, 100, 1000),
            (1000, 5, 100),
            (1000, 50, 500),
            (1001, 33, 330),
        ],
    )
    def test_fixed_share(self, nodes, percentage, found):
        """A percentage of the nodes, at least 100; 0 is all of them."""
        assert cells.fixed_share(nodes, percentage) == found

    @pytest.mark.parametrize(
        ("nodes", "percentage", "found"),
        [
            (99, 10, 99),
            (100, 0, 100),
            (1000, 0, 420),
            (5000, 0, 500),
            (6000, 0, 300),
            (1000, 100, 1000),
            (1000, 50, 500),
            (1000, -3, 420),
        ],
    )
    def test_adaptive_share(self, nodes, percentage, found):
        """0 looks at a share that falls from 50 to 5 percent as the cluster grows."""
        assert cells.adaptive_share(nodes, percentage) == found


class TestPickHost:
    def test_round_robin(self):
        """Equals take turns, and the counter moves each time."""
        assert [cells.round_robin(3, times) for times in range(4)] == [
            (0, True),
            (1, True),
            (2, True),
            (0, True),
        ]

    def test_a_single_best_moves_the_counter_too(self):
        """A single best node is taken whatever the counter says, and moves it."""
        assert cells.round_robin(1, 7) == (0, True)

    def test_first_best(self):
        """The first of the best, with a counter that stands still."""
        assert cells.first_best(2, 4) == (0, False)


class TestErrorJoiner:
    def test_one_error_stands_alone(self):
        """One text is shown without brackets."""
        assert cells.listed(["a"]) == cells.listed_once(["a"]) == cells.listed_once(["a", "a"]) == "a"

    def test_several(self):
        """Equal texts are shown as often as they are, or once."""
        assert cells.listed(["a", "b", "a"]) == "[a, b, a]"
        assert cells.listed_once(["a", "b", "a"]) == "[a, b]"


class TestRatioMean:
    def test_truncated(self):
        """7 and 8 make 7, whatever the weights."""
        assert cells.truncated_mean(np.array([[7, 0], [8, 8]]), ints(1, 5)).tolist() == [7, 4]

    def test_rounded_over_positive_scores(self):
        """7 and 8 make 8; a resource that scores 0 does not count at all."""
        assert cells.rounded_mean_of_positive(np.array([[7, 0, 0], [8, 8, 0]]), ints(1, 1)).tolist() == [
            8,
            8,
            0,
        ]

    def test_weights(self):
        """Resources count by weight, also where negative weights make the sum of weights 0."""
        assert cells.rounded_mean_of_positive(np.array([[10], [4]]), ints(3, 1)).tolist() == [9]
        assert cells.rounded_mean_of_positive(np.array([[10], [4]]), ints(1, -1)).tolist() == [0]
        assert cells.rounded_mean_of_positive(np.array([[1], [2]]), ints(-3, 1)).tolist() == [1]


class TestZoneKey:
    def test_both_labels(self):
        """Region and zone make the key, one alone too; without both the node is in no zone."""
        assert cells.beta_zone_key({cells.BETA_REGION: "r", cells.BETA_ZONE: "z"}) == "r:\x00:z"
        assert cells.beta_zone_key({cells.BETA_ZONE: "z"}) == ":\x00:z"
        assert cells.beta_zone_key({"topology.kubernetes.io/zone": "z", cells.BETA_ZONE: ""}) == ""
