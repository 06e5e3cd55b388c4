"""Random sequences of events against the plainest queue."""

from __future__ import annotations

from functools import cache

import attrs
from hypothesis import HealthCheck
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from kubeclassic.api.objects import Pod
from kubeclassic.core.cluster.nominations import Nominations
from kubeclassic.core.queue.clock import Clock
from kubeclassic.exceptions import CacheError
from kubeclassic.framework.plugin import Handle
from kubeclassic.framework.plugins.prioritysort import PrioritySort
from kubeclassic.framework.queue.events import Action, ClusterEvent
from kubeclassic.framework.queue.queue import FrameworkQueue
from tests.reference.framework_queue import EVERYTHING, WAITS, NaiveFrameworkQueue
from tests.support.build import pod
from tests.support.examples import examples
from tests.support.queuebuild import jump_to_the_next_flush

SETTINGS = examples(0.8, stateful_step_count=40, suppress_health_check=list(HealthCheck))
NUMBERS = st.integers(0, 7)
LOOKS = st.tuples(st.sampled_from(("", "a", "b", "!")), st.sampled_from(("", "a")), st.sampled_from(("", "", "n1", "n2")), st.booleans())
"""What a pod wants to be with, its label, its nomination, whether it has a scheduling gate."""
PLAIN = ("", "", "", False)
PLUGINS = st.sets(st.sampled_from(sorted(WAITS)), max_size=2)
PAUSES = st.sampled_from((0.25, 0.5, 0.75, 1.0, 1.25, 4.0, 9.75, 10.0, 29.0, 31.0, 299.0, 301.0, 331.0))
ACTIONS = {
    "add": Action.ADD, "delete": Action.DELETE, "update": Action.UPDATE, "allocatable": Action.UPDATE_NODE_ALLOCATABLE,
    "label": Action.UPDATE_NODE_LABEL, "taint": Action.UPDATE_NODE_TAINT,
}  # fmt: skip
HAPPENINGS = st.sampled_from(sorted({event for events in WAITS.values() for event in events} | {("CSINode", "add"), EVERYTHING}))


@cache
def made(number: int, look: tuple[str, str, str, bool]) -> Pod:
    """Pod *number*, of a priority that is its own, looking so."""
    wanted, label, node, gated = look
    operator = "Exists" if wanted != "!" else "Bad"
    term = {"labelSelector": {"matchExpressions": [{"key": wanted, "operator": operator}]}, "topologyKey": "zone"}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}} if wanted else None
    gates = [{"name": "quota"}] if gated else []
    return pod(
        f"p{number}", labels={label: "x"} if label else {}, priority=number % 2, affinity=affinity, schedulingGates=gates,
        status={"nominatedNodeName": node},
    )  # fmt: skip


def registered() -> list[tuple[str, ClusterEvent]]:
    """What the plugins wait for, as the queue is told of it."""
    return [(name, ClusterEvent(kind, ACTIONS[verb])) for name, events in WAITS.items() for kind, verb in sorted(events)]


class QueueMachine(RuleBasedStateMachine):
    """The queue and the plainest one, told the same."""

    @initialize(start=st.sampled_from((0.0, 7.25)))
    def begin(self, start: float) -> None:
        self.clock, self.nominations = Clock(start), Nominations(by_uid=True, refuses_placed=True)
        self.blamed: frozenset[str] = frozenset()
        self.real = FrameworkQueue(
            nominations=self.nominations, clock=self.clock, less=PrioritySort(None, Handle()).less,
            held_by=lambda item: "SchedulingGates" if item.spec.scheduling_gates else None,
            registrations=registered(), blame=lambda item: self.blamed,
        )  # fmt: skip
        self.naive = NaiveFrameworkQueue(start)
        self.known: dict[int, Pod] = {}

    @rule(number=NUMBERS, look=LOOKS)
    def add(self, number: int, look: tuple[str, str, str, bool]) -> None:
        if number not in self.known:
            self.known[number] = made(number, look)
            self.real.add(self.known[number])
            self.naive.add(self.known[number])

    @rule()
    def pop(self) -> None:
        assert self.real.pop() is self.naive.pop()

    @rule(plugins=PLUGINS, lag=st.integers(0, 1), pause=st.sampled_from((0.0, 0.0, 0.5)))
    def pop_and_fail(self, plugins: set[str], lag: int, pause: float) -> None:
        popped = self.real.pop()
        assert popped is self.naive.pop()
        if popped is not None:
            self.wait(pause)
            self.fail(popped, plugins, lag)

    def fail(self, failed: Pod, plugins: set[str], lag: int) -> None:
        self.blamed, cycle, taken = frozenset(plugins), self.real.cycle - lag, True
        try:
            self.real.add_unschedulable(failed, cycle)
        except CacheError:
            taken = False
        assert taken is self.naive.fail(failed, plugins, cycle)

    @rule(number=NUMBERS, plugins=PLUGINS, lag=st.integers(0, 2))
    def fail_at_any_time(self, number: int, plugins: set[str], lag: int) -> None:
        if number in self.known:
            self.fail(self.known[number], plugins, lag)

    @rule(number=NUMBERS, look=LOOKS, only_status=st.booleans())
    def update(self, number: int, look: tuple[str, str, str, bool], only_status: bool) -> None:
        old = self.known.get(number, made(number, look))
        new = attrs.evolve(old, status=made(number, look).status) if only_status else made(number, look)
        self.known[number] = new
        self.real.update(old, new)
        self.naive.update(old, new, (old.labels, old.spec) != (new.labels, new.spec))

    @rule(number=NUMBERS)
    def delete(self, number: int) -> None:
        if number in self.known:
            gone = self.known.pop(number)
            self.real.delete(gone)
            self.naive.delete(gone)

    @rule(number=NUMBERS)
    def activate(self, number: int) -> None:
        if number in self.known:
            self.real.activate(self.known[number])
            self.naive.ask_for(self.known[number])

    @rule(happening=HAPPENINGS, picky=st.booleans())
    def move(self, happening: tuple[str, str], picky: bool) -> None:
        """Something happens; where it is a node, perhaps one that only half of the pods could be on."""
        kind, verb = happening
        event = ClusterEvent(kind, Action.ALL if happening == EVERYTHING else ACTIONS[verb])
        self.real.move_all(event, (lambda item: int(item.name[1:]) < 4) if picky else None)
        self.naive.move(happening, lambda item: not picky or int(item.pod.name[1:]) < 4)

    @rule(label=st.sampled_from(("a", "b")), verb=st.sampled_from(("add", "update")))
    def assigned(self, label: str, verb: str) -> None:
        other = made(9, ("", label, "", False))
        (self.real.assigned_pod_added if verb == "add" else self.real.assigned_pod_updated)(other)
        self.naive.assigned(other, verb)

    @rule(number=NUMBERS, node=st.sampled_from(("n1", "n2")))
    def preempt(self, number: int, node: str) -> None:
        if number in self.known:
            self.nominations.add(self.known[number], node)
            self.naive.nominate(self.known[number], node)

    @rule(pause=PAUSES)
    def wait(self, pause: float) -> None:
        self.clock.now += pause
        self.naive.run_until(self.clock.now)

    @rule(number=NUMBERS, times=st.integers(2, 6), late=st.sampled_from((0.0, 0.25, 1.0)))
    def fail_again_and_again(self, number: int, times: int, late: float) -> None:
        """A pod that is tried at once whenever it may be, and fails."""
        self.add(number, PLAIN)
        for _ in range(times):
            self.move(EVERYTHING, False)
            self.pop_and_fail({"NodeResourcesFit"}, 0, late)

    @rule()
    def jump_to_the_next_flush(self) -> None:
        """Nothing moves before the flush that the queue announces, and something does with it."""
        jump_to_the_next_flush(self.real, self.naive, self.clock, self.naive.places)

    @invariant()
    def agree(self) -> None:
        if hasattr(self, "real"):
            self.real.tick()
            assert list(map(id, self.real.pods())) == list(map(id, self.naive.pods()))
            assert self.real.pending == self.naive.counts()
            assert self.real.cycle == self.naive.cycle
            assert {node: self.nominations.on(node) for node in self.nominations} == self.naive.by_node()
            assert {item.key for item in self.real.pods() if self.real.is_gated(item)} == self.naive.gated()


def test_any_sequence_of_events() -> None:
    """Any sequence of events leaves the queue as the plainest one stands."""
    run_state_machine_as_test(QueueMachine, settings=SETTINGS)
