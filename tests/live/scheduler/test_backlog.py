"""Which pod another scheduler may have taken next, from what was seen of it."""

from __future__ import annotations

from kubeclassic.live.scheduler.shadow.backlog import Backlog


def backlog(*pods: tuple[str, int], reached: int = 0) -> Backlog:
    """Pods with their priorities, which came as events 1, 2 and so on."""
    found = Backlog(reached=reached)
    for event, (key, priority) in enumerate(pods, start=1):
        found.add(key, priority, event)
    return found


def keys(found: Backlog) -> list[str]:
    """The candidates, the likeliest first."""
    return [each.key for each in found.candidates()]


def test_the_highest_priority_of_those_that_were_known() -> None:
    """Where all pods were known to the other scheduler there is one candidate: the first one of the highest priority."""
    assert keys(backlog(("a", 0), ("b", 5), ("c", 5), reached=3)) == ["b"]


def test_a_pod_may_have_gone_before_a_higher_one_came() -> None:
    """A pod that came later may not have been known yet; only one of higher priority would have changed the order."""
    assert keys(backlog(("a", 0), ("b", 0), ("c", 5))) == ["a", "c"]


def test_the_first_outcome_of_a_priority_tells() -> None:
    """Pods of one priority go in order, so that a later one has its node means that the first one was decided on before."""
    found = backlog(("a", 0), ("b", 5), ("c", 5))
    found.decided("c", 4)
    found.decided("a", 5)
    assert keys(found) == ["b", "a"]


def test_a_decision_is_older_than_its_outcome() -> None:
    """A pod that came after an outcome was seen is not decided on before it."""
    found = backlog(("a", 0))
    found.decided("a", 2)
    found.add("b", 5, 3)
    assert keys(found) == ["a"]
    assert found.before() == 2


def test_what_was_known_stays_known() -> None:
    """After a pod was taken, all that came before it go by priority."""
    found = backlog(("a", 0), ("b", 1), ("c", 5))
    found.take("c")
    assert (found.reached, keys(found)) == (3, ["b"])


def test_where_an_earlier_judgement_was_wrong() -> None:
    """The first pod of another priority is the last candidate, if its outcome is known."""
    found = backlog(("a", 0), ("b", 5), reached=2)
    assert keys(found) == ["b"]
    found.decided("a", 3)
    assert keys(found) == ["b", "a"]


def test_what_is_certain_of_two_pods() -> None:
    """The one that came first goes first unless its priority is lower; where the queue has no order nothing is known."""
    found = backlog(("a", 5), ("b", 0), ("c", 5))
    first, lower, last = (found.turn(key) for key in "abc")
    assert first is not None
    assert lower is not None
    assert last is not None
    assert first.precedes(last)
    assert first.precedes(lower)
    assert not lower.precedes(last)
    assert not last.precedes(lower)
    assert found.turn("tried again") is None
    found.is_ordered = False
    assert found.turn("a") is None


def test_without_an_order_outcomes_count() -> None:
    """Where a queue has no order for equal pods, they are looked at by their outcomes; without any, the first one is awaited."""
    found = Backlog(is_ordered=False)
    for event, key in enumerate("abc", start=1):
        found.add(key, 0, event)
    assert keys(found) == ["a"]
    found.decided("c", 4)
    found.decided("b", 5)
    assert keys(found) == ["c", "b"]
