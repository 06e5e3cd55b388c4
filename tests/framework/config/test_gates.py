"""Tests of the feature gates of the framework's releases."""

from __future__ import annotations

import pytest

from kubeclassic.algorithmprovider.gates import resolved_gates
from kubeclassic.core.release import Release
from kubeclassic.exceptions import PolicyError
from kubeclassic.framework.describe import DECIDING, IDLE
from kubeclassic.framework.releases import FRAMEWORK_RELEASES
from tests.support.refusals import refusal_text

VERSIONS = [f"1.{minor}" for minor in range(27, 35)]
NEWEST = FRAMEWORK_RELEASES["1.34"]
# Gate -> a letter for each of VERSIONS: u unknown, - off, + on, L locked on.


def with_all(release: Release, stages: str) -> dict[str, bool]:
    """All gates of *stages* on, but for those that are not modelled."""
    off = dict.fromkeys(release.configuration.not_modelled, False)
    return {**off, **dict.fromkeys(stages.split(), True)}


@pytest.mark.parametrize("version", VERSIONS)
def test_all_of_a_stage(version: str) -> None:
    """AllAlpha and AllBeta exist in each release and set every gate of their stage that is not set itself."""
    release = FRAMEWORK_RELEASES[version]
    apart = {"CSIVolumeHealth", *release.configuration.not_modelled}
    on = resolved_gates(release, {**with_all(release, "AllAlpha"), "CSIVolumeHealth": False})
    assert not any(on[name] for name in apart)
    assert all(on[name] for name, gate in release.gates.items() if gate.stage == "ALPHA" and name not in apart)
    assert not any(resolved_gates(release, "AllBeta=false")[name] for name, gate in release.gates.items() if gate.stage == "BETA")


def test_deprecated_gates_have_no_stage_of_their_own() -> None:
    """A deprecated gate is left alone by AllAlpha and AllBeta."""
    assert resolved_gates(NEWEST, with_all(NEWEST, "AllAlpha AllBeta"))["KMSv1"] is False
    assert resolved_gates(NEWEST, "KMSv1=true")["KMSv1"]


@pytest.mark.parametrize("release", FRAMEWORK_RELEASES.values(), ids=FRAMEWORK_RELEASES)
def test_what_is_not_modelled(release: Release) -> None:
    """A gate whose feature is not modelled is off by default, and to switch it on is refused with what it is about."""
    for gate, about in release.configuration.not_modelled.items():
        assert not resolved_gates(release)[gate]
        with pytest.raises(PolicyError, match=f"{gate}: got true, wanted false: {about}: this is not modelled"):
            resolved_gates(release, {gate: True})


@pytest.mark.parametrize("release", FRAMEWORK_RELEASES.values(), ids=FRAMEWORK_RELEASES)
def test_each_gate_that_is_asked_is_spoken_of(release: Release) -> None:
    """A gate decides, or changes no answer, or is not modelled: no two of these."""
    assert not set(DECIDING) & set(IDLE)
    assert not set(IDLE) & set(release.configuration.not_modelled)


def test_settled_gates() -> None:
    """A gate that is gone because its feature is always there is on; one whose feature is gone is not there."""
    found = resolved_gates(NEWEST)
    assert found["MinDomainsInPodTopologySpread"]
    assert found["CSIMigrationGCE"]
    assert "CSIMigrationRBD" not in found


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
    assert refusal_text(PolicyError, resolved_gates, FRAMEWORK_RELEASES[version], wanted) == text
