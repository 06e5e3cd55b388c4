"""What ``kubeclassic policy migrate`` does: it translates a Policy, and judges pods by both."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

import attrs
import click

from ...algorithmprovider.gates import parse_gates
from ...exceptions import UnknownNameError
from ...framework.migrate.deviations import named
from ...framework.migrate.translation import migrate
from ...simulation.compare.agreement import DIFFERENT
from ...simulation.compare.compare import Comparison
from ...simulation.compare.migration import Check, agrees
from ...simulation.compare.newerlabels import with_newer_labels, zones_warning
from ...simulation.scenario import read_scenario
from ..console.output import note, warn, writing
from ..console.progress import following
from ..console.yamltext import write_yaml
from ..declaring.options import environments_max_pd_vols
from ..report.comparison.page import comparison_html
from ..report.comparison.text import comparison_text
from ..report.documents import indented
from ..report.migration import check_text
from ..report.tables import width_of
from .notices import tell_line, tell_notices
from .policyfiles import read_policy_file, release_of_policies

REPORTS: dict[str, Callable[[dict[str, Any]], str]] = {
    ".html": comparison_html,
    ".json": lambda record: indented(record, long="differences") + "\n",
    ".txt": lambda record: comparison_text(record) + "\n",
}


@attrs.frozen(kw_only=True)
class Asked:
    """All options besides FILE and the release."""

    gates: str | None
    form: str
    output: str | None
    undone: tuple[str, ...]
    selector_spread: bool
    newer_labels: bool
    paths: tuple[Path, ...]
    more: tuple[Path, ...]
    report: str | None
    show: int
    verbose: bool

    def check(self) -> None:
        """Refuse what does not go together."""
        if not self.paths:
            if self.more:
                raise click.UsageError(f"got {self.more[0]} after FILE, wanted --check before it")
            for name, given in (("--report", self.report is not None), ("--newer-labels", self.newer_labels)):
                if given:
                    raise click.UsageError(f"got {name} without --check, wanted both")
        if self.report is not None and Path(self.report).suffix not in REPORTS:
            raise UnknownNameError(f'--report: got "{self.report}", wanted a name that ends in {", ".join(REPORTS)}')


def run(file: Path, release: str, asked: Asked) -> None:
    """Write the profile, list what has no equivalent, and end with status 1 if a decision is different."""
    asked.check()
    before = release_of_policies(release)
    read = read_policy_file(file)
    config = attrs.evolve(read.config, gates={**read.config.gates, **parse_gates(asked.gates or "")})
    made = migrate(read.policy, before, config, without=named(asked.undone), selector_spread=asked.selector_spread)
    found = _compared(Check(read.policy, before, config, made.document, environments_max_pd_vols()), asked) if asked.paths else None
    with writing(asked.output) as stream:
        FORMS[asked.form](made.document, stream)
    for told in made.notes:
        tell_line(str(told))
    if found is not None:
        _tell(found, asked)
    sys.exit(0 if found is None or agrees(found) else 1)


def _json(document: Mapping[str, Any], stream: IO[str]) -> None:
    stream.write(json.dumps(document, indent=2) + "\n")


FORMS: dict[str, Callable[[Mapping[str, Any], IO[str]], None]] = {"yaml": write_yaml, "json": _json}


def _compared(check: Check, asked: Asked) -> Comparison:
    """Judge the waiting pods."""
    scenario = read_scenario((*asked.paths, *asked.more), scheduler_name=check.config.scheduler_name)
    tell_notices(scenario.warnings, asked.verbose)
    if asked.newer_labels:
        scenario = with_newer_labels(scenario)
    elif (missing := zones_warning(scenario)) is not None:
        warn(missing)
    if check.policy is not None and check.policy.extenders:
        warn(f"the Policy's extenders are not called: {len(check.policy.extenders)}")
    return check.on(scenario, correlates=asked.report is not None, following=following)


def _tell(found: Comparison, asked: Asked) -> None:
    record = found.record(DIFFERENT if asked.report is None else None)
    note("")
    note(check_text(record, asked.show, width_of(sys.stderr)))
    if asked.report is not None:
        with writing(asked.report) as stream:
            stream.write(REPORTS[Path(asked.report).suffix](record))
