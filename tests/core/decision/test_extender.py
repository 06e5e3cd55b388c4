"""Extenders in a cycle: the names that a filter returns are checked before they are used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs
import pytest

from kubeclassic.api.objects import KubeObject, Node, Pod
from kubeclassic.core.decision.decision import Decision
from kubeclassic.core.decision.extender import FilterReply, PodsOn
from kubeclassic.core.decision.plan import Victims
from kubeclassic.core.engine import Engine
from kubeclassic.core.feed import Feed
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

    def is_interested(self, pod: Pod) -> bool:
        return True

    def filter(self, pod: Pod, nodes: Sequence[Node]) -> FilterReply:
        self.sent.append([node.name for node in nodes])
        left = [node.name for node in nodes if node.name not in self.drops]
        return FilterReply([*left, *self.adds], failed={name: text for name, text in self.drops.items() if name in self.sent[-1]})

    def prioritize(self, pod: Pod, nodes: Sequence[Node]) -> dict[str, int]:
        return {}

    def process_preemption(self, pod: Pod, candidates: Mapping[str, Victims], pods_on: PodsOn) -> dict[str, Victims]:
        return dict(candidates)


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
        Feed(engine).delete(node("gone"))
        engine.extenders = [Scripted(adds=("gone",))]
        assert engine.schedule(pod("new")).feasible == ["a", "b", "gone"]


def test_reasons_are_counted() -> None:
    """The FitError has the reasons of extenders beside those of predicates."""
    found = decided("1.16", Scripted(drops={"a": "not here", "b": "not here"}))
    assert found.error == "0/3 nodes are available: 1 Insufficient pods, 2 not here."
