"""Devices in what users run: claims from templates, capacity, what-if, and the fields of the records."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
import yaml

from kubeclassic import Cluster, Scheduler
from kubeclassic.cli import run
from kubeclassic.simulation.bench.cases import Shape
from kubeclassic.simulation.conform import answer_case
from tests.support.devicebuild import claiming, device_claim, exactly
from tests.support.schemas import faults

DRIVER = "gpu.example.com"
Json = dict[str, Any]


def gpus(node: str, *models: str) -> Json:
    """The slice of a node with a GPU of each of *models*."""
    devices = [{"name": f"gpu-{number}", "attributes": {"model": {"string": model}}} for number, model in enumerate(models)]
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    return _object("ResourceSlice", f"gpus-{node}", {"driver": DRIVER, "nodeName": node, "pool": pool, "devices": devices})


def _object(kind: str, name: str, spec: Json) -> Json:
    return {"kind": kind, "apiVersion": "resource.k8s.io/v1", "metadata": {"name": name}, "spec": spec}


def asking(count: int, *expressions: str) -> Json:
    """The spec of a claim to *count* GPUs."""
    selectors = [{"cel": {"expression": expression}} for expression in expressions]
    return {"devices": {"requests": [{"name": "r0", "exactly": {"deviceClassName": "gpu", "count": count, "selectors": selectors}}]}}


def node(name: str) -> Json:
    """A node with room for everything but devices."""
    return {"kind": "Node", "metadata": {"name": name}, "status": {"allocatable": {"cpu": "8", "memory": "8Gi", "pods": "10"}}}


def pod(name: str, template: str = "two") -> Json:
    """A pod whose claim comes from a template."""
    claims = [{"name": "gpus", "resourceClaimTemplateName": template}]
    return {"kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i"}], "resourceClaims": claims}}


CLUSTER = (
    node("a"), node("b"), gpus("a", "a100", "a100", "t4"), gpus("b", "a100", "t4", "t4", "t4"), _object("DeviceClass", "gpu", {}),
    _object("ResourceClaimTemplate", "two", {"spec": asking(2)}),
    _object("ResourceClaimTemplate", "two-a100", {"spec": asking(2, f'device.attributes["{DRIVER}"].model == "a100"')}),
)  # fmt: skip


@pytest.fixture
def files(tmp_path: Path) -> Any:
    """Writes manifests to a file."""

    def write(name: str, *documents: Json) -> str:
        path = tmp_path / name
        path.write_text(yaml.safe_dump_all(documents))
        return str(path)

    return write


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs the program, whose answer is JSON."""

    def asked(*arguments: str) -> Json:
        run([*arguments, "--release", "1.34", "-o", "json"])
        found: Json = json.loads(capsys.readouterr().out)
        names = {"Explanation": "explain", "WhatIf": "what-if", "NewNodes": "new-nodes"}
        assert faults(names.get(found["kind"], arguments[0]), found) == []
        return found

    return asked


def test_claims_are_made_from_templates(files: Any, told: Any) -> None:
    """Each pod that waits gets claims of its own from its templates; the record says which devices they got."""
    found = told("simulate", files("cluster.yaml", *CLUSTER, *map(pod, "pqr"), pod("s")))
    allocations = [cycle.get("allocations") for cycle in found["cycles"]]
    assert allocations == [
        {"p-gpus": [f"{DRIVER}/a/gpu-0", f"{DRIVER}/a/gpu-1"]}, {"q-gpus": [f"{DRIVER}/b/gpu-0", f"{DRIVER}/b/gpu-1"]},
        {"r-gpus": [f"{DRIVER}/b/gpu-2", f"{DRIVER}/b/gpu-3"]}, None,
    ]  # fmt: skip


def test_capacity_counts_devices(files: Any, told: Any) -> None:
    """Copies that want claims from a template each get their own, until no node has enough devices."""
    found = told("capacity", files("cluster.yaml", *CLUSTER), "--pod", files("pod.yaml", pod("web")))
    assert json.dumps(found).count("cannot allocate all claims") >= 1
    assert found["fits"] == 3


def test_what_if_there_were_more(files: Any, told: Any) -> None:
    """As many devices as are missing on a node would help, and so would one more node with devices."""
    cluster = files("cluster.yaml", *CLUSTER[:2], gpus("a", "a100", "t4"), gpus("b", "t4"), *CLUSTER[4:], pod("p", "two-a100"))
    found = told("explain", cluster, "p", "--what-if")
    told = {one["kind"]: one["change"] for one in reversed(found["suggestions"])}
    assert told["device"] == f"give node a 1 more device of class gpu like {DRIVER}/a/gpu-0"


def test_explain_says_what_stands_against_each_device(files: Any, told: Any) -> None:
    """Where claims cannot be served each node has an account of its devices."""
    cluster = files("cluster.yaml", *CLUSTER[:2], gpus("a", "a100", "t4"), *CLUSTER[4:], pod("p", "two-a100"))
    for options in ((), ("--node", "a")):
        found = told("explain", cluster, "p", *options)
        (account,) = (found["closeUp"] if options else found["nodes"][0])["devices"]
        assert (account["wanted"], account["usable"]) == (2, [f"{DRIVER}/a/gpu-0"])
        (refused,) = account["refused"]
        assert refused == {"why": f'selector of request: device.attributes["{DRIVER}"].model == "a100"', "devices": [f"{DRIVER}/a/gpu-1"]}


def test_new_nodes_have_devices(files: Any, told: Any) -> None:
    """A new node that is like another has as many devices."""
    cluster = files("cluster.yaml", *CLUSTER, *map(pod, "pqrst"))
    found = told("capacity", cluster, "--add-node", "like:a")
    assert [one["count"] for one in found["added"]] == [2]


def test_a_copy_of_a_scheduler_has_its_own_claims() -> None:
    """Claims that a copied scheduler is told of are none of the original's, and devices in use stay in use."""
    one = Scheduler(Cluster([*CLUSTER, pod("p")]), release="1.34")
    assert [decision.host for decision in one.run()] == ["a"]
    other = pickle.loads(pickle.dumps(one))
    engines = [scheduler._run.engine for scheduler in (one, other)]
    engines[1].listings.resource_claims.put(device_claim("c", exactly(2)))
    decided = [engine.schedule(claiming("q", "c")) for engine in engines]
    assert [(decision.host, decision.error) for decision in decided] == [(None, 'could not find ResourceClaim "default/c"'), ("b", None)]


def test_generated_clusters_have_devices() -> None:
    """The pods of bench's kind devices all get what they claim."""
    case = Shape(kind="devices", nodes=6, existing=0, pods=4).case("1.34")
    cycles = answer_case(case)["cycles"]
    assert [len(next(iter(cycle["allocations"].values()))) for cycle in cycles] == [1, 2, 3, 4]
