"""Waits on Permit in a replay: time-outs, words of other plugins, deletions, preemption, and what others get
of it."""

import pytest

from kubeclassic.questions.replay.inputs import DELETE, EVER
from tests.support.build import node, pod
from tests.support.permitbuild import doorman, names, the_one, waiting_scheduler, waits_of
from tests.support.replaybuild import at, of_engine, of_event, played, there, told

GAVE_UP = "rejected due to timeout after waiting {} at plugin {}"


def asking(name, cpu="1", *, priority=0, **answers):
    """A pod that asks for cpu and for which plugins answer so."""
    return pod(name, cpu=cpu, priority=priority, metadata={"annotations": answers})


def of(*events, **delays):
    """A replay with the plugins."""
    return of_engine(waiting_scheduler(), *events, **delays)


def steps_to(made, time):
    """The records of a replay up to *time*, at which the clock then is."""
    found = []
    made.cluster.later(time - made.now, lambda: None)
    made.cluster.observers = [found.append]
    made.until = time
    while made.step():
        pass
    made.until = None
    made.is_over = False
    return found


def messages(records, name):
    """When and why attempts of a pod failed."""
    failed = of_event(records, "FailedScheduling")
    return [(record["time"], record["message"]) for record in failed if record["pod"] == f"default/{name}"]


def condition(made, name):
    """Reason and message of a pod's condition PodScheduled."""
    found = made.cluster.pod(f"default/{name}")
    (marked,) = found.status.conditions
    return marked.reason, marked.message


# --- Timeouts -----------------------------------------------------------------------------------------------


def test_the_time_is_up():
    """A pod that nobody allows is rejected when the shortest timeout is over, and its node is free again."""
    made = of(
        *there(node("a", cpu="1")), at(1, asking("one", Doorman="10", Second="5")), at(2, asking("two"))
    )
    records = steps_to(made, 6)
    assert told(records, "WaitingOnPermit") == [(1, "default/one")]
    assert messages(records, "one") == [(6, GAVE_UP.format("5s", "Second"))]
    assert condition(made, "one") == ("Unschedulable", GAVE_UP.format("5s", "Second"))
    assert told(records, "Scheduled") == [(6, "default/two")]
    assert doorman(made.engine).reserved == {"two"}


def test_a_pod_that_waits_in_vain_does_not_keep_it_going():
    """If nothing else is to come, a pod that is rejected again and again is given up; the others get the
    node."""
    waiting = [at(1, asking("one", Doorman="10")), at(2, asking("two", Doorman="20"))]
    made = of(*there(node("a", cpu="1")), *waiting, at(3, asking("three", "2")))
    records = played(made)
    assert len(told(records, "WaitingOnPermit")) == 6
    assert made.now < 300
    assert doorman(made.engine).reserved == set()


def test_another_pod_of_its_name():
    """A pod that takes the place of one that waits, as a scenario may make it, does not keep the replay
    going either."""
    made = of(*there(node("a")), at(1, asking("one", Doorman="10")))
    steps_to(made, 2)
    made.pods.arrive(asking("one", Doorman="10"), EVER)
    played(made)
    assert made.pods.waiting_on_permit == 0


def test_it_is_tried_again_when_the_cluster_changes():
    """The pod is tried again as long as events are due."""
    made = of(*there(node("a")), at(1, asking("one", Doorman="10")), at(500, node("b")))
    records = played(made)
    assert any(time >= 500 for time, _ in told(records, "WaitingOnPermit"))


def test_those_that_lack_its_room_come_back():
    """A pod that failed because of a reservation is tried when that is given back."""
    made = of(*there(node("a", cpu="1")), at(1, asking("one", Doorman="10")), at(2, asking("two"), runs=3))
    records = played(made)
    assert told(records, "Scheduled") == [(11, "default/two")]


# --- Words --------------------------------------------------------------------------------------------------


def one_waits(*events, answers=(), **delays):
    """A replay at 7 s, in which a pod waits since 1 s; *answers*: of other plugins to it."""
    pod = asking("one", Doorman="100", **dict(answers))
    made = of(*there(node("a")), at(1, pod), *events, **delays)
    steps_to(made, 7)
    return made


def test_an_allowed_pod_is_bound():
    """The binding goes on after the last word, with the delay of bindings."""
    made = one_waits(binding=5.0)
    the_one(made.engine).allow("Doorman")
    records = played(made)
    assert (told(records, "Scheduled"), told(records, "Bound")) == (
        [(7, "default/one")],
        [(12, "default/one")],
    )
    assert made.cluster.tally.waits.tolist() == [6.0]


def test_a_rejected_pod_waits_for_others():
    """The pod itself is not moved by its own end, others are."""
    made = one_waits()
    the_one(made.engine).reject("Second", "no room for you")
    records = steps_to(made, 20)
    assert messages(records, "one") == [(7, "no room for you")]
    assert tuple(made.cluster.queue.pending) == (0, 0, 1)


def test_a_refusal_after_the_wait():
    """A PreBind plugin can still reject it."""
    made = one_waits(answers={"preBind": "no"})
    the_one(made.engine).allow("Doorman")
    assert messages(steps_to(made, 8), "one") == [(7, "not bound")]
    assert doorman(made.engine).reserved == set()


def test_the_scheduler_goes_on_meanwhile():
    """One pod is scheduled at a time, but bindings overlap: a pod that waits holds up nobody, and its
    steps come in order."""
    made = one_waits(at(2, asking("two")))
    the_one(made.engine).allow("Doorman")
    played(made)
    seen = [step for step in doorman(made.engine).seen if step.startswith("Doorman")]
    assert seen == [
        f"Doorman {step}" for step in ("reserve one", "reserve two", "pre_bind two", "pre_bind one")
    ]


@pytest.mark.parametrize("time", [5, 11])
def test_a_pod_that_is_deleted_while_it_waits(time):
    """The reservation of a deleted pod is given back at once, also where its wait ends at the same moment."""
    made = of(
        *there(node("a", cpu="1")),
        at(1, asking("one", Doorman="10")),
        at(2, asking("two")),
        at(time, asking("one"), DELETE),
    )
    records = played(made)
    assert told(records, "Deleted") == [(time, "default/one")]
    assert told(records, "Scheduled") == [(time, "default/two")]
    assert (names(waits_of(made.engine)), doorman(made.engine).reserved) == ([], {"two"})
    assert made.cluster.tally.never_scheduled == 1


def test_a_waiting_victim_is_not_deleted():
    """A pod of low priority that waits loses its node to a more important one, and waits for another
    chance."""
    made = of(
        *there(node("a", cpu="1")), at(1, asking("low", Doorman="100")), at(2, asking("high", priority=5))
    )
    records = steps_to(made, 10)
    assert messages(records, "low")[0] == (2, "preempted")
    assert told(records, "Preempted") == []
    assert [pod for _, pod in told(records, "Scheduled")] == ["default/high"]
    assert "default/low" in made.pods.all
    assert made.cluster.tally.evicted == 0
