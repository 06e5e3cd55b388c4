"""A Policy as a profile: which plugins replace each rule, which notes say so, and that the result is
accepted."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.algorithmprovider.config import (
    AlgorithmConfiguration,
    AlgorithmSource,
    load_configuration,
    load_policy,
)
from kubeclassic.algorithmprovider.policy import read_policy
from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.exceptions import PolicyError, UnknownNameError
from kubeclassic.framework.config.configuration import read_configuration
from kubeclassic.framework.flow import framework_engine
from kubeclassic.framework.migrate.frompolicy import (
    FALLING,
    MAX_WEIGHT,
    RISING,
    ResourceStrategy,
    fitted,
    fitted_resources,
    merged,
    migrate,
)
from kubeclassic.framework.migrate.profiles import LISTING, TARGETS, target_release
from kubeclassic.framework.releases import FRAMEWORK_RELEASES, PROFILE_RELEASE
from kubeclassic.simulation.conform import find_families, read_answers, read_cases
from tests.support.refusals import refusal_text

HERE = Path(__file__).resolve().parents[3]
EXAMPLES = HERE / "examples" / "policies"
CASES = HERE / "tests" / "conformance"
each_target = pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
OFF = AlgorithmConfiguration(gates={"TaintNodesByCondition": False})


def enabled(found, point):
    """The plugins that the profile names at *point*."""
    return [plugin["name"] for plugin in found.document["profiles"][0]["plugins"][point]["enabled"]]


def told(found, subject):
    """The texts of all notes on *subject*."""
    return "; ".join(str(note) for note in found.notes if note.subject == subject)


@pytest.mark.parametrize("name", ["SelectorSpreadPriority", "EvenPodsSpreadPriority"])
@pytest.mark.parametrize("by_selector", [False, True])
def test_a_label_under_the_name_of_a_priority(name, by_selector):
    """What a priority does says its argument, not the name that it has."""
    argument = {"serviceAntiAffinity": {"label": "rack"}}
    policy = read_policy({"priorities": [{"name": name, "weight": 3, "argument": argument}]})
    found = migrate(policy, RELEASES["1.16"], selector_spread=by_selector)
    (profile,) = found.document["profiles"]
    (args,) = [entry["args"] for entry in profile["pluginConfig"] if entry["name"] == "PodTopologySpread"]
    assert [constraint["topologyKey"] for constraint in args["defaultConstraints"]] == ["rack"]
    assert "own constraints with ScheduleAnyway count too" in told(found, "PodTopologySpread")


def accepted(found, target=PROFILE_RELEASE):
    """A scheduler with the profile, which the validation of *target* and every plugin's constructor have
    accepted."""
    return framework_engine(read_configuration(found.document, release=target))


# --- Accepted -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", sorted(path.name for path in EXAMPLES.iterdir() if path.suffix in (".json", ".yaml"))
)
def test_every_example_is_accepted(name):
    """The translation of each example is accepted by the validation and by every plugin."""
    if name == "scheduler-config.yaml":
        config = load_configuration(EXAMPLES / name)
        found = migrate(config.policy(), RELEASES["1.16"], config)
    else:
        old = name == "openshift-3.json"
        found = migrate(
            load_policy(EXAMPLES / name), RELEASES["1.12" if old else "1.16"], OFF if old else None
        )
    assert accepted(found).flow.profiles.keys() == {"default-scheduler"}


@pytest.mark.parametrize("release", RELEASES)
def test_every_policy_that_upstream_accepts(release):
    """The translation refuses exactly those conformance Policies that upstream refuses, and its other
    results are accepted."""
    (family,) = (family for family in find_families([CASES / release]) if family.name == "policy")
    assert family.answers is not None
    refused = {answer["name"] for answer in read_answers(family.answers) if "error" in answer}
    for case in read_cases(family.cases):
        try:
            found = _migrated(case, release)
        except PolicyError:
            assert case["name"] in refused
            continue
        assert case["name"] not in refused
        accepted(found)


def _migrated(case, release):
    config = AlgorithmConfiguration(gates=case["config"].get("featureGates") or {})
    policy = case["config"].get("policy")
    return migrate(None if policy is None else read_policy(policy), RELEASES[release], config)


TRANSLATIONS = json.loads((Path(__file__).parent / "translations.json").read_text())
"""Policies with what they become and the notes on it; ``says`` is what each of them shows."""


@pytest.mark.parametrize("case", TRANSLATIONS, ids=[case["says"] for case in TRANSLATIONS])
def test_translation(case):
    """Each Policy becomes its expected profile, which the release accepts."""
    given = dict(case.get("configuration", {}))
    if "source" in given:
        given["source"] = AlgorithmSource(provider=given["source"])
    policy = case.get("policy")
    target = FRAMEWORK_RELEASES[case.get("target", PROFILE_RELEASE.version)]
    config = AlgorithmConfiguration(**given) if "configuration" in case else None
    found = migrate(
        None if policy is None else read_policy(policy),
        RELEASES[case["release"]],
        config,
        target=target,
        selector_spread=case.get("selectorSpread", False),
    )
    assert (found.document, [str(note) for note in found.notes]) == (case["becomes"], case["notes"])
    accepted(found, target)


NO_PROFILE = " runs the plugins of a Policy or a provider, to which a configuration can only add some: give it the Policy itself, which it reads"
"""The reason why 1.17 is no target, although it reads a configuration with plugins."""


# --- Targets ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", FRAMEWORK_RELEASES)
def test_what_the_target_reads(target):
    """The document is of the newest version that the target reads; a release that has no profiles is no
    target."""
    if target in TARGETS:
        found = migrate(None, RELEASES["1.16"], target=target_release(target, "to"))
        newest = FRAMEWORK_RELEASES[target].configuration.api_versions[-1]
        assert found.document["apiVersion"] == f"kubescheduler.config.k8s.io/{newest}"
        return
    if target in LISTING:
        assert target_release(target, "to") is LISTING[target]
        return
    text = refusal_text(UnknownNameError, target_release, target, "to")
    assert text.startswith("to: expected 1.18, ")
    assert text.endswith(f"1.36, got {target}; {target}{NO_PROFILE}")


def test_other_targets():
    """A release with predicates reads the Policy too; of a release that there is not nothing is said."""
    older = "; 1.16 has no profiles: give it the Policy itself, which it reads"
    for name, end in (("1.16", older), ("1.17.3", f"; 1.17.3{NO_PROFILE}"), ("1.99", "1.36, got 1.99")):
        assert refusal_text(UnknownNameError, target_release, name, "--to").endswith(end)


@each_target
@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.iterdir() if path.suffix == ".json"))
def test_every_example(name, target):
    """Each release of the framework accepts the translation of each example, with every plugin that is a
    default of its own."""
    old = name == "openshift-3.json"
    found = migrate(
        load_policy(EXAMPLES / name), RELEASES["1.12" if old else "1.16"], OFF if old else None, target=target
    )
    (profile,) = accepted(found, target).flow.profiles.values()
    assert {"PrioritySort", "DefaultBinder"} <= set(profile.plugins())


@each_target
def test_limits_of_disks(target):
    """Where the release has no limits of built-in disks, NodeVolumeLimits is in their place."""
    policy = read_policy({"predicates": [{"name": "MaxEBSVolumeCount"}, {"name": "GeneralPredicates"}]})
    found = migrate(policy, RELEASES["1.16"], target=target)
    gone = "EBSLimits" in target.configuration.gone_plugins
    assert {"EBSLimits", "NodeVolumeLimits"} & set(enabled(found, "multiPoint")) == {
        "NodeVolumeLimits" if gone else "EBSLimits"
    }
    assert ("upstream's translation has plugins EBSLimits" in told(found, "MaxEBSVolumeCount")) == gone


@each_target
def test_the_old_formula(target):
    """Plugin SelectorSpread is refused for a release that does not have it, with those that do."""
    policy = read_policy({"priorities": [{"name": "SelectorSpreadPriority", "weight": 1}]})
    if "SelectorSpread" not in target.configuration.gone_plugins:
        accepted(migrate(policy, RELEASES["1.16"], target=target, selector_spread=True), target)
        return
    with pytest.raises(
        UnknownNameError,
        match=f"expected 1.23, .*, 1.28, got it for {target.version}, which has no such plugin$",
    ):
        migrate(policy, RELEASES["1.16"], target=target, selector_spread=True)


# --- Strategies ---------------------------------------------------------------------------------------------


def test_opposites_are_weighed_against_each_other():
    """Opposite priorities over the same resources leave their difference, and nothing if they have equal
    weights."""
    stronger = merged([ResourceStrategy("least", 5, FALLING), ResourceStrategy("most", 2, RISING)])
    assert (stronger.document["type"], stronger.weight, stronger.is_exact) == (
        "LeastAllocated",
        Fraction(3),
        True,
    )
    assert (
        merged([ResourceStrategy("least", 2, FALLING), ResourceStrategy("most", 2, RISING)]).document is None
    )


def test_of_different_resources_the_heaviest_stay():
    """Lines over different resources cannot be added; the names of those with less weight are reported as
    dropped."""
    found = merged([ResourceStrategy("gpu", 1, RISING, {"x/gpu": 1}), ResourceStrategy("least", 2, FALLING)])
    assert found.dropped == ("gpu",)
    assert found.weight == 2


@given(
    st.lists(
        st.tuples(st.integers(1, 9), st.lists(st.integers(0, 10), min_size=3, max_size=3)),
        min_size=2,
        max_size=4,
    )
)
def test_the_sum_is_the_sum(lines):
    """The merged line times its weight differs from the sum of all lines by a constant, up to rounding to
    whole scores."""
    usages = [
        ResourceStrategy(str(i), weight, tuple(zip((0, 40, 100), scores, strict=True)))
        for i, (weight, scores) in enumerate(lines)
    ]
    found = merged(usages)
    wanted = [sum(usage.weight * usage.at(u) for usage in usages) for u in (0, 40, 100)]
    if found.document is None:
        assert len(set(wanted)) == 1
        return
    points = {
        p["utilization"]: p["score"]
        for p in found.document.get("requestedToCapacityRatio", {}).get("shape", ())
    }
    plain = dict(FALLING if found.document["type"] == "LeastAllocated" else RISING)
    line = ResourceStrategy("", 1, tuple((points or plain).items()))
    gaps = [found.weight * line.at(u) - total for u, total in zip((0, 40, 100), wanted, strict=True)]
    assert max(gaps) - min(gaps) <= (0 if found.is_exact else found.weight)


def test_weights_of_resources():
    """Resources' weights are brought within 1 to 100, and those below 1 are dropped."""
    assert fitted_resources({"cpu": 1000, "memory": 500, "x/gpu": -1}) == ({"cpu": 100, "memory": 50}, True)
    assert fitted_resources({"cpu": 3}) == ({"cpu": 3}, False)


@given(
    st.dictionaries(
        st.text("abc", min_size=1),
        st.fractions(min_value=Fraction(1, 10), max_value=2**60, max_denominator=10),
        min_size=1,
        max_size=5,
    )
)
def test_ratios_are_kept_unless_told(given_weights):
    """Weights are whole numbers of 32 bits; those without a note keep their ratios."""
    found, clipped = fitted(given_weights)
    assert all(1 <= weight <= MAX_WEIGHT for weight in found.values())
    ratios = {found[name] / given_weights[name] for name in given_weights if name not in clipped}
    assert len(ratios) <= 1
