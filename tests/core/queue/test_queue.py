"""The scheduling queue of each release: where pods are put, and in which order they leave."""

from __future__ import annotations

import pytest

from kubeclassic.exceptions import CacheError
from tests.support.build import pod
from tests.support.queuebuild import ALL, BY_FLAG, MARK, WITH_BACKOFF, WITHOUT_BACKOFF, bench, failed, parked


class TestActiveOrder:
    @pytest.mark.parametrize("release", ALL)
    def test_higher_priorities_come_first(self, release: str) -> None:
        """Pods leave by descending priority, none given being 0."""
        made = bench(release)
        for name, priority in (("low", -1), ("none", None), ("high", 10)):
            made.queue.add(pod(name, priority=priority))
        assert made.pop_all() == ["high", "none", "low"]

    @pytest.mark.parametrize("release", ALL)
    def test_equal_priorities(self, release: str) -> None:
        """From 1.14 on pods leave as they came; in 1.12, and in 1.13 where they bear one time, those that come as 1 to n as 1, n, ... 2."""
        made = bench(release)
        for number in range(1, 6):
            made.clock.now += 1
            made.queue.add(pod(str(number)))
        assert made.pop_all() == list("12345" if release in WITH_BACKOFF else "15432")

    def test_equal_priorities_go_by_the_times_that_pods_bear(self) -> None:
        """In 1.13 the time of the condition PodScheduled counts, else that of the creation, and the time of an update is the new one."""
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

    @pytest.mark.parametrize("release", WITH_BACKOFF)
    def test_the_time_stays_when_a_pod_is_moved_or_updated(self, release: str) -> None:
        """A pod that is moved or updated keeps its time; one that failed has a new one."""
        made = parked(release, failed("first"))
        made.queue.add(pod("second"))
        made.queue.move_all()
        made.queue.update(failed("first"), failed("first", labels={"a": "b"}))
        assert made.pop_all() == ["first", "second"]

    @pytest.mark.parametrize("release", ALL)
    def test_an_update_of_the_priority_re_sifts(self, release: str) -> None:
        """An active pod that gets a higher priority goes before the others."""
        made = bench(release)
        made.queue.add(pod("a", priority=2))
        made.queue.add(pod("b", priority=1))
        made.queue.update(pod("b", priority=1), pod("b", priority=3))
        assert made.pop_all() == ["b", "a"]


class TestAdd:
    @pytest.mark.parametrize("release", ALL)
    def test_an_added_pod_leaves_the_other_places(self, release: str) -> None:
        """A pod that is added while it is parked or backs off is active only."""
        made = parked(release, failed("a"))
        made.queue.add(pod("a"))
        assert made.queue.pending == (1, 0, 0)
        if release in WITH_BACKOFF:
            made.fail(pod("b"), -1)
            made.queue.add(pod("b"))
            assert made.queue.pending == (2, 0, 0)


class TestAddIfNotPresent:
    @pytest.mark.parametrize("release", ALL)
    def test_only_a_pod_that_is_not_there_enters(self, release: str) -> None:
        """A pod that is active, parked or backs off stays where and what it is; another one is active and nominated by its status."""
        made = parked(release, failed("parked"))
        made.queue.add(pod("active"))
        if release in WITH_BACKOFF:
            made.fail(pod("waiting"), -1)
        before = made.queue.contents()
        for name in ("parked", "active", "waiting")[: made.queue.pending.total]:
            made.queue.add_if_not_present(pod(name, status={"nominatedNodeName": "n"}))
        assert (made.queue.contents(), made.nominated()) == (before, {})
        made.queue.add_if_not_present(pod("new", priority=1, status={"nominatedNodeName": "n"}))
        assert ([found.name for found in made.queue.contents().active], made.nominated()) == (["new", "active"], {"n": ["new"]})


class TestAddUnschedulable:
    @pytest.mark.parametrize("release", ALL)
    def test_a_failed_pod_is_parked(self, release: str) -> None:
        """A pod that failed, with its mark, and without a move since, waits until something changes."""
        made = bench(release)
        made.queue.add(pod("a"))
        made.queue.pop()
        made.fail(failed("a"))
        assert made.queue.pending == (0, 0, 1)

    @pytest.mark.parametrize("release", WITHOUT_BACKOFF)
    def test_without_its_mark_it_is_active_at_once(self, release: str) -> None:
        """In 1.12 and 1.13 a pod without the condition PodScheduled False, Unschedulable is tried again at once."""
        others = [{"conditions": [{"type": "PodScheduled", "status": "False", "reason": "SchedulerError"}]}, {}]
        for status in others:
            made = bench(release)
            made.fail(pod("a", status=status))
            assert made.queue.pending == (1, 0, 0)

    @pytest.mark.parametrize("release", WITH_BACKOFF)
    def test_the_mark_does_not_matter_later(self, release: str) -> None:
        """From 1.14 on a failed pod is parked whatever its conditions."""
        made = bench(release)
        made.fail(pod("a"))
        assert made.queue.pending == (0, 0, 1)

    @pytest.mark.parametrize("release", ALL)
    def test_a_move_while_it_was_tried_keeps_it_from_being_parked(self, release: str) -> None:
        """A pod that was being tried when others were moved is active, or backs off from 1.14 on."""
        made = bench(release)
        made.queue.add(pod("a"))
        made.queue.pop()
        made.queue.move_all()
        made.fail(failed("a"))
        assert made.queue.pending == ((1, 0, 0) if release in WITHOUT_BACKOFF else (0, 1, 0))

    @pytest.mark.parametrize("release", ALL)
    def test_a_later_pop_clears_the_flag_but_not_the_cycle(self, release: str) -> None:
        """A pod whose failure comes in after the next pop is parked by the flag of 1.12, and not by the cycle number."""
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
    def test_a_move_that_moves_nobody_counts(self, release: str) -> None:
        """An assigned pod that no parked pod wants still keeps a pod that is being tried from being parked."""
        made = bench(release)
        made.queue.add(pod("a"))
        made.queue.pop()
        made.queue.assigned_pod_added(pod("other", on="n"))
        made.fail(failed("a"))
        assert made.queue.pending.unschedulable == 0

    @pytest.mark.parametrize("release", ALL)
    def test_known_pods_are_refused(self, release: str) -> None:
        """A pod that is in the queue already is refused with upstream's words."""
        made = parked(release, failed("a"))
        made.queue.add(pod("b"))
        texts = {"a": "pod is already present in unschedulableQ", "b": "pod is already present in the activeQ"}
        if release in WITH_BACKOFF:
            made.fail(pod("c"), -1)
            texts["c"] = "pod is already present in the backoffQ"
        for name, text in texts.items():
            with pytest.raises(CacheError) as refused:
                made.fail(failed(name))
            assert str(refused.value) == text
        assert made.queue.pending.total == len(texts)


class TestUpdate:
    @pytest.mark.parametrize("release", ALL)
    def test_a_parked_pod_that_changed_is_active(self, release: str) -> None:
        """An update of the spec or metadata makes a parked pod active, its wait forgotten."""
        made = parked(release, failed("a"))
        made.queue.update(failed("a"), failed("a", labels={"x": "y"}))
        assert made.queue.pending == (1, 0, 0)

    @pytest.mark.parametrize("release", WITH_BACKOFF)
    def test_it_waits_a_second_again_when_it_fails(self, release: str) -> None:
        """The back-off of a parked pod that changed starts anew; that of one whose status changed goes on."""
        for changed, wait in ((failed("a", labels={"x": "y"}), 1.0), (failed("a"), 2.0)):
            made = bench(release)
            made.fail(pod("a"))
            made.clock.now = 3.0
            made.queue.update(pod("a"), changed)
            made.queue.move_all()
            made.queue.pop()
            made.fail(changed, -1)
            assert made.queue.next_due() == 3.0 + wait

    @pytest.mark.parametrize("release", ALL)
    def test_its_status_and_versions_do_not_matter(self, release: str) -> None:
        """An update of the status, the resource version or the generation replaces a parked pod where it is."""
        new = failed("a", metadata={"resourceVersion": "7", "generation": 2}, status={"phase": "Pending"})
        made = parked(release, failed("a"))
        made.queue.update(failed("a"), new)
        assert made.queue.pending == (0, 0, 1)
        assert made.queue.pods()[0] is new

    @pytest.mark.parametrize("release", ALL)
    def test_finalizers_are_a_change(self, release: str) -> None:
        """An update of the finalizers alone makes a parked pod active."""
        made = parked(release, failed("a"))
        made.queue.update(failed("a"), failed("a", metadata={"finalizers": ["example.com/f"]}))
        assert made.queue.pending == (1, 0, 0)

    @pytest.mark.parametrize("release", WITH_BACKOFF)
    def test_any_update_ends_backing_off(self, release: str) -> None:
        """A pod in the backoff queue is active after any update, one of its status too."""
        made = bench(release)
        made.fail(pod("a"), -1)
        made.queue.update(pod("a"), failed("a"))
        assert made.queue.pending == (1, 0, 0)

    @pytest.mark.parametrize("release", ALL)
    def test_a_pod_that_is_not_there_comes_in(self, release: str) -> None:
        """An update of a pod that is not in the queue adds it."""
        made = bench(release)
        made.queue.update(pod("a"), pod("a"))
        assert made.pop_all() == ["a"]


class TestDelete:
    @pytest.mark.parametrize("release", ALL)
    def test_wherever_it_is(self, release: str) -> None:
        """A pod that is active, parked or backing off is gone; one that is not there is no error."""
        made = parked(release, failed("parked"))
        made.queue.add(pod("active"))
        if release in WITH_BACKOFF:
            made.fail(pod("waiting"), -1)
        for name in ("parked", "active", "waiting", "nobody"):
            made.queue.delete(pod(name))
        assert made.queue.pending == (0, 0, 0)

    @pytest.mark.parametrize(("was_active", "wait"), [(False, 1.0), (True, 2.0)])
    def test_the_wait_of_an_active_pod_is_kept(self, was_active: bool, wait: float) -> None:
        """A deleted pod's back-off is forgotten, but not while it is active: its successor by name goes on with it."""
        made = bench("1.16")
        made.fail(pod("a"))
        made.clock.now = 3.0
        if was_active:
            made.queue.move_all()
        made.queue.delete(pod("a"))
        made.fail(pod("a"), -1)
        assert made.queue.next_due() == 3.0 + wait


class TestNominations:
    @pytest.mark.parametrize("release", ALL)
    def test_by_preemption(self, release: str) -> None:
        """A node that preemption names counts from 1.13 on, until it is withdrawn; 1.12 goes by the status alone."""
        made = bench(release)
        made.queue.nominate(pod("a"), "n")
        assert made.nominated() == ({} if release == "1.12" else {"n": ["a"]})
        made.queue.withdraw(pod("a"))
        assert made.nominated() == {}

    @pytest.mark.parametrize("release", ALL)
    def test_only_1_12_drops_the_nomination_at_pop(self, release: str) -> None:
        """The nomination of a pod goes when it is tried in 1.12, and when it has a node in later releases."""
        made = bench(release)
        made.queue.add(pod("a", status={"nominatedNodeName": "n"}))
        assert made.nominated() == {"n": ["a"]}
        made.queue.pop()
        assert made.nominated() == ({} if release == "1.12" else {"n": ["a"]})

    @pytest.mark.parametrize("release", ALL)
    def test_a_failed_pod_is_nominated_by_its_status(self, release: str) -> None:
        """A pod that comes back with a nomination waits for that node; a deleted one does not."""
        waiting = failed("a", status={**MARK, "nominatedNodeName": "n"})
        made = parked(release, waiting)
        assert made.nominated() == {"n": ["a"]}
        made.queue.delete(waiting)
        assert made.nominated() == {}

    @pytest.mark.parametrize("release", ALL)
    def test_an_update_moves_the_nomination(self, release: str) -> None:
        """A pod whose status names another node waits for that one."""
        old, new = (failed("a", status={**MARK, "nominatedNodeName": node}) for node in ("m", "n"))
        made = parked(release, old)
        made.queue.update(old, new)
        assert made.nominated() == {"n": ["a"]}


class TestCycle:
    @pytest.mark.parametrize("release", ALL)
    def test_each_pop_begins_a_cycle(self, release: str) -> None:
        """The number of the cycle is that of the pods taken out; an empty queue begins none."""
        made = bench(release)
        made.queue.add(pod("a"))
        made.queue.pop()
        assert made.queue.pop() is None
        assert made.queue.cycle == 1

    @pytest.mark.parametrize("release", ALL)
    def test_a_pod_that_is_tried_again_counts_its_attempts(self, release: str) -> None:
        """What is taken out knows how often it was, with the object as the API has it when it failed."""
        made = bench(release)
        made.queue.add(pod("a"))
        item = made.queue.pop()
        assert item is not None
        made.queue.move_all()
        made.queue.add_unschedulable(item.read_again(failed("a")), made.queue.cycle)
        made.clock.now = 1.0
        again = made.queue.pop()
        assert again is not None
        assert (again.attempts, again.pod) == (2, failed("a"))
