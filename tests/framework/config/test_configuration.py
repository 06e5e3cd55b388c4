"""KubeSchedulerConfiguration: what is read, defaulted and refused, in upstream's words."""

import pytest
import yaml

from kubeclassic.exceptions import PolicyError
from kubeclassic.framework.config.configuration import read_configuration
from kubeclassic.framework.config.profiles import PluginEntry
from kubeclassic.framework.releases import ALL_RELEASES
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


# --- Arguments of a kind and of a version --------------------------------------------------------------------

NEWEST = ALL_RELEASES["1.36"]
SCHEME = 'in scheme "k8s.io/kubernetes/pkg/scheduler"'


@pytest.mark.parametrize(
    "head, text",
    [
        ({"kind": ""}, None),
        ({"kind": None, "apiVersion": ""}, None),
        ({"kind": ["a"]}, "decoding args for plugin NodeAffinity: kind: expected a string, got a list"),
        (
            {"apiVersion": {"a": 1}},
            "decoding args for plugin NodeAffinity: apiVersion: expected a string, got an object",
        ),
        (
            {"kind": "DefaultPreemptionArgs"},
            "args for plugin NodeAffinity were not of type NodeAffinityArgs.kubescheduler.config.k8s.io,"
            " got DefaultPreemptionArgs.kubescheduler.config.k8s.io",
        ),
        (
            {"kind": "Foo"},
            'decoding args for plugin NodeAffinity: no kind "Foo" is registered for version "kubescheduler.config.k8s.io/v1" '
            + SCHEME,
        ),
        (
            {"apiVersion": "foo/v1"},
            'decoding args for plugin NodeAffinity: no kind "NodeAffinityArgs" is registered for version "foo/v1" '
            + SCHEME,
        ),
    ],
)
def test_the_kind_of_arguments(head, text):
    """Arguments that name no kind are of their plugin's; another kind, or an unknown one, is refused."""
    found = document({"pluginConfig": [{"name": "NodeAffinity", "args": head}]})
    if text is None:
        assert read_configuration(found)
    else:
        assert refusal(found) == f"decoding .profiles[0].pluginConfig[0]: {text}"


def test_arguments_of_another_version():
    """A configuration of one version takes no arguments of another, though its release reads both."""
    args = {"apiVersion": "kubescheduler.config.k8s.io/v1beta3", "kind": "NodeAffinityArgs"}
    found = document({"pluginConfig": [{"name": "NodeAffinity", "args": args}]})
    text = refusal_text(PolicyError, read_configuration, found, None, ALL_RELEASES["1.27"])
    assert text == (
        "converting .Profiles[0].PluginConfig[0].Args into internal type: no kind is registered for the type"
        f" v1beta3.NodeAffinityArgs {SCHEME}"
    )


def test_arguments_that_are_no_object():
    """A plugin of one's own gets them as they are; those of a default plugin are refused."""
    config = read_configuration(document({"pluginConfig": [{"name": "Mine", "args": ["a"]}]}))
    assert config.profiles[0].plugin_config[0].args == ["a"]
    assert refusal(document({"pluginConfig": [{"name": "NodeAffinity", "args": ["a"]}]})) == (
        "profiles[0].pluginConfig[0].args: expected an object, got a list"
    )


def test_arguments_that_a_release_does_not_read():
    """Arguments that a release does not read have no effect, in whatever form they are."""
    for args in ({"resources": "x"}, ["a"]):
        entry = {"name": "NodeResourcesBalancedAllocation", "args": args}
        profile = {"pluginConfig": [entry]}
        found = {**document(profile), "apiVersion": "kubescheduler.config.k8s.io/v1beta1"}
        config = read_configuration(found, None, ALL_RELEASES["1.21"])
        made = config.profiles[0].args_of(entry["name"], config.context)
        assert [resource.name for resource in made.resources] == ["cpu", "memory"]


def test_a_configuration_without_a_version():
    """A configuration without a version is refused."""
    assert refusal({"kind": "KubeSchedulerConfiguration"}) == "Object 'apiVersion' is missing"


# --- Sorters, faults of several expressions, and parts that schedule nothing ---------------------------------


def test_other_arguments_of_the_sorter():
    """All profiles have the same arguments for the plugin that sorts, defaults included, whatever it is."""
    sorts = {"queueSort": {"enabled": [{"name": "DefaultPreemption"}], "disabled": [{"name": "*"}]}}
    other = {"pluginConfig": [{"name": "DefaultPreemption", "args": {"minCandidateNodesAbsolute": 1}}]}
    profiles = [{"schedulerName": "a", "plugins": sorts, **other}, {"schedulerName": "b", "plugins": sorts}]
    text = refusal_text(PolicyError, read_configuration, document(profiles=profiles), None, NEWEST)
    assert text == (
        'profiles[1].pluginConfig.args: Invalid value: {"MinCandidateNodesPercentage":10,"MinCandidateNodesAbsolute":100}:'
        " queueSort must be the same for all profiles"
    )


def test_several_faults_of_one_expression():
    """The faults of expressions are one list, however many one expression has."""
    bad = {"key": "a", "operator": "Gt", "values": ["x", "y"]}
    terms = [{"weight": 1, "preference": {"matchExpressions": [bad, {"key": "b", "operator": "In"}]}}]
    added = {"preferredDuringSchedulingIgnoredDuringExecution": terms}
    text = refusal(with_args("NodeAffinity", addedAffinity=added))
    assert text.count("Invalid value") == 4
    assert text.startswith("[profiles[0].pluginConfig[0].args.addedAffinity.")
    assert "[[" not in text


@pytest.mark.parametrize(
    "part, text",
    [
        (
            {"clientConnection": {"burst": -1}},
            "clientConnection.burst: Invalid value: -1: must be non-negative",
        ),
        (
            {"leaderElection": {"retryPeriod": "-1s"}},
            'leaderElection.retryPeriod: Invalid value: "-1s": must be greater than zero',
        ),
        (
            {"leaderElection": {"renewDeadline": "20s"}},
            'leaderElection.leaseDuration: Invalid value: "20s": must be greater than `RenewDeadline`',
        ),
        (
            {"leaderElection": {"resourceLock": "endpoints"}},
            'leaderElection.resourceLock: Invalid value: "endpoints": resourceLock value must be "leases"',
        ),
        ({"clientConnection": {"qps": "x"}}, 'clientConnection.qps: expected a number, got "x"'),
        ({"enableProfiling": 1}, "enableProfiling: expected true or false, got 1"),
        ({"leaderElection": {"leaderElect": False, "resourceLock": "endpoints"}}, None),
        ({"leaderElection": {"leaseDuration": "0s"}, "clientConnection": {"qps": 50}}, None),
    ],
)
def test_parts_that_schedule_nothing(part, text):
    """A scheduler does not start with a fault in the election of its leader, or in its connection."""
    if text is None:
        assert read_configuration(document(**part), None, NEWEST)
    else:
        assert refusal_text(PolicyError, read_configuration, document(**part), None, NEWEST) == text


@pytest.mark.parametrize(
    "address, text",
    [
        ("x", "address x: missing port in address"),
        ("127.0.0.1:y", 'strconv.Atoi: parsing "y": invalid syntax'),
        ("host:0", "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"),
        ("[::1]:10251", "must be empty or with an explicit 0 port"),
        ("0.0.0.0:0", None),
    ],
)
def test_addresses(address, text):
    """Health and metrics have no addresses of their own since 1.23; v1beta2 still has the fields."""
    found = {
        "apiVersion": "kubescheduler.config.k8s.io/v1beta2",
        "kind": "KubeSchedulerConfiguration",
        "metricsBindAddress": address,
    }
    release = ALL_RELEASES["1.24"]
    if text is None:
        assert read_configuration(found, None, release)
    else:
        expected = f'metricsBindAddress: Invalid value: "{address}": {text}'
        assert refusal_text(PolicyError, read_configuration, found, None, release) == expected


@pytest.mark.parametrize(
    "version, names",
    [("1.21", ('"-x"', '"cpu": cpu is')), ("1.27", ("-x", '"cpu": is')), ("1.34", ('"-x"', '"cpu": is'))],
)
def test_names_of_managed_resources(version, names):
    """The name of a resource that an extender cannot manage, as releases show it."""
    release = ALL_RELEASES[version]
    found = {
        "apiVersion": f"kubescheduler.config.k8s.io/{release.configuration.default_version}",
        "kind": "KubeSchedulerConfiguration",
        "extenders": [{"urlPrefix": "http://e", "managedResources": [{"name": "-x"}, {"name": "cpu"}]}],
    }
    text = refusal_text(PolicyError, read_configuration, found, None, release)
    for number, name in enumerate(names):
        assert f"extenders[0].managedResources[{number}].name: Invalid value: {name}" in text


def test_an_extender_that_never_times_out():
    """A negative timeout is taken: no call of the extender ends by it."""
    config = read_configuration(document(extenders=[{"urlPrefix": "http://e", "httpTimeout": "-1s"}]))
    assert config.extenders[0].timeout == -1
