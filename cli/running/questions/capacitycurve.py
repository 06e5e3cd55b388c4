"""What ``kubeclassic capacity --curve`` does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import attrs

from ....api.reading.notices import warning_records
from ....core.engine import Engine
from ....simulation.capacity.counting import Counted
from ....simulation.capacity.curve import Axis, Point, points, sized
from ....simulation.capacity.question import Question
from ...console.output import writing
from ...console.progress import following
from ...declaring.reportoption import HTML
from ...engines.telling import rules_told
from ...report.capacity.curve import write_curve
from ...report.capacity.curvepage import curve_html
from ...report.capacity.plot import check_plot, draw
from ...report.listing import write_csv
from ...report.tables import width_of
from ..cluster import Opened
from ..documents import DOCUMENT_FORMS, write_document
from ..notices import write_unread
from ..reporting import about, write_page, write_report

KIND = "CapacityCurve"
TEXT_FORMS = ("table", "wide")


@attrs.frozen(kw_only=True)
class Forms:
    """How the answer is written, and where: *output* in *form*, a picture to *plot*, a page to *report*."""

    form: str
    output: str | None
    plot: Path | None
    report: str | None
    headers: bool


def draw_curve(paths: Sequence[Path], given: Opened, question: Question, axes: Sequence[Axis], forms: Forms) -> int:
    """Count for each size, and write the answer; the exit status. *paths*: all that was read."""
    if forms.plot is not None:
        check_plot(forms.plot, axes)
    engines = _engines(given)

    def ask(size: Sequence[tuple[str, int]]) -> Counted:
        return sized(question, size).counting(next(engines)).count()

    total = 1
    for axis in axes:
        total *= len(axis.values)
    found = list(following(points(axes, ask), total, "counting", "sizes"))
    if forms.plot is not None:
        draw(axes, found, forms.plot)
    record = _record(given, axes, found)

    def page() -> str:
        return curve_html(record, about(given.scenario, paths, releases=[record["release"]], rules=rules_told(given.setup)))

    with writing(forms.output) as stream:
        _write(record, axes, found, forms, stream, page)
        if forms.form in TEXT_FORMS:
            write_unread(given.scenario.warnings, stream, width_of(stream))
    write_report(forms.report, page)
    return 0 if any(point.fits for point in found) else 1


def _engines(given: Opened) -> Iterator[Engine]:
    """New schedulers without end; the first is there already."""
    yield given.engine
    while True:
        yield given.setup.engine(given.configuration, given.scenario.config_maps)


def _record(given: Opened, axes: Sequence[Axis], found: Sequence[Point]) -> dict[str, Any]:
    warnings, release = warning_records(given.scenario.warnings), given.engine.release.version
    sizes = {"axes": [axis.record() for axis in axes], "points": [point.record() for point in found]}
    return {"warnings": warnings, "release": release, **sizes}


def _write(
    record: dict[str, Any], axes: Sequence[Axis], found: Sequence[Point], forms: Forms, stream: IO[str], page: Callable[[], str]
) -> None:
    if forms.form == HTML:
        write_page(page(), stream)
    elif forms.form in DOCUMENT_FORMS:
        write_document(forms.form, KIND, record, stream)
    elif forms.form == "csv":
        rows = [{**point.requests, "fits": point.fits, "nodes": point.nodes, "limitedBy": point.limited_by} for point in found]
        write_csv(rows, stream, headers=forms.headers)
    else:
        write_curve(axes, found, stream, wide=forms.form == "wide", headers=forms.headers)
