"""Each gate that decides changes an answer: a small cluster for each, asked with the gate on and off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import pytest

from kubeclassic.api.objects import KubeObject, Pod
from kubeclassic.framework.describe import DECIDING, EARLIER
from tests.support.build import node, pod
from tests.support.releasewalk import answer, bound, claim, claims, csi_node, made, sidecar, volume
from tests.support.replaybuild import at, played, replay, there, told

Json = dict[str, Any]
A, B = node("a", cpu="4", labels={"zone": "a", "kubernetes.io/hostname": "a"}), node("b", cpu="4", labels={"zone": "b"})
TAINTED = node("b", labels={"zone": "b"}, taints=[{"key": "k", "effect": "NoSchedule"}])
PORT = [{"name": "c", "image": "i", "ports": [{"containerPort": 80, "hostPort": 80}]}]
SPREAD = {"topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "x"}}}
WHILE_DELETING = ("SchedulerAsyncPreemption",)
"""Gates that hold a pod back only between two deletions of its victims: the tests of the queue have them."""


OF_DEVICES = (
    "DRAConsumableCapacity", "DRADeviceBindingConditions", "DRADeviceTaints", "DRAExtendedResource", "DRAPartitionableDevices",
)  # fmt: skip
"""Gates that facts about devices tell: each has a cluster in ``tests/framework/facts/deviceclusters.py``."""


@attrs.frozen
class Case:
    """A cluster and pods that are tried one after the other, asked of a release."""

    release: str
    objects: Sequence[KubeObject]
    pending: Sequence[Pod]
    options: Json = attrs.field(factory=dict)


PORTWORX = [pod(name, volumes=[{"name": "disk", "portworxVolume": {"volumeID": name}}]) for name in ("one", "two")]
MOVED = csi_node("a", migrated="kubernetes.io/portworx-volume", pxd__portworx__com=1)
RBD = [pod(name, volumes=[{"name": "disk", "rbd": {"image": name, "monitors": ["m"]}}]) for name in ("one", "two")]
RBD_MOVED = csi_node("a", migrated="kubernetes.io/rbd", rbd__csi__ceph__com=1)


def devices(requests: Json, *, used: bool = False) -> list[KubeObject]:
    """A device of a class on node a, a claim with *requests*, and, if it is *used*, a claim that has the device."""
    kinds = {"apiVersion": "resource.k8s.io/v1"}
    slices = {"driver": "gpu.example.com", "nodeName": "a", "devices": [{"name": "gpu-0"}]}
    pool = {"pool": {"name": "a", "generation": 1, "resourceSliceCount": 1}}
    found = [
        made("DeviceClass", "gpu", **kinds, spec={}),
        made("ResourceSlice", "slice", **kinds, spec={**slices, **pool}),
        made("ResourceClaim", "claim", **kinds, spec={"devices": {"requests": [{"name": "r0", **requests}]}}),
    ]
    if used:
        result = {"request": "r0", "driver": "gpu.example.com", "pool": "a", "device": "gpu-0"}
        exactly = {"requests": [{"name": "r0", "exactly": {"deviceClassName": "gpu"}}]}
        status = {"allocation": {"devices": {"results": [result]}}}
        found.append(made("ResourceClaim", "other", **kinds, spec={"devices": exactly}, status=status))
    return found


WANTS_DEVICE = pod("p", resourceClaims=[{"name": "gpu", "resourceClaimName": "claim"}])
EXACTLY = {"exactly": {"deviceClassName": "gpu"}}
RESIZED = {
    "containerStatuses": [
        {"name": "c", "image": "img", "imageID": "", "ready": True, "restartCount": 0, "resources": {"requests": {"cpu": "3"}}}
    ]
}
LEAVING = {"deletionTimestamp": "2024-01-01T00:00:00Z"}
LATE = made("StorageClass", "late", provisioner="kubernetes.io/no-provisioner", volumeBindingMode="WaitForFirstConsumer")


def loose(name: str, size: str, on: str) -> KubeObject:
    """An available volume on a node."""
    terms = [{"matchExpressions": [{"key": "zone", "operator": "In", "values": [on]}]}]
    spec = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": size}, "storageClassName": "late"}
    return made(
        "PersistentVolume", name, spec={**spec, "nodeAffinity": {"required": {"nodeSelectorTerms": terms}}}, status={"phase": "Available"}
    )


UNLIKE_VOLUMES = [A, B, LATE, loose("small", "1Gi", "a"), loose("large", "9Gi", "b"), claim("c", storageClassName="late")]
GCE = {"gcePersistentDisk": {"pdName": "disk"}}
GCE_MOVED = csi_node("a", migrated="kubernetes.io/gce-pd", pd__csi__storage__gke__io=0)
CASES = {
    "CSIMigrationGCE": Case(
        "1.24", [A, GCE_MOVED, volume("v", "c", **GCE), claim("c", "v")], [pod("p", volumes=claims("c"))]
    ),
    "CSIMigrationPortworx": Case("1.30", [A, MOVED], PORTWORX),
    "CSIMigrationRBD": Case("1.30", [A, RBD_MOVED], RBD),
    "DRAAdminAccess": Case(
        "1.34", [A, *devices({"exactly": {"deviceClassName": "gpu", "adminAccess": True}}, used=True)], [WANTS_DEVICE]
    ),
    "DRAPrioritizedList": Case(
        "1.34", [A, *devices({"firstAvailable": [{"name": "s0", "deviceClassName": "gpu"}]})], [WANTS_DEVICE]
    ),
    "DynamicResourceAllocation": Case("1.34", [B, *devices(EXACTLY)], [WANTS_DEVICE]),
    "InPlacePodLevelResourcesVerticalScaling": Case(
        "1.36", [A, bound("there", "a", resources={"requests": {"cpu": "1"}}, status={"resources": {"requests": {"cpu": "3"}}})],
        [pod("p", requests={"cpu": "2"})],
    ),
    "InPlacePodVerticalScaling": Case(
        "1.33", [A, bound("there", "a", requests={"cpu": "1"}, status=RESIZED)], [pod("p", requests={"cpu": "2"})]
    ),
    "MatchLabelKeysInPodTopologySpread": Case(
        "1.34", [A, B, bound("there", "a", labels={"app": "x", "hash": "1"})],
        [pod("p", labels={"app": "x", "hash": "2"}, topologySpreadConstraints=[{**SPREAD, "maxSkew": 1, "matchLabelKeys": ["hash"]}])],
    ),
    "MinDomainsInPodTopologySpread": Case(
        "1.29", [A, bound("there", "a", labels={"app": "x"})],
        [pod("p", labels={"app": "x"}, topologySpreadConstraints=[{**SPREAD, "maxSkew": 1, "minDomains": 2}])],
    ),
    "NodeInclusionPolicyInPodTopologySpread": Case(
        "1.32", [A, TAINTED, bound("there", "a", labels={"app": "x"})],
        [pod("p", labels={"app": "x"}, topologySpreadConstraints=[{**SPREAD, "maxSkew": 1, "nodeTaintsPolicy": "Honor"}])],
    ),
    "NodeDeclaredFeatures": Case(
        "1.35", [A], [pod("p", containers=[{"name": "c", "image": "i", "restartPolicyRules": [{"action": "RestartAllContainers"}]}])]
    ),
    "OpportunisticBatching": Case(
        "1.36", [A, B, node("c", cpu="4")], [pod("p", requests={"cpu": "4"}), pod("q", requests={"cpu": "4"})],
        {"profile": {"profiles": [{"plugins": {"multiPoint": {"disabled": [{"name": "PodTopologySpread"}]}}}]}},
    ),
    "PodDisruptionConditions": Case(
        "1.30",
        [A, bound("low", "a", requests={"cpu": "2"}, metadata=LEAVING), bound("lower", "a", requests={"cpu": "2"})],
        [pod("p", requests={"cpu": "4"}, priority=10, status={"nominatedNodeName": "a"})],
    ),
    "PodLevelResources": Case("1.34", [A], [pod("p", resources={"requests": {"cpu": "5"}})]),
    "PodSchedulingReadiness": Case("1.29", [A], [pod("p", schedulingGates=[{"name": "wait"}])]),
    "ReadWriteOncePod": Case(
        "1.28",
        [A, volume("v", "c"), claim("c", "v", accessModes=["ReadWriteOncePod"]), bound("there", "a", volumes=claims("c"))],
        [pod("p", volumes=claims("c"))],
    ),
    "SidecarContainers": Case("1.28", [A], [pod("p", initContainers=[sidecar("1")])]),
    "StorageCapacityScoring": Case("1.33", UNLIKE_VOLUMES, [pod("p", volumes=claims("c"))]),
    "TaintTolerationComparisonOperators": Case(
        "1.36", [node("a", taints=[{"key": "k", "value": "9", "effect": "NoSchedule"}])],
        [pod("p", tolerations=[{"key": "k", "operator": "Gt", "value": "5"}])],
    ),
    "VolumeAttributesClass": Case(
        "1.33", [A, LATE, loose("v", "1Gi", "a"), claim("c", storageClassName="late", volumeAttributesClassName="fast")],
        [pod("p", volumes=claims("c"))],
    ),
    "VolumeCapacityPriority": Case("1.32", UNLIKE_VOLUMES, [pod("p", volumes=claims("c"))]),
    "VolumeLimitScaling": Case(
        "1.35",
        [A, made("CSIDriver", "x.example.com"), volume("v", "c", csi={"driver": "x.example.com", "volumeHandle": "v"}), claim("c", "v")],
        [pod("p", volumes=claims("c"))],
    ),
}  # fmt: skip


DISK = {"name": "disk", "awsElasticBlockStore": {"volumeID": "disk"}}
DRIVER = made("CSIDriver", "x.example.com", spec={"storageCapacity": True})
NEW = made("StorageClass", "new", provisioner="x.example.com", volumeBindingMode="WaitForFirstConsumer")
NEAR = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "zone", "namespaceSelector": {}}
OWN = {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}}


def moved(plugin: str, driver: str, **disk: Json) -> Case:
    """A claim for a disk of a built-in driver, on a node where its CSI driver has it and takes none."""
    there = csi_node("a", migrated=f"kubernetes.io/{plugin}", **{driver.replace(".", "__"): 0})
    return Case("1.23", [A, there, volume("v", "c", **disk), claim("c", "v")], [pod("p", volumes=claims("c"))])


EARLIER_CASES = {
    "BalanceAttachedNodeVolumes": Case("1.21", [A, B], [pod("p", requests={"cpu": "2", "memory": "0"}, volumes=[DISK])]),
    "CSIMigration": moved("gce-pd", "pd.csi.storage.gke.io", **GCE),
    "CSIMigrationAWS": moved("aws-ebs", "ebs.csi.aws.com", awsElasticBlockStore={"volumeID": "disk"}),
    "CSIMigrationAzureDisk": moved("azure-disk", "disk.csi.azure.com", azureDisk={"diskName": "disk", "diskURI": "disk"}),
    "CSIMigrationOpenStack": moved("cinder", "cinder.csi.openstack.org", cinder={"volumeID": "disk"}),
    "CSIStorageCapacity": Case("1.23", [A, DRIVER, NEW, claim("c", storageClassName="new")], [pod("p", volumes=claims("c"))]),
    "DefaultPodTopologySpread": Case("1.20", [A, B], [pod("p")]),
    "EvenPodsSpread": Case(
        "1.18", [A, B, bound("there", "a", labels={"app": "x"})],
        [pod("p", labels={"app": "x"}, topologySpreadConstraints=[{**SPREAD, "maxSkew": 1}])],
    ),
    "GenericEphemeralVolume": Case("1.22", [A], [pod("p", volumes=[{"name": "own", "ephemeral": OWN}])]),
    "LocalStorageCapacityIsolation": Case("1.24", [A], [pod("p", requests={"ephemeral-storage": "9Ti"})]),
    "NonPreemptingPriority": Case(
        "1.18", [A, bound("low", "a", requests={"cpu": "4"})],
        [pod("p", requests={"cpu": "4"}, priority=10, preemptionPolicy="Never")],
    ),
    "PodAffinityNamespaceSelector": Case(
        "1.23", [A, B, bound("there", "a", namespace="other", labels={"app": "x"}), made("Namespace", "other")],
        [pod("p", affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [NEAR]}})],
    ),
    "PodOverhead": Case("1.23", [A], [pod("p", overhead={"cpu": "5"})]),
    "PreferNominatedNode": Case("1.23", [A, B], [pod("p", status={"nominatedNodeName": "b"})]),
    "ResourceLimitsPriorityFunction": Case("1.18", [A, B], [pod("p")]),
}  # fmt: skip


@pytest.mark.parametrize("gate", [*CASES, *EARLIER_CASES])
def test_it_changes_an_answer(gate: str) -> None:
    """With the gate on a release answers otherwise than with it off."""
    case = {**CASES, **EARLIER_CASES}[gate]
    on, off = (answer(case.release, case.objects, case.pending, gates={gate: value}, **case.options) for value in (True, False))
    assert "refused" not in on
    assert "refused" not in off
    assert on != off


IN_THE_QUEUE = {
    "SchedulerPopFromBackoffQ": ("1.33", [*there(A), at(0, pod("p", requests={"cpu": "6"})), at(0.2, node("c", cpu="8"))]),
    "SchedulerQueueingHints": (
        "1.32",
        [*there(A), at(0, pod("x"), runs=5), at(0, pod("y", containers=PORT)), at(0, pod("p", containers=PORT))],
    ),
}
"""Gates that change when a pod is tried, and events that show it."""


@pytest.mark.parametrize("gate", IN_THE_QUEUE)
def test_it_changes_when_a_pod_is_tried(gate: str) -> None:
    """With the gate on pods are tried at other times, or not as often."""
    release, events = IN_THE_QUEUE[gate]
    found = []
    for value in (True, False):
        run = replay(*events, release=release, options={"gates": {gate: value}}, until=20)
        found.append((told(played(run), "Scheduled"), run.cluster.tally.attempts))
    assert found[0] != found[1]


def test_each_gate_has_a_case() -> None:
    """Every gate that decides is tried above, or shows in the queue alone."""
    assert {*CASES, *IN_THE_QUEUE, *WHILE_DELETING, *OF_DEVICES} == set(DECIDING)
    assert set(EARLIER_CASES) == set(EARLIER)
