"""The scheduling queue of each release: where pods are put, and in which order they leave."""

import pytest

from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.core.queue.backoff import SECOND, Backoff, Heap, Timer, nanoseconds
from kubeclassic.exceptions import CacheError
from tests.support.build import pod
from tests.support.queuebuild import ALL, BY_FLAG, MARK, WITH_BACKOFF, WITH_FIFO, bench, failed, parked
from tests.support.refusals import refusal_text

# --- Add unschedulable --------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", ALL)
def test_a_later_pop_clears_the_flag_but_not_the_cycle(release):
    """A pod whose failure comes in after the next pop is parked by the flag of 1.12, and not by the cycle
    number."""
    made = bench(release)
    for name in ("a", "b"):
        made.queue.add(pod(name))
    made.queue.pop()
    cycle = made.queue.cycle
    made.queue.move_all()
    made.queue.pop()
    made.fail(failed("a"), cycle)
    assert made.queue.pending.unschedulable == (1 if release in BY_FLAG else 0)


@pytest.mark.parametrize("release", ALL)
def test_a_move_that_moves_nobody_counts(release):
    """An assigned pod that no parked pod wants still keeps a pod that is being tried from being parked."""
    made = bench(release)
    made.queue.add(pod("a"))
    made.queue.pop()
    made.queue.assigned_pod_added(pod("other", on="n"))
    made.fail(failed("a"))
    assert made.queue.pending.unschedulable == 0


@pytest.mark.parametrize("release", ALL)
def test_known_pods_are_refused(release):
    """A pod that is in the queue already is refused with upstream's words."""
    made = parked(release, failed("a"))
    made.queue.add(pod("b"))
    texts = {"a": "pod is already present in unschedulableQ", "b": "pod is already present in the activeQ"}
    if release in WITH_BACKOFF:
        made.fail(pod("c"), -1)
        texts["c"] = "pod is already present in the backoffQ"
    for name, text in texts.items():
        assert refusal_text(CacheError, made.fail, failed(name)) == text
    assert made.queue.pending.total == len(texts)


# --- The scheduling queue with gate PodPriority off ---------------------------------------------------------


# --- Fifo ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", WITH_FIFO)
def test_a_pod_that_comes_back_takes_its_old_place(release):
    """A key that was deleted keeps its place, and a pod that comes back by that name takes it."""
    made = bench(release, PodPriority=False)
    for name in ("a", "b"):
        made.queue.add(pod(name))
    made.queue.delete(pod("a"))
    made.queue.add(pod("a"))
    assert made.pop_all() == ["a", "b"]


@pytest.mark.parametrize("release", WITH_FIFO)
def test_events_move_nobody_and_nominations_do_not_count(release):
    """No event ends a wait, and a pod nominated by its status is not in the map."""
    made = bench(release, PodPriority=False)
    made.queue.add(pod("a", nominated="n"))
    made.queue.pop()
    made.fail(pod("a", nominated="n"))
    made.queue.nominate(pod("a"), "n")
    made.queue.move_all()
    made.queue.assigned_pod_added(pod("b", on="n"))
    made.queue.assigned_pod_updated(pod("b", on="n"))
    assert (made.queue.pending, made.nominated()) == ((0, 1, 0), {})


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


def test_equals_leave_the_first_then_backwards(heap):
    """Equal items that come in order 1 to n leave as 1, n, n-1 ... 2, as from Go's container/heap."""
    fill(heap, *[0] * 7)
    assert names(heap) == ["1", "7", "6", "5", "4", "3", "2"]


def test_of_two_equal_children_the_left_one_moves_up(heap):
    """Of two equal children the left one moves up."""
    fill(heap, 0, 1, 1, 2)
    assert names(heap) == ["1", "2", "3", "4"]


def test_what_is_not_there(heap):
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


# --- Backoff ------------------------------------------------------------------------------------------------


def test_a_wait_is_over_at_its_end():
    """A pod waits before its time and not at it."""
    backoff = Backoff(20 * SECOND)
    backoff.fail("a", 0)
    assert [backoff.is_waiting("a", now) for now in (SECOND - 1, SECOND)] == [True, False]


def test_a_failure_at_the_very_end_begins_no_wait():
    """A pod that fails just as its wait ends goes without another one; a moment later it waits twice as
    long."""
    backoff = Backoff(20 * SECOND)
    for now, until in ((0, SECOND), (SECOND, SECOND), (SECOND + 1, 3 * SECOND + 1)):
        backoff.fail("a", now)
        assert backoff.until("a") == until


def test_forgetting_happens_when_any_pod_fails():
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


# --- Flushes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", WITH_BACKOFF)
def test_a_forgotten_wait_is_over(release):
    """A pod in the backoff queue whose entry was forgotten meanwhile leaves it at the next look."""
    made = bench(release)
    forget = RELEASES[release].queue.backoff_forget_after
    for now in (0.0, 1.5, 4.0, 8.5, 17.0):
        made.clock.now = nanoseconds(now)
        made.fail(pod("a"), -1)
        assert made.queue.pending == (0, 1, 0)
        if now < 17.0:
            made.queue.update(pod("a"), pod("a"))
            made.queue.pop()
    made.clock.now = nanoseconds(17.5)
    assert made.queue.next_due() == 27 * SECOND
    made.fail(pod("b"), -1)
    assert made.queue.next_due() == 19 * SECOND
    assert forget >= 10.0


def test_the_clock_says_when_it_began():
    """The times of objects are dates, and the clock has the date of its 0."""
    made = bench("1.13", origin=86400)
    made.fail(
        failed(
            "a",
            status={"conditions": [{**MARK["conditions"][0], "lastTransitionTime": "1970-01-02T00:00:10Z"}]},
        )
    )
    assert made.queue.next_due() == 90 * SECOND
