"""Random sequences of events against the plainest queue."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from msgspec.structs import replace

from kubeclassic.algorithmprovider import resolve
from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.api.objects import Pod
from kubeclassic.core.cluster.nominations import Nominations
from kubeclassic.core.queue.backoff import Clock
from kubeclassic.core.queue.parked import QueuedPod
from kubeclassic.core.queue.priority import make_queue
from kubeclassic.exceptions import CacheError
from tests.reference.fifo import NaiveFifo
from tests.reference.queue import NaiveQueue
from tests.support.build import pod
from tests.support.examples import examples
from tests.support.queuebuild import jump_to_the_next_flush

SETTINGS = examples(0.8, stateful_step_count=40, suppress_health_check=list(HealthCheck))
MARK = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
NUMBERS = st.integers(0, 7)
PROBED = {"lastProbeTime": "1970-01-01T00:00:30Z", "lastTransitionTime": "1970-01-01T00:00:01Z"}
MARKS: dict[str, list[dict[str, str]]] = {
    "": [], "marked": [MARK], "changed": [{**MARK, "lastTransitionTime": "1970-01-01T00:00:05Z"}], "probed": [{**MARK, **PROBED}],
}  # fmt: skip
WANTED, LABELS, NOMINATED = st.sampled_from(("", "a", "b", "!")), st.sampled_from(("", "a", "b")), st.sampled_from(("", "n1", "n2"))
LOOKS = st.tuples(WANTED, LABELS, NOMINATED, st.sampled_from(sorted(MARKS)))
"""What a pod wants to be with, its label, its nomination, the mark of its failure."""
FAILED = ("", "", "", "marked")
PAUSES = st.sampled_from((0.25, 0.5, 0.75, 1.0, 1.25, 4.0, 9.75, 10.0, 10.25, 29.0, 31.0, 61.0))


@cache
def made(number: int, look: tuple[str, str, str, str]) -> Pod:
    """Pod *number*, of a priority and perhaps a time that are its own, looking so."""
    wanted, label, node, marked = look
    operator = "Exists" if wanted != "!" else "Bad"
    term = {"labelSelector": {"matchExpressions": [{"key": wanted, "operator": operator}]}, "topologyKey": "zone"}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}} if wanted else None
    status = {"nominatedNodeName": node, "conditions": MARKS[marked]}
    times = {"creationTimestamp": f"1970-01-01T00:00:1{number}Z"} if number < 4 else {}
    labels = {label: "x"} if label else {}
    return pod(f"p{number}", labels=labels, priority=number % 2, affinity=affinity, status=status, metadata=times)


def spoken(error: CacheError) -> str:
    """What a refusal says after the words that all have."""
    return str(error).removeprefix("pod is already present in ")


class QueueMachine(RuleBasedStateMachine):
    """A queue by priority and the plainest one, told the same."""

    release = "1.16"

    @initialize(start=st.sampled_from((0.0, 7.25)))
    def begin(self, start: float) -> None:
        self.clock = Clock(start)
        algorithm = resolve(RELEASES[self.release])
        self.forget = algorithm.release.queue.backoff_forget_after or 0.0
        self.nominations = Nominations(algorithm.release.nominations)
        self.real: Any = make_queue(algorithm, self.nominations, self.clock)
        self.naive = NaiveQueue(self.release, start)
        self.known: dict[int, Pod] = {}

    @rule(number=NUMBERS, look=LOOKS)
    def add(self, number: int, look: tuple[str, str, str, str]) -> None:
        self.known[number] = made(number, look)
        self.real.add(self.known[number])
        self.naive.add(self.known[number])

    @rule(number=NUMBERS, look=LOOKS)
    def add_if_not_present(self, number: int, look: tuple[str, str, str, str]) -> None:
        new = self.known[number] = made(number, look)
        self.real.add_if_not_present(new)
        self.naive.add_if_not_present(new)

    @rule()
    def pop(self) -> None:
        first = next(iter(self.real.contents().active), None)
        assert pod_of(self.real.pop()) is first is self.naive.pop()

    @rule(number=NUMBERS, look=LOOKS, lag=st.integers(0, 2))
    def fail(self, number: int, look: tuple[str, str, str, str], lag: int) -> None:
        failed, said = made(number, look), ""
        self.known[number] = failed
        cycle = self.real.cycle - lag
        try:
            self.real.add_unschedulable(QueuedPod(failed), cycle)
        except CacheError as error:
            said = spoken(error)
        assert said == self.naive.add_unschedulable(failed, cycle)

    @rule(lag=st.integers(0, 1), marked=st.sampled_from(sorted(MARKS)))
    def pop_and_fail(self, lag: int, marked: str) -> None:
        item = self.real.pop()
        popped = pod_of(item)
        assert popped is self.naive.pop()
        if popped is not None:
            number = int(popped.name[1:])
            self.known[number] = popped = replace(popped, status=made(number, ("", "", "", marked)).status)
            self.real.add_unschedulable(item.read_again(popped), self.real.cycle - lag)
            self.naive.add_unschedulable(popped, self.naive.cycle - lag)

    @rule(number=NUMBERS, look=LOOKS, what=st.sampled_from(("all", "status", "finalizers")))
    def update(self, number: int, look: tuple[str, str, str, str], what: str) -> None:
        old = self.known.get(number, made(number, look))
        new = made(number, look)
        if what == "status":
            new = replace(old, status=new.status)
        if what == "finalizers":
            new = replace(old, metadata=replace(old.metadata, finalizers=(*old.metadata.finalizers, "f")))
        self.known[number] = new
        self.real.update(old, new)
        # The original looks at finalizers, as at all metadata but versions.
        says = [(item.labels, item.spec, item.metadata.finalizers) for item in (old, new)]
        self.naive.update(old, new, says[0] != says[1])

    @rule(number=NUMBERS)
    def delete(self, number: int) -> None:
        if number in self.known:
            gone = self.known.pop(number)
            self.real.delete(gone)
            self.naive.delete(gone)

    @rule()
    def move_all(self) -> None:
        self.real.move_all()
        self.naive.move()

    @rule(label=st.sampled_from(("a", "b")))
    def assigned(self, label: str) -> None:
        other = made(9, ("", label, "", ""))
        self.real.assigned_pod_added(other)
        self.naive.assigned(other)

    @rule(number=NUMBERS, node=st.sampled_from(("n1", "n2")))
    def preempt(self, number: int, node: str) -> None:
        if number in self.known:
            self.nominations.add(self.known[number], node)
            self.naive.nominated.add(self.known[number], node)

    @rule(pause=PAUSES)
    def wait(self, pause: float) -> None:
        self.clock.now += pause
        self.naive.run_until(self.clock.now)

    @rule(number=NUMBERS, forgotten=st.booleans(), late=st.sampled_from((0.0, 0.25)))
    def wait_for_a_pod(self, number: int, forgotten: bool, late: float) -> None:
        """Let time pass until just when, or just after, a pod's wait is over or its failures are forgotten."""
        last, wait = self.naive.backoff.get(f"default/p{number}", (0.0, 0.0))
        time = last + (self.forget if forgotten else wait) + late
        if time > self.clock.now:
            self.wait(time - self.clock.now)

    @rule(number=NUMBERS, times=st.integers(3, 6), late=st.sampled_from((0.0, 0.25, 1.0)))
    def fail_again_and_again(self, number: int, times: int, late: float) -> None:
        """A pod that fails each time its wait is over; an active pod that is deleted keeps its failures."""
        for _ in range(times):
            self.add(number, FAILED)
            self.delete(number)
            self.fail(number, FAILED, 0)
            self.wait_for_a_pod(number, False, late)

    @rule()
    def jump_to_the_next_flush(self) -> None:
        """Nothing moves before the flush that the queue announces, and something does with it."""
        jump_to_the_next_flush(self.real, self.naive, self.clock, self.naive.counts)

    @invariant()
    def agree(self) -> None:
        if hasattr(self, "real"):
            self.real.tick()
            assert list(map(id, self.real.pods())) == list(map(id, self.naive.pods()))
            assert self.real.pending == self.naive.counts() == tuple(map(len, self.real.contents()))
            assert self.real.cycle == self.naive.cycle
            assert {node: self.nominations.on(node) for node in self.nominations} == self.naive.nominated.by_node()


def pod_of(item: QueuedPod | None) -> Pod | None:
    """The pod that was popped."""
    return None if item is None else item.pod


class FifoMachine(RuleBasedStateMachine):
    """A queue without priorities and the plainest one, told the same."""

    release = "1.12"

    @initialize()
    def begin(self) -> None:
        self.clock = Clock()
        algorithm = resolve(RELEASES[self.release], gates={"PodPriority": False})
        self.real: Any = make_queue(algorithm, Nominations(algorithm.release.nominations), self.clock)
        self.naive = NaiveFifo(self.release)

    @rule(number=NUMBERS, look=LOOKS, is_update=st.booleans())
    def add(self, number: int, look: tuple[str, str, str, str], is_update: bool) -> None:
        new = made(number, look)
        if is_update:
            self.real.update(new, new)
        else:
            self.real.add(new)
        self.naive.add(new)

    @rule()
    def pop(self) -> None:
        assert pod_of(self.real.pop()) is self.naive.pop()

    @rule(number=NUMBERS, look=LOOKS)
    def add_if_not_present(self, number: int, look: tuple[str, str, str, str]) -> None:
        new = made(number, look)
        self.real.add_if_not_present(new)
        if new.key not in self.naive.queued:
            self.naive.add(new)

    @rule(number=NUMBERS, look=LOOKS)
    def fail(self, number: int, look: tuple[str, str, str, str]) -> None:
        failed = made(number, look)
        self.real.add_unschedulable(QueuedPod(failed), self.real.cycle)
        self.naive.fail(failed)

    @rule()
    def pop_and_fail(self) -> None:
        popped = self.real.pop()
        assert pod_of(popped) is self.naive.pop()
        if popped is not None:
            self.real.add_unschedulable(popped, self.real.cycle)
            self.naive.fail(popped.pod)

    @rule(number=NUMBERS)
    def delete(self, number: int) -> None:
        gone = made(number, ("", "", "", ""))
        self.real.delete(gone)
        self.naive.delete(gone)

    @rule()
    def move_all(self) -> None:
        self.real.move_all()
        self.real.assigned_pod_added(made(9, ("", "a", "", "")))

    @rule(pause=PAUSES)
    def wait(self, pause: float) -> None:
        self.clock.now += pause
        self.naive.run_until(self.clock.now)

    @invariant()
    def agree(self) -> None:
        if hasattr(self, "real"):
            self.real.tick()
            assert list(self.real.pods())[: self.real.pending.active] == self.real.contents().active == [
                self.naive.queued[key] for key in dict.fromkeys(self.naive.line) if key in self.naive.queued
            ]
            assert self.real.pending == (len(self.naive.queued), len(self.naive.waits), 0)
            assert self.real.next_due() == min((wait[0] for wait in self.naive.waits), default=None)


@pytest.mark.parametrize("release", RELEASES)
def test_queue_by_priority(release: str) -> None:
    """Any sequence of events leaves the queue of a release as the plainest one stands."""
    run_state_machine_as_test(type("Machine", (QueueMachine,), {"release": release}), settings=SETTINGS)


@pytest.mark.parametrize("release", [name for name, release in RELEASES.items() if release.queue.fifo_without_priority])
def test_queue_without_priorities(release: str) -> None:
    """Any sequence of events leaves the FIFO of a release as the plainest one stands."""
    run_state_machine_as_test(type("Machine", (FifoMachine,), {"release": release}), settings=SETTINGS)
