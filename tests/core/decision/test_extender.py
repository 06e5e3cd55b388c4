"""Extenders in a cycle: the names that a filter returns are checked before they are used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Barrier

import attrs
import pytest

from kubeclassic.algorithmprovider import RELEASES, resolve
from kubeclassic.api.objects import KubeObject, Node, ObjectMeta, Pod
from kubeclassic.api.record import UNSET
from kubeclassic.core.classic import classic_engine
from kubeclassic.core.decision.decision import Decision
from kubeclassic.core.decision.extender import FilterReply, PodsOn
from kubeclassic.core.decision.preemptionplan import Victims
from kubeclassic.core.engine import Engine
from kubeclassic.core.feed import EventFeed
from kubeclassic.exceptions import ExtenderError
from tests.support import build
from tests.support.build import node, pod
from tests.support.frameworkbuild import scheduler

CLASSIC = ("1.12", "1.13", "1.14", "1.15", "1.16")
FRAMEWORK = "1.27"
URL = "http://extender-0.test:80/sched/"
UNKNOWN = f'extender "{URL}" claims a filtered node "node-x" which is not found in nodeNameToInfo map'


@attrs.define
class Scripted:
    """An extender that drops some nodes, adds others, and records which nodes it was sent."""

    adds: tuple[str, ...] = ()
    drops: Mapping[str, str] = attrs.field(factory=dict)
    is_ignorable: bool = False
    url: str = URL
    supports_preemption: bool = False
    sent: list[list[str]] = attrs.field(factory=list)
    labels: list[Mapping[str, str]] = attrs.field(factory=list)
    """Of all nodes that it was sent, one call after the other."""
    describes: bool = False
    """It answers with objects that have a name alone."""
    scores: Mapping[str, int] = attrs.field(factory=dict)
    fails: bool = False
    """Its scoring fails."""
    meets: Barrier | None = None
    """Whom it waits for when it scores."""
    spares: tuple[str, ...] = ()
    """Nodes on which it leaves no victims."""
    only: str = ""
    """The pod that it is interested in; else all."""

    def is_interested(self, pod: Pod) -> bool:
        return pod.name == self.only or not self.only

    def filter(self, pod: Pod, nodes: Sequence[Node]) -> FilterReply:
        self.sent.append([node.name for node in nodes])
        self.labels += [node.labels for node in nodes]
        if self.describes:
            return FilterReply(nodes=[Node(metadata=ObjectMeta(name=node.name)) for node in nodes])
        left = [node.name for node in nodes if node.name not in self.drops]
        return FilterReply([*left, *self.adds], failed={name: text for name, text in self.drops.items() if name in self.sent[-1]})

    def prioritize(self, pod: Pod, nodes: Sequence[Node]) -> Mapping[str, int]:
        self.labels += [node.labels for node in nodes]
        if self.meets is not None:
            self.meets.wait()
        if self.fails:
            raise ExtenderError("no")
        return self.scores

    def process_preemption(self, pod: Pod, candidates: Mapping[str, Victims], pods_on: PodsOn) -> dict[str, Victims]:
        return {name: Victims([] if name in self.spares else victims.pods, 0) for name, victims in candidates.items()}


def decided(release: str, *extenders: Scripted, objects: Sequence[KubeObject] = ()) -> Decision:
    """What a scheduler of *release* with *extenders* decides on a plain pod; without *objects* there are the nodes a, b and a full one."""
    there = objects or (node("a"), node("b"), node("full", pods="0"))
    engine: Engine
    if release == FRAMEWORK:
        engine = scheduler(*there, extenders=extenders)
    else:
        engine = build.engine(*there, release=release)
        engine.extenders = extenders
    return engine.schedule(pod("new"))


class TestUnknownNodes:
    @pytest.mark.parametrize("release", CLASSIC)
    def test_a_node_that_is_not_there_is_an_error(self, release: str) -> None:
        """A name without a node ends the cycle with upstream's text; it is no FitError."""
        found = decided(release, Scripted(adds=("node-x",)))
        assert (found.host, found.error, found.is_fit_error) == (None, UNKNOWN, False)

    def test_the_framework_has_a_text_of_its_own(self) -> None:
        """The framework's text says that the name is not in the list that was sent."""
        found = decided(FRAMEWORK, Scripted(adds=("node-x",)))
        assert found.error == f'extender "{URL}" claims a filtered node "node-x" which is not found in the input node list'

    @pytest.mark.parametrize("release", [*CLASSIC, FRAMEWORK])
    def test_an_ignorable_extender_is_passed_over(self, release: str) -> None:
        """If an ignorable extender returns such a node its whole answer is ignored."""
        found = decided(release, Scripted(adds=("node-x",), drops={"a": "no"}, is_ignorable=True))
        assert found.feasible == ["a", "b"]

    @pytest.mark.parametrize("release", CLASSIC)
    def test_a_node_without_object_is_unknown(self, release: str) -> None:
        """A row that exists only because of a pod on an unknown node is no node."""
        orphan = pod("orphan", on="node-x")
        assert decided(release, Scripted(adds=("node-x",)), objects=(node("a"), node("b"), orphan)).error == UNKNOWN


class TestNodesThatFailed:
    @pytest.mark.parametrize("release", CLASSIC)
    def test_a_filter_may_bring_them_back(self, release: str) -> None:
        """A node that the predicates rejected is feasible again, and is sent to the next extender."""
        second = Scripted()
        found = decided(release, Scripted(adds=("full",), drops={"a": "no"}), second)
        assert found.feasible == ["b", "full"]
        assert second.sent == [["b", "full"]]

    def test_the_framework_refuses_them(self) -> None:
        """In the framework a filter may only name nodes that it was sent."""
        assert '"full" which is not found in the input node list' in (decided(FRAMEWORK, Scripted(adds=("full",))).error or "")

    def test_the_framework_looks_at_what_this_extender_was_sent(self) -> None:
        """The next extender may not return a node that the previous one dropped."""
        found = decided(FRAMEWORK, Scripted(drops={"a": "no"}), Scripted(adds=("a",)))
        assert '"a" which is not found' in (found.error or "")

    def test_a_deleted_node_with_pods_is_still_in_the_snapshot(self) -> None:
        """From 1.14 on the snapshot keeps a deleted node as long as pods remain on it, so a filter may name it."""
        engine = build.engine(node("a"), node("b"), node("gone"), pod("left", on="gone"), release="1.16")
        engine.schedule(pod("first"))
        EventFeed(engine).delete(node("gone"))
        engine.extenders = [Scripted(adds=("gone",))]
        assert engine.schedule(pod("new")).feasible == ["a", "b", "gone"]


def test_reasons_are_counted() -> None:
    """The FitError has the reasons of extenders beside those of predicates."""
    found = decided("1.16", Scripted(drops={"a": "not here", "b": "not here"}))
    assert found.error == "0/3 nodes are available: 1 Insufficient pods, 2 not here."


class TestNodesThatAreDescribed:
    """A filter that answers with objects: these count as they are."""

    def test_a_node_may_be_named_twice(self) -> None:
        """A node that is named twice is twice feasible."""
        assert decided("1.16", Scripted(adds=("a",))).feasible == ["a", "b", "a"]

    def test_labels_of_the_reply_count(self) -> None:
        """Inter-pod affinity looks for its domains on the objects of the reply."""
        there = node("a", labels={"zone": "1"}), node("b", labels={"zone": "2"}), pod("db", on="b", labels={"app": "db"})
        terms = [{"weight": 9, "podAffinityTerm": {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "db"}}}}]
        web = pod("web", affinity={"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}})
        found = {}
        for describes in (False, True):
            engine = build.engine(*there, release="1.16")
            engine.extenders = [Scripted(describes=describes)]
            found[describes] = engine.schedule(web).priorities["InterPodAffinityPriority"]
        assert found == {False: {"a": 0, "b": 10}, True: {"a": 0, "b": 0}}

    @pytest.mark.parametrize("release", [*CLASSIC, FRAMEWORK])
    def test_the_next_extender_sees_them(self, release: str) -> None:
        """What one extender described is sent to the next, and to all that score."""
        second = Scripted()
        decided(release, Scripted(describes=True), second)
        assert second.labels == [{}, {}, {}, {}]


class TestScores:
    def test_all_are_asked_at_once(self) -> None:
        """Several extenders score at the same time, and their scores add up."""
        meeting = Barrier(2, timeout=60)
        found = decided("1.16", *(Scripted(meets=meeting, scores={"b": 5}) for _ in range(2)))
        assert found.scores["b"] - found.scores["a"] == 10

    @pytest.mark.parametrize(("release", "scale"), [("1.16", 1), (FRAMEWORK, 10)])
    def test_errors_are_passed_over(self, release: str, scale: int) -> None:
        """One that fails scores nothing, whether it may be ignored or not; the others count."""
        found = decided(release, Scripted(scores={"zz": 1}, fails=True), Scripted(scores={"a": 3}))
        assert found.scores["a"] - found.scores["b"] == 3 * scale


class TestPreemption:
    ROOM = (node("a", pods="1"), node("b", pods="1"), pod("low-a", on="a"), pod("low-b", on="b"))

    def decided(self, release: str, *extenders: Scripted) -> Decision:
        """What is decided on a pod that fits nowhere."""
        engine = build.engine(*self.ROOM, release=release) if release != FRAMEWORK else scheduler(*self.ROOM)
        engine.extenders = extenders
        return engine.schedule(pod("high", priority=5))

    @pytest.mark.parametrize(("release", "node_name", "error"), [("1.16", "a", None), (FRAMEWORK, None, 'victim pod on node "a"')])
    def test_nodes_without_victims(self, release: str, node_name: str | None, error: str | None) -> None:
        """Up to 1.16 a node that an extender leaves without victims is taken; in the framework it is an error."""
        plan = self.decided(release, Scripted(supports_preemption=True, spares=("a",))).preemption
        assert plan is not None
        assert plan.node == node_name
        assert (error or "") in (plan.error or "")
        assert (plan.record().error is not UNSET) == (error is not None)

    def test_an_ignorable_one_loses_such_nodes(self) -> None:
        """In the framework such a node is left out if the extender may be ignored."""
        plan = self.decided(FRAMEWORK, Scripted(supports_preemption=True, spares=("a",), is_ignorable=True)).preemption
        assert plan is not None
        assert (plan.node, list(plan.candidates)) == ("b", ["b"])


class TestWhoIsAsked:
    def test_the_framework_asks_about_the_nominated_node_first(self) -> None:
        """A nominated node is filtered alone; if the extender rejects it, all nodes are, and it has the reason twice."""
        one = Scripted(drops={"a": "no"})
        engine = scheduler(node("a"), node("b"), extenders=[one])
        found = engine.schedule(pod("new", status={"nominatedNodeName": "a"}))
        assert (one.sent, found.host, found.failed) == ([["a"], ["a", "b"]], "b", {"a": ["no", "no"]})

    @pytest.mark.parametrize("release", ["1.16", FRAMEWORK])
    def test_pods_of_no_interest_take_the_quick_path(self, release: str) -> None:
        """A decision is read off a board unless an extender is asked about the pod."""
        there, extenders = (node("a"), node("b")), [Scripted(only="special")]
        if release == FRAMEWORK:
            engine = scheduler(*there, extenders=extenders)
        else:
            engine = classic_engine(resolve(RELEASES[release], percentage=100), extenders=extenders)
            for item in there:
                EventFeed(engine).put(item)
        taken = [(engine.schedule(pod(name), details=False), engine.flow.detours()[0])[1] for name in ("plain", "special", "other")]
        assert taken == [1, 1, 2]
