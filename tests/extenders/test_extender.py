"""The calls of an HTTP extender: what is sent, what replies mean, and the texts of errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import pytest

from kubeclassic.algorithmprovider.extenders import ExtenderConfig, ManagedResource
from kubeclassic.api.objects import Node, Pod
from kubeclassic.core.decision.preemptionplan import Victims
from kubeclassic.exceptions import ExtenderError
from kubeclassic.extenders.extender import Bodies, HttpExtender, binder_of, errorf
from kubeclassic.extenders.overhttp import PostReply
from kubeclassic.framework.releases import ALL_RELEASES, find_any_release
from tests.support.build import node, pod
from tests.support.refusals import refusal_text

URL = "http://x.test/sched//"
CLASSIC = ("1.12", "1.13", "1.14", "1.15", "1.16")


@attrs.define
class Scripted:
    """Answers every request alike, and notes them."""

    answer: Any = None
    status: int = 200
    calls: list[tuple[str, Any, float]] = attrs.field(factory=list)

    def __call__(self, url: str, body: bytes, timeout: float) -> PostReply:
        self.calls.append((url, json.loads(body), timeout))
        return PostReply(self.status, self.answer if isinstance(self.answer, bytes) else json.dumps(self.answer).encode())


def extender(post: Scripted, release: str = "1.16", **config: Any) -> HttpExtender:
    """An extender with all verbs."""
    verbs = {"filter_verb": "f", "prioritize_verb": "p", "preempt_verb": "e", "bind_verb": "b", "weight": 3}
    return HttpExtender(ExtenderConfig(URL, **{**verbs, **config}), find_any_release(release), post, Bodies())


NODES: Sequence[Node] = (node("a"), node("b"))


class TestFilter:
    def test_nodes_are_sent_and_known_again(self) -> None:
        """Without a cache nodes are sent; one that comes back unchanged is the same object, another is read from the reply."""
        post = Scripted()
        one = extender(post)
        sent = json.loads(one.bodies.node(NODES[0]).text)
        post.answer = {"Nodes": {"items": [sent, {"metadata": {"name": "b", "labels": {"new": "1"}}}]}, "FailedNodes": {"c": "no"}}
        found = one.filter(pod("web"), NODES)
        assert found.nodes is not None
        assert found.nodes[0] is NODES[0]
        assert (found.nodes[1].labels, found.failed) == ({"new": "1"}, {"c": "no"})
        (url, body, timeout) = post.calls[0]
        assert (url, timeout, list(body), body["NodeNames"]) == ("http://x.test/sched/f", 5.0, ["Pod", "Nodes", "NodeNames"], None)

    def test_names_are_sent(self) -> None:
        """With a cache names are sent, and names come back."""
        post = Scripted({"NodeNames": ["b"]})
        found = extender(post, node_cache_capable=True).filter(pod("web"), NODES)
        assert (found.nodes, found.names) == (None, ["b"])
        assert (post.calls[0][1]["Nodes"], post.calls[0][1]["NodeNames"]) == (None, ["a", "b"])

    @pytest.mark.parametrize("answer", [{"NodeNames": ["a"]}, {}, None])
    def test_no_nodes_are_left(self, answer: Any) -> None:
        """Names to one without a cache, and a reply without nodes, leave none."""
        found = extender(Scripted(answer)).filter(pod("web"), NODES)
        assert (found.nodes, list(found.names)) == (None, [])

    def test_without_a_verb_nothing_is_sent(self) -> None:
        """An extender without filterVerb keeps all nodes, and one without prioritizeVerb gives no scores."""
        post = Scripted()
        one = extender(post, filter_verb="", prioritize_verb="")
        assert (one.filter(pod("web"), NODES).nodes, one.prioritize(pod("web"), NODES), post.calls) == (NODES, {}, [])

    @pytest.mark.parametrize("release", ALL_RELEASES)
    def test_a_status(self, release: str) -> None:
        """Any status but 200 is an error, in the words of the release."""
        text = refusal_text(ExtenderError, lambda: extender(Scripted(status=201), release).filter(pod("web"), NODES))
        word = "Failed" if release in CLASSIC else "failed"
        assert text == f"{word} f with extender at URL http://x.test/sched/f, code 201"

    @pytest.mark.parametrize("ask", [lambda one: one.filter(pod("web"), NODES), lambda one: one.bind(pod("web"), "a")])
    def test_an_error_of_its_own(self, ask: Callable[[HttpExtender], Any]) -> None:
        """The reply's Error is the text, which Go takes for a format."""
        with pytest.raises(ExtenderError, match=r"^90%!f\(MISSING\)ull$"):
            ask(extender(Scripted({"Error": "90%full"})))

    def test_unresolvable_nodes(self) -> None:
        """Only the framework reads the nodes where removing pods does not help."""
        answer = {"FailedAndUnresolvableNodes": {"a": "never"}}
        assert extender(Scripted(answer), "1.27").filter(pod("web"), NODES).unresolvable == {"a": "never"}
        assert extender(Scripted(answer), "1.16").filter(pod("web"), NODES).unresolvable == {}


class TestPrioritize:
    def test_scores_times_weight(self) -> None:
        """Each entry of the reply counts, a node that is named twice gets both."""
        post = Scripted([{"Host": "a", "Score": 2}, {"host": "a", "score": 1}, {"Host": "zz", "Score": 4}, {}])
        assert extender(post).prioritize(pod("web"), NODES) == {"a": 9, "zz": 12, "": 0}


THERE = {"a": [pod("v1", on="a"), pod("v2", on="a")], "b": [pod("v3", on="b")]}
CANDIDATES = {"b": Victims([], 0), "a": Victims(THERE["a"], 1)}
NOT_FOUND = f"extender: {URL} claims to preempt pod (UID: &{{x}}) on node: a, but the pod is not found on that node"


class TestPreempt:
    def test_what_is_sent(self) -> None:
        """Nodes are in order of name; no victims are a null, or an empty list where an extender left none."""
        post = Scripted({})
        extender(post).process_preemption(pod("web"), {**CANDIDATES, "c": Victims([], 0, chosen_by="other")}, THERE.get)
        sent = post.calls[0][1]["NodeNameToVictims"]
        assert [(name, found["Pods"] and len(found["Pods"]), found["NumPDBViolations"]) for name, found in sent.items()] == [
            ("a", 2, 1), ("b", None, 0), ("c", [], 0),
        ]  # fmt: skip

    @pytest.mark.parametrize(("release", "violations"), [("1.16", 0), ("1.27", 1)])
    def test_names_and_uids(self, release: str, violations: int) -> None:
        """With a cache UIDs are sent; the framework sends and reads the number of violations, other releases take it for 0."""
        post = Scripted({"NodeNameToMetaVictims": {"b": {"Pods": [{"UID": "default/v3"}], "NumPDBViolations": 7}, "a": {}}})
        one = extender(post, release, node_cache_capable=True)
        found = one.process_preemption(pod("web"), CANDIDATES, THERE.get)
        sent = post.calls[0][1]["NodeNameToMetaVictims"]
        assert sent["a"] == {"Pods": [{"UID": "default/v1"}, {"UID": "default/v2"}], "NumPDBViolations": violations}
        assert [(name, [p.name for p in v.pods], v.violations, v.chosen_by) for name, v in found.items()] == [
            ("a", [], 0, URL), ("b", ["v3"], 7 * violations, URL),
        ]  # fmt: skip

    @pytest.mark.parametrize(
        ("release", "chosen", "text"),
        [
            ("1.16", {"a": ["x"]}, NOT_FOUND),
            ("1.16", {"zz": []}, f"extender: {URL} claims to preempt on node: zz but the node is not found in nodeNameToInfo map"),
            ("1.27", {"zz": []}, 'nodeinfo not found for node name "zz"'),
        ],
    )
    def test_what_it_may_not_name(self, release: str, chosen: dict[str, list[str]], text: str) -> None:
        """A pod or node that is not there is an error."""
        reply = {name: {"Pods": [{"UID": uid} for uid in uids]} for name, uids in chosen.items()}
        with pytest.raises(ExtenderError) as failed:
            extender(Scripted({"NodeNameToMetaVictims": reply}), release).process_preemption(pod("web"), CANDIDATES, THERE.get)
        assert str(failed.value) == text


class TestBind:
    def test_what_is_sent(self) -> None:
        """The pod's name, namespace and UID, and the node."""
        post = Scripted({"Error": ""})
        extender(post).bind(pod("web"), "a")
        assert post.calls == [
            ("http://x.test/sched/b", {"PodName": "web", "PodNamespace": "default", "PodUID": "default/web", "Node": "a"}, 5.0)
        ]

    def test_who_binds(self) -> None:
        """The first extender that has the verb and is interested in the pod."""
        others = ExtenderConfig(URL, bind_verb="b", managed_resources=(ManagedResource("a.b/c"),))
        release, bodies = find_any_release("1.16"), Bodies()
        managing, every = HttpExtender(others, release, Scripted(), bodies), extender(Scripted())
        assert binder_of([extender(Scripted(), bind_verb=""), managing, every], pod("web")) is every
        assert binder_of([managing], pod("web")) is None


@pytest.mark.parametrize(
    ("requests", "limits", "asked"), [({}, {}, False), ({"a.b/c": "1"}, {}, True), ({}, {"a.b/c": "1"}, True), ({"cpu": "1"}, {}, False)]
)
@pytest.mark.parametrize("place", ["containers", "initContainers"])
def test_whom_it_is_interested_in(place: str, requests: dict[str, str], limits: dict[str, str], asked: bool) -> None:
    """With managed resources in pods with a container or init container that requests or limits one."""
    from kubeclassic.api.reading.decode import decode

    containers = {place: [{"name": "c", "resources": {"requests": requests, "limits": limits}}]}
    found = decode({"kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [{"name": "d"}], **containers}})
    assert isinstance(found, Pod)
    assert extender(Scripted(), managed_resources=(ManagedResource("a.b/c"),)).is_interested(found) is asked
    assert extender(Scripted()).is_interested(found)


@pytest.mark.parametrize(
    ("text", "wanted"), [("plain", "plain"), ("%", "%!(NOVERB)"), ("%d of %-5s", "%!d(MISSING) of %!s(MISSING)"), ("%%", "%")]
)
def test_texts_are_formats(text: str, wanted: str) -> None:
    """Go writes a format without arguments with what is missing."""
    assert errorf(text) == wanted
