"""The scheduling queue: its heap, its backoff and its timers; and the queue of releases with gate PodPriority off."""

import pytest

from kubeclassic.algorithmprovider import resolve
from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.core.cluster.nominations import Nominations
from kubeclassic.core.queue.backoff import SECOND, Backoff, Clock, Heap, Timer
from kubeclassic.core.queue.parked import QueuedPod
from kubeclassic.core.queue.priority import make_queue
from tests.support.build import pod


@pytest.fixture(params=["1.12", "1.13", "1.14"])
def fifo(request):
    """The queue of a release that has one without priorities, and the nominations beside it."""
    algorithm = resolve(RELEASES[request.param], gates={"PodPriority": False})
    made = Nominations(algorithm.release.nominations)
    return make_queue(algorithm, made, Clock()), made


def test_a_pod_that_comes_back_takes_its_old_place(fifo):
    """A key that was deleted keeps its place, and a pod that comes back by that name takes it."""
    queue, _ = fifo
    for name in ("a", "b"):
        queue.add(pod(name))
    queue.delete(pod("a"))
    queue.add(pod("a"))
    assert [queue.pop().pod.name for _ in "ab"] == ["a", "b"]


def test_events_move_nobody_and_nominations_do_not_count(fifo):
    """No event ends a wait, and a pod nominated by its status is not in the map."""
    queue, nominations = fifo
    nominated = pod("a", status={"nominatedNodeName": "n"})
    queue.add(nominated)
    queue.pop()
    queue.add_unschedulable(QueuedPod(nominated), queue.cycle)
    queue.nominate(pod("a"), "n")
    queue.move_all()
    queue.assigned_pod_added(pod("b", on="n"))
    queue.assigned_pod_updated(pod("b", on="n"))
    assert (queue.pending, list(nominations)) == ((0, 1, 0), [])


# --- The heap's own order -----------------------------------------------------------------------------------


@pytest.fixture
def heap():
    return Heap(lambda one, other: one[0] < other[0])


def fill(heap, *ranks):
    """Put items named 1, 2, 3... of these ranks."""
    for number, rank in enumerate(ranks, 1):
        heap.put(str(number), (rank, str(number)))


def names(heap):
    """Take out all, head first."""
    return [heap.pop()[1] for _ in range(len(heap))]


class TestHeap:
    def test_equals_leave_the_first_then_backwards(self, heap):
        """Equal items that come in order 1 to n leave as 1, n, n-1 ... 2, as from Go's container/heap."""
        fill(heap, *[0] * 7)
        assert names(heap) == ["1", "7", "6", "5", "4", "3", "2"]

    def test_of_two_equal_children_the_left_one_moves_up(self, heap):
        """Of two equal children the left one moves up."""
        fill(heap, 0, 1, 1, 2)
        assert names(heap) == ["1", "2", "3", "4"]

    def test_what_is_not_there(self, heap):
        """An unknown key is None, and an empty heap has no head."""
        assert (heap.get("1"), heap.remove("1"), heap.peek(), len(heap)) == (None, None, None, 0)
        with pytest.raises(IndexError):
            heap.pop()


def test_an_item_that_becomes_better_goes_first():
    """An item that is replaced by a better one is sifted towards the head from where it lies."""
    heap = Heap[int](int.__lt__)
    for key, item in (("a", 1), ("b", 2), ("c", 3), ("d", 4)):
        heap.put(key, item)
    heap.put("d", 0)
    assert heap.peek() == 0


# --- How long a failed pod waits, and the timers that look --------------------------------------------------


class TestBackoff:
    def test_a_wait_is_over_at_its_end(self):
        """A pod waits before its time and not at it."""
        backoff = Backoff(20 * SECOND)
        backoff.fail("a", 0)
        assert [backoff.is_waiting("a", now) for now in (SECOND - 1, SECOND)] == [True, False]

    def test_a_failure_at_the_very_end_begins_no_wait(self):
        """A pod that fails just as its wait ends goes without another one; a moment later it waits twice as
        long."""
        backoff = Backoff(20 * SECOND)
        for now, until in ((0, SECOND), (SECOND, SECOND), (SECOND + 1, 3 * SECOND + 1)):
            backoff.fail("a", now)
            assert backoff.until("a") == until

    def test_forgetting_happens_when_any_pod_fails(self):
        """Old entries go only when some pod fails, those of pods that still wait in the backoff queue too."""
        backoff = Backoff(10 * SECOND)
        backoff.fail("old", 0)
        assert backoff.until("old") == SECOND
        backoff.fail("other", 11 * SECOND)
        assert backoff.until("old") is None


@pytest.mark.parametrize(
    "start, period, spent, wanted, after, tick",
    [
        (5, 10, None, 0, False, 15),
        (5, 10, None, 15, False, 15),
        (5, 10, None, 15, True, 25),
        (5, 10, None, 17, False, 25),
        (5, 10, None, 75, True, 85),
        (3, 30, None, 0, False, 33),
        (0, 10, 40, 20, False, 50),
        (0, 10, 40, 40, False, 50),
        (0, 10, 40, 45, False, 50),
        (0, 10, 40, float("-inf"), False, 50),
    ],
)
def test_next(start, period, spent, wanted, after, tick):
    """The next tick is on the timer's own grid, later than its start and what is spent, and not before
    what is wanted."""
    timer = Timer(start=start, period=period)
    if spent is not None:
        timer.spent = spent
    assert timer.next(wanted, after=after) == tick


# --- What moves the pods of a scheduling queue: events, and time --------------------------------------------
