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

    def test_forgetting_happens_when_any_pod_fails(self) -> None:
        """Old entries go only when some pod fails, those of pods that still wait in the backoff queue too."""
        backoff = Backoff(10.0)
        backoff.fail("old", 0.0)
        assert backoff.until("old") == 1.0
        backoff.fail("other", 11.0)
        assert backoff.until("old") is None


class TestTimer:
    @pytest.mark.parametrize(
        ("wanted", "after", "tick"), [(0.0, False, 1.5), (1.5, False, 1.5), (1.5, True, 2.5), (1.75, False, 2.5), (7.5, True, 8.5)]
    )
    def test_next(self, wanted: float, after: bool, tick: float) -> None:
        """The next tick is on the timer's own grid, after what is spent, and not before what is wanted."""
        assert Timer(start=0.5, period=1.0).next(wanted, after=after) == tick

    def test_the_first_tick_is_over_at_once(self) -> None:
        """A timer ticks when it is made, so its next one is a period later."""
        assert Timer(start=3.0, period=30.0).next(0.0) == 33.0

    def test_spent_ticks_do_not_come_again(self) -> None:
        """After a tick was spent the next one is later than it."""
        timer = Timer(start=0.0, period=1.0)
        timer.spent = 4.0
        assert (timer.next(2.0), timer.next(4.0), timer.next(4.5)) == (5.0, 5.0, 5.0)

    def test_ticks_that_floats_cannot_hold_exactly(self) -> None:
        """Every tick of a start like 0.1 is found once and in order."""
        timer, ticks = Timer(start=0.1, period=1.0), []
        for _ in range(100):
            ticks.append(timer.next(0.0))
            timer.spent = ticks[-1]
        assert ticks == [0.1 + count for count in range(1, 101)]
