"""Policies of 1.17 to 1.22 as profiles of later releases."""

import pytest
import yaml

from kubeclassic.algorithmprovider.config import AlgorithmConfiguration
from kubeclassic.algorithmprovider.policy import read_policy
from kubeclassic.exceptions import UnknownNameError
from kubeclassic.framework.config.configuration import read_configuration
from kubeclassic.framework.migrate.profiles import carried, migrate_profile, running
from kubeclassic.framework.profile import build_profiles
from kubeclassic.framework.registry import registry_of
from kubeclassic.framework.releases import FRAMEWORK_RELEASES
from kubeclassic.questions.migrate.ask import migrate

HEAD = {"kind": "Policy", "apiVersion": "v1"}
LABELS = yaml.safe_load("{labelsPresence: {labels: [disk], presence: true}}")


def migrated(release="1.20", target="1.34", **policy):
    """The profile for *target*, which accepts it."""
    wanted = FRAMEWORK_RELEASES[target]
    given = running(read_policy({**HEAD, **policy}), FRAMEWORK_RELEASES[release], AlgorithmConfiguration())
    found = migrate_profile(given, wanted)
    assert build_profiles(read_configuration(found.document, release=wanted), registry_of(wanted))
    return found


def weights(found):
    """Score plugin -> weight."""
    return {
        plugin["name"]: plugin["weight"]
        for plugin in found.document["profiles"][0]["plugins"]["score"]["enabled"]
    }


def args(found, plugin):
    """The arguments of a plugin in the result."""
    config = found.document["profiles"][0].get("pluginConfig", [])
    return next((entry["args"] for entry in config if entry["name"] == plugin), {})


def told(found, subject):
    """The notes about a plugin."""
    return " ".join(note.text for note in found.notes if note.subject == subject)


@pytest.mark.parametrize("target", [name for name in FRAMEWORK_RELEASES if name >= "1.23"])
@pytest.mark.parametrize("release", ["1.17", "1.20", "1.22"])
def test_each_release_takes_the_defaults(release, target):
    """A Policy without lists becomes a profile that every later release accepts."""
    found = migrated(release, target)
    assert weights(found)["NodeResourcesFit"] == 1
    assert "left out" in told(found, "NodePreferAvoidPods")


@pytest.mark.parametrize(
    "priority, strategy",
    [("MostRequestedPriority", "MostAllocated"), ("LeastRequestedPriority", "LeastAllocated")],
)
def test_plugins_become_strategies(priority, strategy):
    """A plugin that scores allocation is a strategy of NodeResourcesFit, with its weight."""
    found = migrated(priorities=[{"name": priority, "weight": 4}])
    assert weights(found) == {"NodeResourcesFit": 4}
    assert args(found, "NodeResourcesFit")["scoringStrategy"]["type"] == strategy


def test_shapes_are_kept():
    """RequestedToCapacityRatio keeps its line; a second strategy has no place."""
    ratio = yaml.safe_load("""
        shape:
        - {utilization: 0, score: 0}
        - {utilization: 100, score: 7}
        resources:
        - {name: cpu, weight: 3}
        """)
    rules = [
        {"name": "R", "weight": 2, "argument": {"requestedToCapacityRatioArguments": ratio}},
        {"name": "LeastRequestedPriority", "weight": 1},
    ]
    found = migrated(priorities=rules[:1])
    strategy = args(found, "NodeResourcesFit")["scoringStrategy"]
    assert strategy["requestedToCapacityRatio"]["shape"] == ratio["shape"]
    assert strategy["resources"] == ratio["resources"]
    assert "one scoring strategy" in told(migrated(priorities=rules), "RequestedToCapacityRatio")


def test_labels_become_added_affinity():
    """NodeLabel's filter is required node affinity of all pods; services are left to pods themselves."""
    rules = [
        {"name": "disk", "argument": LABELS},
        yaml.safe_load("{name: zone, argument: {serviceAffinity: {labels: [zone]}}}"),
    ]
    found = migrated(predicates=rules)
    required = args(found, "NodeAffinity")["addedAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert required == yaml.safe_load(
        "{nodeSelectorTerms: [{matchExpressions: [{key: disk, operator: Exists}]}]}"
    )
    assert "required podAffinity" in told(found, "ServiceAffinity")


@pytest.mark.parametrize(
    "release, plugin", [("1.19", "SelectorSpread"), ("1.18", "DefaultPodTopologySpread")]
)
def test_old_spreading(release, plugin):
    """Old spreading becomes the System default constraints, and its weight that of PodTopologySpread."""
    found = migrated(release, priorities=[{"name": "SelectorSpreadPriority", "weight": 5}])
    assert weights(found) == {"PodTopologySpread": 5}
    assert "another formula" in told(found, plugin)


def test_what_else_is_told():
    """Reasons of all plugins, preemption that was not there, and the weight of required affinity."""
    rules = [{"name": "InterPodAffinityPriority", "weight": 1}]
    found = migrated(
        "1.19", alwaysCheckAllPredicates=True, hardPodAffinitySymmetricWeight=7, priorities=rules
    )
    assert "left out" in told(found, "alwaysCheckAllPredicates")
    assert "does not preempt under a Policy" in told(found, "DefaultPreemption")
    assert args(found, "InterPodAffinity") == {"hardPodAffinityWeight": 7}


def test_the_question_takes_these_releases():
    """A release with plugins is translated so; points of the other translation mean nothing there."""
    found = migrate(
        {**HEAD, "priorities": [{"name": "MostRequestedPriority", "weight": 1}]}, "1.21", to="1.24"
    )
    assert found.profile["apiVersion"].endswith("/v1beta3")
    with pytest.raises(UnknownNameError, match="this release runs plugins already"):
        migrate(HEAD, "1.21", selector_spread=True)
    with pytest.raises(UnknownNameError, match=r"to: expected 1\.18, .*, got 1\.17"):
        migrate(HEAD, "1.16", to="1.17")
    assert migrate(HEAD, "1.16", to="1.21").profile["apiVersion"].endswith("/v1beta1")
    with pytest.raises(UnknownNameError, match=r"for a profile of 1\.21, whose own translation is taken"):
        migrate(HEAD, "1.16", to="1.21", selector_spread=True)


@pytest.mark.parametrize("first, weight", [("1.21", 1), ("1.22", 5)])
def test_the_weight_of_the_last_point(first, weight):
    """Up to 1.21 a plugin has the weight that the last extension point says which names it."""
    points = {
        "score": {"enabled": [{"name": "VolumeBinding", "weight": 5}]},
        "preBind": {"enabled": [{"name": "VolumeBinding"}], "disabled": [{"name": "*"}]},
    }
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1beta1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"plugins": points}],
    }
    found = carried(document, FRAMEWORK_RELEASES[first], FRAMEWORK_RELEASES["1.27"])
    scores = found.document["profiles"][0]["plugins"]["score"]["enabled"]
    assert {"name": "VolumeBinding", "weight": weight} in scores
