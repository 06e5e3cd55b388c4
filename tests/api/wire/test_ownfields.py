"""The JSON form of objects that differ from their manifests, or have none."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from kubeclassic.api.controlplane.defaults import with_defaults
from kubeclassic.api.objects import KubeObject, Node, ObjectMeta, Pod
from kubeclassic.api.reading.decode import decode_kind
from kubeclassic.api.wire.ownfields import current_manifest

POD = {
    "metadata": {"name": "a", "uid": "u", "labels": {"x": "y"}, "annotations": {"k": "v"}, "generateName": "a-"},
    "spec": {
        "containers": [
            {
                "name": "c", "image": "i", "command": ["sh"], "resources": {"requests": {"cpu": "+1.0"}},
                "ports": [{"hostPort": 80, "containerPort": 80}],
            }
        ],
        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}, {"name": "d", "gcePersistentDisk": {"pdName": "p"}}],
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}]
                }
            }
        },
        "tolerations": [{"key": "t", "operator": "Exists"}],
        "schedulingGates": [{"name": "g"}],
    },
    "status": {"phase": "Pending", "nominatedNodeName": "n1", "qosClass": "Burstable"},
}  # fmt: skip
NODE = {
    "metadata": {"name": "n", "labels": {"zone": "a"}},
    "spec": {"taints": [{"key": "a", "effect": "NoSchedule"}], "unschedulable": True},
    "status": {"allocatable": {"cpu": "4", "memory": "1Gi"}, "conditions": [{"type": "Ready", "status": "True"}]},
}


def read(kind: str, manifest: Any, *, keeps: bool = True) -> Any:
    """The object of a manifest."""
    found = decode_kind(kind, manifest, keeps_manifest=keeps)
    assert isinstance(found, KubeObject)
    return found


def test_a_manifest_says_what_the_object_does_not() -> None:
    """Fields that scheduling does not read, and the notation of quantities, are those of the manifest."""
    found = current_manifest(read("Pod", POD))
    assert found["spec"]["containers"] == POD["spec"]["containers"]  # type: ignore[index]  # it is a dict of dicts
    assert (found["status"]["qosClass"], found["metadata"]["namespace"]) == ("Burstable", "default")


def test_the_object_says_what_has_changed() -> None:
    """A node, a nomination that is taken back, and the control plane's defaults come from the object."""
    pod: Pod = with_defaults(read("Pod", POD)).bound_to("n2")  # type: ignore[attr-defined]  # it is a Pod
    pod = replace(pod, status=replace(pod.status, nominated_node_name=""))
    found = current_manifest(pod)
    assert (found["spec"]["nodeName"], found["status"]["nominatedNodeName"]) == ("n2", "")
    assert found["spec"]["schedulerName"] == "default-scheduler"


def test_without_a_manifest() -> None:
    """An object that kept no manifest is read again as the same object from what is written of it."""
    for kind, manifest in (("Pod", POD), ("Node", NODE)):
        item = read(kind, manifest, keeps=False)
        again = read(kind, current_manifest(item))
        changed = {"namespace": item.namespace, "uid": item.metadata.uid} if kind == "Pod" else {}
        assert again == replace(item, metadata=replace(item.metadata, **changed))


def test_an_object_made_by_hand() -> None:
    """The uid stands for namespace and name where none is given; a node has no namespace."""
    assert current_manifest(Pod(metadata=ObjectMeta(name="a")))["metadata"] == {"name": "a", "namespace": "default", "uid": "default/a"}
    assert current_manifest(Node(metadata=ObjectMeta(name="n"))) == {"metadata": {"name": "n"}}
