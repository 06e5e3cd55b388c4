"""Conformance does not depend on what is remembered: with little memory, with none, and decided the quick way, without details."""

from __future__ import annotations

import pytest

from kubeclassic.simulation.conform import Manner, check_family, find_families
from tests.conftest import ROOT

KEPT = ROOT / "tests" / "conformance"
FAMILIES = (
    "longrun", "churn", "wide", "events", "mixed", "percentage", "roundrobin", "preemption", "interpodaffinity", "selectorspread", "found",
)  # fmt: skip
RELEASES = ("1.12", "1.16", "1.27", "1.34")
"""The first and the last release with predicates and with plugins; the usual way is run with all of them."""
MANNERS = {
    "no memory": Manner(engine={"memory_bytes": 0}),
    "quick": Manner(details=False),
    "quick, hardly any": Manner(engine={"memory_bytes": 4000}, details=False),
}


@pytest.mark.parametrize("manner", MANNERS)
@pytest.mark.parametrize("release", RELEASES)
class TestMemory:
    def test_decisions_are_the_originals(self, release: str, manner: str) -> None:
        """The cases kept with the project are answered as the original answered them, however they are run."""
        families = [family for family in find_families([KEPT / release]) if family.name in FAMILIES]
        assert len(families) > 1
        for family in families:
            assert check_family(family, manner=MANNERS[manner]).different == {}, family.name
