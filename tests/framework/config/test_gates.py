"""Tests of the feature gates of the framework's releases."""

from __future__ import annotations

import pytest

from kubeclassic.exceptions import PolicyError
from kubeclassic.framework.config.gates import resolved_gates
from kubeclassic.framework.config.gatetable import gates_of

VERSIONS = [f"1.{minor}" for minor in range(27, 35)]
# Gate -> a letter for each of VERSIONS: u unknown, - off, + on, L locked on.
TOUCH_DECISIONS = {
    "SidecarContainers": "u-++++LL",
    "MinDomainsInPodTopologySpread": "+++LLuuu",
    "MatchLabelKeysInPodTopologySpread": "++++++++",
    "MatchLabelKeysInPodTopologySpreadSelectorMerge": "uuuuuuu+",
    "NodeInclusionPolicyInPodTopologySpread": "++++++LL",
    "MatchLabelKeysInPodAffinity": "uu--++LL",
    "InPlacePodVerticalScaling": "------++",
    "PodLevelResources": "uuuuu--+",
    "PodSchedulingReadiness": "+++LLLLL",
    "PodDisruptionConditions": "++++LLLu",
    "ReadWriteOncePod": "++LLuuuu",
    "SchedulerQueueingHints": "u----++L",
    "SchedulerAsyncPreemption": "uuuuu-++",
    "SchedulerPopFromBackoffQ": "uuuuuu++",
    "SchedulerAsyncAPICalls": "uuuuuuu+",
    "VolumeCapacityPriority": "------uu",
    "StorageCapacityScoring": "uuuuuu--",
    "VolumeAttributesClass": "uu-----+",
    "DynamicResourceAllocation": "-------+",
    "DRAPrioritizedList": "uuuuuu-+",
    "DRAAdminAccess": "uuuuu--+",
    "DRAResourceClaimDeviceStatus": "uuuuu-++",
    "DRASchedulerFilterTimeout": "uuuuuuu+",
    "DRAPartitionableDevices": "uuuuuu--",
    "DRADeviceTaints": "uuuuuu--",
    "DRADeviceBindingConditions": "uuuuuuu-",
    "DRAConsumableCapacity": "uuuuuuu-",
    "DRAExtendedResource": "uuuuuuu-",
    "NominatedNodeNameForExpectation": "uuuuuuu-",
    "ClearingNominatedNodeNameAfterBinding": "uuuuuuu-",
    "CSIMigrationGCE": "Luuuuuuu",
    "CSIMigrationRBD": "----uuuu",
    "CSIMigrationPortworx": "----++LL",
}


def _letter(gate: str, version: str) -> str:
    found = gates_of(version).get(gate)
    if found is None:
        return "u"
    if found.locked:
        return "L" if found.default else "l"
    return "+" if found.default else "-"


@pytest.mark.parametrize("gate", TOUCH_DECISIONS)
def test_defaults(gate: str) -> None:
    """A gate that touches decisions has the default and the lock of each release."""
    assert "".join(_letter(gate, version) for version in VERSIONS) == TOUCH_DECISIONS[gate]


@pytest.mark.parametrize("version", VERSIONS)
def test_all_of_a_stage(version: str) -> None:
    """AllAlpha and AllBeta exist in each release and set every gate of their stage that is not set itself."""
    known = gates_of(version)
    on = resolved_gates("AllAlpha=true,CSIVolumeHealth=false", known)
    assert not on["CSIVolumeHealth"]
    assert all(on[name] for name, gate in known.items() if gate.stage == "ALPHA" and name != "CSIVolumeHealth")
    assert not any(resolved_gates("AllBeta=false", known)[name] for name, gate in known.items() if gate.stage == "BETA")


def test_deprecated_gates_have_no_stage_of_their_own() -> None:
    """A deprecated gate is left alone by AllAlpha and AllBeta."""
    known = gates_of("1.34")
    assert resolved_gates("AllAlpha=true,AllBeta=true", known)["KMSv1"] is False
    assert resolved_gates("KMSv1=true", known)["KMSv1"]


@pytest.mark.parametrize(
    ("version", "wanted", "text"),
    [
        ("1.27", "SidecarContainers=true", "unrecognized feature gate: SidecarContainers"),
        ("1.30", "PodLevelResources=true", "unrecognized feature gate: PodLevelResources"),
        ("1.32", "MinDomainsInPodTopologySpread=true", "unrecognized feature gate: MinDomainsInPodTopologySpread"),
        (
            "1.30", "MinDomainsInPodTopologySpread=false",
            "cannot set feature gate MinDomainsInPodTopologySpread to false, feature is locked to true",
        ),
        ("1.34", "SidecarContainers=false", "cannot set feature gate SidecarContainers to false, feature is locked to true"),
        (
            "1.33", "WatchFromStorageWithoutResourceVersion=true",
            "cannot set feature gate WatchFromStorageWithoutResourceVersion to true, feature is locked to false",
        ),
    ],
)  # fmt: skip
def test_refused(version: str, wanted: str, text: str) -> None:
    """A gate that a release does not know, or has locked, is refused with upstream's text."""
    with pytest.raises(PolicyError) as caught:
        resolved_gates(wanted, gates_of(version))
    assert str(caught.value) == text
