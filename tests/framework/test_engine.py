"""The cycle: where searches start and end, which nodes are visited, and the message if none fits."""

import numpy as np
import pytest
import yaml

from kubeclassic.algorithmprovider.cells import zone_key
from kubeclassic.core.run import EventFeed, Run
from kubeclassic.framework.config.configuration import read_configuration
from kubeclassic.framework.cycle.feasible import NO_NODE_LEFT
from kubeclassic.framework.flow import framework_engine
from kubeclassic.framework.plugin import Code, Handle, Plugin, WaitingPod, WaitingPods, unschedulable
from kubeclassic.framework.releases import FRAMEWORK_RELEASES
from kubeclassic.simulation.conform import engine_for
from tests.support.build import node, pod
from tests.support.frameworkbuild import (
    binding_methods,
    decided,
    disabled,
    document,
    enabled,
    placed,
    scheduler,
)

ZONE = "topology.kubernetes.io/zone"
GONE = yaml.safe_load(
    "nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [gone]}]}]"
)
"""The affinity to a node that is not there."""


def test_a_zone_change_alone_does_not_reorder():
    """The list is rebuilt only when the set of names has changed."""
    nodes = [node("a1", labels={ZONE: "a"}), node("a2", labels={ZONE: "a"}), node("b1", labels={ZONE: "b"})]
    engine = scheduler(*nodes)
    before = decided(engine, pod("p")).feasible
    EventFeed(engine).put(node("a2", labels={ZONE: "c"}))
    assert decided(engine, pod("p")).feasible == before
    EventFeed(engine).put(node("d1", labels={ZONE: "d"}))
    assert decided(engine, pod("p")).feasible == ["a1", "b1", "a2", "d1"]


@pytest.mark.parametrize("release, errs", [("1.17", False), ("1.18", True), ("1.19", True), ("1.20", False)])
def test_a_list_that_was_not_made_anew(release, errs):
    """In 1.18 and 1.19 a pod on an unknown node makes the cycle fail that first sees a node gone, and the
    one that sees it back."""
    engine = engine_for(release, {"percentageOfNodesToScore": 100})
    feed = EventFeed(engine)
    feed.put_all([node("a"), node("b"), pod("lost", on="unknown")])
    assert decided(engine, pod("p")).feasible == ["a", "b"]
    text = (
        "snapshot state is not consistent, length of NodeInfoList=%d not equal to length of nodes in tree=%d "
        ", length of NodeInfoMap=2, length of nodes in cache=%d, trying to recover"
    )
    for change, counts in ((feed.delete, (2, 1, 2)), (feed.put, (1, 2, 3))):
        change(node("b"))
        assert decided(engine, pod("p")).error == (text % counts if errs else None)
        assert decided(engine, pod("p")).error is None
    feed.delete(pod("lost", on="unknown"))
    feed.delete(node("b"))
    assert (decided(engine, pod("p")).error is not None) == errs


def test_nodes_that_come_back_are_listed_anew():
    """A pod that was tried while there was no node has seen them gone."""
    nodes = [node("a"), node("b")]
    engine = scheduler(*nodes)
    feed = EventFeed(engine)
    assert decided(engine, pod("p")).feasible == ["a", "b"]
    for gone in nodes:
        feed.delete(gone)
    assert decided(engine, pod("p")).error == "no nodes available to schedule pods"
    feed.put_all(reversed(nodes))
    assert decided(engine, pod("p")).feasible == ["b", "a"]


@pytest.mark.parametrize("percentage", [50, 100])
def test_remembered_answers_change_nothing(percentage):
    """Without details the decisions and the starts are those of the whole cycle."""
    nodes = [node(f"n{i:03}", cpu="2", labels={ZONE: f"z{i % 3}"}) for i in range(150)]
    engines = [scheduler(*nodes, percentage=percentage, memory_bytes=memory) for memory in (1 << 20, 0)]
    for number in range(120):
        new = pod(f"p{number}", cpu="500m", app=str(number % 2))
        decisions = [engine.schedule(new, details=False) for engine in engines]
        assert decisions[0].host == decisions[1].host
        assert engines[0].flow.order.position == engines[1].flow.order.position
        for engine in engines:
            assert engine.assume(new, str(decisions[0].host)) is None


def test_only_missing_nodes_are_named():
    """Where the original crashes with a division by zero, the cycle ends in an error."""
    new = pod("p", affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": GONE}})
    decision = decided(scheduler(node("a")), new)
    assert (decision.error, decision.is_fit_error) == (NO_NODE_LEFT, False)


@pytest.mark.parametrize("release, version, kept", [("1.22", "v1beta2", True), ("1.23", "v1beta3", False)])
def test_the_nomination_after_an_error(release, version, kept):
    """Up to 1.22 a pod keeps it when its cycle ends in an error, also in that no node is there."""
    profile = document({"plugins": {"preFilter": disabled("NodeResourcesFit")}}, version=version)
    run = Run(engine_for(release, {"profile": profile}))
    new = pod("p", nominated="a")
    run.nominate(new, "a")
    assert run.cycle(new).error == "no nodes available to schedule pods"
    assert run.engine.nominations.node_of(new) == ("a" if kept else "")
    run.put(node("a"))
    run.nominate(new, "a")
    assert "PreFilterNodeResourcesFit" in run.cycle(new).error
    assert run.engine.nominations.node_of(new) == ("a" if kept else "")


def test_a_missing_pre_filter_is_an_error_of_filter():
    """A filter whose PreFilter is disabled errs, and no preemption follows."""
    engine = scheduler(node("a"), profile={"plugins": {"preFilter": disabled("NodeResourcesFit")}})
    decision = decided(engine, pod("p"))
    text = 'error reading "PreFilterNodeResourcesFit" from cycleState: not found'
    assert (decision.error, decision.preemption) == (
        f'running "NodeResourcesFit" filter plugin: {text}',
        None,
    )


def older_run(release, points, *objects):
    """A run of a release with v1beta1, whose one profile has these plugins by extension point."""
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1beta1", "kind": "KubeSchedulerConfiguration"}
    found = {**head, "profiles": [{"plugins": points}]}
    run = Run(framework_engine(read_configuration(found, None, FRAMEWORK_RELEASES[release])))
    for item in objects:
        run.put(item)
    return run


@pytest.mark.parametrize("release, point", [("1.19", "Reserve in"), ("1.20", "plugin")])
def test_an_error_of_reserve_by_release(release, point):
    """An error after the decision names the pod up to 1.19."""
    points = {"preFilter": disabled("VolumeBinding"), "filter": disabled("VolumeBinding")}
    run = older_run(release, points, node("a"))
    texts = {
        "Reserve in": 'error while running Reserve in "VolumeBinding" reserve plugin for pod "p": not found',
        "plugin": 'running Reserve plugin "VolumeBinding": not found',
    }
    assert run.cycle(pod("p")).error == texts[point]


def test_a_score_that_passes_over_the_pod():
    """SelectorSpread misses its PreScore only for a pod that it would spread."""
    points = {
        "score": {"enabled": [{"name": "SelectorSpread", "weight": 1}], "disabled": [{"name": "*"}]},
        "preScore": disabled("*"),
    }
    run = older_run("1.21", points, node("a"), node("b"))
    constraint = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}
    assert run.cycle(pod("spread", topologySpreadConstraints=[constraint])).host is not None
    assert "PreScoreSelectorSpread" in str(run.cycle(pod("p")).error)


def test_reasons_before_a_missing_pre_filter():
    """A node with another user of the disk has its reason even where the PreFilter is disabled."""
    disk = [{"name": "d", "gcePersistentDisk": {"pdName": "d"}}]
    user = pod("user", on="a", volumes=disk)
    points = {"preFilter": disabled("VolumeRestrictions")}
    one = decided(scheduler(node("a"), user, profile={"plugins": points}), pod("p", volumes=disk))
    assert "node(s) had no available disk" in str(one.error)
    both = decided(scheduler(node("a"), node("b"), user, profile={"plugins": points}), pod("p", volumes=disk))
    text = 'cannot read "PreFilterVolumeRestrictions" from cycleState'
    assert both.error == f'running "VolumeRestrictions" filter plugin: {text}'


@pytest.mark.parametrize("details", [True, False])
@pytest.mark.parametrize("others, point", [((), "Reserve"), (("reserve",), "PreBind")])
def test_a_missing_pre_filter_is_an_error_after_the_decision(others, point, details):
    """VolumeBinding binds no pod, not even one without claims, while its PreFilter is disabled."""
    points = dict.fromkeys(("preFilter", "filter", *others), disabled("VolumeBinding"))
    run = Run(scheduler(node("a"), profile={"plugins": points}), details=details)
    decision = run.cycle(pod("p"))
    assert (decision.host, decision.error) == (None, f'running {point} plugin "VolumeBinding": not found')


def test_no_post_filter():
    """Without PostFilter plugins the text ends after the reasons."""
    engine = scheduler(node("a", pods="0"), profile={"plugins": {"postFilter": disabled("*")}})
    assert decided(engine, pod("p")).error == "0/1 nodes are available: 1 Too many pods."


class Likes(Plugin):
    """Likes nodes too much."""

    name = "Likes"

    def score(self, pod, nodes, cycle):
        """101 everywhere."""
        return np.full(nodes.n, 101, np.int64)


# --- Scores -------------------------------------------------------------------------------------------------


def test_out_of_range():
    """A score above 100 ends the cycle with an error."""
    engine = scheduler(
        node("a"), node("b"), plugins=(Likes,), profile={"plugins": {"score": enabled("Likes")}}
    )
    text = 'plugin "Likes" returns an invalid score 101, it should in the range of [0, 100] after normalizing'
    decision = decided(engine, pod("p"))
    assert decision.error == f"applying score defaultWeights on Score plugins: {text}"
    # The original has normalized the scores of all plugins by then, and has no totals.
    assert decision.priorities["Likes"] == {"a": 101, "b": 101}
    assert decision.priorities["TaintToleration"] == {"a": 100, "b": 100}
    assert decision.scores == {}


def test_no_score_plugins():
    """Without score plugins every node gets 1, and the first is taken."""
    engine = scheduler(node("a"), node("b"), profile={"plugins": {"score": disabled("*")}})
    decision = decided(engine, pod("p"))
    assert (decision.host, decision.scores, decision.priorities) == ("a", {"a": 1, "b": 1}, {})


def test_a_missing_pre_score():
    """A score whose PreScore is disabled is an error, with cached answers too."""
    profile = {"plugins": {"preScore": disabled("TaintToleration")}}
    text = 'failed to read "PreScoreTaintToleration" from cycleState: not found'
    for details in (True, False):
        found = scheduler(node("a"), node("b"), profile=profile).schedule(pod("p"), details=details)
        assert found.error == f'running Score plugins: plugin "TaintToleration" failed with: {text}'


# --- Nominations --------------------------------------------------------------------------------------------

# How a run changes the nomination of a pod that has no node.


def after(engine, *objects):
    """The nomination after one cycle of a pod that was nominated to node a."""
    run = Run(engine)
    for item in objects:
        run.put(item)
    new = pod("p", cpu="2", priority=5, nominated="a")
    run.put(new)
    assert run.cycle(new).host is None
    return str(engine.nominations.node_of(new))


def test_it_stays_where_room_is_being_made():
    """A pod keeps its nomination if it may not preempt because its victim is still leaving."""
    condition = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
    gone = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    status = {"conditions": [condition]}
    leaving = pod("low", on="a", cpu="2", metadata=gone, status=status)
    assert after(scheduler(), node("a", cpu="2"), leaving) == "a"


@pytest.mark.parametrize("name, quick", [("", 1), ("a", 0)])
def test_an_ended_nomination_keeps_no_node(name, quick):
    """A pod that is nominated to no node does not keep others from being decided by what is known."""
    engine = scheduler(node("a"), node("b"))
    engine.nominations.add(pod("waiting"), name)
    engine.schedule(pod("p"), details=False)
    (path,) = engine.flow.quick_paths.values()
    assert path.taken == quick


def test_it_ends_where_nothing_helps():
    """A pod without possible victims loses its nomination."""
    assert after(scheduler(), node("a", cpu="1")) == ""


def test_it_ends_with_an_error():
    """A pod loses its nomination if its cycle fails for another reason, or if it is rejected after it got
    a node."""
    assert after(scheduler(profile={"plugins": {"preFilter": disabled("NodeResourcesFit")}}), node("a")) == ""
    made = type("Steps", (Steps,), {"refuses": "permit"})
    assert (
        after(scheduler(plugins=(made,), profile={"plugins": {"permit": enabled("Steps")}}), node("a")) == ""
    )


class Steps(Plugin):
    """Records the steps after the decision, and can refuse."""

    name = "Steps"
    seen: list
    refuses = ""

    def __init__(self, args, handle):
        super().__init__(args, handle)
        type(self).seen = []

    def _note(self, point, cycle):
        self.seen.append(point)
        return unschedulable(f"no at {point}") if self.refuses == point else None

    reserve, unreserve, permit, pre_bind, bind, post_bind = binding_methods(_note)


class TestBinding:
    def engine(self, refuses=""):
        """A scheduler with Steps as a bind plugin before the default one."""
        made = type("Steps", (Steps,), {"refuses": refuses})
        plugins = {"multiPoint": enabled("Steps"), "bind": enabled("Steps", "DefaultBinder")}
        return scheduler(node("a"), plugins=(made,), profile={"plugins": plugins}), made

    def test_the_steps_in_order(self):
        """Reserve, Permit, PreBind, Bind and PostBind run in this order."""
        engine, plugin = self.engine()
        assert placed(engine, pod("p")) == "a"
        assert plugin.seen == ["reserve", "permit", "pre_bind", "bind", "post_bind"]

    @pytest.mark.parametrize("point", ["permit", "pre_bind", "bind"])
    def test_a_refusal_is_undone(self, point):
        """Reservations are undone and the pod is forgotten."""
        engine, plugin = self.engine(point)
        new = pod("p")
        assert engine.assume(new, str(decided(engine, new).host)) == f"no at {point}"
        assert plugin.seen[-2:] == [point, "unreserve"]
        assert not engine.cache.is_assumed(new)


# --- Which zone a node is in, in the releases of the framework ----------------------------------------------


@pytest.mark.parametrize(
    "labels, key",
    [
        ({}, ""),
        ({"topology.kubernetes.io/zone": "z"}, ":\x00:z"),
        (
            {"topology.kubernetes.io/zone": "new", "failure-domain.beta.kubernetes.io/zone": "old"},
            ":\x00:old",
        ),
        ({"failure-domain.beta.kubernetes.io/zone": "", "topology.kubernetes.io/zone": "z"}, ""),
        ({"topology.kubernetes.io/region": "r", "failure-domain.beta.kubernetes.io/zone": "z"}, "r:\x00:z"),
    ],
)
def test_beta_labels_win(labels, key):
    """A beta label wins over the newer one, even if it is empty."""
    assert zone_key(labels) == key


# --- One waiting pod: who ends its wait, when, and with which words -----------------------------------------


def waiting(**timeouts):
    """A pod that waits for plugins."""
    return WaitingPod(pod("p", on="a"), dict(timeouts))


def test_any_plugin_may_reject_it():
    """One rejection is enough, also of a plugin that did not ask for the wait."""
    one = waiting(A=10, B=20)
    one.reject("C", "no room for you")
    assert (one.verdict.code, one.verdict.message, one.verdict.plugin) == (
        Code.UNSCHEDULABLE,
        "no room for you",
        "C",
    )


@pytest.mark.parametrize("first", ["allow", "reject"])
def test_the_first_word_counts(first):
    """A word to a waiting pod after its wait has ended changes nothing."""
    one = waiting(A=10)
    ends = []
    one.on_end = lambda: ends.append(one.verdict)
    words = [lambda: one.allow("A"), lambda: one.reject("A", "no")]
    for word in words if first == "allow" else reversed(words):
        word()
    one.pass_time(1000)
    assert one.verdict.is_success == (first == "allow")
    assert ends == [one.verdict]


def test_durations_are_written_as_go_writes_them():
    """The longest wait is told as 15m0s."""
    one = waiting(A=900)
    one.pass_time(900)
    assert one.verdict.message == "rejected due to timeout after waiting 15m0s at plugin A"


def test_what_plugins_can_do():
    """Plugins find waiting pods by UID, list them, and reject those that are removed."""
    handle = Handle()
    one = waiting(A=10)
    handle.waiting_pods.by_uid[one.pod.uid] = one
    assert handle.get_waiting_pod(one.pod.uid) is one
    assert list(handle.iterate_over_waiting_pods()) == [one]
    assert handle.reject_waiting_pod(one.pod.uid)
    assert one.verdict.message == "removed"
    assert not handle.reject_waiting_pod("unknown")
    assert handle.get_waiting_pod("unknown") is None


def test_nothing_counts_in_an_unmoved_context():
    """Words to waiting pods during an evaluation are forgotten."""
    one = waiting(A=10, B=20)
    pods = WaitingPods({one.pod.uid: one})
    with pods.preserving_state():
        (other,) = pods
        assert (other.pending_plugins, other.timeout) == (("A", "B"), 10)
        other.reject("A", "no")
    assert list(pods) == [one]
    assert not one.is_over
