"""Details read off a board: when they are, that they are whole, and that verify mode finds each way in which
they could be stale."""

import pytest

from kubeclassic.core.run import EventFeed
from kubeclassic.simulation.conform import engine_for
from tests.support.build import node, pod

RELEASES = ("1.12", "1.16", "1.27", "1.34")


def small(name):
    """A pod that requests some cpu."""
    return pod(name, requests={"cpu": "100m", "memory": "64Mi"})


def cluster(release, *, at_once=True):
    """Nodes of three sizes, and a scheduler whose details are read at once or not."""
    made = engine_for(release, {"percentageOfNodesToScore": 100, "featureGates": {}})
    EventFeed(made).put_all(
        node(f"n{number:02}", cpu=str(2 + number % 3), labels={"zone": f"z{number % 2}"})
        for number in range(12)
    )
    made.transient_details = at_once
    return made


def place(made, incoming):
    """Schedule *incoming*, and assume it; the record of the decision, with details."""
    decision = made.schedule(incoming)
    found = decision.record(details=True)
    if decision.host is not None:
        made.assume(incoming, decision.host)
    return found


def is_read_off(decision):
    """Whether the scores of *decision* are from a board: it has none before the reduce step."""
    ranking = decision.details.ranking
    return ranking is not None and not ranking.raw


@pytest.mark.parametrize("release", RELEASES)
class TestWhatIsReadOff:
    def test_details_are_the_same(self, release):
        """Pods have the same details as where rules are asked in each cycle."""
        made = cluster(release)
        long = cluster(release, at_once=False)
        for number in range(20):
            assert place(made, small(str(number))) == place(long, small(str(number)))
        assert is_read_off(made.schedule(small("x")))

    def test_not_without_being_asked(self, release):
        """Details that may be read later are whole from the beginning."""
        made = cluster(release, at_once=False)
        place(made, small("a"))
        assert not is_read_off(made.schedule(small("b")))

    def test_reasons_of_a_past_cycle_cannot_be_asked_for(self, release):
        """The cluster has changed by then, so that is a fault of whoever asks."""
        made = cluster(release)
        place(made, small("a"))
        decision = made.schedule(small("b"))
        assert is_read_off(decision)
        made.assume(small("b"), decision.host or "")
        made.schedule(small("c"))
        search = decision.details.search
        with pytest.raises(AssertionError, match="the next cycle has begun"):
            assert search is None or search.verdict.reasons(0)
