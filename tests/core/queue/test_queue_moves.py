"""What moves the pods of a scheduling queue: events, and time."""

import pytest

from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.core.queue.backoff import SECOND, nanoseconds
from tests.support.build import pod
from tests.support.queuebuild import MARK, WITH_BACKOFF, bench, failed


class TestFlushes:
    @pytest.mark.parametrize("release", WITH_BACKOFF)
    def test_a_forgotten_wait_is_over(self, release):
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

    def test_the_clock_says_when_it_began(self):
        """The times of objects are dates, and the clock has the date of its 0."""
        made = bench("1.13", origin=86400)
        made.fail(
            failed(
                "a",
                status={
                    "conditions": [{**MARK["conditions"][0], "lastTransitionTime": "1970-01-02T00:00:10Z"}]
                },
            )
        )
        assert made.queue.next_due() == 90 * SECOND
