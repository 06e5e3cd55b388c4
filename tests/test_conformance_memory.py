"""Conformance does not depend on what is remembered: with little memory, with none, and decided the quick way, without details."""

from __future__ import annotations

import pytest

from kubeclassic.simulation.conform import Manner, check_family, find_families
from tests.conftest import ROOT

KEPT = ROOT / "tests" / "conformance"
FAMILIES = (
    "longrun", "churn", "wide", "events", "mixed", "percentage", "roundrobin", "preemption", "interpodaffinity", "selectorspread", "found",
)  # fmt: skip
MANNERS = {
    "no memory": Manner(engine={"memory_bytes": 0}),
    "quick": Manner(details=False),
    "quick, hardly any": Manner(engine={"memory_bytes": 4000}, details=False),
}
WAYS = [
    ("1.12", "no memory"), ("1.12", "quick, hardly any"), ("1.16", "quick"), ("1.16", "quick, hardly any"),
    ("1.27", "no memory"), ("1.27", "quick"), ("1.34", "no memory"), ("1.34", "quick, hardly any"),
]  # fmt: skip
"""Each manner in releases with predicates and with plugins, and the first and the last of each with two; the usual way is run in all."""


@pytest.mark.parametrize(("release", "manner"), WAYS)
class TestMemory:
    def test_decisions_are_the_originals(self, release: str, manner: str) -> None:
        """The cases kept with the project are answered as the original answered them, however they are run."""
        families = [family for family in find_families([KEPT / release]) if family.name in FAMILIES]
        assert len(families) > 1
        for family in families:
            assert check_family(family, manner=MANNERS[manner]).different == {}, family.name
