"""How long a failed pod waits, and the timers that look."""

from __future__ import annotations

import pytest

from kubeclassic.core.queue.backoff import Backoff, Timer


class TestBackoff:
    def test_a_wait_is_over_at_its_end(self) -> None:
        """A pod waits before its time and not at it."""
        backoff = Backoff(20.0)
        backoff.fail("a", 0.0)
        assert [backoff.is_waiting("a", now) for now in (0.75, 1.0)] == [True, False]

    def test_a_failure_at_the_very_end_begins_no_wait(self) -> None:
        """A pod that fails just as its wait ends goes without another one; a moment later it waits twice as long."""
        backoff = Backoff(20.0)
        for now, until in ((0.0, 1.0), (1.0, 1.0), (1.25, 3.25)):
            backoff.fail("a", now)
            assert backoff.until("a") == until

    def test_forgetting_happens_when_any_pod_fails(self) -> None:
        """Old entries go only when some pod fails, those of pods that still wait in the backoff queue too."""
        backoff = Backoff(10.0)
        backoff.fail("old", 0.0)
        assert backoff.until("old") == 1.0
        backoff.fail("other", 11.0)
        assert backoff.until("old") is None


class TestTimer:
    @pytest.mark.parametrize(
        ("start", "period", "spent", "wanted", "after", "tick"),
        [
            (0.5, 1.0, None, 0.0, False, 1.5), (0.5, 1.0, None, 1.5, False, 1.5), (0.5, 1.0, None, 1.5, True, 2.5),
            (0.5, 1.0, None, 1.75, False, 2.5), (0.5, 1.0, None, 7.5, True, 8.5), (3.0, 30.0, None, 0.0, False, 33.0),
            (0.0, 1.0, 4.0, 2.0, False, 5.0), (0.0, 1.0, 4.0, 4.0, False, 5.0), (0.0, 1.0, 4.0, 4.5, False, 5.0),
        ],
    )  # fmt: skip
    def test_next(self, start: float, period: float, spent: float | None, wanted: float, after: bool, tick: float) -> None:
        """The next tick is on the timer's own grid, later than its start and what is spent, and not before what is wanted."""
        timer = Timer(start=start, period=period)
        if spent is not None:
            timer.spent = spent
        assert timer.next(wanted, after=after) == tick

    def test_ticks_that_floats_cannot_hold_exactly(self) -> None:
        """Every tick of a start like 0.1 is found once and in order."""
        timer, ticks = Timer(start=0.1, period=1.0), []
        for _ in range(100):
            ticks.append(timer.next(0.0))
            timer.spent = ticks[-1]
        assert ticks == [0.1 + count for count in range(1, 101)]
