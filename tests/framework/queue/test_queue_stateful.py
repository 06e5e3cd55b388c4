"""Random sequences of events against the plainest queue."""

from __future__ import annotations

from functools import cache

import attrs
from hypothesis import HealthCheck
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from msgspec.structs import replace

from kubeclassic.api.objects import Pod
from kubeclassic.core.cluster.nominations import Nominations
from kubeclassic.core.pods.template import Templates
from kubeclassic.core.queue.backoff import Clock
from kubeclassic.core.queue.parked import QueuedPod
from kubeclassic.core.release import Release
from kubeclassic.exceptions import CacheError
from kubeclassic.framework.plugin import Handle
from kubeclassic.framework.plugins.prioritysort import PrioritySort
from kubeclassic.framework.queue.events import Action, ClusterEvent
from kubeclassic.framework.queue.queue import FrameworkQueue
from kubeclassic.framework.queue.registrations import Registrations
from kubeclassic.framework.releases import ALL_RELEASES, DEFAULT_FRAMEWORK
from tests.reference.framework_queue import EVERYTHING, WAITS, Item, NaiveFrameworkQueue, fresh
from tests.support.build import pod
from tests.support.examples import examples
from tests.support.queuebuild import jump_to_the_next_flush

SETTINGS = examples(0.8, stateful_step_count=40, suppress_health_check=list(HealthCheck))
NUMBERS = st.integers(0, 7)
WANTED, LABELS = st.sampled_from(("", "a", "b", "!", "a!")), st.sampled_from(("", "a"))
LOOKS = st.tuples(WANTED, LABELS, st.sampled_from(("", "", "n1", "n2")), st.booleans(), st.sampled_from((1, 1, 1, 2)))
"""What a pod wants to be with, its label, its nomination, whether it has a scheduling gate, which pod of its name it is."""
Look = tuple[str, str, str, bool, int]
PLAIN: Look = ("", "", "", False, 1)
NODES = st.sampled_from(("n1", "n2"))
PLUGINS = st.sets(st.sampled_from(sorted(WAITS)), max_size=2)
PAUSES = st.sampled_from((0.25, 0.5, 0.75, 1.0, 1.25, 4.0, 9.75, 10.0, 29.0, 31.0, 299.0, 301.0, 331.0))
ACTIONS = {
    "add": Action.ADD, "delete": Action.DELETE, "update": Action.UPDATE, "allocatable": Action.UPDATE_NODE_ALLOCATABLE,
    "label": Action.UPDATE_NODE_LABEL, "taint": Action.UPDATE_NODE_TAINT,
}  # fmt: skip
HAPPENINGS = st.sampled_from(sorted({event for events in WAITS.values() for event in events} | {("CSINode", "add"), EVERYTHING}))


@cache
def made(number: int, look: Look) -> Pod:
    """Pod *number*, of a priority that is its own, looking so."""
    wanted, label, node, gated, uid = look
    terms = [
        {"labelSelector": {"matchExpressions": [{"key": key, "operator": "Exists" if key != "!" else "Bad"}]}, "topologyKey": "zone"}
        for key in wanted
    ]
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}} if wanted else None
    gates = [{"name": "quota"}] if gated else []
    return pod(
        f"p{number}", labels={label: "x"} if label else {}, priority=number % 2, affinity=affinity, schedulingGates=gates,
        status={"nominatedNodeName": node}, metadata={"uid": f"u{number}-{uid}"},
    )  # fmt: skip


@attrs.frozen
class Waiting:
    """A plugin that waits for *events*."""

    events: tuple[ClusterEvent, ...]

    def events_to_register(self) -> tuple[ClusterEvent, ...]:
        """What it waits for."""
        return self.events


@attrs.frozen
class Waiters:
    """A profile of such plugins."""

    waiting: dict[str, Waiting]

    def plugins(self) -> dict[str, Waiting]:
        """Its plugins by name."""
        return self.waiting


def registered(release: Release) -> Registrations:
    """What the plugins wait for, as the queue is told of it."""
    found = {name: Waiting(tuple(ClusterEvent(kind, ACTIONS[verb]) for kind, verb in sorted(events))) for name, events in WAITS.items()}
    return Registrations({"default-scheduler": Waiters(found)}, release.queueing)


class QueueMachine(RuleBasedStateMachine):
    """The queue and the plainest one, told the same."""

    @initialize(start=st.sampled_from((0.0, 7.25)))
    def begin(self, start: float) -> None:
        release = ALL_RELEASES[DEFAULT_FRAMEWORK]
        self.listed: dict[str, Pod] = {}
        self.clock, self.nominations = Clock(start), Nominations(release.nominations, self.listed)
        self.real = FrameworkQueue(
            cells=release.queue, nominations=self.nominations, clock=self.clock, less=PrioritySort(None, Handle()).less,
            held_by=lambda item: "SchedulingGates" if item.spec.scheduling_gates else None,
            registrations=registered(release), templates=Templates(release, {}),
        )  # fmt: skip
        self.naive = NaiveFrameworkQueue(start, self.listed)
        self.known: dict[int, Pod] = {}
        self.flights: dict[str, tuple[QueuedPod, Item]] = {}

    def bring(self, number: int, new: Pod) -> Pod:
        """The pod is in the API; answers how it was before, perhaps before it was deleted."""
        old = self.known.get(number, new)
        self.known[number] = self.listed[new.key] = new
        return old

    @rule(number=NUMBERS, look=LOOKS)
    def add(self, number: int, look: Look) -> None:
        new = made(number, look)
        self.bring(number, new)
        self.real.add(new)
        self.naive.add(new)

    @rule()
    def pop(self) -> None:
        self.taken()

    def taken(self) -> Pod | None:
        """The pod that is popped."""
        item, naive = self.real.pop(), self.naive.pop()
        assert (None if item is None else item.pod) is (None if naive is None else naive.pod)
        if item is None or naive is None:
            return None
        assert (item.attempts, item.plugins) == (naive.attempts, frozenset())
        self.flights[item.pod.key] = item, naive
        return item.pod

    @rule(plugins=PLUGINS, lag=st.integers(0, 1), pause=st.sampled_from((0.0, 0.0, 0.5)))
    def pop_and_fail(self, plugins: set[str], lag: int, pause: float) -> None:
        popped = self.taken()
        if popped is not None:
            self.wait(pause)
            self.fail(int(popped.name[1:]), None, plugins, lag)

    @rule(number=NUMBERS, look=st.none() | LOOKS, plugins=PLUGINS, lag=st.integers(0, 2))
    def fail(self, number: int, look: Look | None, plugins: set[str], lag: int) -> None:
        """An attempt fails, perhaps long after, when the pod is gone or in the queue again; its attempts count all the same."""
        item, naive = self.flights.pop(f"default/p{number}", (None, None))
        if item is None or naive is None:
            return
        seen = None if look is None else made(number, look)
        item = item if seen is None else item.read_again(seen)
        item.plugins = frozenset(plugins)
        cycle, taken = self.real.cycle - lag, True
        try:
            self.real.add_unschedulable(item, cycle)
        except CacheError:
            taken = False
        assert taken is self.naive.fail(naive, seen, plugins, cycle)

    @rule(number=NUMBERS, look=LOOKS, what=st.sampled_from(("all", "status", "finalizers")))
    def update(self, number: int, look: Look, what: str) -> None:
        new = made(number, look)
        if number in self.known and what == "status":
            new = replace(self.known[number], status=new.status)
        if number in self.known and what == "finalizers":
            new = replace(self.known[number], metadata=replace(self.known[number].metadata, finalizers=("f",)))
        old = self.bring(number, new)
        self.real.update(old, new)
        # The original does not look at finalizers.
        self.naive.update(old, new, (old.uid, old.labels, old.spec) != (new.uid, new.labels, new.spec))

    @rule(number=NUMBERS)
    def delete(self, number: int) -> None:
        if number in self.known:
            self.listed.pop(self.known[number].key, None)
            self.real.delete(self.known[number])
            self.naive.delete(self.known[number])

    @rule(number=NUMBERS)
    def bind(self, number: int) -> None:
        """The API has a pod on a node before the queue hears of it."""
        key = f"default/p{number}"
        if key in self.listed:
            self.listed[key] = self.listed[key].bound_to("n1")

    @rule(happening=HAPPENINGS, picky=st.booleans())
    def move(self, happening: tuple[str, str], picky: bool) -> None:
        """Something happens; where it is a node, perhaps one that only half of the pods could be on."""
        kind, verb = happening
        event = ClusterEvent(kind, Action.ALL if happening == EVERYTHING else ACTIONS[verb])
        self.real.move_all(event, (lambda item: int(item.name[1:]) < 4) if picky else None)
        self.naive.move(happening, lambda item: not picky or int(item.pod.name[1:]) < 4)

    @rule(label=st.sampled_from(("a", "b")), verb=st.sampled_from(("add", "update")))
    def assigned(self, label: str, verb: str) -> None:
        other = made(9, ("", label, "", False, 1))
        (self.real.assigned_pod_added if verb == "add" else self.real.assigned_pod_updated)(other)
        self.naive.assigned(other, verb)

    @rule(number=NUMBERS, node=st.sampled_from(("n1", "n2", "")))
    def nominate(self, number: int, node: str) -> None:
        if number in self.known:
            self.real.nominate(self.known[number], node)
            self.naive.nominate(fresh(self.known[number]), node)

    @rule(number=NUMBERS)
    def withdraw(self, number: int) -> None:
        if number in self.known:
            self.real.withdraw(self.known[number])
            self.naive.withdraw(self.known[number])

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

    @rule(number=NUMBERS, how=st.sampled_from(("added", "updated", "failed")), nodes=st.tuples(NODES, NODES))
    def replace(self, number: int, how: str, nodes: tuple[str, str]) -> None:
        """A nominated pod becomes another one of its name, as where a delete was missed: the nomination shares the queue's entry."""
        look: Look = ("", "", nodes[0], False, 1)
        if how == "added":
            self.add(number, look)
        elif how == "updated":
            self.update(number, look, "all")
        else:
            self.fail_now(number, look)
        self.update(number, ("", "", nodes[1], False, 2), "all")
        self.agree()

    @rule(number=NUMBERS, wanted=st.tuples(WANTED, WANTED), uid=st.sampled_from((1, 2)), label=st.sampled_from(("a", "b")))
    def want(self, number: int, wanted: tuple[str, str], uid: int, label: str) -> None:
        """A pod whose affinity changes is parked, and then a pod comes that it may want."""
        self.add(number, (wanted[0], "", "", False, 1))
        self.update(number, (wanted[1], "", "", False, uid), "all")
        self.fail_now(number, None)
        self.wait(10.0)
        self.assigned(label, "add")

    def fail_now(self, number: int, look: Look | None) -> None:
        """A pod is tried and turned down by nobody in particular, as are all that come before it."""
        if f"default/p{number}" not in {item.key for item in self.real.contents().active}:
            self.add(number, PLAIN)
        while f"default/p{number}" not in self.flights and self.taken() is not None:
            continue
        self.fail(number, look, set(), 0)

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
