"""The objects of random clusters: nodes, pods, volumes and owners in all forms that rules distinguish, each
by its number."""

import random
from functools import cache
from pathlib import Path

import yaml

from kubeclassic.simulation.simulate import Scenario
from tests.support.build import node, obj, pod

ZONE = "failure-domain.beta.kubernetes.io/zone"
REGION = "failure-domain.beta.kubernetes.io/region"
HOSTNAME = "kubernetes.io/hostname"
DRIVER = "disk.example.com"
GI = 1 << 30


# --- nodes --------------------------------------------------------------------------------------------------


def _pick(variant, *choices):
    """One of *choices*; their number should not divide the numbers of other picks."""
    return choices[variant % len(choices)]


@cache
def node_form(number, variant):
    """Node *number* in one of 1,024 variants."""
    name = f"n{number}"
    labels = {ZONE: _pick(variant, "z1", "z2", None), REGION: _pick(variant // 3, "r1", "r2"), HOSTNAME: name}
    labels |= {"disk": _pick(variant // 5, "ssd", "hdd", "7", None)}
    labels |= {"beta.kubernetes.io/instance-type": _pick(variant // 2, None, "m5.large")}
    limits = _pick(variant // 4, {}, dict.fromkeys(ATTACHABLE, "1"), dict.fromkeys(ATTACHABLE, "2"))
    extended = _pick(
        variant // 6, {}, {"example.com/gpu": "1"}, {"example.com/gpu": "2", "ephemeral-storage": "1Gi"}
    )
    annotations = {"scheduler.alpha.kubernetes.io/preferAvoidPods": AVOID} if variant % 5 == 1 else {}
    return node(
        name,
        labels={key: value for key, value in labels.items() if value is not None},
        cpu=_pick(variant // 7, "2", "4", "8"),
        memory=_pick(variant // 3, "4Gi", "2Gi"),
        pods=_pick(variant // 8, "110", "8", "3", "110"),
        allocatable={**limits, **extended},
        taints=_pick(
            variant // 9,
            [],
            [],
            [],
            [NO_SCHEDULE],
            [TAINT | {"effect": "PreferNoSchedule"}],
            [],
            [NO_EXECUTE],
        ),
        unschedulable=variant % 17 == 3,
        conditions=_pick(
            variant // 2, READY, READY, [*READY, *PRESSURED], [], READY, [NOT_READY, *CALM], [*READY, NO_NET]
        ),
        images=_pick(variant // 4, [], [IMAGE], [IMAGE, BIG_IMAGE | {"sizeBytes": variant * GI // 100}]),
        annotations=annotations,
    )


ATTACHABLE = [
    f"attachable-volumes-{kind}" for kind in ("aws-ebs", "gce-pd", "azure-disk", "cinder", f"csi-{DRIVER}")
]
TAINT = {"key": "dedicated", "value": "x"}
NO_SCHEDULE = TAINT | {"effect": "NoSchedule"}
NO_EXECUTE = {"key": "gone", "value": "", "effect": "NoExecute"}
READY = [{"type": "Ready", "status": "True"}]
NOT_READY = {"type": "Ready", "status": "False"}
PRESSURED = [{"type": f"{kind}Pressure", "status": "True"} for kind in ("Memory", "Disk", "PID")]
CALM = [{"type": f"{kind}Pressure", "status": "False"} for kind in ("Memory", "Disk", "PID")]
NO_NET = {"type": "NetworkUnavailable", "status": "True"}
IMAGE = {"names": ["img:latest"], "sizeBytes": 300 << 20}
BIG_IMAGE = {"names": ["big:1"], "sizeBytes": 2 * GI}
AVOID = '{"preferAvoidPods": [{"podSignature": {"podController": {"kind": "ReplicationController", "uid": "rc-uid"}}}]}'

# --- pods ---------------------------------------------------------------------------------------------------


FORMS = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text())
"""Subject -> the forms of pods, as arguments of :func:`tests.support.manifests.pod`."""

ANY_FORM = [form for forms in FORMS.values() for form in forms]


@cache
def pod_form(subject, variant, name="new", on=""):
    """A pod in one of *subject*'s forms (``any``: of all forms), with one of three labels and, now and then,
    another namespace."""
    forms = ANY_FORM if subject == "any" else FORMS[subject]
    form = dict(forms[variant % len(forms)])
    labels = {"app": _pick(variant // len(forms), "a", "b", "c")}
    namespace = "far" if variant % 13 == 12 else "default"
    metadata = {"uid": f"uid-{name}", **form.pop("metadata", {})}
    if variant % 7:
        token = {
            "name": f"kube-api-access-{name}",
            "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]},
        }
        form["volumes"] = [*form.get("volumes", []), token]
    priority = _pick(variant // 3, 0, 0, 10)
    return pod(name, on=on, labels=labels, namespace=namespace, metadata=metadata, priority=priority, **form)


# --- everything else ----------------------------------------------------------------------------------------


@cache
def other_form(kind, number, variant):
    """Object *number* of a kind other than nodes and pods, in one of its variants."""
    return obj({"kind": kind, **OTHERS[kind](number, variant)})


def _named(name, **more):
    return {"metadata": {"name": name, "namespace": "default", "resourceVersion": "7", **more}}


def _volume(number, variant):
    disks = (
        {"awsElasticBlockStore": {"volumeID": f"e{number}"}},
        {"gcePersistentDisk": {"pdName": f"d{number}"}},
    )
    source = _pick(
        variant,
        *disks,
        {"csi": {"driver": DRIVER, "volumeHandle": f"h{number}"}},
        {"azureDisk": {"diskName": f"a{number}"}},
    )
    labels = _pick(variant // 4, {}, {ZONE: "z1"}, {ZONE: "z1__z2", REGION: "r1"})
    only_on = [
        {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [_pick(variant // 2, "z1", "z2")]}]}
    ]
    affinity = _pick(variant // 3, {}, {"nodeAffinity": {"required": {"nodeSelectorTerms": only_on}}})
    bound = _pick(
        variant // 5,
        {},
        {"claimRef": {"kind": "PersistentVolumeClaim", "namespace": "default", "name": f"c{number}"}},
    )
    spec = {
        "storageClassName": "wait",
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        **source,
        **affinity,
        **bound,
    }
    return {
        **_named(f"v{number}", labels=labels),
        "spec": spec,
        "status": {"phase": "Bound" if bound else "Available"},
    }


def _claim(number, variant):
    bound = {"volumeName": f"v{number}"} if variant % 2 else {}
    annotations = {"pv.kubernetes.io/bind-completed": "yes"} if bound else {}
    spec = {
        "storageClassName": _pick(variant // 2, "wait", "made", "now"),
        "resources": {"requests": {"storage": "1Gi"}},
        **bound,
    }
    modes = _pick(variant // 7, ["ReadWriteOnce"], ["ReadWriteOncePod"])
    return {**_named(f"c{number}", annotations=annotations), "spec": {"accessModes": modes, **spec}}


def _class(number, variant):
    provisioner = _pick(variant, "kubernetes.io/no-provisioner", "kubernetes.io/aws-ebs", DRIVER)
    mode = "Immediate" if number == 2 else "WaitForFirstConsumer"
    return {
        **_named(("wait", "made", "now")[number % 3]),
        "provisioner": provisioner,
        "volumeBindingMode": mode,
    }


def _csi_node(number, variant):
    drivers = [{"name": DRIVER, "nodeID": "n", "allocatable": {"count": variant % 3}}]
    annotations = (
        {"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/aws-ebs"} if variant % 5 == 2 else {}
    )
    return {
        **_named(f"n{number}", annotations=annotations),
        "spec": {"drivers": drivers if variant % 4 else []},
    }


def _by_pairs(number, variant):
    return {
        **_named(f"o{number}"),
        "spec": {"selector": _pick(variant, {"app": "a"}, {"app": "b"}, {}, {"app": "c"})},
    }


def _by_selector(number, variant):
    return {
        **_named(f"o{number}"),
        "spec": {"selector": {"matchLabels": {"app": _pick(variant, "a", "b", "c")}}},
    }


OTHERS = {
    "PersistentVolume": _volume,
    "PersistentVolumeClaim": _claim,
    "StorageClass": _class,
    "CSINode": _csi_node,
    "Service": _by_pairs,
    "ReplicationController": _by_pairs,
    "ReplicaSet": _by_selector,
    "StatefulSet": _by_selector,
}
VOLUME_KINDS = ("PersistentVolume", "PersistentVolumeClaim", "StorageClass", "CSINode")
OWNER_KINDS = ("Service", "ReplicationController", "ReplicaSet", "StatefulSet")


def drawn(seed):
    """A small random cluster: nodes, pods on them, and pending pods."""
    rng = random.Random(seed)
    nodes = [node_form(number, rng.randrange(1024)) for number in range(rng.randrange(1, 6))]
    there = [
        pod_form("any", rng.randrange(1024), f"t{number}", rng.choice(nodes).name)
        for number in range(rng.randrange(6))
    ]
    waiting = [pod_form("any", rng.randrange(1024), f"w{number}") for number in range(rng.randrange(1, 8))]
    return Scenario((*nodes, *there), tuple(waiting))
