"""Devices in what users run: claims from templates, capacity, what-if, and the fields of the records."""

import json

import pytest
import yaml

from tests.support.manifests import manifest, node, owned_by
from tests.support.program import ran
from tests.support.schemas import faults

DRIVER = "gpu.example.com"


def gpus(node, *models):
    """The slice of a node with a GPU of each of *models*."""
    devices = [
        {"name": f"gpu-{number}", "attributes": {"model": {"string": model}}}
        for number, model in enumerate(models)
    ]
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    return _object(
        "ResourceSlice",
        f"gpus-{node}",
        {"driver": DRIVER, "nodeName": node, "pool": pool, "devices": devices},
    )


def _object(kind, name, spec):
    return manifest(kind, name, apiVersion="resource.k8s.io/v1", spec=spec)


def asking(*expressions):
    """The spec of a claim to *count* GPUs."""
    selectors = [{"cel": {"expression": expression}} for expression in expressions]
    return {
        "devices": {
            "requests": [
                {"name": "r0", "exactly": {"deviceClassName": "gpu", "count": 2, "selectors": selectors}}
            ]
        }
    }


def pod(name, template="two"):
    """A pod whose claim comes from a template."""
    claims = [{"name": "gpus", "resourceClaimTemplateName": template}]
    return manifest("Pod", name, spec={"containers": [{"name": "c", "image": "i"}], "resourceClaims": claims})


CLUSTER = (
    node("a", 8),
    node("b", 8),
    gpus("a", "a100", "a100", "t4"),
    gpus("b", "a100", "t4", "t4", "t4"),
    _object("DeviceClass", "gpu", {}),
    _object("ResourceClaimTemplate", "two", {"spec": asking()}),
    _object(
        "ResourceClaimTemplate",
        "two-a100",
        {"spec": asking(f'device.attributes["{DRIVER}"].model == "a100"')},
    ),
)


@pytest.fixture
def files(tmp_path):
    """Writes manifests to a file."""

    def write(name, *documents):
        path = tmp_path / name
        path.write_text(yaml.safe_dump_all(documents))
        return str(path)

    return write


@pytest.fixture
def told():
    """Runs the program, whose answer is JSON."""

    def asked(*arguments):
        found = ran(*arguments, "--release", "1.34", "-o", "json", status=(0, 1)).document
        names = {"Explanation": "explain", "WhatIf": "what-if", "NewNodes": "new-nodes"}
        assert faults(names.get(found["kind"], arguments[0]), found) == []
        return found

    return asked


def test_claims_are_made_from_templates(files, told):
    """Each pod that waits gets claims of its own from its templates; the record says which devices they
    got."""
    found = told("simulate", files("cluster.yaml", *CLUSTER, *map(pod, "pqr"), pod("s")))
    allocations = [cycle.get("allocations") for cycle in found["decisions"]]
    assert allocations == [
        {"p-gpus": [f"{DRIVER}/a/gpu-0", f"{DRIVER}/a/gpu-1"]},
        {"q-gpus": [f"{DRIVER}/b/gpu-0", f"{DRIVER}/b/gpu-1"]},
        {"r-gpus": [f"{DRIVER}/b/gpu-2", f"{DRIVER}/b/gpu-3"]},
        None,
    ]


def test_capacity_counts_devices(files, told):
    """Copies that want claims from a template each get their own, until no node has enough devices."""
    found = told("capacity", files("cluster.yaml", *CLUSTER), "--pod", files("pod.yaml", pod("web")))
    assert json.dumps(found).count("cannot allocate all claims") >= 1
    assert found["fits"] == 3


def test_what_if_there_were_more(files, told):
    """What-if suggests as many devices as are missing on a node, and one more node with devices."""
    cluster = files(
        "cluster.yaml",
        *CLUSTER[:2],
        gpus("a", "a100", "t4"),
        gpus("b", "t4"),
        *CLUSTER[4:],
        pod("p", "two-a100"),
    )
    found = told("explain", cluster, "p", "--what-if")
    told = {one["kind"]: one["change"] for one in reversed(found["suggestions"])}
    assert told["device"] == f"give node a 1 more device of class gpu like {DRIVER}/a/gpu-0"


def test_explain_says_what_stands_against_each_device(files, told):
    """Where claims cannot be served each node has an account of its devices."""
    cluster = files("cluster.yaml", *CLUSTER[:2], gpus("a", "a100", "t4"), *CLUSTER[4:], pod("p", "two-a100"))
    for options in ((), ("--node", "a")):
        found = told("explain", cluster, "p", *options)
        (cause,) = (
            one
            for one in found["causes"]
            if one["nodes"] == 1 and one["text"].endswith(", request r0: 1 of 2 devices can be had")
        )
        assert cause["field"] == "claim"
        (account,) = (found["closeUp"] if options else found["nodes"][0])["devices"]
        assert (account["wanted"], account["usable"]) == (2, [f"{DRIVER}/a/gpu-0"])
        (refused,) = account["refused"]
        assert refused == {
            "why": f'selector of request: device.attributes["{DRIVER}"].model == "a100"',
            "devices": [f"{DRIVER}/a/gpu-1"],
        }


@pytest.mark.parametrize("devices, moved", [(4, 2), (3, 0)], ids=["room", "too-few"])
def test_drained_pods_want_devices_elsewhere(files, told, devices, moved):
    """Pods that leave give their devices back; those made in their place get claims of their own."""
    cluster = [*CLUSTER[:2], gpus("a", *["t4"] * 4), gpus("b", *["t4"] * devices), *CLUSTER[4:]]
    for name, used in (("p", (0, 1)), ("q", (2, 3))):
        cluster += _with_its_claim(name, [f"gpu-{number}" for number in used])
    found = told("drain", files("cluster.yaml", *cluster), "a")
    assert found["summary"]["moved"] == moved
    assert ("cannot allocate all claims" in found["cannot"].get("a", "")) is (moved == 0)


def _with_its_claim(name, devices):
    """A pod that runs on node a, and its claim from a template with the devices it got."""
    owned = yaml.safe_load("""
        ownerReferences:
        - {apiVersion: apps/v1, kind: ReplicaSet, name: rs, uid: rs, controller: true}
        """)
    running = pod(name)
    running["metadata"] |= owned | {"uid": name}
    running["spec"] |= {"nodeName": "a"}
    running["status"] = {
        "phase": "Running",
        "resourceClaimStatuses": [{"name": "gpus", "resourceClaimName": f"{name}-gpus"}],
    }
    claim = _object("ResourceClaim", f"{name}-gpus", asking())
    claim["metadata"] |= owned_by("Pod", name, name)
    results = [{"request": "r0", "driver": DRIVER, "pool": "a", "device": device} for device in devices]
    users = [{"resource": "pods", "name": name, "uid": name}]
    claim["status"] = {"allocation": {"devices": {"results": results}}, "reservedFor": users}
    return [running, claim]


def test_victims_give_their_devices_back(files, told):
    """The devices of an evicted pod are free for others; the pod in its place has a claim of its own."""
    victim, claim = _with_its_claim("p", ["gpu-0", "gpu-1"])
    victim["spec"]["containers"] = yaml.safe_load("[{name: c, image: i, resources: {requests: {cpu: '8'}}}]")
    here = yaml.safe_load("{metadata: {name: a, labels: {only: a}}}")
    high, late = (manifest("Pod", name) for name in ("high", "late"))
    high["spec"] = {"priority": 10, "nodeSelector": {"only": "a"}, "containers": victim["spec"]["containers"]}
    late["spec"] = pod("late")["spec"] | {"nodeSelector": {"only": "a"}}
    cluster = [
        CLUSTER[0] | here,
        CLUSTER[1],
        *(gpus(name, "t4", "t4") for name in "ab"),
        *CLUSTER[4:],
        victim,
        claim,
        high,
        late,
    ]
    found = told("simulate", files("cluster.yaml", *cluster), "--reschedule-evicted")
    placed = {
        cycle["pod"]: (cycle["host"], cycle.get("allocations"))
        for cycle in found["decisions"]
        if cycle.get("host")
    }
    a, b = ([f"{DRIVER}/{name}/gpu-{number}" for number in (0, 1)] for name in "ab")
    assert placed == {
        "default/high": ("a", None),
        "default/late": ("a", {"late-gpus": a}),
        "default/rs-0": ("b", {"rs-0-gpus": b}),
    }
