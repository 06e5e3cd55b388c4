"""The scheduling queue of each release."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from kubeclassic.algorithmprovider import resolve
from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.api.objects import Pod
from kubeclassic.core.clock import Clock
from kubeclassic.core.nominations import Nominations
from kubeclassic.core.queue import SchedulingQueue, make_queue
from kubeclassic.exceptions import CacheError

from tests.build import pod

ALL = list(RELEASES)
BY_FLAG, BY_CYCLE = ALL[:2], ALL[2:]
"""The releases whose queue marks moves by a flag and has no backoff queue, and the others."""
WITH_FIFO = ALL[:3]
MARK = {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]}


@attrs.define(eq=False)
class Bench:
    """A queue with its clock and nominations."""

    queue: SchedulingQueue
    clock: Clock
    nominations: Nominations

    def pop_all(self) -> list[str]:
        """Take out all active pods."""
        names = []
        while (found := self.queue.pop()) is not None:
            names.append(found.name)
        return names

    def fail(self, failed: Pod) -> None:
        """A pod fails in the cycle that is under way."""
        self.queue.add_unschedulable(failed, self.queue.cycle)

    def nominated(self) -> dict[str, list[str]]:
        """Node -> names of its pods."""
        return {node: [found.name for found in self.nominations.on(node)] for node in self.nominations}


def bench(release: str, start: float = 0.0, **gates: bool) -> Bench:
    """A queue of *release* whose timers begin at *start*."""
    algorithm, clock = resolve(RELEASES[release], gates=gates), Clock(start)
    cells = algorithm.release.queue
    nominations = Nominations(cells.nominations_by_uid, cells.keeps_nomination_on_update)
    return Bench(make_queue(algorithm, nominations, clock), clock, nominations)


def failed(name: str, **more: Any) -> Pod:
    """A pod that bears the mark of a failed attempt."""
    return pod(name, **{"status": MARK, **more})


def parked(release: str, *pods: Pod) -> Bench:
    """A queue in which *pods* are parked, with a minute gone by since."""
    made = bench(release)
    for item in pods:
        made.fail(item)
    assert made.queue.pending == (0, 0, len(pods))
    made.clock.now = 20.0
    return made


class TestActiveOrder:
    @pytest.mark.parametrize("release", ALL)
    def test_higher_priorities_come_first(self, release: str) -> None:
        """Pods leave by descending priority, none given being 0."""
        made = bench(release)
        for name, priority in (("low", -1), ("none", None), ("high", 10)):
            made.queue.add(pod(name, priority=priority))
        assert made.pop_all() == ["high", "none", "low"]

    @pytest.mark.parametrize("release", BY_FLAG)
    def test_equal_priorities_are_not_first_come_first_served(self, release: str) -> None:
        """In 1.12 and 1.13 pods of equal priority that come in order 1 to n leave as 1, n, n-1 ... 2."""
        made = bench(release)
        for number in range(1, 6):
            made.clock.now += 1
            made.queue.add(pod(str(number)))
        assert made.pop_all() == ["1", "5", "4", "3", "2"]

    @pytest.mark.parametrize("release", BY_CYCLE)
    def test_equal_priorities_go_by_the_time_of_entering(self, release: str) -> None:
        """From 1.14 on pods of equal priority leave in the order in which they came."""
        made = bench(release)
        for number in range(1, 6):
            made.clock.now += 1
            made.queue.add(pod(str(number)))
        assert made.pop_all() == ["1", "2", "3", "4", "5"]

    @pytest.mark.parametrize("release", BY_CYCLE)
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


class TestAddUnschedulable:
    @pytest.mark.parametrize("release", ALL)
    def test_a_failed_pod_is_parked(self, release: str) -> None:
        """A pod that failed, with its mark, and without a move since, waits until something changes."""
        made = bench(release)
        made.queue.add(pod("a"))
        made.queue.pop()
        made.fail(failed("a"))
        assert made.queue.pending == (0, 0, 1)

    @pytest.mark.parametrize("release", BY_FLAG)
    def test_without_its_mark_it_is_active_at_once(self, release: str) -> None:
        """In 1.12 and 1.13 a pod without the condition PodScheduled False, Unschedulable is tried again at once."""
        others = [{"conditions": [{"type": "PodScheduled", "status": "False", "reason": "SchedulerError"}]}, {}]
        for status in others:
            made = bench(release)
            made.fail(pod("a", status=status))
            assert made.queue.pending == (1, 0, 0)

    @pytest.mark.parametrize("release", BY_CYCLE)
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
        assert made.queue.pending == ((1, 0, 0) if release in BY_FLAG else (0, 1, 0))

    @pytest.mark.parametrize("release", ALL)
    def test_a_later_pop_clears_the_flag_but_not_the_cycle(self, release: str) -> None:
        """A pod whose failure comes in after the next pop is parked by the flag of 1.12 and 1.13 and backs off by the cycle number."""
        made = bench(release)
        for name in ("a", "b"):
            made.queue.add(pod(name))
        made.queue.pop()
        cycle = made.queue.cycle
        made.queue.move_all()
        made.queue.pop()
        made.queue.add_unschedulable(failed("a"), cycle)
        assert made.queue.pending == ((0, 0, 1) if release in BY_FLAG else (0, 1, 0))

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
        if release in BY_CYCLE:
            made.queue.add_unschedulable(pod("c"), -1)
            texts["c"] = "pod is already present in the backoffQ"
        for name, text in texts.items():
            with pytest.raises(CacheError) as refused:
                made.fail(failed(name))
            assert str(refused.value) == text
        assert made.queue.pending.total == len(texts)


class TestMoves:
    @pytest.mark.parametrize("release", ALL)
    def test_move_all(self, release: str) -> None:
        """All parked pods are active after a move, those of equal rank in ascending order of their keys."""
        made = parked(release, failed("b"), failed("a"))
        made.queue.move_all()
        assert made.queue.pending == (2, 0, 0)
        assert [found.name for found in made.queue.pods()] == ["a", "b"]

    @pytest.mark.parametrize("release", BY_CYCLE)
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
    @pytest.mark.parametrize("release", BY_CYCLE)
    def test_the_backoff_queue_is_looked_at_every_second(self, release: str) -> None:
        """A pod whose wait is over leaves the backoff queue at the next whole second since the start."""
        made = bench(release, start=0.25)
        made.clock.now = 5.5
        made.queue.add_unschedulable(pod("a"), -1)
        assert made.queue.next_due() == 7.25
        made.clock.now = 7.0
        made.queue.tick()
        assert made.queue.pending == (0, 1, 0)
        made.clock.now = 7.25
        made.queue.tick()
        assert made.queue.pending == (1, 0, 0)

    @pytest.mark.parametrize("release", BY_CYCLE)
    def test_parked_pods_are_moved_after_a_minute(self, release: str) -> None:
        """Every 30 s those are moved that have been parked for longer than 60 s; one parked just as long has to wait for the next look."""
        made = bench(release)
        made.fail(pod("a"))
        made.clock.now = 1.0
        made.fail(pod("b"))
        assert made.queue.next_due() == 90.0
        made.clock.now = 60.0
        made.queue.tick()
        assert made.queue.pending == (0, 0, 2)
        made.clock.now = 90.0
        assert made.pop_all() == ["a", "b"]

    @pytest.mark.parametrize("release", BY_CYCLE)
    def test_that_flush_is_a_move(self, release: str) -> None:
        """A flush of parked pods keeps a pod that is being tried from being parked."""
        made = bench(release)
        made.fail(pod("a"))
        made.queue.add(pod("b"))
        made.queue.pop()
        made.clock.now = 90.0
        made.fail(pod("b"))
        assert made.queue.pending == (1, 1, 0)

    @pytest.mark.parametrize("release", BY_CYCLE)
    def test_flushes_that_were_missed_come_in_their_order(self, release: str) -> None:
        """A clock that is moved over several flushes runs each at its own time."""
        made = bench(release)
        made.queue.add_unschedulable(pod("a"), -1)
        made.clock.now = 0.5
        made.fail(pod("b"))
        made.clock.now = 200.0
        made.queue.tick()
        assert made.queue.pending == (2, 0, 0)
        assert made.queue.next_due() is None

    @pytest.mark.parametrize("release", BY_CYCLE)
    def test_a_forgotten_wait_is_over(self, release: str) -> None:
        """A pod in the backoff queue whose entry was forgotten meanwhile leaves it at the next look."""
        made = bench(release)
        forget = RELEASES[release].queue.backoff_forget_after
        for now in (0.0, 1.5, 4.0, 8.5, 17.0):
            made.clock.now = now
            made.queue.add_unschedulable(pod("a"), -1)
            assert made.queue.pending == (0, 1, 0)
            if now < 17.0:
                made.queue.update(pod("a"), pod("a"))
                made.queue.pop()
        made.clock.now = 17.5
        assert made.queue.next_due() == 27.0
        made.queue.add_unschedulable(pod("b"), -1)
        assert made.queue.next_due() == 19.0
        assert forget >= 10.0

    @pytest.mark.parametrize("release", BY_FLAG)
    def test_nothing_is_flushed_in_1_12_and_1_13(self, release: str) -> None:
        """A parked pod stays until an event moves it."""
        made = parked(release, failed("a"))
        made.clock.now = 1e6
        made.queue.tick()
        assert (made.queue.pending, made.queue.next_due()) == ((0, 0, 1), None)


class TestUpdate:
    @pytest.mark.parametrize("release", ALL)
    def test_a_parked_pod_that_changed_is_active(self, release: str) -> None:
        """An update of the spec or metadata makes a parked pod active, its wait forgotten."""
        made = parked(release, failed("a"))
        made.queue.update(failed("a"), failed("a", labels={"x": "y"}))
        assert made.queue.pending == (1, 0, 0)

    @pytest.mark.parametrize("release", ALL)
    def test_its_status_and_versions_do_not_matter(self, release: str) -> None:
        """An update of the status, the resource version or the generation replaces a parked pod where it is."""
        new = failed("a", metadata={"resourceVersion": "7", "generation": 2}, status={"phase": "Pending"})
        made = parked(release, failed("a"))
        made.queue.update(failed("a"), new)
        assert made.queue.pending == (0, 0, 1)
        assert made.queue.pods()[0] is new

    @pytest.mark.parametrize("release", BY_CYCLE)
    def test_any_update_ends_backing_off(self, release: str) -> None:
        """A pod in the backoff queue is active after any update, one of its status too."""
        made = bench(release)
        made.queue.add_unschedulable(pod("a"), -1)
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
        if release in BY_CYCLE:
            made.queue.add_unschedulable(pod("waiting"), -1)
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
        made.queue.add_unschedulable(pod("a"), -1)
        assert made.queue.next_due() == 3.0 + wait


class TestAdd:
    @pytest.mark.parametrize("release", ALL)
    def test_an_added_pod_leaves_the_other_places(self, release: str) -> None:
        """A pod that is added while it is parked or backs off is active only."""
        made = parked(release, failed("a"))
        made.queue.add(pod("a"))
        assert made.queue.pending == (1, 0, 0)
        if release in BY_CYCLE:
            made.queue.add_unschedulable(pod("b"), -1)
            made.queue.add(pod("b"))
            assert made.queue.pending == (2, 0, 0)


class TestNominations:
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


class TestFifo:
    @pytest.mark.parametrize("release", WITH_FIFO)
    def test_first_come_first_served_whatever_the_priority(self, release: str) -> None:
        """With gate PodPriority off pods leave in the order in which they came."""
        made = bench(release, PodPriority=False)
        for name, priority in (("a", 1), ("b", 5), ("c", 3)):
            made.queue.add(pod(name, priority=priority))
        made.queue.update(pod("a"), pod("a", labels={"x": "y"}))
        assert made.pop_all() == ["a", "b", "c"]

    def test_1_15_has_priorities_always(self) -> None:
        """In 1.15 the queue goes by priority even with gate PodPriority off."""
        made = bench("1.15", PodPriority=False)
        for name, priority in (("a", 1), ("b", 5)):
            made.queue.add(pod(name, priority=priority))
        assert made.pop_all() == ["b", "a"]

    @pytest.mark.parametrize(("release", "waits"), [("1.12", [1, 2, 4, 8, 16, 32, 60, 60]), ("1.13", [1, 2, 4, 8]), ("1.14", [1, 1, 1, 1])])
    def test_a_failed_pod_waits_and_comes_back(self, release: str, waits: list[float]) -> None:
        """A failed pod waits 1 s, doubling to 60 s, before it goes to the end; 1.14 takes every wait for an old one: always 1 s."""
        made, found = bench(release, PodPriority=False), []
        for _ in waits:
            made.fail(pod("a"))
            due = made.queue.next_due()
            assert due is not None
            found.append(due - made.clock.now)
            assert made.queue.pop() is None
            made.clock.now = due
            assert made.pop_all() == ["a"]
        assert found == waits

    @pytest.mark.parametrize("release", WITH_FIFO[:2])
    def test_a_wait_is_forgotten_after_a_minute(self, release: str) -> None:
        """A pod that did not fail for more than 60 s waits 1 s again."""
        made = bench(release, PodPriority=False)
        for now, due in ((0.0, 1.0), (60.0, 62.0), (120.5, 121.5)):
            made.clock.now = now
            made.fail(pod("a"))
            assert made.queue.next_due() == due
            made.clock.now = due
            made.pop_all()

    @pytest.mark.parametrize("release", WITH_FIFO[:2])
    def test_who_fails_while_it_waits_does_not_wait_twice(self, release: str) -> None:
        """A pod that fails again while it waits, as after an update, does not wait a second time."""
        made = bench(release, PodPriority=False)
        made.fail(pod("a"))
        made.queue.update(pod("a"), pod("a"))
        made.queue.pop()
        made.fail(pod("a"))
        assert made.queue.pending == (0, 1, 0)

    @pytest.mark.parametrize("release", WITH_FIFO)
    def test_a_deleted_pod_does_not_come_back(self, release: str) -> None:
        """A pod that is deleted while it waits is dropped when its wait ends."""
        made = bench(release, PodPriority=False)
        made.fail(pod("a"))
        made.queue.delete(pod("a"))
        made.clock.now = 2.0
        assert made.pop_all() == []

    @pytest.mark.parametrize("release", WITH_FIFO)
    def test_a_pod_that_comes_back_takes_its_old_place(self, release: str) -> None:
        """A key that was deleted keeps its place, and a pod that comes back by that name takes it."""
        made = bench(release, PodPriority=False)
        for name in ("a", "b"):
            made.queue.add(pod(name))
        made.queue.delete(pod("a"))
        made.queue.add(pod("a"))
        assert made.pop_all() == ["a", "b"]

    @pytest.mark.parametrize("release", WITH_FIFO)
    def test_events_move_nobody_and_nominations_do_not_count(self, release: str) -> None:
        """No event ends a wait, and a pod nominated by its status is not in the map."""
        made = bench(release, PodPriority=False)
        made.queue.add(pod("a", status={"nominatedNodeName": "n"}))
        made.fail(made.queue.pop() or pod("a"))
        made.queue.move_all()
        made.queue.assigned_pod_added(pod("b", on="n"))
        made.queue.assigned_pod_updated(pod("b", on="n"))
        assert (made.queue.pending, made.nominated()) == ((0, 1, 0), {})
