"""The pods that go when a workload is scaled down."""

import pytest
import yaml

from kubeclassic.api.controlplane import surplus
from tests.support.build import manifest, owned_by, pod

COST = "controller.kubernetes.io/pod-deletion-cost"
INDEX = "batch.kubernetes.io/job-completion-index"


def workload(kind, **spec):
    labels = {"app": "web"}
    selector = {"matchLabels": labels}
    return manifest(kind, "web", namespace="default", spec={"selector": selector, "template": {}, **spec})


def owned(kind, name, annotations=None, deleted=None, **given):
    """A pod of the workload, on a node; *given*: its condition Ready, since when, and its phase."""
    condition = {
        "type": "Ready",
        "status": given.get("ready", "True"),
        "lastTransitionTime": given.get("since"),
    }
    metadata = owned_by(kind, "web", "") | {"annotations": annotations or {}, "deletionTimestamp": deleted}
    status = {"phase": given.get("phase", "Running"), "conditions": [condition]}
    return pod(name, on=given.get("on", name), labels={"app": "web"}, metadata=metadata, status=status)


def gone(scaled, pods):
    return {found.name for found in surplus([scaled], [scaled], pods)}


@pytest.mark.parametrize(
    "policy, unready, deleted, left",
    [
        ("OrderedReady", "", "", {"web-0"}),
        ("OrderedReady", "0", "", {"web-0", "web-1", "web-2", "web-3"}),
        ("OrderedReady", "2", "", {"web-0"}),
        ("OrderedReady", "12", "", {"web-0", "web-1", "web-2"}),
        ("OrderedReady", "", "2", {"web-0", "web-1", "web-2"}),
        ("Parallel", "02", "", {"web-0"}),
    ],
)
def test_in_order(policy, unready, deleted, left):
    """A StatefulSet deletes its last pods one by one, none while one that stays is not ready, and none after
    one that is leaving or, unless it is the first such pod, not ready."""
    names = [f"web-{at}" for at in range(4)]
    pods = [
        owned(
            "StatefulSet",
            name,
            ready=str(name[-1] not in unready),
            deleted="2024-01-01T00:00:00Z" if name[-1] in deleted else None,
        )
        for name in names
    ]
    scaled = workload("StatefulSet", replicas=1, podManagementPolicy=policy)
    assert set(names) - gone(scaled, pods) == left


@pytest.mark.parametrize(
    "one, other",
    [
        ("{phase: Pending}", "{}"),
        ("{phase: Unknown}", "{}"),
        ("{annotations: {COST: '-3'}}", "{}"),
        ("{}", "{annotations: {COST: '3'}}"),
        ("{annotations: {COST: '+9'}}", "{annotations: {COST: '3'}}"),
        ("{annotations: {COST: '09'}}", "{annotations: {COST: '3'}}"),
        ("{annotations: {COST: '99999999999'}}", "{annotations: {COST: '3'}}"),
        ("{since: '2024-01-02T00:00:00Z'}", "{since: '2024-01-01T00:00:00Z'}"),
    ],
)
@pytest.mark.parametrize("swapped", [False, True])
def test_who_goes_first(one, other, swapped):
    """Of two pods of a ReplicaSet the first goes."""
    given = [("one", one), ("other", other)]
    pods = [
        owned("ReplicaSet", name, **yaml.safe_load(text.replace("COST", COST)))
        for name, text in (given[::-1] if swapped else given)
    ]
    assert gone(workload("ReplicaSet", replicas=1), pods) == {"one"}


def test_siblings():
    """The pods of the other ReplicaSets of a Deployment count for who has company on a node; in a ReplicaSet
    of its own nobody has."""
    owner = owned_by("Deployment", "d")
    siblings = [workload("ReplicaSet", replicas=1) for _ in range(2)]
    for name, item in zip(("web", "old"), siblings, strict=True):
        item["metadata"] |= {"name": name, **owner}
    deployment = manifest("Deployment", "d", namespace="default", spec={"replicas": 2})
    old = pod("old", on="b", labels={"app": "web"}, metadata=owned_by("ReplicaSet", "old", ""))
    pods = [owned("ReplicaSet", "a", on="a"), owned("ReplicaSet", "b", on="b"), old]
    assert [item.name for item in surplus(siblings[:1], [*siblings, deployment], pods)] == ["b"]
    assert gone(workload("ReplicaSet", replicas=2), [*pods[:2], owned("ReplicaSet", "c", on="b")]) == {"a"}


def test_indexes():
    """Those pods of an indexed Job go first whose index is too high, or that of another one, whatever they
    cost."""
    scaled = workload("Job", parallelism=2, completions=3, completionMode="Indexed")
    indexes = {"a": "1", "b": "3", "c": "1", "d": "0"}
    pods = [owned("Job", name, {INDEX: index, COST: "-5" * (name == "d")}) for name, index in indexes.items()]
    assert gone(scaled, pods) in ({"a", "b"}, {"b", "c"})
