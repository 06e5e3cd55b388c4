"""Published traces by the maps and queries of examples/traces: small samples in their forms, and what becomes
of each column."""

import csv
import sqlite3

import pytest
import yaml

import kubeclassic
from kubeclassic.exceptions import ManifestError
from kubeclassic.questions.importing import rows
from tests.conftest import ROOT
from tests.support.traceforms import CREATED, DELETED, RUNS, requests, times, write

MAPS = ROOT / "examples" / "traces"
GPU = "alibabacloud.com/gpu-milli"


def read(folder, text, name):
    """The manifests of a table by the map of that name."""
    trace = rows.read_table(write(folder, f"{name}.csv", text), rows.read_map(MAPS / f"{name}.yaml"))
    return trace.nodes + trace.pods


def selected(folder, name, tables):
    """The manifests of what the query of that name selects of *tables*, in YAML: rows by name, the first one
    of columns. Fields of records are flat there."""
    with sqlite3.connect(":memory:") as database:
        for table, (columns, *ask) in yaml.safe_load(tables).items():
            database.execute(f"create table {table} ({', '.join(columns)})")
            database.executemany(f"insert into {table} values ({', '.join('?' * len(columns))})", ask)
        query = (
            (MAPS / f"{name}.sql")
            .read_text()
            .replace("resource_request.", "request_")
            .replace("capacity.", "capacity_")
        )
        found = database.execute(query)
        with (folder / f"{name}.csv").open("w", newline="") as stream:
            csv.writer(stream).writerows([[column[0] for column in found.description], *found])
    database.close()
    return read(folder, (folder / f"{name}.csv").read_text(), name)


# --- Alibaba2026 --------------------------------------------------------------------------------------------


NODES = "gpu_model,gpu_capacity_num,cpu_num,node_name\nA100,8,96,node_1\n,0,32,node_2\n"
JOBS = (
    "job_name,organization,gpu_model,cpu_request,gpu_request,worker_num,submit_time,duration,job_type\n"
    "b,org,A100,12,1,2,20,600,HP\na,org,,4,0,1,10,,Spot\nc,org,,1,0,0,10,5,Spot\n"
)


def test_workers_are_pods(tmp_path):
    """A job's workers are pods; HP has the higher priority; a job without workers makes none."""
    pods = read(tmp_path, JOBS, "alibaba-2026-jobs")
    assert [(pod["metadata"]["name"], pod["spec"]["priority"]) for pod in pods] == [
        ("b-0", 1000),
        ("b-1", 1000),
        ("a-0", 0),
    ]
    assert requests(pods[1]) == {"cpu": "12", GPU: "1000", "memory": "49152Mi"}
    assert (times(pods[2]), times(pods[1])) == ({CREATED: "10"}, {CREATED: "20", RUNS: "600"})
    with pytest.raises(ManifestError, match='job_type: expected HP or Spot, got "XX"'):
        read(tmp_path, JOBS.replace("HP", "XX"), "alibaba-2026-jobs")


def test_models_count(tmp_path):
    """A node has its model as a label, and memory for each core; a job that wants a model gets a node of
    it."""
    nodes = read(tmp_path, NODES, "alibaba-2026-nodes")
    pods = read(tmp_path, JOBS, "alibaba-2026-jobs")
    assert nodes[0]["status"]["allocatable"] == {
        "pods": "110",
        "cpu": "96",
        GPU: "8000",
        "memory": "393216Mi",
    }
    hosts = kubeclassic.simulate([*nodes, *pods], "1.16").hosts
    assert hosts["default/b-0"] == hosts["default/b-1"] == "node-1"


def test_alibaba_2025(tmp_path):
    """An instance is a pod; amounts are cores, GiB and pieces."""
    header = (
        "instance_sn,role,app_name,cpu_request,cpu_limit,gpu_request,rdma_request,memory_request,disk_request,"
        "max_instance_per_node,creation_time,scheduled_time,deletion_time\n"
    )
    first, second = read(
        tmp_path,
        header + "instance_7,CN,app_3,16,32,1,10,64.5,100,-1,5,6,106\ni,HN,a,1,,,,,,,,,\n",
        "alibaba-2025",
    )
    assert requests(first) == {
        "cpu": "16",
        "memory": "66048Mi",
        "ephemeral-storage": "102400Mi",
        "nvidia.com/gpu": "1",
        "alibabacloud.com/rdma-percent": "10",
    }
    assert first["metadata"]["labels"] == {"app": "app_3", "role": "CN"}
    assert (times(first), times(second)) == ({CREATED: "5", DELETED: "106"}, {})


def test_azure(tmp_path):
    """Requests are pods of one machine; those from before are there at the beginning; the trace's 0 is the
    high priority."""
    pods = selected(
        tmp_path,
        "azure-2020",
        """
vmType:
- [id, vmTypeId, machineId, core, memory, hdd, ssd, nic]
- [0, 0, 0, 0.5, 0.25, 0.0, 0.1, 0.01]
- [1, 1, 2, 1.0, 1.0, 1.0, 1.0, 1.0]
vm:
- [vmId, tenantId, vmTypeId, priority, starttime, endtime]
- [10, 7, 0, 0, -1.5, 0.5]
- [11, 7, 0, 1, 0.25, null]
- [12, 8, 1, 0, 0.1, 0.2]
- [13, 8, 0, 0, 9.0, 9.5]
""",
    )
    assert [(pod["metadata"]["name"], pod["spec"]["priority"]) for pod in pods] == [
        ("vm-10", 1000),
        ("vm-11", 0),
    ]
    assert [times(pod) for pod in pods] == [{CREATED: "0", DELETED: "43200"}, {CREATED: "21600"}]
    assert requests(pods[0]) == {
        "cpu": "500",
        "memory": "250000Ki",
        "azure.com/ssd": "100000",
        "azure.com/nic": "10000",
    }


def test_google(tmp_path):
    """An instance is created when it was submitted, and runs from its last schedule to its end; machines come
    and go."""
    pods = selected(
        tmp_path,
        "google-2019-instances",
        """
instance_events:
- [time, type, collection_id, instance_index, priority, request_cpus, request_memory]
- [2000000, 0, 77, 0, 200, 0.25, 0.125]
- [4000000, 3, 77, 0, 200, 0.25, 0.125]
- [7500000, 6, 77, 0, 200, 0.25, 0.125]
- [0, 0, 78, 1, 0, 0.1, 0.1]
- [1000000, 3, 78, 1, 0, 0.1, 0.1]
- [2000000, 4, 78, 1, 0, 0.1, 0.1]
- [9223372036854775807, 6, 78, 1, 0, 0.1, 0.1]
""",
    )
    assert [(pod["metadata"]["name"], times(pod)) for pod in pods] == [
        ("78-1", {CREATED: "0"}),
        ("77-0", {CREATED: "2", RUNS: "3.5"}),
    ]
    assert requests(pods[1]) == {"cpu": "250", "memory": "125000Ki"}
    nodes = selected(
        tmp_path,
        "google-2019-machines",
        """
machine_events:
- [time, machine_id, type, capacity_cpus, capacity_memory, platform_id]
- [0, 5, 1, 0.5, 0.25, p1]
- [3000000, 6, 1, 1.0, 1.0, null]
- [9000000, 6, 2, null, null, null]
- [5000000, 5, 3, 0.5, 0.25, p1]
""",
    )
    assert [times(node) for node in nodes] == [{CREATED: "0"}, {CREATED: "3", DELETED: "9"}]
    assert nodes[0]["metadata"]["labels"] == {"kubernetes.io/hostname": "5", "platform": "p1"}
    assert kubeclassic.simulate([*nodes, *pods], "1.16").hosts["default/77-0"] == "5"
