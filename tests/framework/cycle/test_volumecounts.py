"""Counts of volumes that filters leave for scores, with gate BalanceAttachedNodeVolumes. The original answered
these cases so."""

from kubeclassic.simulation.conform import USUAL, answer_case
from tests.support.manifests import manifest, node, pod

IMMEDIATE = manifest("StorageClass", "now", volumeBindingMode="Immediate", provisioner="x")
UNBOUND = manifest(
    "PersistentVolumeClaim",
    "c",
    namespace="default",
    spec={"storageClassName": "now", "accessModes": ["ReadWriteOnce"]},
)


def disks(*names):
    """Volumes of a pod."""
    return [{"name": name, "awsElasticBlockStore": {"volumeID": name}} for name in names]


def balance(*pods, there=(), policy=None):
    """Node -> how balanced 1.18 finds it for the last of *pods*."""
    nodes = [node(name, cpu="1", allocatable={"attachable-volumes-aws-ebs": "5"}) for name in "ab"]
    gates = {"BalanceAttachedNodeVolumes": True}
    case = {
        "name": "c",
        "version": "1.18",
        "config": {"featureGates": gates, "policy": policy},
        "objects": [*nodes, *there],
        "pending": list(pods),
    }
    return answer_case(case, USUAL)["cycles"][-1]["priorities"]["NodeResourcesBalancedAllocation"]


def test_an_error_leaves_none_on_the_nodes_after_it():
    """The search ends with the error of the first node, so the second one is not counted."""
    claim = {"name": "claim", "persistentVolumeClaim": {"claimName": "c"}}
    bad = pod("bad", cpu="1m", volumes=[*disks("x", "y"), claim])
    assert balance(bad, pod("plain", cpu="1m"), there=[IMMEDIATE, UNBOUND]) == {"a": 96, "b": 99}


def test_a_dry_run_asks_all_plugins_where_the_search_does():
    """With alwaysCheckAllPredicates the count on a is that without the victim, though no room is made."""
    policy = {"kind": "Policy", "apiVersion": "v1"}
    low = pod("low", on="a", cpu="1m", volumes=disks("w", "x"), priority=0)
    pods = pod("high", cpu="2", priority=9, volumes=disks("y", "z")), pod("plain", cpu="1m")
    assert balance(*pods, there=[low], policy={**policy, "alwaysCheckAllPredicates": True})["a"] == 96
    assert balance(*pods, there=[low], policy=policy)["a"] == 98
