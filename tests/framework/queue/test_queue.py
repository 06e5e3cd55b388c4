"""The queue: what is tried when, and which events bring pods back."""

from __future__ import annotations

from typing import Any

import pytest

from kubeclassic.api.objects import Node
from kubeclassic.core.engine import Engine
from kubeclassic.core.queue.backoff import Clock
from kubeclassic.core.queue.parked import QueuedPod
from kubeclassic.core.release import QueueingCells
from kubeclassic.exceptions import CacheError
from kubeclassic.framework.queue.eventhandlers import FrameworkEvents
from kubeclassic.framework.queue.events import Action, node_changes
from kubeclassic.framework.queue.queue import FrameworkQueue
from tests.support.build import node, obj, pod
from tests.support.frameworkbuild import scheduler

TAINT = {"key": "k", "value": "v", "effect": "NoSchedule"}


class Bench:
    """A scheduler, its queue and its events, on a clock of its own."""

    def __init__(self, *objects: Any) -> None:
        self.clock = Clock()
        self.engine: Engine = scheduler()
        self.queue: FrameworkQueue = self.engine.flow.queue(self.clock)
        self.events = FrameworkEvents(self.engine, self.queue)
        for item in objects:
            self.events.put(item)

    def attempt(self) -> str | None:
        """Try the head of the queue: its host, or None, and then it waits."""
        popped = self.queue.pop()
        assert popped is not None
        decision = self.engine.schedule(popped.pod)
        if decision.host is None:
            popped.plugins = self.engine.flow.take_unschedulable_plugins(popped.pod)
            self.queue.add_unschedulable(popped, self.queue.cycle)
        return decision.host

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many pods are active, back off, are parked."""
        return tuple(self.queue.pending)


class TestOrder:
    def test_by_priority_then_time(self) -> None:
        """Higher priorities go first, and of equal ones who came first."""
        bench = Bench(pod("a", priority=1))
        bench.clock.now = 1.0
        bench.events.put(pod("b", priority=1))
        bench.events.put(pod("c", priority=2))
        popped = [bench.queue.pop() for _ in range(3)]
        assert [item.pod.name for item in popped if item is not None] == ["c", "a", "b"]


class TestGates:
    def test_a_gated_pod_waits_without_an_attempt(self) -> None:
        """It is parked, and an update that takes its gates lets it be tried at once."""
        gated = pod("p", schedulingGates=[{"name": "x"}], metadata={"resourceVersion": "1"})
        bench = Bench(gated)
        assert bench.counts == (0, 0, 1)
        assert bench.queue.is_gated(gated)
        bench.events.put(pod("p", metadata={"resourceVersion": "2"}))
        assert bench.counts == (1, 0, 0)

    def test_a_timeout_does_not_free_it(self) -> None:
        """Whatever happens, it is gated again."""
        bench = Bench(pod("p", schedulingGates=[{"name": "x"}]))
        bench.clock.now = 1000.0
        bench.queue.tick()
        assert bench.counts == (0, 0, 1)


class TestBackoff:
    @pytest.mark.parametrize(("attempts", "wait"), [(1, 1.0), (2, 2.0), (3, 4.0), (4, 8.0), (5, 10.0), (9, 10.0)])
    def test_it_doubles(self, attempts: int, wait: float) -> None:
        """Each failed attempt doubles the wait, up to ten seconds."""
        assert QueuedPod(pod("p"), 0.0, attempts=attempts).wait(1.0, 10.0) == wait

    def test_it_counts_attempts(self) -> None:
        """A pod that failed twice waits two seconds from its last failure, even if it is moved before that."""
        bench = Bench(node("a", pods="0"), pod("p"))
        bench.attempt()
        bench.clock.now = 1.0
        bench.queue.move_all()
        bench.attempt()
        bench.clock.now = 2.5
        bench.queue.move_all()
        assert (bench.counts, bench.queue.next_due()) == ((0, 1, 0), 3.0)

    def test_a_move_since_the_pop_backs_off(self) -> None:
        """A pod that fails after a move waits in the backoff queue and comes back with the next flush."""
        bench = Bench(node("a", pods="0"), pod("p"))
        popped = bench.queue.pop()
        assert popped is not None
        bench.queue.move_all()
        bench.queue.add_unschedulable(popped, bench.queue.cycle)
        assert bench.counts == (0, 1, 0)
        bench.clock.now = 1.0
        bench.queue.tick()
        assert bench.counts == (1, 0, 0)

    def test_known_pods_are_refused(self) -> None:
        """A pod cannot enter twice."""
        bench = Bench(pod("p"))
        with pytest.raises(CacheError, match="already present in the active queue"):
            bench.queue.add_unschedulable(QueuedPod(pod("p")), 0)


class TestUpdates:
    def test_a_pod_that_backs_off_waits_on(self) -> None:
        """An update of a pod in the backoff queue replaces it there, and one that changed while parked joins it while its wait lasts."""
        bench = Bench(node("a", pods="0"), pod("p"), pod("q"))
        bench.attempt()
        bench.queue.move_all()
        bench.attempt()
        assert bench.counts == (0, 1, 1)
        for name in ("p", "q"):
            bench.queue.update(pod(name), pod(name, labels={"x": "y"}))
        assert (bench.counts, [waiting.labels for waiting in bench.queue.pods()]) == ((0, 2, 0), [{"x": "y"}] * 2)

    def test_finalizers_are_no_change(self) -> None:
        """An update of the finalizers alone leaves a parked pod where it is."""
        bench = Bench(node("a", pods="0"), pod("p"))
        bench.attempt()
        bench.queue.update(pod("p"), pod("p", metadata={"finalizers": ["example.com/f"]}))
        assert bench.counts == (0, 0, 1)

    @pytest.mark.parametrize(("uid", "moved"), [("1", False), ("2", True)])
    def test_affinity_is_read_once_a_pod(self, uid: str, moved: bool) -> None:
        """The terms that were there first count as long as the UID stays."""
        term = {"topologyKey": "h", "labelSelector": {"matchLabels": {"app": "x"}}}
        affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        bench, first = Bench(), pod("p", metadata={"uid": "1"})
        bench.queue.add(first)
        bench.queue.update(first, pod("p", metadata={"uid": uid}, affinity=affinity))
        popped = bench.queue.pop()
        assert popped is not None
        bench.queue.add_unschedulable(popped, bench.queue.cycle)
        bench.clock.now = 5.0
        bench.queue.assigned_pod_added(pod("other", on="a", labels={"app": "x"}))
        assert bench.counts == ((1, 0, 0) if moved else (0, 0, 1))


class TestDeletes:
    def test_a_pod_that_is_deleted_while_it_is_tried_comes_back_with_its_attempts(self) -> None:
        """A delete does not end an attempt: whoever fails then is parked, with all attempts that were made."""
        bench = Bench(node("a", pods="0"), pod("p"))
        bench.attempt()
        bench.clock.now = 1.0
        bench.queue.move_all()
        popped = bench.queue.pop()
        assert popped is not None
        bench.queue.delete(popped.pod)
        bench.queue.add_unschedulable(popped, bench.queue.cycle)
        assert (bench.counts, popped.attempts) == ((0, 0, 1), 2)


class TestMoves:
    def parked(self, *objects: Any, new: Any = None) -> Bench:
        """A bench whose one pod was tried and parked, longer ago than it has to wait."""
        bench = Bench(*objects, new or pod("p", requests={"cpu": "1"}))
        assert bench.attempt() is None
        bench.clock.now = 10.5
        return bench

    def test_only_by_what_the_plugin_waits_for(self) -> None:
        """A pod that failed on taints is moved by a node's taints, and not by a pod that goes."""
        bench = self.parked(node("a", taints=[TAINT]), pod("there", on="a"))
        bench.events.delete(pod("there", on="a"))
        assert bench.counts == (0, 0, 1)
        bench.events.put(node("a"))
        assert bench.counts == (1, 0, 0)

    def test_a_node_that_cannot_hold_it_does_not(self) -> None:
        """A node that comes is looked at before."""
        bench = self.parked(node("a", cpu="0"))
        bench.events.put(node("small", cpu="500m"))
        bench.events.put(node("tainted", taints=[TAINT]))
        assert bench.counts == (0, 0, 1)
        bench.events.put(node("large"))
        assert bench.counts == (1, 0, 0)

    def test_a_node_that_goes_does_not(self) -> None:
        """Deleting a node moves no pod."""
        bench = self.parked(node("a", cpu="0"), node("b", cpu="0"))
        bench.events.delete(node("b"))
        assert bench.counts == (0, 0, 1)

    def test_a_pod_that_comes_moves_those_with_affinity_to_it(self) -> None:
        """A bound pod moves those that require it, namespaces by selector included."""
        term = {"topologyKey": "h", "labelSelector": {"matchLabels": {"app": "x"}}, "namespaceSelector": {"matchLabels": {"team": "t"}}}
        wanting = pod("p", affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}})
        other = obj({"kind": "Namespace", "metadata": {"name": "other", "labels": {"team": "t"}}})
        bench = self.parked(node("a", labels={"h": "1"}), other, new=wanting)
        bench.events.put(pod("no", on="a", labels={"app": "x"}))
        assert bench.counts == (0, 0, 1)
        bench.events.put(pod("yes", on="a", namespace="other", labels={"app": "x"}))
        assert bench.counts == (1, 0, 0)

    def test_after_five_minutes_everything_moves(self) -> None:
        """The look every 30 seconds moves pods that were not tried for more than five minutes."""
        bench = self.parked(node("a", cpu="0"))
        for now, counts in ((300.0, (0, 0, 1)), (330.0, (1, 0, 0))):
            bench.clock.now = now
            bench.queue.tick()
            assert bench.counts == counts

    def test_an_error_lets_any_event_move(self) -> None:
        """A pod without blamed plugins is moved by whatever happens."""
        bench = Bench(pod("p"))
        assert bench.attempt() is None
        bench.clock.now = 5.0
        bench.events.put(obj({"kind": "PersistentVolume", "metadata": {"name": "v"}}))
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
    def test_the_first_that_applies(self, new: Node, action: Action | None) -> None:
        """An update is one event: allocatable hides labels, labels hide taints."""
        assert [event.action for event in node_changes(node("a"), new, QueueingCells())] == ([action] if action else [])

    def test_a_node_made_schedulable(self) -> None:
        """That comes before everything else and counts as a change of taints."""
        (event,) = node_changes(node("a", unschedulable=True), node("a", cpu="8"), QueueingCells())
        assert event.label == "NodeSpecUnschedulableChange"
