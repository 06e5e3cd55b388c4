"""Other tools' exports as manifests: SimKube, kube-scheduler-simulator, dumps in folders."""

import json
from functools import partial, reduce

import msgspec
import pytest
import yaml

import kubeclassic
from kubeclassic.exceptions import ManifestError
from kubeclassic.questions.importing import simkube
from tests.support import manifests
from tests.support.manifests import manifest
from tests.support.refusals import refusal_text
from tests.support.traceforms import CREATED, DELETED, RUNS, times, write


def deployment(replicas, image="a"):
    """A Deployment as in a trace of SimKube."""
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": image}]},
    }
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    return manifest("Deployment", "web", namespace="shop", apiVersion="apps/v1", spec=spec)


# --- Sim kube -----------------------------------------------------------------------------------------------


EVENTS = (
    {"ts": 100, "applied_objs": [deployment(2), manifest("ConfigMap", "x")]},
    {"ts": 110, "applied_objs": [deployment(3)]},
    {"ts": 120, "applied_objs": [deployment(1)]},
    {"ts": 130, "applied_objs": [deployment(1, "b")]},
    {"ts": 140, "deleted_objs": [deployment(1, "b")]},
)


def spans(document, folder):
    """Begin, end and length of the life of each pod of a trace."""
    (folder / "trace").write_bytes(msgspec.msgpack.encode(document))
    trace = simkube.read(folder / "trace")
    return [(times(pod)[CREATED], times(pod).get(DELETED), times(pod).get(RUNS)) for pod in trace.pods]


def test_owners_make_and_replace_pods(tmp_path):
    """More replicas are more pods, fewer take some away, a new template replaces all, and a deleted owner
    has none."""
    wanted = [("100", "130", None), ("100", "120", None), ("110", "120", None), ("130", "140", None)]
    assert spans({"version": 2, "config": {}, "events": EVENTS, "index": {}}, tmp_path) == wanted
    assert spans([{}, EVENTS, {}, {}], tmp_path) == wanted


@pytest.mark.parametrize("where", ["index", "pod_lifecycles"])
def test_finished_pods_run_as_long(tmp_path, where):
    """The run time of pods is found by their owner, wherever the version of the trace has it."""
    lives = {
        "apps/v1.Deployment": {
            "shop/web": {"100": [{"lifecycle": {"Finished": [100, 107]}}, {"lifecycle": {"Running": 3}}]}
        }
    }
    document = {"version": 3, "config": {}, "events": EVENTS[:1], "index": {}, where: lives}
    assert spans(document, tmp_path) == [("100", None, "7"), ("100", None, None)]


def test_the_pods_belong_to_their_owner(tmp_path):
    """The pods have owner, labels and spec, and are scheduled beside nodes."""
    (tmp_path / "trace").write_bytes(
        msgspec.msgpack.encode({"version": 2, "config": {}, "events": EVENTS[:1], "index": {}})
    )
    found = kubeclassic.traces.import_simkube(tmp_path / "trace")
    (first, _) = found.manifest["items"]
    assert first["metadata"]["labels"]["app"] == "web"
    assert first["metadata"]["ownerReferences"][0]["name"] == "web"
    node = manifest("Node", "a", status={"allocatable": {"pods": "9"}})
    assert kubeclassic.simulate([found.manifest, node]).hosts == {"shop/web-0": "a", "shop/web-1": "a"}


OBJECTS = yaml.safe_load("""
- {apiVersion: v1, kind: Pod, metadata: {name: p, namespace: shop}, spec: {nodeName: 'n'}}
- apiVersion: batch/v1
  kind: CronJob
  metadata: {name: p, namespace: shop}
  spec: &runs {schedule: "* * * * *", suspend: true, jobTemplate: {spec: {template: {spec: {containers: [{name: c}]}}}}}
- {apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: p, namespace: shop}, spec: {}}
- {apiVersion: batch/v1, kind: CronJob, metadata: {name: idle}, spec: *runs}
""")


def test_bare_pods_and_runs_of_cron_jobs(tmp_path):
    """A bare pod has its own life, a CronJob of the same name a pod for each run that was recorded;
    without any it is dropped."""
    lives = {
        ("v1.Pod", "shop/p"): {1: [{"Finished": [101, 131]}]},
        ("batch/v1.CronJob", "shop/p"): {1: [{"Finished": [140, 170]}, {"Running": 200}]},
    }
    document = {
        "version": 2,
        "config": {},
        "events": [{"ts": 100, "applied_objs": OBJECTS}],
        "index": {},
        "pod_lifecycles": lives,
    }
    assert spans(document, tmp_path) == [("100", None, "30"), ("140", None, "30"), ("200", None, None)]
    trace = simkube.read(tmp_path / "trace")
    assert trace.dropped == {"objects of kind Job (batch.volcano.sh)": 1, "CronJobs without recorded runs": 1}
    assert [item["metadata"]["name"] for item in trace.pods] == ["p", "p-0", "p-1"]
    assert trace.pods[0]["spec"] == {}


# --- Simulator ----------------------------------------------------------------------------------------------


EXPORT = yaml.safe_load("""
pods: [{metadata: {name: p, namespace: default}, spec: {containers: [{name: c}]}}]
nodes: [{metadata: {name: 'n'}, status: {allocatable: {pods: "9"}}}]
pvs: []
pvcs: null
storageClasses: []
priorityClasses: [{metadata: {name: high}, value: 7}]
namespaces: [{metadata: {name: default}}]
schedulerConfig: {profiles: [{schedulerName: default-scheduler}]}
""")


def test_an_export_is_read_like_manifests(tmp_path):
    """All commands read an export; that its configuration does not count is said."""
    found = kubeclassic.simulate(write(tmp_path, "export.json", json.dumps(EXPORT)))
    assert found.hosts == {"default/p": "n"}
    assert any("make a file of `schedulerConfig` for --profile" in warning.text for warning in found.warnings)


BROKEN = yaml.safe_load("""
"version: expected 2 or 3, got 9": {version: 9}
"events: expected a list of events, got 3": {version: 2, events: 3}
'event 1: ts: expected seconds since 1970, got "x"': {version: 2, events: [{ts: x}]}
"event 1: ts: expected seconds since 1970, got true": {version: 2, events: [{ts: true}]}
"event 1: ts: expected seconds since 1970, got NaN": {version: 2, events: [{ts: .nan}]}
expected a list of Kubernetes objects: {version: 2, events: [{ts: 1, applied_objs: [{kind: Job, 7: 8}]}]}
"applied_objs: expected a list of Kubernetes objects, got a list": {version: 2, events: [{ts: 1, applied_objs: [3]}]}
"object with kind, metadata.name and spec, got an empty object": {version: 2, events: [{ts: 1, applied_objs: [{}]}]}
"got a list": {version: 2, events: [{ts: 1, applied_objs: [{kind: Pod, metadata: {name: p}, spec: {foo: .inf}}]}]}
"a list ": {version: 2, events: [{ts: 1, applied_objs: [{kind: Pod, spec: {foo: 2026-01-01T00:00:00Z}}]}]}
"event 1: Pod p: spec.containers[0]: expected an object, got 5": {version: 2, events: [{ts: 1, applied_objs: [
  {kind: Pod, metadata: {name: p}, spec: {containers: [5]}}]}]}
""")
BROKEN["event 1: applied_objs: nested too deeply"] = {
    "version": 2,
    "events": [
        {"ts": 1, "applied_objs": [{"kind": "Pod", "spec": reduce(lambda inner, _: [inner], range(700), 1)}]}
    ],
}


def test_a_broken_simkube_trace_is_told(tmp_path):
    """Another version, and events of another form, are refused with the number of the event."""
    for words, document in BROKEN.items():
        (tmp_path / "t").write_bytes(msgspec.msgpack.encode(document))
        assert words in refusal_text(ManifestError, simkube.read, tmp_path / "t")


# --- Dumps --------------------------------------------------------------------------------------------------


NODE = manifest("Node", "n", apiVersion="v1", status={"allocatable": {"pods": "9"}})
pod = partial(manifests.pod, namespace="a")


def test_a_cluster_info_dump_is_a_folder(tmp_path):
    """The output of `kubectl cluster-info dump --output-directory` is read as it is; logs are ignored."""
    (tmp_path / "a" / "p").mkdir(parents=True)
    write(tmp_path, "nodes.json", json.dumps({"kind": "NodeList", "apiVersion": "v1", "items": [NODE]}))
    pods = [pod("p"), pod("q", nodeName="n")]
    write(tmp_path, "a/pods.json", json.dumps({"kind": "PodList", "apiVersion": "v1", "items": pods}))
    write(tmp_path, "a/p/logs.txt", "==== START logs\n{\n")
    assert kubeclassic.simulate(tmp_path).hosts == {"a/p": "n"}


def test_a_must_gather_is_a_folder(tmp_path):
    """The output of `oc adm must-gather` is read as it is: objects one by one and in lists, each counted
    once."""
    base = tmp_path / "must-gather.local" / "image"
    for folder in (
        "cluster-scoped-resources/core/nodes",
        "namespaces/a/core",
        "namespaces/a/pods/p/c/c/logs",
    ):
        (base / folder).mkdir(parents=True)
    write(base, "cluster-scoped-resources/core/nodes/n.yaml", json.dumps(NODE))
    write(
        base,
        "namespaces/a/core/pods.yaml",
        yaml.safe_dump({"kind": "PodList", "apiVersion": "v1", "items": [pod("p")]}),
    )
    write(base, "namespaces/a/pods/p/p.yaml", yaml.safe_dump(pod("p")))
    write(base, "namespaces/a/pods/p/c/c/logs/current.log", "not: [yaml\n")
    write(base, "event-filter.html", "<html>")
    assert kubeclassic.simulate(tmp_path).hosts == {"a/p": "n"}
