"""Tests of what a KubeSchedulerConfiguration means on a release, and of all its faults."""

import pytest
import yaml

from kubeclassic.api.reading.documents import Document
from kubeclassic.exceptions import UnknownNameError
from kubeclassic.framework.config.fielderrors import ProfileFault, fault_of
from kubeclassic.framework.profilecheck import check_profile, release_with_profiles
from kubeclassic.framework.releases import FRAMEWORK_RELEASES
from tests.support.configbuild import GROUP, enabled


def checked(release, api="v1", repeated=(), **fields):
    """The check of a configuration with *fields*."""
    data = {"apiVersion": f"{GROUP}/{api}", "kind": "KubeSchedulerConfiguration", **fields}
    return check_profile(Document(data, "profile.yaml", repeated=repeated), FRAMEWORK_RELEASES[release])


def places(report):
    """Where the faults are."""
    return [fault.where for fault in report.faults]


def test_all_at_once():
    """Faults of every kind are listed together: of types, fields, values, arguments and plugins."""
    profile = {
        "schedulerName": "a",
        **enabled("score", "Mine"),
        "pluginConfig": yaml.safe_load("""
            - name: InterPodAffinity
              args: {hardPodAffinityWeight: 101, other: 1}
            - name: PodTopologySpread
              args: {kind: Other}
            - name: NodeResourcesFit
              args:
                ignoredResourceGroups: [a/b]
            """),
    }
    report = checked(
        "1.27",
        repeated=("parallelism",),
        parallelism=0,
        podMaxBackoffSeconds="x",
        nope=1,
        profiles=[profile] * 2,
    )
    arguments = [
        f"profiles[{i}].pluginConfig[{j}].args.{name}"
        for i in range(2)
        for j, name in ((0, "other"), (1, "kind"))
    ]
    assert sorted(places(report)) == sorted(
        [
            "parallelism",
            "parallelism",
            "podMaxBackoffSeconds",
            "nope",
            *arguments,
            "profiles[1].schedulerName",
            *(f"profiles[{i}].pluginConfig[0].args.hardPodAffinityWeight" for i in range(2)),
            *(f"profiles[{i}].pluginConfig[2].args.ignoredResourceGroups[0]" for i in range(2)),
            *(f"profiles[{i}].plugins.score" for i in range(2)),
        ]
    )
    assert not report.profiles


def test_got_and_wanted():
    """Each fault says what was got, and what was wanted where that is known."""
    (one,) = checked("1.27", podMaxBackoffSeconds="x").faults
    assert (one.what, one.got, one.wanted) == ("wrong type", '"x"', "a whole number")
    (one,) = checked("1.27", api="v1beta1").faults
    assert (one.where, one.what) == ("apiVersion", "not read by this release")
    assert (
        one.wanted == f"{GROUP}/v1beta2 or {GROUP}/v1beta3 or {GROUP}/v1 and kind KubeSchedulerConfiguration"
    )
    (one,) = checked("1.27", nam=1, profiles=[]).faults
    assert one.what.startswith("unknown field")


@pytest.mark.parametrize("release", ["1.20", "1.21", "1.22"])
def test_arguments_that_plugins_check(release):
    """Also where each plugin checks its own arguments all of them are looked at."""
    given = yaml.safe_load("""
        - name: InterPodAffinity
          args: {hardPodAffinityWeight: 101}
        - name: DefaultPreemption
          args: {minCandidateNodesPercentage: 101}
        """)
    found = places(checked(release, "v1beta1", profiles=[{"pluginConfig": given}]))
    assert [place.rpartition(".args")[0] for place in found] == [
        "profiles[0].pluginConfig[1]",
        "profiles[0].pluginConfig[0]",
    ][:: 1 if release != "1.22" else -1]


def test_v1alpha1():
    """Paths are those of the file, which has one profile without a list."""
    plugins = yaml.safe_load("{postFilter: {enabled: [{name: Nope}]}, preScore: {}}")
    assert places(checked("1.17", "v1alpha1", plugins=plugins)) == ["plugins.postFilter"]
    del plugins["postFilter"]
    assert checked("1.17", "v1alpha1", plugins=plugins).warnings == (
        "plugins.preScore: unknown field, ignored",
    )


def test_what_the_build_refuses():
    """A profile without a queueSort plugin is refused as a whole."""
    profile = yaml.safe_load("{plugins: {multiPoint: {disabled: [{name: '*'}]}}}")
    (fault,) = checked("1.27", profiles=[profile]).faults
    assert fault.where == "profiles[0]"
    assert "queue sort plugin required" in fault.what


def test_a_plugin_of_ones_own():
    """For a plugin that is not known a way is shown."""
    report = checked("1.27", profiles=[enabled("multiPoint", "Mine")])
    assert [fault.what for fault in report.faults] == ['PreFilterPlugin "Mine" does not exist']
    (hint,) = report.warnings
    assert hint.startswith(
        "no plugin Mine is known; if it was compiled into your scheduler, --rules FILE.py:NAME can supply it"
    )


@pytest.mark.parametrize(
    "text, fault",
    [
        ('a[0].b: Invalid value: "x: y": no: good', ProfileFault("a[0].b", "no: good", '"x: y"')),
        ("a.b: Required value", ProfileFault("a.b", "Required value")),
        ("a.b: Required value: say it", ProfileFault("a.b", "Required value: say it")),
        ('a: Duplicate value: "x"', ProfileFault("a", "Duplicate value", '"x"')),
        (
            'a: Unsupported value: "x": supported values: "y", "z"',
            ProfileFault("a", "Unsupported value", '"x"', '"y", "z"'),
        ),
        ("a: Forbidden: never", ProfileFault("a", "Forbidden: never")),
        ("plain words", ProfileFault("", "plain words")),
    ],
)
def test_texts_are_taken_apart(text, fault):
    """Where, what, got and wanted are read off upstream's texts."""
    assert fault_of(text) == fault


def test_what_runs():
    """Each profile has its plugins in order, with weights; its own are told from the defaults."""
    profiles = [{"schedulerName": "a"}, {"schedulerName": "b", **enabled("multiPoint", "SelectorSpread")}]
    report = checked("1.27", profiles=profiles)
    a, b = report.profiles
    assert (a.scheduler_name, a.filters[0].name, a.post_filters, report.faults) == (
        "a",
        "NodeUnschedulable",
        ("DefaultPreemption",),
        (),
    )
    assert [score.name for score in b.scores if score not in a.scores] == ["SelectorSpread"]


def test_warnings():
    """Fields that are accepted and have no effect are reported."""
    fit = yaml.safe_load("""
        multiPoint:
          disabled:
          - {name: NodeResourcesFit}
        postFilter:
          disabled:
          - {name: '*'}
        """)
    assert checked("1.27", profiles=[{"plugins": fit}]).warnings == (
        "profiles[0].plugins: plugin NodeResourcesFit does not run: nothing checks what pods request",
        "profiles[0].plugins: no pod preempts others: no plugin runs at postFilter",
    )
    (warning,) = checked("1.26", "v1beta2", profiles=[enabled("multiPoint", "SelectorSpread")]).warnings
    assert warning.startswith("profiles[0].plugins.multiPoint: ignored by 1.26")
    given = yaml.safe_load("{pluginConfig: [{name: InterPodAffinity, args: {hardPodAffinityWeight: 5}}]}")
    assert checked("1.17", "v1alpha1", **given).warnings == (
        "pluginConfig: arguments of InterPodAffinity are ignored: it has none in 1.17",
    )
    given = yaml.safe_load("""
        pluginConfig:
        - name: NodeLabel
          args:
            presentLabel: [a]
        plugins:
          filter:
            enabled:
            - {name: NodeLabel}
        """)
    assert checked("1.18", "v1alpha1", **given).warnings == (
        "pluginConfig[0].args.presentLabel: unknown field, ignored",
    )
    given = yaml.safe_load("{plugins: {postFilter: {disabled: [{name: '*'}]}, score: null}}")
    assert checked("1.17", "v1alpha1", **given).warnings == (
        "plugins.postFilter.disabled: ignored by 1.17, where a configuration can only add plugins",
    )
    given = yaml.safe_load("{pluginConfig: [{name: SelectorSpread, args: {}}]}")
    assert checked("1.28", "v1beta3", profiles=[given]).warnings == (
        "profiles[0].pluginConfig: arguments of SelectorSpread have no effect: it runs at no point",
    )


@pytest.mark.parametrize(
    "api, release, fields, warnings",
    [
        ("v1", "1.30", "profiles: [null]", ()),
        ("v1beta1", "1.20", "{profiles: [{plugins: {score: {disabled: [null]}}}], extenders: [null]}", ()),
        (
            "v1",
            "1.30",
            "profiles: [{pluginConfig: [null]}]",
            ("profiles[0].pluginConfig: an entry without a name has no effect",),
        ),
        ("v1alpha1", "1.17", "plugins: {kind: 5s}", ("plugins.kind: unknown field, ignored",)),
        ("v1alpha1", "1.18", "algorithmSource: {foo: x}", ("algorithmSource.foo: unknown field, ignored",)),
    ],
)
def test_nulls_and_unknown_fields(api, release, fields, warnings):
    """Null items of lists are empty objects, and unknown fields do nothing but warn."""
    report = checked(release, api, **yaml.safe_load(fields))
    assert (report.faults, report.warnings) == ((), warnings)


@pytest.mark.parametrize("api, release", [("v1beta1", "1.19"), ("v1beta1", "1.21"), ("v1", "1.36")])
@pytest.mark.parametrize(
    "name, faults", [("-1", ["extenders[0].managedResources[0].name"]), ("example.com/x", [])]
)
def test_resources_of_extenders(api, release, name, faults):
    """Resources that extenders manage replace those in the arguments, so that the latter have no faults."""
    extender = {"filterVerb": "f", "managedResources": [{"name": name, "ignoredByScheduler": True}]}
    profile = yaml.safe_load("pluginConfig: [{name: NodeResourcesFit, args: {ignoredResources: ['']}}]")
    report = checked(release, api, podInitialBackoffSeconds=0, extenders=[extender], profiles=[profile])
    assert places(report) == ["podInitialBackoffSeconds", *faults]


@pytest.mark.parametrize(
    "api, release",
    [("v1alpha1", "1.18"), ("v1beta1", "1.22"), ("v1beta2", "1.27"), ("v1", "1.36"), ("v9", "1.36")],
)
def test_the_usual_one(api, release):
    """Without a name it is the newest release that reads the version."""
    assert release_with_profiles(None, {"apiVersion": f"{GROUP}/{api}"}).version == release


def test_one_without_profiles():
    """A release with predicates reads no profile."""
    with pytest.raises(
        UnknownNameError, match=r"--release: expected 1\.17, .*, got 1\.16, which reads no profiles"
    ):
        release_with_profiles("1.16", {})
