"""The kinds of nodes that can be added: what a copy has of its source, and the pods that DaemonSets run on
it."""

from decimal import Decimal

import pytest
import yaml

from kubeclassic import Cluster, KubeclassicError, Node, add_nodes
from kubeclassic.api.load import Loaded, load_documents
from kubeclassic.api.objects import CSINode
from kubeclassic.api.reading.documents import Document
from kubeclassic.exceptions import WrongTypeError
from kubeclassic.framework.releases import ALL_RELEASES
from kubeclassic.questions.newnodes.ask import kinds_of
from tests.support.build import manifest, node, obj, owned_by, pod
from tests.support.keywords import keywords_of
from tests.support.refusals import refusal_text

HOSTNAME = "kubernetes.io/hostname"
SICK = manifest(
    "Node",
    "a",
    labels={HOSTNAME: "a", "zone": "z"},
    metadata={"uid": "u", "creationTimestamp": "2020-01-01T00:00:00Z"},
    spec=yaml.safe_load("""
        unschedulable: true
        providerID: cloud://a
        taints:
        - {key: node.kubernetes.io/unschedulable, effect: NoSchedule}
        - {key: ToBeDeletedByClusterAutoscaler, effect: NoSchedule}
        - {key: startup-taint.cluster-autoscaler.kubernetes.io/gpu, effect: NoSchedule}
        - {key: own, effect: NoSchedule}
        """),
    status=yaml.safe_load("""
    allocatable: {cpu: '4', pods: '10'}
    images:
    - names: [img]
      sizeBytes: 5
    conditions:
    - {type: Ready, status: Unknown}
    - {type: MemoryPressure, status: 'True'}
    """),
)


def read(*given, known=()):
    """The kinds in *given*, each a text or an object, with no cost and no DaemonSet."""
    return kinds_of(
        [part if isinstance(part, str) else ("a file", Loaded((part,))) for part in given], known, {}
    )


# --- Copies -------------------------------------------------------------------------------------------------


def test_a_copy_is_healthy():
    """A copy of a node that is cordoned and not ready is neither, and keeps its labels and its own
    taints."""
    (kind,) = read("like:a", known=(obj(SICK),))
    (made,) = kind.copies(1)
    assert (made.name, dict(made.labels), made.metadata.uid) == ("a-1", {HOSTNAME: "a-1", "zone": "z"}, "")
    assert ([taint.key for taint in made.spec.taints], made.spec.unschedulable, made.spec.provider_id) == (
        ["own"],
        False,
        "",
    )
    assert [(found.type, found.status) for found in made.status.conditions] == [
        ("Ready", "True"),
        ("MemoryPressure", "False"),
    ]
    assert (made.status.images, made.status.allocatable["cpu"].milli_value()) == ((), 4000)


def test_names_in_use_are_not_taken():
    """Copies leave out names that other nodes have."""
    (kind,) = read("like:a", known=(node("a"), node("a-2")))
    assert kind.names(3) == ["a-1", "a-3", "a-4"]


def test_csi_drivers_come_along():
    """A copy has the CSI drivers of its source, with their limits."""
    drivers = obj(manifest("CSINode", "a", spec=yaml.safe_load("{drivers: [{name: d, nodeID: n}]}")))
    (kind,) = read("like:a", known=(node("a"), drivers))
    assert [(type(item), item.name) for item in kind.copies(2)] == [
        (Node, "a-1"),
        (CSINode, "a-1"),
        (Node, "a-2"),
        (CSINode, "a-2"),
    ]


def test_a_template_may_have_csi_drivers_beside_it():
    """A file may hold the CSINode of its node."""
    documents = [manifest(kind, "a") for kind in ("Node", "CSINode")]
    loaded = load_documents([Document(document, "here") for document in documents])
    (kind,) = kinds_of([("here", loaded)], (), {})
    assert [type(item) for item in kind.copies(1)] == [Node, CSINode]


def test_host_names_tell_new_nodes_apart():
    """Pods that keep apart by host name go on different new nodes."""
    apart = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": {"app": "web"}}}
            ]
        }
    }
    template = pod("web", app="web", affinity=apart)
    assert add_nodes(Cluster([node("a", labels={HOSTNAME: "a"})]), "like:a", pod=template, pods=4).added == {
        "a": 3
    }


@pytest.mark.parametrize(
    "spec",
    [
        {
            "volumes": [
                {"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {"storageClassName": "later"}}}}
            ]
        },
        {"resourceClaims": [{"name": "r", "resourceClaimTemplateName": "any"}]},
    ],
    ids=["volumes", "devices"],
)
def test_copies_have_their_claims_on_an_empty_node(spec):
    """A kind that is not taken is told to take copies that bring claims."""
    objects = [
        node("full", cpu="0"),
        manifest("StorageClass", "later", provisioner="x/y", volumeBindingMode="WaitForFirstConsumer"),
        manifest(
            "ResourceClaimTemplate", "any", apiVersion="resource.k8s.io/v1", spec={"spec": {"devices": {}}}
        ),
    ]
    kinds = [
        manifest("Node", name, status={"allocatable": {"cpu": "4", "pods": "9"}})
        for name in ("cheap", "dear")
    ]
    found = add_nodes(
        objects, kinds, costs={"cheap": 1, "dear": 2}, pod=pod("web", "1", **spec), pods=3, scheduler="1.34"
    )
    assert [(row.node, row.takes) for row in found.found.not_taken] == [("dear", 3)]


DAEMON = manifest(
    "DaemonSet",
    "agent",
    namespace="kube-system",
    apiVersion="apps/v1",
    spec=yaml.safe_load("""
    selector:
      matchLabels: {app: agent}
    template:
      metadata:
        labels: {app: agent}
      spec:
        containers:
        - name: c
          resources:
            requests: {cpu: '1'}
        nodeSelector: {disk: ssd}
    """),
)
SSD = manifest("Node", "ssd", labels={"disk": "ssd"}, status={"allocatable": {"cpu": "4", "pods": "10"}})
HDD = {**SSD, "metadata": {"name": "hdd"}}
WEB = manifest(
    "Pod", "web", spec=yaml.safe_load("{containers: [{name: c, resources: {requests: {cpu: '2'}}}]}")
)


def agent(on, **metadata):
    """A pod of the DaemonSet on a node."""
    meta = owned_by("DaemonSet", "agent") | metadata
    return pod(
        f"agent-{on}", on=on, namespace="kube-system", cpu="1", nodeSelector={"disk": "ssd"}, metadata=meta
    )


# --- Daemon sets --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", ALL_RELEASES)
def test_their_pods_take_room(release):
    """A DaemonSet's pod is on each new node that its selector takes, so that less fits there."""
    found = add_nodes([HDD, DAEMON], [SSD], scheduler=release, pod=WEB, pods=6)
    assert (found.added, found.record()["daemons"]) == ({"ssd": 4}, {"ssd": ["kube-system/agent"]})
    assert {row["requested"]["cpu"] for row in found.record()["nodes"]} == {3000}
    assert add_nodes([SSD, DAEMON], [HDD], scheduler=release, pod=WEB, pods=5).added == {"hdd": 2}


def test_none_is_made_for_an_excluded_node():
    """The DaemonSet's pod for a node that is left out needs no new node."""
    found = add_nodes(
        [SSD, {**SSD, "metadata": {"name": "off", "labels": {"disk": "ssd"}}}, DAEMON],
        "like:ssd",
        exclude_nodes="off",
    )
    assert (found.found.pods, found.ok) == (1, True)


@pytest.mark.parametrize(
    "kind", ["like:ssd", {**SSD, "metadata": {"name": "new", "labels": {"disk": "ssd"}}}]
)
def test_their_pods_tell_without_a_manifest(kind):
    """Without a DaemonSet's manifest its pods count: a copy of a node has those of the node, another kind
    those that tolerate its taints."""
    cluster = Cluster(
        [node("ssd", labels={"disk": "ssd"}, cpu="4"), node("hdd", cpu="4"), agent("ssd")], defaults=False
    )
    found = add_nodes(cluster, [kind], pod=WEB, pods=6, defaults=False)
    assert next(iter(found.record()["daemons"].values())) == ["kube-system/agent"]
    assert sum(found.added.values()) == 3


@pytest.mark.parametrize(
    "name, metadata", [("hdd", {}), ("ssd", {"deletionTimestamp": "2020-01-01T00:00:00Z"})]
)
def test_a_copy_without_such_a_pod(name, metadata):
    """A copy of a node without a pod of the DaemonSet has none; a pod that is being deleted does not
    count."""
    cluster = Cluster(
        [node("ssd", labels={"disk": "ssd"}), node("hdd"), agent("ssd", **metadata)], defaults=False
    )
    assert add_nodes(cluster, f"like:{name}", pod=WEB, pods=2, defaults=False).record()["daemons"] == {
        name: []
    }


def test_static_pods_take_room():
    """A copy of a node runs its static pods, and its DaemonSet's pods as the node has them."""
    old = {**owned_by("DaemonSet", "agent"), "creationTimestamp": "2020-01-01T00:00:00Z"}
    cluster = [
        node("other", cpu="2"),
        node("ssd", cpu="4"),
        pod("agent-other", on="other", namespace="kube-system", cpu="1", metadata=old),
        pod("agent-ssd", on="ssd", namespace="kube-system", cpu="2", metadata=old),
        pod("proxy-ssd", on="ssd", cpu="1", metadata=owned_by("Node", "ssd")),
        pod("proxy-other", on="other", cpu="1", metadata=owned_by("Node", "other")),
        pod("gone-ssd", on="ssd", metadata=owned_by("Node", "ssd"), status={"phase": "Failed"}),
    ]
    found = add_nodes(Cluster(cluster), "like:ssd", pod=pod("web", cpu="1"), pods=2, defaults=False)
    assert found.record()["daemons"] == {"ssd": ["default/proxy", "kube-system/agent"]}
    assert [row["requested"]["cpu"] for row in found.record()["nodes"]] == [4000]


@pytest.mark.parametrize("cost", [2.5, "2.5", Decimal("2.5")])
def test_costs_are_exact(cost):
    """Costs are decimal numbers, however they are written."""
    found = add_nodes([HDD], [SSD], pod=WEB, pods=6, costs={"ssd": cost})
    assert (found.cost, found.record()["added"]) == (
        Decimal(5),
        [{"node": "ssd", "count": 2, "cost": 5, "costOfOne": 2.5}],
    )


@pytest.mark.parametrize("cost", [None, True, [1]])
def test_other_types_are_refused(cost):
    """A cost that is no number is refused."""
    with pytest.raises(WrongTypeError, match="cost: ssd: expected a number above 0, got"):
        add_nodes([HDD], [SSD], pod=WEB, pods=6, costs={"ssd": cost})


@pytest.mark.parametrize("costs", [{5: "1"}, (5,), {None: 1}, ("ssd=1", 5)])
def test_other_names_are_refused(costs):
    """The name of a kind that is no text is refused."""
    with pytest.raises(WrongTypeError, match=r"costs: expected the name of a kind, got (5|None) "):
        add_nodes([HDD], [SSD], pod=WEB, pods=6, costs=costs)


@pytest.mark.parametrize(
    "options, told",
    [
        ({"nodes": []}, "add-node: expected a file with one Node, or like:NODE, got none"),
        ({"nodes": 5}, "nodes: expected a Cluster, a path, manifests or a list of these, got 5"),
        ({"nodes": [WEB]}, "node 1: expected one Node, got Pod"),
        ({"nodes": "nowhere.yaml"}, 'nodes: expected a file with one Node, or like:NODE, got "nowhere.yaml"'),
        ({"pods": None}, "pods: expected the number of copies that new nodes are for, got none"),
        ({"pods": -2}, "pods: expected 1 or more, got -2"),
        ({"pod": None}, "pods needs pod"),
        ({"most_nodes": 0}, "most_nodes: expected 1 or more, got 0"),
    ],
)
def test_one_clear_line(options, told):
    """Each wrong argument is told."""
    given = {"nodes": [SSD], "pod": WEB, "pods": 3, **options}
    assert told in refusal_text(
        KubeclassicError, add_nodes, [HDD], given.pop("nodes"), **keywords_of(given, "preemption")
    )
