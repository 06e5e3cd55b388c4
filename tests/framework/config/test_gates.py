"""Tests of the feature gates of the framework's releases."""

import pytest

from kubeclassic.algorithmprovider.gates import resolved_gates
from kubeclassic.exceptions import PolicyError
from kubeclassic.framework.describe import DECIDING, IDLE
from kubeclassic.framework.releases import FRAMEWORK_RELEASES
from tests.support.refusals import refusal_text

VERSIONS = [f"1.{minor}" for minor in range(27, 37)]
NEWEST = FRAMEWORK_RELEASES["1.34"]
LETTERS = {
    "OpportunisticBatching": "u++",
    "SchedulerAsyncAPICalls": "+--",
    "NominatedNodeNameForExpectation": "-++",
    "InPlacePodVerticalScaling": "+LL",
    "InPlacePodLevelResourcesVerticalScaling": "u-+",
    "NodeDeclaredFeatures": "u-+",
    "TaintTolerationComparisonOperators": "u--",
    "GenericWorkload": "u--",
    "GangScheduling": "u--",
    "WorkloadAwarePreemption": "uu-",
    "DynamicResourceAllocation": "+LL",
    "DRAPrioritizedList": "+++",
    "DRAAdminAccess": "++L",
    "DRADeviceTaints": "--+",
    "DRAExtendedResource": "--+",
    "DRADeviceTaintRules": "u--",
    "DRANodeAllocatableResources": "uu-",
    "VolumeAttributesClass": "++L",
    "MutableCSINodeAllocatableCount": "-+L",
    "VolumeLimitScaling": "u--",
    "CSIMigrationPortworx": "LLu",
}
"""Gate -> a letter for 1.34 to 1.36: u unknown, - off, + on, L locked on."""


@pytest.mark.parametrize("gate", LETTERS)
def test_defaults(gate):
    """A gate has the right default in 1.34 to 1.36."""
    found = [FRAMEWORK_RELEASES[version].gates.get(gate) for version in ("1.34", "1.35", "1.36")]
    assert (
        "".join("u" if one is None else "L" if one.locked else "-+"[one.default] for one in found)
        == LETTERS[gate]
    )


def with_all(release, stages):
    """All gates of *stages* on, but for those that are not modelled."""
    cells = release.configuration
    off = dict.fromkeys(cells.not_modelled, False)
    off |= {name: False for name in cells.gate_needs if not off.keys().isdisjoint(needed_by(release, name))}
    return {**off, **dict.fromkeys(stages.split(), True)}


@pytest.mark.parametrize("version", VERSIONS)
def test_all_of_a_stage(version):
    """AllAlpha and AllBeta exist in each release and set every gate of their stage that is not set itself."""
    release = FRAMEWORK_RELEASES[version]
    settings = {**with_all(release, "AllAlpha"), "CSIVolumeHealth": False}
    on = resolved_gates(release, settings)
    apart = set(settings) - {"AllAlpha"}
    assert not any(on[name] for name in apart)
    assert all(
        on[name] for name, gate in release.gates.items() if gate.stage == "ALPHA" and name not in apart
    )
    assert not any(
        resolved_gates(release, "AllBeta=false")[name]
        for name, gate in release.gates.items()
        if gate.stage == "BETA"
    )


def test_deprecated_gates_have_no_stage_of_their_own():
    """A deprecated gate is left alone by AllAlpha and AllBeta."""
    assert resolved_gates(NEWEST, with_all(NEWEST, "AllAlpha AllBeta"))["KMSv1"] is False
    assert resolved_gates(NEWEST, "KMSv1=true")["KMSv1"]


@pytest.mark.parametrize("release", FRAMEWORK_RELEASES.values(), ids=FRAMEWORK_RELEASES)
def test_what_is_not_modelled(release):
    """A gate whose feature is not modelled is off by default, and to switch it on is refused with what it is
    about."""
    for gate, about in release.configuration.not_modelled.items():
        assert not resolved_gates(release)[gate]
        on = {gate, *needed_by(release, gate)}
        with pytest.raises(
            PolicyError, match=f"{gate}: expected false, got true: {about}: this is not modelled"
        ):
            resolved_gates(release, dict.fromkeys(on, True))


def needed_by(release, gate):
    """The gates that *gate* needs, and those that these need."""
    for name in release.configuration.gate_needs.get(gate, ()):
        yield from (name, *needed_by(release, name))


@pytest.mark.parametrize(
    "gates, on, off",
    [
        (
            "MatchLabelKeysInPodTopologySpread=false",
            "MatchLabelKeysInPodTopologySpreadSelectorMerge",
            "MatchLabelKeysInPodTopologySpread",
        ),
        ("GangScheduling=true", "GangScheduling", "GenericWorkload"),
        (
            "InPlacePodLevelResourcesVerticalScaling=true,PodLevelResources=false",
            "InPlacePodLevelResourcesVerticalScaling",
            "PodLevelResources NodeDeclaredFeatures",
        ),
    ],
)
def test_gates_that_need_gates(gates, on, off):
    """From 1.35 on a gate is refused that is on while one is off that it needs; 1.34 has no such check."""
    text = f"{on} is enabled, but depends on features that are disabled: [{off}]"
    assert refusal_text(PolicyError, resolved_gates, FRAMEWORK_RELEASES["1.35"], gates) == text
    assert not resolved_gates(FRAMEWORK_RELEASES["1.34"], "MatchLabelKeysInPodTopologySpread=false")[
        "MatchLabelKeysInPodTopologySpread"
    ]


@pytest.mark.parametrize("release", FRAMEWORK_RELEASES.values(), ids=FRAMEWORK_RELEASES)
def test_each_gate_that_is_asked_is_spoken_of(release):
    """A gate decides, or changes no answer, or is not modelled: no two of these."""
    assert not set(DECIDING) & set(IDLE)
    assert not set(IDLE) & set(release.configuration.not_modelled)


def test_settled_gates():
    """A gate that is gone because its feature is always there is on; one whose feature is gone is not
    there."""
    found = resolved_gates(NEWEST)
    assert found["MinDomainsInPodTopologySpread"]
    assert found["CSIMigrationGCE"]
    assert "CSIMigrationRBD" not in found


@pytest.mark.parametrize(
    "version, wanted, text",
    [
        ("1.27", "SidecarContainers=true", "unrecognized feature gate: SidecarContainers"),
        ("1.30", "PodLevelResources=true", "unrecognized feature gate: PodLevelResources"),
        (
            "1.32",
            "MinDomainsInPodTopologySpread=true",
            "unrecognized feature gate: MinDomainsInPodTopologySpread",
        ),
        (
            "1.30",
            "MinDomainsInPodTopologySpread=false",
            "cannot set feature gate MinDomainsInPodTopologySpread to false, feature is locked to true",
        ),
        (
            "1.34",
            "SidecarContainers=false",
            "cannot set feature gate SidecarContainers to false, feature is locked to true",
        ),
        (
            "1.33",
            "WatchFromStorageWithoutResourceVersion=true",
            "cannot set feature gate WatchFromStorageWithoutResourceVersion to true, feature is locked to false",
        ),
    ],
)
def test_refused(version, wanted, text):
    """A gate that a release does not know, or has locked, is refused with upstream's text."""
    assert refusal_text(PolicyError, resolved_gates, FRAMEWORK_RELEASES[version], wanted) == text
