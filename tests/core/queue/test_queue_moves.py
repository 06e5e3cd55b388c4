"""What moves the pods of a scheduling queue: events, and time."""

from __future__ import annotations

from typing import Any

import pytest

from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.api.objects import Pod
from tests.support.build import pod
from tests.support.queuebuild import ALL, BY_FLAG, MARK, WITH_BACKOFF, bench, failed, parked


class TestMoves:
    @pytest.mark.parametrize("release", ALL)
    def test_move_all(self, release: str) -> None:
        """All parked pods are active after a move, those of equal rank in ascending order of their keys."""
        made = parked(release, failed("b"), failed("a"))
        made.queue.move_all()
        assert made.queue.pending == (2, 0, 0)
        assert [found.name for found in made.queue.pods()] == ["a", "b"]

    @pytest.mark.parametrize("release", WITH_BACKOFF)
    def test_who_still_waits_backs_off(self, release: str) -> None:
        """From 1.14 on a move takes a pod whose wait is not over to the backoff queue."""
        made = bench(release)
        made.fail(pod("a"))
        made.clock.now = 0.5
        made.queue.move_all()
        assert made.queue.pending == (0, 1, 0)
        made.clock.now = 1.0
        made.queue.tick()
        assert made.queue.pending == (1, 0, 0)

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

    @pytest.mark.parametrize("release", ALL)
    def test_preferences_and_anti_affinity_move_nobody(self, release: str) -> None:
        """Only required affinity counts: neither preferred terms nor anti-affinity."""
        term = {"labelSelector": {}, "topologyKey": "zone"}
        preferred = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}]}
        against = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
        made = parked(release, failed("a", affinity={"podAffinity": preferred, "podAntiAffinity": against}))
        made.queue.assigned_pod_added(pod("web", on="n"))
        assert made.queue.pending == (0, 0, 1)

    @pytest.mark.parametrize("release", ALL)
    def test_a_selector_that_is_not_valid_wants_nobody(self, release: str) -> None:
        """A term whose selector is not valid is about no pod."""
        term = {"labelSelector": {"matchExpressions": [{"key": "a", "operator": "Near"}]}, "topologyKey": "zone"}
        made = parked(release, failed("a", affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}))
        made.queue.assigned_pod_added(pod("web", on="n"))
        assert made.queue.pending == (0, 0, 1)


class TestFlushes:
    @pytest.mark.parametrize("release", WITH_BACKOFF)
    def test_the_backoff_queue_is_looked_at_every_second(self, release: str) -> None:
        """A pod whose wait is over leaves the backoff queue at the next whole second since the start."""
        made = bench(release, start=0.25)
        made.clock.now = 5.5
        made.fail(pod("a"), -1)
        assert made.queue.next_due() == 7.25
        made.clock.now = 7.0
        made.queue.tick()
        assert made.queue.pending == (0, 1, 0)
        made.clock.now = 7.25
        made.queue.tick()
        assert made.queue.pending == (1, 0, 0)

    @pytest.mark.parametrize("release", WITH_BACKOFF)
    def test_parked_pods_are_moved_after_a_minute(self, release: str) -> None:
        """Every 30 s those are moved that have been parked for longer than 60 s; one parked just as long has to wait for the next look."""
        made = bench(release)
        made.fail(pod("a"))
        made.clock.now = 1.0
        made.fail(pod("b"))
        assert made.queue.next_due() == 90.0
        made.clock.now = 30.0
        made.fail(pod("c"))
        made.clock.now = 60.0
        made.queue.tick()
        assert made.queue.pending == (0, 0, 3)
        made.clock.now = 90.0
        assert made.pop_all() == ["a", "b"]
        assert made.queue.pending == (0, 0, 1)

    @pytest.mark.parametrize("release", WITH_BACKOFF)
    def test_that_flush_is_a_move(self, release: str) -> None:
        """A flush of parked pods keeps a pod that is being tried from being parked."""
        made = bench(release)
        made.fail(pod("a"))
        made.queue.add(pod("b"))
        made.queue.pop()
        made.clock.now = 90.0
        made.fail(pod("b"))
        assert made.queue.pending == (1, 1, 0)

    @pytest.mark.parametrize("release", WITH_BACKOFF)
    def test_flushes_that_were_missed_come_in_their_order(self, release: str) -> None:
        """A clock that is moved over several flushes runs each at its own time."""
        made = bench(release)
        made.fail(pod("a"), -1)
        made.clock.now = 0.5
        made.fail(pod("b"))
        made.clock.now = 200.0
        made.queue.tick()
        assert made.queue.pending == (2, 0, 0)
        assert made.queue.next_due() is None

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

    @pytest.mark.parametrize("release", BY_FLAG)
    def test_nothing_is_flushed_in_1_12(self, release: str) -> None:
        """A parked pod stays until an event moves it."""
        made = parked(release, failed("a"))
        made.clock.now = 1e6
        made.queue.tick()
        assert (made.queue.pending, made.queue.next_due()) == ((0, 0, 1), None)

    def test_1_13_goes_by_the_times_that_pods_bear(self) -> None:
        """A pod is moved whose condition is older than 60 s, whenever it was parked; one that bears no time never is."""
        old, timeless = ({**MARK["conditions"][0], **times} for times in ({"lastProbeTime": "1970-01-01T00:01:00Z"}, {}))
        made = bench("1.13")
        made.clock.now = 100.0
        made.fail(failed("old", status={"conditions": [old]}))
        made.fail(failed("timeless", status={"conditions": [timeless]}))
        assert made.queue.next_due() == 150.0
        made.clock.now = 1e6
        made.queue.tick()
        assert (made.queue.pending, made.queue.next_due()) == ((1, 0, 1), None)

    def test_the_clock_says_when_it_began(self) -> None:
        """The times of objects are dates, and the clock has the date of its 0."""
        made = bench("1.13", origin=86400.0)
        made.fail(failed("a", status={"conditions": [{**MARK["conditions"][0], "lastTransitionTime": "1970-01-02T00:00:10Z"}]}))
        assert made.queue.next_due() == 90.0
