"""The calls of an HTTP extender: what is sent, what replies mean, and the texts of errors."""

import json

import attrs
import pytest

from kubeclassic.algorithmprovider.extenders import ExtenderConfig, ManagedResource
from kubeclassic.api.objects import Pod
from kubeclassic.core.decision.preemptionplan import Victims
from kubeclassic.exceptions import ExtenderError
from kubeclassic.extenders.extender import Bodies, HttpExtender, errorf
from kubeclassic.extenders.overhttp import PostReply
from kubeclassic.framework.releases import ALL_RELEASES, find_any_release
from tests.support.build import node, pod
from tests.support.refusals import refusal_text

URL = "http://x.test/sched//"
SHOUTING = tuple(ALL_RELEASES)[: list(ALL_RELEASES).index("1.20")]
"""Releases whose text for a status begins with a capital."""


@attrs.define
class Scripted:
    """Answers every request alike, and notes them."""

    answer: object = None
    status: int = 200
    calls: list = attrs.field(factory=list)

    def __call__(self, url, body, timeout):
        self.calls.append((url, json.loads(body), timeout))
        return PostReply(
            self.status, self.answer if isinstance(self.answer, bytes) else json.dumps(self.answer).encode()
        )


def extender(post, release="1.16", **config):
    """An extender with all verbs."""
    verbs = {"filter_verb": "f", "prioritize_verb": "p", "preempt_verb": "e", "bind_verb": "b", "weight": 3}
    return HttpExtender(ExtenderConfig(URL, **{**verbs, **config}), find_any_release(release), post, Bodies())


NODES = (node("a"), node("b"))


def test_a_timeout_that_ends_no_call():
    """A call takes as long as its timeout says, and without end where that is negative."""
    post = Scripted()
    for timeout in (2.0, -1.0):
        extender(post, timeout=timeout).filter(Pod(), NODES)
    assert [given for *_, given in post.calls] == [2.0, 86400.0]


# --- Filter -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", ALL_RELEASES)
def test_a_status(release):
    """Any status but 200 is an error, in the words of the release."""
    text = refusal_text(
        ExtenderError, lambda: extender(Scripted(status=201), release).filter(pod("web"), NODES)
    )
    word = "Failed" if release in SHOUTING else "failed"
    assert text == f"{word} f with extender at URL http://x.test/sched/f, code 201"


@pytest.mark.parametrize("release, text", [("1.29", "90%!f(MISSING)ull"), ("1.30", "90%full")])
@pytest.mark.parametrize(
    "ask", [lambda one: one.filter(pod("web"), NODES), lambda one: one.bind(pod("web"), "a")]
)
def test_an_error_of_its_own(ask, release, text):
    """The reply's Error is the text, which up to 1.29 is a format."""
    found = refusal_text(ExtenderError, lambda: ask(extender(Scripted({"Error": "90%full"}), release)))
    assert found == text


@pytest.mark.parametrize("release, reasons", [("1.20", {}), ("1.21", {"a": "never"})])
def test_where_removing_pods_does_not_help(release, reasons):
    """An extender can say that from 1.21 on."""
    post = Scripted({"NodeNames": [], "FailedAndUnresolvableNodes": {"a": "never"}})
    assert extender(post, release).filter(pod("web"), NODES).unresolvable == reasons


@pytest.mark.parametrize("body, text", [(b'{"NodeNames": ["a"]}', None), (b'{"NodeNames": ["a"', "gone")])
def test_a_body_that_breaks_off(body, text):
    """A body that breaks off counts if the answer was complete by then."""
    one = extender(lambda url, sent, timeout: PostReply(200, body, "gone"), node_cache_capable=True)
    if text is None:
        assert one.filter(pod("web"), NODES).names == ["a"]
    else:
        assert refusal_text(ExtenderError, lambda: one.filter(pod("web"), NODES)) == text


def test_scores_times_weight():
    """Each entry of the reply counts, a node that is named twice gets both."""
    post = Scripted([{"Host": "a", "Score": 2}, {"host": "a", "score": 1}, {"Host": "zz", "Score": 4}, {}])
    assert extender(post).prioritize(pod("web"), NODES) == {"a": 9, "zz": 12, "": 0}


THERE = {"a": [pod("v1", on="a"), pod("v2", on="a")], "b": [pod("v3", on="b")]}
CANDIDATES = {"b": Victims([], 0), "a": Victims(THERE["a"], 1)}
NOT_FOUND = (
    f"extender: {URL} claims to preempt pod (UID: &{{x}}) on node: a, but the pod is not found on that node"
)


@pytest.mark.parametrize(
    "release, chosen, text",
    [
        ("1.16", {"a": ["x"]}, NOT_FOUND),
        (
            "1.16",
            {"zz": []},
            f"extender: {URL} claims to preempt on node: zz but the node is not found in nodeNameToInfo map",
        ),
        (
            "1.17",
            {"zz": []},
            f"extender: {URL} claims to preempt on node: zz but the node is not found in nodeNameToInfo map",
        ),
        ("1.18", {"zz": []}, 'nodeinfo not found for node name "zz"'),
        ("1.27", {"zz": []}, 'nodeinfo not found for node name "zz"'),
    ],
)
def test_what_it_may_not_name(release, chosen, text):
    """A pod or node that is not there is an error."""
    reply = {name: {"Pods": [{"UID": uid} for uid in uids]} for name, uids in chosen.items()}
    with pytest.raises(ExtenderError) as failed:
        extender(Scripted({"NodeNameToMetaVictims": reply}), release).process_preemption(
            pod("web"), CANDIDATES, THERE.get
        )
    assert str(failed.value) == text


@pytest.mark.parametrize("release, sent, read", [("1.23", 0, 0), ("1.24", 1, 3)])
def test_how_many_a_budget_protects(release, sent, read):
    """An extender that is sent names is told so from 1.24 on, and what it says counts."""
    post = Scripted({"NodeNameToMetaVictims": {"a": {"Pods": [{"UID": "v1"}], "NumPDBViolations": 3}}})
    asked = extender(post, release, node_cache_capable=True)
    there = {"a": [pod("v1", on="a", uid="v1")]}
    found = asked.process_preemption(pod("web"), {"a": Victims(there["a"], 1)}, there.get)
    ((_, body, _),) = post.calls
    assert body["NodeNameToMetaVictims"]["a"]["NumPDBViolations"] == sent
    assert found["a"].violations == read


@pytest.mark.parametrize(
    "requests, limits, asked",
    [({}, {}, False), ({"a.b/c": "1"}, {}, True), ({}, {"a.b/c": "1"}, True), ({"cpu": "1"}, {}, False)],
)
@pytest.mark.parametrize("place", ["containers", "initContainers"])
def test_whom_it_is_interested_in(place, requests, limits, asked):
    """With managed resources in pods with a container or init container that requests or limits one."""
    from kubeclassic.api.reading.decode import decode

    containers = {place: [{"name": "c", "resources": {"requests": requests, "limits": limits}}]}
    found = decode(
        {"kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [{"name": "d"}], **containers}}
    )
    assert isinstance(found, Pod)
    assert extender(Scripted(), managed_resources=(ManagedResource("a.b/c"),)).is_interested(found) is asked
    assert extender(Scripted()).is_interested(found)


@pytest.mark.parametrize(
    "text, wanted",
    [("plain", "plain"), ("%", "%!(NOVERB)"), ("%d of %-5s", "%!d(MISSING) of %!s(MISSING)"), ("%%", "%")],
)
def test_texts_are_formats(text, wanted):
    """Go writes a format without arguments with what is missing."""
    assert errorf(text) == wanted


def test_the_whole_reply_is_read():
    """A node that cannot be read is an error, even where names count in place of nodes."""
    reply = {"NodeNames": ["a"], "Nodes": {"items": [{"metadata": {"name": 1}}]}}
    with pytest.raises(ExtenderError, match=r"metadata\.name"):
        extender(Scripted(reply), node_cache_capable=True).filter(Pod(), NODES)
