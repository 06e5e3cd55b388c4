"""A new pod after an edit is the one whose manifest says so from the start."""

import json
import shlex

import pytest
import yaml

from kubeclassic import Cluster, simulate, what_if
from kubeclassic.simulation.fieldchanges import EditError
from kubeclassic.simulation.input import scenario_of
from tests.support.manifests import manifest, node, pod

NAMES = ["default-scheduler"]
RULES = [
    manifest("RuntimeClass", "r", handler="h", overhead={"podFixed": {"cpu": "3"}}),
    manifest("PriorityClass", "modest", value=5, preemptionPolicy="Never"),
    manifest(
        "LimitRange",
        "l",
        namespace="default",
        spec={
            "limits": [{"type": "Container", "default": {"memory": "2Gi"}, "defaultRequest": {"cpu": "2"}}]
        },
    ),
    manifest("StorageClass", "s", provisioner="csi", volumeBindingMode="Immediate"),
    manifest("ResourceClaimTemplate", "gpu", namespace="default", spec={"spec": {"devices": {}}}),
]
SPREAD = [
    {
        "maxSkew": 1,
        "topologyKey": "pool",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": {"app": "p"}},
        "matchLabelKeys": ["version"],
    }
]
CLAIM = yaml.safe_load(
    "{storageClassName: s, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}"
)
SCRATCH = [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": CLAIM}}}]
DEVICES = [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]
FIELDS = {
    "runtimeClassName": "r",
    "priorityClassName": "modest",
    "volumes": SCRATCH,
    "resourceClaims": DEVICES,
    "tolerations": [],
}


def made(spec=None, version="1", **limits):
    """A pod that is limited to one CPU, unless *limits* say otherwise."""
    amounts = {"limits": {"cpu": "1", **limits}}
    return pod("p", labels={"version": version}, topologySpreadConstraints=SPREAD, **amounts, **(spec or {}))


DEFAULT_TOLERATIONS = [
    {
        "key": f"node.kubernetes.io/{state}",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 300,
    }
    for state in ("not-ready", "unreachable")
]
EDITS = [
    *((f"{name}={json.dumps(value)}", made({name: value})) for name, value in FIELDS.items()),
    ("limits.cpu=3", made(cpu="3")),
    ("labels.version=2", made(version="2")),
]


@pytest.mark.parametrize("edit, wanted", EDITS)
@pytest.mark.parametrize("form", [list, Cluster])
def test_as_its_manifest(form, edit, wanted):
    """It is admitted as it was written then, and has the claims that are made for it; in a Cluster, too."""
    edits = [f"pod p {shlex.quote(edit)}", "pod p labels.more=x"]
    wanted["metadata"]["labels"]["more"] = "x"
    found, expected = (
        scenario_of(form([node(), *RULES, one]), scheduler_names=NAMES, edits=texts)
        for one, texts in ((made(), edits), (wanted, ()))
    )
    ours, theirs = (scenario.pending[0] for scenario in (found, expected))
    assert (ours.spec, ours.labels, ours.status) == (theirs.spec, theirs.labels, theirs.status)
    assert {item.identity for item in found.objects} == {item.identity for item in expected.objects}


@pytest.mark.parametrize("edit", ["requests.memory=3Gi", "priorityClassName=lost"])
def test_refusals(edit):
    """What the API server would refuse is an error."""
    with pytest.raises(EditError, match="refused by the API server"):
        simulate([node(), *RULES, made()], edits=[f"pod p {edit}"])


@pytest.mark.parametrize(
    "edit, pods, refused",
    [
        ("pod p limits.memory=2Gi", ["p", "web"], ["lost"]),
        ("pod lost priorityClassName-", ["lost", "web"], ["p"]),
        ("pod * limits.memory=2Gi", ["p", "web"], ["lost"]),
        ("delete pod p", ["web"], ["lost"]),
        ("node a labels.x=y", ["web"], ["p", "lost"]),
        ("pod p limits.memory=2Gi requests.cpu=5", ["web"], ["lost", "p"]),
    ],
)
def test_what_was_refused(edit, pods, refused):
    """An edit mends a pod that the API server refused, which has its place in the order then, or deletes it;
    what it does not mend stays refused."""
    bounds = {"limits": [{"type": "Container", "max": {"memory": "2Gi"}}]}
    rules = manifest("LimitRange", "m", namespace="default", spec=bounds)
    given = [
        pod("p", cpu="1", limits={"memory": "4Gi"}),
        pod("lost", cpu="1", priorityClassName="lost", limits={"memory": "1Gi"}),
        pod("web", cpu="1", limits={"memory": "1Gi"}),
    ]
    quota = manifest("ResourceQuota", "q", namespace="default", spec={"hard": {"requests.cpu": "3"}})
    found = scenario_of([node(), rules, quota, *given], scheduler_names=NAMES, edits=[edit])
    assert [item.name for item in found.pending] == pods
    assert [item.name for item, _ in found.refused_pods] == refused
    told = [notice for notice in found.warnings if "refused" in notice.what]
    assert [notice.where for notice in told] == [f"Pod default/{name}" for name in refused]


@pytest.mark.parametrize(
    "edit, fault",
    [
        ("pod p limits.memory=3Gi", "maximum memory usage per Container is 2Gi"),
        ("pod web limits.memory=1Mi", "expected at most the limit"),
    ],
)
def test_what_stays_refused(edit, fault):
    """An edit that does not mend the one pod that it chooses is an error, as are limits below requests."""
    bounds = {"limits": [{"type": "Container", "max": {"memory": "2Gi"}}]}
    rules = manifest("LimitRange", "m", namespace="default", spec=bounds)
    given = [
        pod("p", limits={"memory": "4Gi"}),
        pod("web", requests={"memory": "1Gi"}, limits={"memory": "1Gi"}),
    ]
    with pytest.raises(EditError, match=fault):
        simulate([node(), rules, *given], edits=[edit])


@pytest.mark.parametrize(
    "edit, claims",
    [
        ("pod p volumes-", []),
        ("copy pod p", ["p-1-scratch", "p-scratch"]),
        ("delete pod p", []),
        ("delete pod db-0", ["db-0-scratch", "p-scratch"]),
        ("delete node a", ["db-0-scratch", "p-scratch"]),
    ],
)
def test_claims_come_and_go(edit, claims):
    """The claims of generic ephemeral volumes are made for new pods, and go with the old ones."""
    owner = [{"kind": "StatefulSet", "name": "db", "uid": "d", "controller": True}]
    created = "2024-01-01T00:00:00Z"
    meta = {"ownerReferences": owner, "creationTimestamp": created}
    db = pod("db-0", on="a", uid="old", metadata=meta, volumes=SCRATCH)
    of_db = {"ownerReferences": [{"kind": "Pod", "name": "db-0", "uid": "old", "controller": True}]}
    old = manifest(
        "PersistentVolumeClaim",
        "db-0-scratch",
        namespace="default",
        metadata={**of_db, "creationTimestamp": created},
        spec=CLAIM,
    )
    cluster = [node(), node("b"), *RULES, db, old, made({"volumes": SCRATCH})]
    objects = scenario_of(cluster, scheduler_names=NAMES, edits=[edit]).objects
    there = {item.name: item for item in objects if item.kind == "PersistentVolumeClaim"}
    is_new = [not item.metadata.creation_timestamp for item in there.values() if item.name == "db-0-scratch"]
    assert sorted({*there} - {"db-0-scratch"} | {"db-0-scratch"} & {*claims}) == claims
    assert is_new == (["db" in edit or "node" in edit] if "db-0-scratch" in there else [])


def test_rules_that_go():
    """Without a LimitRange, pods have none of its defaults."""
    found = scenario_of([node(), *RULES, made()], scheduler_names=NAMES, edits=["delete limitrange l"])
    assert found.pending[0].spec.containers[0].limits.keys() == {"cpu"}


def test_of_workloads():
    """Runtime class and claims to devices are fields of a workload's pods."""
    spec = {"selector": {"matchLabels": {"app": "d"}}, "template": {"metadata": {"labels": {"app": "d"}}}}
    spec["template"]["spec"] = {"containers": [{"name": "c"}]}
    texts = [
        f"deploy d {shlex.quote(f'resourceClaims={json.dumps(DEVICES)}')}",
        "deploy d runtimeClassName=r",
    ]
    deployment = manifest("Deployment", "d", namespace="default", apiVersion="apps/v1", spec=spec)
    (found,) = scenario_of([node(), *RULES, deployment], scheduler_names=NAMES, edits=texts).pending
    assert (len(found.spec.overhead), len(found.spec.resource_claims)) == (1, 1)


@pytest.mark.parametrize(
    "edit, policy", [("priorityClassName=other", "PreemptLowerPriority"), ("priority=7", None)]
)
def test_a_stored_pod_leaves_its_class(edit, policy):
    """The preemption policy of the old class goes with it."""
    meta = {"creationTimestamp": "2024-01-01T00:00:00Z"}
    spec = {"priority": 5, "priorityClassName": "modest", "preemptionPolicy": "Never"}
    cluster = [node(), *RULES, manifest("PriorityClass", "other", value=6), pod("p", metadata=meta, **spec)]
    (found,) = scenario_of(cluster, scheduler_names=NAMES, edits=[f"pod p {edit}"]).pending
    assert found.spec.preemption_policy == policy


ALONE = [
    manifest("RuntimeClass", "ssd", handler="h", scheduling={"nodeSelector": {"disk": "ssd"}}),
    manifest(
        "LimitRange", "l", namespace="default", spec={"limits": [{"type": "Container", "min": {"cpu": "1"}}]}
    ),
]


@pytest.mark.parametrize(
    "change, cpu, is_refused",
    [("nodeSelector.disk-", "2", False), ("requests.cpu=500m", "2", True), ("requests.cpu=500m", "0", False)],
)
def test_a_stored_pod_that_waits_is_made_anew(change, cpu, is_refused):
    """Its RuntimeClass selects nodes again, and a LimitRange refuses what it would refuse of a new pod; not
    if it would refuse the pod as it is."""
    meta = {"creationTimestamp": "2024-01-01T00:00:00Z"}
    spec = {"runtimeClassName": "ssd", "nodeSelector": {"disk": "ssd"}, "priority": 0}
    asked = pod("p", cpu=cpu, metadata=meta, tolerations=DEFAULT_TOLERATIONS, **spec)

    def changed():
        return scenario_of([node(), *ALONE, asked], scheduler_names=NAMES, edits=[f"pod p {change}"]).pending

    if is_refused:
        with pytest.raises(EditError, match="refused by the API server: minimum cpu usage"):
            changed()
    else:
        assert changed()[0].spec.node_selector == {"disk": "ssd"}


def test_a_policy_of_a_class():
    """A pod of a class that never preempts has to leave it: the suggestion is an edit that does so."""
    cluster = [node(cpu="2"), *RULES, pod("low", cpu="2", on="a", priority=0)]
    asked = pod("asked", cpu="2", priorityClassName="modest")
    (patch,) = [
        found.patch
        for found in what_if([*cluster, asked], "asked").suggestions
        if found.change.startswith("let the pod evict others")
    ]
    (placed,) = simulate([*cluster, asked], edits=patch).document.pods
    assert placed.host == "a"
