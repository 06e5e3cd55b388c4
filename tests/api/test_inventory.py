"""Pods that wait, and how they are found by name. (What files come to: tests/simulation/test_scenario.py.)"""

import pytest
import yaml

from kubeclassic.api.load import Loaded, find_waiting, take_in
from kubeclassic.api.objects import KINDS, Node, why_not_waiting
from kubeclassic.api.words import SHORT, kind_of
from kubeclassic.exceptions import UnknownNameError, WrongTypeError
from tests.support.build import manifest, node, pod
from tests.support.refusals import refusal_text


@pytest.mark.parametrize(
    "options, why",
    [
        ("{}", None),
        ("schedulerName: default-scheduler", None),
        ("schedulerName: other", "for another scheduler"),
        ("'on': a", "on a node"),
        ("{'on': a, metadata: {deletionTimestamp: '2020-01-01T00:00:00Z'}}", "on a node"),
        ("metadata: {deletionTimestamp: '2020-01-01T00:00:00Z'}", "being deleted"),
        ("{'on': a, status: {phase: Succeeded}}", "finished"),
        ("status: {phase: Failed}", "finished"),
    ],
)
def test_why_not(options, why):
    """A pod waits unless it has finished, has a node, is being deleted, or asks for another scheduler."""
    assert why_not_waiting(pod("p", **yaml.safe_load(options)), "default-scheduler") == why


def test_whichever_scheduler():
    """Where no scheduler is named a pod waits whichever it asks for."""
    assert why_not_waiting(pod("p", schedulerName="other")) is None


# --- Finding ------------------------------------------------------------------------------------------------


PODS = (
    pod("web", namespace="shop"),
    pod("web", namespace="blog"),
    pod("db", namespace="shop"),
    pod("bound", on="a"),
)


@pytest.mark.parametrize("name", ["db", "shop/db"])
def test_by_name(name):
    """The name will do where only one namespace has it."""
    assert find_waiting(name, PODS).key == "shop/db"


@pytest.mark.parametrize(
    "name, message",
    [
        ("web", 'pod: expected one of shop/web, blog/web, got "web"'),
        ("bound", 'pod: expected a pod without a node, got "bound", which is on node a'),
        ("dbb", 'pod: expected a pod without a node, got "dbb"; did you mean "db"?'),
    ],
)
def test_refusals(name, message):
    """A name of several, of one that has a node, or of none, is refused in one line."""
    assert refusal_text(UnknownNameError, find_waiting, name, PODS) == message


def test_what_is_there_counts_for_workloads():
    """A DaemonSet makes a pod for each node that the cluster has already."""
    template = yaml.safe_load("{spec: {containers: [{name: c}]}}")
    daemon_set = manifest("DaemonSet", "logs", spec={"template": template})
    found = take_in([Loaded(raw={"DaemonSet": (daemon_set,)})], [node("a"), node("b")])
    assert [item.kind for item in found.objects] == ["Pod", "Pod"]


def test_what_is_given_twice_is_told():
    """Of two objects of one name the last counts, and a warning says so."""
    parts = [Loaded((node("a", cpu="1"), pod("p"))), Loaded((node("a", cpu="2"), pod("q")))]
    found = take_in(parts)
    assert [(item.kind, item.key) for item in found.objects] == [
        ("Node", "a"),
        ("Pod", "default/p"),
        ("Pod", "default/q"),
    ]
    assert list(map(str, found.warnings)) == ["Node a: was given before, the last one counts"]


# --- The words for kinds, as kubectl takes them -------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_known_by_its_names(kind):
    """Each kind is known by itself in any case, and by its class."""
    assert kind_of(kind) is kind_of(kind.upper()) is kind_of(KINDS[kind]) is KINDS[kind]


@pytest.mark.parametrize(
    "word, kind", [*SHORT.items(), ("storageclasses.storage.k8s.io", "StorageClass"), ("services", "Service")]
)
def test_plurals_and_short_names(word, kind):
    """Plurals and kubectl's short names are known too, also with the API group behind."""
    assert kind_of(word) is KINDS[kind]


def test_other_words():
    """An unknown word is refused with near ones, anything else with what is wanted."""
    with pytest.raises(
        UnknownNameError,
        match=r'^kind: expected one such as pod, node or pvc, got "nodse"; did you mean "node"',
    ):
        kind_of("nodse")
    with pytest.raises(WrongTypeError, match=r"^kind: expected a class such as Pod, .*, got 7 \(int\)"):
        kind_of(7)
    assert kind_of(Node) is Node
