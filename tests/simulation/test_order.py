"""In which order waiting pods are tried."""

import pytest

from kubeclassic.simulation.conform import ALL_RELEASES
from kubeclassic.simulation.simulate import in_order
from tests.support.build import pod
from tests.support.replaybuild import engine

PODS = [pod(name, priority=priority) for name, priority in (("a", 0), ("b", 5), ("c", 0), ("d", 5), ("e", 0))]
BY_HEAP = ALL_RELEASES[:2]
BY_TIME = ALL_RELEASES[2:]
"""The releases whose queue knows no times, and the others."""


def names(order, release, *pods, **gates):
    """The names of *pods*, else of :data:`PODS`, in an order of a release."""
    return "".join(item.name for item in in_order(pods or PODS, order, engine(release, featureGates=gates)))


@pytest.mark.parametrize("release", ALL_RELEASES)
class TestAnyRelease:
    def test_priority(self, release):
        """The higher priority first, equal ones as they came."""
        assert names("priority", release) == "bdace"

    def test_nothing_is_left_behind(self, release):
        """Asking for an order nominates nobody, and can be done again."""
        made = engine(release)
        pods = [pod("p", nominated="a"), pod("q")]
        assert in_order(pods, "queue", made) == in_order(pods, "queue", made)
        assert not made.nominations


# --- Queue --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", BY_TIME)
def test_by_time(release):
    """Equal priorities come out by the time at which they entered the queue."""
    assert names("queue", release) == "bdace"


@pytest.mark.parametrize("release", BY_HEAP)
def test_equal_priorities_are_not_first_in_first_out(release):
    """# Upstream: pods of equal priority come out as a binary heap holds them: first, last, ..., second."""
    assert names("queue", release, *(pod(name) for name in "12345")) == "15432"


@pytest.mark.parametrize("release", ["1.12", "1.13", "1.14"])
def test_without_pod_priority(release):
    """With gate PodPriority off the queue is first in, first out."""
    assert names("queue", release, PodPriority=False) == "abcde"


def test_gated_pods_come_last():
    """A pod with scheduling gates comes after all others, whatever its priority."""
    held = pod("h", priority=9, schedulingGates=[{"name": "quota"}])
    assert names("queue", ALL_RELEASES[-1], held, *PODS) == "bdaceh"
