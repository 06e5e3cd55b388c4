"""The Python API: schedulers for a cluster, one pod at a time or many, and rules of one's own."""

import json
from typing import ClassVar

import pytest
import yaml

from kubeclassic import Cluster, Pod, Scheduler
from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.exceptions import KubeclassicError, PolicyError, UnknownNameError, WrongTypeError
from kubeclassic.framework.options import Classic, options_of
from kubeclassic.framework.plugin import Code, Status
from kubeclassic.framework.releases import ALL_RELEASES, DEFAULT_FRAMEWORK, NEWEST_RELEASE
from kubeclassic.plugins import Plugin, each_node, unresolvable
from kubeclassic.results import Decision
from kubeclassic.rules import CATALOGUE, Failures, Reads, Reason, predicate, priority
from kubeclassic.simulation.simulate import Files, Simulation
from tests.support.build import manifest, node, pod
from tests.support.examples import ENDS
from tests.support.frameworkbuild import configuration, document
from tests.support.refusals import refusal_text

NEW = DEFAULT_FRAMEWORK
NO_CPU = "0/1 nodes are available: 1 Insufficient cpu."


def scheduler(*objects, **options):
    """A scheduler for a cluster of *objects*."""
    return Scheduler(
        Cluster(objects), options_of({"release": None if "profile" in options else "1.16", **options})
    )


def hosts(decisions):
    """Where the pods go."""
    return [decision.host for decision in decisions]


# --- Schedule -----------------------------------------------------------------------------------------------


def test_what_is_placed_is_taken_as_bound():
    """Each pod finds the cluster as the pods before it left it."""
    ours = scheduler(node("a", cpu="2"), pod("p", cpu=2), pod("q", cpu=1))
    assert ours.schedule("p").host == "a"
    decision = ours.schedule("q")
    assert (decision.host, decision.error, decision.is_fit_error) == (None, NO_CPU, True)
    assert [item.name for item in ours.waiting] == ["q"]


@pytest.mark.parametrize("given", ["p", "default/p", pod("p"), manifest("Pod", "p")])
def test_which_pod(given):
    """A pod may be given by name, as a value or as a manifest."""
    assert scheduler(node("a"), pod("p")).schedule(given).host == "a"


def test_a_pod_of_no_cluster():
    """A pod need not be of the cluster; it gets defaults and priority as if it were, and stays outside."""
    classes = manifest("PriorityClass", "high", value=7)
    limited = yaml.safe_load("{name: c, resources: {limits: {cpu: '2'}}}")
    ours = scheduler(node("a", cpu="2"), classes)
    decision = ours.schedule(
        manifest("Pod", "p", spec={"priorityClassName": "high", "containers": [limited]})
    )
    assert (decision.host, decision.pod.priority) == ("a", 7)
    assert not ours.cluster.pods
    assert ours.schedule(pod("q", cpu=1)).host is None


def test_arrays_and_names():
    """A decision carries rows and totals as arrays, and the same by name."""
    decision = scheduler(node("a"), node("b"), node("c", cpu="0"), pod("p", cpu=1)).schedule("p")
    details = decision.details
    assert [details.names[row] for row in details.feasible_rows] == decision.feasible == ["a", "b"]
    assert details.totals.tolist() == list(decision.scores.values())
    assert decision.failed == {"c": ["Insufficient cpu"]}
    assert set(decision.priorities["LeastRequestedPriority"]) == {"a", "b"}


def test_a_decision_stays_as_it_was():
    """A decision does not change with the cluster."""
    ours = scheduler(node("a"), node("b", cpu="1"), node("c"), *(pod(name, cpu=2) for name in "pqrst"))
    first = ours.schedule("p")
    told = first.record(details=True)
    again = scheduler(*ours.cluster.objects).schedule("p")
    ours.run()
    ours.cluster.delete(ours.cluster.nodes[0])
    ours.schedule("t")
    assert again.record(details=True) == told == first.record(details=True)


def test_without_details():
    """Without details a decision has host and error alone."""
    decision = scheduler(node("a"), node("b"), pod("p")).schedule("p", details=False)
    assert (decision.host, decision.has_details, decision.scores) == ("a", False, {})


@pytest.mark.parametrize(
    "given, message",
    [
        ("nope", 'pod: expected a pod without a node, got "nope"'),
        ("bound", 'pod: expected a pod without a node, got "bound", which is on node a'),
        (pod("placed"), 'pod: expected a pod without a node, got "default/placed", which is on node a'),
        (pod("bound", on="a"), 'pod: expected a pod without a node, got "default/bound", which is on node a'),
        (manifest("Node", "b"), "pod: expected one Pod, got Node b"),
        (
            pod("p", priorityClassName="x"),
            "Pod default/p: refused by the API server: no PriorityClass with name x was found",
        ),
    ],
)
def test_pods_that_are_refused(given, message):
    """A pod that is not known, has a node, or cannot be one is refused in one line."""
    ours = scheduler(node("a"), pod("bound", on="a"), pod("placed"))
    ours.schedule("placed")
    assert refusal_text(KubeclassicError, ours.schedule, given) == message


# --- Run ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", ENDS)
def test_as_simulate_does(release, root):
    """All that waits, by priority, ends where ``simulate`` puts it, and decisions without details are the
    same."""
    scenario = Files.read(root / "examples" / "cluster").scenario()
    ours = Scheduler(Cluster.load(root / "examples" / "cluster"), release)
    engine = Scheduler(Cluster(), release)._run.engine
    wanted = [
        decision.record(details=True)
        for decision in Simulation(scenario, engine, "priority", details=True).decisions()
    ]
    assert [decision.record(details=True) for decision in ours.run(details=True)] == wanted
    plain = Scheduler(ours.cluster, release).run()
    assert hosts(plain) == [found["host"] for found in wanted]


def test_a_second_run():
    """Pods without a node are tried again; pods with a node are not."""
    ours = scheduler(node("a", cpu="2"), pod("p", cpu=2), pod("q", cpu=1))
    assert hosts(ours.run()) == ["a", None]
    ours.cluster.add(node("b"))
    assert hosts(ours.run()) == ["b"]
    assert ours.run() == []


def test_chosen_pods():
    """Only the pods that are given are tried, in their order."""
    ours = scheduler(node("a", pods="1"), pod("p"), pod("q"), pod("r"))
    decisions = ours.run(["r", pod("p")])
    assert [(decision.pod.name, decision.host) for decision in decisions] == [("r", "a"), ("p", None)]


def test_the_highest_priority_first():
    """Pods that wait are tried by priority, equal ones in the order of the cluster, as in a queue."""
    ours = scheduler(node("a"), pod("low"), pod("high", priority=5), pod("low-too"))
    assert [decision.pod.name for decision in ours.run()] == ["high", "low", "low-too"]


def test_who_is_preempted():
    """A preemptor is tried once more; its victims are gone for good, unless the cluster adds them again."""
    ours = scheduler(node("a", cpu="2"), pod("low", cpu=2), pod("high", cpu=2, priority=5))
    assert hosts(ours.run(["low", "high"])) == ["a", None, "a"]
    assert ours.waiting == ()
    ours.cluster.update(ours.cluster.find(Pod, "low"))
    assert [item.name for item in ours.waiting] == ["low"]


def test_a_preemptor_that_is_scheduled_by_hand():
    """One pod at a time, the caller tries again; its nomination holds meanwhile."""
    ours = scheduler(node("a", cpu="2"), pod("low", on="a", cpu=2), pod("high", cpu=2, priority=5))
    decision = ours.schedule("high")
    assert (decision.preemption.node, [victim.name for victim in decision.preemption.victims]) == (
        "a",
        ["low"],
    )
    assert ours.schedule(pod("other", cpu=1)).host is None
    assert hosts(ours.run()) == ["a"]


def test_pods_of_other_schedulers():
    """Without a choice only those are tried that ask for this scheduler."""
    cluster = Cluster([node("a"), pod("ours"), pod("theirs", schedulerName="special")])
    assert [decision.pod.name for decision in Scheduler(cluster).run()] == ["ours"]
    assert [
        decision.pod.name for decision in Scheduler(cluster, Classic(scheduler_name="special")).run()
    ] == ["theirs"]


@pytest.mark.parametrize("release", ALL_RELEASES)
def test_nothing_moves(release):
    """An explanation is the decision to come, however often it is asked for."""
    nodes = [node(f"n{number}") for number in range(130)]
    ours = scheduler(
        *nodes, *(pod(name) for name in "pqrst"), release=release, percentage_of_nodes_to_score=5
    )
    for name in "pqrst":
        asked = [ours.explain(name).record(details=True) for _ in range(3)]
        assert asked == [ours.schedule(name).record(details=True)] * 3


@pytest.mark.parametrize("release", ["1.12", "1.16", DEFAULT_FRAMEWORK])
def test_volumes_stay_free(release, root):
    """Explaining a pod with volumes decides nothing about them."""
    cluster = Cluster.load(root / "examples" / "cluster")
    asked = Scheduler(cluster, release)
    told = Scheduler(cluster, release)
    for item in told.waiting:
        asked.explain(item)
    assert hosts(asked.run()) == hosts(told.run())


# --- The cluster --------------------------------------------------------------------------------------------


def test_two_schedulers_do_not_touch_each_other():
    """Pods that one scheduler places are not seen by another, nor by the cluster."""
    cluster = Cluster([node("a", pods="1"), pod("p"), pod("q")])
    one = Scheduler(cluster, "1.12")
    other = Scheduler(cluster)
    assert (one.schedule("p").host, other.schedule("q").host) == ("a", "a")
    assert [item.name for item in cluster.pending] == ["p", "q"]


def test_bindings_that_the_cluster_hears_of():
    """A binding that is put into the cluster reaches every scheduler; who decided it takes it as
    confirmed."""
    cluster = Cluster([node("a", pods="1"), pod("p"), pod("q")])
    one = Scheduler(cluster)
    other = Scheduler(cluster)
    cluster.update(one.schedule("p").pod.bound_to("a"))
    assert (one.schedule("q").host, other.schedule("q").host) == (None, None)
    cluster.delete(cluster.find(Pod, "p"))
    assert (one.schedule("q").host, other.schedule("q").host) == ("a", "a")


def test_changes_reach_the_scheduler():
    """Nodes and pods that come, change and go after construction count."""
    cluster = Cluster([pod("p", cpu=2)])
    ours = Scheduler(cluster, "1.16")
    assert ours.schedule("p").error == "no nodes available to schedule pods"
    cluster.add(node("a", cpu="1"))
    assert ours.schedule("p").error == NO_CPU
    cluster.update(node("a", cpu="2"))
    cluster.add(pod("q", on="a", cpu=1))
    assert ours.schedule("p").error == NO_CPU
    cluster.update(pod("p", cpu=1))
    assert ours.schedule("p").host == "a"


def test_a_waiting_pod_that_goes():
    """A pod that is deleted frees what the scheduler gave it, and its nomination."""
    cluster = Cluster([node("a", cpu="2"), pod("p", cpu=2), pod("q", cpu=2)])
    ours = Scheduler(cluster)
    ours.schedule("p")
    cluster.delete(cluster.find(Pod, "p"))
    assert ours.explain("q").host == "a"
    cluster.add(pod("nominated", cpu=2, priority=3, nominated="a"))
    assert ours.explain("q").host is None
    cluster.delete(cluster.find(Pod, "nominated"))
    assert ours.explain("q").host == "a"


AT_WORK = Reason("node(s) were worked on", resolvable=False)


@predicate("NotAtWork", reads=Reads.NODE, key=lambda pod: None)
def not_at_work(pod, nodes, cycle):
    """Turn down nodes that are worked on."""
    return Failures.where(AT_WORK, nodes.label("work").where(lambda value: value == "yes"))


@priority.each_node("LastName")
def last_name(pod, nodes, i, cycle):
    """Prefer nodes late in the alphabet."""
    return ord(nodes.name(i))


class OnlyLast(Plugin):
    """A plugin of one's own: it turns down every node but the last in the alphabet, and counts whom it
    reserved."""

    name = "OnlyLast"
    reserved: ClassVar = []

    @each_node
    def filter(self, pod, node, cycle):
        """One node."""
        return None if node.name == "c" else unresolvable("node(s) were not last")

    def reserve(self, pod, node_name, cycle):
        """Note it."""
        self.reserved.append(f"{pod.name} on {node_name}")

    def unreserve(self, pod, node_name, cycle):
        """Nothing to take back."""


class TestProfiles:
    """Releases with the framework."""

    NODES = (node("a", cpu="8"), node("b"), node("c", cpu="2"))
    PACKING = yaml.safe_load("""
    plugins:
      score:
        disabled:
        - {name: '*'}
        enabled:
        - {name: NodeResourcesFit}
    pluginConfig:
    - name: NodeResourcesFit
      args:
        scoringStrategy:
          type: MostAllocated
          resources:
          - {name: cpu}
    """)

    def test_the_default_profile(self):
        """The release alone runs it; details have plugins, and statuses with their codes."""
        decision = scheduler(*self.NODES, pod("p", cpu=3), release=NEW).schedule("p")
        assert (decision.host, decision.failed) == ("a", {"c": ["Insufficient cpu"]})
        assert isinstance(decision, Decision)
        assert decision.statuses["c"] == Status(Code.UNSCHEDULABLE, ("Insufficient cpu",), "NodeResourcesFit")
        assert set(decision.priorities) >= {"NodeResourcesFit", "TaintToleration"}

    def test_a_profile(self, tmp_path):
        """A profile may be a file, its JSON form or read already; without a release the default for profiles
        is taken."""
        form = document(self.PACKING)
        (tmp_path / "packing.json").write_text(json.dumps(form))
        for profile in (
            form,
            tmp_path / "packing.json",
            str(tmp_path / "packing.json"),
            configuration(self.PACKING),
        ):
            ours = scheduler(*self.NODES, pod("p", cpu=1), profile=profile)
            assert ours.algorithm.release.version in (NEW, NEWEST_RELEASE)
            assert ours.schedule("p").host == "c"

    def test_several(self):
        """Pods of every profile wait for it, and each is decided by its own; those of another scheduler do
        not."""
        profiles = document(
            {"schedulerName": "default-scheduler"}, {"schedulerName": "packer", **self.PACKING}
        )
        pods = [
            pod(name, cpu=1, schedulerName=asks)
            for name, asks in (("p", ""), ("q", "packer"), ("r", "other"))
        ]
        ours = scheduler(*self.NODES, *pods, profile=profiles)
        assert ours.profiles.keys() == {"default-scheduler", "packer"}
        assert [item.name for item in ours.waiting] == ["p", "q"]
        assert hosts(ours.run()) == ["a", "c"]

    def test_gates_percentage_and_preemption(self):
        """Each counts."""
        held = pod("p", schedulingGates=[{"name": "quota"}])
        assert (
            scheduler(*self.NODES, held, release=NEW).schedule("p").error
            == "waiting for scheduling gates: [quota]"
        )
        assert (
            scheduler(*self.NODES, held, release=NEW, gates="PodSchedulingReadiness=false").schedule("p").host
            == "a"
        )
        many = scheduler(
            *(node(f"n{i}") for i in range(150)), pod("p"), release=NEW, percentage_of_nodes_to_score=80
        )
        assert len(many.schedule("p").feasible) == 120
        full = [node("a", cpu="1"), pod("low", on="a", cpu=1), pod("high", cpu=1, priority=5)]
        assert scheduler(*full, release=NEW, preemption=False).schedule("high").preemption is None
        found = scheduler(*full, release=NEW).schedule("high").preemption
        assert found.node == "a"

    def test_plugins_of_ones_own(self):
        """A user's plugins join the default profile at every point that they have; with a profile, where it
        enables them."""
        OnlyLast.reserved.clear()
        decision = scheduler(*self.NODES, pod("p"), release=NEW, plugins=[OnlyLast]).schedule("p")
        assert (decision.host, decision.failed["a"]) == ("c", ["node(s) were not last"])
        assert OnlyLast.reserved == ["p on c"]
        profile = document(yaml.safe_load("{plugins: {reserve: {enabled: [{name: OnlyLast}]}}}"))
        assert scheduler(*self.NODES, pod("q"), profile=profile, plugins=[OnlyLast]).schedule("q").host == "a"
        assert OnlyLast.reserved == ["p on c", "q on a"]


class TestConfiguration:
    NODES = (node("a"), node("b", labels={"work": "yes"}), node("c"))

    def test_a_predicate_of_ones_own(self):
        """A user's predicate turns nodes down, with its own reason."""
        decision = scheduler(*self.NODES, pod("p"), catalogue=CATALOGUE.with_(not_at_work)).schedule("p")
        assert decision.failed == {"b": ["node(s) were worked on"]}

    def test_a_priority_of_ones_own(self):
        """A user's priority counts with its weight, and leaves other schedulers alone."""
        catalogue = CATALOGUE.with_(last_name, weight=3)
        decision = scheduler(*self.NODES, pod("p"), catalogue=catalogue).schedule("p")
        assert decision.host == "c"
        assert decision.priorities["LastName"] == {"a": 97, "b": 98, "c": 99}
        assert "LastName" not in scheduler(*self.NODES, pod("p")).schedule("p").priorities

    @pytest.mark.parametrize("release", ALL_RELEASES)
    def test_a_batch_to_try_a_rule_with(self, release):
        """A batch has all nodes as they are now, with the template of the pod; a rule can be called with it,
        and nothing moves."""
        ours = scheduler(*self.NODES, pod("p", cpu=1), pod("q"), release=release)
        given, nodes, cycle = ours.batch("q")
        assert (nodes.n, given.requests, cycle.pod.name) == (3, {}, "q")
        failures = not_at_work.check(given, nodes, cycle)
        assert failures.passed.tolist() == [True, False, True]
        host = ours.explain("p").host
        assert ours.schedule("p").host == host
        after = ours.batch("q")[1]
        assert {after.name(at): int(after.pod_count[at]) for at in range(3)} == {"a": 0, "b": 0, "c": 0} | {
            host: 1
        }

    def test_policy(self, root):
        """A Policy may be a file or its JSON form."""
        policies = [
            {"predicates": [{"name": "HostName"}]},
            root / "examples" / "policies" / "bin-packing.json",
        ]
        found = [scheduler(*self.NODES, policy=policy).algorithm for policy in policies]
        assert [rule.name for rule in found[0].predicates] == [
            "CheckNodeUnschedulable",
            "HostName",
            "PodToleratesNodeTaints",
        ]
        assert "FillNodesUp" in {rule.name for rule, _ in found[1].priorities}

    @pytest.mark.parametrize("gates", [{"EvenPodsSpread": True}, "EvenPodsSpread=true"])
    def test_gates(self, gates):
        """Gates may be a mapping or what the flag takes."""
        assert scheduler(gates=gates).algorithm.enabled("EvenPodsSpread")

    @pytest.mark.parametrize("release", RELEASES)
    def test_percentage(self, release):
        """Without a percentage it is what the release's command has."""
        assert scheduler(release=release).algorithm.percentage == RELEASES[release].default_percentage
        assert scheduler(release=release, percentage_of_nodes_to_score=7).algorithm.percentage == 7

    @pytest.mark.parametrize(
        "tie_break, expected",
        [
            ("release", "aaa"),
            ("first", "aaa"),
            ("round-robin", "abc"),
            (lambda ties, times: (ties - 1, True), "ccc"),
        ],
    )
    def test_tie_break(self, tie_break, expected):
        """The choice among the best nodes is made by name, or by the user's own function."""
        ours = scheduler(*self.NODES, tie_break=tie_break, policy={"priorities": []})
        assert hosts([ours.schedule(pod(name)) for name in "pqr"]) == list(expected)

    @pytest.mark.parametrize(
        "options, kind, message",
        [
            ({"release": ""}, WrongTypeError, "release: expected a text such as \"1.36\", got '' (str)"),
            ({"scheduler_name": ""}, WrongTypeError, "scheduler_name: expected NAME, got '' (str)"),
            ({"release": "1.4"}, UnknownNameError, 'release: expected 1.12 to 1.36 or auto, got "1.4"'),
            (
                {"provider": "DefaultProvidor"},
                UnknownNameError,
                'provider: plugin "DefaultProvidor" has not been registered, expected DefaultProvider',
            ),
            (
                {"gates": {"EvenPodSpread": True}},
                UnknownNameError,
                'gates: unrecognized feature gate: EvenPodSpread; did you mean "Even',
            ),
            ({"gates": "EvenPodsSpread"}, PolicyError, "missing bool value for EvenPodsSpread"),
            ({"policy": "nope.json"}, PolicyError, "missing policy config file nope.json"),
            (
                {"tie_break": "lots"},
                UnknownNameError,
                'tie_break: expected release, round-robin, first, random, got "lots"',
            ),
            (
                {"hard_pod_affinity_weight": 101},
                PolicyError,
                "hardPodAffinitySymmetricWeight: Invalid value: 101: not in valid range",
            ),
        ],
    )
    def test_refusals(self, options, kind, message):
        """Unknown names and numbers out of range are refused in one line, with near names."""
        assert refusal_text(kind, scheduler, **options).startswith(message)
