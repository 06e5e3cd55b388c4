"""Every conformance case: what the original Go scheduler decided is what we decide, in every field."""

import gzip

import attrs
import pytest

from kubeclassic.simulation.conform import USUAL, CaseSettings, check_family, find_families
from tests.support.examples import ENDS

from .conftest import CONFORMANCE, ROOT, SHARED

HERE = ROOT / "tests" / "conformance"
KEPT = sorted(path for path in HERE.iterdir() if path.is_dir())
"""By release some cases of almost every family, kept with the project."""
LARGER = sorted([*SHARED.glob("conformance*/1.*"), *SHARED.glob("next/1.*")])
"""All cases, in folders by release in several folders."""
RELEASES = [path.name for path in KEPT]
IS_FULL = CONFORMANCE == "full" and bool(LARGER)
"""Whether all cases are run."""
PARTS = 8
"""Tests that share the families of a folder, as one would keep a process busy after the others have ended."""
ONE_IN = 40
"""A sample has one in this many cases of a family."""
KEPT_ONE_IN = 6
"""A sample has one in this many of the cases in the checkout, which are all run if KUBECLASSIC_CONFORMANCE is
``full``."""
DEPENDENT = (
    "longrun",
    "churn",
    "wide",
    "events",
    "mixed",
    "percentage",
    "roundrobin",
    "preemption",
    "interpodaffinity",
    "selectorspread",
    "found",
    "ghosts",
)
"""Families in which a decision follows from earlier ones."""
MANNERS = {
    "no memory": CaseSettings(engine={"memory_bytes": 0}),
    "quick": CaseSettings(details=False),
    "quick, hardly any": CaseSettings(engine={"memory_bytes": 4000}, details=False),
}
WAYS = [
    ("1.12", "no memory"),
    ("1.12", "quick, hardly any"),
    ("1.16", "quick"),
    ("1.16", "quick, hardly any"),
    ("1.27", "no memory"),
    ("1.27", "quick"),
    ("1.36", "no memory"),
    ("1.36", "quick, hardly any"),
]
"""Each manner in releases with predicates and with plugins, and the first and the last of each with two; the
usual way is run in all."""


def larger(folder):
    """The families of a folder of the larger data that are run: all, or those of a few releases of which no
    case is kept here."""
    found = find_families([folder]) if IS_FULL or folder.name in ENDS else []
    return [family for family in found if IS_FULL or not (HERE / family.release / family.cases.name).exists()]


PIECES = [(folder, part) for folder in LARGER for part in range(min(PARTS, len(larger(folder))))]


def different(families, manner=USUAL):
    """(family, case) -> how our answer differs from the original's."""
    return {
        (family.name, name): lines
        for family in families
        for name, lines in check_family(family, manner=manner).different.items()
    }


def chosen(families, folder):
    """*families* as they are where KUBECLASSIC_CONFORMANCE is ``full``, else a sample of each, written into
    *folder*."""
    return families if CONFORMANCE == "full" else [sample(family, folder) for family in families]


def lines_of(file):
    """The lines of a file of cases or of answers."""
    return list(filter(None, gzip.decompress(file.read_bytes()).splitlines()))


def sample(family, folder, one_in=ONE_IN):
    """One in *one_in* cases of *family* with their answers: the same in each run, others in the next
    release."""
    assert family.answers is not None
    kept = []
    for file in (family.cases, family.answers):
        lines = lines_of(file)
        first = RELEASES.index(family.release) % min(one_in, len(lines))
        kept.append(folder / file.name.removesuffix(".gz"))
        kept[-1].write_bytes(b"\n".join(lines[first::one_in]))
    return attrs.evolve(family, cases=kept[0], answers=kept[1])


@pytest.mark.parametrize("folder", KEPT, ids=lambda folder: folder.name)
def test_the_cases_kept_here(folder, tmp_path):
    """Cases that are kept with the project are answered as the original answered them; where all of the
    larger data are, only others."""
    families = find_families([folder])
    if CONFORMANCE != "full":
        families = [sample(family, tmp_path, KEPT_ONE_IN) for family in families]
    if IS_FULL:
        known = {
            line
            for other in LARGER
            if other.name == folder.name
            for file in other.glob("*.gz")
            for line in lines_of(file)
        }
        families = [family for family in families if not known.issuperset(lines_of(family.cases))]
    assert different(families) == {}


@pytest.mark.parametrize(
    "folder, part", PIECES, ids=[f"{folder.parent.name}-{folder.name}-{part}" for folder, part in PIECES]
)
def test_the_larger_data(folder, part, tmp_path):
    """Each case of the larger data is answered as the original answered it, with every request to extenders
    and step of the queue."""
    families = larger(folder)[part::PARTS]
    assert families
    assert different(chosen(families, tmp_path)) == {}


def test_the_larger_data_has_every_release(shared):
    """The larger data has cases of the releases that are kept with the project, and of no others."""
    assert {folder.name for folder in LARGER} == set(RELEASES)


@pytest.mark.parametrize("release, manner", WAYS)
def test_whatever_is_remembered(release, manner, tmp_path):
    """With little memory, with none, and without details, the cases kept here are answered as the original
    answered them."""
    families = [
        family
        for family in find_families([ROOT / "tests" / "conformance" / release])
        if family.name in DEPENDENT
    ]
    assert different(chosen(families, tmp_path), MANNERS[manner]) == {}
