"""Details read off a board: when they are, that they are whole, and that verify mode finds each way in which they could be stale."""

import json

import pytest

from kubeclassic.core.arrays.table import AVOID
from kubeclassic.core.feed import EventFeed
from kubeclassic.simulation.conform import engine_for
from tests.support.build import node, obj, pod

RELEASES = ("1.12", "1.16", "1.27", "1.34")
TAINTED = {"taints": [{"key": "k", "effect": "NoSchedule"}]}


def small(name, cpu="100m", **more):
    """A pod that requests some cpu."""
    return pod(name, requests={"cpu": cpu, "memory": "64Mi"}, **more)


def cluster(release, *, at_once=True, nodes=12):
    """Nodes of three sizes, and a scheduler whose details are read at once or not."""
    made = engine_for(release, {"percentageOfNodesToScore": 100, "featureGates": {}})
    feed = EventFeed(made)
    for number in range(nodes):
        feed.put(node(f"n{number:02}", cpu=str(2 + number % 3), labels={"zone": f"z{number % 2}"}))
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
        made, long = cluster(release), cluster(release, at_once=False)
        for number in range(20):
            assert place(made, small(str(number))) == place(long, small(str(number)))
        assert is_read_off(made.schedule(small("x")))

    def test_not_without_being_asked(self, release):
        """Details that may be read later are whole from the beginning."""
        made = cluster(release, at_once=False)
        place(made, small("a"))
        assert not is_read_off(made.schedule(small("b")))

    def test_reasons_are_worked_out_for_those_who_ask(self, release):
        """Why nodes do not fit is the same as where all is asked at once."""
        made, long = cluster(release), cluster(release, at_once=False)
        for number in range(10):
            found, wanted = (place(one, small(str(number), "1900m")) for one in (made, long))
            assert found["failed"] == wanted["failed"]
        assert found["failed"]

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

    @pytest.mark.parametrize(
        "change",
        [node("n00", cpu="2", **TAINTED), node("new", cpu="9"), node("n01", cpu="64", labels={"zone": "z9"})],
        ids=["taint", "node", "capacity"],
    )
    def test_a_node_changes(self, release, change):
        """Details follow it."""
        made, long = cluster(release), cluster(release, at_once=False)
        for number in range(6):
            if number == 3:
                EventFeed(made).put(change)
                EventFeed(long).put(change)
            assert place(made, small(str(number))) == place(long, small(str(number)))

    def test_all_nodes_change_alike(self, release):
        """A score that is the same for all nodes, and another one after all of them have changed, is told as it is now."""
        made, long = cluster(release, nodes=3), cluster(release, at_once=False, nodes=3)
        owners = [{"kind": "ReplicaSet", "uid": "u", "name": "x", "controller": True}]
        avoid = json.dumps({"preferAvoidPods": [{"podSignature": {"podController": {"kind": "ReplicaSet", "uid": "u"}}}]})
        for number in range(4):
            for at in range(3 if number == 2 else 0):
                changed = node(f"n{at:02}", cpu=str(2 + at), labels={"zone": f"z{at % 2}"}, annotations={AVOID: avoid})
                EventFeed(made).put(changed)
                EventFeed(long).put(changed)
            incoming = small(str(number), metadata={"ownerReferences": owners})
            assert place(made, incoming) == place(long, incoming)

    def test_other_pods_matter(self, release):
        """A service's pods spread, so that scores follow from what is on other nodes; these are read off a board, too."""
        made, long = cluster(release), cluster(release, at_once=False)
        service = obj({"kind": "Service", "metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": {"app": "x"}}})
        for number in range(12):
            if number == 4:
                EventFeed(made).put(service)
                EventFeed(long).put(service)
            incoming = small(str(number), labels={"app": "x"})
            assert place(made, incoming) == place(long, incoming)
        assert is_read_off(made.schedule(small("x", labels={"app": "x"})))

    def test_a_pod_that_fits_nowhere(self, release):
        """It gets the same message, and preempts the same pods."""
        made, long = cluster(release, nodes=2), cluster(release, at_once=False, nodes=2)
        for number in range(9):
            assert place(made, small(str(number), "900m")) == place(long, small(str(number), "900m"))
        high = small("high", "900m", priority=5)
        assert place(made, high) == place(long, high)


# --- what would be wrong --------------------------------------------------------------------------------------------
