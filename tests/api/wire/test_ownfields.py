"""The JSON form of objects that differ from their manifests, or have none."""

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from kubeclassic.api.controlplane.defaults import with_defaults
from kubeclassic.api.objects import KINDS, KubeObject, Node, ObjectMeta, Pod
from kubeclassic.api.objects.quantity import Quantity
from kubeclassic.api.ownfields import compact_json, current_manifest
from kubeclassic.api.reading.decode import decode_kind
from tests.support.drawn import documents
from tests.support.examples import examples

POD = yaml.safe_load("""
metadata:
  name: a
  uid: u
  labels: {x: y}
  annotations: {k: v}
  generateName: a-
spec:
  containers:
  - name: c
    image: i
    command: [sh]
    resources:
      requests: {cpu: '+1.0'}
    ports:
    - {hostPort: 80, containerPort: 80}
  volumes:
  - name: v
    persistentVolumeClaim: {claimName: data}
  - name: d
    gcePersistentDisk: {pdName: p}
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchExpressions:
          - key: a
            operator: In
            values: [b]
  tolerations:
  - {key: t, operator: Exists}
  schedulingGates:
  - {name: g}
status: {phase: Pending, nominatedNodeName: n1, qosClass: Burstable}
""")
NODE = yaml.safe_load("""
metadata:
  name: n
  labels: {zone: a}
spec:
  taints:
  - {key: a, effect: NoSchedule}
  unschedulable: true
status:
  allocatable: {cpu: '4', memory: 1Gi}
  conditions:
  - {type: Ready, status: 'True'}
""")


def read(kind, manifest, *, keeps=True):
    """The object of a manifest."""
    found = decode_kind(kind, manifest, keeps_manifest=keeps)
    assert isinstance(found, KubeObject)
    return found


def test_a_manifest_says_what_the_object_does_not():
    """Fields that scheduling does not read, and the notation of quantities, are those of the manifest."""
    found = current_manifest(read("Pod", POD))
    assert found["spec"]["containers"] == POD["spec"]["containers"]
    assert (found["status"]["qosClass"], found["metadata"]["namespace"]) == ("Burstable", "default")


def test_the_object_says_what_has_changed():
    """A node, a nomination that is taken back, and the control plane's defaults come from the object."""
    pod = with_defaults(read("Pod", POD)).bound_to("n2")
    pod = replace(pod, status=replace(pod.status, nominated_node_name=""))
    found = current_manifest(pod)
    assert (found["spec"]["nodeName"], found["status"]["nominatedNodeName"]) == ("n2", "")
    assert found["spec"]["schedulerName"] == "default-scheduler"


def test_without_a_manifest():
    """An object that kept no manifest is read again as the same object from what is written of it."""
    for kind, manifest in (("Pod", POD), ("Node", NODE)):
        item = read(kind, manifest, keeps=False)
        again = read(kind, current_manifest(item))
        changed = {"namespace": item.namespace, "uid": item.metadata.uid} if kind == "Pod" else {}
        assert again == replace(item, metadata=replace(item.metadata, **changed))


def test_an_object_made_by_hand():
    """The uid stands for namespace and name where none is given; a node has no namespace."""
    assert current_manifest(Pod(metadata=ObjectMeta(name="a")))["metadata"] == yaml.safe_load(
        "{name: a, namespace: default, uid: default/a}"
    )
    assert current_manifest(Node(metadata=ObjectMeta(name="n"))) == {"metadata": {"name": "n"}}


def written_again(kind, document):
    """An object without a manifest, and the one that is read of what is written of it, with the metadata of
    the first."""
    item = read(kind, document, keeps=False)
    again = read(kind, json.loads(compact_json(shown(current_manifest(item)))), keeps=False)
    return item, replace(again, metadata=item.metadata)


def shown(value):
    """*value* with quantities as texts."""
    if isinstance(value, dict):
        return {key: shown(part) for key, part in value.items()}
    return (
        [shown(part) for part in value]
        if isinstance(value, list)
        else str(value)
        if isinstance(value, Quantity)
        else value
    )


@pytest.mark.parametrize("kind", sorted(KINDS))
@examples(1.3)
@given(data=st.data())
def test_every_field_is_written_as_it_is_read(kind, data):
    """Whatever the fields of a kind hold, what is written of the object is read as the same object, with its
    manifest and without."""
    document = data.draw(documents(KINDS[kind]))
    document = {
        **document,
        "metadata": {**document.get("metadata", {}), "name": "x", "namespace": "n", "uid": "u"},
    }
    item, again = written_again(kind, document)
    assert again == item
    kept = read(kind, document)
    assert read(kind, current_manifest(kept)) == item


@pytest.mark.parametrize("kind", sorted(KINDS))
@examples(1.3)
@given(data=st.data())
def test_what_changed_is_written_over_the_manifest(kind, data):
    """An object with the manifest of another of its kind is written as what it is, though the manifest says
    otherwise."""
    one, other = (data.draw(documents(KINDS[kind])) for _ in range(2))
    named = {"name": "x", "namespace": "n", "uid": "u"}
    one, other = ({**found, "metadata": {**found.get("metadata", {}), **named}} for found in (one, other))
    changed = replace(read(kind, one), manifest=other)
    assert read(kind, current_manifest(changed)) == changed


@pytest.mark.parametrize("medium", [{}, {"medium": "Memory"}, {"sizeLimit": "1Gi"}])
def test_an_empty_dir_stays_what_it_is(medium):
    """A volume of the manifest is written with all that it has."""
    pod = read(
        "Pod",
        {
            "metadata": {"name": "p"},
            "spec": {"containers": [{"name": "c"}], "volumes": [{"name": "v", "emptyDir": medium}]},
        },
    )
    for found in (pod, with_defaults(pod)):
        assert current_manifest(found)["spec"]["volumes"] == [{"name": "v", "emptyDir": medium}]
