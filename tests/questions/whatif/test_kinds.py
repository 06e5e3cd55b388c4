"""What-if, kind by kind: the suggestions, their words, and their order."""

import attrs
import pytest
import yaml

import kubeclassic
from kubeclassic.api.record import plain
from kubeclassic.exceptions import KubeclassicError
from kubeclassic.framework.options import options_of
from kubeclassic.framework.schedulerspec import SchedulerSpec
from kubeclassic.questions.asking import cluster_input
from kubeclassic.questions.explain.options import WhatIfOptions
from kubeclassic.questions.whatif.ask import ScheduledPod, Start
from kubeclassic.questions.whatif.families import FAMILIES
from kubeclassic.questions.whatif.suggestion import DISTURBS
from kubeclassic.simulation.edits import Edits
from kubeclassic.simulation.explain.explain import Subject, explain
from kubeclassic.simulation.input import SILENT, scenario_of
from kubeclassic.simulation.simulate import Simulation
from tests.conftest import CLUSTER
from tests.support.keywords import keywords_of
from tests.support.manifests import manifest, owned_by
from tests.support.whatifbuild import ASKED, HOSTNAME, TAINTS, node, pod, taint

REPORT = "analytics/yearly-report"
ZONE = "zone"
GROUP = "kubescheduler.config.k8s.io/v1"


CONSTRAINT = {
    "maxSkew": 1,
    "topologyKey": ZONE,
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "a"}},
}
SPREAD = (
    node("a", labels={ZONE: "x"}),
    node("b", 100, labels={ZONE: "y"}),
    *(pod(f"p{number}", labels={"app": "a"}, nodeName="a") for number in range(3)),
    pod("asked", 200, labels={"app": "a"}, topologySpreadConstraints=[CONSTRAINT]),
)
"""Three pods in one zone, and no room in the other."""


def found(*items, want=None, **options):
    """The suggestions for the pod in question."""
    return kubeclassic.what_if(list(items), ASKED, **keywords_of(options), want=want)


def one(result, kind):
    """The first suggestion of a kind."""
    return next(each for each in result.suggestions if each.kind == kind)


def patches(result, kind):
    """The patches of all suggestions of a kind."""
    return [text for each in result.suggestions if each.kind == kind for text in each.patch]


def test_trials_leave_no_manifests():
    """The manifests of pods as they were in a trial are forgotten."""
    options = WhatIfOptions(pod=ASKED, what_if=True)
    inputs = cluster_input([node("a"), pod("other"), pod("asked", 1200)], options)
    before = len(inputs.scenario.originals)
    assert kubeclassic.what_if.ask(inputs, options, SILENT).suggestions
    assert len(inputs.scenario.originals) == before


def test_the_wanted_node_may_be_another_pods():
    """Before anything runs, the change brings an earlier pod to the wanted node, so that the pod goes
    elsewhere."""
    items = [node("a", taints=[taint(TAINTS[0])]), node("b"), pod("there", 100, nodeName="b")]
    items += [pod("first", 500), pod("asked", 300)]
    untainted = one(found(*items, want="a"), "taint")
    assert kubeclassic.simulate(items, edits=untainted.patch).hosts == {"default/first": "a", ASKED: "b"}
    assert untainted.taken_by == "default/first"


def test_a_gated_pod_of_a_release_without_gates():
    """It is tried there, although it may not have a node beside its gates."""
    gated = pod("asked", 500, schedulingGates=[{"name": "x/y"}])
    result = found(node("a"), pod("there", 800, nodeName="a"), gated, release="1.15")
    assert patches(result, "delete") == ["delete pod default/there"]


def test_daemons_come_to_a_node_that_takes_them():
    """Without its taint a node also gets a pod of each DaemonSet, which may find no room there."""
    labels = {"app": "agent"}
    template = {"metadata": {"labels": labels}, "spec": pod("agent", 800)["spec"]}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    agent = manifest("DaemonSet", "agent", namespace="default", spec=spec)
    items = [node("a"), node("b", taints=[taint(TAINTS[0])]), pod("there", 600, nodeName="a"), agent]
    untainted = one(found(*items, pod("asked", 500)), "taint")
    assert (untainted.host, untainted.effect.without_node) == ("b", ("default/agent-b",))
    after = kubeclassic.simulate([*items, pod("asked", 500)], edits=untainted.patch).hosts
    assert (after[ASKED], after["default/agent-b"]) == ("b", None)


# --- The pod ------------------------------------------------------------------------------------------------


def test_the_largest_container_gives_first():
    """Of several containers the largest is lowered, by name; init containers only as far as they are
    above what is free."""
    asked = pod("asked")
    sizes = (("big", "900m"), ("small", "300m"))
    containers = [{"name": name, "resources": {"requests": {"cpu": cpu}}} for name, cpu in sizes]
    first = [
        {"name": name, "resources": {"requests": {"cpu": cpu}}}
        for name, cpu in (("load", "2"), ("check", "100m"))
    ]
    asked["spec"] |= {"containers": containers, "initContainers": first}
    told = one(found(node("a"), asked), "request")
    edits = (
        "spec.initContainers[load].resources.requests.cpu=1 spec.containers[big].resources.requests.cpu=700m"
    )
    assert told.patch == (f"pod {ASKED} {edits}",)
    assert told.change == "lower the request of cpu from 2 to 1"


def test_sidecars_stay_as_they_are():
    """Beside a sidecar less is free for the containers, and for an init container that runs with it."""
    asked = pod("asked", 1500)
    sidecar = yaml.safe_load("{name: mesh, restartPolicy: Always, resources: {requests: {cpu: 300m}}}")
    asked["spec"]["initContainers"] = [sidecar, {"name": "load", "resources": {"requests": {"cpu": "2"}}}]
    edits = "spec.initContainers[load].resources.requests.cpu=700m requests.cpu=700m"
    assert one(found(node("a"), asked, release="1.34"), "request").patch == (f"pod {ASKED} {edits}",)


def test_the_pod_as_a_whole_gives():
    """Where the pod as a whole asks for the resource, that is lowered, and containers that request more than
    the whole; a release that does not read it looks at the containers."""
    asked = pod("asked", 1500)
    asked["spec"]["resources"] = {"requests": {"cpu": "2"}}
    assert one(found(node("a"), asked, release="1.34"), "request").patch == (
        f"pod {ASKED} spec.resources.requests.cpu=1 requests.cpu=1",
    )
    assert one(found(node("a"), asked, release="1.27"), "request").patch == (f"pod {ASKED} requests.cpu=1",)


def test_several_resources_go_together():
    """Where a node lacks two resources, both are lowered at once; a node where more of both has to go is
    not told."""
    result = found(node("a", 500, 8), node("b", 1000, 2), node("c", 400, 2), pod("asked", 2000, 4))
    assert patches(result, "request") == [
        f"pod {ASKED} requests.cpu=1 requests.memory=2Gi",
        f"pod {ASKED} requests.cpu=500m",
    ]


def test_extended_resources_keep_limits_equal():
    """The limit of an extended resource goes down with its request."""
    asked = pod("asked")
    big = node("a")
    asked["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": 4}}
    big["status"]["allocatable"]["nvidia.com/gpu"] = 2
    assert patches(found(big, asked), "request") == [
        f"pod {ASKED} requests.nvidia.com/gpu=2 limits.nvidia.com/gpu=2"
    ]


def test_selectors_and_terms():
    """A key of the nodeSelector, an expression of the node affinity."""
    expressions = yaml.safe_load("""
        - key: disk
          operator: In
          values: [ssd]
        - {key: pool, operator: Exists}
        """)
    required = {"nodeSelectorTerms": [{"matchExpressions": expressions}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    result = found(node("a", labels={"pool": "x"}), pod("asked", affinity=affinity))
    place = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0]-"
    assert patches(result, "nodeAffinity") == [f"pod {ASKED} {place}"]
    assert patches(result, "label") == ["node a labels.disk=ssd"]
    result = found(node("a"), pod("asked", nodeSelector={"disk": "ssd"}))
    assert patches(result, "nodeSelector") == [f"pod {ASKED} nodeSelector.disk-"]


@pytest.mark.parametrize("release, gates", [("1.16", "EvenPodsSpread=true"), ("1.27", None)])
def test_spread(release, gates):
    """The maxSkew is raised to the smallest number that works; or the constraint becomes a wish."""
    result = found(*SPREAD, release=release, gates=gates)
    begin = f"pod {ASKED} topologySpreadConstraints[0]"
    assert patches(result, "spread") == [f"{begin}.maxSkew=4", f"{begin}.whenUnsatisfiable=ScheduleAnyway"]


def test_gates_ports_and_eviction():
    """Scheduling gates and host ports go; a pod that evicts nobody may."""
    result = found(node("a"), pod("asked", schedulingGates=[{"name": "quota"}]), release="1.27")
    assert [each.kind for each in result.suggestions] == ["schedulingGates"]
    result = found(node("a"), pod("other", port=80, nodeName="a"), pod("asked", port=80))
    assert patches(result, "hostPort") == [f"pod {ASKED} spec.containers[c].ports[0].hostPort-"]
    asked = pod("asked", 800, priority=9, preemptionPolicy="Never")
    told = one(found(node("a"), pod("other", 800, nodeName="a"), asked, release="1.27"), "priority")
    assert told.patch == (f"pod {ASKED} preemptionPolicy=PreemptLowerPriority",)
    assert told.victims == ("default/other",)


# --- The cluster --------------------------------------------------------------------------------------------


def test_labels_that_say_what_a_node_is_stay():
    """No node gets another hostname or zone so that a pod fits; a zone that is missing is set."""
    assert patches(found(node("a"), pod("asked", nodeSelector={HOSTNAME: "b"})), "label") == []
    asks = pod("asked", nodeSelector={"topology.kubernetes.io/zone": "x"})
    elsewhere = node("a", labels={"topology.kubernetes.io/zone": "y"})
    assert patches(found(elsewhere, asks), "label") == []
    assert patches(found(node("a"), asks), "label") == ["node a labels.topology.kubernetes.io/zone=x"]


def test_a_pod_that_finds_another_node_moves():
    """A pod moves where it can, else it is deleted; pods of DaemonSets stay."""
    agent = pod("agent", 300, nodeName="a")
    agent["metadata"] |= owned_by("DaemonSet", "agent")
    others = [pod("small", 200, nodeName="a"), pod("large", 500, nodeName="a")]
    result = found(node("a"), node("b", 300), *others, agent, pod("asked", 200, nodeSelector={HOSTNAME: "a"}))
    assert patches(result, "move") == ["pod default/small nodeName=b"]
    assert patches(result, "delete") == ["delete pod default/large"]
    result = found(node("a"), *others, agent, pod("asked", 200))
    assert patches(result, "delete") == ["delete pod default/small", "delete pod default/large"]


def test_a_new_node_runs_the_daemons():
    """One more node of each kind, with what DaemonSets run there: the smaller one is too small with them."""
    agents = [pod(f"agent-{name}", 300, nodeName=name) for name in ("small", "large")]
    for agent in agents:
        agent["metadata"] |= owned_by("DaemonSet", "agent")
    fill = [pod("fill-small", 500, nodeName="small"), pod("fill-large", 1000, nodeName="large")]
    result = found(node("small"), node("large", 1500), *agents, *fill, pod("asked", 900))
    assert patches(result, "addNode") == ["copy node large"]
    assert one(result, "addNode").host == "large-1"


def test_the_example():
    """For the yearly report, first in the files: a larger node; what others need later costs them, or does
    not last."""
    result = kubeclassic.what_if(CLUSTER, REPORT, order="input")
    plain = kubeclassic.simulate(CLUSTER, order="input")
    assert [one.is_costly for one in result.suggestions] == sorted(
        one.is_costly for one in result.suggestions
    )
    first, second = [one for one in result.suggestions if one.is_costly][:2]
    assert (first.patch, first.host) == ((f"pod {REPORT} requests.memory=28Gi",), "gpu-b1")
    assert first.evicted_by == "kube-system/node-agent-gpu-b1"
    assert first.effect.without_node == ("analytics/nightly-report-0", "analytics/nightly-report-1")
    assert second.patch == (f"pod {REPORT} tolerations+=dedicated=database:NoSchedule",)
    assert second.evicted_by.startswith("shop/orders-")
    for each in result.suggestions:
        found = kubeclassic.simulate(CLUSTER, edits=each.patch, order="input")
        outcome = found.outcomes[REPORT]
        assert outcome.host == (each.host if each.evicted_by is None else None)
        assert each.evicted_by == (None if outcome.eviction is None else outcome.eviction.by)
        assert (each.effect.placed, each.effect.placed_before) == (found.summary.placed, plain.summary.placed)
        lost = {key for key, host in found.hosts.items() if host is None and plain.hosts[key] is not None}
        assert {*each.effect.without_node, *each.effect.evicted} - {REPORT} == lost - {REPORT}


def test_room_for_all():
    """A larger node is one with room for the pods, too, that would then go there first."""
    waiting = pod("first", 600, priority=9), pod("asked", 1100)
    result = found(node("a", 700), node("b", 1000), *waiting)
    assert sorted(patches(result, "allocatable")) == [
        "node a allocatable.cpu=1700m",
        "node b allocatable.cpu=1700m",
    ]
    assert not any(each.is_costly for each in result.suggestions if each.kind == "allocatable")


class TestAWantedNode:
    ITEMS = (node("a", 1000), node("b", 2000), pod("asked", 500))

    def test_among_nodes_that_fit(self):
        """A preference is less than a nodeSelector; the node that has the pod needs nothing."""
        result = found(*self.ITEMS, want="a")
        assert [each.kind for each in result.suggestions][:2] == ["preference", "nodeSelector"]
        assert {each.host for each in result.suggestions} == {"a"}
        assert found(*self.ITEMS, want="b").fits

    def test_a_change_and_a_pin(self):
        """Where a change alone lets another node win, the hostname is selected too."""
        told = one(
            found(
                node("a", taints=[taint(("k", "", "NoSchedule"))]),
                node("b", 2000),
                pod("asked", 500),
                want="a",
            ),
            "toleration",
        )
        assert told.patch == (
            f"pod {ASKED} tolerations+=k:NoSchedule",
            f"pod {ASKED} nodeSelector.{HOSTNAME}=a",
        )

    def test_taints_that_put_off(self):
        """A PreferNoSchedule taint goes, or is tolerated."""
        items = (
            node("a", 2000, taints=[taint(("k", "v", "PreferNoSchedule"))]),
            node("b", 1900),
            pod("asked", 100),
        )
        result = found(*items, want="a")
        assert f"pod {ASKED} tolerations+=k=v:PreferNoSchedule" in patches(result, "toleration")
        assert "node a taints-=k=v:PreferNoSchedule" in patches(result, "taint")

    def test_own_preferences(self):
        """A preference of the pod that draws it elsewhere is removed."""
        prefer = {
            "weight": 10,
            "preference": {"matchExpressions": [{"key": HOSTNAME, "operator": "In", "values": ["a"]}]},
        }
        affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [prefer]}}
        result = found(node("a", 1000), node("b", 2000), pod("asked", 200, affinity=affinity), want="b")
        told = "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]-"
        assert f"pod {ASKED} {told}" in patches(result, "preference")

    def test_room_by_eviction(self):
        """A higher priority makes room on the wanted node if it is selected too."""
        items = node("a"), node("b"), pod("other", 800, nodeName="a", priority=3), pod("asked", 500)
        told = one(found(*items, want="a"), "priority")
        assert told.patch == (f"pod {ASKED} priority=4", f"pod {ASKED} nodeSelector.{HOSTNAME}=a")
        assert told.victims == ("default/other",)

    def test_a_placed_pod(self):
        """A pod on a node is asked about as if it had none."""
        result = found(node("a"), node("b", 9000), pod("asked", 500, nodeName="a"), want="a")
        assert (result.explanation.answer.placed_on, result.host) == ("a", "b")
        assert {each.host for each in result.suggestions} == {"a"}


# --- The moment ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", ["1.12", "1.16", "1.27"])
def test_all_is_as_before(release):
    """After every trial of every family the decision, its details and the sums of the nodes are those
    from before."""
    spec = SchedulerSpec.of(options_of({"release": release})).read()
    scenario = scenario_of(CLUSTER, scheduler_names=spec.scheduler_names)
    asked = scenario.pending[0]
    scheduled = ScheduledPod(scenario, spec, Subject(asked))
    start = Start.of(Simulation(scenario, spec.engine()), asked)
    before = kubeclassic.explain(CLUSTER, asked.key, scheduler=release, alone=True)
    for _ in range(2):
        with scheduled.turn(start, asked) as context:
            context.reports = before.nodes
            found = (
                explain(context.engine, context.pod),
                context.engine.table.requested.copy(),
                sorted(map(id, context.nodes())),
            )
            for _, family in FAMILIES:
                for change in family(context):
                    context.helpful(change)
            assert plain(explain(context.engine, context.pod).answer) == plain(found[0].answer)
            rows = found[1].shape[1]
            assert (context.engine.table.requested[:, :rows] == found[1]).all()
            assert sorted(map(id, context.nodes())) == found[2]
        with start.whole(Edits()) as plainly:
            ends = [one.host for one in plainly.outcomes.values()]
        with start.whole(Edits.parse(["delete pod *", "cordon node *"])) as emptied:
            lost = {one.host for one in emptied.outcomes.values() if not one.pod.spec.tolerations}
        assert lost <= {None}
        assert ends == list(kubeclassic.simulate(CLUSTER, release, order="input").hosts.values())


def test_what_comes_before_is_scheduled_first():
    """The pods before it take their places first, unless it is asked alone."""
    items = node("a"), pod("first", 600), pod("asked", 600)
    assert not found(*items).fits
    assert found(*items, alone=True).fits


def test_kinds_are_in_order():
    """No two kinds disturb alike, and suggestions come in this order."""
    assert len(set(DISTURBS.values())) == len(DISTURBS)
    assert list(DISTURBS.values()) == sorted(DISTURBS.values())


def test_bad_input():
    """An unknown node, and values of another type, are refused in one line."""
    with pytest.raises(KubeclassicError, match='node: expected a node of the cluster, got "c"'):
        found(*TestAWantedNode.ITEMS, want="c")
    with pytest.raises(KubeclassicError, match="want: expected the name of a node, got 7"):
        found(*TestAWantedNode.ITEMS, want=7)  # type: ignore[arg-type]  # what users may do
    with pytest.raises(KubeclassicError, match=r"pod: expected .*, got 7"):
        kubeclassic.what_if(CLUSTER, 7)  # type: ignore[arg-type]  # what users may do


def test_the_result():
    """The result has a short form, a table and plain data."""
    result = found(node("a"), pod("asked", 1500))
    assert repr(result) == f"<WhatIfResult: pod {ASKED}, suggestions {len(result.suggestions)}>"
    assert result.view().table("suggestions").records()[0]["patch"] == f"pod {ASKED} requests.cpu=1"
    assert attrs.evolve(result, suggestions=()).ok is False
