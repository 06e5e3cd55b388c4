"""Volumes of new claims, and the places from which they are reached."""

import pytest
import yaml

from kubeclassic import Cluster, Scheduler, capacity, simulate
from kubeclassic.api.controlplane import with_new_volumes
from tests.support.build import obj
from tests.support.manifests import manifest, node, pod

MADE = ["pvc-default-c"]
SPEC = yaml.safe_load(
    "{storageClassName: s, accessModes: [ReadWriteOnce], resources: {requests: {storage: 2Gi}}}"
)
CREATED = {"creationTimestamp": "2024-01-01T00:00:00Z"}


def claim(name="c", metadata=None, **spec):
    return manifest("PersistentVolumeClaim", name, metadata=metadata or {}, spec={**SPEC, **spec})


def storage_class(mode="Immediate", provisioner="ebs.csi.aws.com", **more):
    return manifest("StorageClass", "s", provisioner=provisioner, volumeBindingMode=mode, **more)


def volume(name, size, **spec):
    whole = {"storageClassName": "s", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": size}}
    return manifest("PersistentVolume", name, spec=whole | spec)


SMALL, MEDIUM, LARGE = volume("small", "1Gi"), volume("medium", "2Gi"), volume("large", "3Gi")
KEPT = volume("kept", "9Gi", claimRef={"namespace": "default", "name": "c"})


@pytest.mark.parametrize(
    "claims, others, names",
    [
        ([claim()], [storage_class()], MADE),
        ([claim()], [storage_class("WaitForFirstConsumer"), LARGE], [""]),
        ([claim()], [storage_class("WaitForFirstConsumer"), KEPT], ["kept"]),
        ([claim()], [storage_class(provisioner="kubernetes.io/no-provisioner")], [""]),
        ([claim()], [LARGE], ["large"]),
        ([claim()], [], [""]),
        ([claim(metadata=CREATED)], [storage_class()], [""]),
        ([claim()], [storage_class(), SMALL, LARGE, MEDIUM], ["medium"]),
        ([claim(), claim("d")], [MEDIUM, LARGE, storage_class()], ["medium", "large"]),
        ([claim(volumeName="large")], [storage_class(), MEDIUM, LARGE], ["large"]),
        ([claim(volumeName="small")], [storage_class(), SMALL], [""]),
    ],
)
def test_volumes_of_new_claims(claims, others, names):
    """A new claim gets the nearest volume, or a new one, unless its class waits for pods; whatever comes first
    in the input."""
    for given in ([*claims, *others], [*others, *claims]):
        objects, _ = with_new_volumes([obj(item) for item in given])
        found = {item.name: item for item in objects if item.kind == "PersistentVolumeClaim"}
        bound = [found[item["metadata"]["name"]] for item in claims]
        assert [item.spec.volume_name if item.annotations else "" for item in bound] == names
        owners = [item.spec.claim_ref.name for item in objects if item.name in names]
        assert sorted(owners) == [
            item["metadata"]["name"] for item, name in zip(claims, names, strict=True) if name
        ]
        assert len(objects) == len(given) + names.count(*MADE)


USER = pod("p", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}])
ZONES = [node("a", labels={"zone": "z1"}), node("b", labels={"zone": "z2"})]
IN_B = [{"matchLabelExpressions": [{"key": "zone", "values": ["z2"]}]}]


@pytest.mark.parametrize(
    "kind, hosts, warned", [(storage_class(), ["a"], 1), (storage_class(allowedTopologies=IN_B), ["b"], 0)]
)
def test_where_they_are_reached(kind, hosts, warned):
    """Pods go where the class's places are, or anywhere, with a warning."""
    found = simulate([*ZONES, kind, claim(), USER])
    assert [placed.host for placed in found.document.pods] == hosts
    assert sum("names no place" in str(group) for group in found.warnings) == warned


@pytest.mark.parametrize("at", [0, 1])
def test_of_a_cluster(at):
    """A cluster has them too, as soon as claim and class are there; so a scheduler finds them."""
    parts = [claim(), storage_class(allowedTopologies=IN_B)]
    last = parts.pop(at)
    cluster = Cluster([*ZONES, USER, *parts])
    scheduler = Scheduler(cluster)
    assert scheduler.schedule("p").host is None
    cluster.add(last)
    assert scheduler.schedule("p").host == "b"


def test_whose_claim_is_first():
    """Claims that the input has are bound before those made for ephemeral volumes."""
    template = {"volumeClaimTemplate": {"spec": claim()["spec"]}}
    other = pod("other", volumes=[{"name": "v", "ephemeral": template}])
    hand = storage_class(provisioner="kubernetes.io/no-provisioner")
    found = simulate([*ZONES, other, claim(), hand, MEDIUM, USER])
    assert [placed.host for placed in found.document.pods] == [None, "a"]


def test_copies_have_volumes():
    """Each copy of a pod with a claim of its own has its own volume, of those that are there first."""
    template = yaml.safe_load("""
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: db}
    spec:
      selector: {matchLabels: {app: db}}
      template:
        metadata: {labels: {app: db}}
        spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]}
    """)
    template["spec"]["volumeClaimTemplates"] = [claim()]
    in_a = {
        "required": {
            "nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["z1"]}]}]
        }
    }
    there = volume("there", "2Gi", nodeAffinity=in_a)
    cluster = Cluster([*ZONES, storage_class(allowedTopologies=IN_B), there])
    found = capacity(cluster, template, pods=3)
    assert found.document.nodes == {"a": 1, "b": 2}
