"""An upgrade: each decision that a release changes is found, once, with the fact that changes it."""

from itertools import pairwise, product

import attrs
import pytest
import yaml
from msgspec.structs import replace

from kubeclassic.api.objects import Node
from kubeclassic.api.record import UNSET
from kubeclassic.api.view import Paragraph, Table
from kubeclassic.core.arrays.table import AVOID
from kubeclassic.exceptions import UnknownNameError
from kubeclassic.framework.releases import (
    ALL_PATCH_LEVELS,
    ALL_RELEASES,
    BY_ID,
    ReleaseFact,
    facts_of,
    undone,
)
from kubeclassic.questions.compare.comparison import compare
from kubeclassic.questions.upgrade import facts
from kubeclassic.questions.upgrade.ask import upgrade
from kubeclassic.questions.upgrade.facts import UpgradeTrial, specs_of, way_of
from kubeclassic.questions.upgrade.upgrade import MovedPod, Upgrade, concerns, traits_of, upgraded
from kubeclassic.simulation.conform import engine_for
from kubeclassic.simulation.sides import MODES
from kubeclassic.simulation.simulate import Files, Scenario
from tests.conftest import ROOT
from tests.support.build import node
from tests.support.build import pod as made_pod
from tests.support.pages import page_of
from tests.support.spreadbuild import constraint
from tests.support.worldforms import drawn, node_form, pod_form

CLUSTER = ROOT / "examples" / "cluster"
ALL = list(ALL_RELEASES)


def through(scenario, versions=ALL, mode="locked", *, shares=True):
    """*scenario* through *versions* with the default profile of each."""
    return upgraded(attrs.evolve(Upgrade(scenario, specs_of(versions), mode=mode), shares=shares))


def moves(found):
    """The moves without their causes."""
    return [(one.pod, one.after, one.old, one.new) for one in found.moved]


@pytest.fixture(scope="module")
def example():
    """The example cluster from the first release to the last."""
    return upgrade(CLUSTER, "1.12", "1.36")


# --- Example ------------------------------------------------------------------------------------------------

# The example cluster.


def test_it_is_of_a_piece(example):
    """The causes of a step add up to its decisions that differ, each by a fact of its release; ways are
    as the moves say."""
    document = example.document
    for step in document.steps:
        assert sum(cause.decisions for cause in step.causes) == step.differ
        assert step.differ == step.gained + step.lost + step.makes_room + step.elsewhere + step.other_room
    parts = (part for section in example.view().sections for part in section.parts)
    table = next(part for part in parts if isinstance(part, Table) and part.name == "steps")
    at = [column.title for column in table.columns].index("other room")
    assert all(row[1] == sum(row[2 : at + 1]) for row in table.rows)
    assert ("table" in table.columns[at].forms) is any(step.other_room for step in document.steps)
    assert [one for one in document.moved if one.effect == "unknown"] == []
    assert all(BY_ID[one.fact].release == one.after for one in document.moved if one.fact)
    assert {stage.release: stage.like for stage in document.stages} == dict(ALL_PATCH_LEVELS)
    moved = {(found.pod, found.after) for found in document.moved}
    for pod, hosts in document.ways.items():
        steps = zip(document.stages[1:], pairwise(hosts), strict=True)
        assert all((pod, stage.release) in moved for stage, (one, other) in steps if one != other)


def test_the_status_is_that_of_the_pod_that_is_asked_about():
    """Other pods move, but not this one."""
    asked = {
        name: upgrade(CLUSTER, "1.16", "1.36", pod=name)
        for name in ("analytics/yearly-report", "shop/orders-0")
    }
    assert {name: found.ok for name, found in asked.items()} == {
        "analytics/yearly-report": True,
        "shop/orders-0": False,
    }


def test_a_pod_may_have_to_make_room():
    """By 1.28 the sidecar of the pod that runs counts, so that the other one gets the node by evicting
    it."""
    sidecar = yaml.safe_load("{name: s, restartPolicy: Always, resources: {requests: {cpu: '2'}}}")
    low = made_pod("low", on="n", cpu=1, initContainers=[sidecar])
    found = upgrade(
        [node("n", cpu="4"), low, made_pod("high", cpu=2, priority=9)], "1.27", "1.29", pod="high"
    )
    lines = [str(line.text) for line in found.view().sections[0].parts if isinstance(line, Paragraph)]
    assert [line.partition(": ")[0] for line in lines if line.startswith("1.")] == [
        "1.27  n",
        "1.28  <none>, has to make room on n",
    ]
    assert [(one.pod, one.change, one.new) for one in found.document.moved] == [
        ("default/high", "makes room", "n")
    ]
    assert (found.document.steps[0].lost, found.document.steps[0].makes_room) == (0, 1)
    first_screen = page_of(found).partition("What to do next")[0]
    assert "has to make room" in first_screen
    assert "no longer fits" not in first_screen


def test_the_first_step_of_a_pod(example):
    """The release that moves a given pod first is found, with the fact in a sentence."""
    first = example.first_step("shop/mailer-dg6wvxr99x-0")
    assert first.after == "1.16"
    assert example.why(first).startswith("1.16: one of several best nodes is taken at random")
    assert example.first_step("shop/nothing") is None


def test_where_the_search_begins():
    """A decision that differs only as the search begins at another node is due to a change of the search."""
    found = upgrade(CLUSTER, "1.27", "1.28").document
    moves = {each.fact for each in found.moved if each.change == "elsewhere"}
    assert moves == {"outside-without-status"}


def test_the_view(example):
    """The view has the steps, the causes and the decisions."""
    view = example.view()
    assert "6 of 22 pods go elsewhere in 1.36 than in 1.12" in str(view.verdict)
    assert {table.name for table in view.tables} == {"steps", "causes", "moved", "ways", "nodes"}
    assert view.tables_of("csv")[0].name == "moved"
    assert not example.ok


# --- Patch levels -------------------------------------------------------------------------------------------

# Each stage says which patch level it is like.


def test_a_policy_in_1_19():
    """Text says that later patches of 1.19 preempt under a Policy, where one runs there, and not else."""
    policy = {"kind": "Policy", "apiVersion": "v1"}
    told = "1.19.8 and later let pods preempt others under a Policy, too."
    found, plain = (
        upgrade(CLUSTER, "1.18", "1.19", policy=given).view().sections for given in (policy, None)
    )
    assert Paragraph(told) in [item for part in found for item in part.parts]
    assert Paragraph(told) not in [item for part in plain for item in part.parts]


# --- Against compare ----------------------------------------------------------------------------------------

# An upgrade of one step is a comparison of two releases.


@pytest.mark.parametrize(
    "before, after", [("1.15", "1.16"), ("1.16", "1.17"), ("1.21", "1.22"), ("1.28", "1.29")]
)
@pytest.mark.parametrize("seed", range(6))
def test_the_same_decisions_differ(before, after, seed):
    """In mode locked the same pods differ as compare says, at the first try."""
    scenario = drawn(seed)
    engines = {
        name: engine_for(version, {}, counts_images_late=True)
        for name, version in (("a", before), ("b", after))
    }
    expected = [found.pod for found in compare(scenario, engines).differences if not found.retry]
    found = [one.pod for one in through(scenario, [before, after]).moved if not one.retry]
    assert found == expected


# --- Sharing ------------------------------------------------------------------------------------------------

# Releases that differ in nothing that was asked for share one course.


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(7))
def test_nothing_is_missed(mode, seed):
    """With and without sharing the same decisions differ, and each difference has a cause."""
    scenario = drawn(seed)
    shared = through(scenario, mode=mode)
    assert moves(shared) == moves(through(scenario, mode=mode, shares=False))
    assert [one for one in shared.moved if one.effect == "unknown"] == []


def spread(*constraints):
    """A cluster in which a pod waits that has *constraints*."""
    return Scenario((), (made_pod("web", topologySpreadConstraints=constraints),))


@pytest.mark.parametrize(
    "fact, scenario, configuration, wanted",
    [
        ("least-allocated-is-fit", Scenario((node("a"), node("b")), ()), (), False),
        ("least-allocated-is-fit", Scenario((node("a", annotations={AVOID: "{}"}), node("b")), ()), (), True),
        ("least-allocated-is-fit", Scenario((node("a"), node("b")), ()), ["profile"], True),
        ("zero-scalars-pass", Scenario((), (made_pod("web", cpu="0"),)), (), False),
        ("zero-scalars-pass", Scenario((), (made_pod("web", requests={"memory": "0"}),)), (), False),
        ("zero-scalars-pass", Scenario((), (made_pod("web", requests={"example.com/gpu": "0"}),)), (), True),
        ("sidecars-on-nodes-scored", Scenario((), (made_pod("web", overhead={"cpu": "1"}),)), (), False),
        ("sidecars-on-nodes-scored", Scenario((), (made_pod("web", overhead={"cpu": "5E"}),)), (), True),
        ("vain-tries-clear", Scenario((), (made_pod("a"), made_pod("b"))), (), False),
        ("vain-tries-clear", Scenario((), (made_pod("a"), made_pod("b", priority=9))), (), True),
        ("images-on-all-nodes", Scenario((node("a"), node("b")), ()), (), False),
        ("images-on-all-nodes", Files.read([CLUSTER]).scenario(), (), False),
        ("images-on-all-nodes", Files.read([CLUSTER]).scenario(), ["events"], True),
        ("constraints-count-apart", spread(constraint("zone"), constraint("host")), (), False),
        ("constraints-count-apart", spread(constraint("zone"), constraint("zone")), (), True),
        ("empty-selectors-count-nothing", spread(constraint()), (), False),
        ("empty-selectors-count-nothing", spread(constraint(selector={})), (), True),
        ("inclusion-policies", spread(constraint()), (), False),
        ("inclusion-policies", spread(constraint(nodeTaintsPolicy="Honor")), (), True),
        ("spread-gates-on", spread(constraint(nodeTaintsPolicy="Honor")), (), False),
        ("spread-gates-on", spread(constraint(minDomains=2)), (), True),
    ],
)
def test_what_concerns_a_cluster(fact, scenario, configuration, wanted):
    """A fact concerns a cluster that has what it needs: nodes that avoid pods, or a profile that may;
    amounts of 0; images on nodes that change; what it reads of constraints."""
    assert concerns(BY_ID[fact], traits_of(scenario, configuration)) is wanted


# --- Positions ----------------------------------------------------------------------------------------------

# Where a search begins, in releases that share steps.


def test_lists_of_nodes_that_are_read_otherwise():
    """A release that reads its list from the start takes over where one began that reads it on by a
    cursor."""
    nodes = tuple(node_form(number, 0) for number in range(4))
    scenario = Scenario(nodes, tuple(pod_form("any", 0, f"w{number}") for number in range(6)))
    found = through(scenario, ["1.17", "1.19", "1.21", "1.22"])
    assert [one for one in found.moved if one.effect == "unknown"] == []


# --- Trials -------------------------------------------------------------------------------------------------

# A cause is tried: the newer release without the fact decides as the older one.


def test_without_its_fact_a_release_decides_as_before():
    """Where a single fact moves pods, the release without it moves none of them for that reason."""
    tried = 0
    pairs = (("1.21", "1.22"), ("1.28", "1.29"), ("1.32", "1.33"))
    for scenario, (before, after) in product(map(drawn, range(8)), pairs):
        moved = through(scenario, [before, after]).moved
        its = {one.fact for one in moved if one.fact is not None}
        if len(its) == 1 and not any(one.retry for one in moved):
            release = undone(ALL_RELEASES[after], [BY_ID[name] for name in its])
            engines = {"a": engine_for(before, {}), "b": engine_for(after, {}, release=release)}
            left = {found.pod for found in compare(scenario, engines).differences}
            assert left.isdisjoint({one.pod for one in moved})
            tried += 1
    assert tried


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(4))
def test_looked_at_on_the_way(monkeypatch, mode, seed):
    """Where decisions are looked at as they are taken, differences and causes are those of a look at each
    afterwards."""
    found = through(drawn(seed), ["1.15", "1.16", "1.17", "1.18"], mode)
    monkeypatch.setattr(Upgrade, "is_paired", lambda asked, number: False)
    assert found == through(drawn(seed), ["1.15", "1.16", "1.17", "1.18"], mode)


@pytest.mark.parametrize("seed", range(8))
def test_many_at_once(monkeypatch, seed):
    """All steps without one fact find a cause for each difference, the likely facts first."""
    versions = ["1.19", "1.20", "1.21", "1.22", "1.23"]
    scenario = drawn(seed)
    one_by_one = through(scenario, versions)
    monkeypatch.setattr(facts, "FEW", 1)
    at_once = through(scenario, versions)
    assert moves(at_once) == moves(one_by_one)
    assert [one for one in at_once.moved if one.effect == "unknown"] == []


def test_the_only_fact_that_fits_need_not_be_the_cause(monkeypatch):
    """Where some of the first steps are decided otherwise without it too, each step is tried."""
    (fact, *_) = (fact for fact in facts_of("1.35") if fact.cells)
    monkeypatch.setattr(facts, "FEW", 4)
    monkeypatch.setattr(
        UpgradeTrial,
        "_steps_explained",
        lambda self, fact, numbers, among, end=None: [at for at in among if at % 2],
    )
    trial = UpgradeTrial([fact], [fact], None, None, None)
    assert list(trial._facts_by_step(dict.fromkeys(range(10)))) == [1, 3, 5, 7, 9]


# --- Way ----------------------------------------------------------------------------------------------------

# Which releases are on the way.


def test_all_or_some():
    """The way has every release from the first to the last, or those that are named."""
    assert way_of("v1.20", "1.22.6") == ["1.20", "1.21", "1.22"]
    assert way_of("1.12", "1.36", ["1.16", "1.22", "1.27"]) == ["1.16", "1.22", "1.27"]


@pytest.mark.parametrize(
    "start, end, steps, said",
    [
        ("1.20", "1.19", (), "to: expected a release after 1.20, got 1.19"),
        ("1.20", "1.20", (), "to: expected a release after 1.20, got 1.20"),
        (
            "1.12",
            "1.36",
            ("1.22", "1.16"),
            "steps: expected two releases or more, oldest first, got 1.22,1.16",
        ),
        ("1.11", "1.36", (), 'release: expected 1.12 to 1.36, got "1.11"'),
    ],
)
def test_refusals(start, end, steps, said):
    """A way that does not go forward is refused."""
    with pytest.raises(UnknownNameError, match=said):
        way_of(start, end, steps)


def test_a_policy_is_carried_over():
    """A Policy runs by each release that reads one, and is migrated for those after."""
    found = upgrade(
        CLUSTER, "1.16", "1.24", policy=ROOT / "examples" / "policies" / "kubernetes-classic.json"
    ).document
    runs = [stage.runs for stage in found.stages]
    assert runs == [*["the Policy"] * 7, *["the Policy, migrated to a profile"] * 2]


def test_a_profile_is_carried_over():
    """A profile runs as it is, in a version that the release reads, and is translated where its plugins
    are gone."""
    score = yaml.safe_load("""
        disabled:
        - {name: NodeResourcesLeastAllocated}
        enabled:
        - {name: NodeResourcesMostAllocated, weight: 3}
        """)
    profile = {
        "apiVersion": "kubescheduler.config.k8s.io/v1beta1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"plugins": {"score": score}}],
    }
    found = upgrade(CLUSTER, "1.20", "1.26", profile=profile).document
    assert [stage.runs for stage in found.stages] == [*["the profile"] * 3, *["the profile, migrated"] * 4]
    assert found.same


def test_no_pod_no_move():
    """Without pods that wait no decision differs."""
    found = through(Scenario(tuple(item for item in drawn(1).objects if isinstance(item, Node)), ()))
    assert found.same
    assert (found.pods, found.moved) == (0, ())


def test_a_sentence_says_the_points():
    """A difference of scores says how many points the node gains."""
    result = upgrade(CLUSTER, "1.12", "1.13")
    fact = facts_of("1.29")[0]
    moved = MovedPod(
        "a/b",
        "1.28",
        "1.29",
        False,
        "elsewhere",
        "n1",
        "n2",
        "fact",
        fact.id,
        "score",
        "ImageLocality",
        "n2",
        12,
        "",
    )
    document = replace(result.document, facts=(ReleaseFact.of(fact),))
    assert (
        attrs.evolve(result, document=document).why(moved)
        == f"1.29: {fact.sentence}: n2 gains 12 points on n1"
    )


SMALL = {
    "scores.yaml": ["scores-to-100"],
    "zones.yaml": ["default-constraints"],
    "weights.yaml": ["weights-of-v1beta3"],
    "names.yaml": ["named-nodes-alone", "unknown-names-pass"],
    "sidecars.yaml": ["sidecars-are-refused", "sidecars-by-default"],
    "disks.yaml": ["cloud-disk-limits-moved"],
    "best-effort.yaml": ["best-effort-not-balanced"],
    "too-small.yaml": ["too-small-is-final"],
    "ties.yaml": ["ties-by-heap"],
    "balance.yaml": ["balance-by-change"],
}
"""Small cluster of the guide -> the facts that it shows."""


# --- Small clusters -----------------------------------------------------------------------------------------

# The clusters of the guide, each with one thing on which releases differ.


@pytest.mark.parametrize("name", SMALL)
def test_a_cluster_shows_its_fact(name):
    """From the release before its fact, the first decision that differs is by that fact."""
    wanted = SMALL[name]
    releases = [BY_ID[fact].release for fact in wanted]
    found = upgrade(ROOT / "examples" / "upgrade" / name, ALL[ALL.index(releases[0]) - 1], releases[-1])
    assert [one.fact for one in found.document.moved] == wanted


def test_a_policy_goes():
    """A Policy that keeps the pods of a service together is a profile without that from 1.23 on."""
    folder = ROOT / "examples" / "upgrade"
    found = upgrade(folder / "labels.yaml", "1.22", "1.23", policy=folder / "policy.json")
    assert [(one.old, one.new, one.fact) for one in found.document.moved] == [("b", "a", "policies-go")]


def test_plugins_of_a_policy_that_are_gone():
    """A fact that takes a plugin out of what becomes of a Policy is found: without the fact the Policy is
    migrated anew."""
    folder = ROOT / "examples" / "classic"
    moved = upgrade(folder / "cluster.yaml", "1.16", "1.32", policy=folder / "policy.json").document.moved
    assert {(one.after, one.fact) for one in moved} == {
        ("1.20", "default-constraints"),
        ("1.32", "cloud-disk-plugins-gone"),
    }


def test_ends_that_steps_do_not_have():
    """They are not passed over silently."""
    zones = ROOT / "examples" / "upgrade" / "zones.yaml"
    for start, end, text in (("1.14", None, "start: expected 1.16"), (None, "1.27", "end: expected 1.22")):
        given = {name: value for name, value in (("start", start), ("end", end)) if value}
        with pytest.raises(UnknownNameError, match=f"{text} as in steps, got "):
            upgrade(zones, steps=("1.16", "1.22"), **given)


def test_a_step_over_several_releases():
    """A fact is found although the release cannot run with all that the one before that fact has: a
    plugin is gone."""
    found = upgrade(ROOT / "examples" / "upgrade" / "zones.yaml", "1.16", "1.22", steps=("1.16", "1.22"))
    assert [one.fact for one in found.document.moved] == ["default-constraints"]


# --- Nodes --------------------------------------------------------------------------------------------------

# The nodes that differ for one pod.


@pytest.mark.parametrize("mode", MODES)
def test_why_a_node_is_turned_down(mode):
    """For the steps that move the pod: each node that the two releases judge differently in the same state,
    before and after. In mode locked another pod has the room that 1.27 gave it."""
    found = upgrade(CLUSTER, "1.27", "1.29", pod="shop/orders-1", mode=mode)
    assert found.document.nodes is not UNSET
    told = {one.node: (one.old, one.new) for one in found.document.nodes if one.after == "1.29"}
    sidecars = (
        "turned down: Pod has a restartable init container and the SidecarContainers feature is disabled"
    )
    assert {one.after for one in found.document.nodes} == {"1.28", "1.29"}
    room = {"free": "fits", "locked": "turned down: Insufficient cpu"}[mode]
    assert (len(told), told["database-b1"]) == (8, (sidecars, room))
    assert told["general-a1"] == (sidecars, "turned down: Insufficient cpu; Insufficient memory")


def test_points_by_the_rule_that_decides():
    """Where scores decide, the nodes whose points by that rule differ, in the points of both releases."""
    found = upgrade(ROOT / "examples" / "upgrade" / "weights.yaml", "1.22", "1.23", pod="web")
    assert found.document.nodes is not UNSET
    assert [(one.node, one.old, one.new) for one in found.document.nodes] == [
        ("slow", "fits, 100 points by TaintToleration", "fits, 300 points by TaintToleration")
    ]


def test_a_pod_that_stays():
    """Where no step moves it there are none; without a pod the record has no such field."""
    found = upgrade(CLUSTER, "1.28", "1.29", pod="analytics/yearly-report")
    assert (found.document.nodes, found.view().table("nodes").rows) == ((), [])
    assert "nodes" not in upgrade(CLUSTER, "1.28", "1.29").record()
