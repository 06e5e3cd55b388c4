"""The copies of a workload are the pods that its controller would make."""

import pytest
import yaml

from kubeclassic import capacity, simulate
from kubeclassic.api.load import load_documents
from kubeclassic.api.objects import ReplicaSet
from kubeclassic.api.reading.documents import Document
from kubeclassic.exceptions import ManifestError
from kubeclassic.questions.capacity.podtemplates import READ_KINDS, numbers_for, template_of
from tests.support.manifests import manifest

SPEC = yaml.safe_load("{containers: [{name: c, image: img, resources: {requests: {cpu: '1'}}}]}")
TEMPLATE = {"metadata": {"labels": {"app": "web"}}, "spec": SPEC}
NODE = manifest("Node", "a", status={"allocatable": {"cpu": "4", "pods": "100"}})


COMPLETE = {"type": "Complete", "status": "True"}


def workload(kind, spec=None, **more):
    """A workload of three pods; *spec*: what else its spec has."""
    given = {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": TEMPLATE, **(spec or {})}
    return {"kind": kind, "metadata": {"name": "web", "namespace": "shop"}, "spec": given, **more}


def read(document, known=()):
    """The template of a manifest, in a cluster that has *known*."""
    return template_of(
        load_documents([Document(document, "web.yaml")], raw_kinds=READ_KINDS), "web.yaml", known
    )


WORKLOADS = {
    "Deployment": workload("Deployment"),
    "ReplicaSet": workload("ReplicaSet"),
    "ReplicationController": workload("ReplicationController", {"selector": {"app": "web"}}),
    "StatefulSet": workload("StatefulSet"),
    "Job": workload(
        "Job", {"parallelism": 5, "completions": 9, "selector": None}, status={"conditions": [COMPLETE]}
    ),
    "Indexed": workload(
        "Job", {"completionMode": "Indexed", "parallelism": 5, "completions": 9, "selector": None}
    ),
    "CronJob": workload(
        "CronJob", {"suspend": True, "jobTemplate": {"spec": {"parallelism": 2, "template": TEMPLATE}}}
    ),
    "PodTemplate": manifest("PodTemplate", "web", namespace="shop", template=TEMPLATE),
    "Pod": manifest("Pod", "web", namespace="shop", labels={"app": "web"}, metadata={"uid": "u"}, spec=SPEC),
}


@pytest.mark.parametrize("kind", WORKLOADS)
def test_each_kind_gives_a_pod(kind):
    """A copy has the template's labels, the workload's namespace and its name with a number, and no node."""
    template = read(WORKLOADS[kind])
    pod, _ = template.copy(7)
    assert (template.kind, template.name, pod.key, pod.labels["app"], pod.metadata.uid) == (
        WORKLOADS[kind]["kind"],
        "web",
        "shop/web-7",
        "web",
        "",
    )
    assert (pod.spec.node_name, pod.metadata.creation_timestamp) == ("", None)
    index = "batch.kubernetes.io/job-completion-index"
    assert [found.get(index) for found in (pod.labels, pod.annotations)] == [
        "7" * (kind == "Indexed") or None
    ] * 2


def test_the_first_number():
    """Copies of a StatefulSet begin at its first ordinal."""
    template = read(workload("StatefulSet", {"ordinals": {"start": 5}}))
    assert next(numbers_for(template, ["shop/web-5"])) == 6


@pytest.mark.parametrize(
    "kind, owner",
    [
        ("Deployment", "ReplicaSet"),
        ("ReplicaSet", "ReplicaSet"),
        ("StatefulSet", "StatefulSet"),
        ("CronJob", "Job"),
    ],
)
def test_owners(kind, owner):
    """The copies belong to what makes them, so that they are spread as its pods."""
    found = read(WORKLOADS[kind]).pod.metadata.controller
    assert found.kind == owner


def test_a_deployment_brings_its_replica_set():
    """A Deployment that is not in the cluster comes with the ReplicaSet that its controller would make."""
    assert [item.kind for item in read(WORKLOADS["Deployment"]).objects] == ["ReplicaSet"]


def test_a_deployment_finds_its_newest_replica_set():
    """The copies of a Deployment of the cluster belong to its newest ReplicaSet."""
    owned = [
        manifest(
            "ReplicaSet",
            f"web-{number}",
            namespace="shop",
            labels={"pod-template-hash": f"h{number}"},
            metadata={
                "uid": f"u{number}",
                "annotations": {"deployment.kubernetes.io/revision": str(number)},
                "ownerReferences": [{"kind": "Deployment", "name": owner, "uid": "d", "controller": True}],
            },
        )
        for number, owner in ((1, "web"), (12, "web"), (2, "web"), (99, "other"))
    ]
    known = tuple(load_documents([Document(one, "rs") for one in owned]).of(ReplicaSet))
    found = read(WORKLOADS["Deployment"], known)
    controller = found.pod.metadata.controller
    assert (controller.name, controller.uid, found.pod.labels["pod-template-hash"], found.objects) == (
        "web-12",
        "u12",
        "h12",
        (),
    )


def test_the_copies_of_a_stateful_set_have_claims():
    """Each copy of a StatefulSet gets its own claims, and the label with its own name."""
    claims = yaml.safe_load("[{metadata: {name: data}, spec: {resources: {requests: {storage: 1Gi}}}}]")
    template = read(workload("StatefulSet", {"volumeClaimTemplates": claims}))
    pod, made = template.copy(3)
    assert [claim.key for claim in made] == ["shop/data-web-3"]
    assert [volume.persistent_volume_claim for volume in pod.spec.volumes] == ["data-web-3"]
    assert pod.labels["statefulset.kubernetes.io/pod-name"] == "web-3"
    assert pod.labels["apps.kubernetes.io/pod-index"] == "3"


def test_a_claim_that_is_there_is_kept(tmp_path):
    """A claim that a StatefulSet left behind is bound already: its copy goes to the volume's zone. So does a
    pod whose file has the claim as it was before."""
    zones = [
        manifest("Node", name, labels={"zone": name}, status={"allocatable": {"cpu": "1", "pods": "9"}})
        for name in ("a", "b")
    ]
    claims = yaml.safe_load("[{metadata: {name: data}, spec: {resources: {requests: {storage: 1Gi}}}}]")
    term = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["b"]}]}
    there = {"nodeAffinity": {"required": {"nodeSelectorTerms": [term]}}}
    bound = {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}}
    left = [
        manifest("PersistentVolume", "pv", spec=there),
        manifest(
            "PersistentVolumeClaim", "data-web-0", namespace="shop", metadata=bound, spec={"volumeName": "pv"}
        ),
    ]
    web = workload("StatefulSet", {"volumeClaimTemplates": claims})
    claim = manifest("PersistentVolumeClaim", "data-web-0", namespace="shop")
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": "data-web-0"}}
    own = manifest("Pod", "own", namespace="shop", spec={**SPEC, "volumes": [volume]})
    (tmp_path / "own.yaml").write_text(yaml.safe_dump_all([claim, own]))
    for template in (web, tmp_path / "own.yaml"):
        assert capacity([*zones, *left], template, pods=1, scheduler="1.34").nodes == {"b": 1}


@pytest.mark.parametrize("release", ["1.16", "1.27"])
def test_claims_need_volumes(release):
    """A StatefulSet fits as often as there are volumes for its claims."""
    asked = {"accessModes": ["ReadWriteOnce"], "storageClassName": "local"}
    claims = [
        {"metadata": {"name": "data"}, "spec": {"resources": {"requests": {"storage": "1Gi"}}, **asked}}
    ]
    later = {"provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"}
    local = {"kind": "StorageClass", "metadata": {"name": "local"}, **later}
    disk = {"capacity": {"storage": "2Gi"}, "local": {"path": "/x"}, **asked}
    volumes = [manifest("PersistentVolume", f"pv{number}", spec=disk) for number in range(3)]
    found = capacity(
        [NODE, local, *volumes], workload("StatefulSet", {"volumeClaimTemplates": claims}), scheduler=release
    )
    assert (found.fits, found.stop.kind) == (3, "Unschedulable")
    assert "didn't find available persistent volumes to bind" in found.stop.message


def test_ephemeral_volumes_have_claims(tmp_path):
    """Each pod that comes has the claims of its generic ephemeral volumes, of the default class too, a copy
    as well as one that waits."""
    default = {"storageclass.kubernetes.io/is-default-class": "true"}
    local = manifest("StorageClass", "local", metadata={"annotations": default}, provisioner="x.csi.k8s.io")
    asked = yaml.safe_load("{accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}")
    volume = {"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": asked}}}
    web = workload(
        "Deployment", {"replicas": 1, "template": {**TEMPLATE, "spec": {**SPEC, "volumes": [volume]}}}
    )
    (tmp_path / "web.yaml").write_text(yaml.safe_dump(web))
    cluster = [NODE, {**local, "volumeBindingMode": "WaitForFirstConsumer"}]
    assert capacity(cluster, tmp_path / "web.yaml", scheduler="1.34").fits == 4
    assert simulate([*cluster, web], "1.34").ok


def test_other_objects_of_the_file_come_too(tmp_path):
    """Other objects of the file count, too: the volume claim that a pod names, or its PriorityClass."""
    high = manifest("PriorityClass", "gold", value=7)
    pod = manifest("Pod", "web", spec={**SPEC, "priorityClassName": "gold"})
    (tmp_path / "web.yaml").write_text(yaml.safe_dump_all([high, pod]))
    found = capacity(NODE, tmp_path / "web.yaml")
    assert found.fits == 4


def test_a_template_is_one_of_pods():
    """The template of a PodTemplate may say what it is; without defaults its limits are no requests."""
    limits = {"containers": [{"name": "c", "resources": {"limits": {"cpu": "1"}}}]}
    template = {"apiVersion": "apps/v1", "kind": "Deployment", **TEMPLATE, "spec": limits}
    loaded = load_documents(
        [Document({**WORKLOADS["PodTemplate"], "template": template}, "web.yaml")], raw_kinds=READ_KINDS
    )
    for strict, requests in ((True, ["cpu"]), (False, [])):
        pod = template_of(loaded, "web.yaml", (), strict=strict).pod
        assert list(pod.spec.containers[0].requests) == requests


@pytest.mark.parametrize(
    "document, told",
    [
        (
            workload("DaemonSet"),
            "expected a Pod, a PodTemplate or a workload of another kind, got DaemonSet web, which has one pod a node",
        ),
        (manifest("PodTemplate", "web"), "PodTemplate web: template: expected a pod template, got nothing"),
        (
            manifest("PodTemplate", "web", template={"metadata": 7}),
            "template.metadata: expected an object, got 7",
        ),
        (
            {"kind": "Deployment", "metadata": {}, "spec": {"template": TEMPLATE}},
            "metadata.name: expected a name, got nothing",
        ),
        (manifest("CronJob", "web", spec={}), "spec.template: expected a pod template, got nothing"),
        (manifest("Secret", "s"), "expected a Pod, a PodTemplate or a workload, got Secret"),
    ],
)
def test_refusals(document, told):
    """A document that gives no copies is refused in one line."""
    with pytest.raises(ManifestError, match=told):
        read(document)
