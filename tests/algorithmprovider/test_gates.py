"""Feature gates: what may be said, what is refused, what they do to names."""

import pytest

from kubeclassic.algorithmprovider import CATALOGUE, RELEASES, resolve
from kubeclassic.algorithmprovider.gates import parse_gates, resolved_gates
from kubeclassic.algorithmprovider.providers import Registry
from kubeclassic.exceptions import PolicyError
from tests.support.refusals import refusal_text

LAST = RELEASES["1.16"]


def registry(version, **gates):
    """What a release registers with these gates."""
    release = RELEASES[version]
    return Registry.of(release, resolved_gates(release, gates), CATALOGUE)


class TestParseGates:
    def test_several(self):
        """Blanks around names and values do not matter, nor do empty parts; every spelling of Go's ParseBool
        is read."""
        assert parse_gates("A=true, B = F,,C=1") == {"A": True, "B": False, "C": True}

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("A", "missing bool value for A"),
            ("A=yes", 'invalid value of A=yes, err: strconv.ParseBool: parsing "yes": invalid syntax'),
            ("A=", 'invalid value of A=, err: strconv.ParseBool: parsing "": invalid syntax'),
        ],
    )
    def test_malformed(self, text, message):
        """A setting without a proper value is refused in upstream's words."""
        assert refusal_text(PolicyError, parse_gates, text) == message


class TestResolvedGates:
    def test_defaults(self):
        """Every gate of the release is there, at its default unless set."""
        gates = resolved_gates(LAST, "PodOverhead=true")
        assert set(gates) == set(LAST.gates)
        assert {name for name, on in gates.items() if on != LAST.gates[name].default} == {"PodOverhead"}

    @pytest.mark.parametrize(
        ("version", "gate"),
        [("1.16", "VolumeScheduling"), ("1.14", "EnableEquivalenceClassCache"), ("1.12", "Nope")],
    )
    def test_unknown(self, version, gate):
        """A gate of another release, or of none, is refused."""
        with pytest.raises(PolicyError, match=f"^unrecognized feature gate: {gate}$"):
            resolved_gates(RELEASES[version], {gate: True})

    def test_locked(self):
        """A locked gate may be set to its default only."""
        assert resolved_gates(LAST, {"PodPriority": True})["PodPriority"]
        with pytest.raises(
            PolicyError, match=r"^cannot set feature gate PodPriority to false, feature is locked to true$"
        ):
            resolved_gates(LAST, {"PodPriority": False})

    def test_all_alpha(self):
        """AllAlpha switches every alpha gate that nothing else is said of."""
        gates = resolved_gates(LAST, "AllAlpha=true,EvenPodsSpread=false")
        assert gates["PodOverhead"]
        assert not gates["EvenPodsSpread"]
        assert not resolved_gates(LAST, "AllAlpha=false")["LegacyNodeRoleBehavior"]


class TestNames:
    def test_without_taints_by_condition(self):
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

    @pytest.mark.parametrize(("version", "added"), [("1.12", False), ("1.13", True), ("1.16", True)])
    def test_resource_limits(self, version, added):
        """ResourceLimitsPriority is registered with its gate; from 1.13 on the providers have it too."""
        found = registry(version, ResourceLimitsPriorityFunction=True)
        assert "ResourceLimitsPriority" in found.priorities
        assert ("ResourceLimitsPriority" in found.default_priorities) == added
        assert "ResourceLimitsPriority" not in registry(version).priorities

    def test_even_pods_spread(self):
        """EvenPodsSpread brings a predicate and a priority, to both providers."""
        for provider in ("DefaultProvider", "ClusterAutoscalerProvider"):
            algorithm = resolve(LAST, gates={"EvenPodsSpread": True}, provider=provider)
            assert [rule.name for rule in algorithm.predicates][-2:] == [
                "EvenPodsSpread",
                "MatchInterPodAffinity",
            ]
            assert ("EvenPodsSpreadPriority", 1) in [
                (rule.name, weight) for rule, weight in algorithm.priorities
            ]

    def test_cluster_autoscaler_provider(self):
        """ClusterAutoscalerProvider fills nodes up instead of spreading."""
        names = [rule.name for rule, _ in resolve(LAST, provider="ClusterAutoscalerProvider").priorities]
        assert "MostRequestedPriority" in names
        assert "LeastRequestedPriority" not in names

    def test_unknown_provider(self):
        """A provider that there is not is refused in upstream's words."""
        with pytest.raises(PolicyError, match=r'^plugin "Nope" has not been registered$'):
            resolve(LAST, provider="Nope")
