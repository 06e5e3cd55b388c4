"""Scores of feasible nodes: those that are the same for all are worked out once, and are the same as by the
long way."""

import numpy as np
import pytest

from kubeclassic.core.cycle import EVEN, constant_array
from kubeclassic.core.run import EventFeed
from kubeclassic.simulation.conform import ALL_RELEASES, engine_for
from tests.support.build import node, pod
from tests.support.worldforms import ZONE


def fed(release, memory_bytes):
    """A scheduler with four nodes, two of them in a zone."""
    made = engine_for(release, {"percentageOfNodesToScore": 100}, memory_bytes=memory_bytes)
    feed = EventFeed(made)
    for number in range(4):
        feed.put(node(f"n{number}", labels={ZONE: "a"} if number < 2 else {}, cpu=str(4 + number)))
    feed.put(pod("there", on="n1", cpu="1"))
    return made


@pytest.mark.parametrize("release", ALL_RELEASES)
def test_are_those_of_the_long_way(release):
    """With cached answers some rules give one number for all nodes; every score is that of a scheduler
    without a cache."""
    short, long = (fed(release, size).schedule(pod("web", cpu="2")).details for size in (1 << 20, 0))
    one = short.ranking
    other = long.ranking
    assert any(scores.strides == EVEN for scores in one.by_priority.values())
    assert not any(scores.strides == EVEN for scores in other.by_priority.values())
    assert short.priorities == long.priorities
    assert short.scores == long.scores


def test_are_told_from_scores_that_happen_to_agree():
    """An array of equal numbers is not taken for one number."""
    assert constant_array(10, 3).strides == EVEN
    assert np.full(3, 10).strides != EVEN
    assert constant_array(10, 3).tolist() == [10, 10, 10]
