"""Each gate that decides changes an answer: a small cluster for each, asked with the gate on and off."""

import pytest
import yaml

from kubeclassic.framework.describe import DECIDING, EARLIER
from kubeclassic.framework.releases import ALL_RELEASES
from tests.framework.facts.forms import (
    CLUSTERS,
    case,
    claim,
    csi_node,
    node,
    pod,
    spread,
    storage_class,
    volume,
)
from tests.support import build
from tests.support.factshows import answer_of, cut_down
from tests.support.replaybuild import at, played, replay, there, told

WEB = {"app": "web"}
PORT = yaml.safe_load("[{name: c, image: i, ports: [{containerPort: 80, hostPort: 80}]}]")
WHILE_DELETING = ("SchedulerAsyncPreemption",)
"""Gates that hold a pod back only between two deletions of its victims: the tests of the queue have them."""


def moved(plugin, driver, **disk):
    """A claim for a disk of a built-in driver, on a node where its CSI driver has it and takes none."""
    bound = volume("v", claim_name="c", **disk)
    there = csi_node("a", (driver, 0), moved=f"kubernetes.io/{plugin}")
    return case(
        [storage_class("local"), node("a"), there, bound, claim("c", volume="v")], pod("p", claims=["c"])
    )


OWN = {
    "min-domains": case(
        [node("a"), pod("there", "a", labels=WEB)],
        pod("p", labels=WEB, topologySpreadConstraints=[{**spread(app="web"), "minDomains": 2}]),
    ),
    "azure-disk": moved(
        "azure-disk", "disk.csi.azure.com", azureDisk={"diskName": "disk", "diskURI": "disk"}
    ),
    "cinder": moved("cinder", "cinder.csi.openstack.org", cinder={"volumeID": "disk"}),
}
"""Clusters that show a gate and no fact."""
SHOWN = """
    CSIMigrationGCE 1.24 volume-affinity-text
    CSIMigrationPortworx 1.30 portworx-moves
    CSIMigrationRBD 1.30 rbd-stays-in-tree
    DRAAdminAccess 1.34 distinct-attributes
    DRAConsumableCapacity 1.36 shared-devices
    DRADeviceBindingConditions 1.36 binding-conditions
    DRADeviceTaints 1.36 device-taints
    DRAExtendedResource 1.36 extended-resources-by-devices
    DRAPartitionableDevices 1.36 device-counters
    DRAPrioritizedList 1.34 device-alternatives
    DynamicResourceAllocation 1.34 devices-by-default
    InPlacePodLevelResourcesVerticalScaling 1.36 resize-of-whole-pods
    InPlacePodVerticalScaling 1.33 resize-by-both
    MatchLabelKeysInPodTopologySpread 1.34 spread-gates-on
    MinDomainsInPodTopologySpread 1.29 min-domains
    NodeInclusionPolicyInPodTopologySpread 1.32 inclusion-policies
    NodeDeclaredFeatures 1.35 features-declared
    OpportunisticBatching 1.36 batches
    PodDisruptionConditions 1.30 waits-for-preempted
    PodLevelResources 1.34 pod-level-by-default
    PodSchedulingReadiness 1.29 scheduling-gates
    ReadWriteOncePod 1.28 sole-user-text
    SidecarContainers 1.28 sidecars-by-default
    StorageCapacityScoring 1.33 storage-capacity-scored
    TaintTolerationComparisonOperators 1.36 tolerations-compare
    VolumeAttributesClass 1.33 attributes-classes-match
    VolumeCapacityPriority 1.32 storage-capacity-scored
    VolumeLimitScaling 1.35 missing-drivers
    BalanceAttachedNodeVolumes 1.21 balance-by-own-volumes
    CSIMigration 1.23 cloud-disks-move
    CSIMigrationAWS 1.23 cloud-disks-move
    CSIMigrationAzureDisk 1.23 azure-disk
    CSIMigrationOpenStack 1.23 cinder
    CSIStorageCapacity 1.23 ephemeral-claims
    DefaultPodTopologySpread 1.20 spread-matches-all-selectors
    EvenPodsSpread 1.18 spread-constraints
    GenericEphemeralVolume 1.22 ephemeral-claims-count
    LocalStorageCapacityIsolation 1.24 storage-always-counts
    NonPreemptingPriority 1.18 never-without-gate
    PodAffinityNamespaceSelector 1.23 namespaces-selected
    PodOverhead 1.23 init-containers-and-overhead
    PreferNominatedNode 1.23 nominated-keeps-start
    ResourceLimitsPriorityFunction 1.18 limits-priority-by-gate
"""
"""Gate, a release in which it can be set, and the cluster on which it decides: that of a fact, or one of
``OWN``."""
ROWS = [line.split() for line in SHOWN.strip().splitlines()]


@pytest.fixture(scope="module")
def clusters():
    """All clusters by name."""
    return {**cut_down(), **CLUSTERS, **OWN}


@pytest.mark.parametrize("gate, release, name", ROWS)
def test_it_changes_an_answer(gate, release, name, clusters):
    """With the gate on a release answers otherwise than with it off."""
    config = clusters[name]["config"]
    switched = (
        {**config, "featureGates": {**(config.get("featureGates") or {}), gate: value}}
        for value in (True, False)
    )
    on, off = (answer_of({**clusters[name], "config": one}, ALL_RELEASES[release]) for one in switched)
    assert "cycles" in on
    assert "cycles" in off
    assert on != off


A = build.node("a", cpu="4", labels={"zone": "a", "kubernetes.io/hostname": "a"})
IN_THE_QUEUE = {
    "SchedulerPopFromBackoffQ": (
        "1.33",
        [*there(A), at(0, build.pod("p", cpu="6")), at(0.2, build.node("c", cpu="8"))],
    ),
    "SchedulerQueueingHints": (
        "1.32",
        [
            *there(A),
            at(0, build.pod("x"), runs=5),
            at(0, build.pod("y", containers=PORT)),
            at(0, build.pod("p", containers=PORT)),
        ],
    ),
}
"""Gates that change when a pod is tried, and events that show it."""


@pytest.mark.parametrize("gate", IN_THE_QUEUE)
def test_it_changes_when_a_pod_is_tried(gate):
    """With the gate on pods are tried at other times, or not as often."""
    release, events = IN_THE_QUEUE[gate]
    found = []
    for value in (True, False):
        run = replay(*events, release=release, config={"featureGates": {gate: value}}, until=20)
        found.append((told(played(run), "Scheduled"), run.cluster.tally.attempts))
    assert found[0] != found[1]


def test_each_gate_has_a_case():
    """Every gate that decides is tried above, or shows in the queue alone."""
    assert sorted([*(row[0] for row in ROWS), *IN_THE_QUEUE, *WHILE_DELETING]) == sorted(
        [*DECIDING, *EARLIER]
    )
