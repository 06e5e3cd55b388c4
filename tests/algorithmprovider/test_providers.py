"""From a Policy to the algorithm, and everything that is refused on the way."""

import pytest

from kubeclassic.algorithmprovider import CATALOGUE, RELEASES, Catalogue, resolve
from kubeclassic.core.rule import Reads
from kubeclassic.exceptions import PolicyError
from kubeclassic.predicates.rule import predicate
from kubeclassic.priorities.rule import priority
from tests.support.refusals import refusal_text

LAST = RELEASES["1.16"]
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
    def test_argument_replaces_an_existing_predicate(self):
        """An argument under a name that there is replaces its function."""
        rule = of(predicates=[{"name": "GeneralPredicates", "argument": PRESENCE}]).predicates[1]
        assert rule.name == "GeneralPredicates"
        assert rule is not CATALOGUE.predicates["GeneralPredicates"]

    def test_argument_replaces_a_mandatory_predicate(self):
        """A mandatory predicate can be replaced, not left out."""
        found = {
            rule.name: rule
            for rule in of(predicates=[{"name": "PodToleratesNodeTaints", "argument": PRESENCE}]).predicates
        }
        assert found["PodToleratesNodeTaints"] is not CATALOGUE.predicates["PodToleratesNodeTaints"]

    def test_a_name_made_by_an_argument_may_be_named_again(self):
        """What one entry registered, a later entry without argument finds."""
        assert "CheckServiceAffinity" in predicates(
            of(
                predicates=[
                    {"name": "CheckServiceAffinity", "argument": AFFINITY},
                    {"name": "CheckServiceAffinity"},
                ]
            )
        )

    def test_one_configuration_does_not_leak_into_the_next(self):
        """A replaced predicate is itself again in the next configuration."""
        of(predicates=[{"name": "GeneralPredicates", "argument": PRESENCE}])
        assert resolve(LAST).predicates[1] is CATALOGUE.predicates["GeneralPredicates"]


class TestPriorities:
    def test_bad_shape_is_found_late(self):
        """A shape is looked at when all names are known and the weight of affinity is right; one that is
        replaced, never."""
        bad = {"name": "Ratio", "weight": 1, "argument": {"requestedToCapacityRatioArguments": {"shape": []}}}
        text = "invalid RequestedToCapacityRatioPriority arguments: at least one point must be specified"
        assert refusal(priorities=[bad]) == text
        assert "type not found" in refusal(priorities=[bad, {"name": "Nope", "weight": 1}])
        assert "hardPodAffinitySymmetricWeight" in refusal(
            priorities=[bad], hardPodAffinitySymmetricWeight=101
        )
        good = {
            "name": "Ratio",
            "weight": 2,
            "argument": {"labelPreference": {"label": "ssd", "presence": True}},
        }
        assert priorities(of(priorities=[bad, good])) == {"Ratio": 2}


class TestTheRest:
    def test_order_of_refusals(self):
        """Validation comes before predicates, these before priorities."""
        predicate_entry = {"name": "Nope"}
        priority_entry = {"name": "Nope", "weight": 1}
        assert "Predicate type" in refusal(predicates=[predicate_entry], priorities=[priority_entry])
        assert "positive weight" in refusal(predicates=[predicate_entry], priorities=[{"name": "Nope"}])

    @pytest.mark.parametrize(
        ("written", "configured", "weight"), [(0, 7, 7), (5, 7, 5), (None, 7, 7), (2**32 + 3, 7, 3)]
    )
    def test_hard_pod_affinity_weight(self, written, configured, weight):
        """The Policy's weight wins unless it is 0, and is cut to 32 bits."""
        algorithm = resolve(
            LAST, policy={"hardPodAffinitySymmetricWeight": written}, hard_pod_affinity_weight=configured
        )
        assert algorithm.hard_pod_affinity_weight == weight

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
        assert (
            predicates(resolve(LAST, policy={"predicates": [{"name": "OnlyMine"}]}, catalogue=catalogue))[-1]
            == "OnlyMine"
        )
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
        with pytest.raises(
            PolicyError,
            match=r'^invalid predicate name "PodFitsPorts" specified - no corresponding function found$',
        ):
            resolve(LAST, catalogue=Catalogue())
