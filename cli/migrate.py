"""``kubeclassic policy migrate``: a Policy as a profile of the newer framework, and what that changes."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import click
import yaml

from ..algorithmprovider.config import KIND, KubeSchedulerConfiguration, decode_policy, load_configuration, policy_document
from ..algorithmprovider.gates import parse_gates
from ..algorithmprovider.policy import Policy
from ..algorithmprovider.releases import DEFAULT_RELEASE, find_release
from ..api.reading.documents import read_documents
from ..exceptions import UnknownNameError
from ..framework.migrate.deviations import DEVIATIONS, named
from ..framework.migrate.translation import migrate
from ..simulation.compare.compare import Comparison
from ..simulation.compare.migration import Check, agrees
from ..simulation.compare.newerlabels import with_newer_labels, zones_warning
from ..simulation.scenario import read_scenario
from .options import environments_max_pd_vols
from .output import note, warn, writing
from .progress import following
from .report.compare import comparison_text
from .report.compare_html import comparison_html
from .report.migration import check_text

FILE = click.Path(path_type=Path, allow_dash=True)
REPORTS: dict[str, Callable[[dict[str, Any]], str]] = {
    ".html": comparison_html,
    ".json": lambda record: json.dumps(record, indent=2) + "\n",
    ".txt": lambda record: comparison_text(record) + "\n",
}


@attrs.frozen(kw_only=True)
class _Options:
    """All options besides FILE and the release."""

    gates: str | None
    output: str | None
    without: tuple[str, ...]
    selector_spread: bool
    newer_labels: bool
    paths: tuple[Path, ...]
    more: tuple[Path, ...]
    report: str | None
    show: int

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


@click.command("migrate", short_help="The Policy as a KubeSchedulerConfiguration.")
@click.argument("file", type=FILE)
@click.option("--release", default=DEFAULT_RELEASE, show_default=True, help="The release that runs it now.")
@click.option("--feature-gates", "gates", metavar="A=true,...", help="Gates that differ from the release's defaults.")
@click.option("-o", "--output", metavar="FILE", help="Write the profile there, whole or not at all, instead of to standard output.")
@click.option(
    "--without", multiple=True, metavar="NAME",
    help=f"Translate this point, or all, as upstream's own translation of 1.19 to 1.22 did: {', '.join(DEVIATIONS)}.",
)  # fmt: skip
@click.option("--selector-spread", is_flag=True, help="Spread pods with plugin SelectorSpread, which has the old formula.")
@click.option("--check", "paths", type=FILE, multiple=True, metavar="PATH", help="Try both on this cluster; more paths may follow.")
@click.option("--newer-labels", is_flag=True, help="Check with the node labels of newer releases beside the old ones, as after an upgrade.")
@click.option("--report", metavar="FILE", help="Write the whole check there: .html, .json or .txt.")
@click.option("--show", type=click.IntRange(min=0), default=20, show_default=True, help="Show at most this many different decisions.")
@click.argument("more", type=FILE, nargs=-1)
def migrate_policy(file: Path, release: str, **options: Any) -> None:
    """Translate the Policy in FILE to a profile of plugins, and list on standard error what has no exact equivalent.

    FILE may be a ConfigMap, or a KubeSchedulerConfiguration (v1alpha1) that points to a Policy; - is standard input.

    With --check the old release and the profile both decide on every waiting pod, on the same state, as `compare --mode locked` does; only
    the decisions of the old release take effect. All nodes are looked at. A decision is the same; or among the best, if the profile takes
    another node that the old release scores as high as its own; or different.

    Exit status 0: migrated, and under --check no decision is different; 1: some are; 2: bad input.

    \b
    kubeclassic policy migrate scheduler.json --release 1.16 -o profile.yaml --check cluster/
    """
    asked = _Options(**options)
    asked.check()
    before, policy, config = find_release(release), *_read(file)
    config = attrs.evolve(config, gates={**config.gates, **parse_gates(asked.gates or "")})
    made = migrate(policy, before, config, without=named(asked.without), selector_spread=asked.selector_spread)
    found = _compared(Check(policy, before, config, made.document, environments_max_pd_vols()), asked) if asked.paths else None
    with writing(asked.output) as stream:
        yaml.safe_dump(made.document, stream, sort_keys=False, allow_unicode=True)
    for told in made.notes:
        note(str(told))
    if found is not None:
        _tell(found, asked)
    sys.exit(0 if found is None or agrees(found) else 1)


def _read(file: Path) -> tuple[Policy | None, KubeSchedulerConfiguration]:
    if str(file) != "-":
        documents = list(read_documents(file))
        if documents and documents[0].data.get("kind") == KIND:
            config = load_configuration(file)
            return config.policy(), config
    return decode_policy(policy_document(file)), KubeSchedulerConfiguration()


def _compared(check: Check, asked: _Options) -> Comparison:
    """Judge the waiting pods."""
    scenario = read_scenario((*asked.paths, *asked.more), scheduler_name=check.config.scheduler_name)
    for warning in scenario.warnings:
        warn(warning)
    if asked.newer_labels:
        scenario = with_newer_labels(scenario)
    elif (missing := zones_warning(scenario)) is not None:
        warn(missing)
    if check.policy is not None and check.policy.extenders:
        warn(f"the Policy's extenders are not called: {len(check.policy.extenders)}")
    return check.on(scenario, following=following)


def _tell(found: Comparison, asked: _Options) -> None:
    record = found.record()
    note("")
    note(check_text(record, asked.show))
    if asked.report is not None:
        with writing(asked.report) as stream:
            stream.write(REPORTS[Path(asked.report).suffix](record))
