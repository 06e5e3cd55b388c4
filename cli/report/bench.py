"""Tables of ``kubeclassic bench``: how long decisions take, how many are made, and how two schedulers or two files compare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...simulation.bench.comparison import Comparison
from ...simulation.bench.measured import PERCENTS, middle
from .tables import TextTable
from .text import Figure

Record = Mapping[str, Any]
POINTS = tuple(f"p{percent}" for percent in PERCENTS)


def bench_tables(records: Sequence[Record]) -> Iterator[TextTable]:
    """The tables of some cases: one of times, one of throughput and, where another scheduler ran too, one of ratios."""
    headers = ["case", "release", "nodes", "pods", "scheduled", "pods/s", *(f"{point} ms" for point in POINTS), "calibration"]
    yield TextTable(headers, [_times(record) for record in records])
    yield TextTable(["case", *(f"{name}/s" for name in ("average", *POINTS))], [_throughput(record) for record in records])
    ratios = [_ratio(record, record["against"]) for record in records if "against" in record]
    if ratios:
        yield TextTable(["case", "runs", "ours, pods/s", "theirs, pods/s", "ratio"], ratios)


def _times(record: Record) -> list[Any]:
    sizes = [record[name] for name in ("case", "release", "nodes", "pods", "scheduled")]
    times = [_figure(record[f"{point}_ms"], 3) for point in POINTS]
    return [*sizes, _figure(record["pods_per_s"]), *times, _figure(record["calibration"], 4)]


def _throughput(record: Record) -> list[Any]:
    return [record["case"], *(_figure(record["throughput"][name]) for name in ("average", *POINTS))]


def _ratio(record: Record, theirs: Record) -> list[Any]:
    rates = [_figure(middle(record["runs"])), _figure(theirs["pods_per_s"])]
    return [record["case"], len(theirs["runs"]), *rates, _figure(theirs["ratio"], 2)]


def comparison_table(found: Comparison) -> TextTable:
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
