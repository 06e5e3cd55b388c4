"""What ``kubeclassic compare`` runs: several schedulers on one scenario, and the comparison in the form that is wanted."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs
import yaml

from ...simulation.compare.compare import compare
from ...simulation.compare.newerlabels import with_newer_labels, zones_warning
from ...simulation.scenario import Scenario
from ..configurations import Wanted
from ..options import ClusterChoice, environments_max_pd_vols
from ..output import warn, writing
from ..progress import following
from ..report.compare import comparison_text
from ..report.compare_forms import comparison_csv, comparison_markdown
from ..report.compare_html import comparison_html

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


def run_comparison(wish: Wish, texts: Mapping[str, str]) -> None:
    """Compare the configurations *texts*, by name; ends the process with status 0 or 1."""
    limit = environments_max_pd_vols()
    wanted = [Wanted.parse(name, text, limit) for name, text in texts.items()]
    scenario = wish.cluster.read(wish.paths, wanted[0].scheduler_name())
    engines = {one.name: one.engine(scenario.config_maps) for one in wanted}
    scenario = _told(scenario, wish, any(one.runs_profiles for one in wanted))
    found = compare(scenario, engines, mode=wish.mode, order=wish.cluster.order, texts=texts, following=following)
    with writing(wish.output) as stream:
        stream.write(FORMS[wish.form](found.record(), wish.show).rstrip("\n") + "\n")
    sys.exit(0 if found.same else 1)


def _told(scenario: Scenario, wish: Wish, profiles: bool) -> Scenario:
    """Say what is odd, and give the nodes newer labels where that is asked for."""
    for warning in scenario.warnings:
        warn(warning)
    if wish.newer_labels:
        return with_newer_labels(scenario)
    if profiles and (missing := zones_warning(scenario)) is not None:
        warn(missing)
    return scenario


def _yaml(record: Record) -> str:
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    text: str = yaml.dump(record, Dumper=dumper, sort_keys=False, allow_unicode=True)
    return text


FORMS: dict[str, Callable[[Record, int], str]] = {
    "table": comparison_text,
    "json": lambda record, show: json.dumps(record, indent=2),
    "yaml": lambda record, show: _yaml(record),
    "csv": lambda record, show: comparison_csv(record),
    "markdown": comparison_markdown,
    "html": lambda record, show: comparison_html(record),
}
