"""The lab runs every release: it writes what was moved in the version of the configuration that the release reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubeclassic.framework.options import options_of
from kubeclassic.framework.releases import FRAMEWORK_RELEASES
from kubeclassic.framework.schedulerspec import SchedulerSpec
from kubeclassic.questions.lab.labconfiguration import LabError
from kubeclassic.questions.lab.session import rules_file, session_of
from kubeclassic.simulation.scenario import Files
from tests.conftest import ROOT
from tests.support.labbuild import EXAMPLE, by_function, fates, session, simulated

MOVES = (
    {"do": "weight", "rule": "ImageLocality", "weight": 50}, {"do": "weight", "rule": "TaintToleration", "weight": 0},
    {"do": "switch", "rule": "TaintToleration", "on": False}, {"do": "set", "name": "hardPodAffinityWeight", "value": 50},
    {"do": "set", "name": "percentage", "value": 60},
)  # fmt: skip
V1 = ROOT / "examples" / "profiles" / "two-profiles.yaml"


@pytest.mark.parametrize("release", [release for release in FRAMEWORK_RELEASES if release != "1.17"])
def test_what_is_moved_counts(release: str) -> None:
    """Weights, a rule that is off, the weight of affinity and the percentage count as a new scheduler with the saved profile has them."""
    found = session(release=release)
    for move in MOVES:
        found.do(dict(move))
    configuration = found.state.configuration
    profile = next(iter(configuration.spec().engine().profiles.values()))
    assert {rule.name: weight for rule, weight in profile.algorithm.priorities}["ImageLocality"] == 50
    assert "TaintToleration" not in [rule.name for rule in profile.algorithm.predicates]
    assert "TaintToleration" not in [rule.name for rule, _ in profile.algorithm.priorities]
    version = configuration.saved()["apiVersion"].rpartition("/")[2]
    assert version == FRAMEWORK_RELEASES[release].configuration.default_version
    assert fates(found) == simulated(found) == by_function(found)


def test_1_17_moves_no_rule() -> None:
    """A configuration of 1.17 only adds plugins: a rule cannot be moved there, and what was moved before falls away."""
    found = session(release="1.17")
    for move in MOVES[:3]:
        with pytest.raises(LabError, match=r"1\.17 runs its default plugins as they are"):
            found.do(dict(move))
    other = session(release="1.18")
    other.do(dict(MOVES[0]))
    other.do({"do": "release", "value": "1.17"})
    assert fates(other) == fates(found)


@pytest.mark.parametrize("release", ["1.20", "1.24"])
def test_a_rule_goes_off_and_on_again(release: str) -> None:
    """A rule that is switched off and on again is as it was."""
    found = session(release=release)
    before = fates(found)
    for on in (False, True):
        found.do({"do": "switch", "rule": "TaintToleration", "on": on})
    assert fates(found) == before


@pytest.mark.parametrize("release", ["1.15", "1.18", "1.21", "1.27"])
def test_rules_can_be_loaded_again(release: str) -> None:
    """The saved Policy or profile, loaded in another session, gives the same placement, and can be moved on."""
    found, other = session(release=release), session(release=release)
    rules = [rule["name"] for rule in found.record()["scorers"][:3]]
    for rule in rules:
        found.do({"do": "weight", "rule": rule, "weight": 9})
    name, _, text = rules_file(found.state.configuration)
    other.do({"do": "load", "name": name, "text": text})
    assert fates(other) == fates(found)
    for one in (found, other):
        one.do({"do": "weight", "rule": rules[0], "weight": 0})
    assert fates(other) == fates(found)


def test_a_profile_that_a_release_does_not_read() -> None:
    """A profile of v1 cannot be loaded in 1.20, and on the way there the default profile takes its place."""
    found = session(release="1.20")
    with pytest.raises(LabError, match=r"release 1\.20 wants a configuration of v1beta1"):
        found.do({"do": "load", "name": "v1.yaml", "text": V1.read_text()})
    newer = session(release="1.27")
    newer.do({"do": "load", "name": "v1.yaml", "text": V1.read_text()})
    newer.do({"do": "release", "value": "1.20"})
    assert fates(newer) == fates(found)


def test_a_policy_is_not_dropped_in_silence(tmp_path: Path) -> None:
    """1.17 to 1.22 read Policies, which the lab runs up to 1.16 only: it says what makes a profile of one."""
    file = tmp_path / "policy.json"
    file.write_text('{"kind": "Policy", "apiVersion": "v1"}')
    options = options_of({"release": "1.20", "policy": file})
    with pytest.raises(LabError, match=r"policy: release 1\.20 runs a profile in the lab, which `kubeclassic policy migrate` makes"):
        session_of(options, SchedulerSpec.of(options).read(), Files.read([EXAMPLE]))
