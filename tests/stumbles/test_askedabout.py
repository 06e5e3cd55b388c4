"""A question about one pod gives the warnings about it, about nodes and the cluster, and only the number of
the rest."""

import json
from functools import partial

import pytest
import yaml

from tests.support import manifests
from tests.support.manifests import dumped, manifest
from tests.support.program import ran

RELEASE = ("--release", "1.27")
pod = partial(manifests.pod, namespace="data")


def claimed(name, claim):
    """A pod with a claim that is not there."""
    return pod(name, volumes=[{"name": "d", "persistentVolumeClaim": {"claimName": claim}}])


NODE = manifest("Node", "a", spec={"unschedulabel": True}, status={"allocatable": {"cpu": "4", "pods": "9"}})
SIDECAR = yaml.safe_load("{initContainers: [{name: s, restartPolicy: Always}]}")
OBJECTS = [
    NODE,
    pod("web"),
    claimed("nopvc", "d"),
    claimed("other", "e"),
    pod("mesh", **SIDECAR),
    pod("odd", nodeSelectr={}),
]


@pytest.fixture
def dump(tmp_path):
    """A dump in which several pods are odd, and a node is."""
    path = tmp_path / "dump.json"
    path.write_text(dumped(OBJECTS))
    return str(path)


@pytest.mark.parametrize("options", [(), ("--what-if",), ("--want", "a"), ("--node", "a")])
def test_others_are_counted(options, dump):
    """For a pod without oddities the answer warns of the odd node, and gives the number of the other
    warnings."""
    told = ran("explain", dump, "web", *options, *RELEASE, status=(0, 1))
    assert "unschedulabel" in told.err
    assert "data/" not in told.err
    assert "(--verbose lists all 5 warnings, 4 of them about other objects)\n" in told.err
    if not options:
        assert "Sidecars of 1 pod are ignored" in told.out


def test_its_own_are_told(dump):
    """For the pod that lacks a claim the answer warns of this, and not of the claim that another pod
    lacks."""
    told = ran("explain", dump, "nopvc", *RELEASE, status=(0, 1)).err
    assert "warning: Pod data/nopvc: its claim is not in the input" in told
    assert "other:" not in told
    assert (
        "(Pod odd): spec.nodeSelectr: unknown field"
        in ran("explain", dump, "odd", *RELEASE, status=(0, 1)).err
    )


def test_all_are_there(dump):
    """--verbose lists them all, and JSON has them all, with the pods that they are about."""
    told = ran("explain", dump, "web", "--verbose", *RELEASE, status=(0, 1)).err
    assert all(
        f"data/{name}" in told or f"(Pod {name})" in told for name in ("nopvc", "other", "mesh", "odd")
    )
    warnings = ran("explain", dump, "web", "-o", "json", *RELEASE, status=(0, 1)).document["warnings"]
    assert {name for one in warnings for name in one["pods"]} == {
        "data/nopvc",
        "data/other",
        "data/mesh",
        "data/odd",
    }


def test_a_pod_whose_node_is_gone_is_named(tmp_path):
    """In JSON the pod of a warning is its name alone, also where the text says on which node it was."""
    path = tmp_path / "dump.json"
    path.write_text(dumped([NODE, pod("lost", nodeName="gone-7")]))
    assert ["data/lost"] in [
        one["pods"] for one in ran("simulate", str(path), "-o", "json", status=(0, 1)).document["warnings"]
    ]


def test_lists_of_some_pods(tmp_path):
    """simulate -n tells of the pods of that namespace, and capacity --pod of the one that is copied."""
    shop = pod("shop", volumes=yaml.safe_load("[{name: d, persistentVolumeClaim: {claimName: e}}]"))
    shop["metadata"]["namespace"] = "shop"
    path = tmp_path / "dump.json"
    template = tmp_path / "copy.json"
    path.write_text(dumped([NODE, claimed("nopvc", "d"), shop]))
    template.write_text(json.dumps(pod("copy")))
    for words in (("simulate", "-n", "shop"), ("simulate", "-n", "shop", "-o", "jsonl")):
        told = ran(words[0], str(path), *words[1:], *RELEASE, status=(0, 1)).err
        assert "Pod shop/shop: its claim" in told
        assert "data/nopvc" not in told
    told = ran("capacity", str(path), "--pod", str(template), *RELEASE, status=(0, 1)).err
    assert "unschedulabel" in told
    assert "its claim" not in told


def test_quotas_refuse_new_pods(tmp_path):
    """Pods that a Deployment lacks since a quota is used up are refused, as no scheduler sees them; pods that
    are there fit."""
    amounts = {"requests.cpu": "1"}
    quota = manifest(
        "ResourceQuota",
        "q",
        namespace="data",
        spec={"hard": amounts},
        status={"hard": amounts, "used": {"requests.cpu": "500m"}},
    )
    container = yaml.safe_load("{name: c, resources: {requests: {cpu: 500m}}}")
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}}
    web = manifest(
        "Deployment",
        "web",
        namespace="data",
        spec={"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": template},
    )
    path = tmp_path / "dump.json"
    path.write_text(dumped([{**NODE, "spec": {}}, quota, web]))
    refusal = "exceeded quota: q, requested: requests.cpu=500m, used: requests.cpu=1, limited: requests.cpu=1"
    answer = ran("simulate", str(path), "-o", "json", *RELEASE, status=(0, 1))
    assert f"and 1 more: refused by the API server: {refusal}" in answer.err
    assert len(answer.document["pods"]) == 1
    there = pod("there", containers=[container])
    there["metadata"]["creationTimestamp"] = "2024-01-01T00:00:00Z"
    quota["status"]["used"] = amounts
    path.write_text(dumped([{**NODE, "spec": {}}, quota, there]))
    assert "exceeded quota" not in ran("explain", str(path), "there", *RELEASE, status=(0, 1)).err
