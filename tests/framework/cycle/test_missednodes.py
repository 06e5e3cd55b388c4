"""A list of nodes that misses one, and has another twice, as 1.17 makes it after a node's zone changed: what
its cycle leaves behind. The original answered these cases so."""

from kubeclassic.simulation.conform import USUAL, answer_case
from tests.support.manifests import node, pod

ZONE = "topology.kubernetes.io/zone"


def cycles(*pods, there=(), gates=None, version="1.17", event=None, **allocatable):
    """The cycles of *pods*, the first of them before *event*: node b moves to another zone."""
    nodes = [node(name, labels={ZONE: "1"}, allocatable=allocatable) for name in "abc"]
    moves = {"event": "update", "object": node("b", labels={ZONE: "2"}, allocatable=allocatable)}
    case = {
        "name": "c",
        "version": version,
        "objects": [*nodes, *there],
        "pending": [pods[0], event or moves, *pods[1:]],
    }
    return answer_case({**case, "config": {"featureGates": gates or {}}}, USUAL)["cycles"]


def test_preemption_tries_the_missed_node():
    """Two nodes are judged; all three could make room."""
    low = [pod(f"low-{name}", on=name, cpu="4", priority=0) for name in "abc"]
    (_, new, *_) = cycles(pod("much", cpu="9"), pod("high", cpu="4", priority=9), there=low)
    assert new["error"] == "0/3 nodes are available: 2 Insufficient cpu."
    assert sorted(new["preemption"]["candidates"]) == ["a", "b", "c"]


def test_a_pod_is_leaving_the_missed_node():
    """A pod that waits for room on that node does not preempt others; in 1.18, after a node came."""
    leaving = {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}
    low = [pod(f"low-{name}", on=name, cpu="4", priority=0, **leaving) for name in "abc"]
    comes = {"event": "add", "object": node("d", labels={ZONE: "2"}, cpu="1")}
    pods = pod("much", cpu="9"), pod("high", cpu="4", priority=9, nominated="c")
    (_, new, *_) = cycles(*pods, there=low, version="1.18", event=comes)
    assert sorted(new["failed"]) == ["a", "b", "d"]
    assert (new["preemption"]["node"], new["preemption"]["candidates"]) == (None, {})


def test_counts_of_volumes_outlast_the_cycle():
    """The next pod is scored by the volumes of the pod before it, where nothing changed since."""
    volumes = [{"name": name, "awsElasticBlockStore": {"volumeID": name}} for name in "xy"]
    pods = [pod("much", cpu="9"), pod("disks", cpu="1m", volumes=volumes), pod("plain", cpu="1m")]
    scores = cycles(*pods, gates={"BalanceAttachedNodeVolumes": True}, **{"attachable-volumes-aws-ebs": "4"})
    assert scores[2]["priorities"]["NodeResourcesBalancedAllocation"] == {"a": 94, "b": 98, "c": 99}


def test_a_nominated_pod_counts_on_both_copies():
    """b, which is in the list twice, has room for *later*, but for *high*, which waits for it."""
    low = [pod(f"low-{name}", on=name, cpu="2", priority=rank) for rank, name in enumerate("bac")]
    high, later = (pod(name, cpu=cpu, priority=9) for name, cpu in (("high", "3"), ("later", "2")))
    (_, new, *_) = cycles(high, later, there=low)
    assert (new["feasible"], new["failed"]) == (["a"], {"b": ["Insufficient cpu"]})
