"""Tables of ``kubeclassic bench``: how long decisions take, how many are made, and how two schedulers or two files compare."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...api.record import UNSET
from ...api.words import Figure
from ...simulation.bench.comparison import PairedCases
from ...simulation.bench.measured import PERCENTS, BenchDocument, OtherScheduler, middle
from .tables import TextTable

RATES = {
    "pods_per_s": "pods/s", "median_pods_per_s": "median", "loop_pods_per_s": "loop pods/s", "loop_median_pods_per_s": "loop median",
}  # fmt: skip
POINTS = tuple(f"p{percent}" for percent in PERCENTS)


def bench_tables(found: Sequence[BenchDocument]) -> Iterator[TextTable]:
    """The tables of some cases: one of times, one of throughput and, where another scheduler ran too, one of ratios."""
    headers = ["case", "release", "nodes", "pods", "scheduled", *RATES.values(), *(f"{point} ms" for point in POINTS), "calibration"]
    yield TextTable(headers, [_times(one) for one in found])
    rates = [[one.case, *(_figure(getattr(one.throughput, name)) for name in ("average", *POINTS))] for one in found]
    yield TextTable(["case", *(f"{name}/s" for name in ("average", *POINTS))], rates)
    ratios = [_ratio(one, one.against) for one in found if one.against is not UNSET]
    if ratios:
        yield TextTable(["case", "runs", "ours, pods/s", "theirs, pods/s", "ratio"], ratios)


def _times(one: BenchDocument) -> list[Any]:
    times = [_figure(getattr(one, f"{point}_ms"), 3) for point in POINTS]
    rates = [_figure(getattr(one, name)) for name in RATES]
    return [one.case, one.release, one.nodes, one.pods, one.scheduled, *rates, *times, _figure(one.calibration, 4)]


def _ratio(one: BenchDocument, theirs: OtherScheduler) -> list[Any]:
    return [one.case, len(theirs.runs), _figure(middle(one.runs)), _figure(theirs.pods_per_s), _figure(theirs.ratio, 2)]


def comparison_table(found: PairedCases) -> TextTable:
    """The cases of two files, a row each."""
    differ = any(pair.a.scheduler != pair.b.scheduler for pair in found.pairs)
    releases = ["release A", "release B"] if differ else ["release"]
    headers = ["case", *releases, "A, pods/s", "B, pods/s", "B/A", "B/A calibrated", "calibration A", "calibration B"]
    rows = []
    for pair in found.pairs:
        rates, ratios = [_figure(pair.a.rate), _figure(pair.b.rate)], [_figure(pair.ratio, 2), _figure(pair.calibrated, 2)]
        calibrations = [_figure(pair.a.calibration, 4), _figure(pair.b.calibration, 4)]
        rows.append([pair.a.case, *[pair.a.scheduler, pair.b.scheduler][: len(releases)], *rates, *ratios, *calibrations])
    return TextTable(headers, rows)


def _figure(number: float | None, digits: int = 0) -> Figure | None:
    """A number with that many digits after the point; None stays.

    >>> _figure(30014.4), _figure(0.07312, 4)
    ('30014', '0.0731')
    """
    return None if number is None else Figure(f"{number:.{digits}f}")
