"""Limits of disks, of resources and of integers."""

import json

import pytest

from kubeclassic import Cluster, KubeclassicError, Scheduler
from kubeclassic.cli import run
from kubeclassic.core.decision.extender import FilterReply
from kubeclassic.core.decision.preemptionplan import Victims
from kubeclassic.framework.options import options_of
from kubeclassic.framework.releases import ALL_RELEASES, FRAMEWORK_RELEASES
from tests.support.build import dumped, manifest, node, pod
from tests.support.program import ran

FULL = "node(s) exceed max volume count"
BY_CSI_ALONE = [
    name
    for name, found in FRAMEWORK_RELEASES.items()
    if "EBSLimits" not in found.configuration.default_plugins
]
"""Releases that do not limit built-in disks by default."""
RELEASES = pytest.mark.parametrize("release", [name for name in ALL_RELEASES if name not in BY_CSI_ALONE])


def disks(name, *ids):
    """A pod with cloud disks."""
    return pod(name, volumes=[{"name": id, "awsElasticBlockStore": {"volumeID": id}} for id in ids])


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    """A file with one node, and a pod with three disks."""
    monkeypatch.delenv("KUBE_MAX_PD_VOLS", raising=False)
    volumes = [{"name": id, "awsElasticBlockStore": {"volumeID": id}} for id in "xyz"]
    waiting = manifest("Pod", "p", spec={"containers": [{"name": "c", "image": "i"}], "volumes": volumes})
    there = manifest("Node", "n", status={"allocatable": {"cpu": "4", "pods": "9"}})
    (tmp_path / "cluster.json").write_text(dumped([there, waiting]))
    return str(tmp_path / "cluster.json")


# --- Disks --------------------------------------------------------------------------------------------------


@RELEASES
def test_the_environment(release, cluster, monkeypatch):
    """KUBE_MAX_PD_VOLS limits the disks of nodes that do not say how many they take; what is no number is
    ignored, and told of."""
    for written, status in (("2", 1), ("3", 0), ("-2", 0), ("many", 0)):
        monkeypatch.setenv("KUBE_MAX_PD_VOLS", written)
        said = ran("simulate", cluster, "--release", release, status=status).err
        assert ("KUBE_MAX_PD_VOLS: expected" in said) == (written in ("-2", "many"))


@RELEASES
def test_the_option(release, cluster, monkeypatch):
    """--max-pd-vols says the same, and counts before the environment."""
    assert FULL in ran("simulate", cluster, "--release", release, "--max-pd-vols", "2", status=1).out
    monkeypatch.setenv("KUBE_MAX_PD_VOLS", "2")
    assert run(["simulate", cluster, "--release", release, "--max-pd-vols", "3"]) == 0
    assert run(["simulate", cluster, "--release", release, "--max-pd-vols", "0"]) == 2


def test_each_side_of_a_comparison(cluster):
    """In a comparison each side can have a limit of its own."""
    said = ran(
        "compare", cluster, "--a", "release=1.16", "--b", "release=1.16 max-pd-vols=2", "-o", "json", status=1
    ).out
    assert json.loads(said)["differences"][0]["causes"]["b"]["text"] == FULL


@RELEASES
def test_python(release, monkeypatch):
    """A Python program says it to the scheduler; its environment does not count."""
    monkeypatch.setenv("KUBE_MAX_PD_VOLS", "1")
    objects = Cluster([node("n"), disks("p", "x", "y")])
    assert Scheduler(objects, release).schedule("p").host == "n"
    assert Scheduler(objects, options_of({"release": release, "max_pd_vols": 1})).schedule("p").failed == {
        "n": [FULL]
    }
    for wrong in (0, "5", 2**63, True, 1.0):
        with pytest.raises(KubeclassicError, match="max_pd_vols: expected"):
            Scheduler(objects, options_of({"release": release, "max_pd_vols": wrong}))


MANY = {f"example.com/r{i}": str(i + 2) for i in range(40)}


@RELEASES
def test_any_number_of_resources(release):
    """Forty kinds of extended resources on nodes and pods count in every rule, in sums and in preemption."""
    low = pod("low", on="a", requests=MANY, priority=1)
    objects = [node("a", allocatable=MANY), node("b", allocatable={**MANY, "example.com/r39": "1"}), low]
    ours = Scheduler(Cluster(objects), release)
    decision = ours.schedule(pod("p", requests=MANY, priority=5))
    assert decision.failed["b"] == ["Insufficient example.com/r39"]
    told = {f"Insufficient {name}" for name in MANY}
    if ALL_RELEASES[release].framework.one_reason:
        assert len(decision.failed["a"]) == 1
        assert told.issuperset(decision.failed["a"])
    else:
        assert set(decision.failed["a"]) == told
        assert len(decision.failed["a"]) == len(told)
    assert (decision.preemption.node, [victim.name for victim in decision.preemption.victims]) == (
        "a",
        ["low"],
    )


def test_sums_beyond_64_bits_are_silent():
    """Sums of requests that wrap around give the original's scores, and no warning of numpy's."""
    huge = {"memory": "5Ei", "cpu": "1"}
    there = [pod(name, on="a", requests=huge) for name in "xy"]
    for release in ALL_RELEASES:
        ours = Scheduler(Cluster([node("a", memory="1"), node("b", memory="7Ei"), *there]), release)
        decision = ours.schedule(pod("p", cpu="1"))
        if release not in FRAMEWORK_RELEASES:
            assert decision.host == "a"
        else:
            assert "returns an invalid score" in str(decision.error)


class Picky:
    """An extender that leaves every candidate, and the victims of none."""

    url = "http://picky"
    supports_preemption = True

    def __init__(self, *, is_ignorable):
        self.is_ignorable = is_ignorable

    def is_interested(self, pod):
        return True

    def filter(self, pod, nodes):
        return FilterReply([node.name for node in nodes])

    def prioritize(self, pod, nodes):
        return {}

    def process_preemption(self, pod, candidates, pods_on):
        return {name: Victims([], 0) if name == "a" else victims for name, victims in candidates.items()}


class TestExtenders:
    def found(self, release, *, is_ignorable):
        """The plan for a pod that needs room on one of two nodes."""
        there = [pod(f"low-{name}", on=name, cpu="4", priority=1 if name == "a" else 2) for name in "ab"]
        ours = Scheduler(
            Cluster([node("a"), node("b"), *there]),
            options_of({"release": release, "extenders": [Picky(is_ignorable=is_ignorable)]}),
        )
        return ours.explain(pod("high", cpu="4", priority=9))

    def test_a_node_without_victims(self):
        """From 1.22 on an extender that leaves a node without victims is in error; an ignorable one loses that
        node."""
        for release in ("1.22", "1.27"):
            decision = self.found(release, is_ignorable=False)
            assert decision.preemption.error == 'expected at least one victim pod on node "a"'
            assert decision.preemption.node is None
            assert self.found(release, is_ignorable=True).preemption.node == "b"

    def test_nobody_is_asked(self):
        """In 1.19 no extender is asked about victims."""
        decision = self.found("1.19", is_ignorable=False)
        assert (decision.preemption.node, decision.preemption.victims[0].name) == ("a", "low-a")

    @pytest.mark.parametrize("release", ["1.12", "1.16", "1.18"])
    def test_before_nobody_looked(self, release):
        """Up to 1.18 such a node stands, and is the best, as nobody has to leave it."""
        for is_ignorable in (False, True):
            assert self.found(release, is_ignorable=is_ignorable).preemption.node == "a"
