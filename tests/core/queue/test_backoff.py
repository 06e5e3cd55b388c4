"""How long a failed pod waits, and the timers that look."""

import pytest

from kubeclassic.core.queue.backoff import SECOND, Backoff, Timer


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


class TestTimer:
    @pytest.mark.parametrize(
        ("start", "period", "spent", "wanted", "after", "tick"),
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
    def test_next(self, start, period, spent, wanted, after, tick):
        """The next tick is on the timer's own grid, later than its start and what is spent, and not before
        what is wanted."""
        timer = Timer(start=start, period=period)
        if spent is not None:
            timer.spent = spent
        assert timer.next(wanted, after=after) == tick
