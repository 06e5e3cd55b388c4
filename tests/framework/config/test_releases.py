"""Tests of the configuration by release: versions of the API, default plugins, arguments and texts."""

import pytest
import yaml

from kubeclassic.api.reading.documents import Document
from kubeclassic.exceptions import PolicyError
from kubeclassic.framework.config.args import DynamicResourcesArgs, ShapePoint
from kubeclassic.framework.config.configuration import read_configuration
from kubeclassic.framework.profile import build_profiles
from kubeclassic.framework.profilecheck import check_profile
from kubeclassic.framework.registry import registry_of
from kubeclassic.framework.releases import FRAMEWORK_RELEASES
from tests.support.configbuild import GROUP, arguments, built, configuration, enabled, refusal
from tests.support.refusals import refusal_text

ALL = tuple(FRAMEWORK_RELEASES)
VERSIONS = tuple(
    version for version, release in FRAMEWORK_RELEASES.items() if "v1" in release.configuration.api_versions
)
"""The releases that read version v1 of the configuration."""
NO_PLUGINS = "config.PluginSet{Enabled:[]config.Plugin(nil), Disabled:[]config.Plugin(nil)}"
LIMITS = ("EBSLimits", "GCEPDLimits", "AzureDiskLimits")


def defaults(version, gates=""):
    """The plugins of a profile that says nothing, in the newest version of the configuration."""
    points = (
        configuration(version, FRAMEWORK_RELEASES[version].configuration.api_versions[-1], gates=gates)
        .profiles[0]
        .plugins
    )
    return list(dict.fromkeys(plugin.name for found in points.values() for plugin in found.enabled))


@pytest.mark.parametrize("release", FRAMEWORK_RELEASES.values(), ids=FRAMEWORK_RELEASES)
class TestEachRelease:
    def test_the_default_profile_is_built(self, release):
        """Each release builds the profile that says nothing, with plugins that it has."""
        config = read_configuration(release=release)
        (built,) = build_profiles(config, registry_of(release)).values()
        assert set(built.plugins()) == set(defaults(release.version))

    def test_its_cells_name_plugins(self, release):
        """Plugins that the cells list as removed or refused are no default plugins."""
        cells = release.configuration
        assert not set(defaults(release.version)) & cells.gone_plugins
        assert release.version not in VERSIONS or not set(defaults(release.version)) & cells.refused_plugins
        assert cells.default_version == cells.api_versions[-1]
        assert (
            cells.capacity_gate in release.gates
            or ("VolumeBinding", "score") in release.framework.points_lacked
        )

    def test_settled_gates_are_gone(self, release):
        """No gate is settled that the release still has."""
        assert not release.configuration.settled_gates & set(release.gates)


@pytest.mark.parametrize(
    "api, first, last",
    [
        ("v1alpha1", "1.17", "1.18"),
        ("v1alpha2", "1.18", "1.18"),
        ("v1beta1", "1.19", "1.22"),
        ("v1beta2", "1.22", "1.27"),
        ("v1beta3", "1.23", "1.28"),
        ("v1", "1.25", "1.36"),
    ],
)
def test_api_versions(api, first, last):
    """Each version is read by some releases; earlier and later a configuration of theirs is refused as
    unknown."""
    for version in ALL:
        if ALL.index(first) <= ALL.index(version) <= ALL.index(last):
            assert configuration(version, api).api_version == f"{GROUP}/{api}"
        else:
            assert refusal(version, api).startswith(
                f'no kind "KubeSchedulerConfiguration" is registered for version "{GROUP}/{api}" in scheme'
            )


def test_fields():
    """delayCacheUntilActive came with 1.28, in v1; bind addresses are fields of v1beta2 alone, a profile's
    percentage of v1 alone."""
    assert (
        refusal("1.27", "v1", delayCacheUntilActive=True)
        == 'strict decoding error: unknown field "delayCacheUntilActive"'
    )
    assert configuration("1.28", "v1", delayCacheUntilActive=True).delay_cache_until_active
    assert "delayCacheUntilActive" in refusal("1.28", "v1beta3", delayCacheUntilActive=True)
    assert configuration("1.27", "v1beta2", healthzBindAddress="")
    assert "healthzBindAddress" in refusal("1.27", "v1", healthzBindAddress="")
    assert configuration("1.28", "v1", {"percentageOfNodesToScore": 5}).profiles[0].percentage == 5
    assert 'unknown field "profiles[0].percentageOfNodesToScore"' in refusal(
        "1.28", "v1beta3", {"percentageOfNodesToScore": 5}
    )


# --- Plugins ------------------------------------------------------------------------------------------------


def test_scheduling_gates():
    """SchedulingGates came with 1.26 and a gate, is last while it has that, and first since 1.30."""
    first = ALL.index("1.27")
    assert [defaults(version).index("SchedulingGates") for version in ALL[first:]] == [20] * 3 + [0] * 7
    assert "SchedulingGates" not in defaults("1.29", "PodSchedulingReadiness=false")
    assert defaults("1.26", "PodSchedulingReadiness=true").index("SchedulingGates") == 20
    assert not any("SchedulingGates" in defaults(version) for version in ALL[:first])


def test_limits_of_disks():
    """The limits of built-in disks are no defaults since 1.31, where multiPoint alone can name them, and
    gone since 1.32."""
    assert [set(LIMITS) <= set(defaults(version)) for version in ALL] == [True] * 14 + [False] * 6
    assert "EBSLimits" in built("1.31", "v1", enabled("multiPoint", "EBSLimits")).plugins()
    assert refusal("1.31", "v1", enabled("filter", "EBSLimits")) == (
        'profiles[0].plugins.filter.enabled[0]: Invalid value: "EBSLimits": was invalid in version "v1"'
        f' (KubeSchedulerConfiguration is version "{GROUP}/v1")'
    )
    assert refusal("1.32", "v1", enabled("multiPoint", "CinderLimits")).endswith(
        'PreFilterPlugin "CinderLimits" does not exist'
    )
    assert "was invalid" in refusal("1.34", "v1", arguments("GCEPDLimits"))


def test_selector_spread():
    """SelectorSpread can be named up to 1.28, in v1 under multiPoint alone; since 1.29 it does not exist."""
    assert "SelectorSpread" in built("1.28", "v1", enabled("multiPoint", "SelectorSpread")).plugins()
    assert 'was invalid in version "v1"' in refusal("1.28", "v1", enabled("score", "SelectorSpread"))
    assert "SelectorSpread" in built("1.28", "v1beta3", enabled("score", "SelectorSpread")).plugins()
    assert refusal("1.29", "v1", enabled("score", "SelectorSpread")).endswith(
        'ScorePlugin "SelectorSpread" does not exist'
    )
    assert refusal("1.29", "v1", enabled("multiPoint", "SelectorSpread")).endswith(
        'PreFilterPlugin "SelectorSpread" does not exist'
    )


# --- Arguments ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "release, kind, text",
    [
        ("1.35", "LeastAllocated", ""),
        (
            "1.35",
            "RequestedToCapacityRatio",
            "scoringStrategy.shape: Required value: at least one point must be specified",
        ),
        (
            "1.36",
            "LeastAllocated",
            "scoringStrategy.requestedToCapacityRatio: Forbidden: must be nil when type is not RequestedToCapacityRatio",
        ),
        (
            "1.36",
            "RequestedToCapacityRatio",
            "scoringStrategy.requestedToCapacityRatio.shape: Required value: at least one point must be specified",
        ),
    ],
)
def test_shapes_of_ratios(release, kind, text):
    """Since 1.36 a shape belongs to the type of strategy that reads it, which has to have one."""

    def asked(**more):
        return arguments("NodeResourcesFit", scoringStrategy={"type": kind, **more})

    shape = [] if kind == "RequestedToCapacityRatio" else [{"utilization": 0, "score": 0}]
    with_shape = asked(requestedToCapacityRatio={"shape": shape})
    if not text:
        assert built(release, "v1", with_shape)
        return
    assert refusal(release, "v1", with_shape).endswith(text)
    assert kind == "LeastAllocated" or "must be specified when type" in refusal(release, "v1", asked())


def read(version, profile, gates=""):
    """The arguments of a profile's one plugin, as they are read."""
    return configuration(version, "v1", profile, gates=gates).profiles[0].plugin_config[0].args


def test_capacity_of_volumes():
    """VolumeBinding has a shape with gate VolumeCapacityPriority; since 1.33 that is
    StorageCapacityScoring, and the shape falls."""
    older = read("1.32", arguments("VolumeBinding"), "VolumeCapacityPriority=true")
    newer = read("1.33", arguments("VolumeBinding"), "StorageCapacityScoring=true")
    assert older.shape == (ShapePoint(0, 0), ShapePoint(100, 10))
    assert newer.shape == (ShapePoint(0, 10), ShapePoint(100, 0))


def test_a_shape_without_the_gate():
    """Without the gate a shape is refused, and shown as Go or as JSON."""
    shape = arguments("VolumeBinding", shape=[{"utilization": 0, "score": 1}])
    text = "profiles[0].pluginConfig[0].args.shape: Invalid value: {}: unexpected field `shape`, remove it or turn on the feature gate {}"
    point = "config.UtilizationShapePoint"
    as_go = f"[]{point}{{{point}{{Utilization:0, Score:1}}}}"
    assert refusal("1.32", "v1", shape) == text.format(as_go, "VolumeCapacityPriority")
    assert refusal("1.33", "v1", shape) == text.format(as_go, "StorageCapacityScoring")
    as_json = '[{"Utilization":0,"Score":1}]'
    assert refusal("1.34", "v1", shape) == text.format(as_json, "StorageCapacityScoring")


def test_a_shape_out_of_order():
    """The text about points that do not rise is shorter since 1.34; each resource weighs 100 at most."""
    points = yaml.safe_load("[{utilization: 50, score: 1}, {utilization: 50, score: 2}]")
    resources = [{"name": "cpu", "weight": 101}]
    strategy = {
        "type": "RequestedToCapacityRatio",
        "requestedToCapacityRatio": {"shape": points},
        "resources": resources,
    }
    profile = arguments("NodeResourcesFit", scoringStrategy=strategy)
    weight = "resource weight of cpu not in valid range (0, 100]"
    for version, text in (("1.33", "utilization values"), ("1.34", "values")):
        assert f"Invalid value: 50: {text} must be sorted in increasing order" in refusal(
            version, "v1", profile
        )
        assert weight in refusal(version, "v1", profile)


def test_time_for_devices():
    """DynamicResources has a time since 1.34, 10 seconds by default; with its gate off none may be given."""
    assert read("1.34", arguments("DynamicResources")) == DynamicResourcesArgs(10.0)
    a_minute = arguments("DynamicResources", filterTimeout="1m0s")
    assert read("1.34", a_minute) == DynamicResourcesArgs(60.0)
    path = "profiles[0].pluginConfig[0].args.filterTimeout: "
    assert (
        refusal("1.34", "v1", arguments("DynamicResources", filterTimeout="-1500ms"))
        == f'{path}Invalid value: "-1.5s": must be zero or positive'
    )
    off = "DRASchedulerFilterTimeout=false"
    assert read("1.34", arguments("DynamicResources"), off) == DynamicResourcesArgs(None)
    assert refusal("1.34", "v1", arguments("DynamicResources", filterTimeout="1s"), gates=off) == (
        f"{path}Forbidden: DRASchedulingFilterTimeout feature gate is disabled"
    )


def test_arguments_for_devices_in_older_releases():
    """Up to 1.33 DynamicResources has no arguments: what is given stays as it is."""
    assert read("1.33", arguments("DynamicResources", any=1)) == {"any": 1}


# --- Profiles together --------------------------------------------------------------------------------------


DIFFERENT = (
    {"schedulerName": "a"},
    yaml.safe_load("""
        schedulerName: b
        plugins:
          queueSort:
            enabled:
            - {name: Mine}
            disabled:
            - {name: '*'}
        """),
)


@pytest.mark.parametrize(
    "version, shown, text",
    [
        ("1.27", "Go", "has to match for all profiles"),
        ("1.30", "Go", "queueSort must be the same for all profiles"),
        ("1.34", "JSON", "must be the same for all profiles"),
    ],
)
def test_queue_sort(version, shown, text):
    """Profiles with different queueSort plugins are refused, each release in its own words."""
    value = {
        "Go": 'config.PluginSet{Enabled:[]config.Plugin{config.Plugin{Name:"Mine", Weight:0}}, Disabled:[]config.Plugin{config.Plugin{'
        'Name:"*", Weight:0}}}',
        "JSON": '{"Enabled":[{"Name":"Mine","Weight":0}],"Disabled":[{"Name":"*","Weight":0}]}',
    }[shown]
    assert (
        refusal(version, "v1", profiles=list(DIFFERENT))
        == f"profiles[1].plugins.queueSort: Invalid value: {value}: {text}"
    )


@pytest.mark.parametrize(
    "version, api, shown",
    [
        ("1.18", "v1alpha2", '"null"'),
        ("1.20", "v1beta1", '"null"'),
        ("1.21", "v1beta1", NO_PLUGINS),
        ("1.22", "v1beta1", None),
    ],
)
def test_queue_sort_as_given(version, api, shown):
    """Up to 1.21 what profiles say of queueSort is compared, not what it comes to with the defaults."""
    usual = yaml.safe_load("{enabled: [{name: PrioritySort}], disabled: [{name: '*'}]}")
    profiles = [{"schedulerName": "a", "plugins": {"queueSort": usual}}, {"schedulerName": "b"}]
    if shown is None:
        assert configuration(version, api, profiles=profiles)
        return
    told = refusal_text(PolicyError, configuration, version, api, profiles=profiles)
    text = f"profiles[1].plugins.queueSort: Invalid value: {shown}: has to match for all profiles"
    assert told.endswith(text)


@pytest.mark.parametrize(
    "version, api", [("1.18", "v1alpha2"), ("1.21", "v1beta1"), ("1.22", "v1beta2"), ("1.23", "v1beta2")]
)
def test_when_queue_sort_plugins_are_counted(version, api):
    """Up to 1.22 they are counted before the profile is made, and up to 1.21 two of them are only then
    too many."""
    none, two = (
        refusal_text(PolicyError, built, version, api, {"plugins": {"queueSort": yaml.safe_load(said)}})
        for said in ("disabled: [{name: '*'}]", "enabled: [{name: NodeName}]")
    )
    text = 'one queue sort plugin required for profile with scheduler name "default-scheduler"'
    begins = f"initializing profiles: {'' if version != '1.23' else 'creating profile for scheduler name default-scheduler: '}"
    assert none.removeprefix("couldn't create scheduler: ") == f"{begins}{text}"
    late = version in ("1.18", "1.21")
    assert two.endswith(text if late else "only one queue sort plugin can be enabled")


def test_arguments_up_to_1_21():
    """Different arguments of the plugin are refused when the second profile is made; policy check has it
    as a fault."""
    profiles = [{"schedulerName": name, **arguments("PrioritySort", by=name)} for name in "ab"]
    assert configuration("1.21", "v1beta1", profiles=profiles)
    text = 'different queue sort plugin args for profile "b"'
    with pytest.raises(PolicyError, match=text):
        built("1.21", "v1beta1", profiles=profiles)
    data = {"apiVersion": f"{GROUP}/v1beta1", "kind": "KubeSchedulerConfiguration", "profiles": profiles}
    (fault,) = check_profile(Document(data, "profile.yaml"), FRAMEWORK_RELEASES["1.21"]).faults
    assert fault.what.endswith(text)


def test_arguments_of_the_plugin_that_sorts():
    """The arguments of the queueSort plugin have to be the same, too."""
    sorter = enabled("queueSort", "Mine")
    profiles = [{"schedulerName": name, **sorter, **arguments("Mine", by=name)} for name in "ab"]
    text = 'profiles[1].pluginConfig.args: Invalid value: {"by":"b"}: queueSort must be the same for all profiles'
    assert refusal("1.34", "v1", profiles=profiles) == text


@pytest.mark.parametrize("version, shared", [("1.30", False), ("1.31", True)])
def test_waiting_pods(version, shared):
    """Since 1.31 the plugins of a profile see the pods of all profiles that wait."""
    config = configuration(version, "v1", profiles=[{"schedulerName": "a"}, {"schedulerName": "b"}])
    a, b = build_profiles(config, registry_of(config.release)).values()
    assert (a.waiting_pods is b.waiting_pods) == shared


@pytest.mark.parametrize("plugin", ["NodeResourcesFit", "NodeResourcesBalancedAllocation"])
def test_the_pre_score_of_resources(plugin):
    """The scores of resources have a PreScore since 1.27; before, a profile that names it is refused."""
    profile = {"plugins": {"preScore": {"enabled": [{"name": plugin}]}}}
    newer, older = configuration("1.27", "v1", profile), configuration("1.26", "v1", profile)
    assert build_profiles(newer, registry_of(newer.release))
    text = refusal_text(PolicyError, build_profiles, older, registry_of(older.release))
    assert text.endswith(f'plugin "{plugin}" does not extend PreScorePlugin plugin')
