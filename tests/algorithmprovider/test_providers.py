"""From a Policy to the algorithm, and everything that is refused on the way."""

from __future__ import annotations

import pytest

from kubeclassic.algorithmprovider import CATALOGUE, RELEASES, Catalogue, resolve
from kubeclassic.core.rule import Reads
from kubeclassic.exceptions import PolicyError
from kubeclassic.predicates.rule import predicate
from kubeclassic.priorities.rule import priority
from tests.support.refusals import refusal_text

LAST = RELEASES["1.16"]
HEAVY = 922337203685477579
AFFINITY = {"serviceAffinity": {"labels": ["region"]}}
PRESENCE = {"labelsPresence": {"labels": ["rack"], "presence": True}}


def of(release=LAST, **policy):
    """The algorithm of a Policy."""
    return resolve(release, policy={"kind": "Policy", "apiVersion": "v1", **policy})


def predicates(algorithm):
    """The names that run, in order."""
    return [rule.name for rule in algorithm.predicates]


def priorities(algorithm):
    """Names and weights."""
    return {rule.name: weight for rule, weight in algorithm.priorities}


def refusal(release=LAST, **policy):
    """The text with which a Policy is refused."""
    return refusal_text(PolicyError, of, release, **policy)


class TestPredicates:
    @pytest.mark.parametrize("written", [{}, {"predicates": None}])
    def test_absent_is_the_default_provider(self, written):
        """Absent and null stand for the DefaultProvider's set."""
        assert predicates(of(**written)) == predicates(resolve(LAST))

    def test_empty_is_none_but_the_mandatory(self):
        """An empty list leaves the mandatory predicates."""
        assert predicates(of(predicates=[])) == ["CheckNodeUnschedulable", "PodToleratesNodeTaints"]

    def test_order_is_the_releases(self):
        """Predicates run in the release's order, whatever order the Policy has."""
        written = [{"name": "MatchInterPodAffinity"}, {"name": "GeneralPredicates"}]
        assert predicates(of(predicates=written))[1:] == ["GeneralPredicates", "PodToleratesNodeTaints", "MatchInterPodAffinity"]

    def test_alias_never_runs(self):
        """PodFitsPorts is accepted, and never runs."""
        algorithm = of(predicates=[{"name": "PodFitsPorts"}])
        assert predicates(algorithm) == ["CheckNodeUnschedulable", "PodToleratesNodeTaints"]
        assert algorithm.has_predicates

    def test_invented_name_never_runs(self):
        """An argument under an invented name is accepted, and never runs."""
        assert "Zone" not in predicates(of(predicates=[{"name": "Zone-1", "argument": AFFINITY}]))

    def test_argument_under_its_usual_name(self):
        """CheckServiceAffinity and CheckNodeLabelPresence run with an argument."""
        written = [{"name": "CheckServiceAffinity", "argument": AFFINITY}, {"name": "CheckNodeLabelPresence", "argument": PRESENCE}]
        assert predicates(of(predicates=written))[2:] == ["CheckNodeLabelPresence", "CheckServiceAffinity"]

    def test_argument_replaces_an_existing_predicate(self):
        """An argument under a name that there is replaces its function."""
        rule = of(predicates=[{"name": "GeneralPredicates", "argument": PRESENCE}]).predicates[1]
        assert rule.name == "GeneralPredicates"
        assert rule is not CATALOGUE.predicates["GeneralPredicates"]

    def test_argument_replaces_a_mandatory_predicate(self):
        """A mandatory predicate can be replaced, not left out."""
        found = {rule.name: rule for rule in of(predicates=[{"name": "PodToleratesNodeTaints", "argument": PRESENCE}]).predicates}
        assert found["PodToleratesNodeTaints"] is not CATALOGUE.predicates["PodToleratesNodeTaints"]

    def test_a_name_made_by_an_argument_may_be_named_again(self):
        """What one entry registered, a later entry without argument finds."""
        assert "CheckServiceAffinity" in predicates(
            of(predicates=[{"name": "CheckServiceAffinity", "argument": AFFINITY}, {"name": "CheckServiceAffinity"}])
        )

    def test_one_configuration_does_not_leak_into_the_next(self):
        """A replaced predicate is itself again in the next configuration."""
        of(predicates=[{"name": "GeneralPredicates", "argument": PRESENCE}])
        assert resolve(LAST).predicates[1] is CATALOGUE.predicates["GeneralPredicates"]

    @pytest.mark.parametrize(
        "name", ["CheckNodeCondition", "CheckNodeMemoryPressure", "CheckServiceAffinity", "PodToleratesNodeNoExecuteTaints", "Nope", ""]
    )
    def test_unknown_name(self, name):
        """A name that is not registered is refused: a gate may have removed it, or it needs an argument."""
        assert refusal(predicates=[{"name": name}]) == f"Invalid configuration: Predicate type not found for {name}"

    @pytest.mark.parametrize(("argument", "number"), [({}, 0), ({**AFFINITY, **PRESENCE}, 2)])
    def test_number_of_arguments(self, argument, number):
        """An argument is one argument."""
        expected = f"Exactly 1 predicate argument is required, numArgs: {number}, Predicate: X1"
        assert refusal(predicates=[{"name": "X1", "argument": argument}]) == expected

    @pytest.mark.parametrize("name", ["X", "Bad_Name", "a/b", "-a", "a-"])
    def test_name_of_a_custom_predicate(self, name):
        """A name of one's own has two characters or more, letters, digits and inner hyphens."""
        expected = f'Algorithm name {name} does not match the name validation regexp "^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])$".'
        assert refusal(predicates=[{"name": name, "argument": AFFINITY}]) == expected


class TestPriorities:
    def test_absent_is_the_default_provider(self):
        """Absent priorities are the DefaultProvider's, with the registry's weights."""
        assert priorities(of()) == dict(LAST.default_priorities)

    def test_empty_is_none(self):
        """An empty list leaves no priority."""
        assert priorities(of(priorities=[])) == {}

    def test_last_weight_counts(self):
        """Of two entries of one name the later weight counts."""
        written = [{"name": "EqualPriority", "weight": 2}, {"name": "EqualPriority", "weight": 3}]
        assert priorities(of(priorities=written)) == {"EqualPriority": 3}

    def test_sorted_by_name(self):
        """Priorities are held by name in byte order."""
        written = [{"name": name, "weight": 1} for name in ("TaintTolerationPriority", "EqualPriority", "ImageLocalityPriority")]
        assert list(priorities(of(priorities=written))) == ["EqualPriority", "ImageLocalityPriority", "TaintTolerationPriority"]

    @pytest.mark.parametrize("weight", [0, -1, 922337203685477580, None])
    def test_weight(self, weight):
        """A weight is positive and below a tenth of the largest integer."""
        expected = "Priority EqualPriority should have a positive weight applied to it or it has overflown"
        assert refusal(priorities=[{"name": "EqualPriority", "weight": weight}]) == expected

    def test_several_violations(self):
        """All violations are shown; equal texts once from 1.14 on."""
        text = "Priority EqualPriority should have a positive weight applied to it or it has overflown"
        written = [{"name": "EqualPriority"}, {"name": "EqualPriority"}, {"name": "Other"}]
        other = text.replace("EqualPriority", "Other")
        assert refusal(priorities=written) == f"[{text}, {other}]"
        assert refusal(RELEASES["1.13"], priorities=written) == f"[{text}, {text}, {other}]"

    def test_sum_of_weights(self):
        """The sum of the weights must not overflow."""
        written = [{"name": "EqualPriority", "weight": HEAVY}, {"name": "ImageLocalityPriority", "weight": HEAVY}]
        assert refusal(priorities=written) == "total priority of priority functions has overflown"
        assert refusal(RELEASES["1.12"], priorities=written) == "Total priority of priority functions has overflown"

    def test_unknown_name(self):
        """A priority that there is not is refused."""
        assert refusal(priorities=[{"name": "Nope", "weight": 1}]) == "Invalid configuration: Priority type not found for Nope"

    def test_number_of_arguments(self):
        """An argument is one argument."""
        argument = {"serviceAntiAffinity": {"label": "zone"}, "labelPreference": {"label": "ssd"}}
        expected = "Exactly 1 priority argument is required, numArgs: 2, Priority: Zone"
        assert refusal(priorities=[{"name": "Zone", "weight": 1, "argument": argument}]) == expected

    def test_bad_shape_is_found_late(self):
        """A shape is looked at when all names are known and the weight of affinity is right; one that is replaced, never."""
        bad = {"name": "Ratio", "weight": 1, "argument": {"requestedToCapacityRatioArguments": {"shape": []}}}
        text = "invalid RequestedToCapacityRatioPriority arguments: at least one point must be specified"
        assert refusal(priorities=[bad]) == text
        assert "type not found" in refusal(priorities=[bad, {"name": "Nope", "weight": 1}])
        assert "hardPodAffinitySymmetricWeight" in refusal(priorities=[bad], hardPodAffinitySymmetricWeight=101)
        good = {"name": "Ratio", "weight": 2, "argument": {"labelPreference": {"label": "ssd", "presence": True}}}
        assert priorities(of(priorities=[bad, good])) == {"Ratio": 2}


class TestTheRest:
    def test_order_of_refusals(self):
        """Validation comes before predicates, these before priorities."""
        predicate_entry, priority_entry = {"name": "Nope"}, {"name": "Nope", "weight": 1}
        assert "Predicate type" in refusal(predicates=[predicate_entry], priorities=[priority_entry])
        assert "positive weight" in refusal(predicates=[predicate_entry], priorities=[{"name": "Nope"}])

    @pytest.mark.parametrize(("written", "configured", "weight"), [(0, 7, 7), (5, 7, 5), (None, 7, 7), (2**32 + 3, 7, 3)])
    def test_hard_pod_affinity_weight(self, written, configured, weight):
        """The Policy's weight wins unless it is 0, and is cut to 32 bits."""
        algorithm = resolve(LAST, policy={"hardPodAffinitySymmetricWeight": written}, hard_pod_affinity_weight=configured)
        assert algorithm.hard_pod_affinity_weight == weight

    @pytest.mark.parametrize("weight", [0, -1, 101])
    def test_hard_pod_affinity_weight_out_of_range(self, weight):
        """The weight is 1 to 100, with a provider too."""
        with pytest.raises(PolicyError, match=f"^invalid hardPodAffinitySymmetricWeight: {weight}, must be in the range 1-100$"):
            resolve(LAST, hard_pod_affinity_weight=weight)

    def test_always_check_all_predicates(self):
        """alwaysCheckAllPredicates is off unless it is true."""
        assert of(alwaysCheckAllPredicates=True).check_all
        assert not of(alwaysCheckAllPredicates=False).check_all

    def test_equivalence_cache(self):
        """The equivalence cache is on by its gate or by itself, where the release has it."""
        old = RELEASES["1.13"]
        assert resolve(old, gates={"EnableEquivalenceClassCache": True}).equivalence_cache
        assert resolve(old, equivalence_cache=True).equivalence_cache
        assert not resolve(old).equivalence_cache
        assert not resolve(LAST, equivalence_cache=True).equivalence_cache


class TestCatalogue:
    def own(self, name="OnlyMine"):
        """A predicate of one's own."""
        return predicate(name, reads=Reads.NOTHING)(lambda pod, nodes, cycle: None)

    def test_own_rules_join_the_provider(self):
        """One's own predicate runs behind upstream's, one's own priority counts with its weight."""
        mine = priority("MyTaste", reads=Reads.NOTHING)(lambda pod, nodes, cycle: nodes.zone)
        algorithm = resolve(LAST, catalogue=CATALOGUE.with_(self.own()).with_(mine, weight=7))
        assert predicates(algorithm)[-2:] == ["MatchInterPodAffinity", "OnlyMine"]
        assert priorities(algorithm)["MyTaste"] == 7

    def test_own_rules_may_be_named(self):
        """A Policy runs one's own rule only if it names it."""
        catalogue = CATALOGUE.with_(self.own())
        assert predicates(resolve(LAST, policy={"predicates": [{"name": "OnlyMine"}]}, catalogue=catalogue))[-1] == "OnlyMine"
        assert "OnlyMine" not in predicates(resolve(LAST, policy={"predicates": []}, catalogue=catalogue))

    def test_taken_name(self):
        """A name that there is already is refused, also one that a gate hides."""
        with pytest.raises(PolicyError, match='got "EvenPodsSpread", which there is already'):
            CATALOGUE.with_(self.own("EvenPodsSpread"))

    def test_bad_name(self):
        """A name that upstream would not register is refused."""
        with pytest.raises(PolicyError, match="does not match the name validation regexp"):
            CATALOGUE.with_(self.own("my_rule"))

    def test_with_leaves_the_original_alone(self):
        """Adding makes another catalogue."""
        before = len(CATALOGUE.predicates)
        CATALOGUE.with_(self.own())
        assert len(CATALOGUE.predicates) == before
        assert CATALOGUE.added_predicates == ()

    def test_missing_function(self):
        """A catalogue that lacks what the release registers is refused in upstream's words."""
        with pytest.raises(PolicyError, match=r'^invalid predicate name "PodFitsPorts" specified - no corresponding function found$'):
            resolve(LAST, catalogue=Catalogue())
