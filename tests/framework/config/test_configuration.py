"""KubeSchedulerConfiguration: what is read, defaulted and refused, in upstream's words."""

import pytest
import yaml

from kubeclassic.exceptions import PolicyError
from kubeclassic.framework.config.configuration import PluginEntry, read_configuration
from tests.support.frameworkbuild import configuration, disabled, document, enabled
from tests.support.refusals import refusal_text


def refusal(found):
    """The text with which a configuration is refused."""
    return refusal_text(PolicyError, read_configuration, found)


def with_args(plugin, **args):
    """A configuration whose one profile gives *plugin* these arguments."""
    return document({"pluginConfig": [{"name": plugin, "args": args}]})


def test_of_nothing():
    """Without a document there is one profile, called default-scheduler, and percentage 0."""
    config = read_configuration()
    assert [profile.scheduler_name for profile in config.profiles] == ["default-scheduler"]
    assert (config.parallelism, config.percentage, config.initial_backoff, config.max_backoff) == (
        16,
        0,
        1,
        10,
    )


def test_a_scoring_strategy_without_resources_gets_cpu_and_memory():
    """Resources of a strategy default to cpu and memory, weights of 0 to 1."""
    strategies = yaml.safe_load("""
        - {type: MostAllocated}
        - type: MostAllocated
          resources:
          - {name: cpu, weight: 0}
        """)
    found = [
        read_configuration(with_args("NodeResourcesFit", scoringStrategy=s)).profiles[0].plugin_config[0].args
        for s in strategies
    ]
    listed = [[(r.name, r.weight) for r in args.scoring_strategy.resources] for args in found]
    assert listed == [[("cpu", 1), ("memory", 1)], [("cpu", 1)]]


def test_a_default_that_is_listed_again_keeps_its_place_and_loses_its_weight():
    """A user's entry replaces the default in place, its missing weight included."""
    plugins = (
        configuration({"plugins": {"multiPoint": enabled("NodeAffinity")}}).profiles[0].plugins["multiPoint"]
    )
    assert plugins.enabled[4] == PluginEntry("NodeAffinity", 0)


def test_a_star_drops_all_defaults():
    """With ``*`` disabled only the user's own entries remain."""
    plugins = (
        configuration({"plugins": {"multiPoint": disabled("*") | enabled("PrioritySort", "DefaultBinder")}})
        .profiles[0]
        .plugins
    )
    assert [plugin.name for plugin in plugins["multiPoint"].enabled] == ["PrioritySort", "DefaultBinder"]


# --- Decoding -----------------------------------------------------------------------------------------------


def test_unknown_fields_are_refused_with_their_path():
    """An unknown field is a strict decoding error, whatever its depth or case."""
    assert refusal(document({}, foo=1)) == 'strict decoding error: unknown field "foo"'
    assert (
        refusal(document({"plugins": {"Filter": {}}}))
        == 'strict decoding error: unknown field "profiles[0].plugins.Filter"'
    )


def test_unknown_fields_of_arguments():
    """Unknown fields of arguments are told with the entry and the plugin."""
    text = "decoding .profiles[0].pluginConfig[0]: strict decoding error: decoding args for plugin NodeAffinity: strict decoding error: "
    assert refusal(with_args("NodeAffinity", foo=1)) == f'strict decoding error: {text}unknown field "foo"'


def test_arguments_of_another_plugin():
    """Arguments of a wrong kind are refused."""
    assert refusal(with_args("NodeAffinity", kind="InterPodAffinityArgs")) == (
        "decoding .profiles[0].pluginConfig[0]: args for plugin NodeAffinity were not of type"
        " NodeAffinityArgs.kubescheduler.config.k8s.io, got InterPodAffinityArgs.kubescheduler.config.k8s.io"
    )


# --- Validation ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "more, text",
    [
        ("parallelism: 0", "parallelism: Invalid value: 0: should be an integer value greater than zero"),
        (
            "percentageOfNodesToScore: 101",
            "percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]",
        ),
        ("podInitialBackoffSeconds: 0", "podInitialBackoffSeconds: Invalid value: 0: must be greater than 0"),
        (
            "{podInitialBackoffSeconds: 5, podMaxBackoffSeconds: 4}",
            "podMaxBackoffSeconds: Invalid value: 4: must be greater than or equal to PodInitialBackoffSeconds",
        ),
        (
            "extenders: [{prioritizeVerb: p, weight: 0}]",
            "extenders[0].weight: Invalid value: 0: must have a positive weight applied to it",
        ),
    ],
)
def test_of_the_whole(more, text):
    """Numbers out of range are refused in upstream's words."""
    assert refusal(document({}, **yaml.safe_load(more))) == text


def test_several_faults_are_listed():
    """Several faults stand in brackets."""
    assert refusal(document({}, parallelism=0, percentageOfNodesToScore=-1)) == (
        "[parallelism: Invalid value: 0: should be an integer value greater than zero,"
        " percentageOfNodesToScore: Invalid value: -1: not in valid range [0-100]]"
    )


def test_several_profiles_need_names():
    """Only a single profile is named for the user."""
    text = refusal(document({}, {"schedulerName": "b"}))
    assert text == "profiles[0].schedulerName: Required value"


@pytest.mark.parametrize(
    "plugin, args, text",
    [
        (
            "InterPodAffinity",
            {"hardPodAffinityWeight": 101},
            "hardPodAffinityWeight: Invalid value: 101: not in valid range [0, 100]",
        ),
        (
            "DefaultPreemption",
            {"minCandidateNodesAbsolute": -1},
            "minCandidateNodesAbsolute: Invalid value: -1: not in valid range [0, inf)",
        ),
        (
            "NodeResourcesBalancedAllocation",
            yaml.safe_load("{resources: [{name: cpu, weight: 2}]}"),
            "resources[0].weight: Invalid value: 2: must be 1",
        ),
    ],
)
def test_of_arguments(plugin, args, text):
    """Arguments out of range are refused with their path."""
    assert refusal(with_args(plugin, **args)) == f"profiles[0].pluginConfig[0].args.{text}"


def test_added_affinity_must_parse():
    """A selector in addedAffinity that is not valid is refused at start."""
    term = yaml.safe_load("{matchExpressions: [{key: a, operator: Near}]}")
    added = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    assert refusal(with_args("NodeAffinity", addedAffinity=added)) == (
        "profiles[0].pluginConfig[0].args.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution"
        '.nodeSelectorTerms[0].matchExpressions[0].operator: Unsupported value: "Near"'
    )
