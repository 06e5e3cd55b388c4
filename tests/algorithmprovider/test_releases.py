"""The table of releases, against the reference's matrix."""

import pytest

from kubeclassic.algorithmprovider.releases import RELEASES, find_release
from kubeclassic.exceptions import UnknownNameError
from kubeclassic.predicates import CATALOGUE as PREDICATES
from kubeclassic.priorities import CATALOGUE as PRIORITIES

WITH_ARGUMENT_ONLY = {"CheckNodeLabelPresence", "CheckServiceAffinity"}


@pytest.mark.parametrize("release", RELEASES.values(), ids=RELEASES)
class TestEachRelease:
    def test_names_are_in_the_catalogue(self, release):
        """Every name that a release may run has a function, but those that need an argument."""
        gated = {name for effect in release.gate_effects for name in effect.registers}
        assert {*release.ordering, *release.predicates, *gated} <= set(PREDICATES) | WITH_ARGUMENT_ONLY
        assert {
            *release.priorities,
            *(e.registers_priority for e in release.gate_effects if e.registers_priority),
        } <= set(PRIORITIES)

    def test_defaults_are_registered(self, release):
        """All rules of a provider are registered."""
        assert set(release.default_predicates) <= set(release.predicates)
        assert set(release.default_priorities) <= set(release.priorities)

    def test_only_the_alias_is_outside_the_ordering(self, release):
        """PodFitsPorts is the one registered name that never runs."""
        assert set(release.predicates) - set(release.ordering) == {"PodFitsPorts"}

    def test_gates_with_effects_exist(self, release):
        """A gate that changes names is a gate of the release."""
        assert {effect.gate for effect in release.gate_effects} <= set(release.gates)


@pytest.mark.parametrize("name", ["1.14", "v1.14", "1.14.0", "v1.14.9-rc.1"])
def test_any_spelling(name):
    """A release is found with a v in front and with any patch level."""
    assert find_release(name).version == "1.14"


def test_unknown():
    """Another release is refused, with the list of those that there are."""
    with pytest.raises(
        UnknownNameError, match=r'release: expected 1\.12, 1\.13, 1\.14, 1\.15, 1\.16, got "1.9"'
    ):
        find_release("1.9")
