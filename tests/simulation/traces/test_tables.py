"""Traces in tables as manifests: small samples in their forms, and what becomes of each column."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import kubeclassic
from kubeclassic.simulation.traces import alibaba2025, alibaba2026, azurepacking, google2019
from kubeclassic.simulation.traces.made import Manifest
from tests.support.traceforms import CREATED, DELETED, RUNS, requests, times, write


class TestAlibaba2026:
    NODES = "gpu_model,gpu_capacity_num,cpu_num,node_name\nA100,8,96,node_1\n,0,32,node_2\n"
    JOBS = (
        "job_name,organization,gpu_model,cpu_request,gpu_request,worker_num,submit_time,duration,job_type\n"
        "b,org,A100,12,1,2,20,600,HP\na,org,,4,0,1,10,,Spot\nc,org,,1,0,0,10,5,Spot\n"
    )

    def test_workers_are_pods(self, tmp_path: Path) -> None:
        """A job's workers are pods in order of submission; HP has the higher priority; jobs without workers are dropped."""
        trace = alibaba2026.read(write(tmp_path, "n.csv", self.NODES), write(tmp_path, "j.csv", self.JOBS), Decimal(4))
        assert [pod["metadata"]["name"] for pod in trace.pods] == ["a-0", "b-0", "b-1"]
        assert [pod["spec"]["priority"] for pod in trace.pods] == [0, 1000, 1000]
        assert requests(trace.pods[1]) == {"cpu": "12", "alibabacloud.com/gpu-milli": "1000", "memory": "49152Mi"}
        assert (times(trace.pods[0]), times(trace.pods[1])) == ({CREATED: "10"}, {CREATED: "20", RUNS: "600"})
        assert trace.dropped == {"jobs without workers": 1}

    def test_nodes_have_models_and_memory_if_it_is_given(self, tmp_path: Path) -> None:
        """A node has its model as a label; memory is so much for each core."""
        files = write(tmp_path, "n.csv", self.NODES), write(tmp_path, "j.csv", self.JOBS)
        first = alibaba2026.read(*files, Decimal(4)).nodes[0]
        assert first["status"]["allocatable"] == {"pods": "110", "cpu": "96", "alibabacloud.com/gpu-milli": "8000", "memory": "393216Mi"}
        assert first["metadata"] == {
            "name": "node-1", "labels": {"kubernetes.io/hostname": "node-1", "alibabacloud.com/gpu-card-model": "A100"},
        }  # fmt: skip
        assert "memory" not in alibaba2026.read(*files).nodes[0]["status"]["allocatable"]

    def test_it_schedules_and_models_count(self, tmp_path: Path) -> None:
        """The manifests are a cluster; a job that wants a model gets a node of it."""
        found = kubeclassic.traces.import_alibaba2026(write(tmp_path, "n.csv", self.NODES), write(tmp_path, "j.csv", self.JOBS))
        hosts = kubeclassic.simulate([found.manifest]).hosts
        assert hosts["spot-gpu/b-0"] == hosts["spot-gpu/b-1"] == "node-1"
        assert set(hosts) == {"spot-gpu/a-0", "spot-gpu/b-0", "spot-gpu/b-1"}


class TestAlibaba2025:
    HEADER = (
        "instance_sn,role,app_name,cpu_request,cpu_limit,gpu_request,rdma_request,memory_request,disk_request,"
        "max_instance_per_node,creation_time,scheduled_time,deletion_time\n"
    )

    def read(self, folder: Path, row: str) -> Manifest:
        """The pod of one row."""
        (pod,) = alibaba2025.read(write(folder, "t.csv", self.HEADER + row)).pods
        return pod

    def test_a_row_is_a_pod(self, tmp_path: Path) -> None:
        """Amounts are cores, GiB and pieces; it runs from when it was scheduled to when it was deleted."""
        pod = self.read(tmp_path, "instance_7,CN,app_3,16,32,1,10,64.5,100,-1,5,6,106\n")
        assert requests(pod) == {
            "cpu": "16", "memory": "66048Mi", "ephemeral-storage": "102400Mi", "nvidia.com/gpu": "1", "alibabacloud.com/rdma-percent": "10",
        }  # fmt: skip
        assert pod["metadata"]["labels"] == {"app": "app_3", "role": "CN"}
        assert times(pod) == {CREATED: "5", RUNS: "100"}

    @pytest.mark.parametrize(("most", "key"), [("1", "affinity"), ("3", "topologySpreadConstraints"), ("-1", None), ("", None)])
    def test_so_many_on_a_node(self, tmp_path: Path, most: str, key: str | None) -> None:
        """One instance a node is anti-affinity, more are a spread, and without a number nothing is."""
        pod = self.read(tmp_path, f"i,HN,a,1,,,,,,{most},,,\n")
        assert {"affinity", "topologySpreadConstraints"} & pod["spec"].keys() == ({key} if key else set())
        assert times(pod) == {}


class TestAzure:
    TYPES = ((0, 0, 1, 0.5, 0.25, 0.0, 0.1, 0.01), (1, 1, 2, 1.0, 1.0, 1.0, 1.0, 1.0))
    VMS = ((10, 7, 0, 0, -1.5, 0.5), (11, 7, 0, 1, 0.25, None), (12, 8, 1, 0, 0.1, 0.2), (13, 8, 0, 0, 9.0, 9.5))

    def file(self, folder: Path, vms: Any = VMS) -> Path:
        """A database in the trace's form."""
        path = folder / "trace.sqlite"
        with sqlite3.connect(path) as database:
            database.execute("create table vmType (id, vmTypeId, machineId, core, memory, hdd, ssd, nic)")
            database.execute("create table vm (vmId, tenantId, vmTypeId, priority, starttime, endtime)")
            database.executemany("insert into vmType values (?, ?, ?, ?, ?, ?, ?, ?)", self.TYPES)
            database.executemany("insert into vm values (?, ?, ?, ?, ?, ?)", vms)
        database.close()
        return path

    def test_requests_are_pods_of_one_machine(self, tmp_path: Path) -> None:
        """What the machine does not have is dropped; earlier requests are there at the beginning; the trace's 0 is the high priority."""
        trace = azurepacking.read(self.file(tmp_path), azurepacking.PackingOptions(machine=1, machines=2, days=Decimal(5)))
        assert [pod["metadata"]["name"] for pod in trace.pods] == ["vm-10", "vm-11"]
        assert [pod["spec"]["priority"] for pod in trace.pods] == [1000, 0]
        assert [times(pod) for pod in trace.pods] == [{RUNS: "43200"}, {CREATED: "21600"}]
        assert requests(trace.pods[0]) == {"cpu": "500000m", "memory": "250000Ki", "azure.com/ssd": "100000", "azure.com/nic": "10000"}
        assert trace.dropped == {"requests for types that machine 1 does not have": 1}
        assert len(trace.nodes) == 2

    def test_a_zip_file_is_read(self, tmp_path: Path) -> None:
        """The zip file of the trace is read as it is; --most takes the first requests."""
        with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
            archive.write(self.file(tmp_path), "packing_trace_zone_a_v1.sqlite")
        found = kubeclassic.traces.import_azure_packing(tmp_path / "t.zip", machine=1, machines=1, most=1)
        assert kubeclassic.simulate([found.manifest]).hosts == {"azure/vm-10": "machine-0"}

    def test_half_a_machine_fits_twice(self, tmp_path: Path) -> None:
        """Two requests of half a machine fit on one, and a third does not."""
        path = self.file(tmp_path, [(number, 1, 0, 0, 0.0, None) for number in range(3)])
        found = kubeclassic.traces.import_azure_packing(path, machine=1, machines=1)
        assert sorted(map(str, kubeclassic.simulate([found.manifest]).hosts.values())) == ["None", "machine-0", "machine-0"]


class TestGoogle:
    MACHINES = (
        "time,machine_id,type,switch_id,capacity.cpus,capacity.memory,platform_id\n"
        "0,5,ADD,,0.5,0.25,p1\n3000000,6,1,,1.0,1.0,\n9000000,6,REMOVE,,,,\n5000000,5,UPDATE,,0.6,0.25,\n"
    )
    INSTANCES = (
        "time,type,collection_id,instance_index,priority,resource_request.cpus,resource_request.memory,constraint\n"
        '2000000,SUBMIT,77,0,200,0.25,0.125,"[{""name"": ""o/k"", ""value"": ""v"", ""relation"": ""EQUAL""},'
        '{""name"": ""x"", ""value"": ""3"", ""relation"": 4}]"\n'
        "4000000,3,77,0,200,0.25,0.125,\n7500000,FINISH,77,0,200,0.25,0.125,\n"
        "0,SUBMIT,78,1,0,0.1,0.1,\n1000000,SCHEDULE,78,1,0,0.1,0.1,\n2000000,EVICT,78,1,0,0.1,0.1,\n"
    )
    ATTRIBUTES = "time,machine_id,name,value,deleted\n0,5,o/k,v,\n0,5,gone,1,\n1,5,gone,,true\n"

    def test_lives_are_put_together(self, tmp_path: Path) -> None:
        """An instance is created when it was submitted, and runs from its schedule to its end."""
        files = write(tmp_path, "i.csv", self.INSTANCES), write(tmp_path, "m.csv", self.MACHINES), write(tmp_path, "a.csv", self.ATTRIBUTES)
        trace = google2019.read(*files)
        first, second = trace.pods
        assert (first["metadata"]["name"], second["metadata"]["name"]) == ("78-1", "77-0")
        assert (times(first), times(second)) == ({}, {CREATED: "2", RUNS: "3.5"})
        assert requests(second) == {"cpu": "250000m", "memory": "125000Ki"}
        terms = second["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
        assert terms == [{"matchExpressions": [{"key": "o-k", "operator": "In", "values": ["v"]}]}]
        assert trace.dropped == {"machine events UPDATE": 1, "evictions": 1, "constraints LESS_THAN_EQUAL": 1}

    def test_machines_come_and_go(self, tmp_path: Path) -> None:
        """A machine of time 0 is there, others come and go; attributes are labels."""
        files = write(tmp_path, "i.csv", self.INSTANCES), write(tmp_path, "m.csv", self.MACHINES), write(tmp_path, "a.csv", self.ATTRIBUTES)
        there, later = google2019.read(*files).nodes
        assert there["metadata"]["labels"] == {"kubernetes.io/hostname": "5", "platform": "p1", "o-k": "v"}
        assert (times(there), times(later)) == ({}, {CREATED: "3", DELETED: "9"})
        found = kubeclassic.traces.import_google2019(*files[:2], attributes=files[2])
        assert kubeclassic.simulate([found.manifest]).hosts["google/77-0"] == "5"

    def test_json_lines_say_the_same(self, tmp_path: Path) -> None:
        """Nested objects, an object a line, give what the flat columns of CSV give."""
        machines = [{"time": "0", "machine_id": "5", "type": "ADD", "capacity": {"cpus": 0.5, "memory": 0.25}, "platform_id": "p1"}]
        instances = [{
            "time": 2000000, "type": 0, "collection_id": 77, "instance_index": 0, "priority": 200,
            "resource_request": {"cpus": 0.25, "memory": 0.125}, "constraint": [{"name": "o/k", "value": "v", "relation": "EQUAL"}],
        }]  # fmt: skip
        in_lines = [write(tmp_path, f"{number}.json", "".join(json.dumps(each) + "\n" for each in rows))
                    for number, rows in enumerate((instances, machines))]  # fmt: skip
        machine_rows = "\n".join(self.MACHINES.splitlines()[:2]) + "\n"
        second = ',{""name"": ""x"", ""value"": ""3"", ""relation"": 4}'
        instance_rows = "\n".join(self.INSTANCES.splitlines()[:2]).replace(second, "") + "\n"
        flat = google2019.read(write(tmp_path, "i.csv", instance_rows), write(tmp_path, "m.csv", machine_rows))
        assert google2019.read(*in_lines).document() == flat.document()
