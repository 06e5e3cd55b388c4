"""The queue: what is tried when, and which events bring pods back."""

import pytest

from kubeclassic.core.queue.backoff import Clock, nanoseconds
from kubeclassic.core.release import QueueingCells
from kubeclassic.framework.queue.events import Action, node_changes
from kubeclassic.framework.queue.handlers import FrameworkEvents
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
            popped.plugins = decision.plugins
            self.queue.add_unschedulable(popped, self.queue.cycle)
        return decision.host

    @property
    def counts(self):
        """The numbers of active, backing-off and parked pods."""
        return tuple(self.queue.pending)


# --- Moves --------------------------------------------------------------------------------------------------


def parked(*objects):
    """A bench whose one pod was tried and parked, longer ago than it has to wait."""
    bench = Bench(*objects, pod("p", cpu="1"))
    assert bench.attempt() is None
    bench.clock.now = nanoseconds(10.5)
    return bench


def test_a_node_that_cannot_hold_it_does_not():
    """A node that comes is looked at before."""
    bench = parked(node("a", cpu="0"))
    bench.events.put(node("small", cpu="500m"))
    bench.events.put(node("tainted", taints=[TAINT]))
    assert bench.counts == (0, 0, 1)
    bench.events.put(node("large"))
    assert bench.counts == (1, 0, 0)


@pytest.mark.parametrize(
    "new, action",
    [
        (node("a"), None),
        (node("a", cpu="8", labels={"x": "y"}), Action.UPDATE_NODE_ALLOCATABLE),
        (node("a", labels={"x": "y"}, taints=[TAINT]), Action.UPDATE_NODE_LABEL),
        (node("a", taints=[TAINT]), Action.UPDATE_NODE_TAINT),
        (node("a", conditions=[{"type": "Ready", "status": "True"}]), Action.UPDATE_NODE_CONDITION),
    ],
)
def test_the_first_that_applies(new, action):
    """An update is one event: allocatable hides labels, labels hide taints."""
    assert [event.action for event in node_changes(node("a"), new, QueueingCells())] == (
        [action] if action else []
    )


def test_a_node_made_schedulable():
    """Uncordoning a node comes before every other change, and counts as a change of taints."""
    (event,) = node_changes(node("a", unschedulable=True), node("a", cpu="8"), QueueingCells())
    assert event.label == "NodeSpecUnschedulableChange"
