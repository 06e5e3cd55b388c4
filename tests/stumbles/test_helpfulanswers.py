"""Answers that help: which selector, term or taint fails, the typo before anything else, and what is
missing."""

import pytest
import yaml

from tests.support import manifests
from tests.support.manifests import dumped, manifest, pod
from tests.support.program import ran

RELEASES = pytest.mark.parametrize("release", ["1.12", "1.16", "1.17", "1.22", "1.27", "1.34"])
ZONE = "topology.kubernetes.io/zone"


def node(name, taints=(), gpus="0", **labels):
    """A node of four cores with a pool, and a label for its name."""
    labels = {"kubernetes.io/hostname": name, **labels}
    return manifests.node(name, labels=labels, taints=list(taints), allocatable={"nvidia.com/gpu": gpus})


def required(*terms):
    """Terms that a pod requires of other pods."""
    return {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}


def term(app, key="kubernetes.io/hostname"):
    """A term of affinity to the pods of *app*."""
    return {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key}


GPU_TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
ZONES = {"general-a": "a", "general-b": "b", "gpu-1": "c"}
NODES = [
    node("general-a", pool="general", **{ZONE: "a"}),
    node("general-b", pool="general", **{ZONE: "b"}),
    node("gpu-1", (GPU_TAINT,), "2", pool="gpu", **{ZONE: "c"}),
]
SPOT = yaml.safe_load("""
    - key: pool
      operator: In
      values: [spot]
    - {key: kubernetes.io/hostname, operator: Exists}
    """)
NODE_AFFINITY = {
    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": SPOT}]}
}
WAITING = [
    pod("typo", nodeSelector={"pool": "genral"}),
    pod("key", nodeSelector={"pol": "general"}),
    pod("spot", affinity={"nodeAffinity": NODE_AFFINITY}),
    pod("gpu", requests={"nvidia.com/gpu": "1"}),
    pod("nopvc", volumes=yaml.safe_load("[{name: d, persistentVolumeClaim: {claimName: data}}]")),
    pod("near", affinity={"podAffinity": required(term("web"), term("cahce"))}),
    pod(
        "away",
        affinity={"podAntiAffinity": required(term("none"), term("web", ZONE))},
        nodeSelector={"pool": "general"},
    ),
    pod("shy", app="loud", nodeSelector={"pool": "general"}),
    pod("class", priorityClassName="none"),
]
THERE = [
    pod("web-0", app="web", nodeName="general-a"),
    pod("cache-0", app="cache", nodeName="general-b"),
    pod("db-0", nodeName="general-a", affinity={"podAntiAffinity": required(term("loud", ZONE))}),
    pod("db-1", nodeName="general-b", affinity={"podAntiAffinity": required(term("loud", ZONE))}),
]


@pytest.fixture
def asked(tmp_path):
    """A function that explains a pod and tells its JSON, or with *form* another form of it."""
    path = tmp_path / "cluster.yaml"
    path.write_text(yaml.safe_dump_all([*NODES, *THERE, *WAITING]))

    def explained(name, *options, form="json"):
        done = ran("explain", str(path), name, "--alone", *options, "-o", form, status=(0, 1))
        return done.document if form == "json" else done.out

    return explained


def causes(found):
    """Node -> what fails there."""
    return {report["node"]: report["causes"] for report in found["nodes"] if report["causes"]}


@RELEASES
def test_the_selector(release, asked):
    """The selector that fails is named on each node, with what there is in the cluster, in every release."""
    found = asked("typo", "--release", release)
    words = "nodeSelector pool=genral"
    assert {name for name, told in causes(found).items() if words in told} == set(ZONES)
    cause = next(one for one in found["causes"] if one["field"] == "nodeSelector")
    assert cause == {
        "field": "nodeSelector",
        "text": "pool=genral",
        "nodes": 3,
        "note": "no node has it; 2 have pool=general",
        "absent": True,
    }


def test_the_expression_of_a_term(asked):
    """The failing expression of a node affinity term is named, and not the one that matches."""
    found = asked("spot")
    assert all("nodeAffinity pool In [spot]" in told for told in causes(found).values())
    assert not any("hostname" in words for told in causes(found).values() for words in told)
    assert "no node has it; pool is general on 2, gpu on 1" in asked("spot", form="table")


@RELEASES
def test_the_term_of_affinity(release, asked):
    """The failing one of two terms of pod affinity is named for each node, in every release."""
    found = asked("near", "--release", release)
    told = causes(found)
    web = "podAffinity app=web by kubernetes.io/hostname"
    cache = "podAffinity app=cahce by kubernetes.io/hostname"
    assert told["general-a"] == [cache]
    assert told["general-b"] == [web, cache]
    notes = {one["text"]: one["note"] for one in found["causes"]}
    assert notes["app=cahce by kubernetes.io/hostname"] == "no pod on a node matches; 1 with app=cache"
    assert notes["app=web by kubernetes.io/hostname"] == "1 pod on nodes matches"


@RELEASES
def test_the_term_of_anti_affinity(release, asked):
    """The failing one of two terms of anti-affinity is named."""
    assert causes(asked("away", "--release", release, "--node", "general-a"))["general-a"] == [
        f"podAntiAffinity app=web by {ZONE}"
    ]


@pytest.mark.parametrize("release", ["1.16", "1.27", "1.34"])
def test_the_pod_that_keeps_it_away(release, asked):
    """Where a pod that is there keeps it away, that pod is named."""
    told = causes(asked("shy", "--release", release))
    assert told["general-a"] == [f"podAntiAffinity of pod default/db-0 by {ZONE}"]
    assert told["general-b"] == [f"podAntiAffinity of pod default/db-1 by {ZONE}"]


@pytest.mark.parametrize("release", ["1.18", "1.27", "1.34"])
def test_the_constraint(release, tmp_path):
    """The failing one of two spread constraints is named."""
    spread = [
        {
            "topologyKey": key,
            "maxSkew": skew,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "web"}},
        }
        for key, skew in ((ZONE, 1), ("kubernetes.io/hostname", 5))
    ]
    waiting = pod("spread", app="web", topologySpreadConstraints=spread)
    path = tmp_path / "cluster.json"
    path.write_text(dumped([*NODES[:2], *THERE[:1], waiting]))
    found = ran("explain", str(path), "spread", "--release", release, "-o", "json").document
    assert found["host"] == "general-b"
    assert causes(found) == {"general-a": [f"topologySpreadConstraints {ZONE}, maxSkew 1"]}


@RELEASES
def test_a_claim(release, asked):
    """A claim that is missing is said as such, and nothing is tried in its place; no node is called the
    nearest."""
    sentence = "PersistentVolumeClaim default/data is not in the input: create it, or add it to the input."
    found = asked("nopvc", "--what-if", "--release", release)
    assert (found["missing"], found["tried"], found["suggestions"]) == ([sentence], 0, [])
    for options in ((), ("--what-if",)):
        told = asked("nopvc", *options, "--release", release, form="table")
        assert sentence in told
        assert "earest" not in told


def test_classes(tmp_path):
    """A missing StorageClass, volume, device class or PriorityClass is named, too."""
    claims = [
        manifest(
            "PersistentVolumeClaim",
            name,
            namespace="default",
            spec={"resources": {"requests": {"storage": "1Gi"}}, "accessModes": ["ReadWriteOnce"], **spec},
        )
        for name, spec in yaml.safe_load("{fast: {storageClassName: fast}, bound: {volumeName: v}}").items()
    ]
    devices = yaml.safe_load("{requests: [{name: r, exactly: {deviceClassName: encoder}}]}")
    resource = manifest("ResourceClaim", "gpu", apiVersion="resource.k8s.io/v1", spec={"devices": devices})
    pods = [
        pod(name, volumes=[{"name": "d", "persistentVolumeClaim": {"claimName": name}}])
        for name in ("fast", "bound")
    ]
    pods += [pod("device", resourceClaims=[{"name": "d", "resourceClaimName": "gpu"}]), WAITING[-1]]
    path = tmp_path / "cluster.json"
    path.write_text(dumped([*NODES, *claims, resource, *pods]))
    wanted = {
        "fast": "StorageClass fast, the class of claim default/fast, is not in the input: create it, or add it to the input.",
        "bound": "PersistentVolume v, the volume of claim default/bound, is not in the input: create it, or add it to the input.",
        "device": "DeviceClass encoder, which claim default/gpu asks for, is not in the input: create it, or add it to the input.",
        "class": "no PriorityClass with name none was found; create it, or add it to the input.",
    }
    for name, sentence in wanted.items():
        assert sentence in ran("explain", str(path), name, "--release", "1.34", "--alone", status=(0, 1)).out
