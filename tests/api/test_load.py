"""Loading: every format that people and kubectl write, and errors that say where."""

import gzip
import io
import json

import pytest
import yaml

from kubeclassic.api.cluster import Cluster
from kubeclassic.api.load import load, take_in
from kubeclassic.api.objects import LabelSelector, Map, Pod, ReplicaSet, ReplicationController
from kubeclassic.api.reading.formats import jsonvalues
from kubeclassic.api.reading.notices import Notice
from kubeclassic.exceptions import ManifestError
from tests.support.manifests import dumped, manifest
from tests.support.refusals import refusal_text

NODE = manifest("Node", "n1", apiVersion="v1")
POD = manifest("Pod", "p1", apiVersion="v1", spec={"containers": [{"name": "c"}]})
POD_YAML = "apiVersion: v1\nkind: Pod\nmetadata: {name: p1, creationTimestamp: 2020-01-01T00:00:00Z}\n"


def names(loaded):
    return [f"{found.kind} {found.key}" for found in loaded.objects]


def written(folder, name, content):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


# --- Formats ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, content",
    [
        ("a.yaml", f"---\n{json.dumps(NODE)}\n---\n# nothing\n---\n{POD_YAML}"),
        ("a.yml", f"apiVersion: v1\nkind: List\nitems:\n- {json.dumps(NODE)}\n- {json.dumps(POD)}\n"),
        ("a.json", json.dumps({"kind": "List", "items": [NODE, POD]}, indent=2)),
        ("a.json", json.dumps([NODE, POD])),
        ("a.json", json.dumps(NODE, indent=2) + json.dumps(POD, indent=2)),
        ("a.jsonl", f"{json.dumps(NODE)}\n\n{json.dumps(POD)}\n"),
        ("a.yaml", dumped([NODE, POD])),
        ("a.yaml", f"{json.dumps(NODE)}\n---\n{json.dumps(POD)}\n"),
        (
            "dump",
            json.dumps(yaml.safe_load("{kind: NodeList, items: [{metadata: {name: n1}}]}"))
            + json.dumps(yaml.safe_load("{kind: PodList, items: [{metadata: {name: p1}}]}")),
        ),
        ("bom.yaml", b"\xef\xbb\xbf" + f"---\n{json.dumps(NODE)}\n---\n{POD_YAML}".encode()),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_each_form_gives_the_same(tmp_path, name, content, packed):
    """YAML and JSON, single objects, lists and several documents, gzipped or not, give the same objects
    in order."""
    raw = content if isinstance(content, bytes) else content.encode()
    path = written(tmp_path, name + ".gz" if packed else name, gzip.compress(raw) if packed else raw)
    assert names(load(path)) == ["Node n1", "Pod default/p1"]


@pytest.mark.parametrize(
    "content",
    [json.dumps(NODE), json.dumps(NODE).encode(), gzip.compress(json.dumps(NODE).encode())],
    ids=["text", "bytes", "gzipped"],
)
def test_standard_input(content):
    """A dash stands for standard input, text or bytes, packed or not."""
    stream = io.StringIO(content) if isinstance(content, str) else io.BytesIO(content)
    assert names(load("-", stdin=stream)) == ["Node n1"]


def test_numbers_of_yaml_are_those_of_kubernetes(tmp_path):
    """Whole numbers in any notation are amounts and fields of integers, and keys as Go writes them."""
    text = """
        {kind: Pod, metadata: {name: a, labels: {1.10: x, y: x}}, spec: {priority: 1e3, containers: [
          {name: c, resources: {requests: {cpu: 1.0, memory: 1_0e3, example.com/a: 0x1F, example.com/b: 08}}}]}}
        """
    (found,) = load(written(tmp_path, "a.yaml", text)).objects
    assert (found.spec.priority, found.labels) == (1000, {"1.1": "x", "true": "x"})
    amounts = found.spec.containers[0].requests
    assert [amount.written for amount in amounts.values()] == ["1", "10k", "31", "8"]


def test_directories(tmp_path):
    """A directory gives its manifests, in order of their paths, below it too, but nothing hidden and no
    other files."""
    for name in ("b.yaml", "a/z.json", "a/.hidden.json", ".git/x.yaml", "a/logs.txt", "c.jsonl.gz"):
        document = json.dumps({**NODE, "metadata": {"name": name.replace("/", "-")}}).encode()
        written(tmp_path, name, gzip.compress(document) if name.endswith(".gz") else document)
    assert names(load(tmp_path)) == ["Node a-z.json", "Node b.yaml", "Node c.jsonl.gz"]


def test_several_paths(tmp_path):
    """Several paths are loaded one after another."""
    paths = [written(tmp_path, "p.json", json.dumps(POD)), str(written(tmp_path, "n.json", json.dumps(NODE)))]
    assert names(load(paths)) == ["Pod default/p1", "Node n1"]


def test_cluster_info_dump(tmp_path):
    """The dump that kubectl prints is read: lists one after another, the log blocks between them ignored."""
    block = "of pod default/p1 ===="
    logs = f'==== START logs for container c {block}\n{{"not": json\n---\n==== END logs for container c {block}\n'
    lists = [
        {"kind": "NodeList", "items": [NODE]},
        {"kind": "EventList", "items": [{"reason": "x"}] * 3},
        {"kind": "PodList", "items": [POD]},
    ]
    path = written(tmp_path, "dump", "".join(json.dumps(found, indent=4) + "\n" + logs for found in lists))
    loaded = load(path)
    assert (names(loaded), loaded.ignored) == (["Node n1", "Pod default/p1"], {"Event": 3})


def test_the_quick_reader_gives_the_same(tmp_path, monkeypatch):
    """The quicker JSON reader is tried first, and what it refuses is read by the standard library."""
    calls = []

    def quick(content):
        calls.append(content)
        return json.loads(content)

    monkeypatch.setattr(jsonvalues, "decoded", quick)
    assert names(load(written(tmp_path, "a.json", json.dumps(NODE)))) == ["Node n1"]
    assert names(load(written(tmp_path, "b.jsonl", f"{json.dumps(NODE)}\n{json.dumps(POD)}"))) == [
        "Node n1",
        "Pod default/p1",
    ]
    assert len(calls) == 2


@pytest.mark.parametrize(
    "item, ignored",
    [
        (manifest("Node", "n1", apiVersion="longhorn.io/v1beta2"), "Node (longhorn.io)"),
        (
            yaml.safe_load("""
                apiVersion: longhorn.io/v1beta2
                kind: NodeList
                items:
                - metadata: {name: n1}
                """),
            "Node (longhorn.io)",
        ),
        (
            yaml.safe_load("{kind: NodeList, items: [{metadata: {name: n1}}], apiVersion: longhorn.io/v1}"),
            "Node (longhorn.io)",
        ),
        (
            yaml.safe_load("{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, spec: {}}"),
            "Job (batch.volcano.sh)",
        ),
        (manifest("Pod", "p2", apiVersion="v2"), "Pod (v2)"),
        (yaml.safe_load("{apiVersion: v2, kind: PodList, items: [{metadata: {name: p2}}]}"), "Pod (v2)"),
        (
            {"apiVersion": "resource.k8s.io/v1alpha2", "kind": "ResourceClaim"},
            "ResourceClaim (resource.k8s.io/v1alpha2)",
        ),
        ({"apiVersion": "v1", "kind": "Secret"}, "Secret"),
    ],
)
@pytest.mark.parametrize("padding", [0, 1 << 19])
def test_objects_of_other_groups_are_ignored(tmp_path, item, ignored, padding):
    """Objects of other groups and versions are counted, also in long lists, whose items take their
    apiVersion from the list."""
    written(tmp_path, "core/n1.json", json.dumps(NODE))
    written(tmp_path, "others/n1.json", json.dumps(item) + " " * padding)
    loaded = load(tmp_path)
    assert (names(loaded), loaded.ignored) == (["Node n1"], {ignored: 1})


@pytest.mark.parametrize("version", ["extensions/v1beta1", "apps/v1beta1", "apps/v1beta2", "apps/v1", None])
def test_old_groups_count(tmp_path, version):
    """A Deployment is one in each group that had it."""
    loaded = load(
        written(tmp_path, "a.json", json.dumps({**NODE, "apiVersion": version, "kind": "Deployment"}))
    )
    assert (len(loaded.raw["Deployment"]), loaded.ignored) == (1, {})


def test_dates_and_times_of_day_are_texts(tmp_path):
    """Dates, times of day and equals signs stay texts; numbers are numbers."""
    metadata = (
        "{name: p, creationTimestamp: 2020-01-01T00:00:00Z, annotations: {a: 12:30, b: 2020-01-01, c: =}}"
    )
    text = f"kind: Pod\nmetadata: {metadata}\nspec: {{priority: 10}}\n"
    (pod,) = load(written(tmp_path, "a.yaml", text)).of(Pod)
    assert pod.metadata.creation_timestamp == "2020-01-01T00:00:00Z"
    assert pod.annotations == {"a": "12:30", "b": "2020-01-01", "c": "="}
    assert pod.spec.priority == 10


def test_quantities_may_be_numbers(tmp_path):
    """Requests written as bare numbers, with exponents too, are read."""
    text = "kind: Pod\nmetadata: {name: p}\nspec: {containers: [{resources: {requests: {cpu: 1.5, memory: 1e9, x.com/y: 2}}}]}\n"
    (pod,) = load(written(tmp_path, "a.yaml", text)).of(Pod)
    assert {name: amount.milli_value() for name, amount in pod.spec.containers[0].requests.items()} == {
        "cpu": 1500,
        "memory": 10**12,
        "x.com/y": 2000,
    }


# --- Errors -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, content, text",
    [
        ("a.yaml", "kind: Node\nmetadata: {name: [}\n", "a.yaml, line 2, column 19: broken YAML: "),
        (
            "a.json",
            '{"kind": "Node",\n "metadata": }',
            "a.json, line 2, column 14: broken JSON: expecting value",
        ),
        (
            "a.jsonl",
            '{"kind": "Node", "metadata": {"name": "a"}}\n{"kind" 5}',
            "a.jsonl, line 2, column 9: broken JSON: expecting ':' delimiter",
        ),
        ("a.json.gz", b"\x1f\x8bxyz", "a.json.gz: broken gzip data"),
        ("a.yaml", b"kind: \xff", "a.yaml: byte 6: expected UTF-8, got bytes that are no text"),
        (
            "a.yaml",
            "kind: Node\nmetadata: {name: a}\n---\n- 5\n",
            "a.yaml, document 2: expected a Kubernetes object, got 5",
        ),
        ("a.yaml", "just text", 'a.yaml, document 1: expected a Kubernetes object, got "just text"'),
        ("a.yaml", "x: 1", "a.yaml, document 1: kind: expected the kind of a Kubernetes object, got nothing"),
        ("a.yaml", "kind: Node", "a.yaml, document 1 (Node): metadata.name: expected a name, got nothing"),
        (
            "a.yaml",
            "kind: CronJob",
            "a.yaml, document 1 (CronJob): metadata.name: expected a name, got nothing",
        ),
        ("a.json", '{"kind": "List", "items": 5}', "a.json, document 1: items: expected a list, got 5"),
        (
            "a.json",
            '{"kind": "List", "items": [{}]}',
            "a.json, document 1, item 1: kind: expected the kind of a Kubernetes object, got nothing",
        ),
        (
            "a.json",
            '{"kind": "PodList", "items": [5]}',
            "a.json, document 1, item 1: expected a Kubernetes object, got 5",
        ),
        (
            "a.json",
            '{"kind": "NodeList", "items": [{"metadata": {"name": "w"}, "spec": {"taints": [{"effect": "NoSched"}]}}]}',
            "a.json, document 1, item 1 (Node w): spec.taints[0].effect: expected NoSchedule, PreferNoSchedule or NoExecute",
        ),
        ("a.json", "[" * 100_000, "a.json: JSON nested too deeply"),
        ("a.yaml", "a: \x00", "a.yaml: broken YAML: "),
    ],
)
def test_broken_files_say_where(tmp_path, name, content, text):
    """The error for unreadable input names file, line and column, or document, kind, name and field."""
    assert text in refusal_text(ManifestError, load, written(tmp_path, name, content))


def test_log_blocks_keep_line_numbers_true(tmp_path):
    """The line in an error counts the lines of log blocks too."""
    logs = "==== START logs for x ====\na\nb\n==== END logs for x ====\n"
    with pytest.raises(ManifestError, match="line 6, column 1: broken JSON"):
        load(written(tmp_path, "dump", json.dumps(NODE) + "\n" + logs + "oops"))


def test_missing_files(tmp_path):
    """A file that is not there is told by name."""
    with pytest.raises(ManifestError, match=r"none\.yaml: no such file or directory"):
        load(tmp_path / "none.yaml")


def test_directories_without_manifests(tmp_path):
    """A directory without manifests is an error, not an empty cluster."""
    with pytest.raises(ManifestError, match="got a directory without manifests"):
        load(tmp_path)


# --- What is kept -------------------------------------------------------------------------------------------


def test_defaults_are_filled_in(tmp_path):
    """Objects come with the API's defaults unless told otherwise."""
    path = written(tmp_path, "a.json", json.dumps(POD))
    assert load(path).of(Pod)[0].spec.scheduler_name == "default-scheduler"
    assert load(path, defaults=False).of(Pod)[0].spec.scheduler_name == ""


def test_the_last_of_two_counts(tmp_path):
    """Of two objects with one name the last counts, in the place of the first, with a warning."""
    twice = [POD, NODE, {**POD, "spec": {"nodeName": "n1"}}]
    loaded = load(written(tmp_path, "a.json", json.dumps(twice)))
    assert names(loaded) == ["Pod default/p1", "Node n1"]
    assert loaded.of(Pod)[0].spec.node_name == "n1"
    assert loaded.warnings == (
        Notice(f"{tmp_path}/a.json, document 3 (Pod p1)", "was given before, the last one counts"),
    )


def test_a_node_stands_there_once(tmp_path):
    """Two nodes of one name are refused, as nobody can tell which of them is meant."""
    path = written(tmp_path, "a.json", json.dumps([NODE, NODE]))
    with pytest.raises(
        ManifestError, match=r"document 2 \(Node n1\): metadata.name: expected each node once, got n1 again$"
    ):
        load(path)


def test_what_an_api_server_refuses(tmp_path):
    """An object with a fault is kept, with a warning that says where it is."""
    loaded = load(
        written(tmp_path, "a.json", json.dumps({**NODE, "spec": {"taints": [{"effect": "NoSchedule"}]}}))
    )
    assert names(loaded) == ["Node n1"]
    assert "document 1 (Node n1): spec.taints[0].key: expected a label's key, got nothing" in str(
        loaded.warnings[0]
    )


def test_generated_names(tmp_path):
    """Objects with generateName get running numbers."""
    generated = {**POD, "metadata": {"generateName": "web-"}}
    assert names(load(written(tmp_path, "a.json", json.dumps([generated, generated])))) == [
        "Pod default/web-1",
        "Pod default/web-2",
    ]


@pytest.mark.parametrize("kind", ["Pod", "Job"])
def test_generated_names_give_way(tmp_path, kind):
    """An object that comes later with the name that another got is no second one of it."""
    spec = {"template": {"spec": POD["spec"]}} if kind == "Job" else POD["spec"]
    metadata = [{"generateName": "web-"}, {"generateName": "web-"}, {"name": "web-1"}]
    documents = [{"kind": kind, "metadata": each, "spec": spec} for each in metadata]
    found = take_in([load(written(tmp_path, "a.json", json.dumps(documents)))])
    assert sorted(item.name[:5] for item in found.objects) == ["web-1", "web-2", "web-3"]
    assert found.warnings == ()


@pytest.mark.parametrize(
    "metadata", [[{"generateName": "web-"}] * 2, [{"generateName": "web-"}, {"name": "web-1"}]]
)
def test_generated_names_of_several(metadata):
    """Manifests in Python that share a generateName, or have the name that another got, are all there."""
    pods = [{**POD, "metadata": each} for each in metadata]
    cluster = Cluster(pods)
    cluster.add(pods[0])
    assert sorted(pod.name for pod in cluster.pods) == ["web-1", "web-2", "web-3"]


def test_raw_documents(tmp_path):
    """ConfigMaps and workloads are kept undecoded, ReplicaSets both ways; other kinds are counted."""
    config = {"kind": "ConfigMap", "data": {"policy.cfg": "{}"}}
    replica_set = manifest("ReplicaSet", "r")
    service_account = {"kind": "ServiceAccount"}
    path = written(tmp_path, "a.json", json.dumps([config, replica_set, service_account, service_account]))
    loaded = load(path)
    assert loaded.raw == {"ConfigMap": (config,), "ReplicaSet": (replica_set,)}
    assert (names(loaded), loaded.ignored) == (["ReplicaSet default/r"], {"ServiceAccount": 2})
    assert load(path, raw_kinds=()).ignored == {"ConfigMap": 1, "ServiceAccount": 2}


def test_raw_items_of_lists_name_their_kind(tmp_path):
    """An item of a DeploymentList is kept with the kind that only the list names."""
    loaded = load(
        written(
            tmp_path,
            "a.json",
            json.dumps(yaml.safe_load("{kind: DeploymentList, items: [{metadata: {name: d}}]}")),
        )
    )
    assert loaded.raw["Deployment"][0]["kind"] == "Deployment"


def test_files_that_are_no_manifests(tmp_path):
    """In a directory a document without kind is ignored with a warning."""
    written(tmp_path, "values.yaml", "replicas: 3")
    written(tmp_path, "n.json", json.dumps(NODE))
    loaded = load(tmp_path)
    assert (names(loaded), loaded.warnings) == (
        ["Node n1"],
        (Notice(f"{tmp_path}/values.yaml, document 1", "no kind, ignored"),),
    )


def test_selectors_from_templates(tmp_path):
    """Controllers of kinds and versions that allow it take their selector from the template's labels."""
    template = yaml.safe_load("{template: {metadata: {labels: {a: '1'}}}}")
    meta = {"metadata": {"name": "x"}, "spec": template}
    controllers = [
        {"kind": "ReplicationController", "apiVersion": "v1", **meta},
        {"kind": "ReplicaSet", "apiVersion": "extensions/v1beta1", **meta},
    ]
    loaded = load(written(tmp_path, "a.json", json.dumps(controllers)))
    assert loaded.of(ReplicationController)[0].selector == Map(a="1")
    assert loaded.of(ReplicaSet)[0].selector == LabelSelector(match_labels=Map(a="1"))
    apps = load(
        written(tmp_path, "b.json", json.dumps({"kind": "ReplicaSet", "apiVersion": "apps/v1", **meta}))
    )
    assert apps.of(ReplicaSet)[0].selector is None
