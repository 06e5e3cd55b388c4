"""What ``kubeclassic capacity --curve`` does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO

import attrs

from ....api.reading.notices import input_warnings
from ....api.record import plain
from ....core.engine import Engine
from ....simulation.capacity.counting import Counted
from ....simulation.capacity.curve import CapacityCurveDocument, CurveAxis, points, sized
from ....simulation.capacity.question import CapacityQuestion
from ...console.output import writing
from ...console.progress import following
from ...declaring.reportoption import HTML
from ...report.capacity.curve import write_curve
from ...report.capacity.curvepage import curve_html
from ...report.capacity.plot import check_plot, draw
from ...report.listing import write_csv
from ...report.tables import width_of
from ..cluster import Opened
from ..documents import DOCUMENT_FORMS, write_answer
from ..notices import write_unread
from ..reporting import about, write_page, write_report

TEXT_FORMS = ("table", "wide")


@attrs.frozen(kw_only=True)
class Forms:
    """How the answer is written, and where: *output* in *form*, a picture to *plot*, a page to *report*."""

    form: str
    output: str | None
    plot: Path | None
    report: str | None
    headers: bool


def draw_curve(paths: Sequence[Path], given: Opened, question: CapacityQuestion, axes: Sequence[CurveAxis], forms: Forms) -> int:
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
    warnings, release = given.scenario.warnings, given.engine.release.version
    answer = CapacityCurveDocument(warnings=input_warnings(warnings), release=release, axes=tuple(axes), points=tuple(found))

    def page() -> str:
        return curve_html(plain(answer), about(given.scenario, paths, releases=[release], rules=given.setup.in_words()))

    with writing(forms.output) as stream:
        _write(answer, forms, stream, page)
        if forms.form in TEXT_FORMS:
            write_unread(warnings, stream, width_of(stream))
    write_report(forms.report, page)
    return 0 if answer.ok else 1


def _engines(given: Opened) -> Iterator[Engine]:
    """New schedulers without end; the first is there already."""
    yield given.engine
    while True:
        yield given.setup.spec.engine(given.scenario.config_maps)


def _write(answer: CapacityCurveDocument, forms: Forms, stream: IO[str], page: Callable[[], str]) -> None:
    if forms.form == HTML:
        write_page(page(), stream)
    elif forms.form in DOCUMENT_FORMS:
        write_answer(forms.form, answer, stream)
    elif forms.form == "csv":
        rows = [{**point.requests, "fits": point.fits, "nodes": point.nodes, "limitedBy": point.limited_by} for point in answer.points]
        write_csv(rows, stream, headers=forms.headers)
    else:
        write_curve(answer.axes, answer.points, stream, wide=forms.form == "wide", headers=forms.headers)
