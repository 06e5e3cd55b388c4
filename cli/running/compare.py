"""What ``kubeclassic compare`` runs: several schedulers on one scenario, and the comparison in the form that is wanted."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs
import yaml

from ...simulation.compare.compare import compare
from ...simulation.compare.newerlabels import with_newer_labels, zones_warning
from ...simulation.scenario import Scenario
from ..console.output import warn, writing
from ..console.progress import following
from ..declaring.options import ClusterChoice, environments_max_pd_vols
from ..engines.configurations import Wanted
from ..report.comparison.forms import comparison_csv, comparison_markdown
from ..report.comparison.page import comparison_html
from ..report.comparison.text import comparison_text
from ..report.documents import document, indented
from ..report.tables import width_of
from .cluster import contest
from .notices import tell_notices

Record = dict[str, Any]


@attrs.frozen
class Wish:
    """The arguments of the command, but for the configurations."""

    paths: tuple[Path, ...]
    mode: str
    newer_labels: bool
    cluster: ClusterChoice
    form: str
    show: int
    output: str | None
    verbose: bool


def run_comparison(wish: Wish, texts: Mapping[str, str]) -> None:
    """Compare the configurations *texts*, by name; ends the process with status 0 or 1."""
    limit = environments_max_pd_vols()
    wanted = tuple(Wanted.parse(name, text, limit) for name, text in texts.items())
    given = contest(wish.paths, wish.cluster, wanted)
    scenario = _told(given.scenario, wish, any(one.runs_profiles for one in given.wanted))
    found = compare(scenario, given.engines, mode=wish.mode, order=wish.cluster.order, texts=texts, following=following)
    with writing(wish.output) as stream:
        stream.write(FORMS[wish.form](found.record(), wish.show, width_of(stream)).rstrip("\n") + "\n")
    sys.exit(0 if found.same else 1)


def _told(scenario: Scenario, wish: Wish, profiles: bool) -> Scenario:
    """Say what is odd, and give the nodes newer labels where that is asked for."""
    tell_notices(scenario.warnings, wish.verbose)
    if wish.newer_labels:
        return with_newer_labels(scenario)
    if profiles and (missing := zones_warning(scenario)) is not None:
        warn(missing)
    return scenario


def _yaml(record: Record) -> str:
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    text: str = yaml.dump(document("Comparison", record), Dumper=dumper, sort_keys=False, allow_unicode=True)
    return text


FORMS: dict[str, Callable[[Record, int, int | None], str]] = {
    "table": comparison_text,
    "json": lambda record, show, width: indented(document("Comparison", record), long="differences"),
    "yaml": lambda record, show, width: _yaml(record),
    "csv": lambda record, show, width: comparison_csv(record),
    "markdown": lambda record, show, width: comparison_markdown(record, show),
    "html": lambda record, show, width: comparison_html(record),
}
