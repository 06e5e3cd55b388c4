"""Two files of bench's lines beside each other: what is paired, the ratios, and what is warned of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubeclassic.exceptions import ManifestError
from kubeclassic.simulation.bench.comparison import PairedCases, compared
from tests.support.refusals import refusal_text


def line(case: str = "basic", rate: float = 100.0, calibration: float | None = 0.1, release: str = "1.16", **more: Any) -> str:
    """A line of bench."""
    return json.dumps({"kind": "Bench", "case": case, "release": release, "pods_per_s": rate, "calibration": calibration, **more})


def files(folder: Path, a: list[str], b: list[str]) -> PairedCases:
    """The comparison of two files of lines."""
    for name, lines in (("a", a), ("b", b)):
        (folder / f"{name}.json").write_text("".join(f"{written}\n" for written in lines))
    return compared(folder / "a.json", folder / "b.json")


def test_ratios(tmp_path: Path) -> None:
    """The ratio is B by A; a machine that needs twice as long for the fixed loop is taken to be half as fast."""
    (pair,) = files(tmp_path, [line(rate=100)], [line(rate=150, calibration=0.2)]).pairs
    assert (pair.ratio, pair.calibrated) == (1.5, pytest.approx(3.0))


def test_medians(tmp_path: Path) -> None:
    """Of a line the median of its runs counts, of several lines about a case the median of these."""
    a = [line(rate=9, runs=[9, 1, 5]), line(rate=7), line(rate=8)]
    (pair,) = files(tmp_path, a, [line(rate=14)]).pairs
    assert (pair.a.rate, pair.ratio) == (7, 2.0)


def test_an_unknown_machine(tmp_path: Path) -> None:
    """Without a calibration on one side there is no calibrated ratio, and no warning of it."""
    found = files(tmp_path, [line(calibration=None)], [line()])
    assert found.pairs[0].record().calibrated_ratio is None
    assert list(found.warnings()) == []


@pytest.mark.parametrize(("calibration", "warned"), [(0.1049, False), (0.0953, False), (0.1051, True), (0.0951, True)])
def test_machines_that_differ(calibration: float, warned: bool, tmp_path: Path) -> None:
    """Calibrations further apart than 5 % are warned of, with the worst case."""
    found = list(files(tmp_path, [line(), line("other")], [line(calibration=calibration), line("other")]).warnings())
    assert len(found) == warned
    assert not warned or found[0].startswith(
        f"calibrations differ by more than 5% in 1 of 2 cases, most in basic: 0.1 and {calibration}; measure again"
    )


def test_other_work(tmp_path: Path) -> None:
    """Another number of placed pods, and cases that only one file has, are said."""
    a, b = [line(scheduled=5), line("old")], [line(scheduled=6), line("new", release="1.27")]
    assert list(files(tmp_path, a, b).warnings()) == [
        "basic: A scheduled 5 pods, B 6: not the same work", "only in A: old (1.16)", "only in B: new (1.27)",
    ]  # fmt: skip


def test_releases(tmp_path: Path) -> None:
    """A case is paired with the same release; with another one where each file has it only once."""
    found = files(tmp_path, [line(rate=1), line(rate=2, release="1.27")], [line(rate=6, release="1.27")])
    assert [(pair.a.scheduler, pair.b.scheduler, pair.ratio) for pair in found.pairs] == [("1.27", "1.27", 3.0)]
    found = files(tmp_path, [line(rate=1)], [line(rate=6, release="1.27")])
    assert [(pair.a.scheduler, pair.b.scheduler) for pair in found.pairs] == [("1.16", "1.27")]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "a.json: got no line, wanted those of kubeclassic bench"),
        ("[]\n", "a.json, line 1: got an empty list without case and pods_per_s"),
        ('{"case": "a"}\n', "a.json, line 1: got an object without case and pods_per_s, wanted a line of kubeclassic bench"),
        ('\n{"case": "a", "pods_per_s": 0}\n', "a.json, line 2: got an object without"),
        (line("other"), "no case in common: got other (1.16) and basic (1.16)"),
    ],
)
def test_what_is_refused(text: str, says: str, tmp_path: Path) -> None:
    """Files that are not bench's, and files without a case in common."""
    assert says in refusal_text(ManifestError, files, tmp_path, [text], [line()])
