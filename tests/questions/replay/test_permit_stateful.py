"""Waiting pods in any order of words, time-outs and deletions, against plain dictionaries: no reservation is
lost, and none is kept."""

import math

import attrs
from hypothesis import HealthCheck
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from kubeclassic.core.queue.priority import scheduled_condition
from kubeclassic.questions.replay.inputs import EVER, Inputs
from kubeclassic.questions.replay.replay import Replay
from tests.support.build import node, pod
from tests.support.examples import examples
from tests.support.permitbuild import doorman, waiting_scheduler, waits_of

SETTINGS = examples(0.3, stateful_step_count=30, suppress_health_check=list(HealthCheck))
PLUGINS = ("Doorman", "Second")
GO = {0: "0s", 1: "1s", 3: "3s", 3.5: "3.5s", 10: "10s", 900: "15m0s"}
"""Seconds -> as Go writes them."""
TIMEOUTS = st.dictionaries(st.sampled_from(PLUGINS), st.sampled_from(sorted(GO)))
NAMES = st.sampled_from(("p0", "p1", "p2", "p3"))
ROOM = 2


@attrs.define
class Naive:
    """A pod that waits: since when, and for how long each plugin lets it wait."""

    since: float
    timeouts: dict

    @property
    def until(self):
        """When its time is up."""
        return self.since + min(self.timeouts.values(), default=math.inf)

    @property
    def message(self):
        """The message at the end of the wait."""
        plugin = next(
            name for name in PLUGINS if self.since + self.timeouts.get(name, math.inf) == self.until
        )
        return f"rejected due to timeout after waiting {GO[self.timeouts[plugin]]} at plugin {plugin}"


class Waits(RuleBasedStateMachine):
    """A replay in which pods ask for one of two places, and a plain account of who waits and who is bound.

    Who gets no place, or loses it, is deleted at once, so that the queue does not matter.
    """

    def __init__(self):
        super().__init__()
        self.replay = Replay(Inputs((), resources=("cpu", "pods")), waiting_scheduler())
        self.replay.cluster.put(node("a", pods=str(ROOM)))
        self.waiting = {}
        self.bound = set()

    # --- what happens ---------------------------------------------------------------------------------------

    def pass_time(self, seconds):
        """Do what is due until then; pod -> why it was rejected."""
        replay = self.replay
        end = self.replay.cluster.after(seconds)
        agenda = replay.cluster.agenda
        while (due := agenda.next_time) is not None and due <= end:
            replay.cluster.clock.now = due
            task = agenda.pop_due(due)
            task()
        replay.cluster.clock.now = end
        return self.clear()

    def clear(self):
        """Delete the pods without a node; pod -> what its condition says."""
        found = {}
        for life in [life for life in self.replay.pods.all.values() if life.waits]:
            unplaced = self.replay.cluster.pod(life.key)
            condition = scheduled_condition(unplaced)
            assert condition.reason == "Unschedulable"
            found[unplaced.name] = condition.message
            self.replay.pods.delete(life)
        return found

    def forget_late(self, seconds):
        """Forget the waits of the plain account that end within *seconds*; pod -> its message."""
        end = self.replay.now + seconds
        found = {name: one.message for name, one in self.waiting.items() if one.until <= end}
        for name in found:
            del self.waiting[name]
        return found

    @rule(name=NAMES, timeouts=TIMEOUTS)
    def come(self, name, timeouts):
        """A pod comes and is tried at once."""
        if name in self.waiting or name in self.bound:
            return
        fits = len(self.waiting) + len(self.bound) < ROOM
        self.replay.pods.arrive(
            pod(name, metadata={"annotations": {plugin: str(timeouts[plugin]) for plugin in timeouts}}), EVER
        )
        tried = self.replay.next_pod()
        assert tried is not None
        self.replay.conclude(self.replay.decide(tried))
        if fits and timeouts:
            self.waiting[name] = Naive(self.replay.now, dict(timeouts))
        elif fits:
            self.bound.add(name)
        late = self.forget_late(0)
        assert set(self.pass_time(0)) == {*late, *([] if fits else [name])}

    @rule(seconds=st.sampled_from((0.5, 1, 2.5, 3, 7, 1000)))
    def wait(self, seconds):
        """Time passes."""
        late = self.forget_late(seconds)
        assert self.pass_time(seconds) == late

    @precondition(lambda self: self.waiting)
    @rule(data=st.data(), plugins=st.lists(st.sampled_from((*PLUGINS, "Third")), min_size=1, max_size=3))
    def allow(self, data, plugins):
        """Plugins allow a pod; some of them may not have asked for the wait."""
        name = data.draw(st.sampled_from(sorted(self.waiting)))
        found = waits_of(self.replay.engine).by_uid.get(f"default/{name}")
        for plugin in plugins:
            found.allow(plugin)
            self.waiting[name].timeouts.pop(plugin, None)
        if not self.waiting[name].timeouts:
            del self.waiting[name]
            self.bound.add(name)
        assert self.pass_time(0) == {}

    @precondition(lambda self: self.waiting)
    @rule(data=st.data(), words=st.sampled_from(("reject", "reject twice", "reject and allow", "preempt")))
    def reject(self, data, words):
        """A plugin rejects a pod; what is said after that changes nothing."""
        name = data.draw(st.sampled_from(sorted(self.waiting)))
        found = waits_of(self.replay.engine).by_uid.get(f"default/{name}")
        if words == "preempt":
            assert self.replay.cluster.binding.preempt(found.pod, found.pod)
        else:
            found.reject("Third", "no")
        if words == "reject twice":
            found.reject("Second", "never")
        if words == "reject and allow":
            for plugin in PLUGINS:
                found.allow(plugin)
        del self.waiting[name]
        assert self.pass_time(0) == {name: "preempted" if words == "preempt" else "no"}

    @rule(name=NAMES, words=st.sampled_from(("", "allow", "reject")))
    def delete(self, name, words):
        """A pod is deleted, perhaps just when its wait has ended."""
        life = self.replay.pods.all.get(f"default/{name}")
        assert (life is not None) == (name in self.waiting or name in self.bound)
        if life is None:
            return
        found = waits_of(self.replay.engine).by_uid.get(life.key)
        for plugin in PLUGINS if found is not None and words == "allow" else ():
            found.allow(plugin)
        if found is not None and words == "reject":
            found.reject("Third", "no")
        self.replay.pods.delete(life)
        self.waiting.pop(name, None)
        if name in self.bound:
            self.bound.remove(name)
            doorman(self.replay.engine).reserved.remove(
                name
            )  # plugins are not told of the end of a bound pod
        assert self.pass_time(0) == {}

    # --- what holds -----------------------------------------------------------------------------------------

    @invariant()
    def the_same_pods_wait(self):
        """The pods that should wait do so, for the right plugins; each has one timer, and no other event is
        due."""
        waits = {one.pod.name: set(one.pending_plugins) for one in waits_of(self.replay.engine)}
        assert waits == {name: set(one.timeouts) for name, one in self.waiting.items()}
        assert len(self.replay.cluster.agenda) == self.replay.pods.waiting_on_permit == len(self.waiting)

    @invariant()
    def what_is_reserved(self):
        """Waiting pods are assumed, bound ones confirmed, others are nowhere: in the cache, for plugins, and
        in the ledger."""
        cache = self.replay.engine.cache
        names = ("p0", "p1", "p2", "p3")
        states = {name: state.assumed for name in names if (state := cache.state(pod(name))) is not None}
        assert states == {**dict.fromkeys(self.waiting, True), **dict.fromkeys(self.bound, False)}
        assert doorman(self.replay.engine).reserved == {*self.waiting, *self.bound}
        assert self.replay.cluster.ledger.placed_pods == len(states)


def test_any_order():
    """Whatever happens in whichever order, waits end once and reservations with them."""
    run_state_machine_as_test(Waits, settings=SETTINGS)
