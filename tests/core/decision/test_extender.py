"""Extenders in a cycle: the names that a filter returns are checked before they are used."""

from __future__ import annotations

from threading import Barrier

import attrs
import pytest
import yaml

from kubeclassic.algorithmprovider import RELEASES, resolve
from kubeclassic.api.objects import Node, ObjectMeta
from kubeclassic.core.classic import classic_engine
from kubeclassic.core.decision.extender import FilterReply
from kubeclassic.core.run import EventFeed
from kubeclassic.exceptions import ExtenderError
from kubeclassic.simulation.conform import engine_for
from tests.support import build
from tests.support.build import node, pod
from tests.support.frameworkbuild import scheduler

CLASSIC = ("1.12", "1.13", "1.14", "1.15", "1.16")
FRAMEWORK = "1.27"
URL = "http://extender-0.test:80/sched/"
UNKNOWN = f'extender "{URL}" claims a filtered node "node-x" which is not found in nodeNameToInfo map'


@attrs.define
class Scripted:
    """An extender that adds nodes, or answers with nodes of its own description, and scores them."""

    adds: tuple = ()
    is_ignorable: bool = False
    url: str = URL
    supports_preemption: bool = False
    labels: list = attrs.field(factory=list)
    """The labels of all nodes that the extender was sent, call by call."""
    describes: bool = False
    """Whether it answers with objects that have only a name."""
    scores: dict = attrs.field(factory=dict)
    meets: Barrier = None
    """The barrier at which it waits when it scores."""
    only: str = ""
    """The pod that it is interested in; else all."""

    def is_interested(self, pod):
        return pod.name == self.only or not self.only

    def filter(self, pod, nodes):
        self.labels += [node.labels for node in nodes]
        if self.describes:
            return FilterReply(nodes=[Node(metadata=ObjectMeta(name=node.name)) for node in nodes])
        return FilterReply([*(node.name for node in nodes), *self.adds])

    def prioritize(self, pod, nodes):
        self.labels += [node.labels for node in nodes]
        if self.meets is not None:
            self.meets.wait()
        return self.scores

    def process_preemption(self, pod, candidates, pods_on):
        return dict(candidates)


@attrs.define
class Rejecting(Scripted):
    """An extender that leaves no node, and says *why*."""

    why: dict = attrs.field(factory=dict)
    never: dict = attrs.field(factory=dict)
    leaves: tuple = ()

    def filter(self, pod, nodes):
        return FilterReply(self.leaves, failed=self.why, unresolvable=self.never)


@attrs.define
class FailingOnce(Scripted):
    """An extender whose first call fails."""

    has_failed: bool = False

    def filter(self, pod, nodes):
        if not self.has_failed:
            self.has_failed = True
            raise ExtenderError("gone")
        return FilterReply([node.name for node in nodes])


@attrs.define
class SendingBack(Scripted):
    """An extender that answers with the very nodes that it was sent."""

    def filter(self, pod, nodes):
        return FilterReply(nodes=list(nodes))


def decided(release, *extenders):
    """The decision of a scheduler of *release* with *extenders* on a plain pod; without *objects* there are
    nodes a, b and a full one."""
    there = (node("a"), node("b"), node("full", pods="0"))
    if release == FRAMEWORK:
        engine = scheduler(*there, extenders=extenders)
    else:
        engine = build.engine(*there, release=release)
        engine.extenders = extenders
    return engine.schedule(pod("new"))


@pytest.mark.parametrize("release", CLASSIC)
def test_a_node_that_is_not_there_is_an_error(release):
    """A name without a node ends the cycle with upstream's text; it is no FitError."""
    found = decided(release, Scripted(adds=("node-x",)))
    assert (found.host, found.error, found.is_fit_error) == (None, UNKNOWN, False)


def test_the_framework_has_a_text_of_its_own():
    """The framework's text says that the name is not in the list that was sent."""
    found = decided(FRAMEWORK, Scripted(adds=("node-x",)))
    assert (
        found.error
        == f'extender "{URL}" claims a filtered node "node-x" which is not found in the input node list'
    )


@pytest.mark.parametrize("release, adds", [("1.17", True), ("1.18", False)])
def test_a_node_that_has_failed(release, adds):
    """Up to 1.17 an extender may bring back a node that has failed."""
    engine = engine_for(release, {})
    for item in (node("a"), node("full", pods="0")):
        EventFeed(engine).put(item)
    engine.extenders = [Scripted(adds=("full",), scores={"full": 1 << 30})]
    assert (engine.schedule(pod("new")).host == "full") is adds


@pytest.mark.parametrize(
    "release, why, text",
    [
        ("1.25", {}, "0/1 nodes are available: ."),
        ("1.26", {}, "0/1 nodes are available:"),
        ("1.31", {"full": "odd"}, "0/2 nodes are available: 1 Too many pods, 1 odd."),
        ("1.32", {"full": "odd"}, "0/2 nodes are available: 1 odd."),
    ],
)
def test_reasons_of_extenders_in_the_error(release, why, text):
    """Without any reason there may be a full stop; from 1.32 on the reason of an extender is a node's only
    one."""
    engine = engine_for(release, {"preemption": False})
    for item in (node("a"), *(node(name, pods="0") for name in why)):
        EventFeed(engine).put(item)
    engine.extenders = [Rejecting(why=why)]
    assert engine.schedule(pod("new")).error == text


@pytest.mark.parametrize(
    "release, is_named", [("1.25", False), ("1.26", True), ("1.28", True), ("1.29", False), ("1.30", True)]
)
def test_extenders_as_a_plugin(release, is_named):
    """A pod that extenders keep from a node waits for what they wait for, in some releases."""
    engine = engine_for(release, {"preemption": False})
    for item in (node("a"), node("full", pods="0")):
        EventFeed(engine).put(item)
    engine.extenders = [Rejecting(why={"a": "odd"})]
    assert engine.schedule(pod("new")).plugins == {"NodeResourcesFit", *(["Extender"] if is_named else ())}


@pytest.mark.parametrize("release, is_tried", [("1.31", False), ("1.32", True)])
def test_the_last_says_whether_removing_pods_helps(release, is_tried):
    """From 1.32 on it is the last extender that rejects a node that says so, else any one."""
    engine = engine_for(release, {})
    for item in (node("a", cpu="1"), pod("low", on="a", cpu="1m", priority=0)):
        EventFeed(engine).put(item)
    engine.extenders = [Rejecting(never={"a": "never"}, leaves=("a",)), Rejecting(why={"a": "full"})]
    found = engine.schedule(pod("high", cpu="1m", priority=9))
    assert ("Preemption is not helpful" not in found.error) is is_tried


@pytest.mark.parametrize(
    "release, rule, most, counts",
    [
        ("1.16", "InterPodAffinityPriority", 10, True),
        ("1.32", "InterPodAffinity", 100, False),
        ("1.33", "InterPodAffinity", 100, True),
    ],
)
def test_labels_of_the_reply_count(release, rule, most, counts):
    """Inter-pod affinity looks for its domains on the objects of the reply, up to 1.16 and from 1.33 on."""
    there = (node("a", labels={"zone": "1"}), node("b", labels={"zone": "2"}), pod("db", on="b", app="db"))
    terms = yaml.safe_load("""
        - weight: 9
          podAffinityTerm:
            topologyKey: zone
            labelSelector:
              matchLabels: {app: db}
        """)
    web = pod("web", affinity={"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}})
    found = {}
    for describes in (False, True):
        engine = engine_for(release, {})
        for item in there:
            EventFeed(engine).put(item)
        engine.extenders = [Scripted(describes=describes)]
        found[describes] = engine.schedule(web).priorities[rule]
    assert found == {False: {"a": 0, "b": most}, True: {"a": 0, "b": 0 if counts else most}}


def test_nodes_that_are_asked_about():
    """The nodes that an extender returns are scored the same in an evaluation of nodes, in any order."""
    engine = engine_for("1.33", {})
    for item in (node("a"), node("b"), pod("there", on="a", cpu="1")):
        EventFeed(engine).put(item)
    engine.extenders = [SendingBack()]
    fits, totals = engine.evaluate_nodes(pod("new", cpu="1"), ["b", "a"])
    scores = engine.schedule(pod("new", cpu="1")).scores
    assert (fits.tolist(), totals.tolist()) == ([True, True], [scores["b"], scores["a"]])
    assert scores["a"] == scores["b"]


def test_what_is_said_of_nodes_before_an_error():
    """An error about the nominated node is passed over, and what was said before it stands."""
    there = (node("a"), node("b"))
    naming = Rejecting(why={"b": "odd"}, leaves=("a",))
    engine = scheduler(*there, extenders=[naming, FailingOnce()])
    found = engine.schedule(pod("new", status={"nominatedNodeName": "a"}))
    assert (found.host, found.failed) == ("a", {"b": ["odd", "odd"]})


def test_peers_on_a_host_that_was_sent_back():
    """A host that an extender sends back has no pods, so no topology spread constraint finds any there."""
    soft = {"topologyKey": "kubernetes.io/hostname", "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"}
    constraints = [{**soft, "labelSelector": {"matchLabels": {"app": "web"}}}]
    there = [node(name, labels={"kubernetes.io/hostname": name}) for name in "ab"]
    found = {}
    for release in ("1.32", "1.33"):
        engine = engine_for(release, {})
        for item in (*there, pod("other", on="a", app="web")):
            EventFeed(engine).put(item)
        engine.extenders = [SendingBack()]
        web = pod("web", app="web", topologySpreadConstraints=constraints)
        found[release] = engine.schedule(web).priorities["PodTopologySpread"]
    assert found == {"1.32": {"a": 0, "b": 100}, "1.33": {"a": 100, "b": 100}}


def test_all_are_asked_at_once():
    """Several extenders score at the same time, and their scores add up."""
    meeting = Barrier(2, timeout=60)
    found = decided("1.16", *(Scripted(meets=meeting, scores={"b": 5}) for _ in range(2)))
    assert found.scores["b"] - found.scores["a"] == 10


@pytest.mark.parametrize("release", ["1.16", FRAMEWORK])
def test_pods_of_no_interest_take_the_quick_path(release):
    """A decision is read off a board unless an extender is asked about the pod."""
    there = (node("a"), node("b"))
    extenders = [Scripted(only="special")]
    if release == FRAMEWORK:
        engine = scheduler(*there, extenders=extenders)
    else:
        engine = classic_engine(resolve(RELEASES[release], percentage=100), extenders=extenders)
        for item in there:
            EventFeed(engine).put(item)
    (path,) = engine.flow.quick_paths.values()
    taken = [
        (engine.schedule(pod(name), details=False), path.taken)[1] for name in ("plain", "special", "other")
    ]
    assert taken == [1, 1, 2]
