"""The plugins that 1.17 to 1.22 make of a Policy, and of a provider's name."""

import pytest
import yaml

from kubeclassic.algorithmprovider.policy import read_policy
from kubeclassic.exceptions import KubeclassicError, PolicyError, UnknownNameError
from kubeclassic.framework.options import options_of
from kubeclassic.framework.policy import (
    check_translated,
    configuration_of_policy,
    configuration_of_provider,
    release_with_policies,
)
from kubeclassic.framework.profile import build_profiles
from kubeclassic.framework.registry import registry_of
from kubeclassic.framework.releases import FRAMEWORK_RELEASES
from kubeclassic.framework.schedulerspec import SchedulerSpec
from tests.support.refusals import refusal_text

HEAD = {"kind": "Policy", "apiVersion": "v1"}
WITH_POLICIES = ("1.17", "1.18", "1.19", "1.20", "1.21", "1.22")
PRESENCE = yaml.safe_load("{labelsPresence: {labels: [disk], presence: true}}")

NO_POLICY = "policy: expected a profile, which `kubeclassic policy migrate` makes of a Policy"


def translated(release, gates="", **policy):
    """The profile that *release* makes of the Policy."""
    given = read_policy({**HEAD, **policy})
    return configuration_of_policy(given, FRAMEWORK_RELEASES[release], gates=gates)


def filters(config):
    """The plugins at an extension point."""
    return [plugin.name for plugin in config.profiles[0].plugins["filter"].enabled]


def weights(config):
    """Score plugin -> weight."""
    return {plugin.name: plugin.weight for plugin in config.profiles[0].plugins["score"].enabled}


def refusal(release, **policy):
    """The error with which *release* refuses the Policy."""
    registry = registry_of(FRAMEWORK_RELEASES[release])
    return refusal_text(PolicyError, lambda: build_profiles(translated(release, **policy), registry))


def named(*rules):
    return [{"name": rule} for rule in rules]


def weighed(**rules):
    return [{"name": rule, "weight": weight} for rule, weight in rules.items()]


def test_a_plugin_of_two_rules():
    """A plugin of two rules runs once from 1.20 on; before, the Policy is refused, and 1.17 has no PreFilter
    to refuse it first."""
    twice = named("GeneralPredicates", "HostName")
    assert filters(translated("1.20", predicates=twice)).count("NodeName") == 1
    assert refusal("1.19", predicates=twice).endswith(
        'default-scheduler: plugin "NodeName" already registered as "FilterPlugin"'
    )
    expected = (
        'error initializing the scheduling framework: plugin "NodeName" already registered as "FilterPlugin"'
    )
    assert refusal("1.17", predicates=twice) == expected


def test_weights_are_cut_to_32_bits():
    """One that becomes negative makes those after it too high; 1.17 looks at them before they are cut."""
    huge = weighed(BalancedResourceAllocation=5 * 10**17, NodeAffinityPriority=1)
    assert weights(translated("1.22", priorities=huge))["NodeResourcesBalancedAllocation"] == -743309312
    assert refusal("1.22", priorities=huge).endswith("total score of Score plugins could overflow")
    assert refusal("1.17", priorities=huge) == "total priority of priority functions has overflown"


@pytest.mark.parametrize("release, labels", [("1.18", ()), ("1.17", ("disk",))])
def test_an_argument_under_the_name_of_a_rule(release, labels):
    """An argument under the name of a rule counts in 1.17 and is lost from 1.18 on. In 1.22 the plugin then
    refuses to work."""
    rules = [{"name": "CheckNodeLabelPresence", "argument": PRESENCE}]
    found = translated(release, predicates=rules)
    assert found.profiles[0].args_of("NodeLabel", found.context).present_labels == labels
    assert refusal("1.22", predicates=rules).endswith(
        'plugin "NodeLabel": want args to be of type NodeLabelArgs, got <nil>'
    )


@pytest.mark.parametrize("release, weight", [("1.19", 0), ("1.18", 1)])
def test_resources_without_weight(release, weight):
    """Resources without weight have weight 1 in 1.18, and are refused later."""
    ratio = yaml.safe_load("{shape: [{utilization: 0, score: 0}], resources: [{name: cpu}]}")
    rules = [{"name": "r", "weight": 1, "argument": {"requestedToCapacityRatioArguments": ratio}}]
    found = translated(release, priorities=rules)
    assert found.profiles[0].args_of("RequestedToCapacityRatio", found.context).resources[0].weight == weight
    assert refusal("1.19", priorities=rules).endswith(
        'error initializing plugin "RequestedToCapacityRatio": resource cpu weight 0 must not be less than 1'
    )
    assert refusal("1.21", priorities=rules).endswith(
        "resources[0].weight: Invalid value: 0: resource weight of cpu not in valid range [1, inf)"
    )


def test_scaled_scores_are_checked():
    """1.18 checks the scores of a shape once they are scaled, and no weights of resources."""
    ratio = yaml.safe_load("{shape: [{utilization: 0, score: 11}], resources: [{name: cpu, weight: -1}]}")
    rules = [{"name": "r", "weight": 1, "argument": {"requestedToCapacityRatioArguments": ratio}}]
    assert refusal("1.18", priorities=rules).endswith(
        'plugin "RequestedToCapacityRatio": score values not be greater than 100. Score[0]==110'
    )
    ratio["shape"][0]["score"] = 10
    assert translated("1.18", priorities=rules)


# --- Refusals -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "release, text",
    [
        ("1.22", 'predicate type not found for "X"'),
        ("1.20", 'Invalid configuration: Predicate type not found for "X"'),
        ("1.17", "Invalid configuration: Predicate type not found for X"),
    ],
)
def test_unknown_rules(release, text):
    """The names that are not known, as each release says it."""
    assert refusal(release, predicates=named("X")) == text
    assert refusal(release, priorities=weighed(X=1)) == text.replace("redicate", "riority")


def test_gates_of_rules():
    """EvenPodsSpread is a rule in 1.18, but in 1.17 with its gate alone."""
    rules = named("EvenPodsSpread")
    assert "PodTopologySpread" in filters(translated("1.18", predicates=rules))
    assert refusal("1.17", predicates=rules).endswith("Predicate type not found for EvenPodsSpread")
    assert "PodTopologySpread" in filters(translated("1.17", "EvenPodsSpread=true", predicates=rules))


@pytest.mark.parametrize(
    "release, policy, text",
    [
        (
            "1.22",
            {"hardPodAffinitySymmetricWeight": 101},
            "hardPodAffinitySymmetricWeight: Invalid value: 101: not in valid range [0-100]",
        ),
        (
            "1.17",
            {"hardPodAffinitySymmetricWeight": 101},
            "invalid hardPodAffinitySymmetricWeight: 101, must be in the range 1-100",
        ),
        (
            "1.20",
            {"priorities": weighed(X=0)},
            "priority X should have a positive weight applied to it or it has overflown",
        ),
        (
            "1.19",
            {"priorities": weighed(X=0)},
            "Priority X should have a positive weight applied to it or it has overflown",
        ),
        (
            "1.19",
            yaml.safe_load("{priorities: [{name: X, weight: 1, argument: {}}]}"),
            "No priority arguments set for priority X",
        ),
        (
            "1.22",
            {"predicates": [{"name": "X", "argument": {**PRESENCE, "serviceAffinity": {"labels": ["a"]}}}]},
            "exactly 1 predicate argument is required, numArgs: 2, predicate {X 0x0}",
        ),
        (
            "1.20",
            {"predicates": [{"name": "X", "argument": {**PRESENCE, "serviceAffinity": {"labels": ["a"]}}}]},
            "Exactly 1 predicate argument is required, numArgs: 2, Predicate: X",
        ),
    ],
)
def test_validation(release, policy, text):
    """Faults in weights and arguments are refused."""
    assert refusal(release, **policy) == text


def test_weights_of_one_kind():
    """Label preferences share a plugin, so they have one weight; a second ratio is refused."""
    prefer = [{"name": f"p{i}", "weight": i, "argument": {"labelPreference": {"label": "a"}}} for i in (1, 2)]
    assert (
        refusal("1.20", priorities=prefer)
        == 'LabelPreference  priority "p2" has a different weight with "p1"'
    )
    ratio = yaml.safe_load("{requestedToCapacityRatioArguments: {shape: [{utilization: 0, score: 0}]}}")
    twice = [{"name": name, "weight": 1, "argument": ratio} for name in ("a", "b")]
    assert (
        refusal("1.19", priorities=twice)
        == 'Priority "b" redeclares custom priority "RequestedToCapacityRatio", from:"a"'
    )


def test_labels_that_exclude_each_other():
    """A label both present and absent is refused by the plugin, with the field's path from 1.21 on."""
    absent = yaml.safe_load("{labelsPresence: {labels: [disk], presence: false}}")
    rules = [{"name": "a", "argument": PRESENCE}, {"name": "b", "argument": absent}]
    assert refusal("1.21", predicates=rules).endswith(
        'presentLabels[0]: Invalid value: "disk": conflict with absentLabels[0]'
    )
    assert 'detecting at least one label (e.g., "disk") that exist in both the present([disk])' in refusal(
        "1.20", predicates=rules
    )


@pytest.mark.parametrize("release", WITH_POLICIES[:-1])
def test_the_autoscalers(release):
    """The autoscaler's provider packs nodes, where the default one spreads pods."""
    found = configuration_of_provider(
        "ClusterAutoscalerProvider", FRAMEWORK_RELEASES[release], hard_pod_affinity_weight=7
    )
    assert "NodeResourcesMostAllocated" in weights(found)
    assert "NodeResourcesLeastAllocated" not in weights(found)
    assert found.profiles[0].args_of("InterPodAffinity", found.context).hard_pod_affinity_weight == 7


def test_what_is_refused():
    """A provider that does not exist, and in 1.17 an affinity weight of 0."""
    with pytest.raises(PolicyError, match='algorithm provider "X" is not registered'):
        configuration_of_provider("X", FRAMEWORK_RELEASES["1.20"])
    with pytest.raises(
        PolicyError, match="invalid hardPodAffinitySymmetricWeight: 0, must be in the range 1-100"
    ):
        configuration_of_provider("DefaultProvider", FRAMEWORK_RELEASES["1.17"], hard_pod_affinity_weight=0)
    assert configuration_of_provider(
        "DefaultProvider", FRAMEWORK_RELEASES["1.18"], hard_pod_affinity_weight=0
    )


@pytest.mark.parametrize("release", WITH_POLICIES)
def test_a_policy_makes_the_profile(release, root):
    """From its JSON form or its file."""
    rules = {**HEAD, "predicates": named("PodFitsResources"), "priorities": weighed(MostRequestedPriority=1)}
    engine = SchedulerSpec.of(options_of({"release": release, "policy": rules})).read().engine()
    assert [rule.name for rule, _ in engine.algorithm.priorities] == ["NodeResourcesMostAllocated"]


@pytest.mark.parametrize(
    "options, message",
    [
        ({"release": "1.23", "policy": {}}, f"{NO_POLICY}, got one, which release 1.23 does not have"),
        (
            {"release": "1.22", "provider": "DefaultProvider"},
            "provider: expected a profile, got DefaultProvider, which release 1.22",
        ),
        (
            {"release": "1.20", "policy": {}, "profile": {}},
            "policy cannot be combined with profile: release 1.20 is started with one",
        ),
        (
            {"release": "1.20", "policy": {**HEAD, "predicates": named("X")}},
            "Invalid configuration: Predicate type not found",
        ),
    ],
)
def test_what_does_not_go_together(options, message):
    """Options that the release lacks, or that exclude each other, are refused in one line."""
    assert refusal_text(
        KubeclassicError, lambda: SchedulerSpec.of(options_of(options)).read().engine()
    ).startswith(message)


# --- Check --------------------------------------------------------------------------------------------------


def test_what_runs():
    """The plugins are shown with the predicates that bring them."""
    found = check_translated(
        {**HEAD, "predicates": named("HostName"), "priorities": []}, FRAMEWORK_RELEASES["1.20"]
    )
    assert [(rule.name, rule.origin) for rule in found.predicates] == [
        ("NodeUnschedulable", "mandatory"),
        ("NodeName", "Policy: HostName"),
        ("TaintToleration", "mandatory"),
    ]
    assert found.warnings == (
        "plugin NodeResourcesFit does not run: nothing checks what pods request",
        "no priorities and no extenders: every node scores 1",
    )


def test_what_has_no_effect():
    """Arguments that are lost, preemption that is not there, and weights that do not count are told."""
    rules = [{"name": "CheckNodeLabelPresence", "argument": PRESENCE}, {"name": "GeneralPredicates"}]
    told = check_translated({**HEAD, "predicates": rules}, FRAMEWORK_RELEASES["1.19"]).warnings
    assert any(text.startswith("predicate CheckNodeLabelPresence: its argument is not read") for text in told)
    assert any(text.startswith("no pod preempts others") for text in told)
    first = check_translated(
        {**HEAD, "alwaysCheckAllPredicates": True, "predicates": named("PodFitsPorts")},
        FRAMEWORK_RELEASES["1.17"],
    )
    assert any(text.startswith("alwaysCheckAllPredicates: no effect") for text in first.warnings)
    assert any(text.startswith("predicate PodFitsPorts: accepted, but never runs") for text in first.warnings)


def test_a_refusal_is_part_of_it():
    """With where another rule can come from."""
    found = check_translated({**HEAD, "predicates": named("NetworkMinCost")}, FRAMEWORK_RELEASES["1.22"])
    assert found.refused == 'predicate type not found for "NetworkMinCost"'
    assert found.warnings[0].startswith("no release has NetworkMinCost")


def test_releases_without_policies():
    """The error says which have them."""
    assert release_with_policies("1.22.6").version == "1.22"
    with pytest.raises(
        UnknownNameError,
        match=r"expected 1\.12, .*, 1\.22, or a profile, got 1\.23; Policies ended with 1\.22",
    ):
        release_with_policies("1.23", ", or a profile")
