"""Feature gates: what may be said, what is refused, what they do to names."""

import numpy as np
import pytest
import yaml

from kubeclassic.algorithmprovider import CATALOGUE, RELEASES, Catalogue, cells, resolve
from kubeclassic.algorithmprovider.config import MAX_PD_VOLS, ignored_limit, max_pd_vols
from kubeclassic.algorithmprovider.gates import parse_gates, resolved_gates
from kubeclassic.algorithmprovider.policy import Registry
from kubeclassic.core.cycle import Reads
from kubeclassic.exceptions import PolicyError
from kubeclassic.predicates.rule import predicate
from kubeclassic.priorities.rule import priority
from tests.support.manifests import policy_of
from tests.support.refusals import refusal_text

LAST = RELEASES["1.16"]


def registry(version, **gates):
    """The registry of a release with these gates."""
    release = RELEASES[version]
    return Registry.of(release, resolved_gates(release, gates), CATALOGUE)


def test_several():
    """Blanks around names and values do not matter, nor do empty parts; every spelling of Go's ParseBool
    is read."""
    assert parse_gates("A=true, B = F,,C=1") == {"A": True, "B": False, "C": True}


@pytest.mark.parametrize(
    "text, message",
    [
        ("A", "missing bool value for A"),
        ("A=yes", 'invalid value of A=yes, err: strconv.ParseBool: parsing "yes": invalid syntax'),
        ("A=", 'invalid value of A=, err: strconv.ParseBool: parsing "": invalid syntax'),
    ],
)
def test_malformed(text, message):
    """A setting without a proper value is refused in upstream's words."""
    assert refusal_text(PolicyError, parse_gates, text) == message


# --- Resolved gates -----------------------------------------------------------------------------------------


def test_defaults():
    """Every gate of the release is there, at its default unless set."""
    gates = resolved_gates(LAST, "PodOverhead=true")
    assert set(gates) == set(LAST.gates)
    assert {name for name, on in gates.items() if on != LAST.gates[name].default} == {"PodOverhead"}


@pytest.mark.parametrize(
    "version, gate", [("1.16", "VolumeScheduling"), ("1.14", "EnableEquivalenceClassCache"), ("1.12", "Nope")]
)
def test_unknown(version, gate):
    """A gate of another release, or of none, is refused."""
    with pytest.raises(PolicyError, match=f"^unrecognized feature gate: {gate}$"):
        resolved_gates(RELEASES[version], {gate: True})


def test_locked():
    """A locked gate may be set to its default only."""
    assert resolved_gates(LAST, {"PodPriority": True})["PodPriority"]
    with pytest.raises(
        PolicyError, match=r"^cannot set feature gate PodPriority to false, feature is locked to true$"
    ):
        resolved_gates(LAST, {"PodPriority": False})


def test_all_alpha():
    """AllAlpha switches every alpha gate that nothing else is said of."""
    gates = resolved_gates(LAST, "AllAlpha=true,EvenPodsSpread=false")
    assert gates["PodOverhead"]
    assert not gates["EvenPodsSpread"]
    assert not resolved_gates(LAST, "AllAlpha=false")["LegacyNodeRoleBehavior"]


# --- Names --------------------------------------------------------------------------------------------------


def test_without_taints_by_condition():
    """Without TaintNodesByCondition conditions are asked directly, and unschedulable nodes with them."""
    names = [rule.name for rule in resolve(LAST, gates={"TaintNodesByCondition": False}).predicates]
    assert names[0] == "CheckNodeCondition"
    assert names[-4:] == [
        "CheckNodeMemoryPressure",
        "CheckNodePIDPressure",
        "CheckNodeDiskPressure",
        "MatchInterPodAffinity",
    ]
    assert "CheckNodeUnschedulable" not in names


@pytest.mark.parametrize("version, added", [("1.12", False), ("1.13", True), ("1.16", True)])
def test_resource_limits(version, added):
    """ResourceLimitsPriority is registered with its gate; from 1.13 on the providers have it too."""
    found = registry(version, ResourceLimitsPriorityFunction=True)
    assert "ResourceLimitsPriority" in found.priorities
    assert ("ResourceLimitsPriority" in found.default_priorities) == added
    assert "ResourceLimitsPriority" not in registry(version).priorities


def test_even_pods_spread():
    """EvenPodsSpread brings a predicate and a priority, to both providers."""
    for provider in ("DefaultProvider", "ClusterAutoscalerProvider"):
        algorithm = resolve(LAST, gates={"EvenPodsSpread": True}, provider=provider)
        assert [rule.name for rule in algorithm.predicates][-2:] == [
            "EvenPodsSpread",
            "MatchInterPodAffinity",
        ]
        assert ("EvenPodsSpreadPriority", 1) in [(rule.name, weight) for rule, weight in algorithm.priorities]


def test_cluster_autoscaler_provider():
    """ClusterAutoscalerProvider fills nodes up instead of spreading."""
    names = [rule.name for rule, _ in resolve(LAST, provider="ClusterAutoscalerProvider").priorities]
    assert "MostRequestedPriority" in names
    assert "LeastRequestedPriority" not in names


def test_unknown_provider():
    """A provider that there is not is refused in upstream's words."""
    with pytest.raises(PolicyError, match=r'^plugin "Nope" has not been registered$'):
        resolve(LAST, provider="Nope")


# --- From a Policy to the algorithm, and everything that is refused on the way ------------------------------


AFFINITY = {"serviceAffinity": {"labels": ["region"]}}
PRESENCE = yaml.safe_load("{labelsPresence: {labels: [rack], presence: true}}")


def of(**policy):
    """The algorithm of a Policy."""
    return resolve(LAST, policy=policy_of(**policy))


def predicates(algorithm):
    """The names that run, in order."""
    return [rule.name for rule in algorithm.predicates]


def priorities(algorithm):
    """Names and weights."""
    return {rule.name: weight for rule, weight in algorithm.priorities}


def refusal(**policy):
    """The text with which a Policy is refused."""
    return refusal_text(PolicyError, of, **policy)


# --- Predicates ---------------------------------------------------------------------------------------------


def test_argument_replaces_an_existing_predicate():
    """An argument under a name that there is replaces its function."""
    rule = of(predicates=[{"name": "GeneralPredicates", "argument": PRESENCE}]).predicates[1]
    assert rule.name == "GeneralPredicates"
    assert rule is not CATALOGUE.predicates["GeneralPredicates"]


def test_argument_replaces_a_mandatory_predicate():
    """A mandatory predicate can be replaced, not left out."""
    found = {
        rule.name: rule
        for rule in of(predicates=[{"name": "PodToleratesNodeTaints", "argument": PRESENCE}]).predicates
    }
    assert found["PodToleratesNodeTaints"] is not CATALOGUE.predicates["PodToleratesNodeTaints"]


def test_a_name_made_by_an_argument_may_be_named_again():
    """A later entry without argument finds the rule that an earlier entry registered."""
    assert "CheckServiceAffinity" in predicates(
        of(
            predicates=[
                {"name": "CheckServiceAffinity", "argument": AFFINITY},
                {"name": "CheckServiceAffinity"},
            ]
        )
    )


def test_one_configuration_does_not_leak_into_the_next():
    """A replaced predicate is itself again in the next configuration."""
    of(predicates=[{"name": "GeneralPredicates", "argument": PRESENCE}])
    assert resolve(LAST).predicates[1] is CATALOGUE.predicates["GeneralPredicates"]


def test_bad_shape_is_found_late():
    """A shape is looked at when all names are known and the weight of affinity is right; one that is
    replaced, never."""
    bad = {"name": "Ratio", "weight": 1, "argument": {"requestedToCapacityRatioArguments": {"shape": []}}}
    text = "invalid RequestedToCapacityRatioPriority arguments: at least one point must be specified"
    assert refusal(priorities=[bad]) == text
    assert "type not found" in refusal(priorities=[bad, {"name": "Nope", "weight": 1}])
    assert "hardPodAffinitySymmetricWeight" in refusal(priorities=[bad], hardPodAffinitySymmetricWeight=101)
    good = {"name": "Ratio", "weight": 2, "argument": {"labelPreference": {"label": "ssd", "presence": True}}}
    assert priorities(of(priorities=[bad, good])) == {"Ratio": 2}


# --- The rest -----------------------------------------------------------------------------------------------


def test_order_of_refusals():
    """Validation comes before predicates, these before priorities."""
    predicate_entry = {"name": "Nope"}
    priority_entry = {"name": "Nope", "weight": 1}
    assert "Predicate type" in refusal(predicates=[predicate_entry], priorities=[priority_entry])
    assert "positive weight" in refusal(predicates=[predicate_entry], priorities=[{"name": "Nope"}])


@pytest.mark.parametrize("written, weight", [(0, 7), (5, 5), (None, 7), (2**32 + 3, 3)])
def test_hard_pod_affinity_weight(written, weight):
    """The Policy's weight wins unless it is 0, and is cut to 32 bits."""
    algorithm = resolve(LAST, policy={"hardPodAffinitySymmetricWeight": written}, hard_pod_affinity_weight=7)
    assert algorithm.hard_pod_affinity_weight == weight


def test_equivalence_cache():
    """The equivalence cache is on by its gate or by itself, where the release has it."""
    old = RELEASES["1.13"]
    assert resolve(old, gates={"EnableEquivalenceClassCache": True}).equivalence_cache
    assert resolve(old, equivalence_cache=True).equivalence_cache
    assert not resolve(old).equivalence_cache
    assert not resolve(LAST, equivalence_cache=True).equivalence_cache


# --- Catalogue ----------------------------------------------------------------------------------------------


def own(name="OnlyMine"):
    """A predicate of one's own."""
    return predicate(name, reads=Reads.NOTHING)(lambda pod, nodes, cycle: None)


def test_own_rules_join_the_provider():
    """One's own predicate runs behind upstream's, one's own priority counts with its weight."""
    mine = priority("MyTaste", reads=Reads.NOTHING)(lambda pod, nodes, cycle: nodes.zone)
    algorithm = resolve(LAST, catalogue=CATALOGUE.with_(own()).with_(mine, weight=7))
    assert predicates(algorithm)[-2:] == ["MatchInterPodAffinity", "OnlyMine"]
    assert priorities(algorithm)["MyTaste"] == 7


def test_own_rules_may_be_named():
    """A Policy runs one's own rule only if it names it."""
    catalogue = CATALOGUE.with_(own())
    assert (
        predicates(resolve(LAST, policy={"predicates": [{"name": "OnlyMine"}]}, catalogue=catalogue))[-1]
        == "OnlyMine"
    )
    assert "OnlyMine" not in predicates(resolve(LAST, policy={"predicates": []}, catalogue=catalogue))


def test_taken_name():
    """A name that there is already is refused, also one that a gate hides."""
    with pytest.raises(PolicyError, match='got "EvenPodsSpread", which there is already'):
        CATALOGUE.with_(own("EvenPodsSpread"))


def test_bad_name():
    """A name that upstream would not register is refused."""
    with pytest.raises(PolicyError, match="does not match the name validation regexp"):
        CATALOGUE.with_(own("my_rule"))


def test_with_leaves_the_original_alone():
    """Adding makes another catalogue."""
    before = len(CATALOGUE.predicates)
    CATALOGUE.with_(own())
    assert len(CATALOGUE.predicates) == before
    assert CATALOGUE.added_predicates == ()


def test_missing_function():
    """A catalogue that lacks what the release registers is refused in upstream's words."""
    with pytest.raises(
        PolicyError,
        match=r'^invalid predicate name "PodFitsPorts" specified - no corresponding function found$',
    ):
        resolve(LAST, catalogue=Catalogue())


# --- The behaviours in cells --------------------------------------------------------------------------------


def ints(*values):
    """An int64 array."""
    return np.array(values, np.int64)


@pytest.mark.parametrize(
    "nodes, percentage, found",
    [
        (99, 10, 99),
        (1000, 0, 1000),
        (1000, -1, 1000),
        (1000, 100, 1000),
        (1000, 5, 100),
        (1000, 50, 500),
        (1001, 33, 330),
    ],
)
def test_fixed_share(nodes, percentage, found):
    """A percentage of the nodes, at least 100; 0 is all of them."""
    assert cells.fixed_share(nodes, percentage) == found


@pytest.mark.parametrize(
    "nodes, percentage, found",
    [
        (99, 10, 99),
        (100, 0, 100),
        (1000, 0, 420),
        (5000, 0, 500),
        (6000, 0, 300),
        (1000, 100, 1000),
        (1000, 50, 500),
        (1000, -3, 420),
    ],
)
def test_adaptive_share(nodes, percentage, found):
    """0 looks at a share that falls from 50 to 5 percent as the cluster grows."""
    assert cells.adaptive_share(nodes, percentage) == found


# --- Pick host ----------------------------------------------------------------------------------------------


def test_round_robin():
    """Equals take turns, and the counter moves each time."""
    assert [cells.round_robin(3, times) for times in range(4)] == [(0, True), (1, True), (2, True), (0, True)]


def test_a_single_best_moves_the_counter_too():
    """A single best node is taken whatever the counter says, and moves it."""
    assert cells.round_robin(1, 7) == (0, True)


def test_first_best():
    """The first of the best, with a counter that stands still."""
    assert cells.first_best(2, 4) == (0, False)


# --- Error joiner -------------------------------------------------------------------------------------------


def test_one_error_stands_alone():
    """One text is shown without brackets."""
    assert cells.listed(["a"]) == cells.listed_once(["a"]) == cells.listed_once(["a", "a"]) == "a"


def test_several_errors_join():
    """Equal texts are shown as often as they are, or once."""
    assert cells.listed(["a", "b", "a"]) == "[a, b, a]"
    assert cells.listed_once(["a", "b", "a"]) == "[a, b]"


# --- Ratio mean ---------------------------------------------------------------------------------------------


def test_truncated():
    """7 and 8 make 7, whatever the weights."""
    assert cells.truncated_mean(np.array([[7, 0], [8, 8]]), ints(1, 5)).tolist() == [7, 4]


def test_rounded_over_positive_scores():
    """7 and 8 make 8; a resource that scores 0 does not count at all."""
    assert cells.rounded_mean_of_positive(np.array([[7, 0, 0], [8, 8, 0]]), ints(1, 1)).tolist() == [8, 8, 0]


def test_weights():
    """Resources count by weight, also where negative weights make the sum of weights 0."""
    assert cells.rounded_mean_of_positive(np.array([[10], [4]]), ints(3, 1)).tolist() == [9]
    assert cells.rounded_mean_of_positive(np.array([[10], [4]]), ints(1, -1)).tolist() == [0]
    assert cells.rounded_mean_of_positive(np.array([[1], [2]]), ints(-3, 1)).tolist() == [1]


def test_both_labels():
    """Region and zone make the key, one alone too; without both the node is in no zone."""
    assert cells.beta_zone_key({cells.BETA_REGION: "r", cells.BETA_ZONE: "z"}) == "r:\x00:z"
    assert cells.beta_zone_key({cells.BETA_ZONE: "z"}) == ":\x00:z"
    assert cells.beta_zone_key({"topology.kubernetes.io/zone": "z", cells.BETA_ZONE: ""}) == ""


# --- What counts of KUBE_MAX_PD_VOLS ------------------------------------------------------------------------


MOST = 2**63 - 1


# --- The limit ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "written, limit", [("5", 5), ("+5", 5), ("0005", 5), (str(MOST), MOST), ("0" * 5000 + "7", 7)]
)
def test_a_whole_number(written, limit):
    """A whole number above 0 of 64 bits counts."""
    assert max_pd_vols({MAX_PD_VOLS: written}) == limit
    assert ignored_limit({MAX_PD_VOLS: written}) is None


@pytest.mark.parametrize(
    "written", ["0", "-1", "x", "1.5", " 5", "5\n", "1_000", "\u0665", str(MOST + 1), "9" * 5000]
)
def test_anything_else(written):
    """Anything else is ignored, and a line says so."""
    assert max_pd_vols({MAX_PD_VOLS: written}) is None
    told = ignored_limit({MAX_PD_VOLS: written})
    assert told is not None
    assert "expected a whole number above 0" in told
    assert len(told) < 200


def test_nothing():
    """Where nothing is set, nothing is said."""
    assert max_pd_vols({}) is ignored_limit({}) is ignored_limit({MAX_PD_VOLS: ""}) is None
