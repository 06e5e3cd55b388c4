"""The list of pods behind a page: who is in it, how it ends for each side, and why."""

import yaml

from kubeclassic.questions.compare.ask import PodList
from kubeclassic.questions.compare.comparison import compare
from kubeclassic.simulation.conform import engine_for
from tests.support.build import node, pod, scenario
from tests.support.pages import data_of_page, part_html, table_of_page

ROOM = "preemption: neither finds a node, and they make room differently"
TIE = "tie: both nodes have the same score in both, and the tie-break chose another one"


def listed(objects, made, mode="free"):
    """Pod -> what its row says, in words."""
    html = part_html(PodList(compare(scenario(*objects), made, mode=mode).document()).table())
    data = data_of_page(html)["pods-data"]
    found = {}
    for row, details in zip(table_of_page(html, "pods"), data["details"], strict=True):
        pod, *hosts, outcomes, _, why = row.values()
        cycles = [data["shared"]["texts"][cycle[0]].split(":")[0] for cycle in details or []]
        found[pod] = {"hosts": hosts, "outcomes": outcomes, "why": why, "cycles": cycles}
    return found


def preempting():
    """One that makes room, and one that does not."""
    return {"a": engine_for("1.16", {}), "b": engine_for("1.16", {"preemption": False})}


def test_who_makes_room():
    """A pod for which one side alone makes room is placed by it alone; the row says where room was made."""
    there = pod("low", on="n", cpu=4, priority=1)
    found = listed((node("n"), there, pod("high", cpu=4, priority=9)), preempting())
    assert found == {
        "default/high": {
            "hosts": ["n", "<none>"],
            "outcomes": ["placed by a alone"],
            "why": ROOM,
            "cycles": ["Decision 0"],
        }
    }


def test_who_has_to_leave():
    """A pod that is decided alike and evicted by one side is in the list, with the pod that took its
    place."""
    found = listed((node("n"), pod("low", cpu=4, priority=1), pod("high", cpu=4, priority=9)), preempting())
    assert found["default/low"] == {
        "hosts": ["<none>", "n"],
        "outcomes": ["placed by b alone"],
        "why": "a evicts it to make room for default/high",
        "cycles": [],
    }


def test_three_sides():
    """With a third configuration each outcome says whose it is, and a side that agrees with the first has
    none."""
    objects = (
        node("n", labels={"disk": "hdd"}),
        node("m", labels={"disk": "ssd"}),
        pod("p", nodeSelector={"disk": "ssd"}),
    )
    rules = yaml.safe_load("{kind: Policy, apiVersion: v1, predicates: [], priorities: []}")
    made = {
        "a": engine_for("1.16", {}),
        "b": engine_for("1.15", {}),
        "c": engine_for("1.16", {"policy": rules}),
    }
    (row,) = listed(objects, made).values()
    assert (row["hosts"], row["outcomes"]) == (["m", "m", "n"], ["c: on another node"])
    assert row["why"] == "GeneralPredicates in a against n: node(s) didn't match node selector"


def test_locked():
    """In locked mode the outcome is the verdict, as the first side stays where it is."""
    made = {
        "a": engine_for("1.16", {}),
        "b": engine_for("1.16", {}, tie_break=lambda ties, times: (ties - 1, False)),
    }
    (row,) = listed((node("n"), node("m"), pod("p")), made, "locked").values()
    assert row == {"hosts": ["n", "m"], "outcomes": ["equally good"], "why": TIE, "cycles": ["Decision 0"]}
