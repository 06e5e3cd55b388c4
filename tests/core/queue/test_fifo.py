"""The scheduling queue with gate PodPriority off."""

import pytest

from kubeclassic.algorithmprovider import resolve
from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.core.cluster.nominations import Nominations
from kubeclassic.core.queue.backoff import Clock
from kubeclassic.core.queue.priority import make_queue
from tests.support.build import pod
from tests.support.queuebuild import WITH_FIFO, bench


class TestFifo:
    def test_1_15_has_priorities_always(self):
        """In 1.15 the queue goes by priority even with gate PodPriority off."""
        made = bench("1.15", PodPriority=False)
        for name, priority in (("a", 1), ("b", 5)):
            made.queue.add(pod(name, priority=priority))
        assert made.pop_all() == ["b", "a"]

    @pytest.mark.parametrize("release", WITH_FIFO)
    def test_a_pod_that_comes_back_takes_its_old_place(self, release):
        """A key that was deleted keeps its place, and a pod that comes back by that name takes it."""
        made = bench(release, PodPriority=False)
        for name in ("a", "b"):
            made.queue.add(pod(name))
        made.queue.delete(pod("a"))
        made.queue.add(pod("a"))
        assert made.pop_all() == ["a", "b"]

    @pytest.mark.parametrize("release", WITH_FIFO)
    def test_events_move_nobody_and_nominations_do_not_count(self, release):
        """No event ends a wait, and a pod nominated by its status is not in the map."""
        made = bench(release, PodPriority=False)
        made.queue.add(pod("a", status={"nominatedNodeName": "n"}))
        made.queue.pop()
        made.fail(pod("a", status={"nominatedNodeName": "n"}))
        made.queue.nominate(pod("a"), "n")
        made.queue.move_all()
        made.queue.assigned_pod_added(pod("b", on="n"))
        made.queue.assigned_pod_updated(pod("b", on="n"))
        assert (made.queue.pending, made.nominated()) == ((0, 1, 0), {})

    @pytest.mark.parametrize("release", WITH_FIFO)
    def test_without_the_waits(self, release):
        """The bare FIFO takes a pod that failed back at once, unless it is there already."""
        algorithm = resolve(RELEASES[release], gates={"PodPriority": False})
        queue = make_queue(algorithm, Nominations(algorithm.release.nominations), Clock(), waits=False)
        for name in ("a", "b"):
            queue.add(pod(name))
        item = queue.pop()
        assert item is not None
        for _ in range(2):
            queue.add_unschedulable(item, queue.cycle)
        assert ([found.name for found in queue.pods()], queue.next_due()) == (["b", "a"], None)
