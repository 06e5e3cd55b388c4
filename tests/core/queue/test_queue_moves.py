"""What moves the pods of a scheduling queue: events, and time."""

from __future__ import annotations

from typing import Any

import pytest

from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.api.objects import Pod
from tests.support.build import pod
from tests.support.queuebuild import ALL, MARK, WITH_BACKOFF, bench, failed, parked


class TestMoves:
    @pytest.mark.parametrize("release", ALL)
    def test_an_assigned_pod_moves_those_that_want_it(self, release: str) -> None:
        """A pod that comes to a node, or changes there, moves the parked pods with a required affinity term about it, any one."""

        def wanting(name: str, *labels: str, **more: Any) -> Pod:
            terms = [{"labelSelector": {"matchLabels": {"app": label}}, "topologyKey": "zone", **more} for label in labels]
            return failed(name, affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}})

        made = parked(
            release, wanting("one", "web", "db"), wanting("other", "db"), wanting("elsewhere", "web", namespaces=["x"]), failed("plain")
        )
        made.queue.assigned_pod_added(pod("web", on="n", labels={"app": "web"}))
        assert made.pop_all() == ["one"]
        made.queue.assigned_pod_updated(pod("web", on="n", labels={"app": "db"}))
        assert made.pop_all() == ["other"]


class TestFlushes:
    @pytest.mark.parametrize("release", WITH_BACKOFF)
    def test_a_forgotten_wait_is_over(self, release: str) -> None:
        """A pod in the backoff queue whose entry was forgotten meanwhile leaves it at the next look."""
        made = bench(release)
        forget = RELEASES[release].queue.backoff_forget_after
        for now in (0.0, 1.5, 4.0, 8.5, 17.0):
            made.clock.now = now
            made.fail(pod("a"), -1)
            assert made.queue.pending == (0, 1, 0)
            if now < 17.0:
                made.queue.update(pod("a"), pod("a"))
                made.queue.pop()
        made.clock.now = 17.5
        assert made.queue.next_due() == 27.0
        made.fail(pod("b"), -1)
        assert made.queue.next_due() == 19.0
        assert forget >= 10.0

    def test_the_clock_says_when_it_began(self) -> None:
        """The times of objects are dates, and the clock has the date of its 0."""
        made = bench("1.13", origin=86400.0)
        made.fail(failed("a", status={"conditions": [{**MARK["conditions"][0], "lastTransitionTime": "1970-01-02T00:00:10Z"}]}))
        assert made.queue.next_due() == 90.0
