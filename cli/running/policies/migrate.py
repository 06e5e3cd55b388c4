"""What ``kubeclassic policy migrate`` does: it translates a Policy, and judges pods by both."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

import attrs
import click

from ....algorithmprovider.config import AlgorithmConfiguration, PolicyFile, read_policy_file, release_of_policies
from ....algorithmprovider.gates import parse_gates
from ....algorithmprovider.policy import Policy
from ....algorithmprovider.releases import DEFAULT_RELEASE
from ....api.reading.notices import input_warnings
from ....api.record import plain
from ....core.release import Release
from ....exceptions import UnknownNameError
from ....framework.migrate.deviations import named
from ....framework.migrate.translation import Migration, migrate
from ....framework.releases import DEFAULT_FRAMEWORK, FRAMEWORK_RELEASES, framework_release
from ....simulation.compare.agreement import DIFFERENT
from ....simulation.compare.compare import Comparison
from ....simulation.compare.migration import Check, agrees
from ....simulation.compare.newerlabels import with_newer_labels
from ....simulation.compare.trials import DeviationTrial, trials
from ....simulation.releasenotes import with_release_notices
from ....simulation.scenario import Scenario, read_scenario
from ...answering import about, write_report
from ...console.output import note, warn, writing
from ...console.progress import following, telling
from ...console.yamltext import write_yaml
from ...declaring.options import environments_max_pd_vols
from ...notices import tell_line, tell_notices, tell_unread
from ...report.comparison.comparednodes import comparison_map
from ...report.documents import indented
from ...report.migration.migrationpage import migration_html
from ...report.migration.migrationtext import check_text, report_text
from ...report.page.about import About
from ...report.page.clustermap import ClusterMap
from ...report.page.markup import Text, code, sentence
from ...report.page.markup import named as named_text
from ...report.tables import width_of

REPORTS: dict[str, Callable[[dict[str, Any], About, ClusterMap], str]] = {
    ".html": migration_html,
    ".json": lambda record, about, nodes: indented(record),
    ".txt": lambda record, about, nodes: report_text(record),
}


@attrs.frozen(kw_only=True)
class MigrateOptions:
    """All options besides FILE and the release."""

    target: str | None
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


def run(file: Path, release: str, asked: MigrateOptions) -> None:
    """Write the profile, list what has no equivalent, and end with status 1 if a decision is different."""
    asked.check()
    before, target = _releases(release, asked.target)
    read = read_policy_file(file)
    config = attrs.evolve(read.config, gates={**read.config.gates, **parse_gates(asked.gates or "")})
    translate = partial(_translated, read.policy, before, config, target, asked)
    made = translate(named(asked.undone))
    check = Check(read.policy, before, config, made.document, environments_max_pd_vols(), target)
    found = _compared(check, asked) if asked.paths else None
    with writing(asked.output) as stream:
        FORMS[asked.form](made.document, stream)
    for told in made.notes:
        tell_line(str(told))
    if found is None:
        sys.exit(0)
    warnings = input_warnings(found.scenario.warnings)
    record = plain(found.comparison.document(warnings, verdict=DIFFERENT if asked.report is None else None))
    note("")
    note(check_text(record, asked.show, width_of(sys.stderr)))
    tell_unread(found.scenario.warnings)
    if asked.report is not None:
        tried = trials(check, found.scenario, made.notes, translate, named(asked.undone), following)
        _report({**record, "migration": _migration(read, check, made, tried, asked)}, file, found, asked)
    sys.exit(0 if agrees(found.comparison) else 1)


def _releases(release: str, target: str | None) -> tuple[Release, Release]:
    """The release that runs the Policy, and the one that is to run the profile."""
    if target is None and framework_release(release) is not None:
        release, target = DEFAULT_RELEASE, release
    found = framework_release(target or DEFAULT_FRAMEWORK)
    if found is None:
        raise UnknownNameError(f"--to: got {target}, wanted {', '.join(FRAMEWORK_RELEASES)}")
    return release_of_policies(release), found


def _translated(
    policy: Policy | None,
    release: Release,
    config: AlgorithmConfiguration,
    target: Release,
    asked: MigrateOptions,
    without: frozenset[str],
) -> Migration:
    return migrate(policy, release, config, target=target, without=without, selector_spread=asked.selector_spread)


def _json(document: Mapping[str, Any], stream: IO[str]) -> None:
    stream.write(json.dumps(document, indent=2) + "\n")


FORMS: dict[str, Callable[[Mapping[str, Any], IO[str]], None]] = {"yaml": write_yaml, "json": _json}


@attrs.frozen
class Checked:
    """A check, and what it was made on."""

    comparison: Comparison
    scenario: Scenario
    warnings: tuple[str, ...]


def _compared(check: Check, asked: MigrateOptions) -> Checked:
    """Judge the waiting pods."""
    with telling("reading", ", ".join(map(str, (*asked.paths, *asked.more)))):
        scenario = read_scenario((*asked.paths, *asked.more), scheduler_name=check.config.scheduler_name)
    scenario = with_release_notices(scenario, [check.old().algorithm, check.new().algorithm])
    tell_notices(scenario.warnings, asked.verbose)
    warnings = check.warnings(scenario, asked.newer_labels)
    for text in warnings:
        warn(text)
    scenario = with_newer_labels(scenario) if asked.newer_labels else scenario
    return Checked(check.on(scenario, correlates=asked.report is not None, following=following), scenario, warnings)


def _migration(read: PolicyFile, check: Check, made: Migration, tried: Sequence[DeviationTrial], asked: MigrateOptions) -> dict[str, Any]:
    """What the report has beside the check."""
    notes = [
        {"subject": told.subject, "text": told.text, "deviation": told.deviation.name if told.deviation else None} for told in made.notes
    ]
    documents = {"policy": None if read.document is None else dict(read.document.data), "profile": dict(made.document)}
    versions = {"release": check.release.version, "target": check.target.version}
    given = {**versions, "undone": sorted(named(asked.undone)), "newerLabels": asked.newer_labels}
    return {**given, **documents, "notes": notes, "trials": [trial.record() for trial in tried]}


def _report(record: dict[str, Any], file: Path, found: Checked, asked: MigrateOptions) -> None:
    migration = record["migration"]
    rules: list[Text] = [sentence("Policy: ", code(str(file)))]
    rules += [sentence("as upstream in: ", named_text(", ".join(migration["undone"])))] if migration["undone"] else []
    releases = [one["release"] for one in record["configurations"]]
    told = about(found.scenario, (file, *asked.paths, *asked.more), releases=releases, rules=rules, warnings=found.warnings)
    made = REPORTS[Path(asked.report or "").suffix]
    write_report(asked.report, lambda: made(record, told, comparison_map(found.comparison, record)))
