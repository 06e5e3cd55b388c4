"""Policies as the profiles that 1.18 to 1.22 make of them."""

import json
from pathlib import Path

import pytest
import yaml

from kubeclassic.algorithmprovider.config import AlgorithmConfiguration
from kubeclassic.algorithmprovider.policy import read_policy
from kubeclassic.framework.config.configuration import read_configuration
from kubeclassic.framework.migrate.frompolicy import listed
from kubeclassic.framework.migrate.profiles import LISTING, running
from kubeclassic.framework.profile import build_profiles
from kubeclassic.framework.registry import registry_of
from tests.support.manifests import policy_of

POLICIES = Path(__file__).parents[3] / "examples" / "policies"
SHAPE = yaml.safe_load("[{utilization: 0, score: 0}, {utilization: 100, score: 7}]")
GIVEN = {
    "predicates": yaml.safe_load("""
        - {name: PodFitsResources}
        - {name: NoDiskConflict}
        - name: NoDisk
          argument:
            labelsPresence:
              labels: [disk]
              presence: false
        """),
    "priorities": [
        {"name": "MostRequestedPriority", "weight": 2},
        {"name": "InterPodAffinityPriority", "weight": 3},
        {"name": "SelectorSpreadPriority", "weight": 5},
        yaml.safe_load("{name: Liked, weight: 4, argument: {labelPreference: {label: x, presence: true}}}"),
        yaml.safe_load("{name: Spread, weight: 1, argument: {serviceAntiAffinity: {label: zone}}}"),
        {
            "name": "Ratio",
            "weight": 2,
            "argument": {
                "requestedToCapacityRatioArguments": {
                    "shape": SHAPE,
                    "resources": [{"name": "cpu", "weight": 3}],
                }
            },
        },
    ],
    "hardPodAffinitySymmetricWeight": 7,
}


def runs(config):
    """The deciding parts: the plugins of each point in order, weights and arguments."""
    (built,) = build_profiles(config, registry_of(config.release)).values()
    args = {name: config.profiles[0].args_of(name, config.context) for name in built.plugins()}
    points = {point: [plugin.name for plugin in plugins] for point, plugins in built.points.items()}
    return {"points": points, "weights": dict(built.weights), "args": args, "percentage": built.percentage}


@pytest.mark.parametrize("version", LISTING)
def test_extenders_are_as_the_version_writes_them(version):
    """A release reads all fields of an extender back as the Policy has them: v1alpha2 spells two of them as a
    Policy does."""
    extender = {
        "urlPrefix": "https://a",
        "filterVerb": "f",
        "bindVerb": "b",
        "weight": 2,
        "enableHttps": True,
        "httpTimeout": 1_500_000_000,
        "nodeCacheCapable": True,
        "ignorable": True,
        "managedResources": [{"name": "x/y", "ignoredByScheduler": True}],
        "tlsConfig": {"insecure": True, "serverName": "n"},
    }
    written = read_policy(policy_of(extenders=[extender]))
    document = listed(written, AlgorithmConfiguration(), LISTING[version]).document
    assert read_configuration(document, None, LISTING[version]).extenders == tuple(written.extenders)
    assert type(document["extenders"][0]["httpTimeout"]) is (
        int if document["apiVersion"].endswith("v1alpha2") else str
    )


@pytest.mark.parametrize("version", LISTING)
@pytest.mark.parametrize(
    "policy",
    [{}, GIVEN, *(json.loads((POLICIES / name).read_text()) for name in ("kubernetes-classic.json",))],
    ids=["none", "rules", "file"],
)
def test_it_runs_as_the_policy_does(version, policy):
    """A release runs of the profile what it runs of the Policy."""
    target = LISTING[version]
    written = read_policy(policy_of(**policy))
    found = listed(written, AlgorithmConfiguration(), target)
    made = runs(running(written, target, AlgorithmConfiguration()))
    read = runs(read_configuration(found.document, None, target))
    assert {
        name: args
        for name, args in read["args"].items()
        if args != made["args"][name] and made["args"][name] is not None
    } == {}
    assert {**read, "args": ()} == {**made, "args": ()}


def test_the_version_takes_the_plugins():
    """In 1.22 plugins that v1beta2 refuses make it a profile of v1beta1."""
    target = LISTING["1.22"]
    for rule, version in (("NodeAffinityPriority", "v1beta2"), ("MostRequestedPriority", "v1beta1")):
        policy = read_policy(
            {"priorities": [{"name": rule, "weight": 1}], "kind": "Policy", "apiVersion": "v1"}
        )
        assert listed(policy, AlgorithmConfiguration(), target).document["apiVersion"].endswith(f"/{version}")


def test_what_a_profile_cannot_say():
    """alwaysCheckAllPredicates is left out with a note, and a ratio without resources gets the usual ones."""
    ratio = {
        "name": "Ratio",
        "weight": 2,
        "argument": {"requestedToCapacityRatioArguments": {"shape": SHAPE}},
    }
    policy = read_policy(policy_of(alwaysCheckAllPredicates=True, priorities=[ratio]))
    notes = listed(policy, AlgorithmConfiguration(), LISTING["1.20"]).notes
    assert [note.subject for note in notes] == ["alwaysCheckAllPredicates", "RequestedToCapacityRatio"]
