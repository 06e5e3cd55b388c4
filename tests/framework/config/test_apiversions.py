"""Tests of the versions of the component configuration: what each means in each release that reads it."""

import pytest
import yaml

from kubeclassic.exceptions import PolicyError
from kubeclassic.framework.config.args import (
    InterPodAffinityArgs,
    RequestedToCapacityRatioArgs,
    ResourceSpec,
    ServiceAffinityArgs,
    ShapePoint,
)
from kubeclassic.framework.config.configuration import load_configuration
from kubeclassic.framework.releases import FRAMEWORK_RELEASES
from tests.support.configbuild import GROUP, arguments, built, configuration, enabled, refusal

USAGE = ("NodeResourcesLeastAllocated", "NodeResourcesMostAllocated", "RequestedToCapacityRatio")
READ = [
    (release, api)
    for release, found in FRAMEWORK_RELEASES.items()
    for api in found.configuration.api_versions
]
ORDER = ("v1alpha1", "v1alpha2", "v1beta1", "v1beta2", "v1beta3", "v1")
MOST = "NodeResourcesMostAllocated"


@pytest.mark.parametrize(
    "api, release, kind", [("v1beta1", "1.22", "List"), ("v1beta1", "1.21", "List"), ("v1beta2", "1.22", "")]
)
def test_constraints_are_the_list(api, release, kind):
    """In v1beta1 default constraints alone mean List; from v1beta2 on the type is System, which refuses
    them."""
    constraint = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}
    profile = arguments("PodTopologySpread", defaultConstraints=[constraint])
    if kind:
        assert configuration(release, api, profile).profiles[0].plugin_config[0].args.defaulting_type == kind
    else:
        assert refusal(release, api, profile).endswith(
            'Invalid value: "System": when .defaultConstraints are not empty'
        )


# --- Merging ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release, api", READ)
def test_a_default_plugin_that_is_named(release, api):
    """From v1beta2 on the entry of a profile takes the default's place; before, the plugin is there
    twice, which is refused."""
    profile = enabled("score", ImageLocality=7)
    if ORDER.index(api) >= ORDER.index("v1beta2"):
        assert {rule.name: weight for rule, weight in built(release, api, profile).algorithm.priorities}[
            "ImageLocality"
        ] == 7
    else:
        assert refusal(release, api, profile).endswith(
            'plugin "ImageLocality" already registered as "ScorePlugin"'
        )


@pytest.mark.parametrize("release", ["1.23", "1.24", "1.25", "1.26", "1.27"])
def test_multi_point_of_v1beta2(release):
    """From 1.23 on v1beta2 has the field multiPoint, and ignores what is there."""
    assert (
        "SelectorSpread" not in built(release, "v1beta2", enabled("multiPoint", SelectorSpread=1)).plugins()
    )
    assert "SelectorSpread" in built(release, "v1beta3", enabled("multiPoint", SelectorSpread=1)).plugins()


def test_multi_point_is_new():
    """In 1.22 no version has it."""
    for api in ("v1beta1", "v1beta2"):
        assert refusal("1.22", api, enabled("multiPoint", SelectorSpread=1)) == (
            'strict decoding error: unknown field "profiles[0].plugins.multiPoint"'
        )


# --- Fields -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "field, value, apis, since",
    [
        ("parallelism", 8, ORDER, "1.20"),
        ("healthzBindAddress", "", ORDER[:4], "1.17"),
        ("disablePreemption", False, ORDER[:2], "1.17"),
        ("bindTimeoutSeconds", 60, ORDER[:2], "1.17"),
        ("schedulerName", "mine", ORDER[:1], "1.17"),
        ("hardPodAffinitySymmetricWeight", 5, ORDER[:1], "1.17"),
        ("extenders", [], ORDER[1:], "1.17"),
        ("delayCacheUntilActive", True, ORDER[-1:], "1.28"),
    ],
)
def test_fields(field, value, apis, since):
    """A field is known in the versions that have it from a release on, and refused elsewhere."""
    versions = list(FRAMEWORK_RELEASES)
    for release, api in READ:
        if api in apis and versions.index(release) >= versions.index(since):
            assert configuration(release, api, None, **{field: value}).unread == ()
        elif api == "v1alpha1":
            assert configuration(release, api, None, **{field: value}).unread == (field,)
        else:
            assert (
                refusal(release, api, None, **{field: value})
                == f'strict decoding error: unknown field "{field}"'
            )


def test_post_filter():
    """v1alpha1 calls preScore postFilter; v1alpha2 has no postFilter, and the versions after it a new
    one."""
    none = yaml.safe_load("{plugins: {postFilter: {disabled: [{name: '*'}]}}}")
    flat = configuration("1.18", "v1alpha1", none).profiles[0].plugins
    assert not flat["preScore"].enabled
    assert [plugin.name for plugin in flat["postFilter"].enabled] == ["DefaultPreemption"]
    assert (
        refusal("1.18", "v1alpha2", none)
        == 'strict decoding error: unknown field "profiles[0].plugins.postFilter"'
    )
    assert not configuration("1.19", "v1beta1", none).profiles[0].plugins["postFilter"].enabled
    found = configuration(
        "1.18", "v1alpha1", yaml.safe_load("{plugins: {preScore: {disabled: [{name: '*'}]}}}")
    )
    assert found.unread == ("plugins.preScore",)
    assert found.profiles[0].plugins["preScore"].enabled


@pytest.mark.parametrize("release, api", [("1.17", "v1alpha1"), ("1.18", "v1alpha1"), ("1.18", "v1alpha2")])
def test_preemption_off(release, api):
    """The first versions switch preemption off by a field."""
    assert not built(release, api, None, disablePreemption=True).points["postFilter"]
    assert built(release, api, None, disablePreemption=False).points["postFilter"]


def test_v1alpha1_is_one_profile():
    """The fields of v1alpha1 are those of one profile; the weight of required affinity is an argument
    later."""
    config = configuration(
        "1.18", "v1alpha1", enabled("filter", Mine=0), schedulerName="mine", hardPodAffinitySymmetricWeight=9
    )
    (profile,) = config.profiles
    assert (profile.scheduler_name, profile.plugins["filter"].enabled[-1].name) == ("mine", "Mine")
    assert profile.args_of("InterPodAffinity", config.context) == InterPodAffinityArgs(9)
    assert configuration("1.17", "v1alpha1").profiles[0].scheduler_name == "default-scheduler"


def test_1_17_only_adds_plugins():
    """In 1.17 the provider's plugins run whatever a configuration disables; its own come after them, or
    sort and bind instead."""
    given = {
        "plugins": {
            "filter": {"disabled": [{"name": "*"}]},
            "score": {"enabled": [{"name": MOST, "weight": 3}]},
        }
    }
    plain = built("1.17", "v1alpha1")
    found = built("1.17", "v1alpha1", given)
    assert [one.name for one in found.points["filter"]] == [one.name for one in plain.points["filter"]] != []
    assert found.weights == {**plain.weights, MOST: 3}
    assert [one.name for one in built("1.18", "v1alpha1", given).points["filter"]] == []
    text = refusal("1.17", "v1alpha1", enabled("score", ImageLocality=5))
    assert text.endswith('plugin "ImageLocality" already registered as "ScorePlugin"')
    plugins = yaml.safe_load("{queueSort: {enabled: [{name: Mine}]}, bind: {enabled: [{name: Mine}]}}")
    sets = configuration("1.17", "v1alpha1", {"plugins": plugins}).profiles[0].plugins
    named = {point: [plugin.name for plugin in sets[point].enabled] for point in plugins}
    assert named == {"queueSort": ["Mine"], "bind": ["Mine", "DefaultBinder"]}


def test_what_v1alpha1_does_not_know(tmp_path):
    """Unknown and repeated fields of v1alpha1 are ignored, and the algorithm names the unknown ones;
    v1alpha2 refuses both."""
    given = yaml.safe_load("{plugins: {score: {enable: []}, multiPoint: {}}, extra: 1}")
    unread = ("plugins.score.enable", "plugins.multiPoint", "extra")
    for release in ("1.17", "1.18"):
        assert configuration(release, "v1alpha1", given).unread == unread
        told = built(release, "v1alpha1", given).algorithm.unread
        assert told[2] == f"extra of the configuration does not count: {release} does not read the field"
    assert 'unknown field "extra"' in refusal("1.18", "v1alpha2", None, extra=1)
    with pytest.raises(PolicyError, match="disablePreemption"):
        configuration("1.17", "v1alpha1", {**given, "disablePreemption": 7})
    for api, is_read in (("v1alpha1", True), ("v1alpha2", False)):
        file = tmp_path / f"{api}.yaml"
        head = f"apiVersion: {GROUP}/{api}\nkind: KubeSchedulerConfiguration\n"
        file.write_text(f"{head}percentageOfNodesToScore: 5\npercentageOfNodesToScore: 6\n")
        if is_read:
            assert load_configuration(file, None, FRAMEWORK_RELEASES["1.18"]).percentage == 6
        else:
            with pytest.raises(PolicyError, match='duplicate field "percentageOfNodesToScore"'):
                load_configuration(file, None, FRAMEWORK_RELEASES["1.18"])


@pytest.mark.parametrize(
    "release, api, path", [("1.17", "v1alpha1", ""), ("1.18", "v1alpha2", "profiles[0].")]
)
def test_unreserve(release, api, path):
    """Up to 1.18 unreserve is an extension point; plugins there are refused, as that is not modelled, and
    an empty list is not."""
    text = f"{path}plugins.unreserve.enabled: not modelled: a plugin's unreserve runs where its reserve is enabled"
    assert refusal(release, api, enabled("unreserve", Mine=0)) == text
    assert (
        configuration(
            release, api, yaml.safe_load("{plugins: {unreserve: {disabled: [{name: '*'}]}}}")
        ).unread
        == ()
    )
    assert 'unknown field "profiles[0].plugins.unreserve"' in refusal(
        "1.19", "v1beta1", enabled("unreserve", Mine=0)
    )


def test_extenders_of_v1alpha2():
    """Extenders of v1alpha2 are written as in a Policy: enableHttps, and a time in nanoseconds."""
    (found,) = configuration(
        "1.18",
        "v1alpha2",
        None,
        extenders=[{"urlPrefix": "u", "enableHttps": True, "httpTimeout": 2 * 10**9}],
    ).extenders
    assert (found.enable_https, found.timeout) == (True, 2)
    timed = [{"urlPrefix": "u", "httpTimeout": "2s"}]
    assert (
        refusal("1.18", "v1alpha2", None, extenders=timed)
        == 'extenders[0].httpTimeout: expected a whole number, got "2s"'
    )
    for release, api, name in (("1.18", "v1alpha2", "enableHTTPS"), ("1.19", "v1beta1", "enableHttps")):
        assert f'unknown field "extenders[0].{name}"' in refusal(
            release, api, None, extenders=[{"urlPrefix": "u", name: True}]
        )


def test_the_source_of_the_algorithm():
    """A Policy in v1alpha1 is not ignored: it has an option."""
    source = {"policy": {"file": {"path": "policy.json"}}}
    assert (
        refusal("1.17", "v1alpha1", None, algorithmSource=source)
        == "algorithmSource.policy: expected option --policy in its place"
    )
    assert configuration("1.17", "v1alpha1", None, algorithmSource={"provider": "DefaultProvider"})


# --- Arguments ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "plugin, args, first",
    [
        ("DefaultPreemption", {"minCandidateNodesPercentage": 5}, "1.20"),
        ("NodeAffinity", {"addedAffinity": {}}, "1.20"),
        ("NodeResourcesLeastAllocated", {"resources": []}, "1.19"),
        ("NodeResourcesBalancedAllocation", {"resources": []}, "1.22"),
        ("VolumeBinding", {"bindTimeoutSeconds": 5}, "1.19"),
        ("DynamicResources", {"filterTimeout": "1s"}, "1.34"),
    ],
)
def test_plugins_with_arguments(plugin, args, first):
    """Arguments that came later are plain data before, which nothing reads."""
    versions = list(FRAMEWORK_RELEASES)
    for release in ("1.18", "1.19", "1.20", "1.21", "1.22", "1.33", "1.34"):
        api = FRAMEWORK_RELEASES[release].configuration.api_versions[0]
        if plugin in FRAMEWORK_RELEASES[release].configuration.gone_plugins:
            continue
        found = configuration(release, api, arguments(plugin, **args)).profiles[0].plugin_config[0].args
        is_read = not isinstance(
            found, type(configuration("1.34", "v1", arguments("Mine")).profiles[0].plugin_config[0].args)
        )
        assert is_read == (versions.index(release) >= versions.index(first))


@pytest.mark.parametrize(
    "plugin, field, value, last",
    [
        ("PodTopologySpread", "defaultingType", "List", "1.19"),
        ("NodeResourcesFit", "scoringStrategy", {"type": "MostAllocated"}, "1.21"),
        ("InterPodAffinity", "ignorePreferredTermsOfExistingPods", True, "1.26"),
    ],
)
def test_fields_of_arguments(plugin, field, value, last):
    """A field of arguments is unknown before the release that brought it."""
    api = FRAMEWORK_RELEASES[last].configuration.api_versions[-1]
    assert refusal(last, api, arguments(plugin, **{field: value})).endswith(
        f'strict decoding error: unknown field "{field}"'
    )
    after = list(FRAMEWORK_RELEASES)[list(FRAMEWORK_RELEASES).index(last) + 1]
    api = FRAMEWORK_RELEASES[after].configuration.api_versions[-1]
    assert configuration(after, api, arguments(plugin, **{field: value}))


def test_lenient_arguments():
    """Up to 1.18 plugins decode their own arguments, and ignore what they do not know."""
    given = arguments("InterPodAffinity", hardPodAffinityWeight=5, other=1)
    for api, place in (("v1alpha1", ""), ("v1alpha2", "profiles[0].")):
        config = configuration("1.18", api, given)
        assert config.profiles[0].plugin_config[0].args == InterPodAffinityArgs(5)
        assert config.unread == (f"{place}pluginConfig[0].args.other",)
    assert 'unknown field "other"' in refusal("1.19", "v1beta1", given)


def test_arguments_in_1_17():
    """In 1.17 InterPodAffinity has no arguments: the weight is a field of the configuration."""
    config = configuration("1.17", "v1alpha1", arguments("InterPodAffinity", hardPodAffinityWeight=5))
    assert config.profiles[0].args_of("InterPodAffinity", config.context) == InterPodAffinityArgs(1)


def test_names_in_1_17():
    """In 1.17 two plugins have arguments of other names, in any case, with scores up to 100; the later
    names are ignored."""
    shape = yaml.safe_load("[{Utilization: 0, Score: 0}, {utilization: 100, score: 70}]")
    given = arguments(
        "RequestedToCapacityRatio", FunctionShape=shape, resourceToWeightMap={"cpu": 2}, shape=[]
    )
    config = configuration("1.17", "v1alpha1", given)
    wanted = RequestedToCapacityRatioArgs((ShapePoint(0, 0), ShapePoint(100, 7)), (ResourceSpec("cpu", 2),))
    assert config.profiles[0].args_of("RequestedToCapacityRatio", config.context) == wanted
    assert config.unread == ("pluginConfig[0].args.shape",)
    config = configuration("1.17", "v1alpha1", arguments("RequestedToCapacityRatio", functionShape=shape))
    assert (
        config.profiles[0].args_of("RequestedToCapacityRatio", config.context).resources == ()
    )  # so that each node scores 0
    config = configuration(
        "1.17", "v1alpha1", arguments("ServiceAffinity", labels=["rack"], affinityLabels=["zone"])
    )
    assert config.profiles[0].args_of("ServiceAffinity", config.context) == ServiceAffinityArgs(("rack",))
    later = configuration(
        "1.18", "v1alpha1", arguments("ServiceAffinity", labels=["rack"], affinityLabels=["zone"])
    )
    assert later.profiles[0].args_of("ServiceAffinity", later.context) == ServiceAffinityArgs(("zone",))
    odd = arguments("RequestedToCapacityRatio", functionShape=[{"score": 55}])
    assert (
        refusal("1.17", "v1alpha1", odd)
        == "FunctionShape: expected a multiple of 10, got score 55: others are not modelled"
    )


# --- Validation ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("plugin", USAGE)
def test_conflicting_scores(plugin):
    """In v1beta1 of 1.22 NodeResourcesFit may not score beside the plugins whose work it took over."""
    profile = enabled("score", NodeResourcesFit=1, **{plugin: 1})
    profile["plugins"]["score"]["disabled"] = [{"name": "*"}]
    version = f'"{GROUP}/v1beta1"'
    assert refusal("1.22", "v1beta1", profile).split(", profiles")[0].lstrip("[") == (
        f'profiles[0].plugins.score.enabled[0]: Invalid value: "NodeResourcesFit": was conflict with ["{plugin}"] in version {version}'
        f" (KubeSchedulerConfiguration is version {version})"
    )
    assert "was removed in version" in refusal("1.22", "v1beta2", profile)


@pytest.mark.parametrize(
    "release, text",
    [
        ("1.18", "hardPodAffinityWeight: Invalid value: 101: not in valid range [0-100]"),
        ("1.20", "hardPodAffinityWeight: Invalid value: 101: not in valid range [0-100]"),
        ("1.21", "hardPodAffinityWeight: Invalid value: 101: not in valid range [0, 100]"),
        (
            "1.22",
            "profiles[0].pluginConfig[0].args.hardPodAffinityWeight: Invalid value: 101: not in valid range [0, 100]",
        ),
    ],
)
def test_who_checks_arguments(release, text):
    """Up to 1.21 a plugin checks its own arguments, and only if it is enabled; from 1.22 on they are
    checked with the configuration."""
    api = FRAMEWORK_RELEASES[release].configuration.default_version
    given = arguments("InterPodAffinity", hardPodAffinityWeight=101)
    found = refusal(release, api, given)
    assert found.endswith(text)
    assert ('initializing plugin "InterPodAffinity": ' in found) == (release != "1.22")
    points = ("preFilter", "filter", "preScore", "score")
    off = {point: {"disabled": [{"name": "InterPodAffinity"}]} for point in points}
    if release == "1.22":
        assert refusal(release, api, {**given, "plugins": off}) == text
    else:
        assert "InterPodAffinity" not in built(release, api, {**given, "plugins": off}).plugins()


def test_arguments_given_twice():
    """Arguments given twice are refused when the profile is built, in later releases when the configuration
    is read."""
    twice = {"pluginConfig": [{"name": "InterPodAffinity", "args": {}}] * 2}
    assert refusal("1.21", "v1beta1", twice).endswith("repeated config for plugin InterPodAffinity")
    assert (
        refusal("1.22", "v1beta1", twice)
        == 'profiles[0].pluginConfig[1]: Duplicate value: "InterPodAffinity"'
    )


@pytest.mark.parametrize(
    "plugin, args, texts",
    [
        (
            "PodTopologySpread",
            {"defaultingType": "Mine"},
            (
                'defaultingType: Invalid value: "Mine": must be one of {"System", "List"}',
                'defaultingType: Unsupported value: "Mine": supported values: "System", "List"',
            ),
        )
    ],
)
def test_words(plugin, args, texts):
    """Up to 1.20 the first fault is told in plain words, from 1.21 on all of them with their fields."""
    for release, text in zip(("1.20", "1.21"), texts, strict=True):
        assert refusal(release, "v1beta1", arguments(plugin, **args)).endswith(
            f'initializing plugin "{plugin}": {text}'
        )


def test_the_least_timeout():
    """Up to 1.20 no time at all is refused, from 1.21 on only less than that."""
    assert "invalid BindTimeoutSeconds: 0, must be positive integer" in refusal(
        "1.20", "v1beta1", arguments("VolumeBinding", bindTimeoutSeconds=0)
    )
    assert configuration("1.21", "v1beta1", arguments("VolumeBinding", bindTimeoutSeconds=0))


def test_resources_without_a_weight():
    """RequestedToCapacityRatio takes weight 1 for none, but for 1.19 to 1.21, which refuse it."""
    shape = yaml.safe_load("[{utilization: 0, score: 0}, {utilization: 100, score: 10}]")
    given = arguments("RequestedToCapacityRatio", shape=shape, resources=[{"name": "cpu"}])
    profile = {**given, **enabled("score", RequestedToCapacityRatio=1)}
    assert refusal("1.20", "v1beta1", profile).endswith("resource cpu weight 0 must not be less than 1")
    assert refusal("1.21", "v1beta1", profile).endswith(
        "resources[0].weight: Invalid value: 0: resource weight of cpu not in valid range [1, inf)"
    )
    for release, api in (("1.18", "v1alpha2"), ("1.22", "v1beta1")):
        assert configuration(release, api, profile).profiles[0].plugin_config[0].args.resources[0].weight == 1
