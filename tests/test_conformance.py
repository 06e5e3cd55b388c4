"""Every conformance case: what the original Go scheduler decided is what we decide, in every field."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from kubeclassic.simulation.conform import FamilyReport, check_family, find_families

from .conftest import ROOT, SHARED

FEW = ROOT / "tests" / "conformance"
"""Some cases of every family of every release, kept with the project."""
MANY = (SHARED / "conformance", SHARED / "conformance-middle", SHARED / "conformance-newer")
"""Those of 1.12 to 1.16 and 1.27, of 1.17 to 1.26, and from 1.28 on."""
FOUND = SHARED / "conformance-found"
"""Cases in which the project once differed from the original, one or two for each cause."""
EXTENDERS = SHARED / "conformance-extenders"
"""Cases with scripts of extenders, and every request that the original sent them."""
QUEUE = SHARED / "conformance-queue"
"""Scripts of the scheduling queue."""
RELEASES = sorted(path.name for path in FEW.iterdir() if path.is_dir())


def releases(*folders: Path) -> list[str]:
    """The releases that *folders* have cases of; all where there are no folders, so that their tests are there to be skipped."""
    there = [release for release in RELEASES if any((folder / release).is_dir() for folder in folders)]
    return there or RELEASES


def families(*folders: Path) -> list[tuple[str, str]]:
    """(release, family) for every family of cases in *folders*."""
    there = [folder / release for folder in folders for release in RELEASES if (folder / release).is_dir()]
    return [(f.release, f.name) for f in find_families(there)]


def check(release: str, family: str, *folders: Path) -> FamilyReport:
    """The report on one family, which one of *folders* has."""
    there = [folder / release for folder in folders if (folder / release).is_dir()]
    (found,) = (f for f in find_families(there) if f.name == family)
    return check_family(found)


def lines(path: Path) -> set[bytes]:
    """The lines of a file of cases or answers, empty ones left out; none where there is no such file."""
    return set(gzip.decompress(path.read_bytes()).splitlines()) - {b""} if path.is_file() else set()


def is_copied(release: str, family: str) -> bool:
    """Whether all cases kept here, and the answers to them, are among the larger data, word for word."""
    names = [f"{release}/{family}.{kind}.jsonl.gz" for kind in ("cases", "answers")]
    return any(all(lines(FEW / name) <= lines(folder / name) for name in names) for folder in (*MANY, FOUND, EXTENDERS, QUEUE))


class TestConformance:
    @pytest.mark.parametrize(("release", "family"), families(FEW))
    def test_the_cases_kept_here(self, release: str, family: str) -> None:
        """Each case that is kept with the project is answered as the original answered it, here or among all cases."""
        if not is_copied(release, family):
            assert check(release, family, FEW).different == {}

    @pytest.mark.parametrize(("release", "family"), families(*MANY))
    def test_all_cases(self, shared: Path, release: str, family: str) -> None:
        """Each case of the larger data is answered as the original answered it."""
        assert check(release, family, *MANY).different == {}

    @pytest.mark.parametrize(("release", "family"), families(FOUND))
    def test_what_was_found_different(self, shared: Path, release: str, family: str) -> None:
        """Each case that was once answered otherwise is answered as the original answered it."""
        assert check(release, family, FOUND).different == {}

    @pytest.mark.parametrize("release", releases(EXTENDERS))
    def test_extenders(self, shared: Path, release: str) -> None:
        """Each case with extenders is answered as the original answered it, and the same requests are sent, field by field."""
        report = check(release, "extenders", EXTENDERS)
        assert (report.different, report.counts.cases) == ({}, 100)

    @pytest.mark.parametrize("release", releases(QUEUE))
    def test_the_queue_over_time(self, shared: Path, release: str) -> None:
        """After each step of every script each part of the queue holds what the original's held, in the same order."""
        report = check(release, "queue", QUEUE)
        assert (report.different, report.counts.cases) == ({}, 150)
        assert report.counts.steps > 13_000

    def test_the_larger_data_is_all_run(self, shared: Path) -> None:
        """Where the larger data is there, every file of cases of these releases is one of the families above."""
        files = [path for release in RELEASES for folder in MANY for path in (folder / release).glob("*.cases.jsonl.gz")]
        assert len(families(*MANY)) == len(files) > 100
