"""A user's plugin, one node at a time."""

from typing import ClassVar

import pytest

from kubeclassic.core.cycle import Reads
from kubeclassic.framework.plugin import Plugin, each_node, error, unresolvable, unschedulable
from kubeclassic.framework.plugins.tainttoleration import TaintToleration
from tests.support.build import node, pod
from tests.support.frameworkbuild import decided, enabled, scheduler


class Rack(Plugin):
    """Rejects nodes without a rack, gives an error for broken ones, prefers empty ones."""

    name = "Rack"

    @each_node
    def filter(self, pod, node, cycle):
        """By label."""
        match node.node.labels.get("rack"):
            case None:
                return unresolvable("node(s) stand in no rack")
            case "broken":
                return error("rack is broken")
            case "full":
                return unschedulable("rack is full")
        return None

    @each_node
    def score(self, pod, node, cycle):
        """By pods and cpu."""
        return 100 if not node.pods and node.requested("cpu") == 0 and node.allocatable("cpu") == 4000 else 0


class Maintained(TaintToleration):
    """Rejects the nodes of a list that others change, and prefers none."""

    name = "Maintained"
    closed: ClassVar = set()

    @each_node
    def filter(self, pod, node, cycle):
        """By name."""
        return unschedulable("node(s) are closed") if node.name in self.closed else None


PROFILE = {"plugins": {"multiPoint": enabled(Rack=10)}}
R1 = {"rack": "r1"}


def test_filter():
    """Statuses become reasons, and the code decides whether preemption may help."""
    engine = scheduler(
        node("a"), node("b", labels={"rack": "full"}), pod("low", on="b"), plugins=(Rack,), profile=PROFILE
    )
    decision = decided(engine, pod("p", priority=5))
    assert decision.failed == {"a": ["node(s) stand in no rack"], "b": ["rack is full"]}
    assert decision.error == (
        "0/2 nodes are available: 1 node(s) stand in no rack, 1 rack is full."
        " preemption: 0/2 nodes are available: 1 Preemption is not helpful for scheduling, 1 rack is full.."
    )


@pytest.mark.parametrize(
    "answer, said, may_help",
    [
        (unschedulable(), "", "1 No preemption victims found for incoming pod"),
        (unschedulable(""), " 1 .", "1 No preemption victims found for incoming pod"),
        (unresolvable(), "", "1 Preemption is not helpful for scheduling"),
    ],
)
def test_a_rejection_without_a_reason(answer, said, may_help):
    """It rejects like any other. Upstream: the message counts reasons alone."""
    silent = type("Silent", (Plugin,), {"name": "Silent", "filter": each_node(lambda *arguments: answer)})
    engine = scheduler(node("a"), plugins=(silent,), profile={"plugins": {"multiPoint": enabled("Silent")}})
    decision = decided(engine, pod("p", priority=5))
    assert decision.failed == {"a": [""]}
    assert (
        decision.error == f"0/1 nodes are available:{said} preemption: 0/1 nodes are available: {may_help}.."
    )


def test_error():
    """An error ends the cycle."""
    engine = scheduler(node("a", labels={"rack": "broken"}), plugins=(Rack,), profile=PROFILE)
    assert decided(engine, pod("p")).error == 'running "Rack" filter plugin: rack is broken'


def test_score():
    """Scores of one node at a time are weighted like any other, and the plugin's answers are never
    cached."""
    engine = scheduler(
        node("a", labels=R1), node("b", labels=R1), pod("there", on="a"), plugins=(Rack,), profile=PROFILE
    )
    assert decided(engine, pod("p")).priorities["Rack"] == {"a": 0, "b": 100}
    assert engine.schedule(pod("p"), details=False).host == "b"


def test_a_method_of_its_own_counts():
    """The declarations of upstream's plugin about its filter do not hold for a subclass's own filter: its
    answers are not cached."""
    profile = {"plugins": {"multiPoint": enabled(Maintained=1)}}
    engine = scheduler(node("a"), node("b"), plugins=(Maintained,), profile=profile)
    for closed in ("a", "b", "a"):
        Maintained.closed = {closed}
        assert engine.schedule(pod("p"), details=False).host == ({"a", "b"} - {closed}).pop()


def test_what_it_declares_itself_holds():
    """A subclass without methods of its own keeps all that is declared, and one that declares something
    itself keeps that."""
    same = type("Same", (TaintToleration,), {"name": "Same"})
    declared = type("Declared", (Maintained,), {"filter": Maintained.filter, "filter_reads": Reads.NODE})
    assert same.filter_reads is TaintToleration.filter_reads is not Plugin.filter_reads
    assert (Maintained.filter_reads, declared.filter_reads) == (Plugin.filter_reads, Reads.NODE)
    assert Maintained.score_reads is TaintToleration.score_reads


def test_it_says_itself_what_it_joins():
    """A plugin that does not join a point is not asked there, though it has the method."""
    scores = type("Scores", (Rack,), {"joined": classmethod(lambda cls: {"score"})})
    engine = scheduler(node("a"), node("b"), pod("there", on="a"), plugins=(scores,), profile=PROFILE)
    assert decided(engine, pod("p")).priorities["Rack"] == {"a": 0, "b": 100}


def test_each_plugin_says_whom_it_concerns():
    """Attributes that a plugin sets when it is constructed count like those of its class."""

    class Choosy(Rack):
        """A plugin that leaves out the pods of one app."""

        def __init__(self, args, handle):
            super().__init__(args, handle)
            self.concerns = lambda pod: pod.labels["app"] != args["app"]

    profile = {**PROFILE, "pluginConfig": [{"name": "Rack", "args": {"app": "free"}}]}
    engine = scheduler(node("a"), plugins=(Choosy,), profile=profile)
    assert decided(engine, pod("p", labels={"app": "free"})).host == "a"
    assert decided(engine, pod("q", labels={"app": "web"})).failed == {"a": ["node(s) stand in no rack"]}


def test_cells_is_a_name_like_any_other():
    """A plugin may have something of its own under a name that ours use."""
    own = type("Own", (Rack,), {"cells": property(lambda self: {"a": 1})})
    engine = scheduler(node("a", labels=R1), plugins=(own,), profile=PROFILE)
    assert decided(engine, pod("p")).host == "a"
