"""What-if where something is nearly right, or two things are wrong at once: the failing term is named, and
what was meant comes first."""

import shlex

import pytest
import yaml

from tests.support import manifests
from tests.support.manifests import dumped, manifest
from tests.support.program import ran

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
NOT_READY = [
    {"key": "node.kubernetes.io/not-ready", "effect": effect} for effect in ("NoSchedule", "NoExecute")
]
GPU = yaml.safe_load("[{key: nvidia.com/gpu, value: present, effect: NoSchedule}]")


def node(name, pool, taints, cpu="4", **devices):
    """A node of zone a."""
    labels = {HOST: name, "pool": pool, "disk": "ssd", ZONE: "a"}
    return manifests.node(name, cpu, labels=labels, taints=taints, allocatable=devices)


def pod(name, cpu="100m", namespace="shop", **spec):
    """A pod of the app that its name begins with."""
    return manifests.pod(name, cpu, namespace=namespace, app=name.rpartition("-")[0] or name, **spec)


def near(app, key=HOST):
    """Required affinity to pods of *app*."""
    return {"podAffinity": {REQUIRED: [{"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key}]}}


def on_nodes(**expression):
    """Required node affinity of one expression, over fields with *fields*."""
    field = "matchFields" if expression.pop("fields", False) else "matchExpressions"
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{field: [expression]}]}}}


def tolerating(**toleration):
    """One toleration."""
    return [{"operator": "Equal", **toleration}]


def spread(key):
    """One constraint of the spread."""
    return [
        {
            "topologyKey": key,
            "maxSkew": 1,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "web"}},
        }
    ]


NODES = [
    node("general-0", "general", []),
    node("general-1", "general", []),
    node("gpu-0", "gpu", GPU, "8", **{"nvidia.com/gpu": "4"}),
    node("sick-0", "big", NOT_READY, "64"),
]
GPUS = {"requests": {"nvidia.com/gpu": "1"}}
THERE = [pod("web-0", nodeName="general-0"), pod("db-0", nodeName="general-1")]
PODS = [
    pod("labels", nodeSelector={"pool": "genral", "disk": "sdd"}),
    pod("both", "6", nodeSelector={"pool": "genral"}),
    pod("gt", affinity=on_nodes(key="generation", operator="Gt", values=["3"])),
    pod("name", affinity=on_nodes(key="metadata.name", operator="In", values=["general-9"], fields=True)),
    pod("value", tolerations=tolerating(key="nvidia.com/gpu", value="true", effect="NoSchedule"), **GPUS),
    pod("key", tolerations=tolerating(key="nvidia.com/gpus", value="present", effect="NoSchedule"), **GPUS),
    pod("effect", tolerations=tolerating(key="nvidia.com/gpu", value="present", effect="NoExecute"), **GPUS),
    pod("gpus", requests={"nvidia.com/gpus": "1"}),
    pod("elsewhere", nodeSelector={"pool": "general"}, **GPUS),
    pod("spread", topologySpreadConstraints=spread("topology.kubernetes.io/zne")),
    pod("rack", topologySpreadConstraints=spread("rack")),
    pod("near", affinity=near("dbb")),
    pod("nearrack", affinity=near("web", "rack")),
    pod("other", namespace="other", affinity=near("web")),
    pod("huge", "40"),
    pod(
        "claim",
        nodeSelector={"pool": "genral"},
        volumes=yaml.safe_load("[{name: d, persistentVolumeClaim: {claimName: data}}]"),
    ),
    pod("class", volumes=yaml.safe_load("[{name: d, persistentVolumeClaim: {claimName: fast}}]")),
    pod("mistyped", volumes=yaml.safe_load("[{name: d, persistentVolumeClaim: {claimName: fats}}]")),
    pod("urgent", priorityClassName="hihg"),
    pod("volume", volumes=yaml.safe_load("[{name: d, persistentVolumeClaim: {claimName: byhand}}]")),
]
STORAGE = [
    manifest("PriorityClass", "high", value=7),
    manifest(
        "PersistentVolumeClaim",
        "fast",
        namespace="shop",
        spec=yaml.safe_load("""
        storageClassName: manul
        accessModes: [ReadWriteOnce]
        resources:
          requests: {storage: 1Gi}
        """),
    ),
    manifest(
        "StorageClass",
        "manual",
        provisioner="kubernetes.io/no-provisioner",
        volumeBindingMode="WaitForFirstConsumer",
    ),
    manifest(
        "PersistentVolumeClaim",
        "byhand",
        namespace="shop",
        spec=yaml.safe_load("""
        storageClassName: manual
        accessModes: [ReadWriteOnce]
        resources:
          requests: {storage: 1Gi}
        """),
    ),
]


@pytest.fixture
def asked(tmp_path):
    """A function that asks what would help a pod of the cluster, or of a cluster of other *nodes*; the JSON
    and the text."""

    def found(name, *options, nodes=NODES):
        path = tmp_path / "cluster.json"
        path.write_text(dumped([*nodes, *THERE, *PODS, *STORAGE]))
        words = ["explain", str(path), name, "--what-if", "--alone", "--release", "1.27", *options]
        return ran(*words, "-o", "json", status=(0, 1)).document, ran(*words, status=(0, 1)).out

    return found


FIRST = {
    "labels": ["pod shop/labels nodeSelector.pool=general nodeSelector.disk=ssd"],
    "both": ["pod shop/both nodeSelector.pool=general", "pod shop/both requests.cpu=3900m"],
    "value": ["pod shop/value tolerations+=nvidia.com/gpu=present:NoSchedule"],
    "key": ["pod shop/key tolerations+=nvidia.com/gpu=present:NoSchedule"],
    "effect": ["pod shop/effect tolerations+=nvidia.com/gpu=present:NoSchedule"],
    "gpus": [
        "pod shop/gpus spec.containers[c].resources.requests.nvidia.com/gpus- spec.containers[c].resources.requests.nvidia.com/gpu=1",
        "pod shop/gpus tolerations+=nvidia.com/gpu=present:NoSchedule",
    ],
    "elsewhere": [
        "pod shop/elsewhere tolerations+=nvidia.com/gpu=present:NoSchedule",
        "pod shop/elsewhere nodeSelector.pool-",
    ],
    "spread": [f"pod shop/spread topologySpreadConstraints[0].topologyKey={ZONE}"],
    "near": [f"pod shop/near affinity.podAffinity.{REQUIRED}[0].labelSelector.matchLabels.app=db"],
}
"""Pod -> the edits of what comes first."""
NAMED = {
    "labels": [
        "nodeSelector pool=genral: no node has it; 2 have pool=general.",
        "nodeSelector disk=sdd: no node has it; 4 have disk=ssd.",
    ],
    "both": ["nodeSelector pool=genral: no node has it; 2 have pool=general."],
    "gt": ["nodeAffinity generation Gt [3]: no node has the label generation."],
    "name": ["nodeAffinity metadata.name In [general-9]: no node has that name; there is general-1."],
    "value": [
        "toleration nvidia.com/gpu=true:NoSchedule: no node has such a taint; 1 has nvidia.com/gpu=present:NoSchedule."
    ],
    "key": [
        "toleration nvidia.com/gpus=present:NoSchedule: no node has such a taint; 1 has nvidia.com/gpu=present:NoSchedule."
    ],
    "effect": [
        "toleration nvidia.com/gpu=present:NoExecute: no node has such a taint; 1 has nvidia.com/gpu=present:NoSchedule."
    ],
    "gpus": ["request nvidia.com/gpus=1: no node has it; 1 has nvidia.com/gpu."],
    "spread": [f"no node has the label topology.kubernetes.io/zne; there is {ZONE}."],
    "rack": ["topologySpreadConstraints rack, maxSkew 1: no node has the label rack."],
    "near": ["podAffinity app=dbb by kubernetes.io/hostname: no pod on a node matches; 1 with app=db."],
    "nearrack": ["podAffinity app=web by rack: no node has the label rack."],
    "other": [
        "podAffinity app=web by kubernetes.io/hostname: no pod on a node matches; 1 in namespace shop."
    ],
    "claim": [
        "PersistentVolumeClaim shop/data is not in the input",
        "nodeSelector pool=genral: no node has it; 2 have pool=general.",
    ],
    "class": [
        "StorageClass manul, the class of claim shop/fast, is not in the input: create it,",
        '; did you mean "manual"?',
    ],
    "mistyped": [
        'PersistentVolumeClaim shop/fats is not in the input: create it, or add it to the input; did you mean "fast"?'
    ],
    "urgent": [
        'no PriorityClass with name hihg was found; create it, or add it to the input; did you mean "high"?\n'
    ],
    "volume": [
        "a free PersistentVolume of class manual, which claim shop/byhand waits for, is not in the input"
    ],
}
"""Pod -> what the text names."""


@pytest.mark.parametrize("name", FIRST)
def test_what_was_meant_comes_first(name, asked):
    """The right form of a misspelt word comes first, with a second change if it alone is not enough; and it
    is the --set line."""
    found, text = asked(name)
    first = found["suggestions"][0]
    assert first["patch"] == FIRST[name]
    assert first["disturbs"] == 10 or name == "elsewhere"
    assert all(f"--set {shlex.quote(edit)}" in text for edit in first["patch"])
    edits = [word for edit in first["patch"] for word in ("--set", edit)]
    assert asked(name, *edits)[0]["host"] == first["host"]


@pytest.mark.parametrize("name", NAMED)
def test_the_failing_term_is_named(name, asked):
    """A term that nothing in the cluster resembles is named before any suggestion, in the field's words."""
    text = asked(name)[1].partition("Change the")[0]
    assert all(sentence in text for sentence in NAMED[name])


def test_a_node_that_has_no_device_is_not_given_one(asked):
    """A pod that asks for a GPU is not told to ask for none, nor that other nodes get some, while a node has
    them."""
    edits = [
        edit
        for name in ("value", "elsewhere")
        for one in asked(name)[0]["suggestions"]
        for edit in one["patch"]
    ]
    assert edits
    assert not any("nvidia.com/gpu=0" in edit or "allocatable.nvidia.com/gpu" in edit for edit in edits)


def test_a_gpu_is_no_misspelt_cpu(asked):
    """A pod that asks for a GPU, where no node has one, is not told to ask for cpu."""
    without = [node for node in NODES if "nvidia.com/gpu" not in node["status"]["allocatable"]]
    found, text = asked("value", nodes=without)
    assert "request nvidia.com/gpu=1: no node has it.\n" in text
    assert "requests.cpu" not in str(found["suggestions"])


def test_a_sick_node_is_not_tolerated(asked):
    """A node that is not ready is to be made ready; a pod is not told to tolerate that, nor a cordon."""
    found, text = asked("huge")
    assert not any("tolerations" in edit for one in found["suggestions"] for edit in one["patch"])
    assert "Make node sick-0 ready (it has the taint node.kubernetes.io/not-ready) -> sick-0" in text
    cordoned = [{**one, "spec": {"unschedulable": True}} for one in NODES[:1]]
    found, text = asked("gt", nodes=[{**one, "spec": {"taints": NOT_READY}} for one in NODES[:2]])
    assert "olerate the taint" not in text
    assert "olerate the taint" not in asked("web-0", nodes=cordoned)[1]


def test_more_tolerations_than_are_needed_are_not_told(asked):
    """Where every node has a taint, tolerating this one alone is told, not this one and others besides."""
    closed = yaml.safe_load("[{key: maintenance, value: 'yes', effect: NoSchedule}]")
    nodes = [{**one, "spec": {"taints": one["spec"]["taints"] + closed}} for one in NODES]
    tolerated = [
        one["patch"]
        for one in asked("huge", "--set", "pod shop/huge requests.cpu=1", nodes=nodes)[0]["suggestions"]
    ]
    assert [patch for patch in tolerated if "tolerations" in patch[0]] == [
        ["pod shop/huge tolerations+=maintenance=yes:NoSchedule"]
    ]
