"""NodeResourcesFit and NodeResourcesBalancedAllocation: room, and how it would be used, by example and
against plain numbers."""

import pytest
import yaml

from kubeclassic.core.arrays.batch import Batch
from kubeclassic.core.run import EventFeed
from kubeclassic.framework.config.args import read_args
from kubeclassic.framework.flow import framework_engine
from kubeclassic.framework.plugins.noderesources import NodeResourcesBalancedAllocation, NodeResourcesFit
from kubeclassic.simulation.conform import build
from tests.support.asking import cycle_of, handle, scores
from tests.support.build import node, pod
from tests.support.frameworkbuild import configuration

GPU = "example.com/gpu"
TPU = "example.com/tpu"


def fit(**args):
    return NodeResourcesFit(read_args("NodeResourcesFit", args), handle())


def strategy(kind):
    """The plugin with a scoring strategy."""
    return fit(scoringStrategy={"type": kind})


def reasons(new, *objects, by=None):
    """The reasons of the node called n."""
    cycle = cycle_of(new, *objects)
    failures = (by or fit()).filter(cycle.template, Batch(cycle.table), cycle)
    return [reason.text for reason in (failures.reasons(cycle.table.row_of["n"]) if failures else ())]


def test_a_request_is_held_against_what_is_left():
    """The original compares with allocatable minus requested, which does not wrap around where the sum of
    two requests does."""
    objects = [node("n", memory="7Ei"), pod("old", on="n", requests={"memory": "6Ei"})]
    assert reasons(pod("new", requests={"memory": "6Ei"}), *objects) == ["Insufficient memory"]
    assert reasons(pod("new", requests={"memory": "1Ei"}), *objects) == []


def test_a_scalar_of_zero_is_not_looked_at():
    """A node that is overcommitted in a scalar takes a pod that asks for 0 of it."""
    objects = [node("n"), pod("old", on="n", requests={GPU: "1"})]
    assert reasons(pod("new", requests={GPU: "0"}), *objects) == []


@pytest.mark.parametrize(
    "args, names",
    [
        ({"ignoredResources": [GPU]}, [TPU]),
        ({"ignoredResourceGroups": ["example.com"]}, []),
        ({"ignoredResources": ["hugepages-2Mi"]}, [GPU, TPU]),
    ],
)
def test_extended_resources_can_be_ignored(args, names):
    """Resources are ignored by name or by the part before the slash; others never are."""
    assert reasons(pod("new", requests={GPU: "1", TPU: "1"}), node("n"), by=fit(**args)) == [
        f"Insufficient {name}" for name in names
    ]


def test_huge_pages_cannot_be_ignored():
    """Only extended resources can be ignored."""
    args = {"ignoredResources": ["hugepages-2Mi"], "ignoredResourceGroups": ["hugepages-2Mi"]}
    assert reasons(pod("new", requests={"hugepages-2Mi": "2Mi"}), node("n"), by=fit(**args)) == [
        "Insufficient hugepages-2Mi"
    ]


def raw(plugin, new, *objects):
    return scores(plugin, new, *objects, raw=True)


def test_too_much_is_as_good_as_full():
    """MostAllocated gives a node that would be overcommitted 100, LeastAllocated 0."""
    new = pod("new", requests={"cpu": "2", "memory": "2Gi"})
    small = node("n", cpu="1", memory="1Gi")
    assert raw(strategy("MostAllocated"), new, small) == {"n": 100}
    assert raw(strategy("LeastAllocated"), new, small) == {"n": 0}


def test_the_number_of_pods_is_no_share():
    """Scores by ``pods`` count nothing, wherever it stands among the resources."""
    new = pod("new", requests={"cpu": "1", "memory": "1Gi"})
    nodes = [node(name, cpu=cpu, memory="4Gi") for name, cpu in (("big", "4"), ("small", "2"))]

    def scored(*names):
        resources = [{"name": name, "weight": 1} for name in names]
        return raw(fit(scoringStrategy={"type": "LeastAllocated", "resources": resources}), new, *nodes)

    for names in (("cpu",), ("cpu", "memory"), (GPU, "memory")):
        assert scored("pods", *names) == scored(*names, "pods") == scored(*names)
    assert scored("pods") == {"big": 0, "small": 0}


@pytest.mark.parametrize(
    "release, more, hosts",
    [
        ("1.26", {}, ["n", "n"]),
        ("1.27", {}, ["n", "n"]),
        ("1.26", {"cpu": "1"}, ["n", "n"]),
        ("1.27", {"cpu": "1"}, ["n", None]),
        ("1.36", {"cpu": "1"}, ["n", "n"]),
    ],
)
def test_containers_that_64_bits_do_not_hold(release, more, hosts):
    """Such a pod takes less than nothing on its node, and from 1.27 on asks for nothing. 1.27 looks at memory
    all the same if it asks for anything else."""
    requests = [{"memory": str(2**63 - 1)}, {"memory": "2", **more}]
    containers = [{"name": f"c{at}", "resources": {"requests": one}} for at, one in enumerate(requests)]
    made = scheduler(release, node("n", cpu="8", memory="16Gi"))
    found = []
    for name in ("one", "two"):
        new = pod(name, containers=containers)
        found.append(made.schedule(new).host)
        if found[-1]:
            made.assume(new, found[-1])
    assert found == hosts


def test_a_balance_that_64_bits_do_not_hold():
    """A sum that has wrapped around on a tiny node becomes the least number, as in Go, and numpy warns of
    nothing."""
    balance = NodeResourcesBalancedAllocation(read_args("NodeResourcesBalancedAllocation", {}), handle())
    tiny = [node("n", cpu="4", memory="1"), pod("old", on="n", requests={"memory": "200"})]
    assert scores(balance, pod("new", requests={"cpu": "1", "memory": "9Ei"}), *tiny, raw=True) == {
        "n": -(2**63)
    }


# --- NodeResourcesFit, NodeResourcesBalancedAllocation and NodePorts in releases after 1.27, by example -----


PORTS = [{"hostPort": 80, "containerPort": 80}]
SIDECAR = {"name": "s", "restartPolicy": "Always", "resources": {"requests": {"cpu": "2"}}, "ports": PORTS}


def scheduler(release, *objects):
    """A scheduler of *release* with the default profile."""
    config = {"percentageOfNodesToScore": 100, "profile": None}
    made = build({"name": "requests", "version": release, "config": config}, {})
    EventFeed(made).put_all(objects)
    return made


def with_sidecar(name, cpu="3", **more):
    """A pod with a sidecar of 2 cpu and a host port."""
    return pod(name, cpu=cpu, initContainers=[SIDECAR], **more)


def test_overhead_in_scores_of_one_pod_after_the_other():
    """1.23 leaves the overhead out of what it scores: a pod with it is not scored as one that requests as
    much."""
    pods = [
        pod("bare", requests={"memory": "2Gi"}),
        pod("over", requests={"memory": "1Gi"}, overhead={"memory": "1Gi"}),
    ]
    shape = [{"utilization": used, "score": score} for used, score in ((0, 0), (25, 10), (50, 0))]
    strategy = {
        "type": "RequestedToCapacityRatio",
        "resources": [{"name": "memory"}],
        "requestedToCapacityRatio": {"shape": shape},
    }
    profile = {
        "plugins": yaml.safe_load("{score: {disabled: [{name: '*'}], enabled: [{name: NodeResourcesFit}]}}"),
        "pluginConfig": [{"name": "NodeResourcesFit", "args": {"scoringStrategy": strategy}}],
    }
    nodes = [node("small", memory="4Gi"), node("large", memory="16Gi")]
    for order in (pods, pods[::-1]):
        made = framework_engine(configuration(profile, release="1.23", version="v1beta2"))
        EventFeed(made).put_all(nodes)
        assert {one.name: made.schedule(one).host for one in order} == {"bare": "large", "over": "small"}


def test_without_the_gate_bound_pods_count():
    """A bound pod with a sidecar takes up room even where these are off."""
    made = scheduler("1.28", node("n"), with_sidecar("old", "1", on="n"))
    assert made.schedule(pod("new", cpu="2")).host is None
    assert made.schedule(pod("new", cpu="1")).host == "n"


def test_host_ports():
    """The host port of a sidecar is taken from 1.34 on; that of another init container never is."""
    port = [{"name": "c", "ports": PORTS}]
    new = pod("new", containers=port)
    plain = pod("plain", on="n", initContainers=[{**SIDECAR, "restartPolicy": None}])
    assert scheduler("1.33", node("n"), with_sidecar("old", on="n")).schedule(new).host == "n"
    assert scheduler("1.34", node("n"), with_sidecar("old", on="n")).schedule(new).host is None
    assert scheduler("1.34", node("n"), plain).schedule(new).host == "n"
    assert (
        scheduler("1.34", node("n"), pod("old", on="n", containers=port))
        .schedule(with_sidecar("new", "1"))
        .host
        is None
    )


def test_too_many_pods_is_no_size():
    """A node that takes no pod at all may still be helped, as far as 1.34 says."""
    made = scheduler("1.34", node("n", pods="0"))
    assert "1 No preemption victims found" in (made.schedule(pod("new", cpu="1")).error or "")


def test_where_a_pod_is_nominated():
    """A pod that is nominated to a node which has become too small may make room elsewhere while its
    victims still leave."""
    condition = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
    leaving = pod(
        "victim",
        on="small",
        metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"},
        status={"conditions": [condition]},
    )
    objects = [node("small", cpu="1"), node("large", cpu="4"), leaving, pod("other", on="large", cpu="4")]
    new = pod("new", cpu="3", priority=10, nominated="small")
    plans = [scheduler(release, *objects).schedule(new).preemption for release in ("1.33", "1.34")]
    assert [plan.node if plan is not None else None for plan in plans] == [None, "large"]


def test_an_update_makes_room():
    """A bound pod that has shrunk leaves room once its status says so."""

    def running(asked, has):
        states = [{"name": "c", "resources": {"requests": {"cpu": has}}}]
        return pod("old", on="n", cpu=asked, status={"phase": "Running", "containerStatuses": states})

    made = scheduler("1.33", node("n"), running("3", "3"))
    for asked, has, host in (("1", "3", None), ("1", "1", "n")):
        EventFeed(made).put(running(asked, has))
        assert made.schedule(pod("new", cpu="2")).host == host
