"""The queue: what is tried when, and which events bring pods back."""

import pytest

from kubeclassic.core.queue.backoff import Clock, nanoseconds
from kubeclassic.core.queue.parked import QueuedPod
from kubeclassic.core.release import QueueingCells
from kubeclassic.exceptions import CacheError
from kubeclassic.framework.queue.eventhandlers import FrameworkEvents
from kubeclassic.framework.queue.events import Action, node_changes
from tests.support.build import node, pod
from tests.support.frameworkbuild import scheduler

TAINT = {"key": "k", "value": "v", "effect": "NoSchedule"}


class Bench:
    """A scheduler, its queue and its events, on a clock of its own."""

    def __init__(self, *objects):
        self.clock = Clock()
        self.engine = scheduler()
        self.queue = self.engine.flow.queue(self.clock)
        self.events = FrameworkEvents(self.engine, self.queue)
        for item in objects:
            self.events.put(item)

    def attempt(self):
        """Try the head of the queue: its host, or None, and then it waits."""
        popped = self.queue.pop()
        decision = self.engine.schedule(popped.pod)
        if decision.host is None:
            popped.plugins = self.engine.flow.take_unschedulable_plugins(popped.pod)
            self.queue.add_unschedulable(popped, self.queue.cycle)
        return decision.host

    @property
    def counts(self):
        """How many pods are active, back off, are parked."""
        return tuple(self.queue.pending)


class TestBackoff:
    def test_known_pods_are_refused(self):
        """A pod cannot enter twice."""
        bench = Bench(pod("p"))
        with pytest.raises(CacheError, match="already present in the active queue"):
            bench.queue.add_unschedulable(QueuedPod(pod("p")), 0)


class TestUpdates:
    def test_finalizers_are_no_change(self):
        """An update of the finalizers alone leaves a parked pod where it is."""
        bench = Bench(node("a", pods="0"), pod("p"))
        bench.attempt()
        bench.queue.update(pod("p"), pod("p", metadata={"finalizers": ["example.com/f"]}))
        assert bench.counts == (0, 0, 1)

    @pytest.mark.parametrize(("uid", "moved"), [("1", False), ("2", True)])
    def test_affinity_is_read_once_a_pod(self, uid, moved):
        """The terms that were there first count as long as the UID stays."""
        term = {"topologyKey": "h", "labelSelector": {"matchLabels": {"app": "x"}}}
        affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        bench = Bench()
        first = pod("p", metadata={"uid": "1"})
        bench.queue.add(first)
        bench.queue.update(first, pod("p", metadata={"uid": uid}, affinity=affinity))
        popped = bench.queue.pop()
        assert popped is not None
        bench.queue.add_unschedulable(popped, bench.queue.cycle)
        bench.clock.now = nanoseconds(5.0)
        bench.queue.assigned_pod_added(pod("other", on="a", labels={"app": "x"}))
        assert bench.counts == ((1, 0, 0) if moved else (0, 0, 1))


class TestMoves:
    def parked(self, *objects, new=None):
        """A bench whose one pod was tried and parked, longer ago than it has to wait."""
        bench = Bench(*objects, new or pod("p", requests={"cpu": "1"}))
        assert bench.attempt() is None
        bench.clock.now = nanoseconds(10.5)
        return bench

    def test_a_node_that_cannot_hold_it_does_not(self):
        """A node that comes is looked at before."""
        bench = self.parked(node("a", cpu="0"))
        bench.events.put(node("small", cpu="500m"))
        bench.events.put(node("tainted", taints=[TAINT]))
        assert bench.counts == (0, 0, 1)
        bench.events.put(node("large"))
        assert bench.counts == (1, 0, 0)


class TestNodeChanges:
    @pytest.mark.parametrize(
        ("new", "action"),
        [
            (node("a"), None),
            (node("a", cpu="8", labels={"x": "y"}), Action.UPDATE_NODE_ALLOCATABLE),
            (node("a", labels={"x": "y"}, taints=[TAINT]), Action.UPDATE_NODE_LABEL),
            (node("a", taints=[TAINT]), Action.UPDATE_NODE_TAINT),
            (node("a", conditions=[{"type": "Ready", "status": "True"}]), Action.UPDATE_NODE_CONDITION),
        ],
    )
    def test_the_first_that_applies(self, new, action):
        """An update is one event: allocatable hides labels, labels hide taints."""
        assert [event.action for event in node_changes(node("a"), new, QueueingCells())] == (
            [action] if action else []
        )

    def test_a_node_made_schedulable(self):
        """That comes before everything else and counts as a change of taints."""
        (event,) = node_changes(node("a", unschedulable=True), node("a", cpu="8"), QueueingCells())
        assert event.label == "NodeSpecUnschedulableChange"
