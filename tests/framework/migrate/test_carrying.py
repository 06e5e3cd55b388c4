"""Profiles of older versions as later releases read them."""

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.exceptions import PolicyError
from kubeclassic.framework.config.configuration import read_configuration
from kubeclassic.framework.migrate.profiles import Migration, carried
from kubeclassic.framework.profile import build_profiles
from kubeclassic.framework.registry import registry_of
from kubeclassic.framework.releases import FRAMEWORK_RELEASES
from kubeclassic.questions.migrate.ask import migrate
from tests.support.examples import examples
from tests.support.manifests import manifest
from tests.support.schemas import faults

GROUP = "kubescheduler.config.k8s.io"
USUAL = {"PrioritySort", "DefaultBinder", "DefaultPreemption"}


def document(api, *profiles):
    """A configuration in version *api*."""
    own = (
        dict(profiles[0])
        if api == "v1alpha1" and profiles
        else {"profiles": list(profiles)}
        if profiles
        else {}
    )
    return {"apiVersion": f"{GROUP}/{api}", "kind": "KubeSchedulerConfiguration", **own}


def to(found, release):
    """The profiles of what became of it, which *release* accepts."""
    wanted = FRAMEWORK_RELEASES[release]
    return list(
        build_profiles(read_configuration(found.document, None, wanted), registry_of(wanted)).values()
    )


def moved(given, first, target):
    """*given* of *first*, as *target* reads it."""
    return carried(given, FRAMEWORK_RELEASES[first], FRAMEWORK_RELEASES[target])


def told(found):
    """Subject -> what is said of it."""
    return {note.subject: note.text for note in found.notes}


def scored(name, weight=1, *off):
    """A profile that scores by a plugin, and not by others."""
    return {
        "plugins": {
            "score": {
                "enabled": [{"name": name, "weight": weight}],
                "disabled": [{"name": one} for one in off],
            }
        }
    }


def test_what_1_17_disabled_in_vain():
    """A plugin that a configuration of 1.17 disables runs there, and so it does in later releases; a note
    says so."""
    given = document("v1alpha1", yaml.safe_load("{plugins: {filter: {disabled: [{name: '*'}]}}}"))
    (before,) = to(moved(given, "1.17", "1.17"), "1.17")
    for release in ("1.18", "1.20", "1.27"):
        found = moved(given, "1.17", release)
        (built,) = to(found, release)
        assert {one.name for one in before.points["filter"]} <= {one.name for one in built.points["filter"]}
        assert (
            told(found)["plugins.filter.disabled"]
            == "not disabled: nothing is by the configuration of this release"
        )
    assert moved(given, "1.17", "1.17").document == given


@pytest.mark.parametrize(
    "api, first",
    [
        ("v1alpha1", "1.17"),
        ("v1alpha2", "1.18"),
        ("v1beta1", "1.20"),
        ("v1beta2", "1.23"),
        ("v1beta3", "1.24"),
    ],
)
def test_every_later_release_takes_it(api, first):
    """A profile that says nothing is taken by each later release, with the weights that it has by default
    where plugins are written out."""
    weights = to(moved(document(api), first, first), first)[0].weights
    later = list(FRAMEWORK_RELEASES)[list(FRAMEWORK_RELEASES).index(first) :]
    for release in later:
        found = moved(document(api), first, release)
        (built,) = to(found, release)
        assert set(built.plugins()) >= USUAL
        assert built.weights["TaintToleration"] == weights["TaintToleration"]


CARRIED = json.loads((Path(__file__).parent / "carried.json").read_text())
"""Configurations with what they become and the notes on it; ``says`` is what each of them shows."""


@pytest.mark.parametrize(
    "case", CARRIED, ids=[f"{case['says']} {case['from']} to {case['to']}" for case in CARRIED]
)
def test_carried(case):
    """Each configuration becomes its expected form, which the release accepts."""
    found = moved(case["given"], case["from"], case["to"])
    assert (found.document, [str(note) for note in found.notes]) == (case["becomes"], case["notes"])
    if "Mine" not in str(found.document):
        assert to(found, case["to"])


def test_backwards():
    """Plugins of all points at once cannot be listed for a release without multiPoint."""
    with pytest.raises(
        PolicyError, match=r"to: 1\.22 has no multiPoint, by which this profile names its plugins"
    ):
        moved(document("v1"), "1.27", "1.22")


ZONE = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}
ARGUMENTS = {
    "PodTopologySpread": st.fixed_dictionaries(
        {"defaultConstraints": st.sampled_from(([], [ZONE], [ZONE] * 2))},
        optional={"defaultingType": st.sampled_from(("System", "List"))},
    ),
    "VolumeBinding": st.fixed_dictionaries({"bindTimeoutSeconds": st.sampled_from((-1, 5))}),
    "InterPodAffinity": st.fixed_dictionaries({"hardPodAffinityWeight": st.sampled_from((0, 7, 101))}),
    "NodeAffinity": st.fixed_dictionaries(
        {"addedAffinity": st.sampled_from(({}, {"requiredDuringSchedulingIgnoredDuringExecution": {}}))}
    ),
}
RELEASES = list(FRAMEWORK_RELEASES)[1:]


def refused(ask):
    """The error of a refusal; None if there is none."""
    try:
        ask()
    except PolicyError as error:
        return str(error)
    return None


@given(data=st.data())
@examples(2)
def test_what_its_release_refuses_is_refused(data):
    """A profile is carried over if its own release runs it, and then the newer release does, or says itself
    why not."""
    first = data.draw(st.sampled_from(RELEASES))
    target = data.draw(st.sampled_from(RELEASES[RELEASES.index(first) :]))
    api = data.draw(st.sampled_from(sorted(FRAMEWORK_RELEASES[first].configuration.api_versions)))
    chosen = data.draw(st.lists(st.sampled_from(sorted(ARGUMENTS)), unique=True))
    written = document(
        api, {"pluginConfig": [{"name": name, "args": data.draw(ARGUMENTS[name])} for name in chosen]}
    )
    why = refused(lambda: to(Migration(written, ()), first))
    if why is not None:
        assert refused(lambda: migrate(written, first, to=target)) == why
    elif refused(lambda: migrate(written, first, to=target)) is None:
        assert to(moved(written, first, target), target)


def test_plugins_of_other_releases():
    """A plugin that only other releases have is refused, whatever its arguments are."""
    profile = yaml.safe_load(LABELLED % "{}")
    with pytest.raises(PolicyError, match=r"plugins: expected those of 1\.23, got NodeLabel"):
        moved(document("v1beta2", profile), "1.23", "1.26")


def test_plugins_of_a_user_are_no_fault():
    """A plugin that no release has is carried over, but not with other arguments that are refused."""
    own = yaml.safe_load("{plugins: {permit: {enabled: [{name: Mine}]}}}")
    assert migrate(document("v1", own), "1.27", to="1.34").profile == document("v1", own)
    timeout = yaml.safe_load("{pluginConfig: [{name: VolumeBinding, args: {bindTimeoutSeconds: -1}}]}")
    with pytest.raises(PolicyError, match="bindTimeoutSeconds"):
        migrate(document("v1", {**own, **timeout}), "1.27", to="1.34")


def test_the_question_takes_profiles():
    """Python migrates a profile as the command does, and checks both on a cluster."""
    node = manifest("Node", "a", status={"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}})
    pod = manifest(
        "Pod", "web", spec=yaml.safe_load("{containers: [{name: c, resources: {requests: {cpu: '1'}}}]}")
    )
    result = migrate(
        document("v1beta1", scored("NodeResourcesMostAllocated", 3, "NodeResourcesLeastAllocated")),
        "1.22",
        to="1.34",
        check=[node, node | {"metadata": {"name": "b"}}, pod],
    )
    assert result.ok
    assert result.report.source == "profile"
    assert "The profile decides as the one before does under 1.22" in str(result.view().verdict)


# --- Parts that schedule nothing, and lists without plugins --------------------------------------------------


def test_another_lock_than_a_lease():
    """A lock that the target refuses is left out, with a note; the rest of the election stays."""
    election = {"resourceLock": "endpoints", "leaseDuration": "30s"}
    found = moved({**document("v1beta2"), "leaderElection": election}, "1.23", "1.27")
    assert found.document["leaderElection"] == {"leaseDuration": "30s"}
    assert "leaderElection.resourceLock" in told(found)
    assert to(found, "1.27")


def test_an_address_with_a_port():
    """An address of health or metrics with a port is carried over, where the target still has the field."""
    old = {**document("v1beta1"), "healthzBindAddress": "0.0.0.0:10251", "metricsBindAddress": ""}
    found = moved(old, "1.22", "1.23")
    assert "healthzBindAddress" not in found.document
    assert "healthzBindAddress" in told(found)
    assert to(found, "1.23")


def test_a_point_that_is_not_read():
    """Plugins of preEnqueue, which v1beta3 decodes and does not run, do not come along into v1."""
    points = {"preEnqueue": {"enabled": [{"name": "NodeAffinity"}]}, "score": None}
    found = moved(document("v1beta3", {"plugins": points}), "1.26", "1.29")
    assert "preEnqueue" not in found.document["profiles"][0]["plugins"]
    assert "plugins.preEnqueue" in told(found)
    assert to(found, "1.29")


def test_arguments_of_a_plugin_of_ones_own():
    """Arguments of a user's own plugin are carried over, in whatever form they are."""
    profile = {"pluginConfig": [{"name": "Mine", "args": ["a"]}]}
    for api, first, target in (("v1beta2", "1.22", "1.27"), ("v1beta3", "1.28", "1.29")):
        entries = moved(document(api, profile), first, target).document["profiles"][0]["pluginConfig"]
        assert {"name": "Mine", "args": ["a"]} in entries


@pytest.mark.parametrize("target", ["1.22", "1.27"])
def test_arguments_that_were_not_read(target):
    """Arguments that the first release ignores are left out, where the target would refuse them."""
    entry = {"name": "NodeResourcesBalancedAllocation", "args": {"resources": [{"name": "cpu", "weight": 9}]}}
    gone = scored("NodePreferAvoidPods", 1, "NodePreferAvoidPods")
    found = moved(document("v1beta1", {"pluginConfig": [entry], **gone}), "1.20", target)
    configured = found.document["profiles"][0].get("pluginConfig", [])
    assert entry["name"] not in [other["name"] for other in configured]
    assert to(found, target)


# --- Nulls, and what a release ignores ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "api, first, target, fields",
    [
        ("v1beta1", "1.19", "1.36", "profiles: [null]"),
        (
            "v1beta1",
            "1.19",
            "1.20",
            "profiles: [{plugins: {score: {disabled: [null]}}, pluginConfig: [null]}]",
        ),
        ("v1beta2", "1.25", "1.36", "profiles: [{pluginConfig: [{}]}]"),
        ("v1beta3", "1.25", "1.36", "profiles: [{plugins: {score: {disabled: [{}]}}}]"),
        ("v1alpha1", "1.17", "1.36", "pluginConfig: [{args: {}}]"),
        ("v1alpha1", "1.17", "1.24", "pluginConfig: [{name: null, args: {x: 1}}, {name: Mine}]"),
        ("v1alpha1", "1.17", "1.22", "plugins: {a.b: 5s}"),
        ("v1alpha1", "1.18", "1.22", "{pluginConfig: [null], plugins: {filter: {disabled: [null]}}}"),
    ],
)
def test_nulls(api, first, target, fields):
    """Null items of lists are empty objects, and names that are missing are empty."""
    found = moved({**document(api), **yaml.safe_load(fields)}, first, target)
    assert "None" not in str(found.document)
    assert to(found, target)


LABELLED = """
    plugins: {filter: {enabled: [{name: NodeLabel}]}}
    pluginConfig:
    - {name: NodeLabel, args: {presentLabels: [disk]}}
    - {name: NodeAffinity, args: %s}
    """
DISK = {"key": "disk", "operator": "Exists"}
FIELD = {"key": "metadata.name", "operator": "In", "values": ["a"]}


@pytest.mark.parametrize(
    "first, args, terms",
    [
        ("1.21", {"addedAffinity": None}, [{"matchExpressions": [DISK]}]),
        ("1.21", [None, {}, {"matchFields": None}], []),
        (
            "1.21",
            [{"matchFields": [FIELD], "matchExpressions": None}],
            [{"matchFields": [FIELD], "matchExpressions": [DISK]}],
        ),
        ("1.19", [{"matchFields": [FIELD]}], [{"matchExpressions": [DISK]}]),
        ("1.19", True, [{"matchExpressions": [DISK]}]),
        ("1.19", {"addedAffinity": 5}, [{"matchExpressions": [DISK]}]),
    ],
)
def test_labels_beside_an_added_affinity(first, args, terms):
    """The labels come into each term that can match, if the first release reads the affinity at all."""
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    if isinstance(args, list):
        args = {"addedAffinity": {required: {"nodeSelectorTerms": args}}}
    found = moved(document("v1beta1", yaml.safe_load(LABELLED % json.dumps(args))), first, "1.36")
    entry = next(e for e in found.document["profiles"][0]["pluginConfig"] if e["name"] == "NodeAffinity")
    assert entry["args"]["addedAffinity"] == {required: {"nodeSelectorTerms": terms}}
    assert to(found, "1.36")


@pytest.mark.parametrize(
    "profile, version",
    [
        ({"plugins": {"filter": {"enabled": [{"name": "NodeLabel"}]}}}, "v1beta1"),
        ({"pluginConfig": [{"name": "NodeLabel", "args": {"absentLabels": ["a"]}}]}, "v1beta1"),
        (scored("NodeAffinity", 3, "NodeAffinity"), "v1beta2"),
    ],
)
def test_the_newest_version_that_takes_the_plugins(profile, version):
    """A plugin that the newest version refuses stays in an older one."""
    found = moved(document("v1alpha2", profile), "1.18", "1.22")
    assert found.document["apiVersion"] == f"{GROUP}/{version}"
    assert {**found.document["profiles"][0], **profile} == found.document["profiles"][0]
    assert not found.notes
    assert to(found, "1.22")


@pytest.mark.parametrize("api, first", [("v1alpha2", "1.18"), ("v1beta1", "1.19"), ("v1beta2", "1.22")])
@pytest.mark.parametrize("target", ["1.18", "1.20", "1.22", "1.23", "1.36"])
def test_the_schema(api, first, target):
    """The schema has the versions of all releases, and needs no profiles."""
    if target >= first:
        assert faults("policy-migrate", moved(document(api), first, target).document) == []


@pytest.mark.parametrize("profile", [{}, {"plugins": {"score": {"disabled": [{"name": "*"}]}}}])
def test_other_defaults(profile):
    """A note tells of a plugin that runs by default in one of both releases, unless it is disabled."""
    texts = told(moved(document("v1beta1", profile), "1.19", "1.22"))
    assert texts == ({} if profile else {"SelectorSpread": "runs at score by default in 1.19, not in 1.22"})
