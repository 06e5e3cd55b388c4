"""Two files of bench's lines beside each other: how much faster each case is in one than in the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import attrs

from ...api.reading.documents import json_lines
from ...api.reading.fields import shown
from ...api.record import DocumentRecord, Record, Size, says
from ...exceptions import ManifestError
from .measured import middle

Json = dict[str, Any]

MOST_APART = 0.05
"""Calibrations further apart than this share are of machines, or hours, that cannot be compared as they are."""


@attrs.frozen(kw_only=True)
class Measured:
    """All lines of one file about one case and release."""

    case: str
    scheduler: str
    """Its release."""
    rate: float
    """Pods a second: the median of the runs of a line, and of the lines."""
    calibration: float | None
    scheduled: int | None


class ComparedCase(Record, rename=None):
    """A case in both files."""

    case: str
    release_a: str
    release_b: str
    pods_per_s_a: Annotated[Size, says("The median of the runs in A.")]
    pods_per_s_b: Annotated[Size, says("The median of the runs in B.")]
    ratio: Annotated[Size, says("B by A, as measured: above 1 B is faster.")]
    calibrated_ratio: Annotated[float | None, says("The ratio times calibration_b by calibration_a.")]
    calibration_a: float | None
    calibration_b: float | None


class BenchComparison(DocumentRecord, rename=None):
    """Two files of bench's lines beside each other."""

    KIND = "BenchComparison"
    warnings: Annotated[tuple[str, ...], says("What makes the ratios doubtful.")]
    cases: tuple[ComparedCase, ...]
    only_a: Annotated[tuple[str, ...], says("Cases, with their releases, that only A has.")]
    only_b: tuple[str, ...]


@attrs.frozen
class Pair:
    """One case in both files."""

    a: Measured
    b: Measured

    @property
    def ratio(self) -> float:
        """How many times as fast B is, as it was measured."""
        return self.b.rate / self.a.rate

    @property
    def calibrated(self) -> float | None:
        """The ratio with the machines set off against each other: one with twice the calibration is taken to be half as fast."""
        if not self.a.calibration or not self.b.calibration:
            return None
        return self.ratio * self.b.calibration / self.a.calibration

    @property
    def apart(self) -> float:
        """How far the calibrations are from each other, as a share of the smaller one; 0 where one is not known."""
        if not self.a.calibration or not self.b.calibration:
            return 0.0
        return max(self.a.calibration, self.b.calibration) / min(self.a.calibration, self.b.calibration) - 1

    def record(self) -> ComparedCase:
        """As data."""
        calibrated = None if self.calibrated is None else round(self.calibrated, 3)
        return ComparedCase(
            self.a.case, self.a.scheduler, self.b.scheduler, round(self.a.rate, 1), round(self.b.rate, 1), round(self.ratio, 3), calibrated,
            self.a.calibration, self.b.calibration,
        )  # fmt: skip


@attrs.frozen
class PairedCases:
    """The cases that both files have, and the names of those that only one has."""

    pairs: Sequence[Pair]
    only_a: Sequence[str]
    only_b: Sequence[str]

    def warnings(self) -> Iterator[str]:
        """What makes the ratios doubtful, a line each."""
        apart = [pair for pair in self.pairs if pair.apart > MOST_APART]
        if apart:
            most = max(apart, key=lambda pair: pair.apart)
            yield (
                f"calibrations differ by more than {MOST_APART:.0%} in {len(apart)} of {len(self.pairs)} cases, most in {most.a.case}:"
                f" {most.a.calibration} and {most.b.calibration}; measure again in one hour on one machine"
            )
        for pair in self.pairs:
            if None not in (pair.a.scheduled, pair.b.scheduled) and pair.a.scheduled != pair.b.scheduled:
                yield f"{pair.a.case}: A scheduled {pair.a.scheduled} pods, B {pair.b.scheduled}: not the same work"
        for name, cases in (("A", self.only_a), ("B", self.only_b)):
            if cases:
                yield f"only in {name}: {', '.join(cases)}"

    def document(self) -> BenchComparison:
        """As data."""
        return BenchComparison(
            tuple(self.warnings()), tuple(pair.record() for pair in self.pairs), tuple(self.only_a), tuple(self.only_b)
        )  # fmt: skip


def compared(a: Path, b: Path) -> PairedCases:
    """The cases of two files of bench's lines, paired by name and release, or by name where each file has it with one release only.

    Raises :class:`~kubeclassic.exceptions.ManifestError` for a line that is not bench's, and where the files have no case in common.
    """
    ours, theirs = read_measured(a), read_measured(b)
    pairs, left = [], list(theirs)
    for measured in ours:
        other = _other(measured, ours, left)
        if other is not None:
            left.remove(other)
            pairs.append(Pair(measured, other))
    if not pairs:
        raise ManifestError(f"{a} and {b}: no case in common: got {_names(ours)} and {_names(theirs)}")
    paired = [pair.a for pair in pairs]
    return PairedCases(pairs, [_name(found) for found in ours if found not in paired], [_name(found) for found in left])


def _other(measured: Measured, ours: Sequence[Measured], theirs: Sequence[Measured]) -> Measured | None:
    named = [found for found in theirs if found.case == measured.case]
    same = [found for found in named if found.scheduler == measured.scheduler]
    if same:
        return same[0]
    is_alone = len(named) == 1 and sum(found.case == measured.case for found in ours) == 1
    return named[0] if is_alone else None


def _name(measured: Measured) -> str:
    return f"{measured.case} ({measured.scheduler})"


def _names(found: Sequence[Measured]) -> str:
    return ", ".join(map(_name, found[:3])) + (" ..." if len(found) > 3 else "")


def read_measured(path: Path) -> list[Measured]:
    """What the lines of *path* say, by case and release, in order."""
    lines: dict[tuple[str, str], list[Json]] = {}
    for where, line in json_lines(path):
        if not isinstance(line, dict) or not isinstance(line.get("case"), str) or not _is_number(line.get("pods_per_s")):
            raise ManifestError(f"{where}: got {shown(line)} without case and pods_per_s, wanted a line of kubeclassic bench")
        lines.setdefault((line["case"], str(line.get("release", ""))), []).append(line)
    if not lines:
        raise ManifestError(f"{path}: got no line, wanted those of kubeclassic bench")
    return [_measured(case, release, found) for (case, release), found in lines.items()]


def _measured(case: str, release: str, lines: Sequence[Json]) -> Measured:
    rates = [middle(line["runs"]) if line.get("runs") else float(line["pods_per_s"]) for line in lines]
    calibrations = [float(line["calibration"]) for line in lines if _is_number(line.get("calibration"))]
    calibration = middle(calibrations) if calibrations else None
    return Measured(case=case, scheduler=release, rate=middle(rates), calibration=calibration, scheduled=lines[-1].get("scheduled"))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0
