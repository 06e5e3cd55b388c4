"""What ``kubeclassic compare`` runs: several schedulers on one scenario, and the comparison in the form that is wanted."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import attrs

from ...api.reading.notices import Notice, input_warnings
from ...api.record import plain
from ...simulation.compare.compare import compare
from ...simulation.compare.document import ComparisonDocument
from ...simulation.compare.newerlabels import with_newer_labels, zones_warning
from ...simulation.scenario import Scenario
from ..answering import DOCUMENT_FORMS, about, write_answer, write_page, write_report
from ..console.output import warn, writing
from ..console.progress import following
from ..declaring.options import ClusterChoice, environments_max_pd_vols
from ..declaring.outputs import HTML
from ..engines.configurations import NamedSetup
from ..notices import tell_notices, write_unread
from ..opening import contest
from ..report.comparison.comparednodes import comparison_map
from ..report.comparison.comparisonpage import comparison_html
from ..report.comparison.comparisontext import comparison_text
from ..report.comparison.forms import comparison_csv, comparison_markdown
from ..report.page.about import About
from ..report.page.markup import code, sentence
from ..report.tables import width_of

Record = dict[str, Any]


@attrs.frozen
class CompareOptions:
    """The arguments of the command, but for the configurations."""

    paths: tuple[Path, ...]
    mode: str
    newer_labels: bool
    cluster: ClusterChoice
    form: str
    show: int
    output: str | None
    report: str | None
    verbose: bool


def run_comparison(wish: CompareOptions, texts: Mapping[str, str]) -> None:
    """Compare the configurations *texts*, by name; ends the process with status 0 or 1."""
    limit = environments_max_pd_vols()
    wanted = tuple(NamedSetup.parse(name, text, limit) for name, text in texts.items())
    given = contest(wish.paths, wish.cluster, wanted)
    scenario = _told(given.scenario, wish, any(one.setup.runs_profiles for one in given.wanted))
    found = compare(
        scenario, given.engines, mode=wish.mode, order=wish.cluster.order, texts={one.name: one.text for one in wanted}, following=following
    )
    answer = found.document(input_warnings(scenario.warnings))
    record = plain(answer)

    def page() -> str:
        return comparison_html(record, _about(scenario, wish, record), comparison_map(found, record))

    with writing(wish.output) as stream:
        if wish.form == HTML:
            write_page(page(), stream)
        else:
            _write(answer, record, wish, stream, scenario.warnings)
    write_report(wish.report, page)
    sys.exit(0 if found.same else 1)


def _about(scenario: Scenario, wish: CompareOptions, record: Record) -> About:
    configurations = record["configurations"]
    rules = [sentence(f"{one['name']}: ", code(one["text"])) for one in configurations]
    return about(scenario, (*wish.paths, *wish.cluster.pods), releases=[one["release"] for one in configurations], rules=rules)


def _told(scenario: Scenario, wish: CompareOptions, profiles: bool) -> Scenario:
    """Say what is odd, and give the nodes newer labels where that is asked for."""
    tell_notices(scenario.warnings, wish.verbose)
    if wish.newer_labels:
        return with_newer_labels(scenario)
    if profiles and (missing := zones_warning(scenario)) is not None:
        warn(missing)
    return scenario


def _write(answer: ComparisonDocument, record: Record, wish: CompareOptions, stream: IO[str], warnings: Sequence[Notice]) -> None:
    if wish.form in DOCUMENT_FORMS:
        write_answer(wish.form, answer, stream)
    else:
        stream.write(FORMS[wish.form](record, wish.show, width_of(stream)).rstrip("\n") + "\n")
        if wish.form == "table":
            write_unread(warnings, stream, width_of(stream))


FORMS: dict[str, Callable[[Record, int, int | None], str]] = {
    "table": comparison_text,
    "csv": lambda record, show, width: comparison_csv(record),
    "markdown": lambda record, show, width: comparison_markdown(record, show),
}
