"""Clusters in a program: what is there, what may change, and who hears of it."""

from __future__ import annotations

import io
import json

import attrs
import pytest
import yaml

from kubeclassic.api.cluster import Cluster
from kubeclassic.api.objects import Node, ObjectMeta, Pod, PriorityClass
from kubeclassic.exceptions import KubeclassicError, ManifestError, UnknownNameError
from tests.support.manifests import manifest
from tests.support.refusals import refusal_text


def pod(name, **spec):
    """A pod's manifest."""
    return manifest("Pod", name, spec=spec)


def web(replicas):
    """A Deployment's manifest."""
    template = yaml.safe_load("{metadata: {labels: {app: web}}, spec: {containers: [{name: c}]}}")
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    return manifest("Deployment", "web", apiVersion="apps/v1", spec=spec)


@attrs.define(eq=False)
class Diary:
    """A follower that notes what it hears."""

    heard: list[str] = attrs.field(factory=list)

    def put(self, item):
        """Note what appears or changes."""
        self.heard.append(f"+{item.key}")

    def delete(self, item):
        """Note what goes."""
        self.heard.append(f"-{item.key}")


# --- What is there ------------------------------------------------------------------------------------------


def test_objects_and_manifests():
    """A cluster is made of objects and of manifests, in their order; pods without a node wait."""
    node = Node(metadata=ObjectMeta(name="a"))
    cluster = Cluster([pod("bound", nodeName="a"), node, pod("waiting")])
    assert [item.key for item in cluster.objects] == ["default/bound", "a", "default/waiting"]
    assert [item.name for item in cluster.nodes] == ["a"]
    assert [item.name for item in cluster.pods] == ["bound", "waiting"]
    assert [item.name for item in cluster.pending] == ["waiting"]
    assert repr(cluster) == "<Cluster: 1 nodes, 2 pods, 1 of them waiting>"


def test_files(root):
    """Files are read as the commands read them."""
    cluster = Cluster.load(root / "examples" / "cluster")
    assert (len(cluster.nodes), len(cluster.pending)) == (11, 22)
    assert cluster.ignored == {}


def test_what_files_have_in_excess():
    """Objects that the API server would refuse are left out with a warning; kinds that scheduling does not
    read are counted."""
    lines = [json.dumps(found) for found in (manifest("Ingress", "i"), pod("p", priorityClassName="x"))]
    cluster = Cluster.load("-", stdin=io.StringIO("\n".join(lines)))
    assert (cluster.objects, cluster.ignored) == ((), {"refused by the API server": 1, "of kind Ingress": 1})
    assert tuple(map(str, cluster.warnings)) == (
        "Pod default/p: refused by the API server: no PriorityClass with name x was found",
    )


def test_api_defaults():
    """Objects get the API server's defaults, whether given as manifests or as values; without *defaults*
    they stay as they are."""
    limited = pod("p", containers=yaml.safe_load("[{name: c, resources: {limits: {cpu: 1}}}]"))
    (plain,) = Cluster([limited], defaults=False).pods
    assert not plain.spec.containers[0].requests
    assert Cluster([limited]).pods == Cluster([plain]).pods
    assert Cluster([limited]).pods[0].spec.containers[0].requests == plain.spec.containers[0].limits


def test_finding():
    """An object is found by its key, in ``default`` by its name; else near names are suggested."""
    cluster = Cluster([pod("web-0"), manifest("Node", "worker-1")])
    assert cluster.find(Pod, "web-0") is cluster.find(Pod, "default/web-0")
    with pytest.raises(
        UnknownNameError,
        match=r'^Node: got "worker1", which the cluster does not have; did you mean "worker-1"\?$',
    ):
        cluster.find(Node, "worker1")


@pytest.mark.parametrize(
    "name, near", [("web", "shop/web"), ("wb", "shop/web"), ("shop/wab", "shop/web"), ("p-0", "default/p-1")]
)
def test_a_suggestion_can_be_used(name, near):
    """Similar names are suggested as keys, as they may be of another namespace."""
    cluster = Cluster([manifest("Pod", "web", metadata={"namespace": "shop"}), pod("p-1")])
    with pytest.raises(UnknownNameError, match=f'; did you mean "{near}"'):
        cluster.find("pod", name)
    assert cluster.find("pod", near)


# --- Changes ------------------------------------------------------------------------------------------------


def test_add():
    """Objects come behind those that are there; a workload stands for the pods that it lacks."""
    cluster = Cluster([manifest("Node", "a")])
    cluster.add(pod("p"), web(2))
    assert [item.kind for item in cluster.objects] == ["Node", "Pod", "ReplicaSet", "Pod", "Pod"]
    assert {item.labels["app"] for item in cluster.pending[1:]} == {"web"}


@pytest.mark.parametrize(
    "items, where",
    [
        ([manifest("Node", "a"), manifest("Node", "a")], "Node a"),
        ([pod("p"), pod("p", nodeName="a")], "Pod default/p"),
        ([web(1), web(2)], "Deployment default/web"),
        ([{"apiVersion": "v1", "kind": "List", "items": [pod("p"), pod("p")]}], "item 2 (Pod p)"),
    ],
)
def test_no_object_is_given_twice(items, where):
    """Of two objects of one name none is left out silently."""
    text = refusal_text(ManifestError, Cluster, items)
    assert f"{where}: metadata.name: expected each object once, got another of that name" in text


def test_priority_classes_of_the_cluster_count():
    """A new pod gets the priority of a class that came before it."""
    cluster = Cluster([manifest("PriorityClass", "high", value=7)])
    cluster.add(pod("p", priorityClassName="high"))
    assert cluster.find(Pod, "p").priority == 7
    cluster.delete(*cluster.of(PriorityClass))
    with pytest.raises(
        ManifestError,
        match=r"^Pod default/q: refused by the API server: no PriorityClass with name high was found$",
    ):
        cluster.add(pod("q", priorityClassName="high"))


def test_update():
    """An object changes in its place."""
    cluster = Cluster([pod("p"), pod("q")])
    cluster.update(cluster.pods[0].bound_to("a"))
    assert [(item.name, item.spec.node_name) for item in cluster.pods] == [("p", "a"), ("q", "")]


@pytest.mark.parametrize("goes", ["deleted", "bound"])
def test_manifests_are_forgotten(goes):
    """A cluster keeps the manifest of a new pod until the pod has a node or is gone."""
    cluster = Cluster([manifest("Node", "a")])
    spec = {"containers": [{"name": "c", "image": "i", "resources": {"limits": {"cpu": "1"}}}]}
    cluster.add(manifest("Pod", "p", spec=spec))
    assert len(cluster.originals) == 1
    if goes == "bound":
        cluster.update(cluster.find("pod/p").bound_to("a"))
    else:
        cluster.delete("pod/p")
    assert cluster._written == {}


def test_delete():
    """An object goes, by kind and key."""
    cluster = Cluster([pod("p"), pod("q")])
    cluster.delete(Pod(metadata=ObjectMeta(name="p")))
    assert [item.name for item in cluster.pods] == ["q"]


@pytest.mark.parametrize(
    "verb, item, message",
    [
        (
            "add",
            pod("p"),
            "Pod default/p: metadata.name: expected a new name, got that of an object that is there",
        ),
        (
            "add",
            manifest("Ingress", "i"),
            "manifest: got an object of kind Ingress, which scheduling does not read",
        ),
        ("add", {"metadata": {}}, "manifest 1: kind: expected the kind of a Kubernetes object, got nothing"),
        ("add", manifest("Node", "n", spec=1), "manifest 1 (Node n): spec: expected an object, got 1"),
        ("update", manifest("Node", "x"), 'Node: got "x", which the cluster does not have'),
        (
            "update",
            pod("p", nodeName="b"),
            'Pod default/p: spec.nodeName: expected a, got "b": pods do not move',
        ),
        ("update", pod("p"), 'Pod default/p: spec.nodeName: expected a, got "": pods do not move'),
        ("delete", Node(metadata=ObjectMeta(name="x")), 'Node: got "x", which the cluster does not have'),
    ],
)
def test_refusals(verb, item, message):
    """An impossible change is refused in one line, and changes nothing, nor do the objects given along with
    it."""
    cluster = Cluster([pod("p", nodeName="a"), pod("q")])
    before = cluster.objects
    fine = {"add": pod("new"), "update": pod("q", nodeName="a"), "delete": before[1]}[verb]
    assert (
        refusal_text(KubeclassicError, getattr(cluster, verb), fine, item).replace("manifest 2", "manifest 1")
        == message
    )
    assert cluster.objects == before


# --- Followers ----------------------------------------------------------------------------------------------


def test_a_follower_hears_everything():
    """A follower gets the existing objects, then each change."""
    cluster = Cluster([pod("p")])
    diary = Diary()
    cluster.follow(diary)
    cluster.add(pod("q"))
    cluster.update(pod("p", nodeName="a"))
    cluster.delete(cluster.find(Pod, "q"))
    assert diary.heard == ["+default/p", "+default/q", "+default/p", "-default/q"]


def test_one_of_the_same_name():
    """An object with another UID is another one: the old one goes first."""
    cluster = Cluster([pod("p")])
    diary = Diary()
    cluster.follow(diary)
    cluster.update(yaml.safe_load("{kind: Pod, metadata: {name: p, uid: '2'}}"))
    assert diary.heard == ["+default/p", "-default/p", "+default/p"]


def test_followers_are_not_kept():
    """A cluster does not keep those alive who follow it."""
    cluster = Cluster()
    cluster.follow(Diary())
    assert not list(cluster._followers)
