"""New pods and claims that quotas refuse."""

import pytest

import kubeclassic
from kubeclassic.api.controlplane import within_quotas
from kubeclassic.exceptions import ManifestError
from tests.support import manifests
from tests.support.build import manifest, obj, owned_by, pod

STORED = {"creationTimestamp": "2024-01-01T00:00:00Z"}
CLAIMED = "persistentvolumeclaims"


def quota(hard, used=None, **spec):
    status = {} if used is None else {"status": {"hard": hard, "used": used}}
    return obj(manifest("ResourceQuota", "q", namespace="default", spec={"hard": hard, **spec}, **status))


def claim(name, **fields):
    spec = {"resources": {"requests": {"storage": "1Gi"}}, **fields}
    return obj(manifest("PersistentVolumeClaim", name, namespace="default", spec=spec))


def stateful(name, claim_name):
    volume = {"name": "d", "persistentVolumeClaim": {"claimName": claim_name}}
    return pod(name, metadata=owned_by("StatefulSet", "db"), volumes=[volume])


def used_up(name, requested, used, limited):
    return f"exceeded quota: q, requested: {name}={requested}, used: {name}={used}, limited: {name}={limited}"


CASES = {
    "each in its turn": (
        quota({"requests.cpu": "1"}),
        [pod("a", "600m"), pod("b", "500m"), pod("c", "400m")],
        {"b": used_up("requests.cpu", "500m", "600m", "1")},
    ),
    "pods that are there first": (
        quota({"pods": "2"}),
        [pod("a"), pod("b"), pod("there", on="n"), pod("stored", metadata=STORED)],
        {"a": used_up("pods", 1, 2, 2), "b": used_up("pods", 1, 2, 2)},
    ),
    "by the status, where it says": (
        quota({"pods": "2"}, {"pods": "1"}),
        [pod("there", on="n"), pod("stored", metadata=STORED), pod("a"), pod("b")],
        {"b": used_up("pods", 1, 2, 2)},
    ),
    "whoever does not say what it needs": (
        quota({"limits.memory": "1Gi"}),
        [pod("a"), pod("b", limits={"memory": "1Gi"})],
        {"a": "failed quota: q: must specify limits.memory"},
    ),
    "by scope": (quota({"pods": "0"}, scopes=["BestEffort"]), [pod("a", "1"), pod("b")], {"b": used_up("pods", 1, 0, 0)}),
    "by namespace": (quota({"pods": "0"}), [pod("a", namespace="other")], {}),
    "claims, and pods of StatefulSets with them": (
        quota({CLAIMED: "1"}),
        [claim("d-0"), stateful("db-0", "d-0"), claim("d-1"), stateful("db-1", "d-1"), claim("bound", volumeName="v")],
        dict.fromkeys(("d-0", "db-0", "d-1", "db-1"), used_up(CLAIMED, 1, 1, 1)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("limits, objects, expected", CASES.values(), ids=CASES)
def test_refused(limits, objects, expected):
    """New pods and claims are admitted in order while there is room; what is there already always is."""
    admitted = within_quotas((limits, *objects))
    assert {item.name: reason for item, reason in admitted.refused} == expected
    assert [item.name for item in admitted.objects] == [
        item.name for item in (limits, *objects) if item.name not in expected
    ]


def test_the_cluster_counts():
    """Pods and quotas that exist already count, whatever they lack and a status says."""
    for used in (None, {"pods": "0"}):
        admitted = within_quotas((pod("new"),), (quota({"pods": "1"}, used), pod("old")))
        assert admitted.objects == ()


def test_objects_of_a_python_cluster():
    """A pod beyond a quota is an error, a workload of which some pods are refused is not; a pod that is put
    again counts once."""
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c"}]}}
    spec = {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    web = manifest("Deployment", "web", namespace="default", spec=spec)
    cluster = kubeclassic.Cluster([manifests.node(), quota({"pods": "2"}), web])
    assert len(cluster.pods) == 2
    assert [str(warning).partition(": ")[2] for warning in cluster.warnings] == [
        f"refused by the API server: {used_up('pods', 1, 2, 2)}"
    ]
    cluster.update(cluster.pods[0])
    with pytest.raises(ManifestError, match="exceeded quota"):
        cluster.add(manifests.pod("more"))


def test_a_deleted_quota_refuses_nothing():
    """``--set 'delete resourcequota q'`` is made before pods are admitted."""
    objects = [manifests.node(), quota({"pods": "0"}), manifests.pod("a")]
    answer = kubeclassic.simulate(objects, edits=["delete resourcequota q"])
    assert [pod.host for pod in answer.document.pods] == ["a"]
