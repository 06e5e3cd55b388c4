"""The binding cycle step by step: Permit and its wait, what follows, and that nothing stays reserved after a
failure."""

import pytest

from kubeclassic.core.bindingcycle import Failure
from kubeclassic.core.queue.backoff import Clock
from kubeclassic.core.run import EventFeed
from kubeclassic.framework.plugin import SKIP, Plugin, Status, unschedulable, wait
from tests.support.build import node, pod
from tests.support.frameworkbuild import decided, disabled, enabled, placed, scheduler
from tests.support.permitbuild import Doorman, Second, doorman, names, the_one, waiting_scheduler, waits_of


def asking(**answers):
    """A pod for which plugins answer so."""
    return pod("p", metadata={"annotations": answers})


def reserved(engine, new):
    """The end of its scheduling cycle."""
    return engine.flow.binding.reserve(new, str(decided(engine, new).host))


def held(*nodes, release="1.27", **answers):
    """A scheduler with node a, and a pod that a plugin makes wait there."""
    engine = waiting_scheduler(node("a"), *nodes, release=release)
    new = asking(**{"Doorman": "10"} | answers)
    assert reserved(engine, new) is None
    return engine, new


# --- Permit -------------------------------------------------------------------------------------------------


def test_a_wait():
    """A pod that a plugin makes wait keeps its node, and nothing else happens to it."""
    engine, new = held()
    assert names(waits_of(engine)) == ["p"]
    assert engine.flow.binding.waiting(new) is the_one(engine)
    assert engine.cache.is_assumed(new)
    assert the_one(engine).pod.spec.node_name == "a"


def test_every_plugin_that_asks_is_waited_for():
    """All plugins that answer with Wait are pending, each with its own timeout."""
    engine, _ = held(Second="5")
    assert (the_one(engine).pending_plugins, the_one(engine).timeout) == (("Doorman", "Second"), 5)


@pytest.mark.parametrize("said, seconds", [("10", 10), ("900", 900), ("901", 900), ("inf", 900)])
def test_no_wait_is_longer_than_15_minutes(said, seconds):
    """A longer timeout, or none, is 15 minutes."""
    engine, _ = held(Doorman=said)
    assert the_one(engine).timeout == seconds


def test_a_status_without_a_timeout():
    """``wait()`` means as long as possible, and keeps its reasons."""
    assert wait("for others") == Status(wait().code, ("for others",), timeout=float("inf"))


@pytest.mark.parametrize(
    "said, text, is_rejection",
    [("no", "no", True), ("broken", 'running Permit plugin "Second": broken', False)],
)
def test_a_later_no_ends_the_wait_of_an_earlier_plugin(said, text, is_rejection):
    """If one plugin wants to wait and another rejects or fails, the pod does not wait."""
    engine = waiting_scheduler(node("a"))
    new = asking(Doorman="10", Second=said)
    failure = reserved(engine, new)
    assert (failure.text, failure.is_rejection) == (text, is_rejection)
    assert names(waits_of(engine)) == []
    assert not engine.cache.is_assumed(new)
    assert doorman(engine).reserved == set()


def test_profiles_know_their_own_waiting_pods():
    """Each profile has a list of its own."""
    other = {"schedulerName": "other", "plugins": {"multiPoint": enabled("Doorman")}}
    engine = scheduler(
        node("a"), profile={"schedulerName": "default-scheduler"}, profiles=[other], plugins=(Doorman,)
    )
    new = pod("p", schedulerName="other", metadata={"annotations": {"Doorman": "10"}})
    assert reserved(engine, new) is None
    assert {name: names(profile.waiting_pods) for name, profile in engine.flow.profiles.items()} == {
        "default-scheduler": [],
        "other": ["p"],
    }


class Closed(Plugin):
    """Rejects every pod in Reserve."""

    name = "Closed"

    def reserve(self, pod, node_name, cycle):
        """Say why, twice."""
        return unschedulable("closed", "closed")

    def unreserve(self, pod, node_name, cycle):
        """Nothing to do."""


# --- Words of rejections ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "release, failure",
    [
        ("1.27", Failure('running Reserve plugin "Closed": closed, closed', "SchedulerError")),
        ("1.28", Failure("0/1 nodes are available: 2 closed.", "Unschedulable")),
        ("1.34", Failure("0/1 nodes are available: 2 closed.", "Unschedulable")),
    ],
)
def test_reserve(release, failure):
    """In 1.27 Reserve only has errors; from 1.28 on its rejections read like those of a cluster of one
    node."""
    engine = scheduler(
        node("a"),
        node("b"),
        plugins=(Closed,),
        profile={"plugins": {"multiPoint": enabled("Closed")}},
        release=release,
    )
    assert reserved(engine, pod("p")) == failure


@pytest.mark.parametrize(
    "release, text",
    [("1.27", "no"), ("1.28", "0/1 nodes are available: 1 no."), ("1.32", "0/1 nodes are available: 1 no.")],
)
def test_permit(release, text):
    """Rejections by Permit do so from 1.28 on."""
    assert reserved(waiting_scheduler(node("a"), release=release), asking(Doorman="no")) == Failure(
        text, "Unschedulable"
    )


@pytest.mark.parametrize("release, text", [("1.28", "late"), ("1.29", "0/1 nodes are available: 1 late.")])
def test_a_wait_that_ends(release, text):
    """And those that end a wait from 1.29 on."""
    engine, new = held(release=release)
    the_one(engine).reject("Doorman", "late")
    assert engine.flow.binding.permitted(new, "a") == Failure(text, "Unschedulable")


# --- The end of AWait ---------------------------------------------------------------------------------------


def test_an_allowed_pod_is_bound():
    """After the last word the binding goes on, and nobody waits any more."""
    engine, new = held()
    the_one(engine).allow("Doorman")
    binding = engine.flow.binding
    assert (binding.permitted(new, "a"), binding.begin(new, "a"), binding.bind(new, "a")) == (
        None,
        None,
        None,
    )
    assert names(waits_of(engine)) == []
    assert (engine.cache.is_assumed(new), doorman(engine).reserved) == (True, {"p"})


def test_a_rejected_pod_gives_everything_back():
    """Reservations are undone in reverse order, the pod is forgotten and is Unschedulable."""
    engine, new = held()
    the_one(engine).reject("Second", "no room for you")
    failure = engine.flow.binding.permitted(new, "a")
    assert failure == Failure("no room for you", "Unschedulable")
    assert Doorman.seen[-2:] == ["Second unreserve p", "Doorman unreserve p"]
    assert not engine.cache.is_assumed(new)
    assert names(waits_of(engine)) == []


def test_a_pod_that_somebody_else_bound():
    """A pod that is on a node by then is unreserved, but stays in the cache: upstream only logs that."""
    engine, new = held(node("b"))
    EventFeed(engine).put(new.bound_to("b"))
    assert engine.flow.binding.removed(new)
    failure = engine.flow.binding.permitted(new, "a")
    assert failure.text == "removed"
    assert doorman(engine).reserved == set()
    state = engine.cache.state(new)
    assert (state.node_name, state.assumed) == ("b", False)


def test_giving_back_drops_the_wait():
    """A pod that is given up while it waits does not wait any more, and nobody is told."""
    engine, new = held()
    told = []
    the_one(engine).on_end = lambda: told.append("end")
    engine.flow.binding.give_back(new, "a")
    assert (names(waits_of(engine)), told, doorman(engine).reserved) == ([], [], set())


def test_a_waiting_victim_is_rejected():
    """A victim of preemption that waits is rejected as preempted, and need not be deleted."""
    engine, new = held()
    assert engine.flow.binding.preempt(new, pod("important"))
    assert engine.flow.binding.permitted(new, "a") == Failure("preempted", "Unschedulable")
    assert not engine.flow.binding.preempt(pod("running", on="a"), pod("important"))


def test_if_all_skip_the_binding_fails():
    """Upstream: the last plugin's Skip is no success, so the pod is given back with a SchedulerError and
    no word."""
    plugins = {"multiPoint": enabled("Doorman", "Second"), "bind": disabled("DefaultBinder")}
    engine = scheduler(node("a"), profile={"plugins": plugins}, plugins=(Doorman, Second))
    new = asking()
    reserved(engine, new)
    assert engine.flow.binding.bind(new, "a") == Failure("", "SchedulerError")
    assert doorman(engine).reserved == set()


def test_a_rejection_on_the_way():
    """A PreBind plugin that rejects makes the pod Unschedulable, after an allowed wait as well."""
    engine, new = held(preBind="no")
    the_one(engine).allow("Doorman")
    assert engine.flow.binding.permitted(new, "a") is None
    assert engine.flow.binding.bind(new, "a") == Failure("not bound", "Unschedulable")
    assert not engine.cache.is_assumed(new)


def test_a_waiting_pod_that_is_deleted():
    """The event rejects it as removed and lets others be tried; its reservation ends with its wait."""
    engine = waiting_scheduler(node("a", pods="1"))
    new = asking(Doorman="10")
    queue = engine.flow.queue(Clock())
    events = engine.flow.router(queue, "default-scheduler")
    events.put(new)
    queue.pop()
    reserved(engine, new)
    events.put(pod("other"))
    item = queue.pop()
    decision = decided(engine, item.pod)
    assert decision.host is None
    item.plugins = decision.plugins
    queue.add_unschedulable(item, queue.cycle)
    assert tuple(queue.pending) == (0, 0, 1)
    events.delete(new)
    assert tuple(queue.pending) == (0, 1, 0)
    assert the_one(engine).verdict is not None
    assert engine.cache.is_assumed(new)
    assert engine.flow.binding.permitted(new, "a") == Failure("removed", "Unschedulable")
    assert not engine.cache.is_assumed(new)


def test_a_waiting_pod_that_somebody_else_binds():
    """Such an event ends the wait too, and what was reserved for the pod is given back; the pod itself
    stays where it is."""
    engine = waiting_scheduler(node("a"), node("b"))
    new = asking(Doorman="10")
    events = engine.flow.router(engine.flow.queue(Clock()), "default-scheduler")
    events.put(new)
    events.queue.pop()
    decided(engine, new)
    engine.flow.binding.reserve(new, "a")
    events.put(new.bound_to("b"))
    assert engine.flow.binding.permitted(new, "a") == Failure("removed", "Unschedulable")
    state = engine.cache.state(new)
    assert (state.node_name, doorman(engine).reserved) == ("b", set())


class Waker(Plugin):
    """Wants all pods that it knows of to be tried next."""

    name = "Waker"

    def permit(self, pod, node_name, cycle):
        """Say so."""
        cycle.pods_to_activate |= {
            other.key: other for other in (known("parked"), known("gated"), known("unknown"))
        }
        return

    def bind(self, pod, node_name, cycle):
        """Leave it to the next one."""
        return SKIP


def known(name):
    """A pod of that name."""
    return pod(name, schedulingGates=[{"name": "quota"}] if name == "gated" else [])


def test_a_plugin_wakes_parked_pods():
    """A pod that fits nowhere is active again after a cycle that ended well; one that is gated, or
    unknown, is not."""
    engine = scheduler(node("a"), profile={"plugins": {"multiPoint": enabled("Waker")}}, plugins=(Waker,))
    queue = engine.flow.queue(Clock())
    for name in ("parked", "gated"):
        queue.add(known(name))
    queue.add_unschedulable(queue.pop(), queue.cycle)
    assert tuple(queue.pending) == (0, 0, 2)
    assert placed(engine, pod("p")) == "a"
    assert [found.name for found in queue.contents().active] == ["parked"]
    assert [found.name for found in queue.contents().unschedulable] == ["gated"]
