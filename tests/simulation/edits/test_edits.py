"""Edits in words: which objects they choose, what they change, and what is refused."""

import json

import attrs
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import kubeclassic
from kubeclassic.api.load import Loaded, load_documents
from kubeclassic.api.objects import KINDS, Map, Node, Pod
from kubeclassic.api.ownfields import current_manifest
from kubeclassic.api.reading.decode import decode
from kubeclassic.api.reading.documents import Document
from kubeclassic.exceptions import ManifestError
from kubeclassic.framework.releases import find_any_release
from kubeclassic.simulation.edits import Edit, Edits
from kubeclassic.simulation.fieldchanges import EditError, Step, parse_path, text_of
from kubeclassic.simulation.input import scenario_of
from kubeclassic.simulation.simulate import Files
from tests.support.drawn import documents
from tests.support.examples import examples
from tests.support.manifests import manifest, owned_by
from tests.support.refusals import refusal_text

NODES = [
    manifest(
        "Node",
        "a",
        labels={"pool": "x"},
        spec=yaml.safe_load("{taints: [{key: t, effect: NoSchedule}]}"),
        status={"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}},
    ),
    manifest("Node", "b", status={"allocatable": {"cpu": "2", "memory": "8Gi", "pods": "10"}}),
]
CONTAINERS = yaml.safe_load("""
- name: app
  resources:
    requests: {cpu: 300m, memory: 1Gi}
- name: log
  resources:
    requests: {cpu: 100m}
""")
POD = manifest("Pod", "p", namespace="web", labels={"app": "p"}, spec={"containers": CONTAINERS})
OTHER = manifest("Pod", "q", namespace="db", spec={"containers": [{"name": "c"}]})
TEMPLATE = yaml.safe_load("{metadata: {labels: {app: d}}, spec: {containers: [{name: c}]}}")
DEPLOYMENT = manifest(
    "Deployment",
    "d",
    namespace="web",
    apiVersion="apps/v1",
    spec={"replicas": 2, "selector": {"matchLabels": {"app": "d"}}, "template": TEMPLATE},
)
SEVERAL = (
    "node a allocatable.cpu=3",
    "node b allocatable.cpu=1",
    "node * unschedulable=true",
    "node pool=x taints-",
    "pod web/p priority=7",
    "pod p labels.a=b",
    "pod * requests.cpu=1",
    "pod app=p priority=3",
    "deployment web/d replicas=1",
    "pod db/q requests.memory=1Gi",
)
HIGH = manifest("PriorityClass", "high", apiVersion="scheduling.k8s.io/v1", value=1000)


def scenario(folder, *edits, given=(*NODES, POD, OTHER, DEPLOYMENT, HIGH)):
    """The cluster above, or another one, after *edits*."""
    path = folder / "cluster.json"
    path.write_text(json.dumps(given))
    return Files.read(path, edits=edits).scenario()


def pod(found, key):
    """A pod by key, waiting or not."""
    everyone = [*found.pending, *(item for item in found.objects if isinstance(item, Pod))]
    return next(item for item in everyone if item.key == key)


def node(found, name):
    """A node by name."""
    return next(item for item in found.nodes if item.name == name)


def requests(found, key):
    """The requests of each container of a pod."""
    return [
        {name: str(amount) for name, amount in each.requests.items()}
        for each in pod(found, key).spec.containers
    ]


# --- Pods ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "edit, wanted, labels",
    [
        ("pod web/p requests.cpu=500m", [{"cpu": "500m", "memory": "1Gi"}, {"cpu": "500m"}], {"app": "p"}),
        (
            "pod web/p containers[log].resources.requests.nvidia.com/gpu=2",
            [{"cpu": "300m", "memory": "1Gi"}, {"cpu": "100m", "nvidia.com/gpu": "2"}],
            {"app": "p"},
        ),
        (
            "pod web/* requests.cpu*=0.333 requests.memory*=2",
            [{"cpu": "100m", "memory": "2147483648"}, {"cpu": "34m"}],
            {"app": "p"},
        ),
        ("pod web/p requests.memory- labels.app-", [{"cpu": "300m"}, {"cpu": "100m"}], {}),
    ],
)
def test_requests(tmp_path, edit, wanted, labels):
    """The requests of all containers or of a named one are set, multiplied and rounded up to thousandths, or
    removed; other pods stay."""
    found = scenario(tmp_path, edit)
    assert (requests(found, "web/p"), dict(pod(found, "web/p").labels)) == (wanted, labels)
    assert requests(found, "db/q") == [{}]


def test_tolerations_are_short(tmp_path):
    """Tolerations are added and taken by key, value and effect."""
    found = scenario(
        tmp_path, "po web/p tolerations+=a=b:NoSchedule tolerations+=c", "po web/p tolerations-=c"
    )
    (left,) = [each for each in pod(found, "web/p").spec.tolerations if not each.key.startswith("node.")]
    assert (left.key, left.value, left.effect, left.operator) == ("a", "b", "NoSchedule", "Equal")


def test_a_class_brings_its_priority(tmp_path):
    """A class of priority is resolved as at admission; a priority by itself ends the class."""
    found = scenario(
        tmp_path, "pod web/p priorityClassName=high", "pod db/q priorityClassName=high", "pod db/q priority=7"
    )
    assert (pod(found, "web/p").spec.priority, pod(found, "db/q").spec.priority) == (1000, 7)
    assert pod(found, "db/q").spec.priority_class_name == ""


def test_a_pod_gets_and_loses_its_node(tmp_path):
    """A pod that is put on a node does not wait any more."""
    found = scenario(tmp_path, "pod web/p nodeName=b")
    assert pod(found, "web/p").spec.node_name == "b"
    assert "web/p" not in [item.key for item in found.pending]


@pytest.mark.parametrize(
    "edit, wanted",
    [("pod app=d requests.cpu=1", ["1"] * 2), ("deploy web/d replicas=5 requests.cpu=250m", ["250m"] * 5)],
)
def test_pods_of_workloads(tmp_path, edit, wanted):
    """Pods that a workload makes are chosen like others, here by their labels; workloads change before
    they make pods."""
    made = [item for item in scenario(tmp_path, edit).pending if item.labels.get("app") == "d"]
    assert [str(item.spec.containers[0].requests["cpu"]) for item in made] == wanted


def replica_set(name, revision, replicas):
    """A ReplicaSet of the Deployment."""
    labels = {"app": "d", "pod-template-hash": name}
    metadata = owned_by("Deployment", "d", "", apiVersion="apps/v1")
    metadata |= {"labels": labels, "annotations": {"deployment.kubernetes.io/revision": revision}}
    template = {**TEMPLATE, "metadata": {"labels": labels}}
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    return manifest(
        "ReplicaSet", f"d-{name}", apiVersion="apps/v1", namespace="web", metadata=metadata, spec=spec
    )


@pytest.mark.parametrize(
    "edit, counts, cpu",
    [
        ("requests.cpu=1", (3, 1), "1"),
        ("requests.cpu=1 replicas=6", (5, 1), "1"),
        (
            "'template={metadata: {labels: {app: d}}, spec: {containers: [{resources: {requests: {cpu: 2}}}]}}'",
            (3, 1),
            "2",
        ),
        ("replicas=3", (3, 0), ""),
        ("replicas=0", (0, 0), ""),
        ("replicas*=0.5", (2, 0), ""),
        ("labels.x=y", (3, 1), ""),
    ],
)
def test_replica_sets_follow_their_deployment(tmp_path, edit, counts, cpu):
    """The newest ReplicaSet makes pods of a changed template, under its own hash, and all together as many as
    the Deployment asks for."""
    deployment = {**DEPLOYMENT, "spec": {**DEPLOYMENT["spec"], "replicas": 4}}
    given = [NODES[1], replica_set("new", "2", 3), deployment, replica_set("old", "1", 1)]
    made = scenario(tmp_path, f"deploy web/d {edit}", given=given).pending
    newest, older = (
        [pod for pod in made if pod.labels.get("pod-template-hash") == name] for name in ("new", "old")
    )
    assert (len(newest), len(older), len(made)) == (*counts, sum(counts))
    assert {str(pod.spec.containers[0].requests.get("cpu", "")) for pod in newest} <= {cpu}
    assert not any(pod.spec.containers[0].requests for pod in older)


def test_adopted_replica_sets_follow(tmp_path):
    """A ReplicaSet without a controller follows the Deployment that adopts it."""
    alone = replica_set("new", "2", 3)
    del alone["metadata"]["ownerReferences"]
    alone["metadata"]["labels"] = {"app": "d"}
    deployment = {**DEPLOYMENT, "spec": {**DEPLOYMENT["spec"], "replicas": 3}}
    made = scenario(tmp_path, "deploy web/d replicas=1", given=[NODES[1], alone, deployment]).pending
    assert len(made) == 1


CORDON = "node.kubernetes.io/unschedulable"
SCALED = {
    "replicaset w replicas=2": {"w-1", "w-3"},
    "deploy w replicas=2": {"w-1", "w-3"},
    "sts w replicas=2": {"w-1", "w-2"},
    "job w parallelism=2": {"w-1", "w-2"},
    "job w suspend=true": set(),
    "job w labels.a=b": {"w-0", "w-1", "w-2", "w-3"},
}
"""Edit -> the pods that are left of four."""


@pytest.mark.parametrize("edit, left", SCALED.items())
def test_scaling_down(tmp_path, edit, left):
    """Pods that are too many go: first those without a node, not ready and, except of a Job, of a low cost or beside
    others, then the newest; of a StatefulSet those beyond its numbers."""
    kind = {"deploy": "Deployment", "sts": "StatefulSet", "job": "Job"}.get(edit.split()[0], "ReplicaSet")
    how = {"parallelism": 4, "completions": 8} if kind == "Job" else {"replicas": 4}
    spec = {**how, "selector": {"matchLabels": {"app": "d"}}, "template": TEMPLATE, "ordinals": {"start": 1}}
    version = "batch/v1" if kind == "Job" else "apps/v1"
    given = [manifest(kind, "w", apiVersion=version, spec=spec)]
    owner = "ReplicaSet" if kind == "Deployment" else kind
    cost = "controller.kubernetes.io/pod-deletion-cost"
    created = "2024-01-0{}T00:00:00Z".format
    for at, (host, marks) in enumerate([("", {}), ("a", {}), ("a", {cost: "-1"}), ("b", {})]):
        metadata = owned_by(owner, "w", "", apiVersion=version) | {"annotations": marks}
        metadata |= {"labels": {"app": "d"}, "creationTimestamp": created(at + 1)}
        pod_spec = {"nodeName": host, "containers": CONTAINERS}
        given.append(manifest("Pod", f"w-{at}", metadata=metadata, spec=pod_spec))
    found = scenario(tmp_path, edit, given=[*NODES, *given])
    everyone = [*found.pending, *(item for item in found.objects if isinstance(item, Pod))]
    assert {item.name for item in everyone} & {f"w-{at}" for at in range(4)} == left


@pytest.mark.parametrize(
    "edit, taints",
    [("unschedulable=false", []), ("unschedulable-", []), ("labels.a=b", [f"{CORDON}:NoSchedule"])],
)
def test_uncordoned(tmp_path, edit, taints):
    """A node that is made schedulable loses the taint of those that are not."""
    cordoned = scenario(tmp_path, "node a unschedulable=true taints-=t", f"node a {edit}")
    assert [f"{taint.key}:{taint.effect}" for taint in node(cordoned, "a").spec.taints] == taints


@pytest.mark.parametrize(
    "edit, taints",
    [
        ("Ready: 'False'", ["not-ready:NoExecute", "not-ready:NoSchedule"]),
        ("Ready: Unknown", ["unreachable:NoSchedule", "unreachable:NoExecute"]),
        ("Ready: 'True'", []),
        ("PIDPressure: 'True'", ["not-ready:NoExecute", "pid-pressure:NoSchedule"]),
    ],
)
def test_conditions_bring_their_taints(tmp_path, edit, taints):
    """A node has the taints of its conditions after an edit of these, and no others of such states."""
    kind, status = edit.split(": ")
    stale = "node a 'taints=[{key: node.kubernetes.io/not-ready, effect: NoExecute}]'"
    one = f"[{{type: {kind}, status: {status}}}]"
    found = scenario(tmp_path, stale, f'node a "conditions={one}"')
    assert [f"{taint.key}:{taint.effect}" for taint in node(found, "a").spec.taints] == [
        f"node.kubernetes.io/{taint}" for taint in taints
    ]


@pytest.mark.parametrize("kind", ["StatefulSet", "ReplicaSet", "Deployment"])
def test_a_workload_is_counted_once(tmp_path, kind):
    """A workload that is also an object is one, and its name may be one that it gets."""
    given = [NODES[1], {**DEPLOYMENT, "kind": kind, "metadata": {"generateName": "d-"}}]
    edit = f"{kind} d-1 replicas=3"
    found = scenario(tmp_path, edit, edit, given=given)
    assert len(found.pending) == 3
    assert [str(told) for told in found.edited] == [
        f"--set '{edit}': 1 {kind}",
        f"--set '{edit}': nothing changed: 1 {kind}, and each is so already",
    ]


@pytest.mark.parametrize(
    "labels, got", [(["a"], "labels: expected an object"), ({"a": [1]}, "labels.a: expected a")]
)
def test_labels_that_are_none(tmp_path, labels, got):
    """Labels of another form are refused, whatever the edit chooses by."""
    odd = {**DEPLOYMENT, "metadata": {"name": "d", "labels": labels}}
    for chosen in ("a=b", "d"):
        text = refusal_text(ManifestError, scenario, tmp_path, f"deploy {chosen} replicas=1", given=[odd])
        assert text.startswith(f"Deployment d: metadata.{got}")


def owned(name, kind, **more):
    """A pod on node a whose controller is *kind* w."""
    spec = {"nodeName": "a", "containers": CONTAINERS}
    metadata = owned_by(kind, "w", apiVersion="apps/v1")
    if "deleted" in more:
        metadata["deletionTimestamp"] = more.pop("deleted")
    return manifest("Pod", name, metadata=metadata, spec=spec, **more)


SLICE = manifest(
    "ResourceSlice",
    "s",
    spec=yaml.safe_load("""
    driver: d
    nodeName: a
    pool: {name: p, generation: 1, resourceSliceCount: 1}
    devices:
    - {name: g}
    """),
)
WHOLE = {
    "delete pod web/p": ({"Pod web/p"}, set()),
    "delete pod w-0": ({"Pod default/w-0"}, {"Pod default/w-1"}),
    "delete node a": ({"Node a", "Pod default/w-0", "Pod default/d-0"}, {"Pod default/w-1"}),
    "drain node a": ({"Pod default/w-0"}, {"Pod default/w-1"}),
    "cordon node *": (set(), set()),
    "copy node a x2": (
        set(),
        {f"{one}-{at}" for one in ("Node a", "Pod default/w-a", "ResourceSlice s-a") for at in (1, 2)},
    ),
    "copy pod web/p x2": (set(), {"Pod web/p-1", "Pod web/p-2"}),
    "copy device d/p/g to b": (set(), {"ResourceSlice b-more-d"}),
}
"""Edit of whole objects -> what goes, and what comes."""


@pytest.mark.parametrize("edit, wanted", WHOLE.items())
def test_whole_objects_go_and_come(edit, wanted):
    """Controllers make their pods again, pods of DaemonSets end with their node, and a new node is as the
    other one."""
    there = objects(*NODES, POD, SLICE, owned("w-0", "ReplicaSet"), owned("d-0", "DaemonSet"))
    found, (told,) = Edits.parse([edit]).of_pods(there)
    before, after = ({f"{item.kind} {item.key}" for item in items} for items in (there, found))
    assert (before - after, after - before) == wanted
    assert (told.chosen, told.changed) == (2, 2) if edit == "cordon node *" else (told.chosen == 1)
    cordoned = {item.name for item in found if isinstance(item, Node) and item.spec.unschedulable}
    assert cordoned == {"cordon node *": {"a", "b"}, "drain node a": {"a"}}.get(edit, set())


@pytest.mark.parametrize("kind, comes", [("ReplicaSet", set()), ("Job", set()), ("StatefulSet", {"w-0"})])
@pytest.mark.parametrize("edit", ["delete pod w-0", "delete node a", "drain node a"])
@pytest.mark.parametrize("fate", [{"status": {"phase": "Failed"}}, {"deleted": "2024-01-01T00:00:00Z"}])
def test_what_has_ended_was_made_again_already(fate, edit, kind, comes):
    """In place of a pod that has finished or is being deleted only a StatefulSet makes one."""
    found, _ = Edits.parse([edit]).of_pods(objects(*NODES, owned("w-0", kind, **fate)))
    assert {item.name for item in found if isinstance(item, Pod)} == comes


@pytest.mark.parametrize(
    "texts, limit, release, left",
    [
        (["drain node a"], 2, "1.36", {"w-2", "w-3", "w-4"}),
        (["drain node a"], 1, "1.36", set()),
        (["drain node a"], 1, "1.24", {"w-2", "w-3", "w-4"}),
        (["drain node a", "drain node b"], 2, "1.36", set()),
        (["delete node a"], 1, "1.36", set()),
        (["delete pod w-*"], 1, "1.36", {"w-3", "w-4", "w-5"}),
    ],
)
@pytest.mark.parametrize("of_files", [True, False])
def test_jobs_end_after_some_evictions(tmp_path, of_files, texts, limit, release, left):
    """The pods of a Job that has lost too many are deleted, and it makes no more."""
    pods = [owned(f"w-{at}", "Job") for at in range(3)]
    pods[2]["spec"] = {**pods[2]["spec"], "nodeName": "b"}
    spec = {"parallelism": 0, "backoffLimit": limit, "template": TEMPLATE}
    given = [*NODES, *pods, manifest("Job", "w", apiVersion="batch/v1", spec=spec)]
    path = tmp_path / "cluster.yaml"
    path.write_text(yaml.safe_dump_all(given))
    server = find_any_release(release).server
    cluster = path if of_files else given
    scenario = scenario_of(cluster, edits=texts, server=server, scheduler_names=["default-scheduler"])
    assert {item.name for item in (*scenario.objects, *scenario.pending) if isinstance(item, Pod)} == left


def test_devices_are_copied_again_and_again():
    """Each copy of devices has a slice and a pool of its own."""
    given = objects(*NODES, SLICE)
    texts = ["copy device d/p/g to b x2", "copy device d/p/g to b", "copy device d/b-more/g-more-2 to b"]
    found, _ = Edits.parse(texts).of_pods(given)
    assert [
        (item.name, item.spec.pool.name, *(device.name for device in item.spec.devices))
        for item in found[len(given) :]
    ] == [
        ("b-more-d", "b-more", "g-more-1", "g-more-2"),
        ("b-more-2-d", "b-more-2", "g-more-1"),
        ("b-more-3-d", "b-more-3", "g-more-2-more-1"),
    ]


def test_all_pods_of_a_controller():
    """After like: comes the name of one of them; a pod without a controller is meant alone."""
    there = objects(owned("w-0", "ReplicaSet"), owned("w-1", "ReplicaSet"), POD, OTHER)
    for name, count in (("like:default/w-0", 2), ("like:web/p", 1)):
        assert Edits.parse([f"pod {name} priority=7"]).of_pods(there)[1][0].changed == count


# --- Others -------------------------------------------------------------------------------------------------


def test_nodes_are_chosen_by_label(tmp_path):
    """A selector with = is one of labels; a taint goes by its key; what a node has is in its status."""
    found = scenario(
        tmp_path, "node pool=x taints-=t unschedulable=true labels.pool=y", "node b allocatable.cpu=64"
    )
    assert str(node(found, "b").status.allocatable["cpu"]) == "64"
    assert "t" not in [taint.key for taint in node(found, "a").spec.taints]
    assert (node(found, "a").spec.unschedulable, node(found, "b").spec.unschedulable) == (True, False)
    assert node(found, "a").labels["pool"] == "y"


def test_it_is_told_how_many(tmp_path):
    """Each edit says how many objects it is about, and how many of these changed."""
    found = scenario(tmp_path, "node * labels.pool=x", "pod * priority=1")
    assert [str(each) for each in found.edited] == [
        "--set 'node * labels.pool=x': 2 Nodes, of which 1 changed",
        "--set 'pod * priority=1': 4 Pods",
    ]
    text = str(scenario(tmp_path, "pod * tolerations[x].key=y containers[*].image-").edited[0])
    assert text.endswith("4 Pods, and each is so already or has no spec.tolerations[x]")


def test_functions_take_edits():
    """The functions take edits for manifests and for a Cluster, which does not change."""
    cluster = kubeclassic.Cluster([*NODES, POD])
    assert kubeclassic.simulate(cluster).hosts == {"web/p": "b"}
    assert kubeclassic.simulate(cluster, edits="pod web/p requests.cpu=1500m").hosts == {"web/p": None}
    assert kubeclassic.simulate(
        cluster, edits=["pod web/p requests.cpu=1500m", "node a taints-=t"]
    ).hosts == {"web/p": "a"}
    assert kubeclassic.explain([*NODES, POD], "web/p", edits="node b unschedulable=true").host is None
    assert kubeclassic.simulate(cluster).hosts == {"web/p": "b"}


WRONG = {
    "pod web/p": "expected KIND SELECTOR CHANGE..., such as 'pod web/* requests.cpu=500m' or 'node pool=a taints-=x', got 2 words",
    "pot web/p a=1": 'kind: expected one such as pod, node or deployment, got "pot"; did you mean "po" or "pod"?',
    "delete pod": "expected delete KIND SELECTOR, such as 'delete pod web/a', got 2 words",
    "delete deploy web": "expected delete KIND SELECTOR",
    "copy node a b": "expected copy node NAME",
    "drain node c": "expected at least one Node that it matches, got none",
    "copy device d/p/g to b": "expected at least one ResourceSlice that it matches, got none",
    "pod web/z requests.cpu=1": "expected at least one Pod that it matches, got none",
    "node zone=q unschedulable=true": "expected at least one Node that it matches, got none",
    "pod web/p requests.cpu": 'expected FIELD=VALUE, FIELD+=VALUE, FIELD-=VALUE, FIELD*=NUMBER or FIELD-, got the change "requests.cpu"',
    "pod web/p requests.cp=1": 'requests: expected cpu, memory or one such as nvidia.com/gpu, got the resource "cp"; did you mean "cpu"?',
    "pod web/p requests.cpu=lots": 'spec.containers[0].resources.requests.cpu: expected a quantity such as 500m, 2 or 1.5Gi, got "lots"',
    "pod web/p requests.cpu*=x": 'spec.containers[*].resources.requests.cpu: expected a number such as 0.5, got the factor "x"',
    "pod web/p requests.cpu*=1e999999999": 'expected a number such as 0.5, got the factor "1e999999999"',
    "pod web/p requests.cpu*=1e5000": 'expected a number such as 0.5, got the factor "1e5000"',
    f"pod web/p requests.cpu*={'1' * 50}": "expected a number such as 0.5, got the factor",
    "pod web/p requests.cpu*=-1": 'expected a number of 0 or more, got the factor "-1"',
    "pod web/p containrs=1": 'spec.containrs: unknown field; did you mean "containers" or "initContainers"?',
    "pod web/p metadata.name=x": 'expected another field, got "metadata.name", which says which object it is',
    "pod web/p 'metadata={name: q, namespace: web}'": 'name: expected "p", which says which object it is, got "q"',
    "node a 'metadata+={name: b}'": 'name: expected "a", which says which object it is, got "b"',
    "deploy web/d 'metadata={name: d}'": 'namespace: expected "web", which says which object it is, got "default"',
    "pod web/p labels[": 'got the change "labels["',
    "pod web/p spec..x=1": 'expected names with dots between, such as spec.containers[app].image, got the field "spec..x"',
    "pod web/p priorityClassName=low": "Pod web/p: refused by the API server: no PriorityClass with name low was found",
    "pod web/p tolerations+=a:Never": 'NoExecute, got "a:Never"',
    "node a taints+=a": 'expected KEY:EFFECT or KEY=VALUE:EFFECT, got the taint "a"',
    "node a unschedulable=maybe": 'unschedulable: expected true or false, got "maybe"',
    "pod web/p schedulerName.x=1": "",
    "pod web/p 'a=1": "a quote does not end",
    "pod a==b==c requests.cpu=1": "selector: expected",
    "pod web/p affinity={a": 'expected YAML, got the value "{a"',
    'pod web/p "affinity={x: !!bool z}"': 'expected YAML, got the value "{x: !!bool z}"',
    'pod web/p "affinity={x: !!timestamp y, a: !!float b}"': "expected YAML",
}


@pytest.mark.parametrize("edit, words", WRONG.items())
def test_what_is_wrong_is_told_with_the_edit(tmp_path, edit, words):
    """Each wrong edit is one line that names the edit, says what was expected and what came."""
    text = refusal_text(EditError, scenario, tmp_path, edit)
    assert text.startswith(f"--set '{edit}': ")
    assert words in text
    assert "\n" not in text


@pytest.mark.parametrize(
    "field", ["spec.containers[app].image", "metadata.labels.a.b/c", "spec.tolerations[0].key", "status.x"]
)
def test_paths_are_written_as_they_are_read(field):
    """A path is its text, and its text is the path."""
    assert text_of(parse_path(field)) == field
    assert parse_path("a[b]") == (Step("a"), Step("b", is_item=True))


@pytest.mark.parametrize(
    "given, edit, spec",
    [
        (
            yaml.safe_load("""
                kind: CSINode
                spec:
                  drivers:
                  - name: d.io
                    nodeID: a
                    allocatable: {count: 1}
                """),
            "drivers[d.io].allocatable.count=3",
            "drivers: [{name: d.io, nodeID: a, allocatable: {count: 3}}]",
        ),
        (
            yaml.safe_load("""
                kind: ResourceClaim
                spec:
                  devices:
                    requests:
                    - name: gpu
                      exactly: {deviceClassName: gpu}
                """),
            "devices.requests[gpu].exactly.count=2",
            "devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu, count: 2}}]}",
        ),
        (
            yaml.safe_load("{kind: LimitRange, spec: {limits: [{type: Container, default: {cpu: '1'}}]}}"),
            "limits[0].default.nvidia.com/gpu=1",
            "limits: [{type: Container, default: {cpu: '1', nvidia.com/gpu: '1'}}]",
        ),
        (
            yaml.safe_load("{kind: Service, spec: {selector: {a.io/b: x}}}"),
            "selector.a.io/b=y",
            "selector: {a.io/b: y}",
        ),
    ],
)
def test_fields_of_other_kinds_are_what_the_kind_has_there(given, edit, spec):
    """A field called allocatable, capacity, requests or limits has free keys in the kinds in which it is a
    map of amounts alone."""
    parsed = Edit.parse(f"{given['kind']} * {edit}")
    assert parsed.made(given)["spec"] == yaml.safe_load(spec)


NAMES = st.sampled_from(["cpu", "memory", "nvidia.com/gpu"])
AMOUNTS = st.sampled_from(["1", "1.5k", "2Gi", "7000m"])


def objects(*manifests):
    """The objects of *manifests*."""
    return load_documents([Document(each, "test") for each in manifests]).objects


@given(name=NAMES, amount=AMOUNTS, container=st.sampled_from(["app", "log"]))
def test_an_edit_is_what_the_manifest_would_say(name, amount, container):
    """An edited pod equals the pod of a manifest that says so from the beginning."""
    edited, _ = Edits.parse([f"pod * containers[{container}].resources.requests.{name}={amount}"]).of_pods(
        objects(POD)
    )
    number = ["app", "log"].index(container)
    other = json.loads(json.dumps(POD))
    other["spec"]["containers"][number]["resources"]["requests"][name] = amount
    assert list(map(current_manifest, edited)) == list(map(current_manifest, objects(other)))


def test_an_edit_has_its_kind_in_many_words():
    """Kinds are named as kubectl takes them."""
    kinds = {Edit.parse(f"{word} * labels.a=b").kind for word in ("po", "pods", "Pod", "POD")}
    assert kinds == {"Pod"}
    assert Edit.parse("deployments * labels.a=b").kind == "Deployment"


def test_edits_of_a_text_that_is_none(tmp_path):
    """An edit that is no text is refused by the functions."""
    with pytest.raises(
        kubeclassic.exceptions.WrongTypeError, match=r"edits: expected a text such as .*, got 3 \(int\)"
    ):
        kubeclassic.simulate([*NODES, POD], edits=[3])  # type: ignore[list-item]  # that is the point
    with pytest.raises(ManifestError):
        Files.read(tmp_path / "none.json", edits=["pod * priority=1"]).scenario()


LONG = (f"pod * {'a' * 5000}", f"node * x={'9' * 5000}")


@pytest.mark.parametrize("text", ["pod * a\n=b", "pod\x1b[31m * a=b", "node * x=\ud800", "a\n", *LONG])
def test_whatever_the_text_is_the_error_is_one_line(tmp_path, text):
    """Line breaks, control characters and long texts in an edit do not get into the message as they are."""
    told = refusal_text(EditError, scenario, tmp_path, text)
    assert told.isprintable()
    assert len(told) <= 1000


@given(st.lists(st.sampled_from(SEVERAL), min_size=5, max_size=12))
def test_several_at_once(texts):
    """Many edits together are what they are one after the other, however each chooses its objects."""
    loaded = load_documents([Document(item, "made") for item in (*NODES, POD, OTHER, DEPLOYMENT)])
    one_by_one = loaded
    told = []
    for text in texts:
        (one_by_one,), one = Edits.parse([text]).of_loaded([one_by_one])
        objects, more = Edits.parse([text]).of_pods(one_by_one.objects)
        one_by_one = attrs.evolve(one_by_one, objects=objects)
        told = [*told, *one, *more]
    (together,), one = Edits.parse(texts).of_loaded([loaded])
    objects, more = Edits.parse(texts).of_pods(together.objects)
    assert (objects, together.raw) == (one_by_one.objects, one_by_one.raw)
    assert sorted(map(str, (*one, *more))) == sorted(map(str, told))


@pytest.mark.parametrize("kind", sorted(KINDS))
@examples(0.5)
@given(data=st.data())
def test_an_edit_of_one_field_keeps_all_others(kind, data):
    """Whatever an object says, with its manifest or without, it says after an edit, but for the label that
    was asked for."""
    document = data.draw(documents(KINDS[kind]))
    named = yaml.safe_load("{name: x, namespace: n, uid: u, labels: {a: b}}")
    document = {"kind": kind, **document, "metadata": {**document.get("metadata", {}), **named}}
    edits = Edits.parse([f"{kind.lower()} x labels.z=1"], defaults=False)
    for keeps in (True, False):
        item = decode(document, keeps_manifest=keeps)
        (found,) = (
            edits.of_pods([item])[0] if kind == "Pod" else edits.of_loaded([Loaded((item,))])[0][0].objects
        )
        assert found == replace(item, metadata=replace(item.metadata, labels=Map(a="b", z="1")))
