"""Profiles of older versions as later releases read them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.exceptions import PolicyError
from kubeclassic.framework.config.configuration import read_configuration
from kubeclassic.framework.migrate.draft import Migration
from kubeclassic.framework.migrate.fromplugins import carried
from kubeclassic.framework.profile import Profile, build_profiles
from kubeclassic.framework.registry import registry_of
from kubeclassic.framework.releases import FRAMEWORK_RELEASES
from kubeclassic.questions.migrate.ask import migrate
from tests.support.examples import examples

GROUP = "kubescheduler.config.k8s.io"
USUAL = {"PrioritySort", "DefaultBinder", "DefaultPreemption"}


def document(api: str, *profiles: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A configuration in version *api*."""
    own = dict(profiles[0]) if api == "v1alpha1" and profiles else {"profiles": list(profiles)} if profiles else {}
    return {"apiVersion": f"{GROUP}/{api}", "kind": "KubeSchedulerConfiguration", **own, **fields}


def to(found: Migration, release: str) -> list[Profile]:
    """The profiles of what became of it, which *release* accepts."""
    wanted = FRAMEWORK_RELEASES[release]
    return list(build_profiles(read_configuration(found.document, None, wanted), registry_of(wanted)).values())


def moved(given: dict[str, Any], first: str, target: str) -> Migration:
    """*given* of *first*, as *target* reads it."""
    return carried(given, FRAMEWORK_RELEASES[first], FRAMEWORK_RELEASES[target])


def told(found: Migration) -> dict[str, str]:
    """Subject -> what is said of it."""
    return {note.subject: note.text for note in found.notes}


def scored(name: str, weight: int = 1, *off: str) -> dict[str, Any]:
    """A profile that scores by a plugin, and not by others."""
    return {"plugins": {"score": {"enabled": [{"name": name, "weight": weight}], "disabled": [{"name": one} for one in off]}}}


def test_what_1_17_disabled_in_vain() -> None:
    """A plugin that a configuration of 1.17 disables runs there, and so it does in later releases; a note says so."""
    given = document("v1alpha1", {"plugins": {"filter": {"disabled": [{"name": "*"}]}}})
    (before,) = to(moved(given, "1.17", "1.17"), "1.17")
    for release in ("1.18", "1.20", "1.27"):
        found = moved(given, "1.17", release)
        (built,) = to(found, release)
        assert {one.name for one in before.points["filter"]} <= {one.name for one in built.points["filter"]}
        assert told(found)["plugins.filter.disabled"] == "not disabled: nothing is by the configuration of this release"
    assert moved(given, "1.17", "1.17").document == given


def test_arguments_of_1_17() -> None:
    """Arguments get the names that they have from 1.18 on."""
    args = [{"name": "ServiceAffinity", "args": {"labels": ["rack"]}}]
    given = document("v1alpha1", {"plugins": {"filter": {"enabled": [{"name": "ServiceAffinity"}]}}, "pluginConfig": args})
    found = moved(given, "1.17", "1.18")
    assert found.document["pluginConfig"] == [{"name": "ServiceAffinity", "args": {"affinityLabels": ["rack"]}}]
    assert to(found, "1.18")
    assert given["pluginConfig"] == args


def test_what_v1alpha1_passed_over() -> None:
    """Unknown fields of v1alpha1, and of arguments, are not carried over to versions that would refuse them."""
    args = [{"name": "NodeLabel", "args": {"presentLabel": ["a"], "presentLabels": ["b"]}}]
    plugins = {"filter": {"enabled": [{"name": "NodeLabel"}]}, "score": {"enable": []}}
    given = document("v1alpha1", {"plugins": plugins, "pluginConfig": args, "extra": 1})
    for release in ("1.19", "1.27"):
        found = moved(given, "1.18", release)
        assert to(found, release)
        places = {"extra", "plugins.score.enable", "pluginConfig[0].args.presentLabel"}
        assert {told(found)[place] for place in places} == {"left out: 1.18 does not read the field"}
    assert moved(given, "1.18", "1.18").document == given


@pytest.mark.parametrize(
    ("api", "first"), [("v1alpha1", "1.17"), ("v1alpha2", "1.18"), ("v1beta1", "1.20"), ("v1beta2", "1.23"), ("v1beta3", "1.24")]
)
def test_every_later_release_takes_it(api: str, first: str) -> None:
    """A profile that says nothing is taken by each later release, with the weights that it has by default where plugins are written out."""
    weights = to(moved(document(api), first, first), first)[0].weights
    later = list(FRAMEWORK_RELEASES)[list(FRAMEWORK_RELEASES).index(first) :]
    for release in later:
        found = moved(document(api), first, release)
        (built,) = to(found, release)
        assert set(built.plugins()) >= USUAL
        assert built.weights["TaintToleration"] == weights["TaintToleration"]


def test_it_stays_as_it_is() -> None:
    """A release that reads the version takes it unchanged."""
    given = document("v1beta1", scored("NodeResourcesMostAllocated", 3, "NodeResourcesLeastAllocated"))
    found = moved(given, "1.19", "1.22")
    assert (found.document, found.notes) == (given, ())


@pytest.mark.parametrize(
    ("plugin", "strategy"), [("NodeResourcesMostAllocated", "MostAllocated"), ("NodeResourcesLeastAllocated", "LeastAllocated")]
)
def test_plugins_become_strategies(plugin: str, strategy: str) -> None:
    """A plugin that is gone is a strategy of NodeResourcesFit, with its resources and its weight, and a note."""
    profile = scored(plugin, 5, "NodeResourcesLeastAllocated")
    profile["pluginConfig"] = [{"name": plugin, "args": {"resources": [{"name": "cpu", "weight": 3}]}}]
    found = moved(document("v1beta1", profile), "1.20", "1.34")
    (built,) = to(found, "1.34")
    assert built.weights["NodeResourcesFit"] == 5
    (args,) = (entry["args"] for entry in found.document["profiles"][0]["pluginConfig"] if entry["name"] == "NodeResourcesFit")
    assert args == {"scoringStrategy": {"type": strategy, "resources": [{"name": "cpu", "weight": 3}]}}
    assert strategy in told(found)[plugin]


@pytest.mark.parametrize("plugin", ["NodePreferAvoidPods", "NodeLabel", "ServiceAffinity", "SelectorSpread"])
def test_what_is_lost(plugin: str) -> None:
    """A plugin that nothing replaces is left out, and that is said."""
    off = {
        "plugins": {
            "score": {"disabled": [{"name": "*"}], "enabled": [{"name": plugin, "weight": 2}, {"name": "ImageLocality", "weight": 1}]}
        }
    }
    found = moved(document("v1beta1", off), "1.20", "1.27")
    assert "left out" in told(found)[plugin] or "replaced" in told(found)[plugin]
    assert plugin not in to(found, "1.27")[0].plugins()


def test_arguments_are_kept() -> None:
    """Arguments stay, also beside what replaces a plugin; those that v1beta1 takes as a list are one."""
    term = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "Exists"}]}]}
    constraint = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}
    profile = {
        "plugins": {"filter": {"enabled": [{"name": "NodeLabel"}]}},
        "pluginConfig": [
            {"name": "NodeLabel", "args": {"presentLabels": ["disk"]}},
            {"name": "NodeAffinity", "args": {"addedAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term}}},
            {"name": "PodTopologySpread", "args": {"apiVersion": f"{GROUP}/v1beta1", "defaultConstraints": [constraint]}},
            {"name": "Mine", "args": {"a": 1}},
        ],
    }
    args = {
        entry["name"]: entry["args"]
        for entry in moved(document("v1beta1", profile), "1.20", "1.34").document["profiles"][0]["pluginConfig"]
    }
    (both,) = args["NodeAffinity"]["addedAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert [expression["key"] for expression in both["matchExpressions"]] == ["zone", "disk"]
    assert args["PodTopologySpread"] == {"defaultingType": "List", "defaultConstraints": [constraint]}
    assert args["Mine"] == {"a": 1}
    assert "NodeLabel" not in args


def test_every_profile_is_carried() -> None:
    """Each profile becomes one, and a plugin of one's own stays at its point."""
    own = {"schedulerName": "b", "plugins": {"permit": {"enabled": [{"name": "Mine"}]}, "postFilter": {"disabled": [{"name": "*"}]}}}
    a, b = moved(document("v1beta2", {"schedulerName": "a"}, own), "1.25", "1.29").document["profiles"]
    assert (a["schedulerName"], b["schedulerName"]) == ("a", "b")
    assert b["plugins"]["permit"]["enabled"] == [{"name": "Mine"}]
    names = [[plugin["name"] for plugin in one["plugins"]["multiPoint"]["enabled"]] for one in (a, b)]
    assert ["DefaultPreemption" in found for found in names] == [True, False]


def test_fields_besides_profiles() -> None:
    """Fields that the newer version has stay; others are left out with a note."""
    found = moved(document("v1beta2", parallelism=8, healthzBindAddress="", podMaxBackoffSeconds=60), "1.25", "1.29")
    assert (found.document["parallelism"], found.document["podMaxBackoffSeconds"]) == (8, 60)
    assert told(found) == {"healthzBindAddress": "left out: no such field any more"}


def test_another_version_with_the_same_lists() -> None:
    """v1beta3 becomes v1 by its name alone, within arguments too; a plugin that is gone is left out."""
    profile = {
        "plugins": {"multiPoint": {"enabled": [{"name": "SelectorSpread"}]}},
        "pluginConfig": [{"name": "InterPodAffinity", "args": {"apiVersion": f"{GROUP}/v1beta3", "hardPodAffinityWeight": 3}}],
    }
    found = moved(document("v1beta3", profile), "1.28", "1.29")
    assert found.document["apiVersion"] == f"{GROUP}/v1"
    assert found.document["profiles"][0]["pluginConfig"][0]["args"] == {"apiVersion": f"{GROUP}/v1", "hardPodAffinityWeight": 3}
    assert list(told(found)) == ["SelectorSpread"]
    limits = {"plugins": {"multiPoint": {"enabled": [{"name": "EBSLimits"}]}}}
    assert "NodeVolumeLimits" in told(moved(document("v1", limits), "1.31", "1.32"))["EBSLimits"]
    assert moved(document("v1", limits), "1.27", "1.31").notes == ()


def test_v1alpha2_becomes_v1beta1() -> None:
    """Names change, and a field becomes what the newer version has in its place."""
    given = document("v1alpha2", scored("DefaultPodTopologySpread", 4, "DefaultPodTopologySpread"), disablePreemption=True)
    (built,) = to(moved(given, "1.18", "1.19"), "1.19")
    assert built.weights["SelectorSpread"] == 4
    assert not built.points["postFilter"]
    flat = document("v1alpha1", {"schedulerName": "mine"}, hardPodAffinitySymmetricWeight=7)
    found = moved(flat, "1.18", "1.20").document["profiles"][0]
    assert (found["schedulerName"], found["pluginConfig"][0]["args"]) == ("mine", {"hardPodAffinityWeight": 7})


def test_backwards() -> None:
    """Plugins of all points at once cannot be listed for a release without multiPoint."""
    with pytest.raises(PolicyError, match=r"to: 1\.22 has no multiPoint, by which this profile names its plugins"):
        moved(document("v1"), "1.27", "1.22")


ZONE = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}
ARGUMENTS: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "PodTopologySpread": st.fixed_dictionaries(
        {"defaultConstraints": st.sampled_from(([], [ZONE], [ZONE] * 2))}, optional={"defaultingType": st.sampled_from(("System", "List"))}
    ),
    "VolumeBinding": st.fixed_dictionaries({"bindTimeoutSeconds": st.sampled_from((-1, 5))}),
    "InterPodAffinity": st.fixed_dictionaries({"hardPodAffinityWeight": st.sampled_from((0, 7, 101))}),
    "NodeAffinity": st.fixed_dictionaries({"addedAffinity": st.sampled_from(({}, {"requiredDuringSchedulingIgnoredDuringExecution": {}}))}),
}
RELEASES = list(FRAMEWORK_RELEASES)[1:]


def refused(ask: Callable[[], object]) -> str | None:
    """Why it is refused; None if it is not."""
    try:
        ask()
    except PolicyError as error:
        return str(error)
    return None


@given(data=st.data())
@examples(2)
def test_what_its_release_refuses_is_refused(data: st.DataObject) -> None:
    """A profile is carried over if its own release runs it, and then the newer release does, or says itself why not."""
    first = data.draw(st.sampled_from(RELEASES))
    target = data.draw(st.sampled_from(RELEASES[RELEASES.index(first) :]))
    api = data.draw(st.sampled_from(sorted(FRAMEWORK_RELEASES[first].configuration.api_versions)))
    chosen = data.draw(st.lists(st.sampled_from(sorted(ARGUMENTS)), unique=True))
    written = document(api, {"pluginConfig": [{"name": name, "args": data.draw(ARGUMENTS[name])} for name in chosen]})
    why = refused(lambda: to(Migration(written, ()), first))
    if why is not None:
        assert refused(lambda: migrate(written, first, to=target)) == why
    elif refused(lambda: migrate(written, first, to=target)) is None:
        assert to(moved(written, first, target), target)


def test_plugins_of_a_user_are_no_fault() -> None:
    """A plugin that no release has is carried over, but not with other arguments that are refused."""
    own = {"plugins": {"permit": {"enabled": [{"name": "Mine"}]}}}
    assert migrate(document("v1", own), "1.27", to="1.34").profile == document("v1", own)
    timeout = {"pluginConfig": [{"name": "VolumeBinding", "args": {"bindTimeoutSeconds": -1}}]}
    with pytest.raises(PolicyError, match="bindTimeoutSeconds"):
        migrate(document("v1", {**own, **timeout}), "1.27", to="1.34")


def test_the_question_takes_profiles() -> None:
    """Python migrates a profile as the command does, and checks both on a cluster."""
    node = {"kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}}}
    pod = {"kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}}
    result = migrate(
        document("v1beta1", scored("NodeResourcesMostAllocated", 3, "NodeResourcesLeastAllocated")),
        "1.22",
        to="1.34",
        check=[node, node | {"metadata": {"name": "b"}}, pod],
    )
    assert result.ok
    assert result.report.source == "profile"
    assert "The profile decides as the one before does under 1.22" in str(result.view().verdict)
