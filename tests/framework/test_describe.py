"""Descriptions of releases and of the differences between two, with the tables of successors."""

import pytest

from kubeclassic.algorithmprovider.catalogue import CATALOGUE
from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.core.release.fact import rule_facts
from kubeclassic.exceptions import UnknownNameError
from kubeclassic.framework.describe import (
    ReleaseDifference,
    describe_any,
    diff_any,
    gate_words,
    points_of,
    weights,
)
from kubeclassic.framework.registry import registry_of
from kubeclassic.framework.releases import ALL_RELEASES, DEFAULT_FRAMEWORK, FRAMEWORK_RELEASES

RULES = rule_facts()


# --- Correspondences ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", RELEASES)
def test_each_rule_has_a_successor_or_none(release):
    """Each predicate and priority of a release is told of, once, with words."""
    found = diff_any(release, DEFAULT_FRAMEWORK).successors
    described = describe_any(release)
    rules = [successor.rule for successor in found if successor.kind in ("predicate", "priority")]
    assert sorted(rules) == sorted([*described.predicates, *described.priorities])
    assert all(successor.words and successor.words[0] != " " for successor in found)


def test_each_default_plugin_is_somebody_s_successor():
    """Each default plugin took the place of a rule, or of what was built in, or is new."""
    assert set(weights(ALL_RELEASES[DEFAULT_FRAMEWORK])) <= {
        plugin for rule in RULES.values() for plugin in rule.plugins
    }


def test_each_rule_of_the_catalogue_is_entered():
    """The facts of rules know each predicate and priority that there is."""
    assert RULES.keys() >= {*CATALOGUE.predicates, *CATALOGUE.priorities}


@pytest.mark.parametrize("plugins", [rule.plugins for rule in RULES.values() if rule.kind == "predicate"])
def test_the_plugins_filter(plugins):
    """The successors of a predicate filter."""
    assert all("filter" in points_of(plugin) for plugin in plugins)


@pytest.mark.parametrize(
    "plugins", [rule.plugins for rule in RULES.values() if rule.kind in ("priority", "argument")]
)
def test_the_plugins_score(plugins):
    """The successors of a priority score."""
    assert all("score" in points_of(plugin) for plugin in plugins)


# --- Middle -------------------------------------------------------------------------------------------------

# The releases that run plugins and still read a Policy.


@pytest.mark.parametrize(
    "release, rule, plugins, after",
    [
        ("1.17", "SelectorSpreadPriority", ["DefaultPodTopologySpread"], "default, weight 1"),
        ("1.19", "SelectorSpreadPriority", ["SelectorSpread"], "default, weight 1"),
        ("1.20", "SelectorSpreadPriority", ["PodTopologySpread"], "default, weight 2"),
        ("1.17", "ServiceSpreadingPriority", ["ServiceSpreadingPriority"], "named by a profile"),
        ("1.18", "ServiceSpreadingPriority", ["DefaultPodTopologySpread"], "default, weight 1"),
        ("1.21", "LeastRequestedPriority", ["NodeResourcesLeastAllocated"], "default, weight 1"),
        ("1.22", "LeastRequestedPriority", ["NodeResourcesFit"], "default, weight 1"),
        ("1.23", "MostRequestedPriority", ["NodeResourcesFit"], "by an argument of the plugin"),
        ("1.22", "MostRequestedPriority", ["NodeResourcesMostAllocated"], "named by a profile"),
        ("1.22", "CheckServiceAffinity", ["ServiceAffinity"], "named by a profile"),
        ("1.23", "CheckServiceAffinity", [], None),
        ("1.18", "ResourceLimitsPriority", ["NodeResourceLimits"], "named by a profile"),
        ("1.19", "ResourceLimitsPriority", [], None),
        ("1.17", "PodFitsPorts", [], None),
        ("1.22", "labelPreference", ["NodeLabel"], "by an argument of the plugin"),
    ],
)
def test_successors(release, rule, plugins, after):
    """The successor of a rule is the plugin that the release makes of it in a Policy, or runs by default."""
    (found,) = [one for one in diff_any("1.16", release).successors if one.rule == rule]
    assert ([one.plugin for one in found.plugins], found.after) == (plugins, after)


def test_words_are_facts():
    """The differences are the changes of each release up to the newer one."""
    words = {one.rule: one.words for one in diff_any("1.16", "1.19").successors}
    assert words["ImageLocalityPriority"].startswith("1.19: images are worth up to")
    assert words["TaintTolerationPriority"] == "the same, on a scale to 100"
    assert "1.20" not in " ".join(words.values())


def test_between_two_of_them():
    """Plugins and gates differ by the release's own; a gate is shown while it can be switched."""
    found = {
        (item.about, item.what): (item.before, item.after) for item in diff_any("1.20", "1.27").differences
    }
    assert found["plugins", "TaintToleration"] == ("default, weight 1", "default, weight 3")
    assert found["plugins", "NodeResourcesLeastAllocated"] == ("default, weight 1", None)
    assert found["plugins", "NodeResourcesFit"] == ("default", "default, weight 1")
    assert found["gates", "DefaultPodTopologySpread"] == ("on, BETA", None)
    assert "CSIStorageCapacity" not in describe_any("1.24").gates


# --- Diff ---------------------------------------------------------------------------------------------------


def test_gates_and_plugins_of_the_framework():
    """Between releases of the framework plugins differ by how they run, gates by what they decide; a
    settled gate is always on."""
    found = {(item.about, item.what): item for item in diff_any("1.27", "1.34").differences}
    assert found["plugins", "EBSLimits"] == ReleaseDifference("plugins", "EBSLimits", None, "default", None)
    gate = found["gates", "MinDomainsInPodTopologySpread"]
    assert (gate.before, gate.after, gate.words) == (
        "on, BETA",
        "gone, always on",
        "whether minDomains of spread constraints counts",
    )
    assert found["gates", "CSIMigrationRBD"].after is None
    assert found["gates", "DRADeviceTaints"].after == "off, ALPHA, not modelled"


def test_plugins_that_are_no_defaults_any_more():
    """A plugin that a release dropped from its defaults can still be named by a profile."""
    found = [item for item in diff_any("1.30", "1.31").differences if item.about == "plugins"]
    assert {(item.what, item.before, item.after) for item in found} == {
        (name, "default", "named by a profile") for name in ("EBSLimits", "GCEPDLimits", "AzureDiskLimits")
    }


@pytest.mark.parametrize("newer", FRAMEWORK_RELEASES)
def test_successors_exist(newer):
    """The successor of a rule in a framework release is a plugin that it has; if it is gone, the words say
    so."""
    registered = registry_of(FRAMEWORK_RELEASES[newer])
    successors = diff_any("1.16", newer).successors
    assert successors
    for successor in successors:
        assert {one.plugin for one in successor.plugins} <= set(registered)
        assert (successor.after is None) == (not successor.plugins)
        assert successor.words.startswith("gone") or successor.plugins


def test_gates_that_decide_have_words():
    """A gate that is shown says what it decides."""
    shown = {name for release in FRAMEWORK_RELEASES for name in describe_any(release).gates}
    assert [name for name in shown if not gate_words(name)] == []


def test_an_unknown_release():
    """A release that there is not is refused, with those that there are."""
    with pytest.raises(UnknownNameError, match=r"expected 1\.12 to 1\.36"):
        describe_any("1.37")
