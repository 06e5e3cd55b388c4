"""The openb trace as manifests, and scheduled as the original scheduler did."""

import gzip
import json

import pytest
import yaml

from kubeclassic.exceptions import ManifestError
from kubeclassic.questions.importing.rows import manifests
from kubeclassic.simulation.conform import engine_for
from kubeclassic.simulation.simulate import Files, Simulation
from tests.support.program import ran
from tests.support.refusals import refusal_text

NODES = "sn,cpu_milli,memory_mib,gpu,model\nplain,32000,262144,0,\ngpus,64000,1024,2,T4\n"
HEADER = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time\n"


def read(folder, pods):
    """The manifests of a trace with these *nodes* and *pods*."""
    (folder / "nodes.csv").write_text(NODES)
    (folder / "pods.csv").write_text(pods)
    return manifests(folder / "nodes.csv", folder / "pods.csv")["items"]


def pod(folder, row):
    """The manifest of one pod."""
    return read(folder, HEADER + row)[-1]


def test_with_and_without_gpus(tmp_path):
    """A node has cpu, memory, 110 pods, its name as a label, and is ready; GPUs are 1000 thousandths
    each, their model a label."""
    node, other = read(tmp_path, HEADER)
    assert node["status"]["allocatable"] == {"cpu": "32000m", "memory": "262144Mi", "pods": "110"}
    assert node["metadata"] == {"name": "plain", "labels": {"kubernetes.io/hostname": "plain"}}
    assert node["status"]["conditions"] == [{"type": "Ready", "status": "True"}]
    assert other["status"]["allocatable"] == yaml.safe_load("""
{cpu: 64000m, memory: 1024Mi, pods: "110", alibabacloud.com/gpu-count: "2", alibabacloud.com/gpu-milli: "2000"}
""")
    assert other["metadata"]["labels"]["alibabacloud.com/gpu-card-model"] == "T4"


def test_requests_are_limits(tmp_path):
    """A pod requests, and is limited to, cpu and memory; without GPUs nothing else."""
    made = pod(tmp_path, "p,500,1024,0,0,,LS,Running,3")
    assert made == yaml.safe_load("""
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: openb, annotations: {kubeclassic/creation-time: "3"}}
spec:
  priority: 0
  containers:
  - {name: main, resources: {requests: {cpu: 500m, memory: 1024Mi}, limits: {cpu: 500m, memory: 1024Mi}}}
""")


@pytest.mark.parametrize(
    "gpus, milli, wanted", [(1, 460, "460"), (2, 1000, "2000"), (2, 1200, "2000"), (8, 1000, "8000")]
)
def test_gpus(tmp_path, gpus, milli, wanted):
    """GPUs are asked for in thousandths, 1000 of each at most."""
    made = pod(tmp_path, f"p,500,1024,{gpus},{milli},,LS,Running,3")
    assert made["spec"]["containers"][0]["resources"]["requests"]["alibabacloud.com/gpu-milli"] == wanted


def test_models(tmp_path):
    """Accepted models become required node affinity."""
    made = pod(tmp_path, "p,500,1024,1,1000,T4|P100,LS,Running,3")
    assert made["spec"]["affinity"] == yaml.safe_load("""
nodeAffinity:
  requiredDuringSchedulingIgnoredDuringExecution:
    nodeSelectorTerms:
    - matchExpressions: [{key: alibabacloud.com/gpu-card-model, operator: In, values: [T4, P100]}]
""")


def test_order(tmp_path):
    """Pods stand in order of creation, then of name."""
    rows = "c,1,1,0,0,,LS,Running,9\nb,1,1,0,0,,LS,Running,10\na,1,1,0,0,,LS,Running,10\nd,1,1,0,0,,LS,Running,\n"
    assert "".join(item["metadata"]["name"] for item in read(tmp_path, HEADER + rows)[2:]) == "dcab"


@pytest.mark.parametrize("form", ["json", "jsonl", "yaml"])
def test_the_command(tmp_path, form):
    """Manifests are written in each form; what they are is told beside."""
    items = read(tmp_path, HEADER + "p,500,1024,0,0,,LS,Running,3\n")
    found = ran("import", "openb", str(tmp_path / "nodes.csv"), str(tmp_path / "pods.csv"), "-o", form)
    documents = list(yaml.safe_load_all(found.out.replace("\n{", "\n---\n{")))
    assert (documents if form == "jsonl" else documents[0]["items"]) == items
    assert found.err.splitlines()[-1] == "2 nodes, 1 pod"


def test_missing_columns(tmp_path):
    """Columns may be missing at the end, in the header or in a row."""
    short = read(tmp_path, "name,cpu_milli,memory_mib,num_gpu,gpu_milli\nb,1,1,0,0\na,1,1,0,0\n")
    assert [item["metadata"]["name"] for item in short[2:]] == ["a", "b"]
    assert pod(tmp_path, "p,1,1,0,0")["metadata"]["name"] == "p"


@pytest.mark.parametrize(
    "pods, wanted",
    [
        ("", "line 1: expected the columns name,cpu_milli,memory_mib,num_gpu,gpu_milli too, got none"),
        (HEADER + "p,1,1,0,0,,,,soon\n", 'line 2: creation_time: expected a whole number, got "soon"'),
        (HEADER + ",1,1,0,0\n", "line 2: name: expected a value, got nothing"),
        (HEADER + "p,1\n", "line 2: memory_mib: expected a value, got nothing"),
    ],
)
def test_a_bad_row(tmp_path, pods, wanted):
    """A bad file is refused with file, line, column, what was expected and what came."""
    assert refusal_text(ManifestError, read, tmp_path, pods) == f"{tmp_path}/pods.csv, {wanted}"


@pytest.fixture(scope="module")
def trace(tmp_path_factory, shared):
    """The whole trace, as ``import`` writes it and ``simulate`` reads it."""
    data = shared / "data" / "openb"
    path = tmp_path_factory.mktemp("openb") / "openb.json"
    path.write_text(
        json.dumps(manifests(data / "openb_node_list_all_node.csv", data / "openb_pod_list_gpuspec33.csv"))
    )
    return Files.read(path).scenario()


@pytest.mark.parametrize("release", ["1.12", "1.16", "1.27"])
def test_every_host_is_the_original_s(trace, shared, release):
    """Each of the 8,152 pods of the trace goes where the original scheduler put it; its hosts are known up to
    1.27."""
    engine = engine_for(release, {"percentageOfNodesToScore": 100})
    hosts = {decision.pod.name: decision.host for decision in Simulation(trace, engine).decisions()}
    wanted = json.loads(gzip.decompress((shared / "conformance" / "openb" / "hosts.json.gz").read_bytes()))
    assert len(hosts) == 8152
    assert hosts == dict(zip(wanted["pods"], wanted["hosts"][release], strict=True))
