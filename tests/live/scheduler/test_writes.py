"""Bodies of writes: conditions, and the patch between two statuses."""

import yaml

from kubeclassic.live.scheduler.state import NewCondition, status_patch, with_condition, with_nomination

NOW = "2026-11-22T01:44:50Z"
LATER = "2026-11-22T01:45:50Z"
READY = {"type": "Ready", "status": "True", "lastTransitionTime": NOW}
WAITS = NewCondition(reason="Unschedulable", message="0/3")


def scheduled(status):
    """The condition PodScheduled of a status."""
    return next(one for one in status["conditions"] if one["type"] == "PodScheduled")


def test_the_same_condition_changes_nothing():
    """A condition with the same status, reason and message is not written again, however late."""
    first = with_condition({"phase": "Pending"}, WAITS, NOW)
    assert first is not None
    assert with_condition(first, WAITS, LATER) is None


def test_the_time_of_a_transition_stays():
    """Another message keeps the time; another status sets it."""
    first = with_condition({"conditions": [READY]}, WAITS, NOW)
    assert first is not None
    again = with_condition(first, NewCondition(reason="Unschedulable", message="0/4"), LATER)
    other = with_condition(first, NewCondition(reason="", status="True"), LATER)
    assert scheduled(again)["lastTransitionTime"] == NOW
    assert scheduled(other)["lastTransitionTime"] == LATER
    assert again["conditions"][0] == READY


def test_a_probed_condition_is_always_written():
    """A release that writes lastProbeTime changes the condition at each attempt."""
    first = with_condition({}, NewCondition(reason="Unschedulable", probed=NOW), NOW)
    assert first is not None
    assert with_condition(first, NewCondition(reason="Unschedulable", probed=LATER), LATER) is not None


def test_a_patch_holds_what_changed():
    """A new list is whole, a list that was there gives the order and the fields that changed, and a
    nomination that ends is null."""
    first = with_condition({"phase": "Pending"}, WAITS, NOW)
    assert first is not None
    assert list(status_patch({"phase": "Pending"}, first)["status"]) == ["conditions"]
    again = with_condition(first, NewCondition(reason="Unschedulable", message="0/4"), LATER) or {}
    changed = yaml.safe_load("""
        $setElementOrder/conditions:
        - {type: PodScheduled}
        conditions:
        - {message: 0/4, type: PodScheduled}
        """)
    assert status_patch(first, again) == {"status": changed}
    assert status_patch({"nominatedNodeName": "a"}, with_nomination({"nominatedNodeName": "a"}, "")) == {
        "status": {"nominatedNodeName": None}
    }
    assert status_patch(first, first) == {}
