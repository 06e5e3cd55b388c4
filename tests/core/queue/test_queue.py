"""The scheduling queue of each release: where pods are put, and in which order they leave."""

import pytest

from kubeclassic.core.queue.backoff import SECOND, nanoseconds
from kubeclassic.exceptions import CacheError
from tests.support.build import pod
from tests.support.queuebuild import ALL, BY_FLAG, MARK, WITH_BACKOFF, bench, failed, parked
from tests.support.refusals import refusal_text


class TestActiveOrder:
    def test_equal_priorities_go_by_the_times_that_pods_bear(self):
        """In 1.13 the time of the condition PodScheduled counts, else that of the creation, and the time of
        an update is the new one."""
        conditions = {
            "probed": {"lastProbeTime": "2020-01-01T00:00:02Z", "lastTransitionTime": "2020-01-01T00:00:09Z"},
            "changed": {"lastTransitionTime": "2020-01-01T00:00:03Z"},
            "timeless": {},
        }
        made = bench("1.13")
        made.queue.add(pod("created", metadata={"creationTimestamp": "2020-01-01T00:00:01Z"}))
        for name, times in conditions.items():
            made.queue.add(failed(name, status={"conditions": [{**MARK["conditions"][0], **times}]}))
        made.queue.add(pod("later"))
        made.queue.update(pod("later"), pod("later", metadata={"creationTimestamp": "2020-01-01T00:00:05Z"}))
        assert made.pop_all() == ["timeless", "created", "probed", "changed", "later"]


class TestAddUnschedulable:
    @pytest.mark.parametrize("release", ALL)
    def test_a_later_pop_clears_the_flag_but_not_the_cycle(self, release):
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
    def test_a_move_that_moves_nobody_counts(self, release):
        """An assigned pod that no parked pod wants still keeps a pod that is being tried from being parked."""
        made = bench(release)
        made.queue.add(pod("a"))
        made.queue.pop()
        made.queue.assigned_pod_added(pod("other", on="n"))
        made.fail(failed("a"))
        assert made.queue.pending.unschedulable == 0

    @pytest.mark.parametrize("release", ALL)
    def test_known_pods_are_refused(self, release):
        """A pod that is in the queue already is refused with upstream's words."""
        made = parked(release, failed("a"))
        made.queue.add(pod("b"))
        texts = {
            "a": "pod is already present in unschedulableQ",
            "b": "pod is already present in the activeQ",
        }
        if release in WITH_BACKOFF:
            made.fail(pod("c"), -1)
            texts["c"] = "pod is already present in the backoffQ"
        for name, text in texts.items():
            assert refusal_text(CacheError, made.fail, failed(name)) == text
        assert made.queue.pending.total == len(texts)


class TestDelete:
    @pytest.mark.parametrize(("was_active", "wait"), [(False, 1.0), (True, 2.0)])
    def test_the_wait_of_an_active_pod_is_kept(self, was_active, wait):
        """A deleted pod's back-off is forgotten, but not while it is active: its successor by name goes on
        with it."""
        made = bench("1.16")
        made.fail(pod("a"))
        made.clock.now = nanoseconds(3.0)
        if was_active:
            made.queue.move_all()
        made.queue.delete(pod("a"))
        made.fail(pod("a"), -1)
        assert made.queue.next_due() == (3 + wait) * SECOND


class TestNominations:
    @pytest.mark.parametrize("release", ALL)
    def test_by_preemption(self, release):
        """A node that preemption names counts from 1.13 on, until it is withdrawn; 1.12 goes by the status
        alone."""
        made = bench(release)
        made.queue.nominate(pod("a"), "n")
        assert made.nominated() == ({} if release == "1.12" else {"n": ["a"]})
        made.queue.withdraw(pod("a"))
        assert made.nominated() == {}
