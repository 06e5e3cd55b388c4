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
