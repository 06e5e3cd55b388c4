"""What ``kubeclassic capacity --curve`` does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from ....core.engine import Engine
from ....simulation.capacity.counting import Counted
from ....simulation.capacity.curve import Axis, Point, points, sized
from ....simulation.capacity.question import Question
from ...console.output import writing
from ...console.progress import following
from ...report.capacity.curve import write_curve
from ...report.capacity.plot import check_plot, draw
from ...report.listing import write_csv
from ..cluster import Opened
from ..documents import DOCUMENT_FORMS, write_document

KIND = "CapacityCurve"


def draw_curve(
    given: Opened, question: Question, axes: Sequence[Axis], form: str, output: str | None, plot: Path | None, *, headers: bool
) -> int:
    """Count for each size, write the answer in *form* to *output*, and draw it into *plot*; the exit status."""
    if plot is not None:
        check_plot(plot, axes)
    engines = _engines(given)

    def ask(size: Sequence[tuple[str, int]]) -> Counted:
        return sized(question, size).counting(next(engines)).count()

    total = 1
    for axis in axes:
        total *= len(axis.values)
    found = list(following(points(axes, ask), total, "counting", "sizes"))
    if plot is not None:
        draw(axes, found, plot)
    with writing(output) as stream:
        _write(given.engine.algorithm.release.version, axes, found, form, stream, headers)
    return 0 if any(point.fits for point in found) else 1


def _engines(given: Opened) -> Iterator[Engine]:
    """New schedulers without end; the first is there already."""
    yield given.engine
    while True:
        yield given.setup.engine(given.configuration, given.scenario.config_maps)


def _write(release: str, axes: Sequence[Axis], found: Sequence[Point], form: str, stream: IO[str], headers: bool) -> None:
    record: dict[str, Any] = {
        "release": release, "axes": [axis.record() for axis in axes], "points": [point.record() for point in found],
    }  # fmt: skip
    if form in DOCUMENT_FORMS:
        write_document(form, KIND, record, stream)
    elif form == "csv":
        rows = [{**point.requests, "fits": point.fits, "nodes": point.nodes, "limitedBy": point.limited_by} for point in found]
        write_csv(rows, stream, headers=headers)
    else:
        write_curve(axes, found, stream, wide=form == "wide", headers=headers)
