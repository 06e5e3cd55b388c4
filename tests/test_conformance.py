"""Every conformance case: what the original Go scheduler decided is what we decide, in every field."""

from __future__ import annotations

import gzip
from pathlib import Path

import attrs
import pytest

from kubeclassic.simulation.conform import USUAL, Family, Manner, check_family, find_families

from .conftest import CONFORMANCE, ROOT, SHARED

KEPT = ROOT / "tests" / "conformance"
"""Some cases of almost every family of every release, kept with the project."""
RELEASES = sorted(path.name for path in KEPT.iterdir() if path.is_dir())
ONE_IN = 20
"""Of so many cases of a family a sample has one."""
DEPENDENT = (
    "longrun", "churn", "wide", "events", "mixed", "percentage", "roundrobin", "preemption", "interpodaffinity", "selectorspread", "found",
)  # fmt: skip
"""Families in which a decision follows from earlier ones."""
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


def families(pattern: str, *folders: Path) -> list[object]:
    """The families in files of *folders* that *pattern* names, as parameters of a test."""
    found = find_families(path for folder in folders for path in sorted(folder.glob(pattern)))
    return [pytest.param(one, id=f"{one.cases.parent.parent.name}-{one.release}-{one.name}") for one in found]


def sample(family: Family, folder: Path) -> Family:
    """One in :data:`ONE_IN` cases of *family* with their answers, written into *folder*: the same each time, others in the next release."""
    assert family.answers is not None
    kept = []
    for file in (family.cases, family.answers):
        lines = list(filter(None, gzip.decompress(file.read_bytes()).splitlines()))
        first = RELEASES.index(family.release) % min(ONE_IN, len(lines))
        kept.append(folder / file.name.removesuffix(".gz"))
        kept[-1].write_bytes(b"\n".join(lines[first::ONE_IN]))
    return attrs.evolve(family, cases=kept[0], answers=kept[1])


def check(family: Family, folder: Path, manner: Manner = USUAL) -> None:
    """Hold *family* against its answers: all cases where KUBECLASSIC_CONFORMANCE is ``full``, else a sample."""
    assert check_family(family if CONFORMANCE == "full" else sample(family, folder), manner=manner).different == {}


class TestConformance:
    @pytest.mark.parametrize("family", families("*/*.cases.jsonl.gz", KEPT))
    def test_the_cases_kept_here(self, family: Family) -> None:
        """Each case that is kept with the project is answered as the original answered it."""
        assert check_family(family).different == {}

    @pytest.mark.parametrize("family", families("conformance*/*/*.cases.jsonl.gz", SHARED))
    def test_the_larger_data(self, family: Family, tmp_path: Path) -> None:
        """Each case of the larger data is answered as the original answered it, with every request to extenders and step of the queue."""
        check(family, tmp_path)

    def test_the_releases_are_those_kept_here(self, shared: Path) -> None:
        """The larger data has families of every release, and of no other."""
        assert sorted({path.parent.name for path in shared.glob("conformance*/*/*.cases.jsonl.gz")}) == RELEASES


@pytest.mark.parametrize(("release", "manner"), WAYS)
def test_whatever_is_remembered(release: str, manner: str, tmp_path: Path) -> None:
    """With little memory, with none, and without details, the cases kept here are answered as the original answered them."""
    found = [family for family in find_families([KEPT / release]) if family.name in DEPENDENT]
    assert len(found) > 1
    for family in found:
        check(family, tmp_path, MANNERS[manner])
